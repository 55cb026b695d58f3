r"""A linear bound with a floor that decreases with σ.

Paper: none; towards the second inequality of Theorem 3.2 (thm:strong-martingale)
Claim: for all losses, $n \ge 2$ and $\sigma > 1$, $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le
    \frac{\gamma
    M^2}{2}\left(\sqrt{\frac{1+1/\sigma}{q^k-1}}+\sqrt{\frac{n-1}{n(\sigma-1)}}\right)^2$.
Hypotheses: (A); (B); (S); $n \ge 2$; $\sigma > 1$
Verdict: REPAIRED
Correction: in the base inequality split $\hat w\nu = (\hat w-w^k)\nu+(w^k-w^{*})\nu+w^{*}\nu$.
    The last has mean 0. Co-coercivity, $D_l(s,\bar a) \ge \frac{1}{2\gamma}(l'(\bar a)-l'(s))^2$,
    leaves $\frac{\gamma\nu^2}{2c}$ of the first and its $-c\,D_l$; its expected mean over j is
    $Y^2 = \frac{\gamma(n-1)}{2c}\sum q^{2i}U_i$, $U_i = \frac1n\mathbb{E}\|u^i\|^2$, because
    $1-n1_{\{j_i=j\}}$ has variance $n-1$. By Cauchy and $\frac1n\|w^k-w^{*}\|^2 \le 2\gamma
    D_h(w^{*},w^k)$ the second is at most $2Y\sqrt{cV_k}$, $V_k = \mathbb{E}D_h(w^{*},w^k)$. The
    contraction of $n(D^{*}-D)+TD_h(w^{*}, \cdot)$ gives $cV_k \le
    (T-1)\left(V_0+\frac1\sigma(D^{*}-D(w^0))\right) \le A := (T-1)\frac{\gamma
    M^2}{2}(1+\frac1\sigma)$, and the other terms are at most A as well:
    $\Gamma\,\mathbb{E}\,\mathrm{gap} \le (\sqrt A+Y)^2$. Finally $c\,S_k+(1-\frac1\sigma)\sum
    q^iU_i = \sum q^i\frac1n\mathbb{E}\|a^i\|^2 \le \Gamma M^2$ with $S_k =
    \frac1n\mathbb{E}\|s^k\|^2$, and $q^{2i}/c \le q^i/T$, so $Y^2 \le \frac{\gamma
    M^2}{2}\Gamma\frac{n-1}{n(\sigma-1)}$.
Proof: by hand, symbolic
Check: exactly over all sequences: the energy identity, the variance, the two halves of A, and the
    bound, squared twice so that no root is taken. Not tight: the runs reach at most .1 of the
    bound.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 4; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.paths import Path
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s68_base_inequality import martingale


def square(vector: Any) -> Any:
    """‖·‖²."""
    return sum(x * x for x in vector)


def moves(one: Strong, path: Path) -> list[tuple[Any, ...]]:
    """u^0, …, u^{k−1}."""
    return [
        tuple(a - x for a, x in zip(one.problem.predictions(atom), s, strict=True))
        for atom, s in zip(path.atoms, path.s[:-1], strict=True)
    ]


def energy_weight(sigma: Any) -> Any:
    """1 − 1/σ."""
    return 1 - 1 / sigma


@check(
    Kind.EXACT,
    energy_weight,
    {
        "1": lambda sigma: 1,
        "1 − 2/σ": lambda sigma: 1 - 2 / sigma,
        "1 − 1/σ²": lambda sigma: 1 - 1 / sigma**2,
    },
)
def the_energy_identity_and_the_variance(weight: Any) -> Finding:
    """cS_k + (1−1/σ)Σq^iU_i = Σq^iA_i and E‖ν‖² = (n−1)Σq^{2i}E‖u^i‖², both exactly."""
    exact = 0
    total = 0
    for one in zoo()[::4]:
        q = one.q
        for k, paths in one.levels(3):
            c = (one.T - 1) * q**k
            U = [mean(square(moves(one, path)[i]) for path in paths) for i in range(k)]
            A = [
                mean(square(one.problem.predictions(path.atoms[i])) for path in paths)
                for i in range(k)
            ]
            S = mean(square(path.s[-1]) for path in paths)
            energy = c * S + weight(one.sigma) * sum(q**i * x for i, x in enumerate(U))
            spread = mean(square(martingale(one, path)) for path in paths)
            total += 1
            exact += energy == sum(q**i * x for i, x in enumerate(A)) and spread == (
                one.n - 1
            ) * sum(q ** (2 * i) * x for i, x in enumerate(U))
    return Finding(exact == total, f"{exact} of {total} levels exactly")


@check(
    Kind.SYMBOLIC,
    energy_weight,
    {
        "1": lambda sigma: sympy.Integer(1),
        "half of it": lambda sigma: energy_weight(sigma) / 2,
    },
)
def the_weights_of_the_variance_are_smaller(weight: Any) -> Finding:
    """(q^{2i}/c)/(q^i/T) = q^{i+1−k} ≤ 1 for i < k; T times the energy's weight is n(σ−1)."""
    q, n, sigma, i, k = sympy.symbols("q n sigma i k", positive=True)
    T = q / (q - 1)
    ratio = q ** (2 * i) / ((T - 1) * q**k) * T / q**i
    rests = [ratio - q ** (i + 1 - k), n * sigma * weight(sigma) - n * (sigma - 1)]
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(not any(found), f"rests {found}")


def pieces(one: Strong, k: int) -> tuple[Any, Any]:
    """(1+1/σ)/(q^k−1) and (n−1)/(n(σ−1)), whose roots are added."""
    return (1 + 1 / one.sigma) / (one.q**k - 1), (one.n - 1) / (one.n * (one.sigma - 1))


@check(
    Kind.EXACT,
    pieces,
    {
        "q^{2k} for q^k and no floor": lambda one, k: (pieces(one, 2 * k)[0], Fraction(0)),
        "a sixteenth of both": lambda one, k: tuple(x / 16 for x in pieces(one, k)),
    },
)
def the_bound_holds_over_all_sequences(parts: Any) -> Finding:
    """gap ≤ e(√a+√b)² iff gap/e − a − b ≤ 2√(ab), for n ≥ 2 and k ≤ 4; e = (1/2n)Σγ_jM_j²."""
    holds, largest = True, 0.0
    for one in (one for one in zoo() if one.n > 1):
        for k, gap in one.gaps(4 if one.n < 3 else 3):
            a, b = parts(one, k)
            excess = gap / (one.energy / 2) - a - b
            holds &= excess <= 0 or excess**2 <= 4 * a * b
            largest = max(largest, float(gap / (one.energy / 2)) / (a**0.5 + b**0.5) ** 2)
    return Finding(holds, f"largest ratio {largest:.4f}", largest)

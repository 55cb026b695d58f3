r"""The second linear inequality holds as long as q^k is below 2.65.

Paper: none; proves the second inequality of Theorem 3.2 for early k (thm:strong-early)
Claim: for all losses, n and k, with $x = q^k-1$, $\kappa = \sigma-1$ and every $\rho \in
    (\frac{1}{\sigma^2}, 1]$, $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le \frac{\gamma
    M^2}{2}\left(\frac\rho x+\frac{\rho\kappa\sigma}{\rho\sigma^2-1}\right)$. The best $\rho$
    makes this $\frac{C\gamma M^2}{x}$ with $C = \frac{1}{2\sigma^2}(1+\sqrt{x\kappa\sigma})^2$
    while $x\sigma \le (\sigma+1)^2\kappa$, and $C = \frac12(1+\frac{x\sigma}{\sigma+1})$ from
    then on. So $C \le 1$ while $x \le \frac{\sigma+1}{\sigma}$ if $\sigma \le \sqrt2$, and while
    $x \le \frac{(\sqrt2\sigma-1)^2}{\sigma\kappa}$ else; $x \le 4(\sqrt2-1) = 1.65\ldots$ is
    enough for every $\sigma$. And the gap is at most $\min\{2,
    \frac{\sigma}{2\kappa}\}\gamma M^2$ for every k.
Hypotheses: (A); (B); (S); (M)
Verdict: REPAIRED
Correction: $\sqrt{D_l(\cdot,s)}$ is $\sqrt{\gamma/2}$-Lipschitz, for a convex $\gamma$-smooth
    function g with minimum 0 has $g'^2 \le 2\gamma g$. From $s' = s+u/\sigma$ to a it is
    $\frac\kappa\sigma|u|$, so $D_l(a,s) \le \rho\sigma^2D_l(s',s)+\frac\gamma2\beta u^2$, $\beta
    = \frac{\rho\kappa^2}{\rho\sigma^2-1}$. As $\frac\sigma n\sum_jD_{l_j}(s'_j,s_j) \le
    n\,\mathbb{E}_i\Delta_{i+1}$, the atom's gap is at most $\rho
    T\,\mathbb{E}_i\Delta_{i+1}+\frac{\gamma\beta}{2n}\|u^i\|^2$. Convexity of P gives
    $\Gamma\,\mathbb{E}\,\mathrm{gap} \le \sum_iq^i\mathbb{E}[P(\tilde\beta^i)-D(w^i)]-\sum_m
    (T-1)(q^m-1)\mathbb{E}\Delta_m$, in which an ascent keeps $\rho Tq^{m-1}-(T-1)(q^m-1) =
    (T-1)(1-(1-\rho)q^m) \le (T-1)\rho$; their sum is at most $D^{*}-D(w^0) \le \frac12\gamma
    M^2$. The energy identity, $\frac\kappa\sigma\sum q^iU_i \le \Gamma M^2$, bounds the rest. The
    uniform bound: $|u_j| \le 2M$, and the same identity with $P(\tilde\beta^i)-D(w^i) \le
    \frac{\gamma}{2n}\|u^i\|^2$. For batches write $N = n/b$ and $\sigma_b$.
Proof: by hand, symbolic
Check: the two values of C, where they meet and where they are 1, symbolically, as squares; the
    one-step inequality in fractions along all sequences, with equality for squared losses at
    $\rho = \frac1\sigma$; both bounds over all sequences, n to 4 and p to 2. Not tight, as far as
    is known: the uniform bound is reached up to .97, the other up to .48.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), b ≤ 3, k ≤ 4; squared, Huber-like and shifted
    losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.paths import Path, all_batches, start
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import free, zoo
from proofs_check.statement import Finding, Kind, check

F = Fraction


def factor(rho: Any, sigma: Any, x: Any) -> Any:
    """2C for one ρ."""
    return rho + x * leftover(rho, sigma) * sigma / (sigma - 1)


def leftover(rho: Any, sigma: Any) -> Any:
    """β = ρκ²/(ρσ² − 1)."""
    return rho * (sigma - 1) ** 2 / (rho * sigma**2 - 1)


@check(
    Kind.SYMBOLIC,
    factor,
    {
        "κ for κ²": lambda rho, sigma, x: rho + x * leftover(rho, sigma) * sigma / (sigma - 1) ** 2,
        "β at 99/100": lambda rho, sigma, x: (
            rho + x * F(99, 100) * leftover(rho, sigma) * sigma / (sigma - 1)
        ),
        "ρ² for ρ": lambda rho, sigma, x: factor(rho, sigma, x) + rho**2 - rho,
    },
)
def the_best_rho_and_the_end_of_the_early_range(twice: Any) -> Finding:
    """Above the minimum by squares, the ends at 2C = 2, and the least end 4(√2 − 1)."""
    sigma, rho, z = sympy.symbols("sigma rho z", positive=True)
    kappa, root = sigma - 1, sympy.sqrt(2)
    x = z**2 / (kappa * sigma)  # z = √(xκσ)
    ends = (root * sigma - 1) ** 2 / (sigma * kappa), (sigma + 1) / sigma
    square = (rho * sigma**2 - 1 - z) ** 2 / (sigma**2 * (rho * sigma**2 - 1))
    rests = [
        twice(rho, sigma, x) - (1 + z) ** 2 / sigma**2 - square,
        twice(1, sigma, x) - 1 - x * sigma / (sigma + 1),
        twice(root / sigma, sigma, ends[0]) - 2,
        twice(1, sigma, ends[1]) - 2,
        ends[0] - 4 * (root - 1) - ((2 - root) * sigma - 1) ** 2 / (sigma * kappa),
    ]
    found = [sympy.simplify(sympy.nsimplify(rest)) for rest in rests]
    return Finding(all(rest == 0 for rest in found), f"rests {found}")


def energy(one: Strong, path: Path) -> Any:
    """(1/2n) Σ γ_j u_j² at the last w."""
    problem = one.problem
    predictions = problem.predictions(problem.atom(path.w[-1]))
    moves = zip(problem.losses, predictions, path.s[-1], strict=True)
    return sum(loss.gamma * (a - s) ** 2 for loss, a, s in moves) / (2 * one.n)


@check(
    Kind.EXACT,
    leftover,
    {
        "99/100 of it": lambda rho, sigma: F(99, 100) * leftover(rho, sigma),
        "ρσ for ρσ²": lambda rho, sigma: rho * (sigma - 1) ** 2 / (rho * sigma**2 + sigma - 1),
    },
)
def an_atom_s_gap_is_paid_by_the_ascent_and_the_energy(number: Any) -> Finding:
    """At the start and after each of two steps, b = 1, 2; ρ = 1/σ, 1 and 2."""
    largest, met = F(-1), 0
    for one in [*zoo()[::3], *zoo(2)[::3], free(2, 2), free(3, 1, 2)]:
        problem, sigma, batches = one.problem, one.sigma, all_batches(one.n, one.b)
        later = (path for _, paths in one.levels(2) for path in paths)
        for path in [start(problem, one.steps), *later]:
            now = problem.dual(path.w[-1])
            gap = problem.primal(problem.atom(path.w[-1])) - now
            rise = mean(problem.dual(child.w[-1]) for child in path.children(batches)) - now
            for rho in (1 / sigma, 1, 2):
                right = rho * one.T * rise + number(rho, sigma) * energy(one, path)
                largest, met = max(largest, gap - right), met + 1
    return Finding(largest == 0, f"{met} cases, largest excess {float(largest):.3g}")


def uniform(one: Strong) -> Any:
    """min{2, σ/(2(σ−1))}."""
    return min(2, one.sigma / (2 * (one.sigma - 1)))


@check(
    Kind.EXACT,
    uniform,
    {
        "(σ−1)/(2σ)": lambda one: (one.sigma - 1) / (2 * one.sigma),
        "half of it": lambda one: uniform(one) / 2,
    },
)
def the_uniform_bound_holds_over_all_sequences(number: Any) -> Finding:
    """k ≤ 4, b = 1, 2, 3."""
    largest = F(0)
    for one in [*zoo(), *zoo(2), *zoo(3)]:
        for _, gap in one.gaps(4 if one.n < 3 else 3):
            largest = max(largest, gap / (number(one) * one.energy))
    return Finding(largest <= 1, f"largest ratio {float(largest):.4f}", largest)


def early(one: Strong, k: int) -> Any:
    """The least 2C/x over ρ = 1 and nine others."""
    sigma, x = one.sigma, one.q**k - 1
    least = 1 / sigma**2
    shares = [least + (1 - least) * F(i, 10) for i in range(1, 11)]
    return min(factor(rho, sigma, x) for rho in shares) / x


@check(
    Kind.EXACT,
    early,
    {
        "the ascents alone": lambda one, k: 1 / (one.sigma**2 * (one.q**k - 1)),
        "a third": lambda one, k: early(one, k) / 3,
    },
)
def the_bound_holds_over_all_sequences(bound: Any) -> Finding:
    """k ≤ 4 for n ≤ 2, k ≤ 3 for n = 3, 4; b = 1, 2, p = 1, 2."""
    largest, met = F(0), 0
    for one in [*zoo(), *zoo(2)]:
        for k, gap in one.gaps(4 if one.n < 3 else 3):
            largest = max(largest, gap / (bound(one, k) * one.energy / 2))
            met += 1
    return Finding(largest <= 1, f"{met} cases, largest ratio {float(largest):.4f}", largest)

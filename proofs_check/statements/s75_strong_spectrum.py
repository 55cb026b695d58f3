r"""The second linear inequality with a factor that depends on the spectral norm of X alone.

Paper: none; replaces the second inequality of Theorem 3.2 (thm:strong-spectrum)
Claim: let $y = s_n-1 = \frac{\gamma\|X\|_2^2}{n\mu}$, $\kappa = \sigma-1$, and $\tau \ge 0$ with
    $by \le \tau$, $b = \frac{\sigma+\tau\kappa}{1+\sigma+\tau\sigma}$. For all losses, n and k,
    with $\delta_0 = D^{*}-D(w^0)$, $V_0 = D_h(w^{*},w^0)$, $s^{*} = X\beta^{*}$:
    $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le \frac{1}{q^k-1}\left[(1+\tau)\delta_0+\tau
    V_0+\frac{b\gamma}{2n}\|s^{*}\|^2\right]$, and with $b = \frac{\sigma}{\sigma+1}$ also at most
    $\frac{1}{q^k-1}\left[\delta_0+by(\frac{\delta_0}{\sigma}+V_0)+\frac{b\gamma}{2n}\|s^{*}\|^2
    \right]$. So it is at most $\frac{C\gamma M^2}{q^k-1}$ with $C =
    \min\{1+\sqrt y+\frac\kappa\sigma y,\, \frac12(s_n+\frac{\sigma}{\sigma+1})\}$, and $C \le 1$
    if $y \le \frac{1}{\sigma+1}$.
Hypotheses: (A); (B); (S); (M); (P)
Verdict: REPAIRED
Correction: the one-step inequality of (thm:strong-early) with $\rho = 1+\frac{\tau\kappa}{\sigma}$
    has $\beta = \frac{b\kappa}{\sigma}$. Summed by parts, with $\delta_i =
    \mathbb{E}[D^{*}-D(w^i)]$ and $c = (T-1)q^k$, its ascents give at most $(T-1)\delta_0+
    (\rho-1)\left(T\delta_0+\sum_{1\le i<k}q^i\delta_i\right)$. The identity around $s^{*}$ of
    (thm:strong-recentred) and $\frac{\gamma}{2n}\mathbb{E}\|a^i-s^{*}\|^2 \le ye_i$ give
    $\frac{\gamma\beta}{2}\sum q^iU_i \le by\sum q^ie_i+b(T-1)\frac{\gamma}{2n}\|s^{*}\|^2$. The
    one-step inequality at $w^{*}$, weighted by $q^i$, says $\sum q^ie_i+cV_k+nq^{k-1}\delta_k+
    \frac\kappa\sigma\sum_{1\le i<k}q^i\delta_i \le (n-1)\delta_0+(T-1)V_0$: $\tau$ times it pays
    for both sums, and $(T-1)+\tau(n\kappa+n-1) = (1+\tau)(T-1)$. With $\rho = 1$ the
    multiple $by$ of it is enough, as $\frac{n-1}{T-1} \le \frac1\sigma$. Last, $\tau =
    \sqrt y+\frac{\kappa y}{\sigma}$ is large enough, $b \le 1$, and all three distances are at
    most $\frac12\gamma M^2$. For batches write $N = n/b$ and $\sigma_b$.
Proof: by hand, symbolic
Check: the coefficients symbolically, and that $\tau$ is large enough as a sum of positive terms;
    the budget over all sequences in fractions, with equality for one squared loss; the bounds,
    with p = 1 and 2, n to 4. Not tight, as far as is known.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), b ≤ 2, k ≤ 4; squared, Huber-like and shifted
    losses
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import sympy

from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import free, zoo
from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s73_strong_without_sigma import weighted
from proofs_check.statements.s75_strong_early import leftover

F = Fraction


def share(tau: Any, sigma: Any) -> Any:
    """b."""
    return (sigma + tau * (sigma - 1)) / (1 + sigma + tau * sigma)


def enough(y: Any, sigma: Any) -> Any:
    """τ; y is a square."""
    return sympy.sqrt(y) + (sigma - 1) * y / sigma


@check(
    Kind.SYMBOLIC,
    (share, enough),
    {
        "b without τκ": (lambda tau, sigma: sigma / (1 + sigma + tau * sigma), enough),
        "τ without its second term": (share, lambda y, sigma: sympy.sqrt(y)),
        "τ at 99/100": (share, lambda y, sigma: F(99, 100) * enough(y, sigma)),
    },
)
def the_coefficients(formulas: Any) -> Finding:
    """β and the budget's δ₀, and (τ − by)(1+σ+τσ) in non-negative form."""
    b, tau_of = formulas
    n, kappa, tau, root, T = sympy.symbols("n kappa tau root T", positive=True)
    sigma = 1 + kappa
    chosen = sympy.nsimplify(tau_of(root**2, sigma))
    surplus = root * (1 + sigma + kappa * root**2 + kappa * (1 + sigma) * root / sigma)
    rests = [
        leftover(1 + tau * kappa / sigma, sigma) - b(tau, sigma) * kappa / sigma,
        (n * sigma - 1) * (1 + tau) - (n * sigma - 1) - tau * (kappa * n + n - 1),
        (chosen - b(chosen, sigma) * root**2) * (1 + sigma + chosen * sigma) - surplus,
        n * (T - 1) / T - (n - 1) - (1 - n / T),
    ]
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(all(rest == 0 for rest in found), f"rests {found}")


def kept(sigma: Any) -> Any:
    """What the budget keeps of each δ_i, 1 ≤ i < k."""
    return (sigma - 1) / sigma


@check(
    Kind.EXACT,
    kept,
    {
        "101/100 of it": lambda sigma: F(101, 100) * kept(sigma),
        "all of it": lambda sigma: 1,
    },
)
def the_budget_of_the_one_step_inequality(number: Any) -> Finding:
    """k ≤ 4, b = 1, 2, with equality for a single squared loss and R without ends."""
    largest, met = F(-1), 0
    for one in [*zoo()[::3], *zoo(2)[::3], free(1, 2), free(2, 2)]:
        problem, q = one.problem, one.q
        solved = problem.predictions(one.optimum)
        w = problem.response(solved)
        for k, paths in one.levels(4 if one.n < 3 else 3):
            powers = [q**i for i in range(k)]
            e = [mean(problem.saddle(p.atoms[i], w) for p in paths) - one.value for i in range(k)]
            lacks = [one.value - value for value in one.dual_means(k)]
            far = mean(problem.bregman(solved, path.s[-1]) for path in paths)
            left = weighted(powers, e) + (one.T - 1) * q**k * far + one.N * q ** (k - 1) * lacks[k]
            left += number(one.sigma) * weighted(powers[1:], lacks[1:k])
            right = (one.N - 1) * lacks[0] + (one.T - 1) * one.start_radius
            largest, met = max(largest, left - right), met + 1
    return Finding(largest == 0, f"{met} cases, largest excess {float(largest):.3g}")


def right_sides(one: Strong) -> list[Any]:
    """(q^k − 1) times both bounds; τ is the root of by = τ, rounded up to six decimals."""
    sigma, y = one.sigma, one.sigma_full - 1
    start, radius, b = one.value - one.dual_start, one.start_radius, sigma / (sigma + 1)
    solved = zip(one.problem.losses, one.problem.predictions(one.optimum), strict=True)
    square = sum(loss.gamma * s**2 for loss, s in solved) / (2 * one.n)
    half = (1 + sigma - y * (sigma - 1)) / (2 * sigma)
    root = F(isqrt(int((half**2 + y) * 10**16)) + 1, 10**8)
    tau = root - half
    assert share(tau, sigma) * y <= tau
    return [
        (1 + tau) * start + tau * radius + share(tau, sigma) * square,
        start + b * y * (start / sigma + radius) + b * square,
    ]


@check(
    Kind.EXACT,
    right_sides,
    {
        "three fifths": lambda one: [x * F(3, 5) for x in right_sides(one)],
        "a quarter of δ₀": lambda one: [
            x - (one.value - one.dual_start) * F(3, 4) for x in right_sides(one)
        ],
    },
)
def the_bounds_hold_over_all_sequences(sides: Any) -> Finding:
    """k ≤ 4, b = 1, 2."""
    largest = F(0)
    for one in [*zoo(), *zoo(2)]:
        least = min(sides(one))
        for k, gap in one.gaps(4 if one.n < 3 else 3):
            if least:
                largest = max(largest, (one.q**k - 1) * gap / least)
    return Finding(largest <= 1, f"largest ratio {float(largest):.4f}", largest)


def factor(one: Strong) -> Any:
    """C, its root rounded up to six decimals."""
    sigma, y = one.sigma, one.sigma_full - 1
    root = F(isqrt(int(y * 10**12)) + 1, 10**6)
    return min(1 + root + (sigma - 1) * y / sigma, (1 + y + sigma / (sigma + 1)) / 2)


@check(
    Kind.EXACT,
    factor,
    {
        "a third": lambda one: factor(one) / 3,
        "a tenth of C − 1": lambda one: (factor(one) - 1) / 10,
    },
)
def the_factor_holds_over_all_sequences(number: Any) -> Finding:
    """One variable and two, n to 4."""
    largest = F(0)
    for one in [*zoo(), *zoo(2)]:
        for k, gap in one.gaps(3):
            largest = max(largest, (one.q**k - 1) * gap / abs(number(one) * one.energy))
    return Finding(largest <= 1, f"largest ratio {float(largest):.4f}", largest)

r"""The second linear inequality with a factor that does not grow with σ.

Paper: none; replaces the second inequality of Theorem 3.2 (thm:strong-recentred)
Claim: for all losses, $n \ge 2$, k and $\sigma > 1$, $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le
    \frac{C\gamma M^2}{q^k-1}$ with $C =
    \frac12\left[(1+\frac1\sigma)\left(1+\max\{(1+t)\zeta,\tfrac1t\}
    \right)+(1+t)\frac{n-1}{n(\sigma-1)}\right]$ for every t > 0, $\zeta =
    \frac{(n-1)(s_n-1)}{n(\sigma-1)} \le n-1$. Together with the factor $\frac{n\sigma}{2}$: $C
    \le n+\frac34$ for every $\sigma$.
Hypotheses: (A); (B); (S); (M); (P); $n \ge 2$; $\sigma > 1$
Verdict: REPAIRED
Correction: measure the energies of the martingale bound from $s^{*} = X\beta^{*}$ instead of 0.
    Let $e_i = \mathbb{E}[\phi(\tilde\beta^i,w^{*})-D^{*}]$ and $\delta_i =
    \mathbb{E}[D^{*}-D(w^i)]$. The one-step inequality at $w^{*}$, $n\delta_{i+1}+TV_{i+1}+e_i \le
    (n-1)\delta_i+(T-1)V_i$, sums to $\sum q^ie_i+cV_k \le (T-1)(V_0+\frac1\sigma\delta_0) \le A =
    (T-1)\frac{\gamma M^2}{2}(1+\frac1\sigma)$. As $\phi(\cdot,w^{*})$ is $\mu$-strongly convex
    with minimizer $\beta^{*}$, $\frac{\gamma}{2n}\mathbb{E}\|a^i- s^{*}\|^2 \le (s_n-1)e_i$. The
    energy identity around $s^{*}$ is $\frac cn\mathbb{E}\|s^k-s^{*}\|^2 + (1-\frac1\sigma)\sum
    q^iU_i = \frac1n\sum q^i\mathbb{E}\|a^i-s^{*}\|^2+\frac{T-1}{n}\|s^{*}\|^2$, so $Y^2 \le
    \frac{\gamma(n-1)}{2T}\sum q^iU_i \le \zeta\sum
    q^ie_i+\frac{n-1}{n(\sigma-1)}(T-1)\frac{\gamma M^2}{2}$. The martingale bound's
    $A+Y^2+2Y\sqrt{cV_k}$ is at most $A+(1+t)Y^2+\frac1tcV_k$ for every t > 0; the budget for
    $\sum q^ie_i+cV_k$ is used once, and division by $\Gamma$ gives C. Last, if $t(1+t)(n-1) = 1$
    then $\frac1t \le n$ and $1+t \le \frac{n}{n-1}$, so $C \le \frac34n+\frac54$ if $\sigma \ge
    2$, and $\frac{n\sigma}{2} \le n$ else. For batches put N, $\sigma_b$ in C; $N+\frac34$ bounds
    it for $N \ge 2$ alone, as $\frac34N+\frac54$ is larger for $N < 2$.
Proof: by hand, symbolic
Check: the budget and the identity over all sequences in fractions; the bound too, with rational t
    beside the roots of $t(1+t)\zeta = 1$ and $t(1+t)(n-1) = 1$; the last estimate symbolically. Not
    tight: the runs reach at most .1 of the bound; the identity and the budget are exact.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 4; squared, Huber-like and shifted losses;
    b ≤ 2
"""

from __future__ import annotations

from fractions import Fraction
from math import isqrt
from typing import Any

import sympy

from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s72_strong_martingale import moves, square

F = Fraction


def start_energy(T: Any) -> Any:
    """What ‖s*‖²/n has in the recentred identity."""
    return T - 1


def weighted(powers: list[Any], values: list[Any]) -> Any:
    """Σ q^i value_i."""
    return sum(power * value for power, value in zip(powers, values, strict=True))


def distance(s: Any, other: Any) -> Any:
    """‖s − other‖²."""
    return square(x - y for x, y in zip(s, other, strict=True))


@check(
    Kind.EXACT,
    start_energy,
    {"nothing, as around 0": lambda T: 0 * T, "T": lambda T: T, "T − 2": lambda T: T - 2},
)
def the_budget_and_the_recentred_identity(weight: Any) -> Finding:
    """k ≤ 3; the identity exactly, the budget and the strong convexity as inequalities."""
    exact = within = total = 0
    for one in zoo()[::4]:
        problem, q, n = one.problem, one.q, one.n
        solved = problem.predictions(one.optimum)
        w = problem.response(solved)

        for k, paths in one.levels(3):
            c, powers = (one.T - 1) * q**k, [q**i for i in range(k)]
            U = [mean(square(moves(one, path)[i]) for path in paths) for i in range(k)]
            seen = [[problem.predictions(path.atoms[i]) for path in paths] for i in range(k)]
            A = [mean(distance(a, solved) for a in column) for column in seen]
            e = [mean(problem.saddle(p.atoms[i], w) for p in paths) - one.value for i in range(k)]
            last = mean(distance(path.s[-1], solved) for path in paths)
            far = mean(problem.bregman(solved, path.s[-1]) for path in paths)
            left = c * last + (1 - 1 / one.sigma) * weighted(powers, U)
            right = weighted(powers, A) + weight(one.T) * square(solved)
            budget = (one.T - 1) * (one.start_radius + (one.value - one.dual_start) / one.sigma)
            total += 1
            exact += left == right
            convex = all(
                one.gamma * a <= 2 * n * (one.sigma_full - 1) * x for a, x in zip(A, e, strict=True)
            )
            within += convex and weighted(powers, e) + c * far <= budget
    return Finding(exact == within == total, f"{exact} and {within} of {total} levels")


def factor(one: Strong) -> Any:
    """The smaller C of two t, roots of t(1+t)ζ = 1 and t(1+t)(N−1) = 1 to six decimals."""
    noise = (one.N - 1) / (one.N * (one.sigma - 1))
    zeta = noise * (one.sigma_full - 1)

    def of(t: Any) -> Any:
        return ((1 + 1 / one.sigma) * (1 + max((1 + t) * zeta, 1 / t)) + (1 + t) * noise) / 2

    squares = (int((1 + 4 / F(x)) * 10**12) for x in (zeta, one.N - 1))
    return min(of(F(isqrt(square) - 10**6, 2 * 10**6)) for square in squares)


@check(
    Kind.EXACT,
    factor,
    {"a twentieth": lambda one: factor(one) / 20, "1/20": lambda one: F(1, 20)},
)
def the_bound_holds_over_all_sequences(number: Any) -> Finding:
    """k ≤ 4 with b = 1, k ≤ 3 with b = 2; for N ≥ 2 it or Nσ/2 is below N + 3/4."""
    largest, highest = F(0), F(0)
    for one in [one for b in (1, 2) for one in zoo(b) if one.n > one.b]:
        C = number(one)
        if one.N >= 2:
            highest = max(highest, min(C, one.T / 2) / (one.N + F(3, 4)))
        for k, gap in one.gaps(4 if one.n < 3 else 3):
            largest = max(largest, (one.q**k - 1) * gap / (C * one.energy))
    return Finding(
        largest <= 1 and highest <= 1,
        f"largest ratio {float(largest):.4f}; C at most {float(highest):.3f} (N + 3/4)",
        largest,
    )


def root(n: Any) -> Any:
    """t for ζ = n − 1."""
    return (sympy.sqrt(1 + 4 / (n - 1)) - 1) / 2


@check(
    Kind.SYMBOLIC,
    root,
    {"n for n − 1": lambda n: root(n + 1), "without the half": lambda n: 2 * root(n)},
)
def the_root_and_its_estimates(formula: Any) -> Finding:
    """t(1+t)(n−1) = 1; 1/t ≤ n from √(1+4/(n−1)) ≤ 1+2/(n−1); C at σ = 2."""
    n = sympy.Symbol("n", positive=True)
    t = formula(n)
    solves = sympy.simplify(t * (1 + t) * (n - 1) - 1)
    # 1/t = (n−1)(1+t), and (1+2/(n−1))² − (1+4/(n−1)) = 4/(n−1)² ≥ 0 bounds t by 1/(n−1).
    square_gap = sympy.simplify((1 + 2 / (n - 1)) ** 2 - (1 + 4 / (n - 1)) - 4 / (n - 1) ** 2)
    bounded = sympy.simplify((n - 1) * (1 + 1 / (n - 1)) - n)
    half = sympy.Rational(1, 2)
    at_two = half * ((1 + half) * (1 + n) + (n / (n - 1)) * (n - 1) / n)
    last = sympy.simplify(at_two - (3 * n / 4 + sympy.Rational(5, 4)))
    rests = [solves, square_gap, bounded, last]
    return Finding(all(rest == 0 for rest in rests), f"rests {rests}")

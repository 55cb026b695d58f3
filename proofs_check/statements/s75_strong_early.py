r"""The second linear inequality holds as long as q^k is below 1.87.

Paper: none; proves the second inequality of Theorem 3.2 for early k (thm:strong-early)
Claim: for all losses and n, $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le \min\{2,
    \tfrac{\sigma}{2(\sigma-1)}\} \gamma M^2$, and it is at most $\frac{\gamma M^2}{q^k-1}$ while
    $q^k \le \max\{1.87, 3-\tfrac2\sigma\}$.
Hypotheses: (A); (B); (S)
Verdict: REPAIRED
Correction: convexity of P, $\mathbb{E}D(w^k) \ge \mathbb{E}D(w^i)$ and $P(\tilde\beta^i)-D(w^i) =
    \frac1n\sum_j D_{l_j}(a_j^i,s_j^i) \le \frac{\gamma}{2n}\|u^i\|^2$ give
    $\Gamma\,\mathbb{E}\,\mathrm{gap} \le \frac\gamma2\sum q^iU_i$. First, $|u_j| \le 2M$. Second,
    the energy identity $(1-\frac1\sigma)\sum q^iU_i \le \Gamma M^2$; the bound
    $\frac{\sigma}{2(\sigma-1)}\gamma M^2$ is below $\frac{\gamma M^2}{q^k-1}$ iff $q^k \le
    3-\frac2\sigma$, which is at least 1.87 once $\sigma \ge \frac{2}{1.13}$. Third, row j is
    untouched before step i with probability $(1-\frac1n)^i$, and then $|u_j| \le M$: $U_i \le
    (4-3(1-\frac1n)^i)M^2$. With $\rho = q(1-\frac1n) = 1-\frac{\sigma-1}{T-1}$ and $Q = q^k$ the
    inequality $\frac12\sum q^i(4-3(1-\frac1n)^i) \le T-1$ to be shown reads
    $4(Q-1)-3\frac{1-\rho^k} {\sigma-1} \le 2$. Now $\rho^k \le Q^{-(\sigma-1)}$, because
    $-\ln\rho \ge \frac{\sigma-1}{T-1} \ge (\sigma-1)\ln q$; and $\frac{1-Q^{-x}}{x} = \int_0^{\ln
    Q}e^{-xt}dt$ falls with x, while $4(Q-1)- 3\frac{1-Q^{-x}}{x}$ grows with Q. At $Q = 1.87$ and
    $\sigma-1 = \frac{2}{1.13}-1$ it is 1.99. For batches write $N = n/b$ and $\sigma_b$.
Proof: by hand, symbolic, interval; by mpmath's intervals and by Arb's
Check: the sums symbolically; the last number in interval arithmetic; both parts of the uniform
    bound over all sequences in fractions. The uniform bound is reached up to .97, the second
    inequality in this range up to .21: there it is not tight.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 4; squared, Huber-like and shifted losses;
    b ≤ 3
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import zoo
from proofs_check.intervals.arithmetic import Numbers, both
from proofs_check.statement import Finding, Kind, check


def untouched(n: Any, i: Any) -> Any:
    """(1 − 1/n)^i."""
    return (1 - 1 / n) ** i


@check(
    Kind.SYMBOLIC,
    untouched,
    {
        "exponent i + 1": lambda n, i: untouched(n, i + 1),
        "1 − 2/n": lambda n, i: (1 - 2 / n) ** i,
    },
)
def the_weighted_sum_is_geometric(chance: Any) -> Finding:
    """Σ_{i<k} q^i(1−1/n)^i = (T−1)(1−ρ^k)/(σ−1), by induction on k; ρ = q(1−1/n)."""
    n, sigma, k = sympy.symbols("n sigma k", positive=True)
    T = n * sigma
    q, rho = T / (T - 1), 1 - (sigma - 1) / (T - 1)
    terms = [
        chance(n, 0) - 1,
        chance(n, k + 1) / chance(n, k) - rho / q,
        (T - 1) * (rho**k - rho ** (k + 1)) / (sigma - 1) - rho**k,
    ]
    rests = [sympy.simplify(term) for term in terms]
    return Finding(all(rest == 0 for rest in rests), f"rests {rests}")


def decrease(L: Any, x: Any) -> Any:
    """(1 − Q^{−x})/x with Q = e^L."""
    return (1 - sympy.exp(-x * L)) / x


@check(
    Kind.SYMBOLIC,
    decrease,
    {
        "x for 1/x": lambda L, x: x**2 * decrease(L, x),
        "exponent −2x": lambda L, x: decrease(2 * L, x),
        "coefficient 2": lambda L, x: 2 * decrease(L, x),
    },
)
def the_early_range_is_decided_at_its_corner(formula: Any) -> Finding:
    """The sum falls with x and 4(Q−1) − 3(1−Q^{−x})/x grows with Q; ρ^k ≤ Q^{−x}; 3 − 2/σ.

    −x²e^{xL} times the derivative is e^{xL} − 1 − xL ≥ 0; with Q it is 4 − 3Q^{−x−1} ≥ 1. By
    −ln(1−y) ≥ y and ln(1+y) ≤ y: −ln ρ ≥ (σ−1)/(T−1) ≥ (σ−1) ln q, for q = 1 + 1/(T−1).
    """
    L, x, Q = sympy.symbols("L x Q", positive=True)
    n, sigma = sympy.symbols("n sigma", positive=True)
    T = n * sigma
    rests = [
        -sympy.diff(formula(L, x), x) * x**2 * sympy.exp(x * L) - (sympy.exp(x * L) - 1 - x * L),
        sympy.diff(formula(L, x), L) - sympy.exp(-x * L),  # dQ/Q = dL
        T / (T - 1) * (1 - 1 / n) - (1 - (sigma - 1) / (T - 1)),
        1 / (Q - 1) - sigma / (2 * (sigma - 1))
        - sigma * (3 - 2 / sigma - Q) / (2 * (sigma - 1) * (Q - 1)),
        (3 - 2 / sigma).subs(sigma, sympy.Rational(200, 113)) - sympy.Rational(187, 100),
    ]  # fmt: skip
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(not any(found), f"rests {found}")


def early(numbers: Numbers, Q: Any, x: Any) -> Any:
    """4(Q−1) − 3(1−Q^{−x})/x, to be at most 2."""
    return 4 * (Q - 1) - 3 * (1 - numbers.exp(-x * numbers.log(Q))) / x


@check(
    Kind.INTERVAL,
    early,
    {
        "2 for 3": lambda numbers, Q, x: (
            early(numbers, Q, x) + (1 - numbers.exp(-x * numbers.log(Q))) / x
        ),
        "exponent −x − 1": lambda numbers, Q, x: early(numbers, Q, x + 1),
        "1.88 for 1.87": lambda numbers, Q, x: early(numbers, Q + numbers.rational(1, 100), x),
    },
)
def the_number_at_the_crossing_is_below_two(value: Any) -> Finding:
    """Q = 1.87 and σ = 2/1.13, where 3 − 2/σ is 1.87 too; mpmath's intervals and Arb's."""
    top = 0.0
    for numbers in both():
        Q, sigma = numbers.rational(187, 100), numbers.rational(200, 113)
        top = max(top, float(numbers.above(value(numbers, Q, sigma - 1))))
    return Finding(
        top <= 2, f"at most {top:.5f} by {' and '.join(n.name for n in both())}", top / 2
    )


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
def the_uniform_bound_holds_over_all_sequences(factor: Any) -> Finding:
    """k ≤ 4, b = 1, 2, 3."""
    largest = Fraction(0)
    for one in [*zoo(), *zoo(2), *zoo(3)]:
        for _, gap in one.gaps(4 if one.n < 3 else 3):
            largest = max(largest, gap / (factor(one) * one.energy))
    return Finding(largest <= 1, f"largest ratio {float(largest):.4f}", largest)


@check(
    Kind.EXACT,
    lambda one, k: 1 / (one.q**k - 1),
    {
        "q^{4k}": lambda one, k: 1 / (one.q ** (4 * k) - 1),
        "an eighth": lambda one, k: 1 / (8 * (one.q**k - 1)),
    },
)
def the_second_inequality_holds_in_the_early_range(bound: Any) -> Finding:
    """All (n, σ, k ≤ 4) with q^k ≤ max{1.87, 3 − 2/σ}."""
    largest, met = Fraction(0), 0
    for one in [*zoo(), *zoo(2)]:
        for k, gap in one.gaps(4 if one.n < 3 else 3):
            if one.q**k <= max(Fraction(187, 100), 3 - 2 / one.sigma):
                largest = max(largest, gap / (bound(one, k) * one.energy))
                met += 1
    return Finding(
        largest <= 1 and met > 50,
        f"{met} cases, largest ratio {float(largest):.4f}",
        largest,
    )

r"""1/(q^k − 1) decreases linearly.

Paper: display after Theorem 3.2 (eq:linear_conv), Section 3.1
Claim: $\frac{1}{(1+\frac{1}{n\sigma-1})^k-1} \le n\sigma\left(1-\frac{1}{n\sigma}\right)^k$ for
    $k \ge 1$.
Hypotheses: $n\sigma \ge 1$ and $k \ge 1$
Verdict: TIGHT
Correction: with $q = \frac{n\sigma}{n\sigma-1}$ it says $n\sigma(q^k-1) - q^k =
    (n\sigma-1)(q^k-q) \ge 0$: equality at k = 1, and $0 \le 0$ in the limit $n\sigma = 1$.
    Sharper for large k: $\frac{1}{q^k-1} \le \frac{q^{-k}}{1-e^{-k/(n\sigma)}}$, so that the
    factor $n\sigma$ becomes 1.59 once $k \ge n\sigma$.
Proof: by hand, symbolic
Check: symbolically for all $n\sigma > 1$ and all k, $n\sigma = \frac{q}{q-1}$ being any number
    above 1; in fractions, the sharper form against the first terms of the exponential series.
Tested: no instance: all $n\sigma > 1$ and k; the sharper form at 5 values of $n\sigma$, 6 of k
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check


def two_sides(T: Any, k: Any) -> tuple[Any, Any]:
    """1/((1+1/(T−1))^k − 1) and T(1−1/T)^k."""
    return 1 / ((1 + 1 / (T - 1)) ** k - 1), T * (1 - 1 / T) ** k


@check(
    Kind.SYMBOLIC,
    two_sides,
    {
        "exponent k + 1 on the left": lambda T, k: (two_sides(T, k + 1)[0], two_sides(T, k)[1]),
        "exponent k − 1 on the right": lambda T, k: (two_sides(T, k)[0], two_sides(T, k - 1)[1]),
        "nσ − 1 for nσ on the right": lambda T, k: (
            two_sides(T, k)[0],
            two_sides(T, k)[1] * (T - 1) / T,
        ),
    },
)
def the_difference_is_a_quotient_of_positive_terms(sides: Any) -> Finding:
    """Right − left = (T−1)(q^k − q)/(q^k(q^k−1)), 0 at k = 1 and positive after."""
    q, k = sympy.symbols("q k", positive=True)
    T = q / (q - 1)
    left, right = sides(T, k)
    rest = sympy.simplify(right - left - (T - 1) * (q**k - q) / (q**k * (q**k - 1)))
    return Finding(rest == 0, f"rest {rest}", 1)


def exponential(x: Fraction) -> Fraction:
    """More than e^{−x}: the reciprocal of 16 terms of the series of e^x."""
    return 1 / sum((x**m / factorial(m) for m in range(16)), Fraction(0))


@check(
    Kind.EXACT,
    exponential,
    {
        "e^{−2x}": lambda x: exponential(x) ** 2,
        "the series cut after its linear term, doubled": lambda x: 1 / (1 + 2 * x),
    },
)
def the_sharper_form_holds_and_gives_its_factor(decrease: Any) -> Finding:
    """q^{−k} ≤ e^{−k/T}, so 1/(q^k−1) ≤ q^{−k}/(1−e^{−k/T}) ≤ 1.59 q^{−k} for k ≥ T."""
    holds, factor = True, Fraction(0)
    for T in (Fraction(3, 2), Fraction(2), Fraction(9, 4), Fraction(10), Fraction(101)):
        for k in (1, 2, 5, 17, 101, 120):
            small = (1 - 1 / T) ** k
            if k / T < 12:
                holds &= small <= decrease(k / T) < 1
            if k >= T:
                factor = max(factor, 1 / (1 - small))
    ratio = factor / Fraction(159, 100)
    return Finding(holds and ratio < 1, f"largest factor {float(factor):.4f}", ratio)

r"""A ball of half the radius holds the ridge solution.

Paper: Example 1.1, ridge regression (exam:ridge), Section 1.1
Claim: the ridge problem may be restricted to $\|\beta\|_2^2 \le \|y\|_2^2/(n\lambda)$.
Hypotheses: $R = \frac\lambda2\|\beta\|_2^2$ and squared losses with $\gamma = 1$
Verdict: LOOSE
Correction: $\|\beta^*\|_2^2 \le \|y\|_2^2/(4n\lambda)$, attained where a singular value is
    $\sqrt{n\lambda}$ and y lies along its left vector: M may be halved and $\gamma M^2$ quartered.
Proof: by hand, symbolic
Check: $\beta^* = X^T(XX^T + n\lambda I)^{-1}y$ shrinks each singular direction by
    $\varsigma/(\varsigma^2 + n\lambda) \le 1/(2\sqrt{n\lambda})$, the difference being a square;
    and normal equations solved in fractions.
Tested: n ≤ 3, p = 2, no steps; squared losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import numbers
from proofs_check.exact.problem import Vector
from proofs_check.statement import Finding, Kind, check


def shrinkage(value: Any, weight: Any) -> Any:
    """ς/(ς² + nλ)."""
    return value / (value**2 + weight)


@check(
    Kind.SYMBOLIC,
    shrinkage,
    {
        "coefficient 2 at nλ": lambda value, weight: shrinkage(value, 2 * weight),
        "ς for ς² below": lambda value, weight: value / (value + weight),
    },
)
def the_largest_shrinkage_factor_is_a_square_away(factor: Any) -> Finding:
    """1/(2√t) − ς/(ς² + t) = (ς − √t)²/(2√t(ς² + t)), t = nλ."""
    value, root = sympy.symbols("s r", positive=True)
    rest = 1 / (2 * root) - factor(value, root**2)
    square = (value - root) ** 2 / (2 * root * (value**2 + root**2))
    difference = sympy.simplify(rest - square)
    return Finding(difference == 0, f"difference from the square: {difference}")


def _ridge(rows: list[Vector], y: Vector, weight: Fraction) -> Vector:
    """The solution of (XᵀX + nλI)β = Xᵀy."""
    p = len(rows[0])
    gram = sympy.Matrix(p, p, lambda a, b: sum(row[a] * row[b] for row in rows))
    gram += sympy.Rational(weight.numerator, weight.denominator) * sympy.eye(p)
    right = sympy.Matrix(
        [sum(row[a] * v for row, v in zip(rows, y, strict=True)) for a in range(p)]
    )
    return tuple(Fraction(int(x.p), int(x.q)) for x in gram.LUsolve(right))


def squared_radius(y: Vector, n: int, strength: Fraction) -> Fraction:
    """‖y‖²/(4nλ)."""
    return sum(v * v for v in y) / (4 * n * strength)


@check(
    Kind.EXACT,
    squared_radius,
    {
        "5 for 4": lambda y, n, strength: squared_radius(y, n, strength) * 4 / 5,
        "n forgotten, which nothing attains": lambda y, n, strength: (
            n * squared_radius(y, n, strength)
        ),
        "last label forgotten": lambda y, n, strength: squared_radius(y[:-1], n, strength),
    },
)
def a_quarter_of_the_printed_square_is_enough_and_attained(formula: Any) -> Finding:
    """30 drawn problems, then X = I₂, λ = 1/2: β* = y/2."""
    generator = default_rng(6)
    within = True
    for _ in range(30):
        rows, y = [numbers(generator, 2) for _ in range(3)], numbers(generator, 3)
        strength = Fraction(int(generator.integers(1, 9)), 4)
        beta = _ridge(rows, y, 3 * strength)
        within &= sum(b * b for b in beta) <= formula(y, 3, strength)
    identity = [(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))]
    y = (Fraction(3), Fraction(-5))
    beta = _ridge(identity, y, Fraction(1))
    ratio = sum(b * b for b in beta) / formula(y, 2, Fraction(1, 2))
    return Finding(within and ratio == 1, f"within {within}; attained with ratio {ratio}", 0.25)

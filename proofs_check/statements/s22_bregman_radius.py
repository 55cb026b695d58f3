r"""The radius of the responses around the start is at most half of what the paper states.

Paper: Proposition 3.1 (prop:Dmax), Section 3
Claim: $D_h(\hat w, w^0) \le \gamma M^2$ for every response $\hat w$.
Verdict: LOOSE
Correction: $D_h(\hat w, w^0) = \tfrac{1}{n}\sum_j D_{l_j}(0, x_j^T\hat\beta) \le
    \tfrac{\gamma}{2n}\|X\hat\beta\|_2^2 \le \tfrac12\gamma M^2$, attained by the squared loss
    with n = 1. The proof loses the factor where it maximizes two terms separately.
Check: symbolically, $D_{l^*}(\hat w, w^0) = l(0) - l(s) + s\,l'(s)$ for $\hat w = l'(s)$, and
    $\tfrac{\gamma}{2}s^2$ minus it is $\int_0^s t(\gamma - l''(t))\,dt$; exactly, over drawn
    problems and the attaining one.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.losses import Squared
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Cube
from proofs_check.statement import Finding, Kind, check


def radius(gamma: Any, bound: Any) -> Any:
    """γM²/2."""
    return gamma * bound**2 / 2


@check(
    Kind.SYMBOLIC,
    radius,
    {
        "γM² as printed, which leaves a rest": lambda gamma, bound: gamma * bound**2,
        "M instead of M²": lambda gamma, bound: gamma * bound / 2,
    },
)
def what_is_missing_to_the_radius_is_an_integral(bound: Any) -> Finding:
    """d/ds of γs²/2 − D_{l*}(l'(s), l'(0)) is s(γ − l''(s)), and at s = 0 it is 0."""
    s, gamma = sympy.symbols("s gamma", real=True)
    loss = sympy.Function("l")
    slope = sympy.diff(loss(s), s)
    conjugate = s * slope - loss(s)
    at_start = -loss(sympy.Integer(0))
    rest = bound(gamma, s) - (conjugate - at_start)
    difference = sympy.simplify(sympy.diff(rest, s) - s * (gamma - sympy.diff(slope, s)))
    return Finding(
        difference == 0 and sympy.simplify(rest.subs(s, 0)) == 0,
        f"rest of the derivative: {difference}",
    )


def distance(small: Small, corner: tuple[Any, ...]) -> Any:
    """D_h(ŵ, w⁰) = h(ŵ) − h(w⁰), as ∇h(w⁰) = 0, for ŵ = ∇L(Xβ)."""
    zero = small.response((Fraction(0),) * small.n)
    return small.conjugate(small.response(small.predictions(corner))) - small.conjugate(zero)


@check(
    Kind.EXACT,
    radius,
    {
        "γM²/3": lambda gamma, bound: gamma * bound**2 / 3,
        "γM², which nothing attains": lambda gamma, bound: gamma * bound**2,
    },
)
def half_is_enough_and_attained(bound: Any) -> Finding:
    """100 drawn problems at all corners of a cube, then n = 1 with equality."""
    generator = default_rng(21)
    cube = Cube(Fraction(1))
    corners = [(a, b) for a in (Fraction(1), Fraction(-1)) for b in (Fraction(1), Fraction(-1))]
    within = True
    for _ in range(100):
        small = problem(generator, 3, 2, cube, tilted)
        largest = max(abs(s) for corner in corners for s in small.predictions(corner))
        limit = bound(small.losses[0].gamma, largest)
        within &= all(distance(small, corner) <= limit for corner in corners)
    one = Small(((Fraction(3),),), [Squared(Fraction(1, 2), Fraction(2))], cube)
    reached = distance(one, (Fraction(1),)) / bound(Fraction(2), Fraction(3))
    printed = Fraction(2) * 9 / distance(one, (Fraction(1),))
    return Finding(
        within and reached == 1,
        f"attained with ratio {reached}; the printed bound is {printed} times larger",
        1 / printed,
    )

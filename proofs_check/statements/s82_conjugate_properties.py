r"""Conjugates: smooth against strongly convex, and the three equivalent conditions.

Paper: Proposition A.1 (prop:gradient_conjugate), Appendix A
Claim: a closed convex f is $f^{**}$; f is $\gamma$-smooth iff $f^*$ is $1/\gamma$-strongly convex;
    for differentiable strictly convex f: $y = \nabla f(x)$ iff $x = \nabla f^*(y)$ iff $x^Ty = f(x)
    + f^*(y)$.
Hypotheses: f is proper, closed and convex; for the three conditions differentiable and strictly
    convex
Verdict: HOLDS
Correction: f must be proper, too: $f = -\infty$ for $x \le 0$ and $+\infty$ beyond is closed and
    convex, and $f^{**} = -\infty$. $f^*$ is differentiable in the interior of its domain only; at
    the ends of the logistic conjugate's domain the slope is infinite, and no s belongs to them.
Proof: by hand, symbolic
Check: biconjugates on a grid, of a function with kinks and a bounded domain and of the improper
    one; symbolically, $(f^*)''(f'(x)) = 1/f''(x)$ for every f; in 50 digits and in fractions the
    three conditions for three losses; the logistic conjugate's slope grows without bound.
Tested: n = 1, p = 1, no steps; squared, Huber-like and logistic losses, a function with kinks
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath
import sympy

from proofs_check.exact.drawn import tilted
from proofs_check.exact.losses import Softplus, Squared
from proofs_check.exact.mirror import conjugate_slope
from proofs_check.statement import Finding, Kind, check


def legendre(x: Any, value: Any, slope: Any) -> Any:
    """f*(f'(x)) = x f'(x) − f(x)."""
    return x * slope - value


@check(
    Kind.SYMBOLIC,
    legendre,
    {
        "coefficient 2 at f": lambda x, value, slope: x * slope - 2 * value,
        "slope and value exchanged": lambda x, value, slope: x * value - slope,
        "wrong sign": lambda x, value, slope: value - x * slope,
    },
)
def curvatures_of_a_conjugate_pair_are_inverse(formula: Any) -> Finding:
    """With y = f'(x): df*/dy = x and d²f*/dy² = 1/f''(x), for every f, by the chain rule."""
    x = sympy.symbols("x", real=True)
    f = sympy.Function("f")(x)
    slope = sympy.diff(f, x)
    curvature = sympy.diff(slope, x)
    first = sympy.simplify(sympy.diff(formula(x, f, slope), x) / curvature)
    second = sympy.simplify(sympy.diff(first, x) / curvature - 1 / curvature)
    return Finding(first == x and second == 0, f"f*' = {first}, f*'' − 1/f'' = {second}")


@check(
    Kind.DIGITS,
    conjugate_slope,
    {
        "slope of the loss": lambda loss, w: loss.derivative(w),
        "sign of the tilt": lambda loss, w: conjugate_slope(loss, -w),
    },
)
def the_three_conditions_hold_together(slope: Any) -> Finding:
    """w = l'(s), s = l*'(w), l + l* = sw; and l + l* > sw at other s."""
    agrees = True
    with mpmath.workdps(50):
        for loss in (Squared(Fraction(1, 3), Fraction(2)), tilted(Fraction(1, 4)), Softplus(1)):
            small = mpmath.mpf(10) ** -45 if isinstance(loss, Softplus) else 0
            for s in (Fraction(-3), Fraction(-1, 4), Fraction(2)):
                point = mpmath.mpf(s.numerator) / s.denominator if small else s
                w = loss.derivative(point)
                agrees &= abs(slope(loss, w) - point) <= small
                agrees &= abs(loss.value(point) + loss.conjugate(w) - w * point) <= small
                other = point + 1
                agrees &= loss.value(other) + loss.conjugate(w) - w * other > small
    return Finding(bool(agrees), "three losses at three points each")


@check(
    Kind.DIGITS,
    Softplus(1),
    {"the squared loss, whose conjugate is smooth": Squared(Fraction(0))},
)
def the_slope_is_infinite_at_the_end_of_the_domain(loss: Any) -> Finding:
    """l*'(w) at w = −10^{−m}: about m ln 10."""
    with mpmath.workdps(50):
        slopes = [abs(conjugate_slope(loss, -(mpmath.mpf(10) ** -m))) for m in (10, 20, 40)]
        growth = [mpmath.nstr(s, 5) for s in slopes]
        return Finding(bool(slopes[2] > 1.9 * slopes[1] > 3 * slopes[0]), f"slopes {growth}")


GRID = [Fraction(k, 2) for k in range(-8, 9)]


def bent(x: Any) -> Any:
    """|x| on [−1, 2]: proper, closed and convex, its slopes and ends on the grid."""
    return abs(x) if -1 <= x <= 2 else math.inf


def improper(x: Any) -> Any:
    """−∞ up to 0 and +∞ beyond."""
    return -math.inf if x <= 0 else math.inf


def conjugate(f: Any) -> Any:
    """The largest xy − f(x) over the grid, where f is below ∞."""
    values = [(x, f(x)) for x in GRID if f(x) < math.inf]
    return lambda y: max((x * y - value for x, value in values), default=-math.inf)


@check(
    Kind.EXACT,
    (bent, improper),
    {
        "a function that is not convex": (lambda x: min(bent(x), Fraction(1, 2)), improper),
        "one that is not closed": (lambda x: bent(x) + 3 * (x == 2), improper),
        "both proper": (bent, bent),
    },
)
def the_biconjugate_needs_a_proper_function(functions: Any) -> Finding:
    """f** = f on the grid inside dom f for the first function, nowhere beyond 0 for the second."""
    proper, other = functions
    twice = conjugate(conjugate(proper))
    back = all(twice(x) == proper(x) for x in GRID if proper(x) < math.inf)
    lost = conjugate(conjugate(other))(Fraction(1)) == -math.inf < other(Fraction(1))
    return Finding(back and lost, f"f** = f: {back}; −∞ where f = ∞: {lost}")

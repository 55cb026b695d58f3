r"""The radius of the responses around the start is at most half of what the paper states.

Paper: Proposition 3.1 (prop:Dmax), Section 3
Claim: $D_h(\hat w, w^0) \le \gamma M^2$ for every response $\hat w$.
Hypotheses: (A)
Verdict: LOOSE
Correction: $D_h(\hat w, w^0) = \tfrac{1}{n}\sum_j D_{l_j}(0, x_j^T\hat\beta) \le
    \tfrac{\gamma}{2n}\|X\hat\beta\|_2^2 \le \tfrac12\gamma M^2$, attained by the squared loss
    with n = 1. The proof loses the factor where it maximizes two terms separately.
Proof: by hand, symbolic
Check: symbolically, $D_{l^*}(\hat w, w^0) = l(0) - l(s) + s\,l'(s)$ for $\hat w = l'(s)$, and
    $\tfrac{\gamma}{2}s^2$ minus it is $\int_0^s t(\gamma - l''(t))\,dt$; exactly, over drawn
    problems and the attaining one; the seven lines of the printed proof for squared losses, p = 1,
    where the maxima over T and dom R have closed forms.
Tested: n ≤ 3, p ≤ 2, no steps; squared and Huber-like losses on cubes
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


def printed_lines(small: Small, beta: Any, side: Any) -> list[Any]:
    """D_h(ŵ, w⁰), then the seven lines for ŵ = ∇L(Xβ), T of half width ``side``, |β| ≤ 1."""
    n, zero = small.n, small.response((Fraction(0),) * small.n)
    gamma = small.losses[0].gamma
    w, s = small.response(small.predictions((beta,))), small.predictions((beta,))
    start = n * small.conjugate(zero)

    def total(at: Any) -> Any:
        return sum(loss.value(x) for loss, x in zip(small.losses, at, strict=True))

    def coupled(v: Any, at: Any) -> Any:
        return sum(x * y for x, y in zip(v, at, strict=True))

    def largest(spread: Any) -> Any:
        """max over β of w⁰ᵀXβ + spread·‖Xβ‖₁ − L(Xβ): a concave parabola on each side of 0."""
        bend = gamma * sum(row[0] ** 2 for row in small.rows)
        ends = [Fraction(0), Fraction(1), Fraction(-1)]
        width = spread * sum(abs(row[0]) for row in small.rows)
        ends += [sign * min(width / bend, Fraction(1)) for sign in (1, -1)]
        points = (small.predictions((b,)) for b in ends)
        return max(coupled(zero, at) + spread * sum(map(abs, at)) - total(at) for at in points)

    far = [sum(map(abs, small.predictions((sign * Fraction(1),)))) for sign in (1, -1)]
    high = max(abs(row[0]) for row in small.rows)
    return [
        small.bregman(s, (Fraction(0),) * n),
        (n * small.conjugate(w) - start) / n,
        (coupled(w, s) - total(s) - start) / n,
        (largest(side) - start) / n,
        (side * max(far) + largest(Fraction(0)) - start) / n,
        (n * side * high + start - start) / n,
        gamma * high**2,
    ]


@check(
    Kind.EXACT,
    lambda gamma, high: gamma * high,
    {
        "T with 3γM": lambda gamma, high: 3 * gamma * high,
        "T with γM/8": lambda gamma, high: gamma * high / 8,
    },
)
def the_printed_proof_line_by_line(side: Any) -> Finding:
    """Equal, equal, then no smaller; the third and the fourth line are one number."""
    generator, loosest = default_rng(122), Fraction(0)
    for _ in range(60):
        small = problem(generator, 3, 1, Cube(Fraction(1)), lambda y: Squared(y, Fraction(5, 4)))
        high = max(abs(row[0]) for row in small.rows)
        if not high:
            continue
        for beta in (Fraction(1), Fraction(-1), Fraction(1, 3)):
            found = printed_lines(small, beta, side(Fraction(5, 4), high))
            if not found[0] == found[1] == found[2] or found != sorted(found):
                return Finding(
                    False, f"not increasing: {', '.join(f'{float(x):.4f}' for x in found)}"
                )
            loosest = max(loosest, found[3] / found[6])
    return Finding(
        True,
        f"60 problems, three points each; the first maximum is up to {float(loosest):.4f} of γM²",
        loosest,
    )

r"""The three-point property of Bregman steps.

Paper: Lemma A.1 (tpp), Appendix A
Claim: if $z^+$ minimizes $\phi(x) + D_h(x, z)$ over Q, then $\phi(x) + D_h(x, z) \ge \phi(z^+) +
    D_h(z^+, z) + D_h(x, z^+)$ for all x in Q.
Hypotheses: $\phi$ and h convex, h differentiable at z and $z^+$, Q convex
Verdict: HOLDS
Correction: h must be differentiable at z and at $z^+$. For linear $\phi$ and Q the whole space,
    as in both theorems, it is an equality.
Proof: by hand, symbolic
Check: for linear $\phi$ the difference is $\langle\nabla\phi + \nabla h(z^+) - \nabla h(z),
    x - z^+\rangle = 0$, symbolically for every h; in fractions with $\phi$ kinked at $z^+$ and with
    $z^+$ at the end of Q.
Tested: n = 1, p = 1, one step; no losses: a quartic h, $\phi$ linear or with a kink
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import numbers
from proofs_check.statement import Finding, Kind, check


def right_side(bregman: Any, x: Any, new: Any, old: Any) -> Any:
    """D_h(z⁺, z) + D_h(x, z⁺)."""
    return bregman(new, old) + bregman(x, new)


PLANTED = {
    "arguments of the last distance exchanged": lambda bregman, x, new, old: (
        bregman(new, old) + bregman(new, x)
    ),
    "z for z⁺ in the last distance": lambda bregman, x, new, old: (
        bregman(new, old) + bregman(x, old)
    ),
    "last distance doubled": lambda bregman, x, new, old: bregman(new, old) + 2 * bregman(x, new),
}


@check(Kind.SYMBOLIC, right_side, PLANTED)
def for_a_linear_function_it_is_an_equality(formula: Any) -> Finding:
    """φ(x) = gx with g = h'(z) − h'(z⁺), the condition that z⁺ is the minimizer."""
    x, new, old = sympy.symbols("x z_new z", real=True)
    t = sympy.Symbol("t")
    h = sympy.Function("h")

    def slope(at: Any) -> Any:
        return sympy.diff(h(t), t).subs(t, at).doit()

    def bregman(to: Any, start: Any) -> Any:
        return h(to) - h(start) - slope(start) * (to - start)

    g = slope(old) - slope(new)
    rest = sympy.expand(g * (x - new) + bregman(x, old) - formula(bregman, x, new, old))
    return Finding(sympy.simplify(rest) == 0, f"left minus right: {sympy.simplify(rest)}", 1)


@check(Kind.EXACT, right_side, PLANTED)
def it_holds_at_kinks_and_at_the_end_of_the_set(formula: Any) -> Finding:
    """h = x⁴/4 + x²/2, φ = gx + |x − z⁺|/2 on Q = R, and linear φ on Q = [z⁺, ∞)."""

    def bregman(to: Any, start: Any) -> Any:
        def h(v: Any) -> Any:
            return v**4 / 4 + v**2 / 2

        return h(to) - h(start) - (start**3 + start) * (to - start)

    generator = default_rng(83)
    smallest, ratio = Fraction(10**6), Fraction(0)
    for x, new, old, tilt in (numbers(generator, 4) for _ in range(400)):
        g = (old**3 + old) - (new**3 + new) + tilt / 4
        left = g * (x - new) + abs(x - new) / 2 + bregman(x, old)
        right = formula(bregman, x, new, old)
        smallest = min(smallest, left - right)
        ratio = max(ratio, right / left if left > 0 else Fraction(0))
        if x >= new:
            linear = (g - tilt / 4 + abs(tilt)) * (x - new)
            smallest = min(smallest, linear + bregman(x, old) - formula(bregman, x, new, old))
    return Finding(smallest == 0, f"smallest difference {smallest} in 400 draws", ratio)

r"""Distances between duals are distances between predictions, the other way round.

Paper: none; used for Proposition 3.1 (eq:bregman-duality)
Claim: for $w = \nabla L(s)$ and $w' = \nabla L(s')$, $D_h(w, w') = \tfrac1n\sum_j
    D_{l_j}(s'_j, s_j)$; in particular $D_h(\hat w, w^0) = h(\hat w) - h(w^0)$, as
    $w^0 = \nabla L(0)$ minimizes h.
Hypotheses: every $l_j$ is convex and differentiable
Verdict: HOLDS
Proof: by hand, symbolic
Check: symbolically with $l^*(l'(s)) = s\,l'(s) - l(s)$, for every loss; in fractions from
    conjugates in closed form; in 50 digits for the logistic loss.
Tested: n = 1, p = 1, no steps; Huber-like and logistic losses
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import numbers, tilted
from proofs_check.exact.losses import Softplus
from proofs_check.exact.mirror import conjugate_slope
from proofs_check.statement import Finding, Kind, check


def dual_distance(value: Any, slope: Any, s_to: Any, s_from: Any) -> Any:
    """D_l(s', s) for w = l'(s) and w' = l'(s')."""
    return value(s_from) - value(s_to) - slope(s_to) * (s_from - s_to)


PLANTED = {
    "arguments exchanged": lambda value, slope, s_to, s_from: dual_distance(
        value, slope, s_from, s_to
    ),
    "coefficient 2 at the slope": lambda value, slope, s_to, s_from: (
        value(s_from) - value(s_to) - 2 * slope(s_to) * (s_from - s_to)
    ),
}


@check(Kind.SYMBOLIC, dual_distance, PLANTED)
def it_holds_for_every_loss(formula: Any) -> Finding:
    """D_{l*}(w, w') with l*'(w') = s'."""
    s, start, t = sympy.symbols("s r t", real=True)
    loss = sympy.Function("l")

    def slope(at: Any) -> Any:
        return sympy.diff(loss(t), t).subs(t, at).doit()

    def conjugate(at: Any) -> Any:
        return at * slope(at) - loss(at)

    distance = conjugate(s) - conjugate(start) - start * (slope(s) - slope(start))
    rest = sympy.simplify(sympy.expand(distance - formula(loss, slope, s, start)))
    return Finding(rest == 0, f"difference of the two sides: {rest}")


def _rest(loss: Any, s: Any, start: Any, formula: Any) -> Any:
    """|D_{l*}(w, w') from the closed conjugate − the formula| + |l*'(l'(0))|."""
    w, w_from = loss.derivative(s), loss.derivative(start)
    moved = conjugate_slope(loss, w_from) * (w - w_from)
    direct = loss.conjugate(w) - loss.conjugate(w_from) - moved
    centre = conjugate_slope(loss, loss.derivative(0 * s))
    return abs(direct - formula(loss.value, loss.derivative, s, start)) + abs(centre)


@check(Kind.DIGITS, dual_distance, PLANTED)
def it_holds_with_conjugates_in_closed_form(formula: Any) -> Finding:
    """100 pairs of a rational loss, exactly, and 9 of the logistic one in 50 digits."""
    generator = default_rng(88)
    draws = (numbers(generator, 3) for _ in range(100))
    wrong = sum(_rest(tilted(y), s, start, formula) != 0 for y, s, start in draws)
    with mpmath.workdps(50):
        points = [mpmath.mpf(p) for p in ("-1.5", "0.25", "3")]
        logistic = Softplus(mpmath.mpf(1))
        worst = max(_rest(logistic, s, start, formula) for s in points for start in points)
        return Finding(
            bool(wrong == 0 and worst < mpmath.mpf(10) ** -45),
            f"{wrong} of 100 differ; logistic to {float(worst):.1e}",
        )

"""l*' = (l')⁻¹ on one piece, in closed form where algebra finds it and numbers confirm it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import mpmath
import sympy as sp

from rcmd.expressions.deadline import deadline
from rcmd.expressions.numbers import Evaluation, probes
from rcmd.expressions.pieces import Piece
from rcmd.expressions.rational import T, quotient_of
from rcmd.expressions.rewriting import cosh_entropy, logcosh, negative_entropy, softplus
from rcmd.expressions.symbolic import R

W = sp.Symbol("w", real=True)
PATIENCE = 2.0
"""Seconds that computer algebra gets for one piece."""
_CONJUGATES = {softplus: negative_entropy, logcosh: cosh_entropy}
# Digits: at r = 20 the slope of a saturating loss may differ from its limit in the 100th.
_ROUND_TRIP = 200


def closed_inverse(piece: Piece) -> Any:
    """r as an expression in w with f'(r) = w on the piece, or None."""
    if piece.curvature.is_number:
        slope = sp.expand(piece.slope)
        return sp.expand((W - slope.subs(R, 0)) / piece.curvature)
    found: list[Any] = []
    with deadline(PATIENCE):
        found += _by_quotient(piece.slope)
    if not any(is_inverse(candidate, piece) for candidate in found):
        for attempt in (_by_solveset, _by_solve):
            with deadline(PATIENCE / 2), suppress(Exception):
                # Whatever the solver fails with, it has found nothing.
                found += attempt(piece)
            if any(is_inverse(candidate, piece) for candidate in found):
                break
    right = [candidate for candidate in found if is_inverse(candidate, piece)]
    return min(right, key=sp.count_ops) if right else None


def closed_conjugate(piece: Piece, stable: Any, inverse: Any) -> Any:
    """f* in a form of its own, or None where w·r − f(r) at r = f*'(w) must do.

    A parabola has a parabola. k·g(a·r + b) + c·r + d has k·g*(v) − k·b·v − d with
    v = (w − c)/(k·a), where g* is an entropy for g = softplus and for g = log cosh.
    """
    if piece.curvature.is_number:
        return sp.expand(W * inverse - piece.value.subs(R, inverse)) if piece.curvature else None
    found = stable.atoms(*_CONJUGATES)
    if len(found) != 1:
        return None
    (curve,) = found
    slope = curve.args[0].diff(R)
    factor = stable.coeff(curve)
    line = sp.expand(stable - factor * curve)
    if not (slope.is_number and factor.is_number and line.diff(R).is_number):
        return None
    shift = curve.args[0].subs(R, 0)
    v = (W - line.diff(R)) / (factor * slope)
    return factor * _CONJUGATES[curve.func](v) - factor * shift * v - line.subs(R, 0)


def is_inverse(candidate: Any, piece: Piece) -> bool:
    """The round trip r → f'(r) → r in many digits, at points all over the piece."""
    if candidate.free_symbols - {W} or candidate.has(sp.I, sp.zoo, sp.Piecewise, sp.LambertW):
        return False
    back = sp.lambdify(W, candidate, "mpmath")
    slope = Evaluation(piece.slope, "l'")
    points = [at for at in probes(piece) if 1e-3 <= abs(at) <= 20] or probes(piece)
    for at in points[:: max(1, len(points) // 24)]:
        with mpmath.workdps(_ROUND_TRIP):
            try:
                error = abs(back(slope(at, _ROUND_TRIP)) - at)
            except (ArithmeticError, ValueError):
                return False
            if not error <= mpmath.mpf(10) ** -12 * (1 + abs(at)):
                return False
    return True


def _by_quotient(slope: Any) -> list[Any]:
    """For f' rational in r or in exp(r): the roots of a polynomial of degree one or two."""
    quotient = quotient_of(slope)
    if quotient is None:
        return []
    top, bottom, variable = quotient.numerator, quotient.denominator, quotient.variable
    polynomial = sp.Poly(top.as_expr() - W * bottom.as_expr(), variable)
    if not 1 <= polynomial.degree() <= 2:
        return []
    *leading, linear, constant = polynomial.all_coeffs()
    if not leading:
        roots = [-constant / linear]
    else:
        # Both forms of each root: the denominator's leading coefficient may vanish.
        root = sp.sqrt(sp.factor(linear**2 - 4 * leading[0] * constant))
        roots = [(-linear + sign * root) / (2 * leading[0]) for sign in (1, -1)]
        roots += [2 * constant / (-linear + sign * root) for sign in (1, -1)]
    replaced = (sp.factor(root) if variable == T else root for root in roots)
    return [quotient.outer.subs(variable, root) for root in replaced]


def _by_solveset(piece: Piece) -> list[Any]:
    found = sp.solveset(piece.slope - W, R, sp.S.Reals)
    return list(found) if isinstance(found, sp.FiniteSet) else _inside_sets(found)


def _inside_sets(found: Any) -> list[Any]:
    """The members of finite sets inside a conditional answer; the round trip judges them."""
    return [member for part in found.atoms(sp.FiniteSet) for member in part]


def _by_solve(piece: Piece) -> list[Any]:
    # Without the assumption that r is real, which sends the solver into case distinctions.
    free, level = sp.Dummy("r"), sp.Dummy("w")
    found = sp.solve(piece.slope.subs(R, free) - level, free)
    return [candidate.subs(level, W) for candidate in found]

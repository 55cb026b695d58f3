"""Cores as sums of functions CVXPY knows: parabolas, Huber's, softplus, Euclidean norms.

A recipe is a list of (name, factor, slope, shift, extra): factor·name(slope·r + shift). The
entries are plain numbers, so that a recipe can be stored.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import sympy as sp

from rcmd.conjugates.expressions.algebra import Piece
from rcmd.conjugates.expressions.derivation import Core
from rcmd.conjugates.expressions.symbolic import R, number, stable
from rcmd.conjugates.scalars import softplus

Recipe = list[tuple[str, float, float, float, float]]


# Functions of (x, extra) for numbers, and for CVXPY.
NUMBERS: dict[str, Callable[[float, float], float]] = {
    "line": lambda x, _: x,
    "square": lambda x, _: x * x,
    "half_square": lambda x, _: max(x, 0.0) ** 2,
    "huber": lambda x, width: x * x if abs(x) <= width else width * (2 * abs(x) - width),
    "softplus": lambda x, _: softplus(x),
    "norm": math.hypot,
}
FORMS: dict[str, Callable[[Any, Any, float], Any]] = {
    "line": lambda cp, x, _: x,
    "square": lambda cp, x, _: cp.square(x),
    "half_square": lambda cp, x, _: cp.square(cp.pos(x)),
    "huber": lambda cp, x, width: cp.huber(x, width),
    "softplus": lambda cp, x, _: cp.logistic(x),
    "norm": lambda cp, x, c: cp.norm(cp.vstack([x, np.full(x.shape, c)]), 2, axis=0),
}


# ---- read by CVXPY -----------------------------------------------------------------------------


def loss_form(module: ModuleType, predictions: Any, y: Any) -> Any:
    """The vector of losses as a CVXPY expression, one recipe for each core of the loss."""
    import cvxpy as cp

    y = np.asarray(y, dtype=float)

    def framed(recipe: Recipe, frame: Callable[[float], Any]) -> Any:
        parts = np.array([frame(label) for label in y.ravel()], dtype=float).reshape(-1, 3)
        offset, tilt, constant = (part.reshape(y.shape) for part in parts.T)
        r = (cp.multiply(y, predictions) if module.BY_LABEL else predictions) - offset
        total = cp.multiply(tilt, r) + constant
        for name, factor, slope, shift, extra in recipe:
            total = total + factor * FORMS[name](cp, slope * r + shift, extra)
        return total

    if len(module.RECIPES) == 1:
        return framed(module.RECIPES[0], module.core_frame)
    plus = framed(module.RECIPES[0], module.core_frame_plus)
    minus = framed(module.RECIPES[1], module.core_frame_minus)
    return cp.multiply((y > 0).astype(float), plus) + cp.multiply((y <= 0).astype(float), minus)


# ---- found for a core --------------------------------------------------------------------------


def evaluate(recipe: Recipe, r: float) -> float:
    """The number a recipe stands for."""
    return sum(k * NUMBERS[name](a * r + b, extra) for name, k, a, b, extra in recipe)


def checked_recipe(core: Core) -> Recipe | None:
    """A recipe for the core that agrees with it at a few points, or None."""
    if all(piece.curvature.is_number for piece in core.pieces):
        recipe = _piecewise_quadratic(core.pieces)
    else:
        found = [_term(part) for part in sp.Add.make_args(core.pieces[0].stable)]
        if len(core.pieces) > 1 or None in found:
            return None
        recipe = [term for terms in found for term in terms or ()]
    for piece in core.pieces:
        for at in (-30.0, -1.2, -0.4, 0.0, 0.3, 0.9, 1.6, 25.0):
            if piece.low <= at <= piece.high:
                wanted = float(number(piece.value.subs(R, at)))
                if abs(evaluate(recipe, at) - wanted) > 1e-9 * (1 + abs(wanted)):
                    return None
    return recipe


def _piecewise_quadratic(pieces: list[Piece]) -> Recipe:
    """Each piece's curvature as a parabola, a half parabola or Huber's function; then a line."""
    terms: Recipe = []
    for piece in pieces:
        bend = float(number(piece.curvature))
        low, high = float(number(piece.low)), float(number(piece.high))
        if bend == 0:
            continue
        if math.isinf(low) and math.isinf(high):
            terms.append(("square", bend / 2, 1.0, 0.0, 0.0))
        elif math.isinf(high):
            terms.append(("half_square", bend / 2, 1.0, -low, 0.0))
        elif math.isinf(low):
            terms.append(("half_square", bend / 2, -1.0, high, 0.0))
        else:
            terms.append(("huber", bend / 2, 1.0, -(low + high) / 2, (high - low) / 2))
    first = pieces[0]
    at = float(number(first.high)) - 1.0 if first.high.is_finite else 0.0
    value, slope = (float(number(e.subs(R, at))) for e in (first.value, first.slope))
    # Around ``at`` every term is quadratic or linear, so that a difference is its slope.
    slope -= (evaluate(terms, at + 0.25) - evaluate(terms, at - 0.25)) / 0.5
    value -= evaluate(terms, at)
    return [*terms, ("line", 1.0, slope, value - slope * at, 0.0)]


def _term(part: Any) -> Recipe | None:
    factor, rest = part.as_coeff_Mul()
    k = float(factor)
    if part.is_number:
        return [("line", 1.0, 0.0, float(part), 0.0)]
    if rest == R:
        return [("line", k, 1.0, 0.0, 0.0)]
    if k < 0:
        return None
    square = isinstance(rest, sp.Pow) and rest.exp == 2
    if not square and not isinstance(rest, stable.softplus | stable.logcosh):
        return _norm(k, rest)
    slope = rest.args[0].diff(R)
    if not slope.is_number:
        return None
    line = float(slope), float(rest.args[0].subs(R, 0))
    if isinstance(rest, stable.logcosh):
        # log cosh x = softplus(2x) − x − log 2.
        straight = ("line", k, -line[0], -line[1] - math.log(2.0), 0.0)
        return [("softplus", k, 2 * line[0], 2 * line[1], 0.0), straight]
    return [("square" if square else "softplus", k, *line, 0.0)]


def _norm(k: float, rest: Any) -> Recipe | None:
    """√(c + (a·r + b)²), with or without −√c."""
    gap = isinstance(rest, stable.sqrt_gap)
    if not gap and not (isinstance(rest, sp.Pow) and rest.exp == sp.Rational(1, 2)):
        return None
    radicand = rest.args[0] + rest.args[1] if gap else rest.base
    if not radicand.is_polynomial(R) or sp.degree(radicand, R) != 2:
        return None
    a, b, c = sp.Poly(radicand, R).all_coeffs()
    floor = c - b**2 / (4 * a)
    if not (a.is_positive and floor.is_positive):
        return None
    slope = math.sqrt(a)
    shift = float(b) / (2 * slope)
    constant = -k * math.sqrt(rest.args[1]) if gap else 0.0
    return [("norm", k, slope, shift, math.sqrt(floor)), ("line", 1.0, 0.0, constant, 0.0)]

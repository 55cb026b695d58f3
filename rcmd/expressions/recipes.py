"""Cores as sums of functions CVXPY knows: parabolas, Huber's, softplus, Euclidean norms.

A recipe is a list of (name, factor, slope, shift, extra): factor·name(slope·r + shift). The
entries are plain numbers, so that a recipe can be stored.
"""

from __future__ import annotations

import math
from typing import Any

import sympy as sp

from rcmd.expressions.derivation import Core
from rcmd.expressions.pieces import Piece, number
from rcmd.expressions.rewriting import logcosh, softplus, sqrt_gap
from rcmd.expressions.symbolic import R

Recipe = list[tuple[str, float, float, float, float]]


def recipe_of(core: Core) -> Recipe | None:
    """A recipe for the core, or None where no pattern fits."""
    if all(piece.curvature.is_number for piece in core.pieces):
        return _piecewise_quadratic(core.pieces)
    if len(core.pieces) > 1:
        return None
    terms: Recipe = []
    for part in sp.Add.make_args(core.stable[0]):
        found = _term(part)
        if found is None:
            return None
        terms += found
    return terms


def _piecewise_quadratic(pieces: list[Piece]) -> Recipe:
    """Each piece's curvature as a parabola, a half parabola or Huber's function; then a line."""
    terms: Recipe = []
    for piece in pieces:
        bend = float(number(piece.curvature))
        low, high = (math.inf * s if not e.is_finite else float(number(e))
                     for s, e in ((-1, piece.low), (1, piece.high)))  # fmt: skip
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
    slope -= sum(_slope(term, at) for term in terms)
    value -= sum(evaluate([term], at) for term in terms)
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
    if isinstance(rest, sp.Pow) and rest.exp == 2:
        line = _line(rest.base)
        return None if line is None else [("square", k, *line, 0.0)]
    if isinstance(rest, softplus):
        line = _line(rest.args[0])
        return None if line is None else [("softplus", k, *line, 0.0)]
    if isinstance(rest, logcosh):
        line = _line(rest.args[0])
        if line is None:
            return None
        slope, shift = line
        # log cosh x = softplus(2x) − x − log 2.
        straight = ("line", k, -slope, -shift - math.log(2.0), 0.0)
        return [("softplus", k, 2 * slope, 2 * shift, 0.0), straight]
    return _norm(k, rest)


def _norm(k: float, rest: Any) -> Recipe | None:
    """√(c + (a·r + b)²), with or without −√c."""
    gap = isinstance(rest, sqrt_gap)
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


def _line(expression: Any) -> tuple[float, float] | None:
    slope = expression.diff(R)
    return (float(slope), float(expression.subs(R, 0))) if slope.is_number else None


def evaluate(recipe: Recipe, r: float) -> float:
    """The number a recipe stands for."""
    return sum(k * _FUNCTIONS[name](a * r + b, extra) for name, k, a, b, extra in recipe)


def _slope(term: Any, at: float) -> float:
    """The slope of a term that is quadratic or linear around ``at``."""
    step = 0.25
    return (evaluate([term], at + step) - evaluate([term], at - step)) / (2 * step)


def _huber(x: float, width: float) -> float:
    return x * x if abs(x) <= width else width * (2 * abs(x) - width)


_FUNCTIONS: dict[str, Any] = {
    "line": lambda x, _: x,
    "square": lambda x, _: x * x,
    "half_square": lambda x, _: max(x, 0.0) ** 2,
    "huber": _huber,
    "softplus": lambda x, _: max(x, 0.0) + math.log1p(math.exp(-abs(x))),
    "norm": lambda x, c: math.hypot(x, c),
}

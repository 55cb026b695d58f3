"""Cores as sums of functions CVXPY knows: parabolas, Huber's, softplus, exp, Euclidean norms.

A recipe is a list of (name, factor, slope, shift, extra): factor·name(slope·r + shift). The
entries are numbers, or functions of the parameters that a core keeps.
"""

import math
from collections.abc import Callable
from itertools import product
from types import ModuleType
from typing import Any

import numpy as np
import sympy as sp

from rcmd.conjugates.expressions.algebra import Piece
from rcmd.conjugates.expressions.branches import Branch
from rcmd.conjugates.expressions.derivation import AnyCore, OpenCore
from rcmd.conjugates.expressions.source import code, core_function
from rcmd.conjugates.expressions.symbolic import R, Y, number, stable
from rcmd.conjugates.scalars import bounded_exp, softplus

Recipe = list[tuple[str, Any, Any, Any, Any]]


# Functions of (x, extra) for numbers, and for CVXPY.
NUMBERS: dict[str, Callable[[float, float], float]] = {
    "line": lambda x, _: x,
    "square": lambda x, _: x * x,
    "half_square": lambda x, _: max(x, 0.0) ** 2,
    "huber": lambda x, width: x * x if abs(x) <= width else width * (2 * abs(x) - width),
    "softplus": lambda x, _: softplus(x),
    "exp": lambda x, _: bounded_exp(x),
    "norm": math.hypot,
}
FORMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "line": lambda cp, x, _: x,
    "square": lambda cp, x, _: cp.square(x),
    "half_square": lambda cp, x, _: cp.square(cp.pos(x)),
    "huber": lambda cp, x, width: cp.multiply(width**2, cp.huber(cp.multiply(1 / width, x))),
    "softplus": lambda cp, x, _: cp.logistic(x),
    "exp": lambda cp, x, _: cp.exp(x),
    "norm": lambda cp, x, c: cp.norm(cp.vstack([x, c]), 2, axis=0),
}


# ---- read by CVXPY -----------------------------------------------------------------------------


def loss_form(module: ModuleType, predictions: Any, *labels: Any) -> Any:
    """The vector of losses as a CVXPY expression; ``labels`` are y and the fields.

    There is a recipe for each core of the loss.
    """
    import cvxpy as cp

    y, *_ = labels = np.broadcast_arrays(*(np.asarray(part, dtype=float) for part in labels))

    def framed(names: list[str], suffix: str) -> Any:
        frame, recipe = (getattr(module, f"core_{part}{suffix}") for part in ("frame", "recipe"))
        each = list(zip(*(part.ravel() for part in labels), strict=True))
        parts = np.array([frame(*at) for at in each], dtype=float).reshape(-1, 3)
        offset, tilt, constant = (part.reshape(y.shape) for part in parts.T)
        r = (cp.multiply(y, predictions) if module.BY_LABEL else predictions) - offset
        total = cp.multiply(tilt, r) + constant
        terms = np.array([recipe(*at) for at in each], dtype=float).reshape(len(each), -1, 4)
        for name, numbers in zip(names, terms.swapaxes(0, 1), strict=True):
            factor, slope, shift, extra = (part.reshape(y.shape) for part in numbers.T)
            if name != "line" and (factor < 0).any():
                raise NotImplementedError(
                    f"the CVXPY form has {factor.min():g}·{name}, which CVXPY does not see to be "
                    "convex; expected labels and fields that make it positive, or a subclass of "
                    "SeparableConjugate with cvxpy_form to compare it with ground truth"
                )
            line = cp.multiply(slope, r) + shift
            total = total + cp.multiply(factor, FORMS[name](cp, line, extra))
        return total

    if len(module.RECIPES) == 1:
        return framed(module.RECIPES[0], "")
    plus, minus = (
        framed(names, suffix)
        for names, suffix in zip(module.RECIPES, ("_plus", "_minus"), strict=True)
    )
    return cp.multiply((y > 0).astype(float), plus) + cp.multiply((y <= 0).astype(float), minus)


# ---- found for a core --------------------------------------------------------------------------


def evaluate(recipe: Recipe, r: float) -> float:
    """The number a recipe stands for."""
    return sum(k * NUMBERS[name](a * r + b, extra) for name, k, a, b, extra in recipe)


def checked_recipe(core: AnyCore) -> Recipe | None:
    """A recipe for the core that agrees with it at a few points, or None."""
    if isinstance(core, OpenCore):
        recipe = None if isinstance(core.tree, Branch) else _sum(core.tree)
        samples = core.samples
    else:
        quadratic = all(piece.curvature.is_number for piece in core.pieces)
        whole = None if len(core.pieces) > 1 else core.pieces[0].stable
        recipe = _piecewise_quadratic(core.pieces) if quadratic else _sum(whole)
        samples = [{}]
    for sample, at in product(samples, (-30.0, -1.2, -0.4, 0.0, 0.3, 0.9, 1.6, 25.0)):
        if recipe is None:
            break
        wanted = float(number(core.frame.core.subs({**sample, R: sp.Rational(at)})))
        numbers: Recipe = []
        for name, *parts in recipe:
            k, a, b, extra = (float(sp.sympify(part).subs(sample)) for part in parts)
            numbers.append((name, k, a, b, extra))
        if abs(evaluate(numbers, at) - wanted) > 1e-9 * (1 + abs(wanted)):
            return None
    return recipe


def recipe_code(core: AnyCore, recipe: Recipe, fields: list[Any]) -> str:
    """A function of the label and the fields that returns the numbers of a recipe."""
    terms = (", ".join(code(sp.sympify(part)) for part in rest) for _, *rest in recipe)
    lines = [f"return ({''.join(f'({term}), ' for term in terms)})"]
    return "\n\n" + core_function(core, "core_recipe", [Y, *fields], lines)


def _sum(form: Any) -> Recipe | None:
    if form is None:
        return None
    factors: dict[Any, Any] = {}
    for part in sp.Add.make_args(sp.expand_mul(form)):
        factor, rest = part.as_independent(R, as_Add=False)
        factors[rest] = factors.get(rest, 0) + factor
    found = [_term(factor, rest) for rest, factor in factors.items()]
    return None if None in found else [term for terms in found for term in terms or ()]


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


def _term(k: Any, rest: Any) -> Recipe | None:
    if rest == 1:
        return [("line", 1.0, 0.0, k, 0.0)]
    if rest == R:
        return [("line", k, 1.0, 0.0, 0.0)]
    if k.is_negative:
        return None
    if isinstance(rest, stable.expm1):
        return [*(_term(k, sp.exp(rest.args[0])) or ()), ("line", 1.0, 0.0, -k, 0.0)]
    square = isinstance(rest, sp.Pow) and rest.exp == 2
    if not square and not isinstance(rest, stable.softplus | stable.logcosh | sp.exp):
        return _norm(k, rest)
    slope = rest.args[0].diff(R)
    if R in slope.free_symbols:
        return None
    line = slope, rest.args[0].subs(R, 0)
    if isinstance(rest, stable.logcosh):
        # log cosh x = softplus(2x) − x − log 2.
        straight = ("line", k, -line[0], -line[1] - math.log(2.0), 0.0)
        return [("softplus", k, 2 * line[0], 2 * line[1], 0.0), straight]
    return [("square" if square else rest.func.__name__, k, *line, 0.0)]


def _norm(k: Any, rest: Any) -> Recipe | None:
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
    slope = sp.sqrt(a)
    constant = -k * sp.sqrt(rest.args[1]) if gap else 0.0
    shift = b / (2 * slope)
    return [("norm", k, slope, shift, sp.sqrt(floor)), ("line", 1.0, 0.0, constant, 0.0)]

"""Exact ranges of f'' and the substitution behind them: many losses are rational in exp(r).

With t = exp(u), u a multiple of r up to a shift, logistic-like losses have a derivative that is
a quotient of polynomials in t; others are rational in r itself, or products of powers of
polynomials. In each case all critical points are roots of polynomials, and none is missed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import sympy as sp

from rcmd.expressions.deadline import deadline
from rcmd.expressions.pieces import Piece, number
from rcmd.expressions.symbolic import R

T = sp.Symbol("t", positive=True)
MAX_DEGREE = 24


@dataclass(frozen=True)
class Quotient:
    """numerator/denominator, polynomials in ``variable``, where variable = ``inner``(r)."""

    numerator: Any
    denominator: Any
    variable: Any
    inner: Any
    outer: Any
    """r as a function of the variable."""


def quotient_of(expression: Any) -> Quotient | None:
    """``expression`` as a quotient of polynomials with rational coefficients, in r or exp."""
    expression = expression.replace(
        lambda part: isinstance(part, sp.tanh | sp.sinh | sp.cosh),
        lambda part: part.rewrite(sp.exp),
    )
    exponentials = [part for part in expression.atoms(sp.exp) if R in part.free_symbols]
    if not exponentials:
        return _fraction(expression, R, R, R)
    if not all(sp.degree(part.args[0], R) == 1 for part in exponentials if _polynomial(part)):
        return None
    if not all(map(_polynomial, exponentials)):
        return None
    slope, shift = sp.Poly(exponentials[0].args[0], R).all_coeffs()
    ratios = [sp.Poly(part.args[0], R).LC() / slope for part in exponentials]
    if not all(ratio.is_Rational for ratio in ratios):
        return None
    unit = slope / math.lcm(*(int(ratio.q) for ratio in ratios))
    shift = shift * unit / slope
    inner, outer = sp.exp(unit * R + shift), (sp.log(T) - shift) / unit
    moved = expression
    for part in exponentials:
        exponent = sp.expand(part.args[0].subs(R, (R - shift) / unit))
        power = sp.Poly(exponent, R).LC()
        rest = sp.expand(exponent - power * R)
        moved = moved.subs(part, sp.exp(rest) * T**power)
    return None if R in moved.free_symbols else _fraction(moved, T, inner, outer)


def _polynomial(part: Any) -> bool:
    return bool(part.args[0].is_polynomial(R))


def _fraction(expression: Any, variable: Any, inner: Any, outer: Any) -> Quotient | None:
    if not expression.is_rational_function(variable):
        return None
    top, bottom = sp.fraction(sp.cancel(sp.together(expression)))
    try:
        polynomials = [sp.Poly(part, variable) for part in (top, bottom)]
    except sp.PolynomialError:
        return None
    if any(p.domain not in (sp.ZZ, sp.QQ) or p.degree() > MAX_DEGREE for p in polynomials):
        return None
    return Quotient(polynomials[0], polynomials[1], variable, inner, outer)


def extremes(piece: Piece) -> tuple[Any, Any] | None:
    """(inf f'', sup f'') over a piece, exactly, or None where this algebra does not reach."""
    with deadline(3.0):
        return _rational_extremes(piece) or _power_extremes(piece)
    return None


def _rational_extremes(piece: Piece) -> tuple[Any, Any] | None:
    quotient = quotient_of(piece.curvature)
    if quotient is None:
        return None
    top, bottom = quotient.numerator, quotient.denominator
    ends = [sp.limit(quotient.inner, R, end) for end in (piece.low, piece.high)]
    low, high = sorted(ends, key=_place)
    if any(_between(root, low, high, closed=True) for root in _roots(bottom)):
        return None
    critical = _roots(top.diff() * bottom - top * bottom.diff())
    inside = [root for root in critical if _between(root, low, high)]
    ratio = top.as_expr() / bottom.as_expr()
    values = [_tidy(ratio.subs(quotient.variable, root)) for root in inside]
    values += [sp.limit(ratio, quotient.variable, end) for end in (low, high)]
    return min(values, key=_place), max(values, key=_place)


def _power_extremes(piece: Piece) -> tuple[Any, Any] | None:
    """For f''' a product of powers of polynomials, which changes sign at their roots only."""
    if piece.curvature.atoms(sp.Function):
        return None
    factors = sp.Mul.make_args(sp.factor(sp.together(piece.curvature.diff(R))))
    inside: list[Any] = []
    for factor in factors:
        base, exponent = factor.as_base_exp()
        if R not in factor.free_symbols:
            continue
        if R in exponent.free_symbols or not base.is_polynomial(R):
            return None
        polynomial = sp.Poly(base, R)
        if polynomial.domain not in (sp.ZZ, sp.QQ) or polynomial.degree() > MAX_DEGREE:
            return None
        roots = [r for r in _roots(polynomial) if _between(r, piece.low, piece.high, closed=True)]
        if roots and exponent.is_negative:
            return None
        inside += roots
    values = [_tidy(piece.curvature.subs(R, root)) for root in inside]
    values += [piece.limit(piece.curvature, end) for end in (piece.low, piece.high)]
    if any(value is None or not value.is_finite for value in values):
        return None
    return min(values, key=_place), max(values, key=_place)


def _tidy(value: Any) -> Any:
    return value if value.has(sp.CRootOf) else sp.radsimp(value)


def _roots(polynomial: Any) -> list[Any]:
    if polynomial.degree() < 1:
        return []
    return list(dict.fromkeys(sp.real_roots(polynomial)))


def _place(value: Any) -> Any:
    return {sp.oo: float("inf"), -sp.oo: -float("inf")}.get(value) or number(value)


def _between(root: Any, low: Any, high: Any, closed: bool = False) -> bool:
    at, first, last = number(root), _place(low), _place(high)
    return bool(first <= at <= last) if closed else bool(first < at < last)

"""A core cut where max, abs, where and their like switch: smooth pieces between exact points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mpmath
import sympy as sp

from rcmd.expressions.deadline import deadline
from rcmd.expressions.symbolic import R
from rcmd.expressions.words import ExpressionError

_SWITCHES = (sp.Abs, sp.Max, sp.Min, sp.sign, sp.Piecewise)
MAX_PIECES = 24


@dataclass(frozen=True)
class Piece:
    """f = ``value`` on [low, high], smooth inside."""

    low: Any
    high: Any
    value: Any

    @cached_property
    def slope(self) -> Any:
        """f'."""
        return self.value.diff(R)

    @cached_property
    def curvature(self) -> Any:
        """f'', a number where the piece is quadratic or linear."""
        curvature = self.value.diff(R, 2)
        if not curvature.is_number and self.value.is_polynomial(R):
            curvature = sp.expand(curvature)
        return curvature

    def limit(self, expression: Any, end: Any) -> Any:
        """The limit of ``expression`` at an end of the piece, ``None`` if it was not found."""
        if end.is_finite:
            at = expression.subs(R, end)
            if at.is_finite and not at.has(sp.nan, sp.zoo):
                return at
        found: Any = sp.nan
        with deadline(2.0):
            found = sp.limit(expression, R, end, "+" if end == self.low else "-")
        real = found in (sp.oo, -sp.oo) or found.is_finite
        return found if real and not found.has(sp.AccumBounds, sp.Limit, sp.I) else None


def pieces_of(core: Any) -> list[Piece]:
    """The smooth pieces of ``core`` from left to right, equal neighbours joined."""
    waiting, done = [Piece(-sp.oo, sp.oo, core)], []
    while waiting:
        piece = waiting.pop()
        switch = _innermost_switch(piece.value)
        if switch is None:
            done.append(piece)
            continue
        if len(waiting) + len(done) > MAX_PIECES:
            raise ExpressionError(f"the loss has more than {MAX_PIECES} pieces; expected fewer")
        points = [p for p in _switching_points(switch) if _inside(p, piece)]
        ends = [piece.low, *points, piece.high]
        for low, high in zip(ends[-2::-1], ends[:0:-1], strict=True):
            chosen = _branch(switch, sample(low, high))
            waiting.append(Piece(low, high, piece.value.subs(switch, chosen)))
    return _joined(done)


def sample(low: Any, high: Any) -> Any:
    """A rational number inside (low, high)."""
    if low == -sp.oo and high == sp.oo:
        return sp.Rational(1, 3)
    if low == -sp.oo:
        return sp.floor(high) - 1
    if high == sp.oo:
        return sp.ceiling(low) + 1
    return sp.Rational(str(sp.N((low + high) / 2, 40)))


def number(expression: Any, digits: int = 40) -> Any:
    """A constant as a high-precision number."""
    with mpmath.workdps(digits):
        return mpmath.mpmathify(sp.N(expression, digits))


def _innermost_switch(expression: Any) -> Any:
    for part in sp.postorder_traversal(expression):
        if isinstance(part, _SWITCHES) and R in part.free_symbols:
            return part
    return None


def _switching_points(switch: Any) -> list[Any]:
    if isinstance(switch, sp.Piecewise):
        comparisons = switch.atoms(sp.core.relational.Relational)
        functions = [c.lhs - c.rhs for c in comparisons]
    elif isinstance(switch, sp.Max | sp.Min):
        parts = switch.args
        functions = [a - b for i, a in enumerate(parts) for b in parts[:i]]
    else:
        functions = [switch.args[0]]
    points = {point for function in functions for point in real_zeros(function)}
    return sorted(points, key=number)


def real_zeros(function: Any) -> list[Any]:
    """All real zeros of a function of r, exactly."""
    if R not in function.free_symbols:
        return []
    if function.is_polynomial(R):
        polynomial = sp.Poly(function, R)
        if polynomial.degree() == 1:
            slope, constant = polynomial.all_coeffs()
            return (
                [sp.nsimplify(-constant / slope)] if constant.is_Rational else [-constant / slope]
            )
        if polynomial.domain in (sp.ZZ, sp.QQ):
            return sorted(set(sp.real_roots(polynomial)), key=number)
    found = None
    with deadline(3.0):
        found = sp.solveset(function, R, sp.S.Reals)
    if found is sp.S.EmptySet:
        return []
    if isinstance(found, sp.FiniteSet):
        return sorted(found, key=number)
    raise ExpressionError(
        f"where {function} changes sign was not found (r stands for s, s - y or y*s); expected "
        "max, min, abs, sign and where to switch at points that can be solved for"
    )


def _inside(point: Any, piece: Piece) -> bool:
    at = number(point)
    return (piece.low == -sp.oo or at > number(piece.low)) and (
        piece.high == sp.oo or at < number(piece.high)
    )


def _branch(switch: Any, at: Any) -> Any:
    """What ``switch`` is around the point ``at``."""
    if isinstance(switch, sp.Piecewise):
        return next(value for value, condition in switch.args if condition.subs(R, at) == sp.true)
    if isinstance(switch, sp.Max | sp.Min):
        best = max if isinstance(switch, sp.Max) else min
        return best(switch.args, key=lambda part: number(part.subs(R, at)))
    sign = sp.S.One if number(switch.args[0].subs(R, at)) > 0 else -sp.S.One
    return sign if isinstance(switch, sp.sign) else sign * switch.args[0]


def _joined(pieces: list[Piece]) -> list[Piece]:
    joined = [pieces[0]]
    for piece in pieces[1:]:
        last = joined[-1]
        if sp.expand(last.value - piece.value) == 0:
            joined[-1] = Piece(last.low, piece.high, last.value)
        else:
            joined.append(piece)
    return joined

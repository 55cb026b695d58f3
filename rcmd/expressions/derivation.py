"""A core and all that follows from it: pieces, γ, dom f*, f*' and where each comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mpmath
import sympy as sp

from rcmd.expressions.curvature import Smoothness, smoothness
from rcmd.expressions.deadline import deadline
from rcmd.expressions.frames import Frame
from rcmd.expressions.inversion import closed_conjugate, closed_inverse
from rcmd.expressions.numbers import Evaluation
from rcmd.expressions.pieces import Piece, number, pieces_of
from rcmd.expressions.rational import quotient_of
from rcmd.expressions.rewriting import stabilised
from rcmd.expressions.symbolic import R, Y
from rcmd.expressions.words import Counterexample

CLOSED = "closed form"
NEWTON = "newton"


@dataclass(frozen=True)
class End:
    """One end of dom f*: the slope there, f* there, and the r that attains it, if one does."""

    slope: Any
    conjugate: float
    attained: Any = None

    @property
    def finite(self) -> bool:
        """Whether the domain ends here."""
        return bool(self.slope.is_finite)


@dataclass(frozen=True)
class Core:
    """A function of one number, understood; ``inverses`` and ``conjugates`` have None where a
    general rule must do.
    """

    frame: Frame
    pieces: list[Piece]
    stable: list[Any]
    smoothness: Smoothness
    low: End
    high: End
    inverses: list[Any]
    conjugates: list[Any]

    @property
    def origin(self) -> str:
        """Where f*' comes from."""
        missing = [
            inverse is None and piece.curvature != 0
            for inverse, piece in zip(self.inverses, self.pieces, strict=True)
        ]
        return NEWTON if any(missing) else CLOSED

    def by_definition(self) -> Core:
        """The same core with l* = w·r − l(r) at r = l*'(w), parabolas excepted."""
        own = [
            conjugate if piece.curvature.is_number else None
            for piece, conjugate in zip(self.pieces, self.conjugates, strict=True)
        ]
        return replace(self, conjugates=own)

    def by_newton(self) -> Core:
        """The same core with every closed form that is not a polynomial given up."""
        kept = [f if f is None or f.is_polynomial() else None for f in self.inverses]
        return replace(self.by_definition(), inverses=kept)


def derive(frame: Frame) -> Core:
    """Understand a core, or refuse it at a point of the loss's own s and y."""
    try:
        pieces = pieces_of(frame.core)
        smooth = smoothness(pieces)
    except Counterexample as refusal:
        label = float(frame.side or frame.by_label)
        raise refusal.moved(float(frame.offset.subs(Y, 0)), label) from None
    stable = [stabilised(piece.value) for piece in pieces]
    inverses = [closed_inverse(piece) if piece.curvature != 0 else None for piece in pieces]
    return Core(
        frame=frame,
        pieces=pieces,
        stable=stable,
        smoothness=smooth,
        low=_end(pieces[0], pieces[0].low),
        high=_end(pieces[-1], pieces[-1].high),
        inverses=inverses,
        conjugates=list(map(closed_conjugate, pieces, stable, inverses)),
    )


def _end(piece: Piece, infinity: Any) -> End:
    if piece.curvature == 0:
        at = piece.high if infinity == -sp.oo else piece.low
        slope = sp.expand(piece.slope)
        return End(slope, float(number(slope * at - piece.value.subs(R, at))), at)
    slope = _limit_slope(piece, infinity)
    if not slope.is_finite:
        return End(slope, float("inf"))
    return End(slope, _limit_conjugate(piece, slope, infinity))


def _limit_slope(piece: Piece, infinity: Any) -> Any:
    """lim f', by algebra where possible, from far points elsewhere."""
    found = None
    with deadline(1.0):
        quotient = quotient_of(piece.slope)
        if quotient is not None:
            ratio = quotient.numerator.as_expr() / quotient.denominator.as_expr()
            end = sp.limit(quotient.inner, R, infinity)
            found = sp.limit(ratio, quotient.variable, end)
    if found is None:
        found = piece.limit(piece.slope, infinity)
    if found is not None:
        return found
    sign = 1 if infinity == sp.oo else -1
    middle, far = _far(Evaluation(piece.slope, "l'"), sign)
    return sp.Float(far, 30) if abs(far - middle) <= 1e-7 * (1 + abs(far)) else infinity


def _limit_conjugate(piece: Piece, slope: Any, infinity: Any) -> float:
    """lim slope·r − f(r), from far points; infinite if it still moves there."""
    sign = 1 if infinity == sp.oo else -1
    middle, far = _far(Evaluation(slope * R - piece.value, "l*"), sign)
    if abs(far - middle) > 1e-7 * (1 + abs(far)):
        return float("inf")
    return 0.0 if abs(far) < 1e-25 else float(far)


def _far(function: Evaluation, sign: int) -> tuple[Any, Any]:
    """The function at ±10¹⁶ and ±10³², with digits enough for what cancels there."""
    return function(sign * mpmath.mpf(10) ** 16, 120), function(sign * mpmath.mpf(10) ** 32, 120)

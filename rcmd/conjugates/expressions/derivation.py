"""A loss in parts: the label, a core of one number, its γ, dom f*, f*' and f*.

l(s; y) = f(m·s − o) + t·(m·s − o) + c, with f free of y: m is 1, or the label itself where labels
are ±1; o, t and c are functions of y. Then l*(w) = w·o/m + f*(w/m − t) − c, so that only the
*core* f needs to be analysed. Where no such form exists and labels are ±1, each label has its
own core.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import mpmath
import sympy as sp

from rcmd.conjugates.base import REAL, SIGNS
from rcmd.conjugates.expressions.algebra import Piece, far_limit, pieces_of, quotient_of, solutions
from rcmd.conjugates.expressions.curvature import Doubt, finite, probes, smoothness
from rcmd.conjugates.expressions.language import FUNCTIONS, Counterexample, ExpressionError
from rcmd.conjugates.expressions.symbolic import (
    SWITCHES,
    R,
    S,
    W,
    Y,
    in_many_digits,
    number,
    stabilised,
    stable,
)

# Digits: at r = 20 the slope of a saturating loss may differ from its limit in the 100th.
_ROUND_TRIP = 200


# ---- the label ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """How one core enters the loss; ``by_label`` says m = y, ``side`` which labels it is for."""

    core: Any
    by_label: bool = False
    offset: Any = sp.S.Zero
    tilt: Any = sp.S.Zero
    constant: Any = sp.S.Zero
    side: int = 0


def frames_of(expression: Any, labels: str | None) -> tuple[list[Frame], str]:
    """The frames of a loss, and the labels it is for."""
    if S not in expression.free_symbols:
        raise ExpressionError(
            f"the loss {expression} does not depend on s, the prediction; expected a function of s"
        )
    if Y not in expression.free_symbols:
        return [Frame(expression.subs(S, R))], labels or REAL
    moved = {offset: expression.subs(S, R + offset) for offset in _offsets(expression)}
    # A plain offset before a tilt: f(s − y) rounds once, f(s) + t·s + c may cancel.
    for offset, core in moved.items():
        if Y not in core.free_symbols:
            return [Frame(core, offset=offset)], labels or REAL
    for offset, core in moved.items():
        frame = _tilted(core, offset)
        if frame is not None:
            return [frame], labels or REAL
    if labels != REAL:
        positive = expression.subs({S: R, Y: 1}, simultaneous=True)
        mirrored = expression.subs({S: -R, Y: -1}, simultaneous=True)
        if positive == mirrored or sp.expand(positive - mirrored) == 0:
            return [Frame(positive, by_label=True)], SIGNS
    if labels == SIGNS:
        negative = expression.subs({S: R, Y: -1}, simultaneous=True)
        return [Frame(positive, side=1), Frame(negative, side=-1)], SIGNS
    raise ExpressionError(
        "y enters in a way that cannot be separated from s for "
        f"{'real labels' if labels else 'labels of an unknown kind'}; expected a function of "
        "s - y, of y*s with labels='±1', or f(s) + y*s, or labels='±1' given"
    )


def _offsets(expression: Any) -> list[Any]:
    """0, and every g(y) for which s − g(y) occurs up to a factor."""
    found = [sp.S.Zero]
    for part in sp.preorder_traversal(expression):
        if isinstance(part, sp.Add) and {S, Y} <= part.free_symbols:
            slope = part.diff(S)
            offset = sp.expand(S - part / slope) if slope.is_number else S
            if S not in offset.free_symbols:
                found += [offset, offset - offset.subs(Y, 0)]
    return sorted(dict.fromkeys(found), key=sp.count_ops)[:6]


def _tilted(moved: Any, offset: Any) -> Frame | None:
    """The frame of ``moved`` = f(r) + t(y)·r + c(y), or None."""
    if any(Y in part.free_symbols for part in moved.atoms(*SWITCHES)):
        return None
    if sp.expand(moved.diff(R, 2).diff(Y)) != 0:
        return None
    core = moved.subs(Y, 0)
    if core.has(sp.zoo, sp.nan, sp.oo):
        return None
    rest = sp.expand(moved - core)
    tilt = sp.expand(rest.diff(R))
    constant = rest.subs(R, 0)
    if R in tilt.free_symbols or sp.expand(rest - tilt * R - constant) != 0:
        return None
    return Frame(core, offset=offset, tilt=tilt, constant=constant)


# ---- the core ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class End:
    """One end of dom f*: the slope there, f* there, and the r that attains it, if one does."""

    slope: Any
    conjugate: float
    attained: Any = None


@dataclass(frozen=True)
class Core:
    """A function of one number with all that was derived.

    ``doubts`` are the pieces where convexity and γ are not proved; None: nor how pieces meet.
    """

    frame: Frame
    pieces: list[Piece]
    gamma: Any
    doubts: list[Doubt] | None
    low: End
    high: End

    @property
    def closed(self) -> bool:
        """Whether f*' has a closed form."""
        return all(p.inverse is not None or p.curvature == 0 for p in self.pieces)

    def by_definition(self) -> Core:
        """The same core with l* = w·r − l(r) at r = l*'(w), parabolas excepted."""
        pieces = [p if p.curvature.is_number else replace(p, conjugate=None) for p in self.pieces]
        return replace(self, pieces=pieces)

    def by_newton(self) -> Core:
        """The same core with every closed form that is not a polynomial given up."""
        pieces = [
            p if p.inverse is None or p.inverse.is_polynomial() else replace(p, inverse=None)
            for p in self.by_definition().pieces
        ]
        return replace(self, pieces=pieces)


def derive(frame: Frame) -> Core:
    """The core of a frame, or a refusal at a point of the loss's own s and y."""
    try:
        pieces = pieces_of(frame.core)
        gamma, doubts = smoothness(pieces)
        low, high = _end(pieces[0], pieces[0].low), _end(pieces[-1], pieces[-1].high)
        return Core(frame, [_with_forms(piece) for piece in pieces], gamma, doubts, low, high)
    except Counterexample as refusal:
        s, y = refusal.point + float(frame.offset.subs(Y, 0)), float(frame.side or frame.by_label)
        raise ExpressionError(str(refusal).format(at=f"s = {s:.6g}, y = {y:g}")) from None


def _with_forms(piece: Piece) -> Piece:
    inverse = closed_inverse(piece) if piece.curvature != 0 else None
    piece = replace(piece, stable=stabilised(piece.value), inverse=inverse)
    return replace(piece, conjugate=closed_conjugate(piece))


def _end(piece: Piece, infinity: Any) -> End:
    if piece.curvature == 0:
        at = piece.high if infinity == -sp.oo else piece.low
        slope = sp.expand(piece.slope)
        return End(slope, float(number(slope * at - piece.value.subs(R, at))), at)
    quotient = quotient_of(piece.slope)
    if quotient is not None:
        slope = quotient.at(quotient.inner.subs(R, infinity))
    else:
        slope = piece.limit(piece.slope, infinity)
    if slope is None or not slope.is_finite:
        return End(infinity, float("inf"))
    # f* there is the limit of slope·r − f(r), infinite if it still moves far out.
    far = far_limit(slope * R - piece.value, infinity, 1 if infinity == -sp.oo else -1)
    if far is None:
        return End(slope, float("inf"))
    return End(slope, 0.0 if abs(far) < 1e-25 else float(far))


# ---- the inverse of f' and the conjugate -------------------------------------------------------


def closed_inverse(piece: Piece) -> Any:
    """r as an expression in w with f'(r) = w on the piece, or None."""
    if piece.curvature.is_number:
        slope = sp.expand(piece.slope)
        return sp.expand((W - slope.subs(R, 0)) / piece.curvature)
    right = [form for form in solutions(piece.slope, W) if is_inverse(form, piece)]
    return min(right, key=sp.count_ops) if right else None


def is_inverse(candidate: Any, piece: Piece) -> bool:
    """The round trip r → f'(r) → r in many digits, at points all over the piece."""
    if candidate.free_symbols - {W} or candidate.has(sp.I, sp.zoo, sp.nan):
        return False
    back = in_many_digits(W, candidate)
    slope = finite(piece.slope, "l'")
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


def closed_conjugate(piece: Piece) -> Any:
    """f* in a form of its own, or None where w·r − f(r) at r = f*'(w) must do.

    A parabola has a parabola. k·g(a·r + b) + c·r + d has k·g*(v) − k·b·v − d with
    v = (w − c)/(k·a), where g* is an entropy for g = softplus and for g = log cosh.
    """
    if piece.curvature == 0:
        return None
    if piece.curvature.is_number:
        return sp.expand(W * piece.inverse - piece.value.subs(R, piece.inverse))
    found = piece.stable.atoms(stable.softplus, stable.logcosh)
    if len(found) != 1:
        return None
    (curve,) = found
    slope = curve.args[0].diff(R)
    factor = piece.stable.coeff(curve)
    line = sp.expand(piece.stable - factor * curve)
    if not (slope.is_number and factor.is_number and line.diff(R).is_number):
        return None
    shift = curve.args[0].subs(R, 0)
    v = (W - line.diff(R)) / (factor * slope)
    entropy = getattr(stable, FUNCTIONS[curve.func.__name__].conjugate)
    return factor * entropy(v) - factor * shift * v - line.subs(R, 0)

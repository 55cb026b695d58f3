"""Convexity and γ: the range of f'' over a core, proved where algebra can, measured elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp

from rcmd.expressions.numbers import Evaluation, peak, probes
from rcmd.expressions.pieces import Piece, number
from rcmd.expressions.rational import extremes
from rcmd.expressions.words import Counterexample, ExpressionError

PROVED = "proved"
NUMERICAL = "numerical"
# What a measured supremum is enlarged by.
_MARGIN = 1e-9
# Curvature beyond this is taken for unbounded before anything larger is computed.
_HOPELESS = 1e30


@dataclass(frozen=True)
class Smoothness:
    """γ = sup f'' and where it comes from; whether f is strictly convex, or a parabola."""

    gamma: Any
    origin: str
    strictly_convex: bool
    quadratic: bool


def smoothness(pieces: list[Piece]) -> Smoothness:
    """γ of a core, or a refusal with the point where it is not convex or not smooth."""
    for left, right in pairwise(pieces):
        _check_joint(left, right)
    ranges = [_piece_range(piece) for piece in pieces]
    gamma = max((high for _, high, _ in ranges), key=number)
    if number(gamma) == 0:
        raise ExpressionError(
            "l'' is 0 everywhere: the expression is linear in s, so γ = 0 and its conjugate lives "
            "on a single point; expected a loss with curvature somewhere"
        )
    return Smoothness(
        gamma=gamma,
        origin=PROVED if all(proved for *_, proved in ranges) else NUMERICAL,
        strictly_convex=all(piece.curvature != 0 for piece in pieces),
        quadratic=len(pieces) == 1 and pieces[0].curvature.is_number,
    )


def _check_joint(left: Piece, right: Piece) -> None:
    at = left.high
    for name, what in (("value", "jumps"), ("slope", "has a kink")):
        before, after = left.limit(getattr(left, name), at), right.limit(getattr(right, name), at)
        if before is None or after is None or not (before.is_finite and after.is_finite):
            raise Counterexample(f"the loss has no finite {name} at {{at}}", number(at))
        first, second = number(before), number(after)
        if abs(first - second) > 1e-25 * (1 + abs(first)):
            raise Counterexample(
                f"the loss {what} at {{at}}: its {name} is {float(first):.6g} from the left and "
                f"{float(second):.6g} from the right; expected a γ-smooth loss: smooth the corner "
                "first",
                number(at),
            )


def _piece_range(piece: Piece) -> tuple[Any, Any, bool]:
    """(inf f'', sup f'', proved) on a piece; refused where f is not convex or not smooth."""
    points = probes(piece)
    value, second = Evaluation(piece.value, "the loss"), Evaluation(piece.curvature, "l''")
    for at in sorted(points, key=abs):
        value(at)
        if second(at) > _HOPELESS:
            raise _not_smooth(second, [at])
    if piece.curvature.is_number:
        least = most = piece.curvature
        exact = True
    else:
        found = extremes(piece)
        exact = found is not None
        least, most = found if found is not None else _measured(piece, second, points)
    if least == -sp.oo or number(least) < -1e-30:
        _refuse_if_negative(second, points)
    if most == sp.oo:
        raise _not_smooth(second, points)
    return least, most, exact


def _measured(piece: Piece, second: Evaluation, points: list[Any]) -> tuple[Any, Any]:
    """inf and sup of f'' from many points, and from its limits where they are found."""
    _refuse_if_negative(second, points)
    limits = [piece.limit(piece.curvature, end) for end in (piece.low, piece.high)]
    if sp.oo in limits or (None in limits and _still_growing(second, points)):
        raise _not_smooth(second, points)
    known = [number(limit) for limit in limits if limit is not None]
    high = max([peak(second, points)[1], *known]) * (1 + mpmath.mpf(_MARGIN))
    return sp.S.Zero, sp.Float(high, 30)


def _still_growing(second: Evaluation, points: list[Any]) -> bool:
    """Whether f'' grows by a tenth over the last decades before an end of the piece."""
    for last in (points[:3], points[-3:]):
        values = [second(at) for at in last]
        if max(values) > 1.1 * min(values) and max(values) >= max(map(second, points)):
            return True
    return False


def _refuse_if_negative(second: Evaluation, points: list[Any]) -> None:
    """A refusal at the point where f'' is most negative, if it certainly is."""
    deepest = peak(lambda at: -second(at), points)[0]
    for at in sorted({deepest, *points}, key=second):
        if second(at) >= 0:
            return
        if second.certainly_negative(at):
            raise Counterexample(
                f"the loss is not convex: l'' = {mpmath.nstr(second(at), 4)} < 0 at {{at}}; "
                "expected a convex function of s",
                at,
            )


def _not_smooth(second: Evaluation, points: list[Any]) -> Counterexample:
    """A refusal at the point nearest to 0 where f'' is large already, or largest."""
    typical = sorted(map(second, points))[len(points) // 2]
    large = [at for at in points if second(at) > 1e6 * (1 + typical)]
    at = min(large, key=abs) if large else max(points, key=second)
    return Counterexample(
        f"the loss is not γ-smooth: l'' has no upper bound, l'' = {mpmath.nstr(second(at), 4)} at "
        "{at} already; expected bounded curvature, as in losses that grow at most like s**2",
        at,
    )

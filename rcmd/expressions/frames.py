"""The label taken out of a loss: l(s; y) = f(m·s − o) + t·(m·s − o) + c, with f free of y.

m is 1, or the label itself where labels are ±1; o, t and c are functions of y. Then
l*(w) = w·o/m + f*(w/m − t) − c, so that only the *core* f, a function of one number, needs to
be understood. Where no such form exists and labels are ±1, each label has its own core.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from rcmd.expressions.symbolic import R, S, Y
from rcmd.expressions.words import ExpressionError

SIGNS = "±1"
REAL = "real"


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
    if labels == REAL:
        raise _inseparable("real labels")
    positive = expression.subs({S: R, Y: 1}, simultaneous=True)
    mirrored = expression.subs({S: -R, Y: -1}, simultaneous=True)
    if positive == mirrored or sp.expand(positive - mirrored) == 0:
        return [Frame(positive, by_label=True)], SIGNS
    if labels is None:
        raise _inseparable("labels of an unknown kind")
    negative = expression.subs({S: R, Y: -1}, simultaneous=True)
    return [Frame(positive, side=1), Frame(negative, side=-1)], SIGNS


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
    if any(Y in part.free_symbols for part in moved.atoms(*_SWITCHES)):
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


_SWITCHES = (sp.Abs, sp.Max, sp.Min, sp.sign, sp.Piecewise)


def _inseparable(labels: str) -> ExpressionError:
    return ExpressionError(
        f"y enters in a way that cannot be separated from s for {labels}; expected a function of "
        "s - y, of y*s with labels='±1', or f(s) + y*s, or labels='±1' given"
    )

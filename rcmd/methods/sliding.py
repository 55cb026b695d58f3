"""Conditional gradient sliding: a prox step found by linear minimizations."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from rcmd.methods.sampled import Sampled

Array = npt.NDArray[Any]


def slide(run: Sampled, slope: Array, centre: Array, strength: float, error: float) -> Array:
    """The u that Frank-Wolfe finds for min slopeᵀu + strength/2 ‖u − centre‖² + R(u).

    The procedure CndG of Lan and Zhou (2016): from ``centre`` on, exact line searches (for a
    penalty R, on its bound by the chord) until the Frank-Wolfe gap is at most ``error``.
    """
    penalty, u = run.problem.oracle.penalty, centre.copy()
    while True:
        here = slope + strength * (u - centre)
        point = run.lowest_atom(here).dense(u)
        way = point - u
        gap = penalty(u) - penalty(point) - here @ way
        if gap <= error:
            return u
        bend = strength * (way @ way)
        u += way if gap >= bend else (gap / bend) * way

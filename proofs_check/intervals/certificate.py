"""The four ranges of t = (k+1)/N that together prove Theorem 3.1 for every N ≥ 1 and k ≥ 0."""

from __future__ import annotations

import heapq
from functools import cache
from typing import Any, NamedTuple

from proofs_check.intervals.arithmetic import Numbers
from proofs_check.intervals.relaxation import END, TAIL_CELLS, Drift, Relaxation

GOAL = 393, 100
"""Boxes of the third range are split until all are below this fraction, or up to the budget."""

BUDGET = 1000


class Ranges(NamedTuple):
    """Upper bounds of E[G·gap]/(N(k+1)) beyond the D_max term; each must be at most 4."""

    early: float
    middle: float
    late: float
    limit: float


def certify(relaxation: Relaxation) -> Ranges:
    """The largest value on t ≤ 1, 1 ≤ t ≤ 3.3125, 3.3125 ≤ t ≤ 24 and t ≥ 24.

    Early, (I) with U_i ≤ 4 − 3π_i: (1 + t/4)(4 − 3e^{−t}), which increases. In the middle, (I)
    with (E0) and (E1). Late, for every value of z the smaller of (I) and (III). At the limit (II),
    whose terms α, 1/t and Y all decrease. With ``HeadStart`` the middle is t ≤ 1, and nothing is
    early.
    """
    numbers = relaxation.numbers
    rational = numbers.rational
    drift = _drift(numbers, *(getattr(type(relaxation), name) for name in _OF_THE_DRIFT))
    origin, last = relaxation.origin, (END - relaxation.origin) * TAIL_CELLS
    early = origin * (1 + rational(1, 4)) * relaxation.touched(rational(1))
    middle = [
        relaxation.jensen(origin + rational(m + 1, TAIL_CELLS), drift.average(m), rational(0))
        for m in range(relaxation.late)
    ]
    limit = relaxation.at_optimum(rational(END), drift.average(last))
    values = early, numbers.largest(*middle), _late(relaxation, drift), limit
    return Ranges(*(float(numbers.above(x)) for x in values))


_OF_THE_DRIFT = ("start", "origin", "curved", "smooth", "capped")


@cache
def _drift(numbers: Numbers, *parts: Any) -> Drift:
    """That of all relaxations which have these parts in common, on which alone it depends."""
    named = dict(zip(_OF_THE_DRIFT, parts, strict=True))
    return Drift(type("_Relaxation", (Relaxation,), named)(numbers))


class _Box(NamedTuple):
    """Cells first ≤ m < last of the grid in t, and low ≤ z ≤ high in units of 2^-20."""

    first: int
    last: int
    low: int
    high: int

    def halves(self) -> list[_Box]:
        cells = self.last - self.first
        if cells > 1 and cells * 2**15 > self.high - self.low:
            middle = (self.first + self.last) // 2
            return [self._replace(last=middle), self._replace(first=middle)]
        middle = (self.low + self.high) // 2
        return [self._replace(high=middle), self._replace(low=middle)]


def _late(relaxation: Relaxation, drift: Drift) -> Any:
    """The largest over t and z of the smaller of (I) and (III): branch and bound."""
    numbers = relaxation.numbers
    rational, above = numbers.rational, numbers.above

    def bound(box: _Box) -> Any:
        first, last = (relaxation.origin + rational(m, TAIL_CELLS) for m in (box.first, box.last))
        t = numbers.hull(first, last)
        low, high = rational(box.low, 2**20), rational(box.high, 2**20)
        alpha = drift.average(box.first)
        one = relaxation.jensen(t, alpha, low)
        three = relaxation.at_start(t, alpha, low, high)
        return min(above(one), above(three))

    top = 8
    end = (END - relaxation.origin) * TAIL_CELLS
    whole = _Box(relaxation.late, end, 0, top * 2**20)
    heap, goal = [(-bound(whole), whole)], above(rational(*GOAL))
    for _ in range(BUDGET):
        if -heap[0][0] <= goal:
            break
        _, box = heapq.heappop(heap)
        for half in box.halves():
            heapq.heappush(heap, (-bound(half), half))
    # (I) decreases in z, so z ≥ top is no worse than z = top.
    beyond = relaxation.jensen(rational(END), drift.average(relaxation.late), rational(top))
    return numbers.largest(-heap[0][0], beyond)

"""Accounting: what is kept of a run. The dual method itself needs none of it.

With totals C_i of the averaging weights, the primal average is a plain weighted sum of
atoms, and the dual one follows by Abel summation,

    Σ_{i≤k} c_i w^i = C_k w^{k+1} − Σ_{i≤k} C_i (w^{i+1} − w^i),

which touches only the coordinates that a step changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rcmd.model.schedules import Schedule
from rcmd.rows.atoms import Atom
from rcmd.rows.state import Stateful

Array = npt.NDArray[Any]

RESCALE_ABOVE = 1e100
"""Sums are kept relative to C_base; beyond this growth the base moves up."""


@dataclass(frozen=True)
class Step:
    """What an engine tells of iteration i: its atom β̃^i, its batch, and w^{i+1} − w^i on it."""

    i: int
    atom: Atom
    batch: Array
    change: Array


class Accounting(Protocol):
    """Anything that listens to an engine's steps."""

    def record(self, step: Step) -> None:
        """Take note of one step."""


class _RelativeSum(Stateful):
    """A vector kept in units of C_base, so that geometric weights never overflow."""

    changing = ("total", "base")

    def __init__(self, schedule: Schedule, total: Array) -> None:
        self.schedule = schedule
        self.total = total
        self.base = 0

    def unit(self, i: int) -> Any:
        """C_i/C_base, moving the base to i when it has grown too large."""
        growth = self.schedule.growth(i, self.base)
        if growth > RESCALE_ABOVE:
            # An infinite growth forgets everything; its reciprocal 0.0 would spoil fractions.
            self.total *= 0 if growth == math.inf else 1 / growth
            self.base = i
            return 1
        return growth


def past_share(schedule: Schedule) -> Any:
    """C_{−1}/C_0: what the time before the first step counts for; 0 in a run from scratch."""
    return 1 - schedule.mixing(0)


class PrimalAverage(Stateful):
    """β̄^k = Σ_{i≤k} c_i β̃^i / C_k: with it, the dual method is GSFW.

    ``start`` is β̄^{−1}, 0 for a run from scratch; it counts for the weights of the steps
    that its schedule takes for done.
    """

    changing = ("_sum", "_last")

    def __init__(self, schedule: Schedule, start: Any) -> None:
        self._sum = _RelativeSum(schedule, start)
        self._last = -1

    def record(self, step: Step) -> None:
        if self._last < 0:
            self._sum.total *= past_share(self._sum.schedule)
        unit = self._sum.unit(step.i)
        step.atom.add_to(self._sum.total, unit * self._sum.schedule.mixing(step.i))
        self._last = step.i

    def value(self) -> Array:
        """β̄ after the last recorded step; β̄^{−1} before the first."""
        if self._last < 0:
            return self._sum.total.copy()
        return self._sum.total / self._sum.unit(self._last)


class DualAverage(Stateful):
    """w̄^k = Σ_{i≤k} c_i w^i / C_k, where w^i is the dual variable *before* step i."""

    changing = ("_sum", "_last")

    def __init__(self, schedule: Schedule, n: int, number_type: Any = float) -> None:
        self._sum = _RelativeSum(schedule, np.zeros(n, dtype=number_type))
        self._last = -1

    def record(self, step: Step) -> None:
        # First, as it may rescale the very entries that += is about to read.
        unit = self._sum.unit(step.i)
        self._sum.total[step.batch] += unit * step.change
        self._last = step.i

    def value(self, w: Array) -> Array:
        """w̄, given the engine's current ``w``."""
        if self._last < 0:
            return w.copy()
        return w - self._sum.total / self._sum.unit(self._last)

"""Accounting: averages and the like, from the steps of a run. The dual method needs none of it.

With totals C_i of the averaging weights, the primal average is a plain weighted sum of
atoms, and the dual one follows by Abel summation,

    Σ_{i≤k} c_i w^i = C_k w^{k+1} − Σ_{i≤k} C_i (w^{i+1} − w^i),

which touches only the coordinates that a step changed.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from rcmd.engine.state import Stateful
from rcmd.model.schedules import Schedule
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array

RESCALE_ABOVE = 1e100
"""Sums are kept relative to C_base; beyond this growth the base moves up."""


@dataclass(frozen=True)
class Step:
    """Iteration i as accounting sees it: the atom β̃^i, the batch, and w^{i+1} − w^i on it."""

    i: int
    atom: Atom
    batch: Array
    change: Array


class Accounting(Protocol):
    """Anything that is called after each of an engine's steps."""

    def record(self, step: Step) -> None:
        """Process one step."""


class _Average(Stateful):
    """A weighted sum in units of C_base, so that geometric weights never overflow."""

    changing = ("total", "base", "last")

    def __init__(self, schedule: Schedule, total: Array) -> None:
        self.schedule, self.total = schedule, total
        self.base, self.last = 0, -1

    def unit(self, i: int) -> Any:
        """C_i/C_base, moving the base to i when it has grown too large."""
        growth = self.schedule.growth(i, self.base)
        if growth > RESCALE_ABOVE:
            # An infinite growth forgets everything; its reciprocal 0.0 would spoil fractions.
            self.total *= 0 if growth == math.inf else 1 / growth
            self.base = i
            return 1
        return growth


class PrimalAverage(_Average):
    """β̄^k = Σ_{i≤k} c_i β̃^i / C_k: with it, the dual method is GSFW.

    ``total`` starts as β̄^{−1}, 0 for a run from scratch, with the weight of the steps that the
    schedule counts as done, C_{−1}/C_0 = 1 − α_0.
    """

    def record(self, step: Step) -> None:
        if self.last < 0:
            self.total *= 1 - self.schedule.mixing(0)
        unit = self.unit(step.i)
        step.atom.add_to(self.total, unit * self.schedule.mixing(step.i))
        self.last = step.i

    def value(self) -> Array:
        """β̄ after the last recorded step; β̄^{−1} before the first."""
        return self.total.copy() if self.last < 0 else self.total / self.unit(self.last)


class DualAverage(_Average):
    """w̄^k = Σ_{i≤k} c_i w^i / C_k, where w^i is the dual variable *before* step i."""

    def record(self, step: Step) -> None:
        # First, as it may rescale the very entries that += is about to read.
        unit = self.unit(step.i)
        self.total[step.batch] += unit * step.change
        self.last = step.i

    def value(self, w: Array) -> Array:
        """w̄, given the engine's current ``w``."""
        return w.copy() if self.last < 0 else w - self.total / self.unit(self.last)

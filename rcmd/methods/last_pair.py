"""What dual ascent methods share: even costs, and the pair that they certify."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy.typing as npt

from rcmd.engine.costs import EvenCosts
from rcmd.problem import Problem

Array = npt.NDArray[Any]


class LastPair(EvenCosts, ABC):
    """A run on the dual that certifies its last w, with β = ∇R*(−Xᵀw/n)."""

    problem: Problem

    @property
    @abstractmethod
    def w(self) -> Array:
        """The last dual point."""

    @property
    def d(self) -> Array:
        """Xᵀw/n."""
        return self.problem.gradient(self.w)

    @property
    def s(self) -> Array:
        """The predictions at β."""
        return self.problem.rows.matvec(self.averages()[0])

    def averages(self) -> tuple[Any, Array]:
        """β and w."""
        w = self.w
        atom = self.problem.oracle.argmin(self.problem.gradient(w))
        return atom.dense(self.problem.rows.zero()), w

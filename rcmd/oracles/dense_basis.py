"""Small linear programmes that go on from their last basis by pivots on dense arrays.

HiGHS is made for large sparse programmes: of a call with few pivots on a small one, most is what
it does around them. A ``DenseBasis`` takes the place of a model of HiGHS, under its names.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.oracles.base import Array

AT_LOWER, BASIC, AT_UPPER = 0, 1, 2
"""HiGHS's names of where a variable is."""

TOLERANCE = 1e-10
"""The tightest feasibility tolerance HiGHS takes, relative here: models are scaled to size 1."""

LARGEST = 2**15
"""Rows times columns of the largest programme to be solved so, a quarter of a MB."""

PATIENCE = 200
"""Pivots after which HiGHS, which needs fewer on a long way, goes on."""

ACCURATE = 1e-12
"""What rounding may leave of an equation between numbers of size 1."""


@dataclass
class Solution:
    """Values and prices under HiGHS's names."""

    col_value: Array
    col_dual: Array
    row_value: Array
    row_dual: Array


class DenseBasis(ABC):
    """min costsᵀx over ends of x and of Ax, from a basis that was optimal before a change.

    Columns and rows are variables alike. From call to call are kept the basis, the ends at
    which the other variables are, and what ``_factor`` makes of them; a call without any pivot
    changes none of it.
    """

    def __init__(self, form: tuple[Any, ...], basis: list[list[int]]) -> None:
        matrix, costs, columns, rows = form
        self._A = matrix.toarray()
        self._columns, self._size = self._A.shape[1], sum(self._A.shape)
        self._costs = np.r_[costs, np.zeros(len(self._A))]
        self._ends: tuple[Array, Array] = np.r_[columns[0], rows[0]], np.r_[columns[1], rows[1]]
        status = np.concatenate(basis)
        self._high = status == AT_UPPER
        self._factor(status == BASIC)
        self.pivots = 0

    @property
    def basis(self) -> list[list[int]]:
        """Where every column and every row is."""
        status = np.where(self._high, AT_UPPER, AT_LOWER)
        status[self._basic] = BASIC
        return [status[: self._columns].tolist(), status[self._columns :].tolist()]

    def changeColsCost(self, count: int, places: Array, costs: Array) -> None:
        """Other costs for some columns."""
        self._costs[places] = costs

    def changeColsBounds(self, count: int, places: Array, lower: Array, upper: Array) -> None:
        """Other ends for some columns."""
        self._ends[0][places], self._ends[1][places] = lower, upper

    def changeRowsBounds(self, count: int, places: Array, lower: Array, upper: Array) -> None:
        """Other ends for some rows."""
        self.changeColsBounds(count, places + self._columns, lower, upper)

    def run(self) -> bool:
        """Whether few pivots led to what is an optimum by all its equations, ends and signs."""
        self.pivots, made = 0, 1
        while made:  # the last time with numbers made anew, which need no pivot
            made, solved = self._pivot(PATIENCE - self.pivots)
            self.pivots += made
            if not solved:
                return False
        return self._beyond() <= TOLERANCE and self._residual() <= ACCURATE

    def _beyond(self) -> float:
        """How far a value is beyond its ends, or a price on the wrong side of 0."""
        (lower, upper), values = self._ends, self._values
        wrong = np.where(self._high, self._prices, -self._prices)[lower < upper]
        # By np.max, in which NaN counts.
        return np.max([(lower - values).max(), (values - upper).max(), wrong.max(initial=0.0)])

    def _residual(self) -> float:
        found = self.getSolution()
        rows = self._A @ found.col_value - found.row_value
        columns = self._costs[: self._columns] - found.col_dual - found.row_dual @ self._A
        largest = max(abs(self._prices).max(), 1.0)
        return np.max([abs(rows).max(), abs(columns).max() / largest])

    def getSolution(self) -> Solution:
        """What the last run led to."""
        values, prices, columns = self._values, self._prices, self._columns
        return Solution(values[:columns], prices[:columns], values[columns:], prices[columns:])

    def _at_ends(self) -> Array:
        """The value of every variable that is not basic."""
        lower, upper = self._ends
        return np.where(self._high, upper, lower)

    _basic: Array
    _values: Array
    _prices: Array

    @abstractmethod
    def _factor(self, basic: Array) -> None:
        """Make what pivots need of the basis of the variables that ``basic`` is true for."""

    @abstractmethod
    def _pivot(self, limit: int) -> tuple[int, bool]:
        """How many pivots were made, fewer than ``limit``, and whether an optimum is found."""


def complete(form: tuple[Any, ...], basis: list[list[int]]) -> bool:
    """Whether every variable outside the basis has an end to be at."""
    _, _, columns, rows = form
    lower, upper = np.r_[columns[0], rows[0]], np.r_[columns[1], rows[1]]
    status = np.concatenate(basis)
    ends = np.select([status == AT_LOWER, status == AT_UPPER], [lower, upper], np.inf)
    return bool(np.isfinite(ends[status != BASIC]).all())

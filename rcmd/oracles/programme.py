"""A linear programme that is solved again and again with other costs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.oracles.base import Array
from rcmd.oracles.dense_basis import BASIC, LARGEST, TOLERANCE
from rcmd.oracles.kept_model import DUAL, PRIMAL, KeptModel, import_highspy
from rcmd.oracles.primal_table import PrimalTable


class Programme(KeptModel):
    """min cᵀx over row_lower ≤ Ax ≤ row_upper and lower ≤ x ≤ upper.

    Only its costs change, which leaves the last basis feasible: the primal simplex method goes on
    from there. ``solve`` gives a vertex x and multipliers y. What is proved never rests on the
    solver: for any multipliers y with the signs that infinite ends leave them, and r = c − Aᵀy,

        cᵀx ≥ Σ_i min(y_i z : row_lower_i ≤ z ≤ row_upper_i)
              + Σ_j min(r_j z : lower_j ≤ z ≤ upper_j),

    which is ``bound``; ``slack`` is the difference of the two sides as a sum of terms ≥ 0.
    """

    strategies = PRIMAL, DUAL
    pivoting = PrimalTable

    def __init__(
        self, A: Any, row_lower: Array, row_upper: Array, lower: Array, upper: Array
    ) -> None:
        self.A = sp.csr_array(A)
        self._small = math.prod(self.A.shape) <= LARGEST
        self._transposed = self.A.T.tocsr()
        self.row_lower, self.row_upper = row_lower, row_upper
        self.lower, self.upper = lower, upper
        self._equal = np.r_[lower == upper, row_lower == row_upper]
        self._places = np.arange(len(lower), dtype=np.int32)
        self.reach = _or_one(np.maximum(_finite(abs(lower)), _finite(abs(upper))))
        sides = np.maximum(_finite(abs(row_lower)), _finite(abs(row_upper)))
        self.row_reach = _or_one(sides + abs(self.A) @ self.reach)
        self.forget()

    def empty(self) -> bool:
        """Whether the constraints contradict each other."""
        highs = import_highspy()
        self.forget()
        self._model = self._make(highs)
        return bool(self._run(highs) == highs.HighsModelStatus.kInfeasible)

    def _form(self) -> tuple[Any, ...]:
        """The programme in x/reach, each row divided by its own size."""
        scaled = sp.csc_array(self.A * self.reach / self.row_reach[:, None])
        columns = self.lower / self.reach, self.upper / self.reach
        rows = self.row_lower / self.row_reach, self.row_upper / self.row_reach
        return scaled, np.zeros(len(self.lower)), columns, rows

    def _pose(self, c: Array) -> None:
        costs = c * self.reach
        self._size = float(abs(costs).max()) or 1.0
        self._model.changeColsCost(len(costs), self._places, costs / self._size)

    def _read(self, found: Any) -> tuple[Array, Array]:
        self._prices = np.asarray(found.col_dual), np.asarray(found.row_dual)
        x = np.clip(np.asarray(found.col_value) * self.reach, self.lower, self.upper)
        return x, self._signed(self._prices[1] * self._size / self.row_reach)

    def _tied(self) -> bool:
        """Whether too few prices and multipliers differ from 0.

        Those of equal ends may be 0, if their variables are outside the basis.
        """
        settled = abs(np.concatenate(self._prices)) > TOLERANCE
        if self._equal.any():
            settled |= self._equal & (np.concatenate(self._statuses()) != BASIC)
        return bool(settled.sum() < len(self.lower))

    def _signed(self, y: Array) -> Array:
        """Multipliers without the signs for which an end is missing."""
        y = np.where(np.isinf(self.row_lower), np.minimum(y, 0), y)
        return np.where(np.isinf(self.row_upper), np.maximum(y, 0), y)

    def bound(self, c: Array, y: Array) -> float:
        """A number that no cᵀx undercuts, whatever the quality of y; −inf for an open end."""
        residual = c - self._transposed @ y
        rows = np.where(y > 0, y * _finite(self.row_lower), y * _finite(self.row_upper))
        return float(rows.sum() + _least(residual, self.lower, self.upper).sum())

    def slack(self, c: Array, y: Array, x: Array) -> float:
        """cᵀx − bound(c, y) for a feasible x, term by term non-negative."""
        residual, values = c - self._transposed @ y, self.A @ x
        above = np.where(y > 0, values - _finite(self.row_lower), _finite(self.row_upper) - values)
        aside = np.where(residual > 0, x - self.lower, self.upper - x)
        aside = np.where(residual == 0, 0.0, np.maximum(aside, 0))
        return float(abs(y) @ np.maximum(above, 0) + abs(residual) @ aside)

    def violation(self, x: Array) -> float:
        """The largest amount by which x misses a row or its box, relative to their sizes."""
        values = self.A @ x
        misses = (
            (self.row_lower - values) / self.row_reach,
            (values - self.row_upper) / self.row_reach,
            (self.lower - x) / self.reach,
            (x - self.upper) / self.reach,
        )
        # Joined by np.max, in which NaN counts as outside.
        return float(np.max(np.concatenate([*misses, np.zeros(1)])))


def _least(slopes: Array, lower: Array, upper: Array) -> Array:
    """min(slope·x) over lower ≤ x ≤ upper, place by place; 0 for a slope of 0."""
    ends = np.where(slopes > 0, lower, upper)
    return np.where(slopes == 0, 0.0, slopes * np.where(slopes == 0, 0.0, ends))


def _finite(ends: Array) -> Array:
    return np.where(np.isfinite(ends), ends, 0.0)


def _or_one(sizes: Array) -> Array:
    return np.where(sizes > 0, sizes, 1.0)

"""The dual simplex method for small programmes of which only ends change."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.oracles.base import Array
from rcmd.oracles.dense_basis import TOLERANCE, DenseBasis


class DualInverse(DenseBasis):
    """The inverse of B, the columns of [A −I] for the basic variables.

    These are −B⁻¹ times the other columns times their values; the prices of all variables are
    c − [A −I]ᵀB⁻ᵀc_B.
    """

    def __init__(self, form: tuple[Any, ...], basis: list[list[int]]) -> None:
        indices, offsets = (part.astype(np.uint64) for part in (form[0].indices, form[0].indptr))
        self._by_columns = form[0].data, indices, offsets
        super().__init__(form, basis)

    def _factor(self, basic: Array) -> None:
        system = np.hstack([self._A, -np.eye(len(self._A))])
        self._basic = np.flatnonzero(basic)
        self._places = np.full(self._size, -1)
        self._places[self._basic] = np.arange(len(self._basic))
        self._inverse = np.linalg.inv(system[:, self._basic])
        self._prices = self._costs - self._costs[self._basic] @ self._inverse @ system
        self._prices[self._basic] = 0.0

    def _pivot(self, limit: int) -> tuple[int, bool]:
        from rcmd.engine.kernels.dual_pivots import repair

        values = np.empty(len(self._basic))
        state = self._by_columns, self._inverse, self._basic, self._places, self._prices
        made, solved = repair(*state, self._ends, self._high, values, TOLERANCE, limit)
        self._values = self._at_ends()
        self._values[self._basic] = values
        return made, solved

"""The primal simplex method for small programmes of which only costs change."""

from __future__ import annotations

import numpy as np

from rcmd.oracles.base import Array
from rcmd.oracles.dense_basis import TOLERANCE, DenseBasis


class PrimalTable(DenseBasis):
    """The basic variables as functions of the others, a table as large as A.

    With F the basic columns, N the others, K the rows at an end, R the others, z = Ax and
    P = A_KF⁻¹,

        x_F = P z_K − P A_KN x_N,    z_R = A_RF P z_K + (A_RN − A_RF P A_KN) x_N.
    """

    def _factor(self, basic: Array) -> None:
        A, n = self._A, self._columns
        F, N = np.flatnonzero(basic[:n]), np.flatnonzero(~basic[:n])
        R, K = np.flatnonzero(basic[n:]), np.flatnonzero(~basic[n:])
        self._basic, self._others = np.r_[F, n + R], np.r_[N, n + K]
        inverse = np.linalg.inv(A[np.ix_(K, F)])
        columns = np.hstack([-inverse @ A[np.ix_(K, N)], inverse])
        rows = A[np.ix_(R, F)] @ columns
        rows[:, : len(N)] += A[np.ix_(R, N)]
        self._table = np.vstack([columns, rows])

    def _pivot(self, limit: int) -> tuple[int, bool]:
        from rcmd.engine.kernels.primal_pivots import descend

        table, basic, others, high = self._table, self._basic, self._others, self._high
        rest = self._at_ends()[others]
        values, prices = table @ rest, self._costs[others] + self._costs[basic] @ table
        made, solved = descend(
            table, basic, others, prices, self._ends, high, rest, values, TOLERANCE, limit
        )
        self._values, self._prices = np.empty(self._size), np.zeros(self._size)
        self._values[basic], self._values[others] = values, rest
        self._prices[others] = prices
        return made, solved

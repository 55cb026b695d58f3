"""The linear programme behind ``CurSet``: every |c_ij| is split between its row and its column."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.oracles.base import Array
from rcmd.oracles.dense_basis import LARGEST, TOLERANCE
from rcmd.oracles.dual_inverse import DualInverse
from rcmd.oracles.kept_model import DUAL, PRIMAL, KeptModel


class Splitting(KeptModel):
    """The least λ + μ over 0 ≤ a_ij ≤ |c_ij|, Σ_j a_ij ≤ λ and Σ_i (|c_ij| − a_ij) ≤ μ.

    It is the dual of

        max Σ |c_ij| z_ij   over   0 ≤ z_ij ≤ t_i, z_ij ≤ u_j, Σ_i t_i = Σ_j u_j = 1,

    which z_ij = min(t_i, u_j) solves with t and u the multipliers of its rows. It has one row for
    each of them, where the other form has two for each entry; and only ends change with c, for
    which the dual simplex method goes on from the last basis. λ and μ have no sign by themselves,
    so that t and u sum to 1 and not to less, which leaves fewer ties.
    """

    strategies = DUAL, PRIMAL
    pivoting = DualInverse

    def __init__(self, height: int, width: int) -> None:
        self.shape = height, width
        of_row = sp.kron(sp.eye_array(height), np.ones((1, width)))
        of_column = sp.kron(np.ones((1, height)), sp.eye_array(width))
        blocks = [
            [of_row, -np.ones((height, 1)), None],
            [-of_column, None, -np.ones((width, 1))],
        ]
        self._matrix = sp.block_array(blocks, format="csc")
        self._small = math.prod(self._matrix.shape) <= LARGEST
        self._entries = np.arange(height * width, dtype=np.int32)
        self._columns = np.arange(height, height + width, dtype=np.int32)
        self._none, self._open = np.zeros(height * width), np.full(width, -np.inf)
        self.forget()

    def _form(self) -> tuple[Any, ...]:
        entries, loads = np.zeros(len(self._entries)), np.array([np.inf, np.inf])
        sides = np.zeros(sum(self.shape))
        columns = np.r_[entries, -loads], np.r_[entries, loads]
        return self._matrix, np.r_[entries, 1.0, 1.0], columns, (sides - np.inf, sides)

    def _pose(self, c: Array) -> None:
        """Only |c| of size 1 is told to the model."""
        self._weights = abs(c)
        self._size = self._weights.max() or 1.0
        self._most = self._weights / self._size
        self._sums = -self._most.reshape(self.shape).sum(axis=0)
        self._model.changeColsBounds(len(c), self._entries, self._none, self._most)
        self._model.changeRowsBounds(len(self._sums), self._columns, self._open, self._sums)

    def _read(self, found: Any) -> tuple[Array, Array]:
        """(t, u) ≥ 0 in one vector, and a share 0 ≤ a ≤ |c| of the shape of β."""
        share = np.array(found.col_value[: len(self._most)])
        rooms = -np.array(found.row_value)
        rooms[self.shape[0] :] += self._sums
        between = np.minimum(share, self._most - share) > TOLERANCE
        self._basic = np.count_nonzero(between) + np.count_nonzero(rooms > TOLERANCE) + 2
        share = np.minimum(np.maximum(share, 0) * self._size, self._weights)
        return np.maximum(-np.array(found.row_dual), 0), share.reshape(self.shape)

    def _tied(self) -> bool:
        """Whether fewer variables and slacks lie between their ends than there are rows."""
        return bool(self._basic < sum(self.shape))


def loads(c: Array, share: Array) -> tuple[Array, Array]:
    """Σ_j a_ij for every row and Σ_i (|c_ij| − a_ij) for every column of the matrix c."""
    return share.sum(axis=1), (abs(c) - share).sum(axis=0)


def bound(c: Array, share: Array, radius: Any) -> Any:
    """A number that no Σ c_ij β_ij undercuts on ``CurSet``, whatever 0 ≤ share ≤ |c|."""
    by_row, by_column = loads(c, share)
    return -radius * (by_row.max() + by_column.max())


def slack(beta: Array, c: Array, share: Array, radius: Any) -> Any:
    """Σ c_ij β_ij − bound for β in the set, term by term non-negative.

    With z = |β|, t and u the largest z of every row and column, and λ and μ the largest loads:

        Σ (|c_ij β_ij| + c_ij β_ij) + Σ a_ij (t_i − z_ij) + Σ (|c_ij| − a_ij)(u_j − z_ij)
        + Σ_i t_i (λ − Σ_j a_ij) + Σ_j u_j (μ − Σ_i (|c_ij| − a_ij))
        + λ (radius − Σ t_i) + μ (radius − Σ u_j).
    """
    z, values = abs(beta), c * beta
    t, u = z.max(axis=1), z.max(axis=0)
    by_row, by_column = loads(c, share)
    most, most_of_columns = by_row.max(), by_column.max()
    return (
        (abs(values) + values).sum()
        + (share * (t[:, None] - z)).sum()
        + ((abs(c) - share) * (u - z)).sum()
        + t @ (most - by_row)
        + u @ (most_of_columns - by_column)
        + most * np.maximum(radius - t.sum(), 0)
        + most_of_columns * np.maximum(radius - u.sum(), 0)
    )

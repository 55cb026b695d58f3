"""Rows in one C-ordered array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rcmd.rows.atoms import Atom, DenseAtom
from rcmd.rows.base import BLOCK_ENTRIES, Array, Rows
from rcmd.rows.cancellation import check_cancelled

SMALL_SIDE = 500
"""Up to so many columns XᵀX is formed; one pass then does for what Lanczos takes hundreds for."""


class DenseRows(Rows):
    """A C-ordered array; float32 data keep their size and are accumulated in float64."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.n, self.p = array.shape
        self.compilable = not self.exact

    @property
    def number_type(self) -> Any:
        return np.dtype(object) if self.array.dtype == object else np.dtype(float)

    def predict(self, batch: Array, atom: Atom) -> Array:
        return atom.predict(self.array[batch])

    def predict_at(self, atoms: Sequence[Atom]) -> Array:
        columns = [
            self.matvec(atom.vector) if isinstance(atom, DenseAtom) else atom.predict(self.array)
            for atom in atoms
        ]
        return np.stack(columns, axis=1)

    def every(self, stride: int) -> DenseRows:
        return DenseRows(np.ascontiguousarray(self.array[::stride]))

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        total += coefficients @ self.array[batch]

    def matvec(self, beta: Array) -> Array:
        if self.array.dtype != np.float32:
            return self.array @ beta
        return self._by_row(lambda block: block @ beta)

    def rmatvec(self, w: Array) -> Array:
        if self.array.dtype != np.float32:
            return w @ self.array
        total = np.zeros(self.p)
        for rows in self._blocks():
            total += w[rows] @ self.array[rows]
        return total

    def square_norms(self) -> Array:
        return self._by_row(lambda block: (block * block).sum(axis=1))

    def spectral_energy(self, scales: Array) -> float:
        roots = np.sqrt(np.asarray(scales, dtype=float))
        squares_are_numbers = 1e-100 < float(self.peak * roots.max()) < 1e100
        small = 1 < self.p <= min(self.n, SMALL_SIDE)
        if self.exact or not (small and squares_are_numbers):
            return super().spectral_energy(scales)
        from scipy.linalg import eigvalsh

        top = eigvalsh(dense_gram(self.array, roots), subset_by_index=[self.p - 1, self.p - 1])
        return float(top[0]) * (1 + 1e-9)

    @property
    def peak(self) -> float:
        entries = self.array
        return float(max(entries.max(), -entries.min())) if entries.size else 0.0

    def entry_range(self) -> tuple[Array, Array]:
        low, high = self.array.min(axis=1), self.array.max(axis=1)
        return low.astype(self.number_type), high.astype(self.number_type)

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        def ends(positive: Array, negative: Array) -> Array:
            return self._by_row(
                lambda block: np.maximum(block, 0) @ positive + np.minimum(block, 0) @ negative
            )

        return ends(lower, upper), ends(upper, lower)

    def reduce(self, function: Callable[[Array, Array], Array]) -> Array:
        columns = np.arange(self.p)
        return self._by_row(lambda block: function(block, columns))

    def _blocks(self) -> list[slice]:
        height = max(1, BLOCK_ENTRIES // self.p)
        return [slice(start, start + height) for start in range(0, self.n, height)]

    def _by_row(self, function: Callable[[Array], Array]) -> Array:
        """``function`` of the rows in their number type, a block at a time."""
        parts = [
            function(self.array[rows].astype(self.number_type, copy=False))
            for rows in self._blocks()
        ]
        return np.concatenate(parts)

    def as_matrix(self) -> Array:
        return np.asarray(self.array, dtype=float)

    def row(self, j: int) -> Array:
        return np.asarray(self.array[j], dtype=self.number_type)


def dense_gram(columns: Array, roots: Array) -> Array:
    """Zᵀ diag(roots²) Z, a block of rows at a time, which stays in the cache meanwhile."""
    n, m = columns.shape
    total, height = np.zeros((m, m)), max(1, 16 * BLOCK_ENTRIES // m)
    for start in range(0, n, height):
        check_cancelled()
        block = columns[start : start + height] * roots[start : start + height, None]
        total += block.T @ block
    return total

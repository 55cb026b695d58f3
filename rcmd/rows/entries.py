"""Samples that are single entries of a matrix β, as in matrix completion."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.lowrank import LowRank
from rcmd.oracles.atoms import Atom, RankOneAtom
from rcmd.rows.base import Array, Rows
from rcmd.validation import as_array, checked_shape


class MatrixEntries(Rows):
    """Sample j is the entry (rows_j, columns_j) of an m × p matrix β.

    β is a ``LowRank``, or its m·p entries row by row; Xᵀw is a sparse matrix with w on the
    observed entries. No array of m·p numbers is formed. An entry may be observed several
    times.

    Examples
    --------
    >>> entries = MatrixEntries([0, 1], [2, 0], shape=(2, 3))
    >>> entries.rmatvec(np.array([5.0, 7.0])).toarray()
    array([[0., 0., 5.],
           [7., 0., 0.]])
    """

    number_type = np.dtype(float)

    def __init__(self, rows: Any, columns: Any, shape: tuple[int, int]) -> None:
        self.shape = checked_shape(shape, "MatrixEntries")
        self.rows = _checked_index("rows", rows, self.shape[0])
        self.columns = _checked_index("columns", columns, self.shape[1])
        if len(self.rows) != len(self.columns):
            raise ValueError(
                f"rows has {len(self.rows)} indices and columns {len(self.columns)}; expected one "
                "of each for every observed entry"
            )
        self.n, self.p = len(self.rows), self.shape[0] * self.shape[1]
        self._flat = self.rows * self.shape[1] + self.columns
        # Where each sample lies among the stored entries of Xᵀw.
        stored, self._places = np.unique(self._flat, return_inverse=True)
        self._repeated = len(stored) < self.n
        self._indices = stored % self.shape[1]
        self._indptr = np.searchsorted(stored, np.arange(self.shape[0] + 1) * self.shape[1])

    def predict(self, batch: Array, atom: Atom) -> Array:
        if isinstance(atom, RankOneAtom):
            return atom.left[self.rows[batch]] * atom.right[self.columns[batch]]
        return atom.gather(self._flat[batch])

    def scatter(self, batch: Array, coefficients: Array, total: Any) -> None:
        places = self._places[batch]
        if self._repeated:
            np.add.at(total.data, places, coefficients)
        else:
            total.data[places] += coefficients

    def matvec(self, beta: Any) -> Array:
        if isinstance(beta, LowRank):
            return beta.at(self.rows, self.columns)
        return np.asarray(beta)[self._flat]

    def rmatvec(self, w: Array) -> Any:
        data = np.bincount(self._places, weights=w, minlength=len(self._indices))
        return sp.csr_array((data, self._indices, self._indptr), shape=self.shape)

    def square_norms(self) -> Array:
        return np.ones(self.n)

    def entry_range(self) -> tuple[Array, Array]:
        ones = np.ones(self.n)
        return (0 * ones if self.p > 1 else ones), ones

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        return lower[self._flat], upper[self._flat]

    def row(self, j: int) -> Array:
        dense = np.zeros(self.p)
        dense[self._flat[j]] = 1.0
        return dense

    def as_matrix(self) -> Any:
        ones, ends = np.ones(self.n), np.arange(self.n + 1)
        return sp.csr_array((ones, self._flat, ends), shape=(self.n, self.p))

    def zero(self) -> LowRank:
        return LowRank(self.shape)

    def spectral_energy(self, scales: Array) -> float:
        """The largest sum of scales over the samples of one entry: XᵀX is diagonal."""
        return float(np.bincount(self._places, weights=np.asarray(scales, dtype=float)).max())


def _checked_index(name: str, values: Any, length: int) -> Array:
    index = as_array(f"{name} of MatrixEntries", values)
    if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "iu":
        raise ValueError(
            f"{name} of MatrixEntries has shape {index.shape} and dtype {index.dtype}; expected a "
            "vector of whole numbers, one for every observed entry"
        )
    if index.min() < 0 or index.max() >= length:
        raise ValueError(
            f"{name} of MatrixEntries runs from {index.min()} to {index.max()}; expected 0 to "
            f"{length - 1}, as the matrix has {length} {name}"
        )
    return index.astype(np.int64)

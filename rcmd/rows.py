"""The rows x_j of the data: layout lives here and nowhere else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rcmd.oracles.atoms import Atom
from rcmd.validation import as_array, checked_numbers

Array = npt.NDArray[Any]

BLOCK_ENTRIES = 2**14
"""Entries widened or multiplied at a time, few enough to cost no memory."""


class Rows(ABC):
    """n rows of length p, touched a batch at a time or all at once."""

    n: int
    p: int

    @abstractmethod
    def predict(self, batch: Array, atom: Atom) -> Array:
        """x_jᵀβ̃ for the rows of ``batch``, in time proportional to their nonzeros."""

    @abstractmethod
    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        """``total += Σ_j coefficients_j x_j`` over the batch, in place."""

    @abstractmethod
    def matvec(self, beta: Array) -> Array:
        """Xβ."""

    @abstractmethod
    def rmatvec(self, w: Array) -> Array:
        """Xᵀw."""

    @abstractmethod
    def square_norms(self) -> Array:
        """‖x_j‖₂² for every row."""

    @abstractmethod
    def entry_range(self) -> tuple[Array, Array]:
        """Smallest and largest entry of every row."""

    @abstractmethod
    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Smallest and largest x_jᵀβ over lower ≤ β ≤ upper, for every row."""

    def max_norms(self) -> Array:
        """‖x_j‖_∞ for every row."""
        low, high = self.entry_range()
        return np.maximum(-low, high)

    @abstractmethod
    def row(self, j: int) -> Array:
        """x_j as a dense vector."""

    @property
    @abstractmethod
    def number_type(self) -> Any:
        """The dtype of s, d and w: float64, or object for exact fractions."""

    compilable: bool = False
    """Whether the compiled engine has kernels for this layout."""

    @property
    def exact(self) -> bool:
        """Whether the data are fractions."""
        return self.number_type == np.dtype(object)

    def spectral_energy(self, scales: Array) -> float:
        """An upper bound of ‖diag(√scales) X‖₂², tight to 1e-9, by Lanczos iteration."""
        from scipy.sparse.linalg import LinearOperator, eigsh

        roots = np.sqrt(np.asarray(scales, dtype=float))
        side = min(self.n, self.p)

        def gram(v: Array) -> Array:
            if self.p <= self.n:
                product = self.rmatvec(roots * roots * self.matvec(v))
            else:
                product = roots * self.matvec(self.rmatvec(roots * v))
            return np.asarray(product, dtype=float)

        if side == 1:
            return float(gram(np.ones(1))[0])
        if not self.square_norms().any():
            return 0.0
        # ARPACK's own start differs from call to call; a fixed one keeps σ, and so every iterate,
        # reproducible, and one without structure is in the null space of no data.
        start = np.random.default_rng(0).standard_normal(side)
        operator = LinearOperator((side, side), matvec=gram, dtype=float)
        options = {"k": 1, "which": "LA", "v0": start, "tol": 1e-10, "maxiter": 10_000}
        # Six basis vectors instead of twenty: more restarts, a third of the memory.
        top = eigsh(operator, ncv=min(side, 6), return_eigenvectors=False, **options)
        return float(top[0]) * (1 + 1e-9)


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

    def entry_range(self) -> tuple[Array, Array]:
        low, high = self.array.min(axis=1), self.array.max(axis=1)
        return low.astype(self.number_type), high.astype(self.number_type)

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        def low(block: Array) -> Array:
            return np.maximum(block, 0) @ lower + np.minimum(block, 0) @ upper

        def high(block: Array) -> Array:
            return np.maximum(block, 0) @ upper + np.minimum(block, 0) @ lower

        return self._by_row(low), self._by_row(high)

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

    def row(self, j: int) -> Array:
        return np.asarray(self.array[j], dtype=self.number_type)


class SparseRows(Rows):
    """A CSR matrix, used as it is: never densified, copied only to sum duplicates."""

    number_type = np.dtype(float)
    compilable = True

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.n, self.p = matrix.shape

    def predict(self, batch: Array, atom: Atom) -> Array:
        block = self.matrix[batch]
        products = np.asarray(block.data, dtype=float) * atom.gather(block.indices)
        return _sum_rows(products, block.indptr)

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        block = self.matrix[batch]
        repeated = np.repeat(coefficients, np.diff(block.indptr))
        np.add.at(total, block.indices, repeated * block.data)

    def matvec(self, beta: Array) -> Array:
        if self.matrix.dtype != np.float32:
            return np.asarray(self.matrix @ beta)
        return self._by_row(lambda data, columns: data * beta[columns])

    def rmatvec(self, w: Array) -> Array:
        if self.matrix.dtype != np.float32:
            return np.asarray(self.matrix.T @ w)
        total = np.zeros(self.p)
        for rows in self._blocks():
            total += self.matrix[rows].T @ w[rows]
        return total

    def square_norms(self) -> Array:
        return self._by_row(lambda data, _: data * data)

    def entry_range(self) -> tuple[Array, Array]:
        low = np.asarray(self.matrix.min(axis=1).toarray(), dtype=float).ravel()
        return low, np.asarray(self.matrix.max(axis=1).toarray(), dtype=float).ravel()

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        def ends(data: Array, columns: Array) -> tuple[Array, Array]:
            return data * lower[columns], data * upper[columns]

        low = self._by_row(lambda data, columns: np.minimum(*ends(data, columns)))
        return low, self._by_row(lambda data, columns: np.maximum(*ends(data, columns)))

    def _blocks(self) -> list[slice]:
        """Slices of rows with about a block of entries, at least one row each."""
        entries = np.arange(0, self.matrix.nnz, BLOCK_ENTRIES)
        cuts = np.unique([0, *np.searchsorted(self.matrix.indptr[:-1], entries), self.n])
        return [slice(start, stop) for start, stop in pairwise(cuts.tolist())]

    def _by_row(self, function: Callable[[Array, Array], Array]) -> Array:
        """Row sums of ``function(values, columns)``, in double precision, a block at a time."""
        data, indices, indptr = self.matrix.data, self.matrix.indices, self.matrix.indptr
        sums = np.zeros(self.n)
        for rows in self._blocks():
            start, stop = indptr[rows.start], indptr[rows.stop]
            terms = function(data[start:stop].astype(float), indices[start:stop])
            sums[rows] = _sum_rows(terms, indptr[rows.start : rows.stop + 1] - start)
        return sums

    def row(self, j: int) -> Array:
        start, stop = self.matrix.indptr[j : j + 2]
        dense = np.zeros(self.p)
        dense[self.matrix.indices[start:stop]] = self.matrix.data[start:stop]
        return dense


def _sum_rows(entries: Array, indptr: Array) -> Array:
    """Row sums of CSR entries; unlike ``add.reduceat`` right for empty rows."""
    lengths = np.diff(indptr)
    sums = np.zeros(len(lengths))
    filled = np.flatnonzero(lengths)
    if len(filled):
        sums[filled] = np.add.reduceat(np.asarray(entries, dtype=float), indptr[filled])
    return sums


def as_rows(X: Any) -> Rows:
    """The layout that fits ``X``, or a ``ValueError`` that says what is wrong with it."""
    if isinstance(X, Rows):
        return X
    rows = SparseRows(_checked_sparse(X)) if sp.issparse(X) else DenseRows(_checked_dense(X))
    if rows.n == 0 or rows.p == 0:
        raise ValueError(
            f"X has shape ({rows.n}, {rows.p}); expected at least one row and one column"
        )
    return rows


def _checked_dense(X: Any) -> Array:
    array = as_array("X", X)
    if array.ndim != 2:
        raise ValueError(
            f"X has {array.ndim} dimension(s), shape {array.shape}; expected a matrix with one "
            "row per sample: use X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample"
        )
    array = checked_numbers("X", array)
    if array.dtype not in (np.float32, np.float64, object):
        array = array.astype(float)
    return np.ascontiguousarray(array)


def _checked_sparse(X: Any) -> Any:
    if X.ndim != 2:
        raise ValueError(f"X is a sparse array of {X.ndim} dimension(s); expected a matrix")
    matrix = X.tocsr()
    checked_numbers("X", matrix.data)
    if matrix.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(float)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        checked_numbers("X with its duplicate entries summed", matrix.data)
    return matrix

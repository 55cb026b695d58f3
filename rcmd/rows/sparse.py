"""Rows in compressed sparse form."""

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np

from rcmd.rows.atoms import Atom, SparseAtom
from rcmd.rows.base import BLOCK_ENTRIES, Rows, read_only
from rcmd.rows.validation import Array, sp

COMPILED_FROM = 2**17
"""Entries from which on a pass is worth compiled code; with fewer, numba is not imported."""


class SparseRows(Rows):
    """A CSR matrix, used as it is: never densified, copied only to sum duplicates."""

    number_type = np.dtype(float)

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix
        self.n, self.p = matrix.shape
        self.compilable = type(self) is SparseRows

    @property
    def _entries(self) -> list[Array]:
        """Values, columns and offsets, to be read: for arrays to write kernels compile anew."""
        matrix = self.matrix
        return [read_only(a.view()) for a in (matrix.data, matrix.indices, matrix.indptr)]

    @cached_property
    def _transposed(self) -> Any:
        """Xᵀ, of the same arrays."""
        return self.matrix.T

    def predict(self, batch: Array, atom: Atom) -> Array:
        block = self.matrix[batch]
        products = np.asarray(block.data, dtype=float) * atom.gather(block.indices)
        return _fold_rows(products, block.indptr)

    def predict_at(self, atoms: Sequence[Atom]) -> Any:
        sparse = [atom for atom in atoms if isinstance(atom, SparseAtom)]
        if len(sparse) < len(atoms):
            return super().predict_at(atoms)
        places = np.array([k for atom in sparse for k in atom.indices], dtype=int)
        values = np.array([v for atom in sparse for v in atom.values], dtype=float)
        lengths = np.array([len(atom.indices) for atom in sparse])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        weights = sp.csc_array((values, places, offsets), shape=(self.p, len(atoms)))
        return sp.csr_array(self.matrix @ weights)

    def thinned(self, stride: int, first: int = 0) -> Self:
        return type(self)(self.matrix[first::stride])

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        block = self.matrix[batch]
        repeated = np.repeat(coefficients, np.diff(block.indptr))
        np.add.at(total, block.indices, repeated * block.data)

    def matvec(self, beta: Array) -> Array:
        if self.matrix.nnz < COMPILED_FROM:
            return np.asarray(self.matrix @ beta)
        from rcmd.rows.sparse_kernels import weighted_sums

        sums = np.empty(self.n)
        weighted_sums(*self._entries, _doubles(beta), sums)
        return sums

    def rmatvec(self, w: Array) -> Array:
        if self.matrix.nnz < COMPILED_FROM:
            return np.asarray(self._transposed @ w)
        from rcmd.rows.sparse_kernels import column_sums

        sums = np.zeros(self.p)
        column_sums(*self._entries, _doubles(w), sums)
        return sums

    def normal_product(self, weights: Array, v: Array) -> Array:
        if not self._pays:
            return super().normal_product(weights, v)
        from rcmd.rows.sparse_kernels import weighted_products

        total = np.zeros(self.p)
        weighted_products(*self._entries, _doubles(weights), _doubles(v), total)
        return total

    def products(self, beta: Array, w: Array) -> tuple[Array, Array]:
        if not self._pays:
            return super().products(beta, w)
        from rcmd.rows.sparse_kernels import both_products

        sums, total = np.empty(self.n), np.zeros(self.p)
        both_products(*self._entries, _doubles(beta), _doubles(w), sums, total)
        return sums, total

    @property
    def _pays(self) -> bool:
        """Whether compiled code does for these rows, and is worth it."""
        return self.compilable and self.matrix.nnz >= COMPILED_FROM

    def square_norms(self) -> Array:
        return self._square_norms

    @cached_property
    def _square_norms(self) -> Array:
        return read_only(self._by_row(lambda data, _: data * data))

    def max_norms(self) -> Array:
        return self._max_norms

    @cached_property
    def _max_norms(self) -> Array:
        if not self._pays:
            return read_only(self._by_row(lambda data, _: abs(data), np.maximum))
        from rcmd.rows.sparse_kernels import peaks

        found, (data, _, offsets) = np.empty(self.n), self._entries
        peaks(data, offsets, found)
        return read_only(found)

    @property
    def peak(self) -> float:
        low, high = self.span
        return max(high, -low)

    @cached_property
    def span(self) -> tuple[float, float]:
        """The least and the greatest entry that is stored."""
        entries = self.matrix.data
        return (float(entries.min()), float(entries.max())) if entries.size else (0.0, 0.0)

    def entry_range(self) -> tuple[Array, Array]:
        low = np.asarray(self.matrix.min(axis=1).toarray(), dtype=float).ravel()
        return low, np.asarray(self.matrix.max(axis=1).toarray(), dtype=float).ravel()

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        def ends(data: Array, columns: Array) -> tuple[Array, Array]:
            return data * lower[columns], data * upper[columns]

        low = self._by_row(lambda data, columns: np.minimum(*ends(data, columns)))
        return low, self._by_row(lambda data, columns: np.maximum(*ends(data, columns)))

    def reduce(self, function: Callable[[Array, Array], Array]) -> Array:
        data, indices, starts = self.matrix.data, self.matrix.indices, self.matrix.indptr[:-1]
        lengths = np.diff(self.matrix.indptr)
        numbers = np.zeros(self.n)
        # Rows of like length together, so that padding at most doubles the work.
        magnitudes = np.frexp(lengths)[1]
        for magnitude in np.unique(magnitudes):
            alike = np.flatnonzero(magnitudes == magnitude)
            width = max(1, int(lengths[alike].max()))
            height = max(1, BLOCK_ENTRIES // width)
            for rows in np.split(alike, range(height, len(alike), height)):
                inside = np.arange(width) < lengths[rows, None]
                places = (starts[rows, None] + np.arange(width))[inside]
                entries, columns = np.zeros(inside.shape), np.zeros(inside.shape, dtype=int)
                entries[inside], columns[inside] = data[places], indices[places]
                numbers[rows] = function(entries, columns)
        return numbers

    def _blocks(self) -> list[slice]:
        """Slices of rows with about four blocks of entries, at least one row each."""
        entries = np.arange(0, self.matrix.nnz, 4 * BLOCK_ENTRIES)
        cuts = np.unique([0, *np.searchsorted(self.matrix.indptr[:-1], entries), self.n])
        return [slice(start, stop) for start, stop in pairwise(cuts.tolist())]

    def _by_row(self, function: Callable[[Array, Array], Array], fold: np.ufunc = np.add) -> Array:
        """Row sums of ``function(values, columns)``, in double precision, a block at a time.

        Or the ``fold`` of each row; 0 for an empty one.
        """
        data, indices, indptr = self.matrix.data, self.matrix.indices, self.matrix.indptr
        sums = np.zeros(self.n)
        for rows in self._blocks():
            start, stop = indptr[rows.start], indptr[rows.stop]
            terms = function(data[start:stop].astype(float, copy=False), indices[start:stop])
            sums[rows] = _fold_rows(terms, indptr[rows.start : rows.stop + 1] - start, fold)
        return sums

    def as_matrix(self) -> Any:
        return self.matrix

    def row(self, j: int) -> Array:
        start, stop = self.matrix.indptr[j : j + 2]
        dense = np.zeros(self.p)
        dense[self.matrix.indices[start:stop]] = self.matrix.data[start:stop]
        return dense


def _doubles(vector: Array) -> Array:
    """The vector as kernels take it, to be read."""
    return read_only(np.ascontiguousarray(vector, dtype=float).view())


def both_sides(half: Array) -> Array:
    """The symmetric matrix of which each entry stands on one side of the diagonal only."""
    whole: Array = half + half.T
    np.fill_diagonal(whole, half.diagonal())
    return whole


def _fold_rows(entries: Array, indptr: Array, fold: np.ufunc = np.add) -> Array:
    """Row sums, or another ``fold``, of CSR entries; unlike ``reduceat`` 0 for empty rows."""
    lengths = np.diff(indptr)
    found = np.zeros(len(lengths))
    filled = np.flatnonzero(lengths)
    if len(filled):
        found[filled] = fold.reduceat(np.asarray(entries, dtype=float), indptr[filled])
    return found

"""Columns of X, and predictions at the atoms of a hull: their Gram matrices, slopes and sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rcmd.model.problem import Problem
from rcmd.oracles.vectors import largest
from rcmd.rows.atoms import Atom, SparseAtom
from rcmd.rows.base import DenseRows, Rows, dense_gram
from rcmd.rows.sparse import both_sides
from rcmd.rows.validation import Array, is_sparse, sp

AHEAD, FEWEST_KEPT = 1.5, 200
"""Columns that a kept matrix grows to, for each that is asked for, and at least."""


def beside(left: Any, kept: Array, right: Any) -> Any:
    """The columns ``kept`` of ``left``, and then those of ``right``; sparse where both are."""
    if not (is_sparse(left) and is_sparse(right)):
        left, right = (m.toarray() if is_sparse(m) else m for m in (left, right))
        return np.hstack([left[:, kept], right])
    from rcmd.rows.sparse_kernels import count, join

    places = np.full(left.shape[1], -1, dtype=left.indices.dtype)
    places[kept] = np.arange(len(kept))
    size = count(left.indices, places) + right.nnz
    values, columns = np.empty(size + 1), np.empty(size + 1, dtype=left.indices.dtype)
    offsets = np.zeros(len(left.indptr), dtype=left.indptr.dtype)
    parts = ((part.data, part.indices, part.indptr) for part in (left, right))
    join(*parts, places, places.dtype.type(len(kept)), values, columns, offsets)
    shape = (left.shape[0], len(kept) + right.shape[1])
    return sp.csr_array((values[:size], columns[:size], offsets), shape=shape)


def gram(columns: Any, curvatures: Array) -> Array:
    """Zᵀ diag(c) Z for c ≥ 0."""
    if is_sparse(columns):
        from rcmd.rows.sparse_kernels import sparse_gram

        total = np.zeros((columns.shape[1],) * 2)
        sparse_gram(columns.data, columns.indices, columns.indptr, curvatures, total)
        return both_sides(total)
    same = (curvatures == curvatures[0]).all()  # as for least squares: no product with them
    return curvatures[0] * dense_gram(columns) if same else dense_gram(columns, np.sqrt(curvatures))


def places_of(columns: Array, p: int) -> Array:
    """Where each of p columns is among these, or −1."""
    places = np.full(p, -1, dtype=np.int32)
    places[columns] = np.arange(len(columns))
    return places


def entries_in(rows: Any, columns: Array) -> int:
    """How many entries of X, those stored where it is sparse, stand in these columns."""
    if isinstance(rows, DenseRows):
        return rows.n * len(columns)
    from rcmd.rows.sparse_kernels import count

    return int(count(rows.matrix.indices, places_of(columns, rows.p)))


def some_columns(rows: Any, columns: Array) -> Any:
    """X in these distinct, ascending ``columns``: an array, or in compressed rows."""
    if len(columns) == rows.p and rows.as_matrix().dtype == float:
        return rows.as_matrix()  # without a copy
    if isinstance(rows, DenseRows):
        return np.asarray(rows.array[:, columns], dtype=float)
    from rcmd.rows.sparse_kernels import pick

    matrix, room = rows.matrix, rows.matrix.nnz + 1  # which is not touched where it is not needed
    values, where = np.empty(room), np.empty(room, dtype=np.int32)
    offsets, places = np.zeros_like(matrix.indptr), places_of(columns, rows.p)
    pick(matrix.data, matrix.indices, matrix.indptr, places, values, where, offsets)
    size = offsets[-1]
    return sp.csr_array((values[:size], where[:size], offsets), shape=(rows.n, len(columns)))


def gram_among(rows: Any, columns: Array, curvatures: Array) -> Array:
    """Xᵀ diag(c) X in these columns."""
    if isinstance(rows, DenseRows) or len(columns) == rows.p:
        return gram(some_columns(rows, columns), curvatures)
    return both_sides(_gram_beside(rows, places_of(columns, rows.p), 0, np.sqrt(curvatures)))


def _gram_beside(rows: Any, places: Array, held: int, roots: Array) -> Array:
    """Its rows for the columns with places from ``held`` on, c = roots²; as ``grow_gram`` says."""
    from rcmd.rows.sparse_kernels import grow_gram

    X, size = rows.matrix, int(places.max()) + 1
    longest = int(np.diff(X.indptr).max(initial=0)) + 1
    buffers = np.empty(longest), np.empty(longest, dtype=np.int32)
    total = np.zeros((size - held, size))
    grow_gram(X.data, X.indices, X.indptr, places, held, roots, buffers, total)
    return total


def part_of(matrix: Array, places: Array) -> Array:
    """The rows and columns ``places`` of a matrix."""
    from rcmd.methods.corrections.coordinate_kernels import crossing

    part = np.empty((len(places), len(places)))
    crossing(matrix, places, part)
    return part


class KeptGram:
    """Xᵀ diag(c) X in the columns asked for so far, of sparse rows and for a c that stays.

    No entry depends on what was asked for before.

    Examples
    --------
    >>> from rcmd import L1Penalty, LeastSquares, Problem
    >>> X = sp.csr_array([[1.0, 2.0, 0.0], [0.0, 3.0, 4.0]])
    >>> kept = KeptGram(Problem(X, [1.0, 2.0], LeastSquares(), L1Penalty(1.0)))
    >>> kept.among(np.array([0, 1]), np.array([1.0, 2.0, 0.0]), np.ones(2))
    array([[ 1.,  2.],
           [ 2., 13.]])
    """

    def __init__(self, problem: Problem) -> None:
        rows: Any = problem.rows
        self._rows, self._total = rows, problem.total
        self.most = math.isqrt(problem.total(lambda: rows.matrix.nnz))  # then it is as large as X
        self._forget()

    def _forget(self) -> None:
        self._places = np.full(self._rows.p, -1, dtype=np.int32)
        self._held, self._matrix = 0, np.empty((0, 0))  # with room for more

    def among(self, columns: Array, wanted: Array, curvatures: Array) -> Array:
        """The matrix in these ``columns``, at most ``most``; those most ``wanted`` may be next."""
        missing = columns[self._places[columns] < 0]
        if len(missing):
            if len(missing) > self.most - self._held:
                self._forget()
                missing = columns
            if self._held:  # one that grows will grow further
                likely = largest(wanted, max(FEWEST_KEPT, math.ceil(AHEAD * len(columns))))
                more = np.union1d(missing, likely[self._places[likely] < 0])
                missing = more if len(more) <= self.most - self._held else missing
            self._take(missing, np.sqrt(curvatures))
        return part_of(self._matrix, self._places[columns])

    def _take(self, new: Array, roots: Array) -> None:
        places, held, matrix = self._places.copy(), self._held, self._matrix
        size = held + len(new)
        places[new] = np.arange(held, size)
        added = self._total(lambda: _gram_beside(self._rows, places, held, roots))
        added[:, held:] = both_sides(added[:, held:])
        if size > len(matrix):
            matrix = np.empty((2 * size, 2 * size)) if held else added
            matrix[:held, :held] = self._matrix[:held, :held]
        matrix[held:size, :size], matrix[:held, held:size] = added, added[:, :held].T
        self._places, self._held, self._matrix = places, size, matrix


class EntryColumns:
    """Atoms a_i = v_i e_k with one entry each, or none, on sparse rows.

    Z is a column of X for each, scaled; the columns are taken from X when they are first needed,
    unless they are those that are ``known``.
    """

    def __init__(self, atoms: Sequence[SparseAtom], known: Any = None) -> None:
        self._places = np.array([a.indices[0] if a.indices else 0 for a in atoms], dtype=int)
        self._values = np.array([a.values[0] if a.values else 0.0 for a in atoms])
        self.known = known

    @cached_property
    def _distinct(self) -> tuple[Array, Array]:
        """The columns of X, and which of them every atom has."""
        columns, among = np.unique(self._places, return_inverse=True)
        return columns, among

    def _taken(self, rows: Any) -> Any:
        columns, _ = self._distinct
        if self.known is None or not np.array_equal(self.known[0], columns):
            self.known = columns, some_columns(rows, columns)
        return self.known[1]

    def gram(self, rows: Any, curvatures: Array) -> Array:
        """Zᵀ diag(c) Z."""
        found, (_, among) = gram(self._taken(rows), curvatures), self._distinct
        return found[among[:, None], among] * np.outer(self._values, self._values)

    def predict(self, rows: Any, beta: Array) -> Array:
        """Xβ for a sum β of the atoms, from the columns where they are known."""
        if self.known is None or not np.array_equal(self.known[0], self._distinct[0]):
            return rows.matvec(beta)
        columns, taken = self.known
        return taken @ beta[columns]

    def slopes(self, d: Array) -> Array:
        """dᵀa for every atom a: Zᵀw/n, with d = Xᵀw/n."""
        return d[self._places] * self._values

    def own_slopes(self, rows: Any, w: Array) -> Array:
        """Zᵀw."""
        return (self._taken(rows).T @ w)[self._distinct[1]] * self._values

    def point(self, zero: Array, weights: Array) -> Array:
        """β = Σ_i λ_i a_i."""
        return np.bincount(self._places, weights * self._values, minlength=len(zero))


class PredictedColumns:
    """Any atoms, with their predictions Z, dense or sparse."""

    def __init__(self, atoms: Sequence[Atom], predictions: Any) -> None:
        self._atoms, self.predictions = atoms, predictions

    def changed(self, rows: Rows, kept: Array, new: Sequence[Atom]) -> PredictedColumns:
        """The columns ``kept``, followed by ``new`` ones."""
        predictions = beside(self.predictions, kept, rows.predict_at(new))
        return PredictedColumns([*(self._atoms[i] for i in kept), *new], predictions)

    def gram(self, rows: Rows, curvatures: Array) -> Array:
        """Zᵀ diag(c) Z."""
        return gram(self.predictions, curvatures)

    def predict(self, rows: Rows, beta: Any) -> Array:
        """Xβ."""
        return rows.matvec(beta)

    def own_slopes(self, rows: Rows, w: Array) -> Array:
        """Zᵀw."""
        return self.predictions.T @ w

    def point(self, zero: Any, weights: Array) -> Any:
        """β = Σ_i λ_i a_i."""
        for atom, weight in zip(self._atoms, weights, strict=True):
            if weight > 0:
                atom.add_to(zero, weight)
        return zero


def single_entries(atoms: Sequence[Atom]) -> list[SparseAtom] | None:
    """``atoms``, where every one has at most one entry."""
    single = [a for a in atoms if isinstance(a, SparseAtom) and len(a.indices) < 2]
    return single if len(single) == len(atoms) else None

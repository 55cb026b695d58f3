"""Predictions at the atoms of a hull: their Gram matrix, slopes and sums."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from rcmd.rows.atoms import Atom, SparseAtom
from rcmd.rows.base import DenseRows, Rows, dense_gram
from rcmd.rows.sparse import SomeColumns, both_sides
from rcmd.rows.validation import Array, is_sparse, sp


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


def some_columns(rows: Any, columns: Array) -> Any:
    """X in these distinct, ascending ``columns``: an array, or in compressed rows."""
    if len(columns) == rows.p and rows.as_matrix().dtype == float:
        return rows.as_matrix()  # without a copy
    if isinstance(rows, DenseRows):
        return np.asarray(rows.array[:, columns], dtype=float)
    values, where, offsets = SomeColumns(rows, columns).entries
    shape = rows.n, len(columns)
    return sp.csr_array((values[: offsets[-1]], where[: offsets[-1]], offsets), shape=shape)


class EntryColumns:
    """Atoms a_i = v_i e_k with one entry each, or none, on sparse rows.

    Z is a column of X for each, scaled; the columns are taken from X when they are first needed,
    unless they are those that are ``known``.
    """

    known: SomeColumns | None = None

    def __init__(self, atoms: Sequence[SparseAtom], known: SomeColumns | None = None) -> None:
        self._places = np.array([a.indices[0] if a.indices else 0 for a in atoms], dtype=int)
        self._values = np.array([a.values[0] if a.values else 0.0 for a in atoms])
        self.known = known

    @cached_property
    def _distinct(self) -> tuple[Array, Array]:
        """The columns of X, and which of them every atom has."""
        columns, among = np.unique(self._places, return_inverse=True)
        return columns, among

    def _taken(self, rows: Any) -> SomeColumns:
        columns, _ = self._distinct
        if self.known is None or not np.array_equal(self.known.columns, columns):
            self.known = SomeColumns(rows, columns)
        return self.known

    def gram(self, rows: Any, curvatures: Array) -> Array:
        """Zᵀ diag(c) Z."""
        found, (_, among) = self._taken(rows).gram(curvatures), self._distinct
        return found[among[:, None], among] * np.outer(self._values, self._values)

    def predict(self, rows: Any, beta: Array) -> Array:
        """Xβ for a sum β of the atoms, from the columns where they are known."""
        known = self.known
        if known is None or not np.array_equal(known.columns, self._distinct[0]):
            return rows.matvec(beta)
        return known.matvec(beta)

    def slopes(self, d: Array) -> Array:
        """dᵀa for every atom a: Zᵀw/n, with d = Xᵀw/n."""
        return d[self._places] * self._values

    def own_slopes(self, rows: Any, w: Array) -> Array:
        """Zᵀw."""
        return self._taken(rows).rmatvec(w)[self._distinct[1]] * self._values

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

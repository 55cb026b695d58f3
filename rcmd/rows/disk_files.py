"""The files of rows on disk: which entries a block or a batch needs, and the rows they make."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp

from rcmd.rows.array_files import ArrayFile
from rcmd.rows.base import Array, Rows
from rcmd.rows.dense import DenseRows
from rcmd.rows.sparse import SparseRows

BLOCK = 2**20
"""Entries read at a time, 8 to 12 MB; a longer row is a block of its own."""

LARGEST_MAPPED = 2**31 - 1
"""Entries beyond which SciPy would copy the columns into longer integers."""


class RowFiles(Protocol):
    """The files of one layout."""

    n: int
    p: int

    def lengths(self, batch: Array) -> Array:
        """Stored entries of each of these rows."""

    def block_end(self, start: int) -> int:
        """Where the block that begins with row ``start`` ends."""

    def read(self, start: int, stop: int) -> Rows:
        """The rows from ``start`` up to ``stop``."""

    def gather(self, batch: Array) -> Rows:
        """Those rows, in that order."""

    def mapped(self) -> Rows:
        """All rows, mapped into memory."""


class SparseFiles:
    """CSR rows: values and columns on disk, the n + 1 offsets in memory."""

    def __init__(self, data: ArrayFile, indices: ArrayFile, indptr: Array, p: int) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.n, self.p = len(indptr) - 1, p

    def lengths(self, batch: Array) -> Array:
        return self.indptr[batch + 1] - self.indptr[batch]

    def block_end(self, start: int) -> int:
        end = int(np.searchsorted(self.indptr, self.indptr[start] + BLOCK, side="right")) - 1
        return max(end, start + 1)

    def read(self, start: int, stop: int) -> SparseRows:
        first, last = self.indptr[start], self.indptr[stop]
        entries = self.data.read(first, last), self.indices.read(first, last)
        return self._rows(*entries, self.indptr[start : stop + 1] - first)

    def gather(self, batch: Array) -> SparseRows:
        order = np.argsort(batch, kind="stable")
        ordered = batch[order]
        offsets = np.concatenate([[0], np.cumsum(self.lengths(ordered))])
        data = np.empty(offsets[-1], dtype=self.data.dtype)
        indices = np.empty(offsets[-1], dtype=self.indices.dtype)
        for first, last in _runs(ordered):
            here, start = slice(offsets[first], offsets[last]), int(self.indptr[ordered[first]])
            self.data.fill(data[here], start)
            self.indices.fill(indices[here], start)
        rows = self._rows(data, indices, offsets)
        return rows if len(batch) == 1 else SparseRows(rows.matrix[_inverse(order)])

    def mapped(self) -> SparseRows:
        if self.data.size > LARGEST_MAPPED:
            raise ValueError(
                f"{self.data.path} holds {self.data.size:,} entries; expected at most "
                f"{LARGEST_MAPPED:,} to be mapped as one SciPy matrix: use the rows as they are"
            )
        return self._rows(self.data.mapped(), self.indices.mapped(), self.indptr)

    def _rows(self, data: Array, indices: Array, indptr: Array) -> SparseRows:
        offsets = indptr.astype(indices.dtype)  # else SciPy would copy the columns to match
        matrix = sp.csr_array((data, indices, offsets), shape=(len(indptr) - 1, self.p))
        matrix.has_canonical_format = True  # as it was written
        return SparseRows(matrix)


class DenseFiles:
    """An n × p array on disk."""

    def __init__(self, data: ArrayFile) -> None:
        self.data = data
        self.n, self.p = data.shape

    def lengths(self, batch: Array) -> Array:
        return np.full(len(batch), self.p)

    def block_end(self, start: int) -> int:
        return min(start + max(BLOCK // self.p, 1), self.n)

    def read(self, start: int, stop: int) -> DenseRows:
        return DenseRows(self.data.read(start * self.p, stop * self.p).reshape(-1, self.p))

    def gather(self, batch: Array) -> DenseRows:
        order = np.argsort(batch, kind="stable")
        ordered = batch[order]
        array = np.empty((len(batch), self.p), dtype=self.data.dtype)
        for first, last in _runs(ordered):
            self.data.fill(array[first:last], int(ordered[first]) * self.p)
        return DenseRows(array[_inverse(order)])

    def mapped(self) -> DenseRows:
        return DenseRows(self.data.mapped())


def _runs(ordered: Array) -> Iterator[tuple[int, int]]:
    """Beginnings and ends of rows that follow each other on disk, among sorted ones."""
    breaks = np.flatnonzero(np.diff(ordered) != 1) + 1
    return pairwise([0, *breaks.tolist(), len(ordered)])


def _inverse(order: Any) -> Array:
    """The permutation that undoes ``order``."""
    places = np.empty(len(order), dtype=np.intp)
    places[order] = np.arange(len(order))
    return places

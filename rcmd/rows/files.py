"""The files of rows on disk: arrays read by position, and the rows that their entries make.

Nothing is mapped into memory. A map would count every page it touches as resident, 64 KB
around each row even where a row has 3 KB, and a file cut short under it would end the process;
a read costs the same, takes what it needs and fails with a sentence.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.rows.base import Array
from rcmd.rows.dense import DenseRows
from rcmd.rows.sparse import SparseRows

BLOCK = 2**20
"""Entries read at a time, 8 to 12 MB; a longer row is a block of its own."""

LARGEST_MAPPED = 2**31 - 1
"""Entries beyond which SciPy would copy the columns into longer integers."""


class ArrayFile:
    """A C-ordered array on disk; entries count through all its axes.

    Raises
    ------
    ValueError
        Where the file is no .npy file of numbers, or does not have the length that it says.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(path)
        with open(self.path, "rb") as file:
            version = np.lib.format.read_magic(file)
            read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                version, np.lib.format.read_array_header_2_0
            )
            self.shape, fortran, self.dtype = read(file)
            self._start = file.tell()
        if fortran or self.dtype.kind not in "iuf":
            raise ValueError(f"{self.path} is no C-ordered array of numbers")
        self.size = int(np.prod(self.shape, dtype=object))
        self.bytes = self._start + self.size * self.dtype.itemsize
        found = os.path.getsize(self.path)
        if found != self.bytes:
            raise ValueError(f"{self.path} has {found:,} bytes; expected {self.bytes:,}")
        self._descriptor = os.open(self.path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._descriptor)

    def __reduce__(self) -> Any:
        return ArrayFile, (self.path,)

    def read(self, start: int, stop: int) -> Array:
        """The entries from ``start`` up to ``stop``."""
        entries = np.empty(stop - start, dtype=self.dtype)
        self.fill(entries, start)
        return entries

    def fill(self, target: Array, start: int) -> None:
        """Read as many entries as ``target`` has, from ``start`` on."""
        if not target.size:
            return
        left = target.data.cast("B")
        place = self._start + start * self.dtype.itemsize
        while left:
            count = os.preadv(self._descriptor, [left], place)
            if count == 0:
                raise OSError(
                    f"{self.path} ends at byte {place:,}; expected {self.bytes:,} bytes, which it "
                    "had when it was opened: it was cut short since"
                )
            left, place = left[count:], place + count

    def mapped(self) -> Array:
        """The array, mapped into memory."""
        mapped: Array = np.load(self.path, mmap_mode="r")
        return mapped


class SparseFiles:
    """CSR rows: values and columns on disk, the n + 1 offsets in memory."""

    def __init__(self, data: ArrayFile, indices: ArrayFile, indptr: Array, p: int) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.n, self.p = len(indptr) - 1, p

    def lengths(self, batch: Array) -> Array:
        """Stored entries of each of these rows."""
        return self.indptr[batch + 1] - self.indptr[batch]

    def block_end(self, start: int) -> int:
        """Where the block that begins with row ``start`` ends."""
        end = int(np.searchsorted(self.indptr, self.indptr[start] + BLOCK, side="right")) - 1
        return max(end, start + 1)

    def read(self, start: int, stop: int) -> SparseRows:
        """The rows from ``start`` up to ``stop``."""
        first, last = self.indptr[start], self.indptr[stop]
        entries = self.data.read(first, last), self.indices.read(first, last)
        return self._rows(*entries, self.indptr[start : stop + 1] - first)

    def gather(self, batch: Array) -> SparseRows:
        """Those rows, in that order."""
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
        return rows if len(batch) == 1 else SparseRows(rows.matrix[np.argsort(order)])

    def mapped(self) -> SparseRows:
        """All rows, mapped into memory."""
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
    """An n × p array on disk, with the methods of ``SparseFiles``."""

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
        return DenseRows(array[np.argsort(order)])

    def mapped(self) -> DenseRows:
        return DenseRows(self.data.mapped())


RowFiles = SparseFiles | DenseFiles


def _runs(ordered: Array) -> Iterator[tuple[int, int]]:
    """Beginnings and ends of rows that follow each other on disk, among sorted ones."""
    breaks = np.flatnonzero(np.diff(ordered) != 1) + 1
    return pairwise([0, *breaks.tolist(), len(ordered)])

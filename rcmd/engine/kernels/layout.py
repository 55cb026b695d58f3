"""The rows x_j as compiled code sees them.

A rows tuple is ``(values, width)`` for dense rows (``values`` the flattened C-ordered
matrix) and ``(values, columns, offsets)`` for CSR rows with sorted columns and no
duplicates. Kernels walk a row the same way in both:

    base = row_start(rows, j)
    for t in range(row_length(rows, j)):
        k, x = column(rows, base, t), value(rows, base, t)

Indices are unsigned: numba then leaves out the test for negative ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numba.extending import overload

from rcmd.compiling.instructions import lowest_bit, match_16, prefetch
from rcmd.rows import DenseRows, Rows, SparseRows

FAST_SUM = {"reassoc", "contract", "nsz"}  # lets a dot product run in vector registers
CACHE_LINE = 64
BLOCK = np.uint64(16)
LEADING = np.uint64(128)  # entries of a row to ask for; the hardware foresees the rest


def rows_tuple(rows: Rows) -> tuple[Any, ...] | None:
    """The tuple of dense or CSR rows, without a copy of the data; ``None`` for others."""
    if isinstance(rows, SparseRows):
        values, columns = _readable(rows.matrix.data), _readable(rows.matrix.indices)
        unsigned = np.uint32 if columns.dtype.itemsize == 4 else np.uint64
        return values, columns.view(unsigned), rows.matrix.indptr.astype(np.uint64)
    if isinstance(rows, DenseRows) and not rows.exact:
        return rows.array.reshape(-1), np.uint64(rows.p)
    return None


def _readable(array: Any) -> Any:
    """The array, contiguous, and lengthened where it is too short to read a block from."""
    array = np.ascontiguousarray(array)
    return array if array.size >= BLOCK else np.pad(array, (0, int(BLOCK) - array.size))


@njit(fastmath=FAST_SUM)
def add(total, term):
    """``total + term``, in whatever order lets the loop around it vectorise."""
    return total + term


def is_dense(rows):
    """Whether a numba tuple type is that of dense rows."""
    return len(rows.types) == 2


def row_start(rows, j):
    """Position of row j's first entry."""


def row_length(rows, j):
    """Number of stored entries of row j."""


def column(rows, base, t):
    """Column of the t-th stored entry of the row that starts at ``base``."""


def value(rows, base, t):
    """Value of that entry, as a double."""


def entry(rows, j, k):
    """x_jk, zero where it is not stored."""


def prefetch_offset(rows, j):
    """Ask for the place of row j."""


def prefetch_row(rows, j):
    """Ask for row j's entries before they are needed."""


@overload(row_start, inline="always")
def _row_start(rows, j):
    if is_dense(rows):
        return lambda rows, j: np.uint64(j) * rows[1]
    return lambda rows, j: rows[2][j]


@overload(row_length, inline="always")
def _row_length(rows, j):
    if is_dense(rows):
        return lambda rows, j: rows[1]
    return lambda rows, j: rows[2][j + np.uint64(1)] - rows[2][j]


@overload(column, inline="always")
def _column(rows, base, t):
    if is_dense(rows):
        return lambda rows, base, t: np.uint64(t)
    return lambda rows, base, t: rows[1][base + np.uint64(t)]


@overload(value, inline="always")
def _value(rows, base, t):
    return lambda rows, base, t: np.float64(rows[0][base + np.uint64(t)])


@overload(entry)
def _entry(rows, j, k):
    if is_dense(rows):
        return lambda rows, j, k: np.float64(rows[0][np.uint64(j) * rows[1] + k])
    return _search_entry


def _search_entry(rows, j, k):
    """Halve the row down to 16 entries, then compare them all at once."""
    values, columns, offsets = rows
    low, high = offsets[j], offsets[j + np.uint64(1)]
    while high - low > BLOCK:
        middle = (low + high) >> np.uint64(1)
        if columns[middle] <= k:
            low = middle
        else:
            high = middle
    start = min(low, np.uint64(columns.size) - BLOCK)  # the block stays inside the array
    inside = ((np.uint64(1) << (high - start)) - np.uint64(1)) >> (low - start) << (low - start)
    found = match_16(columns, start, k) & inside
    if found == 0:
        return 0.0
    return np.float64(values[start + lowest_bit(found)])


@overload(prefetch_offset)
def _prefetch_offset(rows, j):
    if is_dense(rows):
        return lambda rows, j: None
    return lambda rows, j: prefetch(rows[2], j * np.uint64(8))


@overload(prefetch_row)
def _prefetch_row(rows, j):
    if is_dense(rows):
        return lambda rows, j: None  # long contiguous rows: the hardware does it
    return _prefetch_csr


def _prefetch_csr(rows, j):
    values, columns, offsets = rows
    first, last = offsets[j], offsets[j + np.uint64(1)]
    last = min(last, first + LEADING)
    for line in range(first * columns.itemsize, last * columns.itemsize, CACHE_LINE):
        prefetch(columns, np.uint64(line))
    for line in range(first * values.itemsize, last * values.itemsize, CACHE_LINE):
        prefetch(values, np.uint64(line))

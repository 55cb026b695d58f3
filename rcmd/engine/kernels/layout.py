"""Rows and samples as compiled code sees them.

A rows tuple is ``(values, width)`` for dense rows (``values`` the flattened C-ordered
matrix) and ``(values, columns, offsets)`` for CSR rows with sorted columns and no
duplicates. Kernels walk a row the same way in both:

    base = row_start(rows, j)
    for t in range(row_length(rows, j)):
        k, x = column(rows, base, t), value(rows, base, t)

Indices are unsigned: numba then leaves out the test for negative ones.

A sample is a record of four doubles. A step reads and writes all that belongs to a sample, so
it lies in one half of a cache line: at n = 10⁶ a step waits for one miss, not four. Dual
variables are those of the unweighted loss; weights enter with the gain ω_j/n.
"""

from typing import Any

import numpy as np
from numba import njit

from rcmd.jit.caching import kernel
from rcmd.jit.instructions import (
    by_type,
    call_scalar,
    call_step,
    lowest_bit,
    match_16,
    prefetch,
    prefetch_address,
)
from rcmd.rows import DenseRows, Rows, SparseRows

FAST_SUM = {"reassoc", "contract", "nsz"}  # lets a dot product run in vector registers
CACHE_LINE = 64
BLOCK = np.uint64(16)
LEADING = np.uint64(128)  # entries of a row to ask for; the hardware foresees the rest

MIRROR, DUAL, LABEL, LAG = 0, 1, 2, 3  # s_j, w_j = l'(s_j), y_j, Σ_i C_i (w^{i+1} − w^i)_j
RECORD_BYTES = np.uint64(32)

# How many samples ahead a record is asked of the memory, and then its row: worth a factor
# 1.4 to 1.9 where the data do not fit the second-level cache.
RECORD_AHEAD, ROW_AHEAD = np.uint64(8), np.uint64(4)

# ---- rows --------------------------------------------------------------------------------------


def rows_tuple(rows: Rows) -> tuple[Any, ...] | None:
    """The tuple of dense or CSR rows, without a copy of the data; ``None`` for others.

    A subclass is another: its products need not be those of the array it holds. Data are locked,
    as mapped ones are: to numba that is another type, and all kernels would be compiled for both.
    """
    if isinstance(rows, SparseRows) and rows.compilable:
        values, columns = _readable(rows.matrix.data), _readable(rows.matrix.indices)
        unsigned = np.uint32 if columns.dtype.itemsize == 4 else np.uint64
        return values, columns.view(unsigned), rows.matrix.indptr.astype(np.uint64)
    if isinstance(rows, DenseRows) and rows.compilable:
        return _locked(rows.array.reshape(-1)), np.uint64(rows.p)
    return None


def _readable(array: Any) -> Any:
    """The array, contiguous, and lengthened where it is too short to read a block from."""
    array = np.ascontiguousarray(array)
    return _locked(array if array.size >= BLOCK else np.pad(array, (0, int(BLOCK) - array.size)))


def _locked(array: Any) -> Any:
    view = array.view()
    view.setflags(write=False)
    return view


@njit(fastmath=FAST_SUM)
def add(total, term):
    """``total + term``, in whatever order lets the loop around it vectorise."""
    return total + term


def is_dense(rows):
    """Whether a numba tuple type is that of dense rows."""
    return len(rows.types) == 2


@by_type(inline="always")
def row_start(rows, j):
    """Position of row j's first entry."""
    if is_dense(rows):
        return lambda rows, j: np.uint64(j) * rows[1]
    return lambda rows, j: rows[2][j]


@by_type(inline="always")
def row_length(rows, j):
    """Number of stored entries of row j."""
    if is_dense(rows):
        return lambda rows, j: rows[1]
    return lambda rows, j: rows[2][j + np.uint64(1)] - rows[2][j]


@by_type(inline="always")
def column(rows, base, t):
    """Column of the t-th stored entry of the row that starts at ``base``."""
    if is_dense(rows):
        return lambda rows, base, t: np.uint64(t)
    return lambda rows, base, t: rows[1][base + np.uint64(t)]


@by_type(inline="always")
def value(rows, base, t):
    """Value of that entry, as a double."""
    return lambda rows, base, t: np.float64(rows[0][base + np.uint64(t)])


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


@by_type()
def entry(rows, j, k):
    """x_jk, zero where it is not stored."""
    if is_dense(rows):
        return lambda rows, j, k: np.float64(rows[0][np.uint64(j) * rows[1] + k])
    return _search_entry


@by_type()
def prefetch_offset(rows, j):
    """Ask for the place of row j."""
    if is_dense(rows):
        return lambda rows, j: None
    return lambda rows, j: prefetch(rows[2], j * np.uint64(8))


def _prefetch_csr(rows, j):
    values, columns, offsets = rows
    first, last = offsets[j], offsets[j + np.uint64(1)]
    last = min(last, first + LEADING)
    for line in range(first * columns.itemsize, last * columns.itemsize, CACHE_LINE):
        prefetch(columns, np.uint64(line))
    for line in range(first * values.itemsize, last * values.itemsize, CACHE_LINE):
        prefetch(values, np.uint64(line))


@by_type()
def prefetch_row(rows, j):
    """Ask for row j's entries before they are needed."""
    if is_dense(rows):
        return lambda rows, j: None  # long contiguous rows: the hardware does it
    return _prefetch_csr


@njit(error_model="numpy", inline="always")
def scatter(rows, j, pull, d):
    """``d += pull · x_j``."""
    base = row_start(rows, j)
    for t in range(row_length(rows, j)):
        d[column(rows, base, t)] += pull * value(rows, base, t)


# ---- samples -----------------------------------------------------------------------------------


def new_samples(s: Any, w: Any, y: Any) -> Any:
    """The records of a run that starts at ``s``, with ``w`` = l'(s), from a cache line on."""
    raw = np.zeros(4 * len(y) + 7)
    skip = (-raw.ctypes.data % CACHE_LINE) // 8
    samples = raw[skip : skip + 4 * len(y)].reshape(-1, 4)
    samples[:, MIRROR], samples[:, DUAL], samples[:, LABEL] = s, w, y
    return samples


@njit(error_model="numpy", inline="always")
def look_ahead(rows, samples, functions, order, position):
    """Ask for what the samples after ``order[position]`` will need."""
    last = np.uint64(order.size - 1)
    soon = np.uint64(order[min(position + RECORD_AHEAD, last)])
    prefetch(samples, soon * RECORD_BYTES)
    prefetch_address(functions[4] + np.int64(soon) * functions[5])
    prefetch_offset(rows, soon)
    prefetch_row(rows, np.uint64(order[min(position + ROW_AHEAD, last)]))


@njit(error_model="numpy", inline="always")
def mirror_step(samples, j, prediction, eta, cumulative, functions):
    """The mirror step at sample j towards ``prediction``; returns the change of w_j.

    ``functions`` are the addresses (derivative, its θ, step, its θ), and where the derivative's
    table of samples is and how many bytes a row of it has: with 0 for ``step`` the
    prox is the conjugate one, s_j ← s_j + η (prediction − s_j); any other is called. Then
    w_j ← l'(s_j, y_j) and lag_j grows by C times the change of w_j.
    """
    derivative, theta, step, step_theta = functions[:4]
    s, y = samples[j, MIRROR], samples[j, LABEL]
    gap = prediction - s
    if step == 0:
        s += eta * gap
    else:
        s = call_step(step, step_theta, s, gap, eta, y, np.float64(j))
    w = call_scalar(derivative, theta, s, y, 0.0)
    change = w - samples[j, DUAL]
    samples[j, MIRROR] = s
    samples[j, DUAL] = w
    samples[j, LAG] += cumulative * change
    return change


@kernel
def substitute_gradient(rows, samples, gain, gain_mask, d):
    """``d = Σ_j gain_j w_j x_j`` from scratch: what the running d must be."""
    d[:] = 0.0
    for j in range(np.uint64(samples.shape[0])):
        scatter(rows, j, gain[j & gain_mask] * samples[j, DUAL], d)

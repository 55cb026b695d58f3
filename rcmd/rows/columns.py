"""Rows cut to some of their columns, and rows with a column of ones."""

from __future__ import annotations

from functools import partial

import numpy as np
import scipy.sparse as sp

from rcmd.rows.base import Rows
from rcmd.rows.dense import DenseRows
from rcmd.rows.disk import DiskRows
from rcmd.rows.sparse import SparseRows


def cut(rows: Rows, start: int, stop: int) -> Rows:
    """The columns from ``start`` up to ``stop``: of an array as a view, else as a copy."""
    if isinstance(rows, DenseRows):
        return DenseRows(rows.array[:, start:stop])
    if isinstance(rows, SparseRows):
        return SparseRows(rows.matrix[:, start:stop])
    if isinstance(rows, DiskRows):
        return rows.changed(partial(cut, start=start, stop=stop), stop - start)
    return DenseRows(np.array([rows.row(j)[start:stop] for j in range(rows.n)]))


def with_ones(rows: Rows) -> Rows:
    """``rows`` and a last column of ones, in the same layout and number type: one copy."""
    if isinstance(rows, DenseRows):
        ones = np.ones((rows.n, 1), dtype=rows.array.dtype)
        if rows.exact:
            ones = ones + 0 * rows.array[:, :1]
        return DenseRows(np.hstack([rows.array, ones]))
    if isinstance(rows, SparseRows):
        ones = sp.csr_array(np.ones((rows.n, 1), dtype=rows.matrix.dtype))
        return SparseRows(sp.hstack([rows.matrix, ones], format="csr"))
    if isinstance(rows, DiskRows):
        return rows.changed(with_ones, rows.p + 1)
    raise ValueError(
        f"intercept is given while X is {type(rows).__name__}, to which no column can be "
        "appended; expected an array or a sparse matrix: give X with a column of ones, and "
        "Product((oracle, L1Ball(radius)), (p, 1)) as its oracle"
    )

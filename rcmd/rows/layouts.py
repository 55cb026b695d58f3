"""The layout that fits what a user brings, checked once; and rows made of other rows."""

from functools import partial
from numbers import Real
from typing import Any

import numpy as np

from rcmd.rows.base import DenseRows, Rows
from rcmd.rows.disk import DiskRows
from rcmd.rows.operator import OperatorRows
from rcmd.rows.sparse import SparseRows
from rcmd.rows.validation import Array, as_array, as_doubles, checked_numbers, is_sparse, sp


def as_rows(X: Any) -> Rows:
    """The layout that fits ``X``, or a ``ValueError`` that says what is wrong with it.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> type(as_rows([[1.0, 2.0]])).__name__, type(as_rows(sp.eye_array(3))).__name__
    ('DenseRows', 'SparseRows')
    """
    if isinstance(X, Rows):
        return X
    if hasattr(X, "collect_schema") and not hasattr(X, "__array__"):
        raise ValueError(
            f"X is a {type(X).__name__}, whose numbers are not there yet; expected a data frame: "
            "X.collect()"
        )
    if hasattr(X, "matvec") and hasattr(X, "rmatvec"):  # a LinearOperator, not imported for this
        return OperatorRows(X)
    rows = _checked_sparse(X) if is_sparse(X) else _checked_dense(X)
    if rows.n == 0 or rows.p == 0:
        raise ValueError(
            f"X has shape ({rows.n}, {rows.p}); expected at least one row and one column"
        )
    return rows


def columns_of(X: Any) -> tuple[str, ...] | None:
    """The names of the columns of a data frame, from pandas, polars or Arrow; else ``None``."""
    if isinstance(X, Rows) or not hasattr(X, "__array__"):
        return None
    named = next((a for a in ("column_names", "columns") if hasattr(X, a)), None)
    return None if named is None else tuple(map(str, getattr(X, named)))


def numbers_of(X: Any, columns: tuple[str, ...]) -> Array:
    """The numbers of a data frame; an entry that is none is told by its column."""
    array = as_array("X", X)
    if array.dtype.kind in "biuf":
        return array
    for name, column in zip(columns, array.T, strict=True):
        odd = next((entry for entry in column if not isinstance(entry, Real)), None)
        if odd is not None or any(entry is None for entry in column):
            raise ValueError(
                f"X holds {odd!r} in its column {name!r}; expected numbers: drop the column or the "
                "rows, or encode it, with a column of 0 and 1 for each of its values"
            )
    return array.astype(float)


def _checked_dense(X: Any) -> DenseRows:
    array = as_array("X", X)
    if array.ndim == 0:
        shown = f"{X!r} " if isinstance(X, str) else ""
        raise ValueError(
            f"X has 0 dimensions, as it is {shown}of type {type(X).__name__}; expected a matrix "
            "with one row per sample, an array or sparse: rcmd.datasets reads files"
        )
    if array.ndim != 2:
        way = "X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample"
        if array.ndim > 2:
            way = "X.reshape(len(X), -1), if X[j] is sample j"
        raise ValueError(
            f"X has {array.ndim} dimension(s), shape {array.shape}; expected a matrix with one "
            f"row per sample: use {way}"
        )
    if array.dtype in (np.float32, np.float64) and array.size:
        rows = DenseRows(np.ascontiguousarray(array))
        # The span shows NaN and infinity alike, and is needed again later.
        if np.isfinite(rows.span).all():
            return rows
    array = checked_numbers("X", array)
    if array.dtype not in (np.float32, np.float64, object):
        array = as_doubles("X", array)
    return DenseRows(np.ascontiguousarray(array))


def _checked_sparse(X: Any) -> SparseRows:
    if X.ndim != 2:
        raise ValueError(f"X is a sparse array of {X.ndim} dimension(s); expected a matrix")
    matrix = X.tocsr()
    _refuse_stray_indices(matrix)
    rows, as_it_is = SparseRows(matrix), matrix.dtype in (np.float32, np.float64)
    # The span shows NaN and infinity alike, and is needed again later.
    if as_it_is and matrix.has_canonical_format and np.isfinite(rows.span).all():
        return rows
    checked_numbers("X", matrix.data, csr=matrix)
    if not as_it_is:
        as_doubles("X", matrix.data, csr=matrix)
        matrix = matrix.astype(float)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
        checked_numbers("X with its duplicate entries summed", matrix.data, csr=matrix)
    return SparseRows(matrix)


def _refuse_stray_indices(matrix: Any) -> None:
    """SciPy does not look at the indices it is given, and kernels would read beyond an array."""
    n, p = matrix.shape
    starts, columns = matrix.indptr, matrix.indices
    for name, array in (("indptr", starts), ("indices", columns)):
        if array.dtype not in (np.int32, np.int64) or array.ndim != 1:
            raise ValueError(
                f"X.{name} is an array of {array.dtype} and shape {array.shape}; expected int32 or "
                "int64, and one dimension"
            )
    if len(starts) != n + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise ValueError("X.indptr does not begin with 0 and increase; expected n + 1 row starts")
    if starts[-1] > min(len(columns), len(matrix.data)):
        raise ValueError(
            f"X.indptr ends with {starts[-1]} while X has {len(columns)} indices and "
            f"{len(matrix.data)} values; expected that many of both"
        )
    used = columns[: starts[-1]]
    if used.size and not (used.min() >= 0 and used.max() < p):
        stray = used.min() if used.min() < 0 else used.max()
        raise ValueError(f"X has an entry in column {stray}; expected columns from 0 to {p - 1}")


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


class InnerRows(Rows):
    """``factor``·X. Among other variables (not ``alone``), slopes Xᵀw are unknown.

    A regularizer that chooses its own radius may bound it by the slope at a given
    prediction, which in truth the other variables move. Here that slope is infinite, so that
    it bounds nothing.
    """

    def __init__(self, rows: Rows, factor: Any = 1, *, alone: bool = True) -> None:
        self.rows, self.factor, self.alone = rows, factor, alone
        self.n, self.p = rows.n, rows.p

    @property
    def number_type(self) -> Any:
        return self.rows.number_type

    def matvec(self, beta: Array) -> Array:
        return self.factor * self.rows.matvec(beta)

    def rmatvec(self, w: Array) -> Array:
        return self.factor * self.rows.rmatvec(w) if self.alone else np.full(self.p, np.inf)

    def row(self, j: int) -> Array:
        return self.factor * self.rows.row(j)

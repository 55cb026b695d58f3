"""The layout that fits what a user brings, checked once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.rows.base import Array, Rows
from rcmd.rows.dense import DenseRows
from rcmd.rows.operator import OperatorRows
from rcmd.rows.sparse import SparseRows
from rcmd.validation import as_array, as_doubles, checked_numbers


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
    if hasattr(X, "matvec") and hasattr(X, "rmatvec"):  # a LinearOperator, not imported for this
        return OperatorRows(X)
    rows = _checked_sparse(X) if sp.issparse(X) else DenseRows(_checked_dense(X))
    if rows.n == 0 or rows.p == 0:
        raise ValueError(
            f"X has shape ({rows.n}, {rows.p}); expected at least one row and one column"
        )
    return rows


def _checked_dense(X: Any) -> Array:
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
    array = checked_numbers("X", array)
    if array.dtype not in (np.float32, np.float64, object):
        array = as_doubles("X", array)
    return np.ascontiguousarray(array)


def _checked_sparse(X: Any) -> SparseRows:
    if X.ndim != 2:
        raise ValueError(f"X is a sparse array of {X.ndim} dimension(s); expected a matrix")
    matrix = X.tocsr()
    rows, as_it_is = SparseRows(matrix), matrix.dtype in (np.float32, np.float64)
    # Extremes tell of NaN and infinity alike, and the rows are asked for them later.
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

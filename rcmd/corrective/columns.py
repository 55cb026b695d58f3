"""Predictions at atoms as columns, dense or sparse: some of them kept, others put beside."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

Array = npt.NDArray[Any]


def beside(left: Any, kept: Array, right: Any) -> Any:
    """The columns ``kept`` of ``left``, and then those of ``right``; sparse where both are."""
    if sp.issparse(left) and sp.issparse(right):
        return _joined(left, kept, right)
    return np.hstack([_dense(left)[:, kept], _dense(right)])


def _joined(left: Any, kept: Array, right: Any) -> Any:
    from rcmd.engine.kernels.columns import count, join

    places = np.full(left.shape[1], -1, dtype=left.indices.dtype)
    places[kept] = np.arange(len(kept))
    size = count(left.indices, places) + right.nnz
    values, columns = np.empty(size + 1), np.empty(size + 1, dtype=left.indices.dtype)
    offsets = np.zeros(len(left.indptr), dtype=left.indptr.dtype)
    parts = ((part.data, part.indices, part.indptr) for part in (left, right))
    join(*parts, places, places.dtype.type(len(kept)), values, columns, offsets)
    shape = (left.shape[0], len(kept) + right.shape[1])
    return sp.csr_array((values[:size], columns[:size], offsets), shape=shape)


def _dense(columns: Any) -> Array:
    return columns.toarray() if sp.issparse(columns) else columns

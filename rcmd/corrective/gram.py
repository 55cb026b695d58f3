"""Zᵀ diag(c) Z of the predictions at a few atoms, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rcmd.heeding import heed
from rcmd.rows.base import BLOCK_ENTRIES

Array = npt.NDArray[Any]


def gram(columns: Any, curvatures: Array) -> Array:
    """Zᵀ diag(c) Z for c ≥ 0."""
    if sp.issparse(columns):
        from rcmd.engine.kernels.gram import sparse_gram

        total = np.zeros((columns.shape[1],) * 2)
        sparse_gram(columns.data, columns.indices, columns.indptr, curvatures, total)
        return total + total.T - np.diag(np.diag(total))
    return _dense_gram(columns, np.sqrt(curvatures))


def _dense_gram(columns: Array, roots: Array) -> Array:
    """In blocks of rows that stay in the cache while they are scaled and multiplied."""
    n, m = columns.shape
    total, height = np.zeros((m, m)), max(1, 16 * BLOCK_ENTRIES // m)
    for start in range(0, n, height):
        heed()
        block = columns[start : start + height] * roots[start : start + height, None]
        total += block.T @ block
    return total

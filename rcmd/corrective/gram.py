"""Zᵀ diag(c) Z of the predictions at a few atoms, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rcmd.rows.dense import dense_gram
from rcmd.rows.sparse import both_sides

Array = npt.NDArray[Any]


def gram(columns: Any, curvatures: Array) -> Array:
    """Zᵀ diag(c) Z for c ≥ 0."""
    if sp.issparse(columns):
        from rcmd.engine.kernels.gram import sparse_gram

        total = np.zeros((columns.shape[1],) * 2)
        sparse_gram(columns.data, columns.indices, columns.indptr, curvatures, total)
        return both_sides(total)
    return dense_gram(columns, np.sqrt(curvatures))

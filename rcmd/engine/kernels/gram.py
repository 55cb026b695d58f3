"""The Gram matrix of sparse columns, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.compiling.caching import kernel


def _make_sparse_gram(stamp: str) -> Any:
    def sparse_gram(values, columns, offsets, curvatures, total):
        """``total += Σ_j c_j z_j z_jᵀ``, each pair of columns on one side of the diagonal."""
        stamp
        one = np.uint64(1)  # unsigned places spare the tests for negative ones
        for j in range(np.uint64(offsets.size - 1)):
            start = np.uint64(offsets[j])
            for a in range(start, np.uint64(offsets[j + one])):
                scaled, row = curvatures[j] * values[a], total[np.uint64(columns[a])]
                for b in range(start, a + one):
                    row[np.uint64(columns[b])] += scaled * values[b]

    return sparse_gram


sparse_gram = kernel(_make_sparse_gram)

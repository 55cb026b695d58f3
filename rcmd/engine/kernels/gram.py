"""The Gram matrix of sparse columns, row by row."""

from __future__ import annotations

from typing import Any

from rcmd.compiling.caching import kernel


def _make_sparse_gram(stamp: str) -> Any:
    def sparse_gram(values, columns, offsets, curvatures, total):
        """``total += Σ_j c_j z_j z_jᵀ``, each pair of columns on one side of the diagonal."""
        stamp
        for j in range(offsets.size - 1):
            for a in range(offsets[j], offsets[j + 1]):
                scaled = curvatures[j] * values[a]
                for b in range(offsets[j], a + 1):
                    total[columns[a], columns[b]] += scaled * values[b]

    return sparse_gram


sparse_gram = kernel(_make_sparse_gram)

"""Compiled gradients of batches, for methods that evaluate predictions at β itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.compiling.caching import kernel
from rcmd.compiling.instructions import call_scalar
from rcmd.engine.kernels.layout import add, column, prefetch_row, row_length, row_start, value
from rcmd.engine.kernels.samples import ROW_AHEAD, scatter


def _make_batch_derivatives(stamp: str) -> Any:
    def batch_derivatives(rows, batch, beta, labels, law, out):
        """``out[t]`` = l'(x_jᵀβ; y_j) for the t-th row j of ``batch``."""
        stamp
        last = np.uint64(batch.size - 1)
        for t in range(np.uint64(batch.size)):
            j = np.uint64(batch[t])
            prefetch_row(rows, np.uint64(batch[min(t + ROW_AHEAD, last)]))
            base, total = row_start(rows, j), 0.0
            for e in range(row_length(rows, j)):
                total = add(total, value(rows, base, e) * beta[column(rows, base, e)])
            out[t] = call_scalar(law[0], law[1], total, labels[j], 0.0)

    return batch_derivatives


def _make_scatter_batch(stamp: str) -> Any:
    def scatter_batch(rows, batch, coefficients, total):
        """``total += Σ_t coefficients[t] · x_j``, j the t-th row of ``batch``."""
        stamp
        for t in range(batch.size):
            scatter(rows, np.uint64(batch[t]), coefficients[t], total)

    return scatter_batch


batch_derivatives = kernel(_make_batch_derivatives)
scatter_batch = kernel(_make_scatter_batch)

"""The compiled half of a step whose oracle is called from Python."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.compiling.caching import kernel
from rcmd.engine.kernels.layout import add, column, entry, row_length, row_start, value
from rcmd.engine.kernels.samples import look_ahead, move, scatter


def _make_step_batch(stamp: str) -> Any:
    def step_batch(rows, batch, predictions, eta, cumulative, samples, gain, gain_mask, law, d):
        """One step: move the samples of ``batch`` towards ``predictions``, and d with them.

        ``eta`` and ``cumulative`` are this step's numbers; the rest,
        and what it returns, as in ``vertex.run_vertex``.
        """
        stamp
        health = 0.0
        for t in range(np.uint64(batch.size)):
            j = np.uint64(batch[t])
            look_ahead(rows, samples, batch, t)
            change = move(samples, j, predictions[t], eta, cumulative, law)
            health += change
            scatter(rows, j, gain[j & gain_mask] * change, d)
        return health

    return step_batch


def _make_predict_dense(stamp: str) -> Any:
    def predict_dense(rows, batch, atom, out):
        """``out[t] = x_jᵀ atom`` for the t-th row j of ``batch``."""
        stamp
        for t in range(batch.size):
            j = np.uint64(batch[t])
            base, total = row_start(rows, j), 0.0
            for e in range(row_length(rows, j)):
                total = add(total, value(rows, base, e) * atom[column(rows, base, e)])
            out[t] = total

    return predict_dense


def _make_predict_pairs(stamp: str) -> Any:
    def predict_pairs(rows, batch, indices, values, out):
        """The same for an atom given by few (index, value) pairs."""
        stamp
        for t in range(batch.size):
            total = 0.0
            for e in range(indices.size):
                total += values[e] * entry(rows, np.uint64(batch[t]), np.uint64(indices[e]))
            out[t] = total

    return predict_pairs


step_batch = kernel(_make_step_batch)
predict_dense = kernel(_make_predict_dense)
predict_pairs = kernel(_make_predict_pairs)

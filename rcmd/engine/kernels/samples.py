"""What the engine remembers of the samples: one record of four doubles each.

A step reads and writes all that belongs to a sample, so it lies in one half of a cache
line: at n = 10⁶ a step waits for one miss, not four. Dual variables are those of the
unweighted loss; weights enter with the gain ω_j/n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rcmd.compiling.caching import kernel
from rcmd.compiling.instructions import call_scalar, call_step, prefetch
from rcmd.engine.kernels.layout import (
    column,
    prefetch_offset,
    prefetch_row,
    row_length,
    row_start,
    value,
)

MIRROR, DUAL, LABEL, LAG = 0, 1, 2, 3  # s_j, w_j = l'(s_j), y_j, Σ_i C_i (w^{i+1} − w^i)_j
RECORD_BYTES = np.uint64(32)

# How many samples ahead a record is asked of the memory, and then its row: worth a factor
# 1.4 to 1.9 where the data do not fit the second-level cache.
RECORD_AHEAD, ROW_AHEAD = np.uint64(8), np.uint64(4)


def aligned_zeros(shape: tuple[int, ...]) -> Any:
    """Zeros that start on a cache line."""
    size = int(np.prod(shape))
    raw = np.zeros(size + 7)
    skip = (-raw.ctypes.data % 64) // 8
    return raw[skip : skip + size].reshape(shape)


def new_samples(s: Any, w: Any, y: Any) -> Any:
    """The records of a run that starts at ``s``, with ``w`` = l'(s)."""
    samples = aligned_zeros((len(y), 4))
    samples[:, MIRROR] = s
    samples[:, DUAL] = w
    samples[:, LABEL] = y
    return samples


@njit(error_model="numpy", inline="always")
def look_ahead(rows, samples, order, position):
    """Ask for what the samples after ``order[position]`` will need."""
    last = np.uint64(order.size - 1)
    soon = np.uint64(order[min(position + RECORD_AHEAD, last)])
    prefetch(samples, soon * RECORD_BYTES)
    prefetch_offset(rows, soon)
    prefetch_row(rows, np.uint64(order[min(position + ROW_AHEAD, last)]))


@njit(error_model="numpy", inline="always")
def move(samples, j, prediction, eta, cumulative, law):
    """The mirror step at sample j towards ``prediction``; returns the change of w_j.

    ``law`` is (derivative, its θ, step, its θ): with the address 0 for ``step`` the prox is
    the conjugate one, s_j ← s_j + η (prediction − s_j); any other prox is called. Then
    w_j ← l'(s_j, y_j) and lag_j grows by C times the change of w_j.
    """
    derivative, theta, step, step_theta = law
    s, y = samples[j, MIRROR], samples[j, LABEL]
    gap = prediction - s
    if step == 0:
        s += eta * gap
    else:
        s = call_step(step, step_theta, s, gap, eta, y, np.float64(j))
    w = call_scalar(derivative, theta, s, y, 0.0)
    change = w - samples[j, DUAL]
    samples[j, MIRROR] = s
    samples[j, DUAL] = w
    samples[j, LAG] += cumulative * change
    return change


@njit(error_model="numpy", inline="always")
def scatter(rows, j, pull, d):
    """``d += pull · x_j``."""
    base = row_start(rows, j)
    for t in range(row_length(rows, j)):
        d[column(rows, base, t)] += pull * value(rows, base, t)


def _make_substitute_gradient(stamp: str) -> Any:
    def substitute_gradient(rows, samples, gain, gain_mask, d):
        """``d = Σ_j gain_j w_j x_j`` from scratch: what the running d must be."""
        stamp
        d[:] = 0.0
        for j in range(np.uint64(samples.shape[0])):
            scatter(rows, j, gain[j & gain_mask] * samples[j, DUAL], d)

    return substitute_gradient


substitute_gradient = kernel(_make_substitute_gradient)

"""Parts of steps that are driven from Python: where an oracle is called between them, where a
method evaluates predictions at β itself, and where rows are spread over several processes.

In the last, ``mine`` are the rows of the batch that this process has, by their place among its
own rows and in the order of the batch.
"""

import numpy as np
from numba import njit

from rcmd.engine.kernels.layout import (
    ROW_AHEAD,
    add,
    column,
    entry,
    look_ahead,
    mirror_step,
    prefetch_row,
    row_length,
    row_start,
    scatter,
    value,
)
from rcmd.engine.sampling import fill_with_subsets
from rcmd.jit.caching import kernel
from rcmd.jit.instructions import call_scalar

_fill = njit(fill_with_subsets)


@kernel
def fill_compiled(uniforms, taken, batches):
    """``rcmd.engine.sampling.fill_with_subsets``."""
    _fill(uniforms, taken, batches)


# ---- one step at a time ------------------------------------------------------------------------


@kernel
def step_batch(rows, batch, predictions, eta, cumulative, samples, gain, gain_mask, functions, d):
    """One step: move the samples of ``batch`` towards ``predictions``, and d with them.

    ``eta`` and ``cumulative`` are this step's numbers; the rest,
    and what it returns, as in ``vertex.run_vertex``.
    """
    health = 0.0
    for t in range(np.uint64(batch.size)):
        j = np.uint64(batch[t])
        look_ahead(rows, samples, functions, batch, t)
        change = mirror_step(samples, j, predictions[t], eta, cumulative, functions)
        health += change
        scatter(rows, j, gain[j & gain_mask] * change, d)
    return health


@kernel
def predict_dense(rows, batch, atom, out):
    """``out[t] = x_jᵀ atom`` for the t-th row j of ``batch``."""
    for t in range(batch.size):
        j = np.uint64(batch[t])
        base, total = row_start(rows, j), 0.0
        for e in range(row_length(rows, j)):
            total = add(total, value(rows, base, e) * atom[column(rows, base, e)])
        out[t] = total


@kernel
def predict_pairs(rows, batch, indices, values, out):
    """The same for an atom given by few (index, value) pairs."""
    for t in range(batch.size):
        total = 0.0
        for e in range(indices.size):
            total += values[e] * entry(rows, np.uint64(batch[t]), np.uint64(indices[e]))
        out[t] = total


@kernel
def batch_derivatives(rows, batch, beta, labels, functions, out):
    """``out[t]`` = l'(x_jᵀβ; y_j) for the t-th row j of ``batch``."""
    last = np.uint64(batch.size - 1)
    for t in range(np.uint64(batch.size)):
        j = np.uint64(batch[t])
        prefetch_row(rows, np.uint64(batch[min(t + ROW_AHEAD, last)]))
        base, total = row_start(rows, j), 0.0
        for e in range(row_length(rows, j)):
            total = add(total, value(rows, base, e) * beta[column(rows, base, e)])
        out[t] = call_scalar(functions[0], functions[1], total, labels[j], 0.0)


@kernel
def scatter_batch(rows, batch, coefficients, total):
    """``total += Σ_t coefficients[t] · x_j``, j the t-th row of ``batch``."""
    for t in range(batch.size):
        scatter(rows, np.uint64(batch[t]), coefficients[t], total)


# ---- rows on several processes ------------------------------------------------------------------


@kernel
def move_batch(
    rows, mine, predictions, eta, cumulative, samples, gain, gain_mask, functions, pulls
):
    """Move the samples of ``mine``; ``pulls`` are the coefficients of their rows in Δd.

    The rest, and what it returns, as in ``vertex.run_vertex``.
    """
    health = 0.0
    for t in range(np.uint64(mine.size)):
        j = np.uint64(mine[t])
        look_ahead(rows, samples, functions, mine, t)
        change = mirror_step(samples, j, predictions[t], eta, cumulative, functions)
        health += change
        pulls[t] = gain[j & gain_mask] * change
    return health


@kernel
def write_terms(rows, mine, pulls, values, columns, lengths):
    """The terms of ``Σ_t pulls_t x_t`` one after the other, and how many each row has."""
    place = 0
    for t in range(mine.size):
        j = np.uint64(mine[t])
        base, length = row_start(rows, j), row_length(rows, j)
        lengths[t] = length
        for e in range(length):
            values[place] = pulls[t] * value(rows, base, e)
            columns[place] = column(rows, base, e)
            place += 1


@kernel
def add_terms(batch, starts, values, columns, lengths, places, d):
    """Add everyone's terms to d, row by row in the order of the batch.

    Rank r has the rows from ``starts[r]`` on; ``places[r]`` says where its values, columns and
    lengths begin and how many rows it sent. All are used up in turn; whether the batch and
    what was sent agree is returned.
    """
    for t in range(batch.size):
        at = places[np.searchsorted(starts, np.int64(batch[t]), side="right") - 1]
        if at[3] == 0:
            return False
        length = np.int64(lengths[at[2]])
        for e in range(length):
            d[columns[at[1] + e]] += values[at[0] + e]
        at[0] += length
        at[1] += length
        at[2] += 1
        at[3] -= 1
    return not places[:, 3].any()


@kernel
def largest_size(terms):
    """max_j |terms_j|, infinite where one is not finite, and 0 without terms."""
    peak, finite = 0.0, True
    for j in range(terms.size):
        size = abs(terms[j])
        finite &= size < np.inf
        peak = max(peak, size)
    return peak if finite else np.inf


@kernel
def cut_terms(terms, scale, limb):
    """The sums of the two integers that ``terms_j·scale`` is: its whole part, and the rest·limb."""
    first_sum, rest_sum = np.int64(0), np.int64(0)
    for j in range(terms.size):
        scaled = terms[j] * scale
        first = np.rint(scaled)
        first_sum += np.int64(first)
        rest_sum += np.int64(np.rint((scaled - first) * limb))
    return first_sum, rest_sum


@kernel
def column_peaks(rows, n, peaks):
    """``peaks_k = max_j |x_jk|`` over the n rows."""
    for j in range(np.uint64(n)):
        base = row_start(rows, j)
        for e in range(row_length(rows, j)):
            k = column(rows, base, e)
            peaks[k] = max(peaks[k], abs(value(rows, base, e)))


@kernel
def add_limbs(rows, coefficients, scales, limb, limbs):
    """Add the terms ``coefficients_j x_jk``, cut as by ``cut_terms``, to the columns' limbs."""
    for j in range(np.uint64(coefficients.size)):
        base = row_start(rows, j)
        for e in range(row_length(rows, j)):
            k = column(rows, base, e)
            scaled = coefficients[j] * value(rows, base, e) * scales[k]
            first = np.rint(scaled)
            limbs[0, k] += np.int64(first)
            limbs[1, k] += np.int64(np.rint((scaled - first) * limb))

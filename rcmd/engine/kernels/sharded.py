"""The compiled parts of a step whose rows are spread over several processes.

``mine`` are the rows of the batch that this process has, by their place among its own rows and
in the order of the batch.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.compiling.caching import kernel
from rcmd.engine.kernels.layout import column, row_length, row_start, value
from rcmd.engine.kernels.samples import look_ahead, move, scatter

LIMB = 2.0**30
"""A term of a sum, scaled below one limb, is two integers: its first and its next 30 bits."""


def _make_own_rows(stamp: str) -> Any:
    def own_rows(batch, first, last, mine):
        """Fill ``mine`` with the rows from ``first`` to before ``last``, from there; how many."""
        stamp
        count = 0
        for t in range(batch.size):
            if first <= batch[t] < last:
                mine[count] = batch[t] - first
                count += 1
        return count

    return own_rows


def _make_move_batch(stamp: str) -> Any:
    def move_batch(rows, mine, predictions, eta, cumulative, samples, gain, gain_mask, law, pulls):
        """Move the samples of ``mine``; ``pulls`` are the coefficients of their rows in Δd.

        The rest, and what it returns, as in ``vertex.run_vertex``.
        """
        stamp
        health = 0.0
        for t in range(np.uint64(mine.size)):
            j = np.uint64(mine[t])
            look_ahead(rows, samples, mine, t)
            change = move(samples, j, predictions[t], eta, cumulative, law)
            health += change
            pulls[t] = gain[j & gain_mask] * change
        return health

    return move_batch


def _make_scatter_batch(stamp: str) -> Any:
    def scatter_batch(rows, mine, pulls, total):
        """``total += Σ_t pulls_t x_t``."""
        stamp
        for t in range(mine.size):
            scatter(rows, np.uint64(mine[t]), pulls[t], total)

    return scatter_batch


def _make_write_terms(stamp: str) -> Any:
    def write_terms(rows, mine, pulls, values, columns, lengths):
        """The terms of ``Σ_t pulls_t x_t`` one after the other, and how many each row has."""
        stamp
        place = 0
        for t in range(mine.size):
            j = np.uint64(mine[t])
            base, length = row_start(rows, j), row_length(rows, j)
            lengths[t] = length
            for e in range(length):
                values[place] = pulls[t] * value(rows, base, e)
                columns[place] = column(rows, base, e)
                place += 1

    return write_terms


def _make_add_terms(stamp: str) -> Any:
    def add_terms(batch, starts, values, columns, lengths, places, d):
        """Add everyone's terms to d, row by row in the order of the batch.

        Rank r has the rows from ``starts[r]`` on; ``places[r]`` says where its values, columns and
        lengths begin and how many rows it sent. All are used up in turn; whether the batch and
        what was sent agree is returned.
        """
        stamp
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

    return add_terms


def _make_raise_peaks(stamp: str) -> Any:
    def raise_peaks(rows, coefficients, peaks):
        """``peaks_k = max_j |coefficients_j x_jk|``, infinite where one is not finite."""
        stamp
        for j in range(np.uint64(coefficients.size)):
            base = row_start(rows, j)
            for e in range(row_length(rows, j)):
                k = column(rows, base, e)
                size = abs(coefficients[j] * value(rows, base, e))
                peaks[k] = max(peaks[k], size if size < np.inf else np.inf)

    return raise_peaks


def _make_add_limbs(stamp: str) -> Any:
    def add_limbs(rows, coefficients, scales, limbs):
        """Add the terms ``coefficients_j x_jk``, as two integers each, to the columns' limbs."""
        stamp
        for j in range(np.uint64(coefficients.size)):
            base = row_start(rows, j)
            for e in range(row_length(rows, j)):
                k = column(rows, base, e)
                scaled = coefficients[j] * value(rows, base, e) * scales[k]
                first = np.rint(scaled)
                limbs[0, k] += np.int64(first)
                limbs[1, k] += np.int64(np.rint((scaled - first) * LIMB))

    return add_limbs


own_rows = kernel(_make_own_rows)
move_batch = kernel(_make_move_batch)
scatter_batch = kernel(_make_scatter_batch)
write_terms = kernel(_make_write_terms)
add_terms = kernel(_make_add_terms)
raise_peaks = kernel(_make_raise_peaks)
add_limbs = kernel(_make_add_limbs)

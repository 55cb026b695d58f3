"""The dual simplex method by the inverse of a basis, with two ends for every variable.

Columns and rows of a programme are variables alike, [A −I]z = 0. ``inverse`` is that of the
columns of the ``basic`` ones, whose places are in ``places`` (−1 for the others); the others have
the end that ``high`` tells as their value. ``matrix`` is A by columns: entries, rows, offsets,
the last two unsigned, which spares the tests for negative places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rcmd.compiling.caching import kernel
from rcmd.engine.kernels.primal_pivots import ALIKE, SMALL


@njit(error_model="numpy")
def _add(total, matrix, k, factor):
    """``total += factor`` · column k of [A −I]."""
    entries, rows, offsets = matrix
    columns = offsets.size - 1
    if k >= columns:
        total[k - columns] -= factor
    else:
        for a in range(offsets[k], offsets[k + 1]):
            total[rows[a]] += factor * entries[a]


@njit(error_model="numpy")
def _placed(matrix, inverse, places, ends, high):
    """The values of the basic variables, from those of the others."""
    lower, upper = ends
    sums = np.zeros(len(inverse))
    for k in range(places.size):
        end = upper[k] if high[k] else lower[k]
        if places[k] < 0 and end != 0.0:
            _add(sums, matrix, k, -end)
    return inverse @ sums


@njit(error_model="numpy")
def _leaving(inverse, basic, values, ends, tolerance):
    """The basic variable beyond an end with the steepest edge, and whether above; −1 for none."""
    lower, upper = ends
    r, most, above = -1, 0.0, False
    for i in range(basic.size):
        k = basic[i]
        beyond = max(lower[k] - values[i], values[i] - upper[k])
        if beyond > tolerance:
            norm = 0.0
            for j in range(basic.size):
                norm += inverse[i, j] * inverse[i, j]
            if beyond * beyond > most * norm:
                r, most, above = i, beyond * beyond / norm, values[i] > upper[k]
    return r, above


@njit(error_model="numpy")
def _slopes(matrix, vector, row):
    """How a basic variable depends on every variable: −vectorᵀ[A −I]."""
    entries, rows, offsets = matrix
    columns, one = np.uint64(offsets.size - 1), np.uint64(1)
    for k in range(columns):
        total = 0.0
        for a in range(offsets[k], offsets[k + one]):
            total += entries[a] * vector[rows[a]]
        row[k] = -total
    row[columns:] = vector


@njit(error_model="numpy")
def _entering(row, places, prices, ends, high, above, beyond, chosen, ratios):
    """The variable with the price that is used up as the row comes back to its end; −1 for none.

    Those whose prices are used up before go to their other ends, as far as the row stays
    ``beyond``; they are the first of ``chosen``, as many as is returned.
    """
    lower, upper = ends
    count = 0
    for k in range(row.size):
        if places[k] < 0 and abs(row[k]) > SMALL and (row[k] > 0) == (high[k] == above):
            chosen[count], ratios[count] = k, abs(prices[k] / row[k])
            count += 1
    for flips in range(count):
        best, largest = flips, abs(row[chosen[flips]])
        for c in range(flips + 1, count):
            if ratios[c] < ratios[best] + ALIKE:
                size = abs(row[chosen[c]])
                if ratios[c] < ratios[best] - ALIKE or size > largest:
                    best, largest = c, size
        q = chosen[best]
        beyond -= largest * (upper[q] - lower[q])
        if not beyond > 0.0:
            return q, flips
        chosen[best], chosen[flips] = chosen[flips], q
        ratios[best] = ratios[flips]
    return -1, 0


@njit(error_model="numpy")
def _replace(inverse, column, r):
    """The inverse after column r of the basis became the one that ``column`` is the image of."""
    own = inverse[r]
    for j in range(own.size):
        own[j] /= column[r]
    for i in range(column.size):
        if i != r and column[i] != 0.0:
            for j in range(own.size):
                inverse[i, j] -= column[i] * own[j]


def _make_repair(stamp: str) -> Any:
    def repair(matrix, inverse, basic, places, prices, ends, high, values, tolerance, limit):
        """From right prices until all values are within their ends: the pivots, and whether."""
        stamp
        lower, upper = ends
        row, ratios = np.empty(places.size), np.empty(places.size)
        chosen, column = np.empty(places.size, np.int64), np.empty(basic.size)
        values[:] = _placed(matrix, inverse, places, ends, high)
        for count in range(limit):
            r, above = _leaving(inverse, basic, values, ends, tolerance)
            if r < 0:
                return count, True
            leaving = basic[r]
            end = upper[leaving] if above else lower[leaving]
            _slopes(matrix, inverse[r], row)
            q, flips = _entering(
                row, places, prices, ends, high, above, abs(values[r] - end), chosen, ratios
            )
            if q < 0:
                return count, False
            column[:] = 0.0
            for k in chosen[:flips]:
                _add(column, matrix, k, (upper[k] - lower[k]) * (-1.0 if high[k] else 1.0))
                high[k] = not high[k]
            if flips:
                values -= inverse @ column
            step = (end - values[r]) / row[q]
            column[:] = 0.0
            _add(column, matrix, q, 1.0)
            column[:] = inverse @ column
            for i in range(basic.size):
                values[i] -= step * column[i]
            values[r] = (upper[q] if high[q] else lower[q]) + step
            price = prices[q] / row[q]
            for k in range(places.size):
                if places[k] < 0:
                    prices[k] -= price * row[k]
            prices[q], prices[leaving], high[leaving] = 0.0, price, above
            places[q], places[leaving], basic[r] = r, -1, q
            _replace(inverse, column, r)
        return limit, False

    return repair


repair = kernel(_make_repair)

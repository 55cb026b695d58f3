"""The primal simplex method on a dense table, with two ends for every variable.

Columns and rows of a programme are variables alike. ``table`` says what the ``basic`` ones are,
z_B = table·z_N, where each of the ``others`` has one of its ends as its value; ``prices`` are the
slopes of the costs in z_N.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from rcmd.compiling.caching import kernel

SMALL = 1e-11
"""Entries up to this size are no pivots."""

ALIKE = 1e-13
"""Ratios that differ by no more are equal; the largest pivot among them rounds the least."""


@njit(error_model="numpy")
def _entering(others, prices, ends, rest, tolerance):
    """The place of the steepest way down, and its direction; −1 for none."""
    lower, upper = ends
    q, most, sign = -1, tolerance, 0.0
    for j in range(others.size):
        k = others[j]
        if prices[j] < -most and rest[j] < upper[k]:
            q, most, sign = j, -prices[j], 1.0
        elif prices[j] > most and rest[j] > lower[k]:
            q, most, sign = j, prices[j], -1.0
    return q, sign


@njit(error_model="numpy")
def _blocking(table, basic, values, ends, q, sign):
    """The basic variable that reaches an end first as q moves, and after which distance."""
    lower, upper = ends
    r, least, largest = -1, np.inf, 0.0
    for i in range(basic.size):
        slope = sign * table[i, q]
        if abs(slope) > SMALL:
            end = upper[basic[i]] if slope > 0 else lower[basic[i]]
            room = max((end - values[i]) / slope, 0.0)
            if room < least - ALIKE or (room < least + ALIKE and abs(slope) > largest):
                r, least, largest = i, min(room, least), abs(slope)
    return r, least


@njit(error_model="numpy")
def _exchange(table, basic, others, prices, r, q):
    """The basic variable r and the other one q change places."""
    row, pivot = table[r], table[r, q]
    for j in range(row.size):
        row[j] /= -pivot
    row[q] = 1.0 / pivot
    for i in range(basic.size):
        factor, own = table[i, q], table[i]
        if i != r and factor != 0.0:
            own[q] = 0.0
            for j in range(row.size):
                own[j] += factor * row[j]
    price, prices[q] = prices[q], 0.0
    for j in range(row.size):
        prices[j] += price * row[j]
    basic[r], others[q] = others[q], basic[r]


def _make_descend(stamp: str) -> Any:
    def descend(table, basic, others, prices, ends, high, rest, values, tolerance, limit):
        """From values within their ends until no way down is left: the pivots, and whether.

        ``high`` says at which end a variable is.
        """
        stamp
        lower, upper = ends
        for count in range(limit):
            q, sign = _entering(others, prices, ends, rest, tolerance)
            if q < 0:
                return count, True
            r, distance = _blocking(table, basic, values, ends, q, sign)
            moving = others[q]
            across = upper[moving] - lower[moving]
            step = sign * min(distance, across)
            if not abs(step) < np.inf:
                return count, False
            for i in range(basic.size):
                values[i] += step * table[i, q]
            leaving, up = moving, sign > 0
            if distance < across:
                leaving, up = basic[r], sign * table[r, q] > 0
                values[r] = rest[q] + step
                _exchange(table, basic, others, prices, r, q)
            high[leaving] = up
            rest[q] = upper[leaving] if up else lower[leaving]
        return limit, False

    return descend


descend = kernel(_make_descend)

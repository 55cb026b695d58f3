"""Sparse rows, one by one: columns picked and put beside each other, sums, and largest entries.

Entries are written in any case and then kept or not, which leaves no branch to be guessed
wrong; so every output has room for one entry more. Unsigned places spare the tests for
negative ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.compiling.caching import kernel


def _make_count(stamp: str) -> Any:
    def count(columns, places):
        """How many entries stand in columns with ``places[k]`` ≥ 0."""
        stamp
        total = 0
        for a in range(columns.size):
            total += places[np.uint64(columns[a])] >= 0
        return total

    return count


def _make_pick(stamp: str) -> Any:
    def pick(values, columns, offsets, places, picked, where, starts):
        """The entries x_jk with ``places[k]`` ≥ 0, as column ``places[k]``."""
        stamp
        end, one = np.uint64(0), np.uint64(1)
        for j in range(np.uint64(offsets.size - 1)):
            for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
                place = places[np.uint64(columns[a])]
                picked[end] = values[a]
                where[end] = place
                end += np.uint64(place >= 0)
            starts[j + one] = end

    return pick


def _make_weighted_sums(stamp: str) -> Any:
    def weighted_sums(values, columns, offsets, weights, sums):
        """``sums[j]`` = Σ_k x_jk ``weights[k]``, in the order in which the entries stand."""
        stamp
        one = np.uint64(1)
        for j in range(np.uint64(offsets.size - 1)):
            total = 0.0
            for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
                total += values[a] * weights[np.uint64(columns[a])]
            sums[j] = total

    return weighted_sums


def _make_column_sums(stamp: str) -> Any:
    def column_sums(values, columns, offsets, weights, sums):
        """``sums[k] += Σ_j weights[j] x_jk``."""
        stamp
        one = np.uint64(1)
        for j in range(np.uint64(offsets.size - 1)):
            for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
                sums[np.uint64(columns[a])] += values[a] * weights[j]

    return column_sums


def _make_peaks(stamp: str) -> Any:
    def peaks(values, offsets, largest):
        """``largest[j]`` = max_k |x_jk|, 0 for an empty row."""
        stamp
        one = np.uint64(1)
        for j in range(np.uint64(offsets.size - 1)):
            most = 0.0
            for a in range(np.uint64(offsets[j]), np.uint64(offsets[j + one])):
                most = max(most, abs(np.float64(values[a])))
            largest[j] = most

    return peaks


def _make_join(stamp: str) -> Any:
    def join(left, right, places, shift, values, columns, offsets):
        """The columns i of ``left`` as ``places[i]`` where that is ≥ 0; ``right``, shifted."""
        stamp
        left_values, left_columns, left_offsets = left
        right_values, right_columns, right_offsets = right
        end, one = np.uint64(0), np.uint64(1)
        for j in range(np.uint64(left_offsets.size - 1)):
            for a in range(np.uint64(left_offsets[j]), np.uint64(left_offsets[j + one])):
                place = places[np.uint64(left_columns[a])]
                values[end] = left_values[a]
                columns[end] = place
                end += np.uint64(place >= 0)
            for a in range(np.uint64(right_offsets[j]), np.uint64(right_offsets[j + one])):
                values[end] = right_values[a]
                columns[end] = right_columns[a] + shift
                end += one
            offsets[j + one] = end

    return join


count = kernel(_make_count)
pick = kernel(_make_pick)
join = kernel(_make_join)
weighted_sums = kernel(_make_weighted_sums)
column_sums = kernel(_make_column_sums)
peaks = kernel(_make_peaks)

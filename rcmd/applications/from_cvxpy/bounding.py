"""Bounds for variables that nothing bounds: an optimum is no worse than a point that is known.

With a feasible β⁰, no optimum has (1/n)Σ l_j + R above P(β⁰). As every other loss is at least its
infimum, −l_j*(0), and R at least its own, each l_j, and each penalty, is at most a level; and where
l_j grows on both sides the prediction of sample j lies in an interval.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rcmd.conjugates.samples import SampleLosses
from rcmd.rows.validation import Array

ROOM = 1 + 1e-9
"""By which bounds are widened, so that no rounding cuts an optimum off."""

FARTHEST = 2.0**60
MOST_COLUMNS = 3000


class Level(NamedTuple):
    """What no optimum exceeds: ``penalty`` for R above its infimum, ``low``, ``high`` for x_jᵀβ."""

    penalty: float
    low: Array
    high: Array


def level_of(losses: SampleLosses, value: float, infimum: float) -> Level | None:
    """The level of a point where P is ``value`` while R is nowhere below ``infimum``."""
    least = -losses.conjugate(0 * losses.y)
    n = len(least)
    spare = value - float(least.mean()) - infimum
    if not math.isfinite(spare):
        return None
    spare = max(spare, 0.0) * ROOM + 1e-12 * (1 + abs(value))
    most = least + n * spare
    ends = []
    for sign in (-1.0, 1.0):
        reach, open_ends = np.full(n, np.inf), np.ones(n, dtype=bool)
        step = 2.0**-10
        while open_ends.any() and step < FARTHEST:
            at = np.full(n, sign * step)
            with np.errstate(over="ignore"):
                beyond = (losses.value(at) > most) & (sign * losses.derivative(at) > 0)
            reach[open_ends & beyond] = step
            open_ends &= ~beyond
            step *= 2 ** 0.25
        ends.append(sign * reach)
    return Level(spare, *ends)


def reach_of(X: Any, low: Array, high: Array) -> tuple[Array, Array] | None:
    """Ends for β where low ≤ Xβ ≤ high; none where the rows do not bound it."""
    columns = X.tocsc() if sp.issparse(X) else np.asarray(X, dtype=float)
    if X.shape[1] == 1:
        x = columns.toarray()[:, 0] if sp.issparse(columns) else columns[:, 0]
        return _interval(x, low, high)
    kept = np.isfinite(low) & np.isfinite(high)
    if kept.sum() < X.shape[1] or X.shape[1] > MOST_COLUMNS:
        return None
    part = (X.tocsr() if sp.issparse(X) else columns)[np.flatnonzero(kept)]
    square = part.T @ part
    values = np.linalg.eigvalsh(square.toarray() if sp.issparse(square) else square)
    if values[0] <= 1e-10 * values[-1]:
        return None
    sizes = np.maximum(abs(low[kept]), abs(high[kept]))
    radius = ROOM * float(np.linalg.norm(sizes)) / math.sqrt(values[0] - 1e-12 * values[-1])
    return np.full(X.shape[1], -radius), np.full(X.shape[1], radius)


def _interval(x: Array, low: Array, high: Array) -> tuple[Array, Array] | None:
    """The values of one variable that all rows allow."""
    some = x != 0
    with np.errstate(invalid="ignore"):
        ends = np.sort(np.stack([low[some] / x[some], high[some] / x[some]]), axis=0)
    if not some.any():
        return None
    first, last = ends[0].max(), ends[1].min()
    if not (math.isfinite(first) and math.isfinite(last)):
        return None
    room = 1e-9 * (1 + max(abs(first), abs(last)))
    return np.array([min(first, last) - room]), np.array([max(first, last) + room])

"""Rates as measured: slopes of curves on logarithmic axes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

DECADE = 10.0
FEWEST_POINTS = 4
ABOVE_NOISE = 10.0
"""Times the uncertainty of P*, below which P − P* is not known well enough to be fitted."""


class Slope(NamedTuple):
    """The exponent a of y ≈ c·x^a, fitted to ``points`` points with low ≤ x ≤ high."""

    exponent: float
    low: float
    high: float
    points: int


def fitted(curves: Iterable[tuple[Sequence[float], Sequence[float]]], noise: float) -> Slope | None:
    """The slope over the last decade of x of curves (x, y), all fitted by one line.

    The decade ends where the longest curve still has y > 10·noise. ``None`` where fewer than
    four points, or only one x, are left.

    >>> slope = fitted([([1, 2, 4, 8, 16], [1.0, 0.5, 0.25, 0.125, 0.0625])], noise=0.0)
    >>> round(slope.exponent, 6), slope.low, slope.high
    (-1.0, 2.0, 16.0)
    """
    pairs = [np.array(curve, dtype=float).reshape(2, -1) for curve in curves]
    x, y = np.concatenate(pairs, axis=1) if pairs else np.empty((2, 0))
    usable = (y > ABOVE_NOISE * noise) & (y > 0) & (x > 0)
    x, y = x[usable], y[usable]
    if len(x):
        late = x >= x.max() / DECADE
        x, y = x[late], y[late]
    if len(x) < FEWEST_POINTS or x.min() == x.max():
        return None
    exponent = float(np.polyfit(np.log(x), np.log(y), 1)[0])
    return Slope(exponent, float(x.min()), float(x.max()), len(x))

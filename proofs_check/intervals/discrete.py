"""The same relaxation for given N and all k, with sums for the integral, in float64.

A second opinion on the certificate that shares neither its majorant nor its ranges of t. The
unknown S_{k+1} runs over cells of [0, 1]; on a cell each bound is taken at its worse end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

CELLS = 100


def smooth(e: Array) -> Array:
    """max over S ≥ 0 of 1 + e + e²(1+√S)² − (1/2+e)S."""
    return 1 + e + e**2 + e**4 / (0.5 + e - e**2)


def capped(e: Array, untouched: Array, cap: Array) -> Array:
    """max over S ≤ cap of 1 + e + e²(1 + 2√((1−π)S) + S) − (1/2+e)S."""
    slope, bend = e**2 * np.sqrt(1 - untouched), 0.5 + e - e**2
    root = np.minimum(slope / bend, np.sqrt(cap))
    return 1 + e + e**2 + 2 * slope * root - bend * root**2


def largest_ratio(
    N: float, multiple: int, noise_factor: float = 1.0, r: int = 2
) -> tuple[float, float]:
    """The largest bound of E[G·gap] in units of 4N(k+1) beyond d, for k+1 ≤ multiple·N; and its t.

    The weights are rN+i. ``noise_factor`` multiplies y², for a test of the test.
    """
    k = np.arange(int(multiple * N))
    g: Array = np.asarray(r * N + k, dtype=np.float64)
    e: Array = 2 * N / (g + 1)
    total, last = np.cumsum(g), g * (g + 1) / 2
    untouched: Array = np.power(1 - 1 / N, k, dtype=np.float64)
    cap = 1 - r * N * (r * N - 1) / (g * (g - 1))
    drift = np.cumsum(np.minimum(smooth(e), capped(e, untouched, cap)))
    by_caps = np.cumsum(g * (4 - 3 * untouched)) / 2
    worst = np.zeros(len(k))
    for cell in range(CELLS):
        low, high = cell / CELLS, (cell + 1) / CELLS
        a = N * drift - N * (2 * N + g + 1) / 2 * low
        steps = total + 2 * a - last * low
        noise = noise_factor * np.maximum(0, (N - 1) / (g + 1) * steps)
        bounds: tuple[Any, ...] = (
            by_caps,
            steps / 2,
            a + noise + 2 * np.sqrt(noise * last * high / 2),
            a + noise + 2 * np.sqrt(noise * np.maximum(0, a + r * N * (r * N - 1) / 4)),
        )
        feasible = (a >= 0) & (steps >= 0)
        worst = np.maximum(worst, np.where(feasible, np.minimum.reduce(bounds), 0))
    ratio = worst / (4 * N * (k + 1))
    place = int(np.argmax(ratio))
    return float(ratio[place]), (place + 1) / N

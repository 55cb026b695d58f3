"""Sums over the rows of all ranks whose bits do not depend on how the rows are spread.

Additions of doubles depend on their order. Here every term, scaled by the largest one, is cut
into two integers of 30 bits, whose sums are exact in any order:

    Σ_j t_j = 2^(e−30) (Σ_j a_j + 2^−30 Σ_j b_j) up to n·2^(e−61),    max_j |t_j| < 2^e.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.engine.kernels.batch import LIMB, add_limbs, raise_peaks
from rcmd.rows.processes import Array, Group

LIMB_BITS = 30
SMALLEST_EXPONENT = -960
"""Below it a scale would overflow; what is cut off lies below 2^−1020."""


def sum_terms(group: Group, terms: Array) -> float:
    """The sum of everyone's ``terms``."""
    finite = np.isfinite(terms).all()
    peak = abs(terms).max(initial=0.0) if finite else np.inf
    scale = _scales(group.largest(np.array([peak])))
    if not np.isfinite(scale[0]):
        return float(group.sum(np.array([terms.sum()]))[0])
    scaled = terms * scale
    first = np.rint(scaled)
    rest = np.rint((scaled - first) * LIMB)
    limbs = np.array([first.astype(np.int64).sum(), rest.astype(np.int64).sum()])
    return float(_joined(group.sum(limbs), scale[0]))


def sum_rows(group: Group, rows: Any, p: int, coefficients: Array) -> tuple[Array, Array]:
    """Σ_j coefficients_j x_j over everyone's rows, and the largest |term| of every column.

    ``rows`` is a rows tuple (see ``rcmd.engine.kernels.layout``). Where a term is not finite,
    every sum is NaN.
    """
    peaks = np.zeros(p)
    raise_peaks(rows, coefficients, peaks)
    peaks = group.largest(peaks)
    scales, limbs = _scales(peaks), np.zeros((2, p), np.int64)
    if not np.isfinite(scales).all():
        return np.full(p, np.nan), peaks
    add_limbs(rows, coefficients, scales, limbs)
    return _joined(group.sum(limbs), scales), peaks


def _scales(peaks: Array) -> Array:
    """2^(30−e) with peak < 2^e; NaN where the peak is infinite."""
    exponents = np.maximum(np.frexp(peaks)[1], SMALLEST_EXPONENT)
    return np.where(np.isfinite(peaks), np.ldexp(1.0, LIMB_BITS - exponents), np.nan)


def _joined(limbs: Array, scales: Any) -> Array:
    return (limbs[0] + limbs[1] / LIMB) / scales

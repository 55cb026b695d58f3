"""Small systems with a positive definite matrix that rounding may have spoilt."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def solve_definite(matrix: Array, right: Array) -> Array:
    """H⁻¹ right; where cancellation has left H indefinite, with its spectrum raised to rounding."""
    from scipy.linalg.lapack import dposv

    _, solution, fault = dposv(matrix, right)
    if fault == 0:
        return np.asarray(solution)
    from scipy.linalg import eigh

    values, vectors = eigh(matrix, check_finite=False)
    least = len(right) * np.finfo(float).eps * abs(values).max()
    return np.asarray(vectors @ ((vectors.T @ right) / np.maximum(values, least)))

"""Small systems with a positive definite matrix that rounding may have spoilt."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def solve_definite(matrix: Array, right: Array) -> Array:
    """H⁻¹ right; where cancellation has left H indefinite, with its spectrum raised to rounding."""
    from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

    try:
        return cho_solve(cho_factor(matrix, check_finite=False), right, check_finite=False)
    except LinAlgError:
        values, vectors = eigh(matrix, check_finite=False)
        least = len(right) * np.finfo(float).eps * abs(values).max()
        return vectors @ ((vectors.T @ right) / np.maximum(values, least))

"""Newton's steps: small systems, and how far to go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.rows.state import Stateful

ROUNDING = 1e-15
"""What rounding may hide of a decrease, relative to the value."""

LEAST, MOST = 1e-13, 1.0
"""Bounds of the damping, relative to the curvature."""

SHORTEST = 2.0**-30
"""The least share of a step that is tried."""


def falls(value: float, here: float, promised: float) -> bool:
    """Whether ``value`` is below ``here`` by what was promised (a negative number).

    Where rounding hides what a step is worth, Newton's is taken at its word; NaN is no fall.
    """
    return value <= here + promised + ROUNDING * abs(here)


class Damping(Stateful):
    """The multiple of the identity added to the curvature: more after steps that were too long."""

    changing = ("now",)

    def __init__(self) -> None:
        self.now = LEAST

    def longest(self, fallen: Callable[[float], bool]) -> float:
        """The largest share 1, ½, ¼, … of a step at which the value has fallen; else 0."""
        share = 1.0
        while share > SHORTEST and not fallen(share):
            share /= 2
        self.now = min(max(self.now * (0.1 if share > 0.1 else 100), LEAST), MOST)
        return share if share > SHORTEST else 0.0


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

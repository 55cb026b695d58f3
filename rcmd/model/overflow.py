"""Numbers too large for doubles are refused before work starts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rcmd.model.problem import Problem

LARGEST_SUM = 1e307
"""What sums over all rows must stay below: a double ends at 1.8e308."""

SURELY_SMALL = 1e70
"""Predictions up to this come from rows whose slopes cannot overflow, but for radii near 1e-200."""


def refuse_huge_labels(problem: Problem) -> None:
    """Refuse labels and weights whose losses overflow already where nothing is predicted."""
    y = problem.losses.y
    weights: Any = 1.0 if problem.losses.weights is None else problem.losses.weights
    if abs(y).max() <= SURELY_SMALL and np.max(weights) <= SURELY_SMALL:
        return
    with np.errstate(over="ignore"):
        start = abs(problem.losses.value(0 * y))
    if not problem.n * start.max() < LARGEST_SUM:
        raise ValueError(
            f"y holds {y[start.argmax()]:.3g}, where {problem.loss!r} at the prediction 0 is "
            f"{start.max():.3g}; expected losses whose sum is below {LARGEST_SUM:g}: divide y by a "
            "power of ten (and X, to have the same β), or take a loss that grows linearly"
        )


def refuse_overflow(problem: Problem) -> None:
    """Refuse data for which P, D or their gradients overflow somewhere on dom R."""
    losses, bounds = problem.losses, problem.prediction_bounds
    with np.errstate(over="ignore", invalid="ignore"):
        largest = np.maximum(*(abs(end) for end in losses.domain))
        if bounds.max() * largest.max() <= SURELY_SMALL:
            return
        steepest = abs(losses.derivative(0 * losses.y)) + losses.gammas * bounds
        steepest = np.minimum(steepest, largest)
        terms = float((bounds * steepest).max())
        if terms <= SURELY_SMALL:
            return
        slopes = float((problem.rows.max_norms() * steepest).max())
    # NaN, the fault of a loss, is for the engines to speak about.
    if problem.n * max(terms, slopes) > LARGEST_SUM:
        raise ValueError(
            f"predictions reach {bounds.max():.3g} on dom R and the losses' derivatives "
            f"{steepest.max():.3g}, so that P or its gradient overflows; expected products below "
            f"{LARGEST_SUM:g}: divide X by a power of ten, and multiply the radius by it to have "
            "the same predictions"
        )


def refuse_infinite_energy(energy: Any) -> None:
    """Refuse rows for which the relative smoothness σ, and so every step size, overflows."""
    if math.isinf(energy):
        raise ValueError(
            "X holds numbers whose squares overflow, so that the step sizes for a strongly convex "
            "R would be 0; expected entries below 1e150: divide X by a power of ten"
        )

"""Small quadratic programmes on the simplex, by an active-set method."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.corrective.definite import solve_definite

Array = npt.NDArray[Any]

MOST_TURNS, MOST_WORK = 300, 6e9
"""Entries freed or fixed in one programme, at most, and their number times m³: about half a
second, so that a clock and a keyboard are looked at in between. The next programme goes on."""

DUAL_ROUNDING = 1e-13
"""A multiplier above minus this, relative to the largest, is taken for non-negative."""


def minimize_on_simplex(matrix: Array, slope: Array, start: Array) -> Array:
    """argmin ½ xᵀHx + cᵀx over x ≥ 0, Σx = 1, for a positive definite H.

    From the feasible ``start``: minimize over the free entries; go there, or as far as the
    first entry that turns negative, which is then fixed at zero; once all are non-negative,
    free the entry whose multiplier is most negative. But for rounding the value falls with
    every turn. After ``MOST_TURNS`` or ``MOST_WORK``, or where a system overflows, the feasible
    point reached so far is returned.

    Examples
    --------
    >>> minimize_on_simplex(np.eye(2), np.array([-3.0, 0.0]), np.array([0.5, 0.5]))
    array([1., 0.])
    """
    x, free = start.copy(), start > 0
    for _ in range(int(min(MOST_TURNS, max(MOST_WORK / len(x) ** 3, 3)))):
        places = np.flatnonzero(free)
        target, level = _on_plane(_submatrix(matrix, places), slope[places], x[places])
        if not np.isfinite(target).all():
            break
        if (target < 0).any():
            _step_to_the_border(x, free, places, target)
            continue
        x[places] = target
        multipliers = matrix @ x + slope - level
        multipliers[free] = np.inf
        worst = int(multipliers.argmin())
        if not multipliers[worst] < -DUAL_ROUNDING * (abs(level) + abs(slope).max()):
            break
        free[worst] = True
    return x


def _on_plane(matrix: Array, slope: Array, x: Array) -> tuple[Array, float]:
    """The minimizer over Σx = 1 alone, and the level of Hx + c there.

    Steps are taken in the differences to the largest entry of x, which makes up for them: the
    sum stays 1 however ill-conditioned H is.
    """
    last = int(x.argmax())
    others = np.delete(np.arange(len(x)), last)
    gradient = matrix @ x + slope
    target = x.copy()
    if len(others):
        row = matrix[last, others]
        reduced = _submatrix(matrix, others) - row - row[:, None] + matrix[last, last]
        step = solve_definite(reduced, gradient[last] - gradient[others])
        target[others] += step
        target[last] -= step.sum()
    return target, float((matrix[last] @ target) + slope[last])


def _step_to_the_border(x: Array, free: Array, places: Array, target: Array) -> None:
    """Move x towards ``target`` until an entry is zero, and fix it there."""
    here = x[places]
    reach = np.full(len(places), np.inf)
    falling = target < 0
    reach[falling] = here[falling] / (here[falling] - target[falling])
    x[places] = np.maximum(here + reach.min() * (target - here), 0)
    stopped = places[reach <= reach.min()]
    x[stopped], free[stopped] = 0, False


def _submatrix(matrix: Array, places: Array) -> Array:
    return matrix[places[:, None], places]

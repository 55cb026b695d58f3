"""Small quadratic programmes on the simplex, by an active-set method."""

import math

import numpy as np

from rcmd.methods.corrections.newton import solve_definite
from rcmd.rows.validation import Array

MOST_TURNS, MOST_WORK = 300, 6e9
"""Entries freed or fixed in one programme, at most, and their number times m³: about half a
second, so that time limits and Ctrl-C are seen in between. The next programme continues."""

DUAL_ROUNDING = 1e-13
"""A multiplier above minus this, relative to the largest, is taken for non-negative."""


def minimize_on_simplex(matrix: Array, slope: Array, start: Array) -> Array:
    """argmin ½ xᵀHx + cᵀx over x ≥ 0, Σx = 1, for a positive definite H.

    From the feasible ``start``, where all entries that are positive or would gain are free:
    minimize over the free entries and go there. If entries turn negative, fix them at zero and
    scale the others if that lowers the value; else stop at the first of them. Once all are
    non-negative, free the entry whose multiplier is most negative. Up to rounding the value
    falls with every turn. After ``MOST_TURNS`` or ``MOST_WORK``, or where a system overflows,
    the feasible point reached so far is returned.

    Examples
    --------
    >>> minimize_on_simplex(np.eye(2), np.array([-3.0, 0.0]), np.array([0.5, 0.5]))
    array([1., 0.])
    """
    x = start.copy()
    gradient = matrix @ x + slope
    free = (x > 0) | (gradient < gradient @ x)
    for _ in range(int(min(MOST_TURNS, max(MOST_WORK / len(x) ** 3, 3)))):
        places = np.flatnonzero(free)
        step, level_at = _on_plane(matrix, gradient, x, places)
        target = x + step
        if not math.isfinite(target.sum()):
            break
        if target.min() < 0:
            inside = np.maximum(target, 0.0)
            inside /= inside.sum()
            if _falls(matrix, gradient, inside - x):
                x, free = inside, inside > 0
            else:
                _step_to_the_border(x, free, step, target)
            gradient = matrix @ x + slope
            continue
        x = target
        gradient = matrix @ x + slope
        multipliers = gradient - gradient[level_at]
        multipliers[free] = np.inf
        worst = int(multipliers.argmin())
        rounding = DUAL_ROUNDING * (abs(gradient[level_at]) + abs(slope).max())
        if not multipliers[worst] < -rounding:
            break
        free[worst] = True
    return x


def _falls(matrix: Array, gradient: Array, step: Array) -> bool:
    """Whether the value is lower after ``step``."""
    return bool(gradient @ step + step @ matrix @ step / 2 < 0)


def _on_plane(matrix: Array, gradient: Array, x: Array, places: Array) -> tuple[Array, int]:
    """The step to the minimizer over Σx = 1 with the other places at zero, and where x is largest.

    It is computed in differences to that largest entry, which balances them: the sum stays 1
    however ill-conditioned H is.
    """
    last = int(places[x[places].argmax()])
    others = places[places != last]
    step = np.zeros(len(x))
    if len(others):
        row = matrix[last, others]
        reduced = matrix[others[:, None], others] - row - row[:, None] + matrix[last, last]
        parts = solve_definite(reduced, gradient[last] - gradient[others])
        step[others], step[last] = parts, -parts.sum()
    return step, last


def _step_to_the_border(x: Array, free: Array, step: Array, target: Array) -> None:
    """Move x towards ``target`` until an entry is zero, and fix it there."""
    falling = target < 0
    reach = np.full(len(x), np.inf)
    reach[falling] = x[falling] / -step[falling]
    np.maximum(x + reach.min() * step, 0, out=x)
    stopped = reach <= reach.min()
    x[stopped], free[stopped] = 0, False

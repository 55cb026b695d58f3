"""Conditional gradient sliding, and the constants L, D and G that its steps are made of."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.methods.sampled import Sampled
from rcmd.model.problem import Problem


def smoothness(problem: Problem) -> float:
    """L, the Lipschitz constant of ∇f: the largest eigenvalue of (1/n) Σ_j γ_j x_j x_jᵀ."""
    return float(problem.rows.spectral_energy(problem.losses.gammas)) / problem.n


def curvature(problem: Problem) -> float:
    """(1/n) Σ_j γ_j (2M_j)², in the place of LD² where D, the diameter of dom R, is not known.

    Both bound the curvature of f over dom R; this one is in the units of predictions, which
    every oracle can tell.
    """
    return 4 * float(problem.constants().prediction_energy)


def diameter(problem: Problem) -> float:
    """D with LD² = ``curvature``; 0 where the data are all zero."""
    L = smoothness(problem)
    return math.sqrt(curvature(problem) / L) if L > 0 else 0.0


def steepness(problem: Problem) -> float:
    """G ≥ ‖∇f_j(β)‖ for all rows and all β in dom R: max_j (|l_j'(0)| + γ_j M_j) ‖x_j‖."""
    losses, bounds = problem.losses, problem.prediction_bounds
    slopes = abs(losses.derivative(np.zeros(problem.n))) + losses.gammas * bounds
    return float((slopes * np.sqrt(problem.rows.square_norms())).max())


Array = npt.NDArray[Any]


def slide(run: Sampled, slope: Array, centre: Array, strength: float, error: float) -> Array:
    """The u that Frank-Wolfe finds for min slopeᵀu + strength/2 ‖u − centre‖² + R(u).

    The procedure CndG of Lan and Zhou (2016): from ``centre`` on, exact line searches (for a
    penalty R, on its bound by the chord) until the Frank-Wolfe gap is at most ``error``.
    """
    penalty, u = run.problem.oracle.penalty, centre.copy()
    while True:
        here = slope + strength * (u - centre)
        point = run.lowest_atom(here).dense(u)
        way = point - u
        gap = penalty(u) - penalty(point) - here @ way
        if gap <= error:
            return u
        bend = strength * (way @ way)
        u += way if gap >= bend else (gap / bend) * way

"""Corrections for the l2 ball and ridge: Newton's method, along the sphere where it binds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.corrective.corrected import Corrected
from rcmd.corrective.damping import Damping, falls
from rcmd.oracles.l2 import L2Ball, Ridge
from rcmd.problem import Problem

Array = npt.NDArray[Any]

MOST_PRODUCTS = 500
"""Products with the Hessian that one linear system is worth."""

SYSTEMS = 3
"""Linear systems of a round, at most."""


class BallCorrection:
    """Newton–CG on f(β) + (strength/2)‖β‖² over ‖β‖ ≤ radius, f(β) = (1/n) Σ l_j(x_jᵀβ).

    With a multiplier ν ≥ 0 of (‖β‖² − radius²)/2, a step solves the linearized conditions

        (∇²f + (strength + ν) I) δ + dν·β = −∇f − (strength + ν) β,   βᵀδ = (radius² − ‖β‖²)/2,

    where the ball binds, and the first with ν = dν = 0 where it does not.
    """

    oracle_calls = 0

    def __init__(self, problem: Problem, oracle: L2Ball | Ridge, beta: Array) -> None:
        self.problem, self.radius = problem, float(oracle.radius)
        self.strength = float(oracle.mu)
        self._passes, self._damping, self.moved = 0, Damping(), True
        bounds = problem.prediction_bounds / self.radius
        self._curvature = float(problem.mean(problem.losses.gammas * bounds * bounds))
        self._here = self._respond(beta)
        size = beta @ beta
        slope = -(self._here.d @ beta) / size - self.strength if size > 0 else 0.0
        self._multiplier = max(slope, 0.0) if size >= 0.9 * self.radius**2 else 0.0

    @property
    def gradients(self) -> int:
        """Passes over the losses times n."""
        return self._passes * self.problem.n

    def round(self, passes: float) -> Corrected:
        """One step, shortened until P falls; a step that never does is not taken."""
        beta, here = self._here.beta, self._value(self._here.s, self._here.beta)
        products = int(min(MOST_PRODUCTS, len(beta), max(passes / SYSTEMS, 1)))
        step, multiplier = self._direction(products)

        def point(share: float) -> Array:
            return self._inside(beta + share * step, multiplier > 0)

        def fallen(share: float) -> bool:
            moved = point(share)
            return falls(self._value(self.problem.rows.matvec(moved), moved), here, 0.0)

        share = self._damping.longest(fallen)
        self.moved = bool(share > 0 and (abs(step).any() or multiplier != self._multiplier))
        if share > 0:
            self._multiplier = multiplier
            self._here = self._respond(point(share))
        return self._here

    def _direction(self, products: int) -> tuple[Array, float]:
        """δ and ν + dν."""
        beta, d = self._here.beta, self._here.d
        if self.strength > 0:
            free = self._solve(0.0, -(d + self.strength * beta), products)
            target = beta + free
            if target @ target <= self.radius**2:
                return free, 0.0
        level = self.strength + self._multiplier
        along = self._solve(self._multiplier, -(d + level * beta), products)
        across = self._solve(self._multiplier, -beta, products)
        room = (self.radius**2 - beta @ beta) / 2
        change = (room - beta @ along) / (beta @ across) if beta.any() else 0.0
        multiplier = self._multiplier + change
        if multiplier <= 0:
            return along, 0.0
        return along + change * across, multiplier

    def _solve(self, multiplier: float, right: Array, products: int) -> Array:
        """(∇²f + (strength + ν) I)⁻¹ right, by conjugate gradients."""
        from scipy.sparse.linalg import LinearOperator, cg

        rows = self.problem.rows
        curved = self.problem.losses.second_derivative(self._here.s) / self.problem.n
        damping = self.strength + multiplier + self._damping.now * self._curvature

        def product(v: Array) -> Array:
            self._passes += 1
            return rows.rmatvec(curved * rows.matvec(v)) + damping * v

        operator = LinearOperator((len(right),) * 2, matvec=product, dtype=float)
        accuracy = 1e-3 * min(0.1, float(np.sqrt(np.linalg.norm(right))))
        return cg(operator, right, rtol=accuracy, maxiter=products)[0]

    def _inside(self, beta: Array, binding: bool) -> Array:
        """``beta`` drawn back to the sphere where it left the ball, or where the ball binds."""
        norm = float(np.linalg.norm(beta))
        return beta * (self.radius / norm) if binding or norm > self.radius else beta

    def _respond(self, beta: Array) -> Corrected:
        self._passes += 1
        s = self.problem.rows.matvec(beta)
        w = self.problem.losses.derivative(s)
        return Corrected(beta, s, w, self.problem.gradient(w))

    def _value(self, s: Array, beta: Array) -> float:
        self._passes += 1
        losses = self.problem.mean(self.problem.losses.value(s))
        return float(losses + self.strength * (beta @ beta) / 2)

"""Corrections for the l2 ball and ridge: Newton's method, along the sphere where it binds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.corrective.corrected import Corrected
from rcmd.corrective.damping import Damping, falls
from rcmd.corrective.definite import solve_definite
from rcmd.corrective.gram import gram
from rcmd.heeding import heed
from rcmd.oracles.l2 import L2Ball, Ridge, norm
from rcmd.problem import Problem
from rcmd.rows.base import Rows
from rcmd.rows.dense import DenseRows
from rcmd.rows.sparse import SparseRows

Array = npt.NDArray[Any]

MOST_PRODUCTS = 500
"""Products with the Hessian that one linear system is worth."""

SYSTEMS = 3
"""Linear systems of a round, at most."""

LARGEST_HESSIAN, LONGEST_ROW = 1000, 200
"""∇²f is formed up to this side, and while rows have no more entries in the mean."""


class BallCorrection:
    """Newton's method on f(β) + (strength/2)‖β‖² over ‖β‖ ≤ radius, f(β) = (1/n) Σ l_j(x_jᵀβ).

    With a multiplier ν ≥ 0 of (‖β‖² − radius²)/2, a step solves the linearized conditions

        (∇²f + (strength + ν) I) δ + dν·β = −∇f − (strength + ν) β,   βᵀδ = (radius² − ‖β‖²)/2,

    where the ball binds, and the first with ν = dν = 0 where it does not. It is solved in units
    of the radius, whose square may overflow. ``gradients`` says what finding the start has cost.
    """

    oracle_calls = 0

    def __init__(
        self, problem: Problem, oracle: L2Ball | Ridge, beta: Array, gradients: int = 0
    ) -> None:
        self.problem, self.radius = problem, float(oracle.radius)
        self.strength = float(oracle.mu)
        self._earlier, self._passes = gradients, 0
        self._damping, self.moved = Damping(), True
        self._matrix = _small_matrix(problem.rows)
        self._hessian: Array | None = None
        self._unit_strength = self.strength * self.radius * self.radius
        bounds = problem.prediction_bounds
        self._curvature = float(problem.mean(problem.losses.gammas * bounds * bounds))
        self._here = self._respond(beta)
        self.slope = problem.gradient(self._here.w)
        unit, d = self._in_units()
        size = unit @ unit
        pull = -(d @ unit) / size - self._unit_strength if size > 0 else 0.0
        self._multiplier = max(pull, 0.0) if size >= 0.9 else 0.0

    def _in_units(self) -> tuple[Array, Array]:
        """β and ∇f in units of the radius."""
        return self._here.beta / self.radius, self.slope * self.radius

    @property
    def gradients(self) -> int:
        """Passes over the losses times n, and what was there before."""
        return self._earlier + self._passes * self.problem.n

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
        beta, d = self._in_units()
        if self.strength > 0:
            free = self._solve(0.0, -(d + self._unit_strength * beta), products)
            target = beta + free
            if target @ target <= 1:
                return free * self.radius, 0.0
        level = self._unit_strength + self._multiplier
        along = self._solve(self._multiplier, -(d + level * beta), products)
        across = self._solve(self._multiplier, -beta, products)
        room = (1 - beta @ beta) / 2
        change = (room - beta @ along) / (beta @ across) if beta.any() else 0.0
        multiplier = self._multiplier + change
        if multiplier <= 0:
            return along * self.radius, 0.0
        return (along + change * across) * self.radius, multiplier

    def _solve(self, multiplier: float, right: Array, products: int) -> Array:
        """(∇²f + (strength + ν) I)⁻¹ right: by Cholesky where ∇²f is small, else by CG."""
        damping = self._unit_strength + multiplier + self._damping.now * self._curvature
        if self._matrix is not None:
            return solve_definite(self._formed() + damping * np.eye(len(right)), right)
        from scipy.sparse.linalg import LinearOperator, cg

        rows, curved, unit = self.problem.rows, self._curvatures(), self.radius

        def product(v: Array) -> Array:
            heed()
            self._passes += 1
            return unit * rows.rmatvec(curved * rows.matvec(unit * v)) + damping * v

        operator = LinearOperator((len(right),) * 2, matvec=product, dtype=float)
        accuracy = 1e-3 * min(0.1, float(np.sqrt(np.linalg.norm(right))))
        return cg(operator, right, rtol=accuracy, maxiter=products)[0]

    def _formed(self) -> Array:
        """∇²f at the present point, computed once for it."""
        if self._hessian is None:
            self._passes += 1
            squares = self._curvatures() * self.radius * self.radius
            self._hessian = gram(self._matrix, squares)
        return self._hessian

    def _curvatures(self) -> Array:
        return self.problem.losses.second_derivative(self._here.s) / self.problem.n

    def _inside(self, beta: Array, binding: bool) -> Array:
        """``beta`` drawn back to the sphere where it left the ball, or where the ball binds."""
        size = norm(beta)
        return beta * (self.radius / size) if binding or size > self.radius else beta

    def _respond(self, beta: Array) -> Corrected:
        self._passes += 1
        self._hessian = None
        s = self.problem.rows.matvec(beta)
        return Corrected(beta, s, self.problem.losses.derivative(s))

    def _value(self, s: Array, beta: Array) -> float:
        heed()
        self._passes += 1
        losses = self.problem.mean(self.problem.losses.value(s))
        return float(losses + (self.strength * beta) @ beta / 2)


def _small_matrix(rows: Rows) -> Any:
    """X where Xᵀ diag(c) X costs less than the products with X that it saves, else ``None``."""
    if isinstance(rows, DenseRows) and rows.p <= LONGEST_ROW:
        return rows.array
    if (
        isinstance(rows, SparseRows)
        and rows.p <= LARGEST_HESSIAN
        and rows.matrix.nnz <= LONGEST_ROW * rows.n
    ):
        return rows.matrix
    return None

"""Corrections for the nuclear norm: Gauss–Newton steps on the two factors of β."""

import math
from typing import Any

import numpy as np

from rcmd.methods.corrections.newton import Correction, Point, falls
from rcmd.model.problem import Problem
from rcmd.rows.lowrank import DROPPED, LowRank
from rcmd.rows.processes import check_cancelled
from rcmd.rows.validation import Array

FEWEST_NEW = 16
"""Singular pairs asked of the oracle at a time, at least."""

MOST_STEPS = 6
"""Steps of a round."""

INEXACT, MOST_PRODUCTS = 0.1, 20
"""The accuracy of a Gauss–Newton step by conjugate gradients, and its products at most."""

ON_SPHERE = 1e-12
"""By how much ‖β‖_* may miss the radius, relatively, where the ball binds."""

HALVINGS = 5
"""How often a step of the proximal gradient method is halved before it is given up."""


class FactorCorrection(Correction):
    """Steps that bring P down on a set of matrices of low rank, which follows the solution's.

    The nuclear norm is ‖β‖_* = min (‖A‖² + ‖B‖²)/2 over A Bᵀ = β, with equality for the factors
    A = U√S and B = V√S of the singular value decomposition. A step is in two parts:

    - within the ranges of β and of the leading singular pairs of ∇f(β), a step of the proximal
      gradient method, whose singular values are those of a small matrix. It raises the rank by
      the pairs that are missing, and lowers it by those that are too many;
    - a Gauss–Newton step on z = (A, B), for f(A Bᵀ) + strength·‖z‖²/2 over ‖z‖² ≤ 2·radius. Where
      the ball binds, with the multiplier ν it goes along the sphere.

    Both are shortened until P falls.
    """

    changing = (*Correction.changing, "_reach")
    needs_atoms = True

    def __init__(self, problem: Problem, beta: Any, *costs: int, earlier: Any = None) -> None:
        super().__init__(problem, *costs)
        oracle = problem.oracle
        self.radius, self.strength = float(oracle.radius), float(oracle.threshold)
        self._reach = 1.0
        self._squares = problem.rows.square_norms()
        self._in_factors = isinstance(problem.rows.zero(), LowRank)
        self.here = self._point_at(oracle.decomposed(beta, DROPPED).copy())  # as it may be scaled

    def round(self, passes: float, enough: float) -> None:
        """Steps until the gap seems to be ``enough``, by an estimate of σ₁(∇f)."""
        before, end = self.here, self.passes + passes
        for step in range(MOST_STEPS):
            parts, slope = self._parts()
            count = max(FEWEST_NEW, parts.terms // 2)
            self.oracle_calls += 1
            left, values, right = self.problem.oracle.pairs(slope, count)
            self.here.estimate = self._apart(float(values.max()))
            if step > 0 and self.here.shrunk(self.here.estimate)[1] <= enough:
                break
            start = self.here
            missing = values > self.strength + self._multiplier(parts)
            self._widen(left[:, missing], right[:, missing])
            self._improve()
            if self.here is start or self.passes >= end:
                break
        self.moved = not np.array_equal(before.s, self.here.s)

    def _apart(self, sigma: float) -> float:
        """The gap of β and w, if σ₁(∇f) is ``sigma``."""
        penalty = self.strength * self._parts()[0].nuclear_norm()
        beyond = max(sigma - self.strength, 0.0)
        return penalty + self.radius * beyond + float(self.here.slope @ self.here.beta)

    def _parts(self) -> tuple[LowRank, Any]:
        """β as a singular value decomposition, and ∇f(β) as a matrix."""
        oracle = self.problem.oracle
        return oracle.decomposed(self.here.beta), oracle.matrix(self.here.slope)

    def _multiplier(self, parts: LowRank) -> float:
        """ν ≥ 0 of the ball: what ∇f pulls outwards beyond the strength, for β at its border."""
        norm = parts.nuclear_norm()
        if norm < self.radius * (1 - ON_SPHERE):
            return 0.0
        return max(-float(self.here.slope @ self.here.beta) / norm - self.strength, 0.0)

    def _widen(self, left: Array, right: Array) -> None:
        """A step of the proximal gradient method in the ranges of β and of these pairs.

        Its length is the inverse of f's mean curvature, as if the rows were in general position.
        """
        (parts, slope), here = self._parts(), self.here
        left = np.linalg.qr(np.hstack([parts.left, left]))[0]
        right = np.linalg.qr(np.hstack([parts.right, right]))[0]
        core = (left.T @ parts.left * parts.weights) @ (parts.right.T @ right)
        slope, value = left.T @ (slope @ right), self._value(here)
        for _ in range(HALVINGS):
            length = self._reach / self._curvature()
            inner_left, values, inner_right = np.linalg.svd(core - length * slope)
            values = lowered(values, length * self.strength, self.radius)
            kept = int((values > 0).sum())
            factors = left @ inner_left[:, :kept], right @ inner_right[:kept].T
            target = self._point_at(LowRank.of_factors(*factors, values[:kept]))
            if falls(self._value(target), value, 0.0):
                self.here, self._reach = target, min(2 * self._reach, 1.0)
                break
            self._reach /= 2

    def _improve(self) -> None:
        """A Gauss–Newton step on the factors, by preconditioned conjugate gradients."""
        from scipy.sparse.linalg import LinearOperator, cg

        (parts, slope), here, rows = self._parts(), self.here, self.problem.rows
        roots, height = np.sqrt(parts.weights), len(parts.left)
        left, right = parts.left * roots, parts.right * roots
        factors, level = np.vstack([left, right]), self.strength + self._multiplier(parts)
        binding, curvature = level > self.strength, self._curvature()

        def across(side: Any) -> Array:
            return np.vstack([side @ right, side.T @ left])

        def product(v: Array) -> Array:
            check_cancelled()
            self.passes += 1
            v = along(v).reshape(factors.shape)
            moved = LowRank.of_factors(
                np.hstack([v[:height], left]), np.hstack([right, v[height:]])
            )
            curved = self.problem.gradient(here.curvatures * rows.matvec(self._as_beta(moved)))
            image = across(self.problem.oracle.matrix(curved)) + (level + damping) * v
            return along(image.ravel())

        def along(v: Array) -> Array:
            """v within the sphere's tangent space, where the ball binds."""
            return v - normal * (normal @ v) if binding else v

        def preconditioned(v: Array) -> Array:
            inner = inverse * v
            return inner - bent * (normal @ inner) if binding else inner

        damping = self.damping * curvature * float(parts.weights.max(initial=1.0))
        inverse = 1 / (curvature * parts.weights + level + damping)
        inverse = np.broadcast_to(inverse, factors.shape).ravel()
        normal = factors.ravel() / math.sqrt((factors * factors).sum())
        bent = inverse * normal / (normal @ (inverse * normal))
        downhill = -along((across(slope) + level * factors).ravel())
        sizes = (len(normal),) * 2
        operators = (LinearOperator(sizes, f, dtype=float) for f in (product, preconditioned))
        operator, inverted = operators
        step = cg(operator, downhill, rtol=INEXACT, maxiter=MOST_PRODUCTS, M=inverted)[0]
        if not np.isfinite(step).all():  # as products of rounding alone may make it
            return
        step, value = step.reshape(factors.shape), self._value(here)
        target = here

        def fallen(share: float) -> bool:
            nonlocal target
            moved = factors + share * step
            target = self._point_at(LowRank.of_factors(moved[:height], moved[height:]), binding)
            return falls(self._value(target), value, 0.0)

        if self.longest(fallen) > 0:
            self.here = target

    def _point_at(self, matrix: LowRank, binding: bool = False) -> Point:
        """That matrix, scaled to the sphere where it left the ball, or where the ball binds."""
        norm = matrix.nuclear_norm()
        if norm > self.radius or (binding and norm > 0):
            matrix *= self.radius / norm
        self.passes += 1
        beta = self._as_beta(matrix)
        return Point(self.problem, beta, self.problem.rows.matvec(beta))

    def _as_beta(self, matrix: LowRank) -> Any:
        return matrix if self._in_factors else matrix.to_array().ravel()

    def _value(self, point: Point) -> float:
        return float(point.loss + self.problem.oracle.penalty(point.beta))

    def _curvature(self) -> float:
        """The mean of all eigenvalues of ∇²f."""
        problem = self.problem
        mean = float(problem.mean(self.here.curvatures * self._squares)) / problem.p
        return mean or 1.0


def lowered(values: Array, least: float, radius: float) -> Array:
    """(values − τ)₊ for the smallest τ ≥ ``least`` at which they sum to at most ``radius``.

    The values are in descending order.

    >>> lowered(np.array([3.0, 2.0, 0.5]), 0.0, 3.0)
    array([2., 1., 0.])
    """
    counts = np.arange(1, len(values) + 1)
    tau = ((np.cumsum(values) - radius) / counts).max(initial=least)
    return np.maximum(values - tau, 0.0)

"""Corrections for the l2 ball and ridge: Newton's method with quadratic models over the ball."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rcmd.methods.corrections.columns import gram
from rcmd.methods.corrections.newton import INEXACT, Correction, Point, falls, inverse_of
from rcmd.model.problem import Problem
from rcmd.oracles.l1 import L1Ball
from rcmd.oracles.l2 import L2Ball, Ridge
from rcmd.oracles.product import Product
from rcmd.oracles.vectors import norm
from rcmd.rows.base import DenseRows
from rcmd.rows.processes import check_cancelled
from rcmd.rows.sparse import SparseRows
from rcmd.rows.validation import Array

MOST_PRODUCTS = 500
"""Products with the Hessian for one linear system, at most."""

SYSTEMS, CG_TRIALS, TRIALS = 3, 2, 20
"""Linear systems of a step by conjugate gradients, and values of ν tried by them and otherwise."""

ON_SPHERE = 1e-12
"""By how much ‖β + δ‖ may miss the radius, relatively."""

LAST_FALL = 1e-6
"""If P falls by less, relative to 1 + P, Newton's steps are in their quadratic phase."""

MANY_ROWS = 1000
"""Rows of a dense X that tell the sizes of its columns."""

LARGEST_HESSIAN, LONGEST_ROW = 1000, 200
"""∇²f is formed up to so many variables, and so many entries per row on average."""


def ball_of(problem: Problem) -> tuple[L2Ball | Ridge, float | None] | None:
    """R as an l2 ball or ridge and the bound of an intercept, if any; else ``None``."""
    oracle = problem.bound_oracle
    if isinstance(oracle, L2Ball | Ridge):
        return oracle, None
    if isinstance(oracle, Product) and len(oracle.oracles) == 2 and oracle.sizes[1] == 1:
        ball, interval = oracle.oracles
        if isinstance(ball, L2Ball | Ridge) and isinstance(interval, L1Ball):
            return ball, float(interval.radius)
    return None


class BallCorrection(Correction):
    """Newton's method on f(β) + (strength/2)‖β‖² over ‖β‖ ≤ radius, f(β) = (1/n) Σ l_j(x_jᵀβ).

    A step minimizes the quadratic model of P over the ball: with a multiplier ν ≥ 0 it solves

        (∇²f + (strength + ν) I) δ = −∇f − (strength + ν) β,   ν = 0 or ‖β + δ‖ = radius,

    so that P falls along the way to β + δ. It is solved in units of the radius, whose square may
    overflow. An intercept in [−bound, bound], the last entry of β, is not in the norm: I has a
    zero in its place, and it stays at an end that it would leave.
    ``costs`` are the gradients and oracle calls of finding the start, ``earlier`` corrections of
    another R.
    """

    changing = (*Correction.changing, "_hessian", "_multiplier")

    def __init__(
        self, problem: Problem, beta: Array, *costs: int, earlier: Correction | None = None
    ) -> None:
        super().__init__(problem, *costs, earlier=earlier)
        found = ball_of(problem)
        assert found is not None
        ball, bound = found
        self.radius, self.strength, self.bound = float(ball.radius), float(ball.mu), bound
        self._in_norm, self._units = np.ones(problem.p), np.full(problem.p, self.radius)
        if bound is not None:
            self._in_norm[-1], self._units[-1] = 0.0, bound
        self._matrix = _small_matrix(problem)
        if self._matrix is None:
            self._column_squares = problem.total(lambda: _column_squares(problem.rows)) / problem.n
        self._hessian: Array | None = None
        self._accuracy = INEXACT
        self._unit_strength = self.strength * self.radius * self.radius
        self._squares = problem.prediction_bounds**2
        self.here = self.point_at(beta)
        unit, d = self._in_units()
        inner = self._in_norm * unit
        size = inner @ inner
        pull = -(d @ inner) / size - self._unit_strength if size > 0 else 0.0
        self._multiplier = max(float(pull), 0.0) if size >= 0.9 else 0.0

    def _in_units(self) -> tuple[Array, Array]:
        """β and ∇f in units of the radius, and of the intercept's bound."""
        return self.here.beta / self._units, self.here.slope * self._units

    def round(self, passes: float, enough: float) -> None:
        """One step; in the quadratic phase, where steps are cheap, one more.

        That one costs less than a certificate and makes β exact to rounding, whereas a small gap
        shows only half of its digits.
        """
        before = self.here
        if self._matrix is None:  # the gap is like a square of the slope left
            self._accuracy = self.accuracy(enough, 0.5)
        fall = self._step(passes)
        if self.here is not before and self._matrix is not None and fall <= LAST_FALL:
            self._step(passes)
        self.moved = self.here is not before

    def _step(self, passes: float) -> float:
        """One step, shortened until P falls, or none; returns the relative fall of P."""
        before, beta, value = self.here, self.here.beta, self._value(self.here)
        products = int(min(MOST_PRODUCTS, len(beta), max(passes / SYSTEMS, 1)))
        step, multiplier = self._direction(products)
        tried, target = [before], self._inside(beta + step, multiplier > 0)

        def fallen(share: float) -> bool:
            point = target if share == 1.0 else self._inside(beta + share * (target - beta), False)
            tried.append(self.point_at(point))
            return falls(self._value(tried[-1]), value, 0.0)

        share = self.longest(fallen)
        if share > 0 and (abs(step).any() or multiplier != self._multiplier):
            self._multiplier, self._hessian = multiplier, None
            self.here = tried[-1]
        return (value - self._value(tried[-1])) / (1 + abs(value))

    def _direction(self, products: int) -> tuple[Array, float]:
        """δ and ν; ν by Newton's method on 1 − 1/‖β + δ‖, which is convex in ν."""
        beta, d = self._in_units()
        inner, multiplier = self._in_norm * beta, self._multiplier
        for last in reversed(range(TRIALS if self._matrix is not None else CG_TRIALS)):
            level = self._unit_strength + multiplier
            inverse = self._inverse(multiplier, products)
            step = inverse(-(d + level * inner))
            target = self._in_norm * (beta + step)
            size = float(norm(target))
            if last == 0 or (size <= 1 if multiplier == 0 else abs(size - 1) <= ON_SPHERE):
                break
            across = float(target @ inverse(target))
            multiplier = max(multiplier + size * size * (size - 1) / across, 0.0)
        return step * self._units, multiplier

    def _inverse(self, multiplier: float, products: int) -> Callable[[Array], Array]:
        """(∇²f + (strength + ν) I)⁻¹: by Cholesky where ∇²f is small, else by CG."""
        problem, damping = self.problem, (self._unit_strength + multiplier) * self._in_norm
        curvature = problem.total(lambda: self._curvatures() @ self._squares)
        damping += self.damping * (float(curvature) or 1.0)
        moving = np.ones(problem.p)
        if self.bound is not None:  # an intercept does not leave its interval
            end, pull = self.here.beta[-1], -self.here.slope[-1]
            moving[-1] = abs(end) < self.bound or end * pull < 0
        if self._matrix is None:
            return partial(self._by_gradients, damping, moving, multiplier > 0, products)
        matrix = self._formed() * moving
        matrix[moving == 0] = 0.0
        matrix.flat[:: problem.p + 1] += damping
        solve = inverse_of(matrix)
        return lambda right: solve(moving * right)

    def _by_gradients(
        self, damping: Array, moving: Array, binding: bool, products: int, right: Array
    ) -> Array:
        """The same, in at most so many products with the Hessian."""
        from scipy.sparse.linalg import LinearOperator, cg

        problem, curved, units = self.problem, self._curvatures(), self._units * moving
        level = float(problem.mean(self.here.curvatures))
        diagonal = level * self._column_squares * units * units + damping

        def product(v: Array) -> Array:
            check_cancelled()
            self.passes += 1
            curve = problem.total(lambda: problem.rows.normal_product(curved, units * v))
            return units * curve + damping * v

        right = moving * right
        shape = len(right), len(right)
        operator = LinearOperator(shape, matvec=product, dtype=float)
        about = LinearOperator(shape, matvec=lambda v: v / diagonal, dtype=float)
        accuracy = self._accuracy
        if binding:  # ν is found by Newton's method with these solutions
            accuracy = 1e-3 * min(0.1, float(np.sqrt(np.linalg.norm(right))))
        return cg(operator, right, rtol=accuracy, maxiter=products, M=about)[0]

    def _formed(self) -> Array:
        """∇²f at the present point, computed once for it."""
        if self._hessian is None:
            self.passes += 1
            squares = self._curvatures() * self.radius * self.radius
            shares = self._units / self.radius
            hessian = self.problem.total(lambda: gram(self._matrix, squares))
            self._hessian = hessian * np.outer(shares, shares)
        return self._hessian

    def _curvatures(self) -> Array:
        return self.here.curvatures / self.problem.n

    def _inside(self, beta: Array, binding: bool) -> Array:
        """``beta`` scaled to the sphere where it left the ball, or where the ball binds."""
        size = norm(self._in_norm * beta)
        if binding or size > self.radius:
            beta = np.where(self._in_norm, beta * (self.radius / size), beta)
        if self.bound is not None:
            beta[-1] = np.clip(beta[-1], -self.bound, self.bound)
        return beta

    def _value(self, point: Point) -> float:
        return float(point.loss + (self.strength * point.beta * self._in_norm) @ point.beta / 2)


def _column_squares(rows: Any) -> Any:
    """About Σ_j x_jk² for every column k; where rows have no columns, 1."""
    if isinstance(rows, SparseRows):
        entries = np.asarray(rows.matrix.data, dtype=float)
        return np.bincount(rows.matrix.indices, entries * entries, minlength=rows.p)
    if isinstance(rows, DenseRows):
        some = rows.array[:: max(1, rows.n // MANY_ROWS)]
        return np.einsum("jk,jk->k", some, some, dtype=float) * (rows.n / len(some))
    return np.ones(rows.p)


def _small_matrix(problem: Problem) -> Any:
    """X where Xᵀ diag(c) X costs less than the products with X that it saves, else ``None``."""
    rows = problem.rows
    if isinstance(rows, DenseRows) and rows.p <= LONGEST_ROW:
        return rows.array
    if (
        isinstance(rows, SparseRows)
        and rows.p <= LARGEST_HESSIAN
        and problem.total(lambda: rows.matrix.nnz) <= LONGEST_ROW * problem.n
    ):
        return rows.matrix
    return None

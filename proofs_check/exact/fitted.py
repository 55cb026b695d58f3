"""Small rational problems whose minimizer is known, since their losses are fitted to it.

β* minimizes P if and only if β* ∈ argmin (Xᵀw*/n)ᵀβ + R(β) for w* = ∇L(Xβ*). So w* is drawn,
β* is taken from that argmin, and each loss is shifted until l_j'(x_jᵀβ*) = w*_j.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from proofs_check.exact.losses import Squared, TiltedHuber
from proofs_check.exact.problem import Loss, Regularizer, Small, Vector, dot, mix
from proofs_check.exact.regularizers import Cube, Hull, Parabola, Ridge, cross_polytope
from proofs_check.exact.shifted import through


@dataclass(frozen=True)
class Fitted:
    """A problem, a minimizer β* of P and the extreme points of dom R."""

    problem: Small
    beta: Vector
    corners: tuple[Vector, ...]

    @property
    def w(self) -> Vector:
        """w* = ∇L(Xβ*), a maximizer of D."""
        return self.problem.response(self.problem.predictions(self.beta))

    @property
    def optimum(self) -> Any:
        """P(β*) = D(w*)."""
        return self.problem.primal(self.beta)

    @property
    def bounds(self) -> Vector:
        """M_j = max |x_jᵀβ| over dom R."""
        return row_bounds(self.problem, self.corners)

    @property
    def energy(self) -> Any:
        """(1/n) Σ γ_j M_j², which is γM̄² when all γ_j are equal."""
        pairs = zip(self.problem.losses, self.bounds, strict=True)
        return sum(loss.gamma * bound**2 for loss, bound in pairs) / self.problem.n

    @property
    def radius(self) -> Any:
        """D_max."""
        return largest_distance(self.problem, self.corners)


def corners(regularizer: Regularizer, p: int) -> tuple[Vector, ...]:
    """The extreme points of dom R."""
    if isinstance(regularizer, Cube):
        return tuple(product((regularizer.radius, -regularizer.radius), repeat=p))
    if isinstance(regularizer, Parabola):
        return ((regularizer.lower,), (regularizer.upper,))
    if isinstance(regularizer, Ridge):
        return tuple(product(*((m - regularizer.radius, m + regularizer.radius)
                               for m in regularizer.centre)))  # fmt: skip
    assert isinstance(regularizer, Hull)
    return regularizer.vertices


def row_bounds(problem: Small, corners: tuple[Vector, ...]) -> Vector:
    """M_j = max |x_jᵀβ| over dom R."""
    at_corners = [problem.predictions(corner) for corner in corners]
    return tuple(max(abs(s) for s in column) for column in zip(*at_corners, strict=True))


def largest_distance(problem: Small, corners: tuple[Vector, ...]) -> Any:
    """D_max where losses are squared or p = 1, else the larger sum of each row's largest."""
    zero = (0 * problem.rows[0][0],) * problem.n
    if len(problem.rows[0]) == 1 or all(isinstance(loss, Squared) for loss in problem.losses):
        # D_l(0, s) grows with |s|, and is convex in s for a squared loss.
        return max(problem.bregman(problem.predictions(corner), zero) for corner in corners)
    worst = [
        max(loss.value(0) - loss.value(a) + loss.derivative(a) * a for a in (bound, -bound))
        for loss, bound in zip(problem.losses, row_bounds(problem, corners), strict=True)
    ]
    return sum(worst) / problem.n


def separable(n: int, y: Any) -> Fitted:
    """X = I, l_j = (s − y)²/2 and ‖β‖_∞ ≤ 1, for |y| ≤ 1."""
    unit = tuple(tuple(Fraction(int(i == j)) for i in range(n)) for j in range(n))
    problem = Small(unit, [Squared(Fraction(y))] * n, Cube(Fraction(1)))
    return Fitted(problem, (Fraction(y),) * n, corners(problem.regularizer, n))


def fitted(generator: np.random.Generator, n: int, *, equal: bool = True) -> Fitted:
    """A drawn problem; with ``equal`` all its losses have one γ."""
    regularizer, p = _regularizer(generator)
    rows = tuple(tuple(_number(generator, 4) for _ in range(p)) for _ in range(n))
    inside = generator.random() < 0.3
    w = tuple(Fraction(0) if inside else _number(generator, 2) for _ in range(n))
    ends = corners(regularizer, p)
    slope = tuple(dot(column, w) / n for column in zip(*rows, strict=True))
    beta = _minimizer(generator, regularizer, ends, slope)
    squared = generator.random() < 0.5
    sizes = [Fraction(int(generator.integers(0, 4)), 2) for _ in range(n)]
    losses: list[Loss] = [
        through(_loss(squared, sizes[0 if equal else j]), dot(rows[j], beta), w[j])
        for j in range(n)
    ]
    return Fitted(Small(rows, losses, regularizer), beta, ends)


def family(
    seed: int, count: int, sizes: tuple[int, ...], *, equal: bool = True
) -> Iterator[Fitted]:
    """``count`` drawn problems of each number of samples, those with M = 0 left out."""
    generator = np.random.default_rng(seed)
    for n in sizes:
        found = 0
        while found < count:
            drawn = fitted(generator, n, equal=equal)
            if drawn.energy > 0:
                found += 1
                yield drawn


def _number(generator: np.random.Generator, denominator: int) -> Fraction:
    return Fraction(int(generator.integers(-4, 5)), denominator)


def _regularizer(generator: np.random.Generator) -> tuple[Regularizer, int]:
    kind = int(generator.integers(0, 5))
    if kind == 0:
        return Cube(Fraction(1)), 2
    if kind == 1:
        return cross_polytope(2, Fraction(1)), 2
    if kind == 2:
        return Cube(Fraction(1)), 1
    if kind == 3:
        vertices = [(_number(generator, 4), _number(generator, 4)) for _ in range(3)]
        return Hull(tuple(vertices)), 2
    lower = _number(generator, 4)
    return Parabola(Fraction(1, 4), _number(generator, 2), lower, lower + 1), 1


def _minimizer(
    generator: np.random.Generator,
    regularizer: Regularizer,
    corners: tuple[Vector, ...],
    slope: Vector,
) -> Vector:
    """A point of argmin slopeᵀβ + R(β), inside its face when it has one."""
    if isinstance(regularizer, Parabola):
        return regularizer.argmin(slope)
    least = min(dot(slope, corner) for corner in corners)
    face = [corner for corner in corners if dot(slope, corner) == least]
    point = face[0]
    for corner in face[1:]:
        point = mix(point, corner, Fraction(int(generator.integers(0, 5)), 4))
    return point


def _loss(squared: bool, size: Fraction) -> Loss:
    """A loss of the drawn kind."""
    if squared:
        return Squared(Fraction(0), size + Fraction(1, 2))
    return TiltedHuber(Fraction(1, 2), size / 4, Fraction(0))

"""Regularizers in any number type, ties broken by the first index."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from proofs_check.exact.problem import Vector, dot


@dataclass(frozen=True)
class Parabola:
    """(mu/2)(β − centre)² on lower ≤ β ≤ upper, for one variable."""

    mu: Any
    centre: Any
    lower: Any
    upper: Any

    def argmin(self, c: Vector) -> Vector:
        return (min(max(self.centre - c[0] / self.mu, self.lower), self.upper),)

    def value(self, beta: Vector) -> Any:
        return self.mu * (beta[0] - self.centre) ** 2 / 2


@dataclass(frozen=True)
class Ridge:
    """(mu/2)‖β − centre‖² on the box ‖β − centre‖_∞ ≤ radius."""

    mu: Any
    centre: Vector
    radius: Any

    def argmin(self, c: Vector) -> Vector:
        steps = (min(max(-g / self.mu, -self.radius), self.radius) for g in c)
        return tuple(m + step for m, step in zip(self.centre, steps, strict=True))

    def value(self, beta: Vector) -> Any:
        return self.mu * sum((b - m) ** 2 for b, m in zip(beta, self.centre, strict=True)) / 2


@dataclass(frozen=True)
class Cube:
    """The indicator of ‖β‖_∞ ≤ radius."""

    radius: Any
    mu = 0

    def argmin(self, c: Vector) -> Vector:
        return tuple(-self.radius if g > 0 else self.radius for g in c)

    def value(self, beta: Vector) -> Any:
        return 0


@dataclass(frozen=True)
class Hull:
    """The indicator of the convex hull of ``vertices``."""

    vertices: tuple[Vector, ...]
    mu = 0

    def argmin(self, c: Vector) -> Vector:
        return min(self.vertices, key=lambda vertex: dot(c, vertex))

    def value(self, beta: Vector) -> Any:
        return 0


def cross_polytope(p: int, radius: Any) -> Hull:
    """‖β‖₁ ≤ radius."""
    zero = 0 * radius
    ends = [(sign * radius, k) for k in range(p) for sign in (1, -1)]
    return Hull(tuple(tuple(v if i == k else zero for i in range(p)) for v, k in ends))

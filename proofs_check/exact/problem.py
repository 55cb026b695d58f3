"""A small problem: P, D, φ and D_h, straight from their definitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, Protocol

Vector = tuple[Any, ...]


class Loss(Protocol):
    """One sample's loss l_j, its label inside."""

    @property
    def gamma(self) -> Any:
        """Lipschitz constant of l'."""

    def value(self, s: Any) -> Any:
        """l(s)."""

    def derivative(self, s: Any) -> Any:
        """l'(s)."""

    def conjugate(self, w: Any) -> Any:
        """l*(w)."""


class Regularizer(Protocol):
    """R on a bounded domain."""

    @property
    def mu(self) -> Any:
        """Strong convexity of R."""

    def argmin(self, c: Vector) -> Vector:
        """A minimizer of cᵀβ + R(β), the same one every time."""

    def value(self, beta: Vector) -> Any:
        """R(β) for β in dom R."""


def dot(a: Vector, b: Vector) -> Any:
    """aᵀb."""
    return sum((x * y for x, y in zip(a, b, strict=True)), 0 * a[0])


def mix(a: Vector, b: Vector, weight: Any) -> Vector:
    """(1 − weight) a + weight b."""
    return tuple((1 - weight) * x + weight * y for x, y in zip(a, b, strict=True))


def remembered(method: Callable[..., Any]) -> Callable[..., Any]:
    """Keep what a method returned: paths have many points in common, and checks have paths."""

    @wraps(method)
    def found(self: Any, *vectors: Vector) -> Any:
        known = vars(self).setdefault(f"_{method.__name__}", {})
        if vectors not in known:
            known[vectors] = method(self, *vectors)
        return known[vectors]

    return found


@dataclass(frozen=True)
class Small:
    """min P(β) = (1/n) Σ_j l_j(x_jᵀβ) + R(β)."""

    rows: tuple[Vector, ...]
    losses: Sequence[Loss]
    regularizer: Regularizer

    @property
    def n(self) -> int:
        """Samples."""
        return len(self.rows)

    @remembered
    def predictions(self, beta: Vector) -> Vector:
        """Xβ."""
        return tuple(dot(row, beta) for row in self.rows)

    @remembered
    def response(self, s: Vector) -> Vector:
        """∇L(s)."""
        return tuple(loss.derivative(x) for loss, x in zip(self.losses, s, strict=True))

    @remembered
    def slope(self, w: Vector) -> Vector:
        """Xᵀw/n."""
        return tuple(dot(column, w) / self.n for column in zip(*self.rows, strict=True))

    @remembered
    def atom(self, w: Vector) -> Vector:
        """β̃ ∈ argmin (Xᵀw/n)ᵀβ + R(β)."""
        return self.regularizer.argmin(self.slope(w))

    @remembered
    def primal(self, beta: Vector) -> Any:
        """P(β)."""
        values = zip(self.losses, self.predictions(beta), strict=True)
        return sum(loss.value(s) for loss, s in values) / self.n + self.regularizer.value(beta)

    @remembered
    def dual(self, w: Vector) -> Any:
        """D(w)."""
        return self.saddle(self.atom(w), w)

    @remembered
    def saddle(self, beta: Vector, w: Vector) -> Any:
        """φ(β, w)."""
        coupling = dot(self.slope(w), beta)
        return coupling - self.conjugate(w) + self.regularizer.value(beta)

    @remembered
    def conjugate(self, w: Vector) -> Any:
        """h(w) = L*(w)/n."""
        return sum(loss.conjugate(v) for loss, v in zip(self.losses, w, strict=True)) / self.n

    @remembered
    def bregman(self, s_to: Vector, s_from: Vector) -> Any:
        """D_h(∇L(s_to), ∇L(s_from)) = (1/n) Σ_j D_{l_j}(s_from, s_to), by Bregman duality."""
        return (
            sum(
                loss.value(b) - loss.value(a) - loss.derivative(a) * (b - a)
                for loss, a, b in zip(self.losses, s_to, s_from, strict=True)
            )
            / self.n
        )

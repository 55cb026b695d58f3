"""The l2 ball and ridge: atoms that are scaled copies of −c."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import DenseAtom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.coordinatewise import Coordinatewise
from rcmd.oracles.lp import row_norms
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


class OnL2Ball(LinearMinOracle, Coordinatewise):
    """What every R with the domain ‖β‖₂ ≤ radius shares; M_j = radius·‖x_j‖₂."""

    radius: Any

    def shape(self, c: Any) -> Any:
        return -c

    def mass(self, c: Any) -> Any:
        return c * c

    def violation(self, beta: Array) -> Any:
        # By squares, so that fractions need no root.
        scaled = beta / self.radius
        return max(scaled @ scaled - 1, 0) / 2

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        bounds = self.radius * norms_of_rows(rows)
        return -bounds, bounds

    def boundary_slack(self, beta: Array, atom: Array) -> Any:
        """1 − atomᵀβ/radius² for an atom on the sphere, as a sum of non-negative terms."""
        # In units of the radius, whose square may overflow or vanish.
        scaled = beta / self.radius
        gap = scaled - atom / self.radius
        return (gap @ gap) / 2 + max(1 - scaled @ scaled, 0) / 2


@dataclass(frozen=True)
class L2Ball(OnL2Ball):
    """The set {‖β‖₂ ≤ radius}.

    Examples
    --------
    >>> L2Ball(5.0).argmin(np.array([3.0, -4.0])).vector
    array([-3.,  4.])
    """

    radius: Any
    formula = "indicator of ‖β‖₂ ≤ {radius}"

    def __post_init__(self) -> None:
        positive("radius", self.radius, "L2Ball")

    def scale(self, total: Any) -> Any:
        return self.radius / math.sqrt(total) if total > 0.0 else 0.0

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(direction(c, -self.radius))

    def minimum(self, c: Array) -> Any:
        return -self.radius * norm(c)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """(‖c‖/radius) (‖β − β̃‖² + radius² − ‖β‖²)/2."""
        return norm(c) * self.radius * self.boundary_slack(beta, self.argmin(c).vector)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        return 0, [cp.norm2(beta) <= float(self.radius)]


@dataclass(frozen=True)
class Ridge(OnL2Ball):
    """R(β) = (strength/2)·‖β‖₂² on the ball ‖β‖₂ ≤ radius; μ = strength.

    Left open, the radius is the smaller of √((1/n)Σ_j sup_s −s·l_j'(s) / strength) and
    ‖∇f(0)‖/strength, neither of which an optimum leaves: at one,
    strength·‖β‖₂² = −∇f(β)ᵀβ ≤ −∇f(0)ᵀβ.

    Examples
    --------
    >>> ridge = Ridge(0.5, radius=2.0)
    >>> ridge.mu, ridge.argmin(np.array([0.25, 0.0])).dense(np.zeros(2))
    (0.5, array([-0.5,  0. ]))
    """

    strength: Any
    radius: Any = None
    indicator = False
    formula = "½·{strength}·‖β‖₂² on ‖β‖₂ ≤ {radius}"

    def __post_init__(self) -> None:
        positive("strength", self.strength, "Ridge")
        if self.radius is not None:
            positive("radius", self.radius, "Ridge")

    @property
    def mu(self) -> Any:
        return self.strength

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Ridge:
        if self.radius is not None:
            return self
        start = 0 * losses.y if offset is None else offset
        slope = rows.rmatvec(losses.derivative(start)) / rows.n
        by_descent = math.sqrt(losses.largest_descent(offset) / self.strength)
        by_slope = norm(slope.astype(float)) / self.strength
        # Rounded up, so that no rounding cuts the optimum off; a zero slope puts it at zero.
        radius = float(min(by_descent, by_slope)) * (1 + 1e-12) or 1.0
        return replace(self, radius=Fraction(radius) if rows.exact else radius)

    def scale(self, total: Any) -> Any:
        # A running sum of squares may round below zero, where the atom is free.
        norm = math.sqrt(total) if total > 0.0 else 0.0
        return 1.0 / self.strength if norm <= self.strength * self.radius else self.radius / norm

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(self.minimizer(c))

    def minimizer(self, c: Array, out: Array | None = None) -> Array:
        """The atom's vector, in the memory of ``out`` where that may be used."""
        if not self._free(c):
            return direction(c, -self.radius, out)
        # One division is cheaper than p; of fractions and of the smallest numbers p are safer.
        if c.dtype == float and self.strength > SMALL:
            return np.multiply(c, -1 / self.strength, out=out)
        return c / -self.strength

    def minimum(self, c: Array) -> Any:
        if c.dtype == object and self._free(c):
            return -(c / self.strength @ c) / 2
        size = norm(c)
        if size <= self.strength * self.radius:
            return -(size / self.strength * size) / 2
        return self.radius * (self.strength * self.radius / 2 - size)

    def _free(self, c: Array) -> Any:
        """Whether −c/strength lies in the ball."""
        reach = self.strength * self.radius
        # By squares where numbers are exact, so that fractions need no root.
        return c @ c <= reach * reach if c.dtype == object else norm(c) <= reach

    def penalty(self, beta: Array) -> Any:
        # In this order, as squares of β may overflow or vanish where R(β) does not.
        return (self.strength * beta) @ beta / 2

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """(strength/2)‖β − β̃‖², plus the slack of the sphere where β̃ lies on it."""
        atom = self.argmin(c).vector
        gap = beta - atom
        curved = (self.strength * gap) @ gap / 2
        if self._free(c):
            return curved
        steeper = (norm(c) - self.strength * self.radius) * self.radius
        return curved + steeper * self.boundary_slack(beta, atom)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        penalty = float(self.strength) / 2 * cp.sum_squares(beta)
        return penalty, [cp.norm2(beta) <= float(self.radius)]


SMALL, LARGE = 1e-200, 1e200
"""Sums of squares between them have neither overflowed nor lost terms that count."""


def direction(vector: Array, length: Any = 1, out: Array | None = None) -> Array:
    """length·vector/‖vector‖₂, or 0 for 0; entries may be so small that 1/‖vector‖₂ overflows.

    ``out`` is memory that the answer may use: fresh pages cost more than the arithmetic.

    Examples
    --------
    >>> direction(np.array([3e-310, -4e-310]), 5.0).round(6)
    array([ 3., -4.])
    """
    square = _square(vector)
    if SMALL < square < LARGE and SMALL < abs(length) < LARGE:
        return np.multiply(vector, length / math.sqrt(square), out=out)
    if vector.dtype != object:
        vector = vector / (float(abs(vector).max()) or 1.0)
    size = norm(vector)
    return vector / size * length if size > 0 else 0 * vector


def norm(vector: Array) -> Any:
    """‖vector‖₂; for fractions only where the root is one."""
    if vector.dtype == object:
        return _rational_norm(vector)
    square = _square(vector)
    if SMALL < square < LARGE:
        return math.sqrt(square)
    # Scaled by the largest entry, so that squares neither overflow nor vanish.
    largest = float(abs(vector).max())
    if largest == 0 or math.isinf(largest):
        return largest
    scaled = vector / largest
    return largest * math.sqrt(scaled @ scaled)


def norms_of_rows(rows: Rows) -> Array:
    """‖x_j‖₂ for every row, as floats."""
    with np.errstate(over="ignore"):
        squares = rows.square_norms().astype(float)
    small = squares <= SMALL
    if squares.max() < LARGE and not (small.any() and rows.max_norms()[small].any()):
        return np.sqrt(squares)
    return rows.reduce(lambda entries, _: row_norms(entries, 2.0))


def _square(vector: Array) -> float:
    """vectorᵀvector, overflowed or vanished as may be; 0 where the numbers are no doubles."""
    if vector.dtype != float:
        return 0.0
    with np.errstate(over="ignore", under="ignore"):
        return float(vector @ vector)


def _rational_norm(vector: Array) -> Fraction:
    square: Any = vector @ vector
    square = Fraction(square)
    root = Fraction(math.isqrt(square.numerator), math.isqrt(square.denominator))
    if root * root != square:
        raise ValueError(
            f"the Euclidean norm of a vector with square {square} is irrational; exact runs "
            "need an oracle without square roots (l1 ball, box, simplex, or ridge in a larger ball)"
        )
    return root

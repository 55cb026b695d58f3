"""Euclidean balls: the l2 ball, ridge and the elastic net."""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import Array, CoordinateRule, Coordinatewise, NormBall, cp
from rcmd.oracles.vectors import LARGE, SMALL, direction, norm, row_norms
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom


class OnL2Ball(NormBall, Coordinatewise):
    """What every R with the domain ‖β‖₂ ≤ radius shares."""

    bound_words, numpy_pass = "radius·‖x‖₂", "-2.0 * c, c @ c"

    def shape(self, c: Any) -> Any:
        return -c

    def mass(self, c: Any) -> Any:
        return c * c

    def norm(self, beta: Array) -> Any:
        return norm(beta)

    def dual_norm(self, c: Array) -> Any:
        return norm(c)

    def norms_of_rows(self, rows: Rows) -> Array:
        with np.errstate(over="ignore"):
            squares = rows.square_norms().astype(float, copy=False)
        vanished = squares.min() <= SMALL and rows.max_norms()[squares <= SMALL].any()
        if squares.max() < LARGE and not vanished:
            return np.sqrt(squares)
        return rows.reduce(lambda entries, _: row_norms(entries, 2.0))

    def violation(self, beta: Array) -> Any:
        # By squares, so that fractions need no root.
        scaled = beta / self.radius
        return max(scaled @ scaled - 1, 0) / 2

    def boundary_slack(self, beta: Array, atom: Array) -> Any:
        """1 − atomᵀβ/radius² for an atom on the sphere, as a sum of non-negative terms."""
        # In units of the radius, whose square may overflow or vanish.
        scaled = beta / self.radius
        gap = atom / self.radius
        gap -= scaled  # in place: p may be large
        return (gap @ gap) / 2 + max(1 - scaled @ scaled, 0) / 2

    def cvxpy_norm(self, beta: Any) -> Any:
        return cp.norm2(beta)


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
    spec = "l2:RADIUS"

    def scale(self, total: Any) -> Any:
        return self.radius / math.sqrt(total) if total > 0.0 else 0.0

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(direction(c, -self.radius))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """(‖c‖/radius) (‖β − β̃‖² + radius² − ‖β‖²)/2."""
        return norm(c) * self.radius * self.boundary_slack(beta, self.argmin(c).vector)


class OnRidge(OnL2Ball):
    """(strength/2)·‖β‖₂² on ‖β‖₂ ≤ radius, and what a penalty with a kink at 0 adds to it."""

    strength: Any
    indicator = False

    @property
    def mu(self) -> Any:
        return self.strength

    def thresholded(self, c: Array) -> Array:
        """c less what the kink of R at 0 takes away."""
        return c

    def radius_by_descent(self, descent: Any) -> Any:
        """The largest ‖β‖₂ of an optimum, at which −∇f(β)ᵀβ ≤ descent."""
        return math.sqrt(descent / self.strength)

    def bind(self, rows: Rows, losses: Any, offset: Array | None = None) -> Self:
        """An open radius becomes the smaller of two that no optimum leaves.

        Rounded up, so that no rounding cuts the optimum off; a zero slope puts it at zero.
        """
        if self.radius is not None:
            return self
        start = 0 * losses.y if offset is None else offset
        slope = self.thresholded(rows.rmatvec(losses.derivative(start)) / rows.n)
        by_slope = norm(slope.astype(float)) / self.mu
        by_descent = self.radius_by_descent(losses.largest_descent(offset))
        radius = float(min(by_descent, by_slope)) * (1 + 1e-12) or 1.0
        return replace(self, radius=Fraction(radius) if rows.exact else radius)  # type: ignore[type-var]

    def scale(self, total: Any) -> Any:
        # A running sum of squares may round below zero, where the atom is free.
        norm = math.sqrt(total) if total > 0.0 else 0.0
        return 1.0 / self.strength if norm <= self.strength * self.radius else self.radius / norm

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(self.minimizer(c))

    def minimizer(self, c: Array, out: Array | None = None) -> Array:
        """The atom's vector without a kink, in the memory of ``out`` where that may be used."""
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
        atom = self.minimizer(c)
        gap = beta - atom
        curved = (self.strength * gap) @ gap / 2
        if self._free(c):
            return curved
        steeper = (norm(c) - self.strength * self.radius) * self.radius
        return curved + steeper * self.boundary_slack(beta, atom)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        penalty = float(self.strength) / 2 * cp.sum_squares(beta)
        return penalty, super().cvxpy_form(beta)[1]


@dataclass(frozen=True)
class Ridge(OnRidge):
    """R(β) = (strength/2)·‖β‖₂² on the ball ‖β‖₂ ≤ radius; μ = strength.

    Left open, the radius is the smaller of √((1/n)Σ_j sup_s −s·l_j'(s) / strength) and
    ‖∇f(0)‖/strength, neither of which an optimum leaves: at one,
    strength·‖β‖₂² = −∇f(β)ᵀβ ≤ −∇f(0)ᵀβ.

    Examples
    --------
    >>> ridge = Ridge(0.5, radius=2.0)
    >>> ridge.mu, ridge.argmin(np.array([0.25, 0.0])).dense(np.zeros(2))
    (0.5, array([-0.5, -0. ]))
    """

    strength: Any
    radius: Any = None
    positive_fields = "strength", "radius"
    formula = "½·{strength}·‖β‖₂² on ‖β‖₂ ≤ {radius}"
    spec, mu_words = "ridge:STRENGTH[:RADIUS]", "strength"


@dataclass(frozen=True)
class ElasticNet(OnRidge):
    """R(β) = l1_strength·‖β‖₁ + (l2_strength/2)·‖β‖₂² on ‖β‖₂ ≤ radius; μ = l2_strength.

    cᵀβ + l1_strength·‖β‖₁ ≥ tᵀβ for the soft-thresholded t = sign(c)(|c| − l1_strength)₊, with
    equality where β is against t: minimizing is ridge at t.

    Left open, the radius is the smaller of the r with l2_strength·r² + l1_strength·r =
    (1/n)Σ_j sup_s −s·l_j'(s) and ‖soft-thresholded ∇f(0)‖/l2_strength, for the reason that
    ``Ridge`` gives.

    Examples
    --------
    >>> ElasticNet(1.0, 2.0, 10.0).argmin(np.array([3.0, -2.0])).vector
    array([-1. ,  0.5])
    """

    l1_strength: Any
    l2_strength: Any
    radius: Any = None
    positive_fields = "l1_strength", "l2_strength", "radius"
    formula = "{l1_strength}·‖β‖₁ + ½·{l2_strength}·‖β‖₂² on ‖β‖₂ ≤ {radius}"
    spec, mu_words = "elastic-net:L1_STRENGTH:L2_STRENGTH[:RADIUS]", "l2_strength"

    @property
    def strength(self) -> Any:
        """That of the ridge."""
        return self.l2_strength

    def coordinate_rule(self, p: int) -> CoordinateRule:
        return CoordinateRule(self.l1_strength, self.l2_strength)

    def radius_by_descent(self, descent: Any) -> Any:
        # The root of the quadratic without the difference of two like numbers.
        second = 2 * math.sqrt(self.l2_strength) * math.sqrt(descent)
        return 2 * descent / (self.l1_strength + math.hypot(self.l1_strength, second))

    def shape(self, c: Any) -> Any:
        if c > self.l1_strength:
            return self.l1_strength - c
        return -self.l1_strength - c if c < -self.l1_strength else 0.0

    def mass(self, c: Any) -> Any:
        over = abs(c) - self.l1_strength
        return over * over if over > 0.0 else 0.0

    def thresholded(self, c: Array) -> Array:
        clipped = self._clipped(c)
        return np.subtract(c, clipped, out=clipped)

    def _clipped(self, c: Array) -> Array:
        """c brought into ±l1_strength; ``np.clip`` takes four times as long for short vectors."""
        clipped = np.minimum(c, self.l1_strength)
        return np.maximum(clipped, -self.l1_strength, out=clipped)

    def argmin(self, c: Array) -> DenseAtom:
        thresholded = self.thresholded(c)
        return DenseAtom(self.minimizer(thresholded, out=thresholded))

    def minimum(self, c: Array) -> Any:
        return super().minimum(self.thresholded(c))

    def penalty(self, beta: Array) -> Any:
        return self.l1_strength * abs(beta).sum() + super().penalty(beta)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """That of ridge at the soft-thresholded t, plus Σ_j |β_j| l1_strength + (c_j − t_j) β_j."""
        clipped = self._clipped(c)
        curved = super().fenchel_young(beta, c - clipped)
        return curved + np.maximum(self.l1_strength * abs(beta) + clipped * beta, 0).sum()

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        penalty, inside = super().cvxpy_form(beta)
        return float(self.l1_strength) * cp.norm1(beta) + penalty, inside

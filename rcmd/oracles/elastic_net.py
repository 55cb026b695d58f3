"""The elastic net: soft thresholding before ridge."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import DenseAtom
from rcmd.oracles.base import Array
from rcmd.oracles.l2 import OnL2Ball, Ridge, norm
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


@dataclass(frozen=True)
class ElasticNet(OnL2Ball):
    """R(β) = l1_strength·‖β‖₁ + (l2_strength/2)·‖β‖₂² on ‖β‖₂ ≤ radius; μ = l2_strength.

    cᵀβ + l1_strength·‖β‖₁ ≥ tᵀβ for the soft-thresholded t = sign(c)(|c| − l1_strength)₊, with
    equality where β is against t: minimizing is ridge at t.

    Left open, the radius is the smaller of the r with l2_strength·r² + l1_strength·r =
    (1/n)Σ_j sup_s −s·l_j'(s) and ‖soft-thresholded ∇f(0)‖/l2_strength, neither of which an
    optimum leaves: at one, l2_strength·‖β‖₂² + l1_strength·‖β‖₁ = −∇f(β)ᵀβ ≤ −∇f(0)ᵀβ.

    Examples
    --------
    >>> ElasticNet(1.0, 2.0, 10.0).argmin(np.array([3.0, -2.0])).vector
    array([-1. ,  0.5])
    """

    l1_strength: Any
    l2_strength: Any
    radius: Any = None
    indicator = False
    formula = "{l1_strength}·‖β‖₁ + ½·{l2_strength}·‖β‖₂² on ‖β‖₂ ≤ {radius}"

    def __post_init__(self) -> None:
        positive("l1_strength", self.l1_strength, "ElasticNet")
        positive("l2_strength", self.l2_strength, "ElasticNet")
        if self.radius is not None:
            positive("radius", self.radius, "ElasticNet")

    @property
    def mu(self) -> Any:
        return self.l2_strength

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> ElasticNet:
        if self.radius is not None:
            return self
        start = 0 * losses.y if offset is None else offset
        slope = self._thresholded(rows.rmatvec(losses.derivative(start)) / rows.n)
        descent, first = losses.largest_descent(offset), self.l1_strength
        # The root of the quadratic without the difference of two like numbers.
        second = 2 * math.sqrt(self.l2_strength) * math.sqrt(descent)
        by_descent = 2 * descent / (first + math.hypot(first, second))
        by_slope = norm(slope.astype(float)) / self.l2_strength
        # Rounded up, so that no rounding cuts the optimum off; a zero slope puts it at zero.
        radius = float(min(by_descent, by_slope)) * (1 + 1e-12) or 1.0
        return replace(self, radius=Fraction(radius) if rows.exact else radius)

    def shape(self, c: Any) -> Any:
        if c > self.l1_strength:
            return self.l1_strength - c
        return -self.l1_strength - c if c < -self.l1_strength else 0.0

    def mass(self, c: Any) -> Any:
        over = abs(c) - self.l1_strength
        return over * over if over > 0.0 else 0.0

    def scale(self, total: Any) -> Any:
        # A running sum of squares may round below zero, where the atom is free.
        size = math.sqrt(total) if total > 0.0 else 0.0
        reach = self.l2_strength * self.radius
        return 1.0 / self.l2_strength if size <= reach else self.radius / size

    def argmin(self, c: Array) -> DenseAtom:
        thresholded = self._thresholded(c)
        return DenseAtom(self._ridge().minimizer(thresholded, out=thresholded))

    def minimum(self, c: Array) -> Any:
        return self._ridge().minimum(self._thresholded(c))

    def penalty(self, beta: Array) -> Any:
        return self.l1_strength * abs(beta).sum() + self._ridge().penalty(beta)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """That of ridge at the soft-thresholded t, plus Σ_j |β_j| l1_strength + (c_j − t_j) β_j."""
        curved = self._ridge().fenchel_young(beta, self._thresholded(c))
        clipped = np.clip(c, -self.l1_strength, self.l1_strength)
        return curved + np.maximum(self.l1_strength * abs(beta) + clipped * beta, 0).sum()

    def _ridge(self) -> Ridge:
        return Ridge(self.l2_strength, self.radius)

    def _thresholded(self, c: Array) -> Array:
        clipped = np.clip(c, -self.l1_strength, self.l1_strength)
        return np.subtract(c, clipped, out=clipped)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        penalty, inside = self._ridge().cvxpy_form(beta)
        return float(self.l1_strength) * cp.norm1(beta) + penalty, inside

"""The lp balls between l1 and l∞, and the l∞ ball."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.oracles.base import IRRATIONAL, Array, Coordinatewise, NormBall, cp
from rcmd.oracles.vectors import row_norms
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.validation import positive


@dataclass(frozen=True)
class LpBall(NormBall):
    """The set {‖β‖_order ≤ radius} for 1 < order < ∞; M_j = radius·‖x_j‖_dual.

    The dual order has 1/order + 1/dual = 1.

    Examples
    --------
    >>> ball = LpBall(10.0, 1.5)
    >>> round(float(ball.minimum(np.array([3.0, -4.0, 5.0]))), 9)  # 3³ + 4³ + 5³ = 6³
    -60.0
    """

    radius: Any
    order: Any
    formula = "indicator of ‖β‖ ≤ {radius} in the norm of order {order}"
    short_formula = "‖β‖_order ≤ radius"
    spec, bound_words = "lp:RADIUS:ORDER", "radius·‖x‖_q, 1/q = 1 − 1/order"
    numpy_pass = "np.power(abs(c), 1.7)"
    refuses_exact = IRRATIONAL

    @classmethod
    def example(cls, draw: Any) -> LpBall:
        return cls(draw.magnitude(), 1.05 + draw.magnitude(1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order in (1, 2, math.inf):
            raise ValueError(
                f"order of LpBall is {self.order!r}, which has a class of its own: use L1Ball, "
                "L2Ball or LInfBall"
            )
        positive("order", self.order, "LpBall")
        if self.order < 1:
            raise ValueError(
                f"order of LpBall is {self.order!r}; expected a number above 1, below which "
                "there is no norm"
            )

    @property
    def dual(self) -> float:
        """order/(order − 1), the order of the dual norm."""
        return float(self.order / (self.order - 1))

    def argmin(self, c: Array) -> DenseAtom:
        sizes = np.abs(c, dtype=float)
        scale = float(sizes.max())
        if scale == 0:
            return DenseAtom(sizes)
        sizes /= scale
        powers = sizes ** float(1 / (self.order - 1))
        # Σ sizes·powers = Σ sizes^dual ≥ 1, whatever the order.
        factor = self.radius / float(sizes @ powers) ** (1 / float(self.order))
        np.copysign(powers, c, out=powers)
        powers *= -factor
        return DenseAtom(powers)

    def norm(self, beta: Array) -> Any:
        return row_norms(beta[None], float(self.order))[0]

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        return row_norms(entries, self.dual)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """‖c‖·radius·[Σ_j t_j^q/q + |b_j|^p/p − t_j b_j + (1 − Σ_j |b_j|^p)/p], Young's terms.

        Here p and q are the order and its dual, t = |c|/‖c‖_q and b = −β sign(c)/radius.
        """
        order, dual = float(self.order), self.dual
        norm = self.dual_norm(c)
        if norm == 0:
            return 0.0
        t, b = abs(c) / norm, np.clip(-beta * np.sign(c) / self.radius, -1, 1)
        # Where c_j = 0, b_j counts by its size alone.
        powers = np.minimum(abs(beta) / self.radius, 1) ** order
        young = np.maximum(t**dual / dual + powers / order - t * b, 0).sum()
        return self.radius * norm * (young + max(1 - powers.sum(), 0) / order)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        powers = cp.Variable(beta.size)
        # |β_j|/radius ≤ powers_j^(1/order) as a cone.
        cones = cp.PowCone3D(
            powers, np.ones(beta.size), beta / float(self.radius), 1 / float(self.order)
        )
        return 0, [cones, cp.sum(powers) <= 1]


@dataclass(frozen=True)
class LInfBall(NormBall, Coordinatewise):
    """The set {‖β‖_∞ ≤ radius}; M_j = radius·‖x_j‖₁.

    Examples
    --------
    >>> LInfBall(2.0).argmin(np.array([0.5, -1.0, 0.0])).vector
    array([-2.,  2.,  2.])
    """

    radius: Any
    formula = "indicator of ‖β‖_∞ ≤ {radius}"
    spec, bound_words = "linf:RADIUS", "radius·‖x‖₁"
    numpy_pass = "abs(c).argmax()"

    def shape(self, c: Any) -> Any:
        return -self.radius if c > 0 else self.radius

    def argmin(self, c: Array) -> DenseAtom:
        # Five times as fast as np.where, whose branches random signs defeat.
        return DenseAtom((c > 0) * (-2 * self.radius) + self.radius)

    def norm(self, beta: Array) -> Any:
        return abs(beta).max()

    def dual_norm(self, c: Array) -> Any:
        return abs(c).sum()

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_j |c_j| (radius + β_j sign c_j)."""
        distance = self.radius + np.where(c > 0, beta, -beta)
        return (abs(c) * np.maximum(distance, 0)).sum()

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        corner = np.full(rows.p, self.radius, dtype=rows.number_type)
        return rows.box_range(-corner, corner)

    def cvxpy_norm(self, beta: Any) -> Any:
        return cp.norm_inf(beta)

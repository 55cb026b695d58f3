"""The lp balls between l1 and l∞."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import DenseAtom
from rcmd.oracles.base import Array
from rcmd.oracles.irrational import Irrational
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.rows import Rows


@dataclass(frozen=True)
class LpBall(Irrational):
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

    def __post_init__(self) -> None:
        positive("radius", self.radius, "LpBall")
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

    def minimum(self, c: Array) -> Any:
        return -self.radius * row_norms(c[None], self.dual)[0]

    def violation(self, beta: Array) -> Any:
        return max(row_norms(beta[None], float(self.order))[0] / self.radius - 1, 0)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """‖c‖·radius·[Σ_j t_j^q/q + |b_j|^p/p − t_j b_j + (1 − Σ_j |b_j|^p)/p], Young's terms.

        Here p and q are the order and its dual, t = |c|/‖c‖_q and b = −β sign(c)/radius.
        """
        order, dual = float(self.order), self.dual
        norm = row_norms(c[None], dual)[0]
        if norm == 0:
            return 0.0
        t, b = abs(c) / norm, np.clip(-beta * np.sign(c) / self.radius, -1, 1)
        # Where c_j = 0, b_j counts by its size alone.
        powers = np.minimum(abs(beta) / self.radius, 1) ** order
        young = np.maximum(t**dual / dual + powers / order - t * b, 0).sum()
        return self.radius * norm * (young + max(1 - powers.sum(), 0) / order)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        bounds = self.radius * rows.reduce(lambda entries, _: row_norms(entries, self.dual))
        return -bounds, bounds

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        powers = cp.Variable(beta.size)
        # |β_j|/radius ≤ powers_j^(1/order) as a cone.
        cones = cp.PowCone3D(
            powers, np.ones(beta.size), beta / float(self.radius), 1 / float(self.order)
        )
        return 0, [cones, cp.sum(powers) <= 1]


def row_norms(entries: Array, order: float) -> Array:
    """‖·‖_order of every row, scaled so that powers neither overflow nor all vanish."""
    sizes = np.abs(entries, dtype=float)
    scales = sizes.max(axis=1)
    sizes /= np.where(scales > 0, scales, 1.0)[:, None]
    sizes **= order
    norms: Array = scales * sizes.sum(axis=1) ** (1 / order)
    return norms

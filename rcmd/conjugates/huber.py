"""Huber's loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.scalars import (
    bathtub_radius,
    clipped_curvature,
    clipped_descent,
    clipped_gap,
    clipped_slope,
    clipped_value,
    outside,
)
from rcmd.rows.validation import positive


@dataclass(frozen=True)
class Huber(SeparableConjugate):
    """r²/2 for |r| ≤ width, continued by its tangents; r = s − y, γ = 1; any number type.

    l*(w) = w²/2 + wy on |w| ≤ width. At w = ±width every r beyond ±width has that slope;
    ``conjugate_derivative`` returns the one nearest to the label.

    Examples
    --------
    >>> Huber(1.0).value(5.0, 2.0), Huber(1.0).derivative(5.0, 2.0)
    (2.5, 1.0)
    """

    width: Any = 1.0
    strictly_convex = False
    formula = "½r² for |r| ≤ width, else width·|r| − ½width², r = s − y"
    spec = "huber[:WIDTH]"
    note = (
        "not strictly convex: at w = ±width the loss does not determine s, and "
        "conjugate_derivative returns y ± width, the nearest of many"
    )

    def __post_init__(self) -> None:
        positive("width", self.width, "Huber", bounded=False)

    @property
    def gamma(self) -> Any:
        return 1

    def value(self, s: Any, y: Any) -> Any:
        return clipped_value(s - y, -self.width, self.width, 1)

    def derivative(self, s: Any, y: Any) -> Any:
        return clipped_slope(s - y, -self.width, self.width, 1)

    def second_derivative(self, s: Any, y: Any) -> Any:
        return clipped_curvature(s - y, -self.width, self.width, 1 + 0 * s)

    def conjugate(self, w: Any, y: Any) -> Any:
        if outside(w, -self.width, self.width):
            return math.inf
        return w * w / 2 + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        if outside(w, -self.width, self.width):
            return math.inf if w > 0 else -math.inf
        return w + y

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-self.width, self.width)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """(r − w)²/2 on the parabola, a product of two non-negative factors beyond it."""
        if outside(w, -self.width, self.width):
            return math.inf
        return clipped_gap(s - y, w, -self.width, self.width, 1)

    def bregman_radius(self, bound: Any) -> Any:
        """bound²/2 while bound ≤ 2 width, then 2 width (bound − width): the sup over labels."""
        return bathtub_radius(1, 2 * self.width, bound)

    def descent_bound(self, y: Any) -> Any:
        """y²/4 while |y| ≤ 2 width, then width (|y| − width)."""
        return clipped_descent(abs(y), self.width, 1)

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.huber(predictions - y, float(self.width)) / 2

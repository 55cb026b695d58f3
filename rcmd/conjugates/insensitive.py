"""The smoothed ε-insensitive loss of support vector regression."""

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
class EpsilonInsensitive(SeparableConjugate):
    """(|r| − tolerance)₊ with its kinks replaced by parabolas; r = s − y, γ = 1/width.

    l*(w) = width·w²/2 + tolerance·|w| + wy on |w| ≤ 1; runs in any number type.

    Examples
    --------
    >>> EpsilonInsensitive(0.5, 1.0).value(3.0, 0.0), EpsilonInsensitive(0.5).value(0.25, 0.0)
    (2.0, 0.0)
    """

    tolerance: Any = 0.1
    width: Any = 1.0
    strictly_convex = False
    formula = "(|s − y| − tolerance)₊, smoothed over a width"
    spec = "insensitive:TOLERANCE[:WIDTH]"
    gamma_words = "1/width"
    note = (
        "not strictly convex: at w = 0 and w = ±1 it does not determine s; conjugate_derivative "
        "returns y at w = 0 and the nearest s to y at w = ±1"
    )

    def __post_init__(self) -> None:
        positive("tolerance", self.tolerance, "EpsilonInsensitive", bounded=False)
        positive("width", self.width, "EpsilonInsensitive", bounded=False)

    @property
    def gamma(self) -> Any:
        return 1 / self.width

    def value(self, s: Any, y: Any) -> Any:
        return clipped_value(max(abs(s - y) - self.tolerance, 0), 0, 1, self.width)

    def derivative(self, s: Any, y: Any) -> Any:
        q = abs(s - y) - self.tolerance
        if q <= 0:
            return 0 * s
        slope = clipped_slope(q, 0, 1 + 0 * y, self.width)
        return slope if s > y else -slope

    def second_derivative(self, s: Any, y: Any) -> Any:
        return clipped_curvature(abs(s - y) - self.tolerance, 0, 1, self.width)

    def conjugate(self, w: Any, y: Any) -> Any:
        if outside(w, -1, 1):
            return math.inf
        return abs(w) * (self.width * abs(w) / 2 + self.tolerance) + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        if outside(w, -1, 1):
            return math.inf if w > 0 else -math.inf
        if w == 0:
            return y
        return y + self.width * w + (self.tolerance if w > 0 else -self.tolerance)

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-1 + 0 * y, 1 + 0 * y)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """A sum of non-negative terms, whichever side of the label s and w take."""
        if outside(w, -1, 1):
            return math.inf
        u = abs(w)
        along = s - y if w >= 0 else y - s
        if along >= 0:
            return clipped_gap(along - self.tolerance, u, 0, 1, self.width)
        far = clipped_value(max(-along - self.tolerance, 0), 0, 1, self.width)
        return far + u * (self.width * u / 2 + self.tolerance - along)

    def bregman_radius(self, bound: Any) -> Any:
        """An upper bound: all of the slope's rise, from −1 to 1, at the far end."""
        return bathtub_radius(1 / self.width, 2, bound)

    def descent_bound(self, y: Any) -> Any:
        return clipped_descent(max(abs(y) - self.tolerance, 0), 1, self.width)

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        excess = cp.pos(cp.abs(predictions - y) - float(self.tolerance))
        return cp.huber(excess, float(self.width)) / (2 * float(self.width))

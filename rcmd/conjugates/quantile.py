"""The smoothed quantile (pinball) loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
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
class SmoothedQuantile(SeparableConjugate):
    """The pinball loss with its kink replaced by a parabola; γ = 1/width; any number type.

    With r = s − y it is r²/(2 width) between −level·width and (1−level)·width, and beyond
    them has the slopes −level and 1 − level; l*(w) = width·w²/2 + wy between those slopes.

    Examples
    --------
    >>> SmoothedQuantile(0.9, 0.5).derivative(-4.0, 0.0)
    -0.9
    """

    level: Any = 0.5
    width: Any = 1.0
    strictly_convex = False
    formula = "pinball loss of r = s − y at a level, smoothed over a width"
    spec = "quantile:LEVEL[:WIDTH]"
    gamma_words = "1/width"
    note = (
        "not strictly convex: at w = −level and w = 1 − level it does not determine s, and "
        "conjugate_derivative returns y + width·w, the nearest of many"
    )

    @classmethod
    def example(cls, draw: Any) -> SmoothedQuantile:
        return cls(draw.whole(5, 95) / 100, draw.magnitude(1.0))

    def __post_init__(self) -> None:
        positive("width", self.width, "SmoothedQuantile", bounded=False)
        if isinstance(self.level, bool) or not isinstance(self.level, Real):
            raise TypeError(
                f"level of SmoothedQuantile is {self.level!r}; expected a number between 0 and 1"
            )
        if not 0 < float(self.level) < 1:
            raise ValueError(
                f"level of SmoothedQuantile is {self.level!r}; expected a number strictly between "
                "0 and 1, such as 0.9 for the upper decile"
            )

    @property
    def gamma(self) -> Any:
        return 1 / self.width

    def value(self, s: Any, y: Any) -> Any:
        return clipped_value(s - y, -self.level, 1 - self.level, self.width)

    def derivative(self, s: Any, y: Any) -> Any:
        return clipped_slope(s - y, -self.level, 1 - self.level, self.width)

    def second_derivative(self, s: Any, y: Any) -> Any:
        return clipped_curvature(s - y, -self.level, 1 - self.level, self.width)

    def conjugate(self, w: Any, y: Any) -> Any:
        if outside(w, -self.level, 1 - self.level):
            return math.inf
        return self.width * w * w / 2 + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        if outside(w, -self.level, 1 - self.level):
            return math.inf if w > 0 else -math.inf
        return self.width * w + y

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-self.level, 1 - self.level)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """A square on the parabola, a product of non-negative factors beside it."""
        if outside(w, -self.level, 1 - self.level):
            return math.inf
        return clipped_gap(s - y, w, -self.level, 1 - self.level, self.width)

    def bregman_radius(self, bound: Any) -> Any:
        """bound²/(2 width) while bound ≤ width, then bound − width/2: the sup over labels."""
        return bathtub_radius(1 / self.width, 1, bound)

    def descent_bound(self, y: Any) -> Any:
        slope = self.level if y > 0 else 1 - self.level
        return clipped_descent(abs(y), slope, self.width)

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        level, width = float(self.level), float(self.width)
        above = cp.huber(cp.pos(predictions - y), (1 - level) * width)
        below = cp.huber(cp.pos(y - predictions), level * width)
        return (above + below) / (2 * width)

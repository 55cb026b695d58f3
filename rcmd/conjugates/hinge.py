"""Smooth versions of the hinge (1 − ys)₊ for labels ±1; z = ys and v = −yw."""

import math
from dataclasses import dataclass
from typing import Any

from rcmd.conjugates.base import SIGNS, SeparableConjugate
from rcmd.conjugates.huber import Smoothed
from rcmd.conjugates.scalars import (
    clipped_curvature,
    clipped_descent,
    clipped_gap,
    clipped_slope,
    clipped_value,
    entropy_gap,
    expit,
    margin_of_share,
    negative_entropy,
    outside,
    softplus,
)


@dataclass(frozen=True)
class SmoothedHinge(Smoothed):
    """0 for z ≥ 1, (1 − z)²/(2 width) down to z = 1 − width, then linear; γ = 1/width.

    l*(w) = width·v²/2 − v on 0 ≤ v ≤ 1; runs in any number type.

    Examples
    --------
    >>> SmoothedHinge(0.5).value(-3.0, 1.0), SmoothedHinge(0.5).derivative(-3.0, 1.0)
    (3.75, -1.0)
    """

    width: Any = 1.0
    labels = SIGNS
    formula = "(1 − ys)₊ with its kink replaced by a parabola of the given width"
    spec = "smoothed-hinge[:WIDTH]"
    note = (
        "not strictly convex: where l is flat (w = 0) or straight (yw = −1) it does not determine "
        "s, and conjugate_derivative returns the end of that stretch, z = 1 or z = 1 − width"
    )

    def value(self, s: Any, y: Any) -> Any:
        return clipped_value(1 - y * s, 0, 1, self.width)

    def derivative(self, s: Any, y: Any) -> Any:
        return -y * clipped_slope(1 - y * s, 0, 1, self.width)

    def second_derivative(self, s: Any, y: Any) -> Any:
        return clipped_curvature(1 - y * s, 0, 1, self.width)

    def conjugate(self, w: Any, y: Any) -> Any:
        v = -y * w
        if outside(v, 0, 1):
            return math.inf
        return v * (self.width * v / 2 - 1)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        v = -y * w
        if outside(v, 0, 1):
            return -y * math.inf if v > 0 else y * math.inf
        return y * (1 - self.width * v)

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-1 + 0 * y, 0 * y) if y > 0 else (0 * y, 1 + 0 * y)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        return clipped_gap(1 - y * s, -y * w, 0, 1, self.width)

    def bregman_radius(self, bound: Any) -> Any:
        """∫ |z| l''(z) dz over [0, bound] or [−bound, 0]; l'' = γ between 1 − width and 1."""
        start, end = 1 - self.width, min(bound, 1)
        above = (end * end - start * start if start > 0 else end * end) / (2 * self.width)
        below = min(bound, -start) if start < 0 else 0
        return max(above, below * below / (2 * self.width), 0)

    def descent_bound(self, y: Any) -> Any:
        """1/(4 width) for width ≥ 1/2, then 1 − width."""
        return clipped_descent(1, 1, self.width)

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        shortfall = cp.pos(1 - cp.multiply(y, predictions))
        return cp.huber(shortfall, float(self.width)) / (2 * float(self.width))


@dataclass(frozen=True)
class SquaredHinge(SeparableConjugate):
    """(1 − z)₊²/2, with l*(w) = v²/2 − v on v ≥ 0 and γ = 1; runs in any number type.

    Examples
    --------
    >>> SquaredHinge().value(-1.0, 1.0), SquaredHinge().derivative(3.0, 1.0) == 0
    (2.0, True)
    """

    strictly_convex = False
    gamma = 1
    labels = SIGNS
    formula = "½(1 − ys)₊²"
    spec = "squared-hinge"
    note = (
        "not strictly convex: w = 0 does not determine s, and conjugate_derivative returns "
        "s = y, the first of many"
    )

    def value(self, s: Any, y: Any) -> Any:
        q = 1 - y * s
        return q * q / 2 if q > 0 else 0 * s

    def derivative(self, s: Any, y: Any) -> Any:
        q = 1 - y * s
        return -y * q if q > 0 else 0 * s

    def second_derivative(self, s: Any, y: Any) -> Any:
        return 1 + 0 * s if y * s < 1 else 0 * s

    def conjugate(self, w: Any, y: Any) -> Any:
        v = -y * w
        return math.inf if v < 0 else v * (v / 2 - 1)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        v = -y * w
        return y * math.inf if v < 0 else y * (1 - v)

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-math.inf, 0 * y) if y > 0 else (0 * y, math.inf)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        v = -y * w
        if v < 0:
            return math.inf
        q = 1 - y * s
        return (q - v) * (q - v) / 2 if q > 0 else v * (v / 2 - q)

    def descent_bound(self, y: Any) -> Any:
        """sup_z z(1 − z) = 1/4, in the number type of y."""
        return y * y / 4

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.square(cp.pos(1 - cp.multiply(y, predictions))) / 2


@dataclass(frozen=True)
class SoftplusHinge(Smoothed):
    """width·log(1 + exp((1 − z)/width)), strictly convex, γ = 1/(4 width).

    l*(w) = width·[v log v + (1−v) log(1−v)] − v on 0 ≤ v ≤ 1.

    Examples
    --------
    >>> SoftplusHinge(0.1).value(-800.0, 1.0), SoftplusHinge(0.1).derivative(-800.0, 1.0)
    (801.0, -1.0)
    """

    width: float = 1.0
    strictly_convex = True
    labels = SIGNS
    formula = "width·log(1 + exp((1 − ys)/width))"
    spec = "softplus-hinge[:WIDTH]"
    gamma_words = "1/(4·width)"

    @property
    def gamma(self) -> Any:
        return 1.0 / (4.0 * self.width)

    def value(self, s: Any, y: Any) -> Any:
        return self.width * softplus((1.0 - y * s) / self.width)

    def derivative(self, s: Any, y: Any) -> Any:
        return -y * expit((1.0 - y * s) / self.width)

    def second_derivative(self, s: Any, y: Any) -> Any:
        tail = math.exp(-abs((1.0 - y * s) / self.width))
        return tail / ((1.0 + tail) * (1.0 + tail) * self.width)

    def conjugate(self, w: Any, y: Any) -> Any:
        v = -y * w
        if v < 0.0 or v > 1.0:
            return math.inf
        return self.width * negative_entropy(v) - v

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return y * (1.0 + self.width * margin_of_share(-y * w))

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-1.0, 0.0) if y > 0 else (0.0, 1.0)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """width times the relative entropy of (v, 1−v) to the prediction's."""
        v = -y * w
        if v < 0.0 or v > 1.0:
            return math.inf
        return self.width * entropy_gap((1.0 - y * s) / self.width, v, 1.0 - v)

    def bregman_radius(self, bound: Any) -> Any:
        """The larger of D_l(0, z) at z = ±bound, or its quadratic majorant where that cancels."""
        majorant = bound * bound / (8.0 * self.width)
        if bound < 1e-3 * self.width:
            return majorant
        right, left = (1.0 - bound) / self.width, (1.0 + bound) / self.width
        right = entropy_gap(1.0 / self.width, expit(right), expit(-right))
        left = entropy_gap(1.0 / self.width, expit(left), expit(-left))
        return min(majorant, self.width * max(left, right))

    def descent_bound(self, y: Any) -> Any:
        """width·W(exp(1/width − 1)) with Lambert's W, rounded up."""
        return self.width * lambert_of_exp(1.0 / self.width - 1.0) * (1.0 + 1e-14)

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return self.width * cp.logistic((1 - cp.multiply(y, predictions)) / self.width)


def lambert_of_exp(k: float) -> float:
    """The p > 0 with p + log p = k, which is W(exp k), by Newton's method; k > −1."""
    p = max(k - math.log(max(k, 1.0)), 0.2)
    for _ in range(60):
        change = (k - p - math.log(p)) * p / (1.0 + p)
        p += change
        if abs(change) <= 1e-16 * p:
            break
    return p

"""Losses of r = s − y made of parabolas: the squared loss, and others continued by tangents."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from numbers import Real
from typing import Any

import numpy as np

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
from rcmd.conjugates.smooth_absolute import SmoothAbsolute
from rcmd.rows.validation import Array, positive


@dataclass(frozen=True)
class LeastSquares(SeparableConjugate):
    """l(s) = (s − y)²/2 with l*(w) = w²/2 + wy and γ = 1; runs in any number type.

    Examples
    --------
    >>> from fractions import Fraction
    >>> LeastSquares().conjugate(Fraction(1, 3), Fraction(2))
    Fraction(13, 18)
    """

    quadratic = True
    gamma = 1
    formula = "½(s − y)²"
    spec = "least-squares"

    def value(self, s: Any, y: Any) -> Any:
        missed = s - y
        return missed * missed / 2

    def derivative(self, s: Any, y: Any) -> Any:
        return s - y

    def second_derivative(self, s: Any, y: Any) -> Any:
        return 1 + 0 * s

    def conjugate(self, w: Any, y: Any) -> Any:
        return w * w / 2 + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return w + y

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """(s − y − w)²/2, a square, so that nothing cancels."""
        missed = s - y - w
        return missed * missed / 2

    def descent_bound(self, y: Any) -> Any:
        """sup_s −s(s − y) = y²/4."""
        return y * y / 4

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.square(predictions - y) / 2


class LeastSquaresArrays(LeastSquares):
    """The formulas hold for arrays as they stand, and some share s − y."""

    @staticmethod
    def expansion(s: Array, y: Array) -> tuple[Array, Array, Array]:
        """``value``, ``derivative`` and ``second_derivative``."""
        slopes = s - y
        return slopes * slopes / 2, slopes, np.ones_like(slopes)


LeastSquares.arrays = LeastSquaresArrays()


@dataclass(frozen=True)
class Huber(SmoothAbsolute):
    """r²/2 for |r| ≤ width, continued by its tangents; r = s − y, γ = 1; any number type.

    l*(w) = w²/2 + wy on |w| ≤ width. At w = ±width every r beyond ±width has that slope;
    ``conjugate_derivative`` returns the one nearest to the label.

    Examples
    --------
    >>> Huber(1.0).value(5.0, 2.0), Huber(1.0).derivative(5.0, 2.0)
    (2.5, 1.0)
    """

    strictly_convex = False
    gamma = 1
    formula = "½r² for |r| ≤ width, else width·|r| − ½width², r = s − y"
    spec = "huber[:WIDTH]"
    note = (
        "not strictly convex: at w = ±width the loss does not determine s, and "
        "conjugate_derivative returns y ± width, the nearest of many"
    )

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

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        return clipped_gap(s - y, w, -self.width, self.width, 1)

    def descent_bound(self, y: Any) -> Any:
        """y²/4 while |y| ≤ 2 width, then width (|y| − width)."""
        return clipped_descent(abs(y), self.width, 1)

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.huber(predictions - y, float(self.width)) / 2


class Smoothed(SeparableConjugate):
    """A loss with kinks that parabolas of a ``width`` replace, so that γ = 1/width."""

    width: Any
    strictly_convex = False
    gamma_words = "1/width"

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            positive(field.name, getattr(self, field.name), type(self).__name__, bounded=False)

    @property
    def gamma(self) -> Any:
        return 1 / self.width


def refuse_level(loss: Any) -> None:
    """Refuse a ``level`` that is not inside (0, 1)."""
    number = isinstance(loss.level, Real) and not isinstance(loss.level, bool)
    if not number or not 0 < float(loss.level) < 1:
        raise (ValueError if number else TypeError)(
            f"level of {type(loss).__name__} is {loss.level!r}; expected a number strictly between "
            "0 and 1, such as 0.9 for the upper decile"
        )


@dataclass(frozen=True)
class SmoothedQuantile(Smoothed):
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
    formula = "pinball loss of r = s − y at a level, smoothed over a width"
    spec = "quantile:LEVEL[:WIDTH]"
    note = (
        "not strictly convex: at w = −level and w = 1 − level it does not determine s, and "
        "conjugate_derivative returns y + width·w, the nearest of many"
    )

    @classmethod
    def example(cls, draw: Any) -> SmoothedQuantile:
        return cls(draw.whole(5, 95) / 100, draw.magnitude(1.0))

    def __post_init__(self) -> None:
        refuse_level(self)
        super().__post_init__()

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


@dataclass(frozen=True)
class Expectile(SeparableConjugate):
    """½a(s − y)² with a = level below the label and 1 − level above it; any number type.

    Its minimizer over a distribution is the expectile; γ = max(level, 1 − level), and
    l*(w) = w²/(2a) + wy, a = 1 − level for w > 0.

    Examples
    --------
    >>> Expectile(0.75).derivative(-2.0, 0.0), Expectile(0.75).derivative(2.0, 0.0)
    (-1.5, 0.5)
    """

    level: Any = 0.5
    formula = "½|level − 1[s > y]|·(s − y)²"
    spec = "expectile:LEVEL"
    gamma_words = "max(level, 1-level)"

    @classmethod
    def example(cls, draw: Any) -> Expectile:
        return cls(draw.whole(5, 95) / 100)

    def __post_init__(self) -> None:
        refuse_level(self)

    @property
    def gamma(self) -> Any:
        return max(self.level, 1 - self.level)

    def value(self, s: Any, y: Any) -> Any:
        return side(s - y, self.level) * (s - y) * (s - y) / 2

    def derivative(self, s: Any, y: Any) -> Any:
        return side(s - y, self.level) * (s - y)

    def second_derivative(self, s: Any, y: Any) -> Any:
        return side(s - y, self.level) + 0 * s

    def conjugate(self, w: Any, y: Any) -> Any:
        return w * w / (2 * side(w, self.level)) + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return w / side(w, self.level) + y

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """A square on one side of the label, a sum of non-negative terms across it."""
        here, there, r = side(s - y, self.level), side(w, self.level), s - y
        if (r >= 0) == (w >= 0):
            a = here if r else there
            return (a * r - w) * (a * r - w) / (2 * a)
        return here * r * r / 2 + w * w / (2 * there) - w * r

    def descent_bound(self, y: Any) -> Any:
        """a·y²/4 with the a of s between 0 and y."""
        return side(-y, self.level) * y * y / 4

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        level, r = float(self.level), predictions - y
        return (level * cp.square(cp.neg(r)) + (1 - level) * cp.square(cp.pos(r))) / 2


def side(r: Any, level: Any) -> Any:
    """The curvature of an ``Expectile`` at a residual, or at a slope, of that sign."""
    return 1 - level if r > 0 else level


@dataclass(frozen=True)
class EpsilonInsensitive(Smoothed):
    """(|r| − tolerance)₊ with its kinks replaced by parabolas; r = s − y, γ = 1/width.

    l*(w) = width·w²/2 + tolerance·|w| + wy on |w| ≤ 1; runs in any number type.

    Examples
    --------
    >>> EpsilonInsensitive(0.5, 1.0).value(3.0, 0.0), EpsilonInsensitive(0.5).value(0.25, 0.0)
    (2.0, 0.0)
    """

    tolerance: Any = 0.1
    width: Any = 1.0
    formula = "(|s − y| − tolerance)₊, smoothed over a width"
    spec = "insensitive:TOLERANCE[:WIDTH]"
    note = (
        "not strictly convex: at w = 0 and w = ±1 it does not determine s; conjugate_derivative "
        "returns y at w = 0 and the nearest s to y at w = ±1"
    )

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

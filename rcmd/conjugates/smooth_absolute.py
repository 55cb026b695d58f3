"""Smooth absolute values of r = s − y: pseudo-Huber, log-cosh and Fair; Huber's is in ``huber``.

All are r²/2 near 0 and width·|r| far away, with γ = 1 and |l'| ≤ width; with t = r/width
and u = w/width each is width² times a function of t, and its conjugate of u.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.scalars import (
    LOG_2,
    bathtub_radius,
    log1p_gap,
    log_cosh,
    log_cosh_conjugate,
    log_cosh_gap,
    outside,
)
from rcmd.rows.validation import positive


def root_of_more(t: float) -> float:
    """√(1 + t²) where t² may overflow; a fifth of the time of ``math.hypot``."""
    return math.sqrt(1.0 + t * t) if abs(t) < 1e150 else abs(t)


def rest_of(w: float, width: float) -> float:
    """1 − |w|/width, to its last digits where w comes close to ±width."""
    return max(width - abs(w), 0.0) / width


def root_of_rest(w: float, width: float) -> float:
    """√(1 − (w/width)²), in the same way."""
    return math.sqrt(rest_of(w, width) * (1.0 + abs(w) / width))


def rest_gap(w: float, width: float) -> float:
    """−u − log(1 − u) at u = |w|/width < 1."""
    if 2.0 * abs(w) < width:
        return log1p_gap(-abs(w) / width)
    return -abs(w) / width - math.log(rest_of(w, width))


@dataclass(frozen=True)
class SmoothAbsolute(SeparableConjugate):
    """What they have in common."""

    width: Any = 1.0
    gamma = 1.0

    def __post_init__(self) -> None:
        positive("width", self.width, type(self).__name__, bounded=False)

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-self.width, self.width)

    def bregman_radius(self, bound: Any) -> Any:
        """bound²/2 while bound ≤ 2 width, then 2 width (bound − width): the sup over labels."""
        return bathtub_radius(1, 2 * self.width, bound)


@dataclass(frozen=True)
class PseudoHuber(SmoothAbsolute):
    """width² (√(1 + t²) − 1), with l*(w) = width² (1 − √(1 − u²)) + wy on |u| ≤ 1.

    Examples
    --------
    >>> PseudoHuber(4.0).value(3.0, 0.0), PseudoHuber(4.0).conjugate_domain(0.0)
    (4.0, (-4.0, 4.0))
    """

    formula = "width² (√(1 + (r/width)²) − 1), r = s − y"
    spec = "pseudo-huber[:WIDTH]"

    def value(self, s: Any, y: Any) -> Any:
        t = (s - y) / self.width
        return self.width * self.width * t * (t / (1.0 + root_of_more(t)))

    def derivative(self, s: Any, y: Any) -> Any:
        t = (s - y) / self.width
        return self.width * (t / root_of_more(t))

    def conjugate(self, w: Any, y: Any) -> Any:
        if outside(w, -self.width, self.width):
            return math.inf
        return w * (w / (1.0 + root_of_rest(w, self.width)) + y)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        if abs(w) >= self.width:
            return math.copysign(math.inf, w)
        return w / root_of_rest(w, self.width) + y

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """With k = √(1 − u²) and c = √(1 + t²): c − k − ut = (u − kt)²/(c + k + ut)."""
        if outside(w, -self.width, self.width):
            return math.inf
        t, u = (s - y) / self.width, w / self.width
        k, c = root_of_rest(w, self.width), root_of_more(t)
        along = k + u * t
        if along < 0.0:
            return self.width * self.width * (c - along)
        return self.width * self.width * (u - k * t) * ((u - k * t) / (c + along))

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        t = cp.reshape((predictions - y) / self.width, (1, predictions.size), order="C")
        both = cp.vstack([t, np.ones((1, predictions.size))])
        return self.width**2 * (cp.norm(both, 2, axis=0) - 1)


@dataclass(frozen=True)
class LogCosh(SmoothAbsolute):
    """width² log cosh t, with l*'(w) = width·artanh u + y on |u| < 1.

    l*(w) = width² [½(1+u) log(1+u) + ½(1−u) log(1−u)] + wy.

    Examples
    --------
    >>> LogCosh().value(-800.0, 0.0) == 800.0 - math.log(2.0)
    True
    """

    formula = "width² log cosh(r/width), r = s − y"
    spec = "log-cosh[:WIDTH]"

    def value(self, s: Any, y: Any) -> Any:
        return self.width * self.width * log_cosh((s - y) / self.width)

    def derivative(self, s: Any, y: Any) -> Any:
        return self.width * math.tanh((s - y) / self.width)

    def conjugate(self, w: Any, y: Any) -> Any:
        if outside(w, -self.width, self.width):
            return math.inf
        rest = rest_of(w, self.width)
        return self.width * self.width * log_cosh_conjugate(w / self.width, rest) + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        if abs(w) >= self.width:
            return math.copysign(math.inf, w)
        if 2.0 * abs(w) < self.width:
            return self.width * math.atanh(w / self.width) + y
        far = math.log((self.width + abs(w)) / (self.width - abs(w))) / 2.0
        return self.width * math.copysign(far, w) + y

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        if outside(w, -self.width, self.width):
            return math.inf
        rest = rest_of(w, self.width)
        gap = log_cosh_gap((s - y) / self.width, w / self.width, rest)
        return self.width * self.width * gap

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        t = (predictions - y) / self.width
        return self.width**2 * (cp.logistic(2 * t) - t - LOG_2)


@dataclass(frozen=True)
class Fair(SmoothAbsolute):
    """width² (|t| − log(1 + |t|)), with l*(w) = width² (−|u| − log(1 − |u|)) + wy.

    dom l* is open, |u| < 1: at its ends l* is infinite, as l grows more slowly than its
    asymptotes by a logarithm.

    Examples
    --------
    >>> Fair(2.0).derivative(6.0, 0.0), Fair(2.0).conjugate_derivative(1.5, 0.0)
    (1.5, 6.0)
    """

    formula = "width² (|t| − log(1 + |t|)), t = (s − y)/width"
    spec = "fair[:WIDTH]"

    def value(self, s: Any, y: Any) -> Any:
        return self.width * self.width * log1p_gap(abs(s - y) / self.width)

    def derivative(self, s: Any, y: Any) -> Any:
        t = (s - y) / self.width
        return self.width * (t / (1.0 + abs(t)))

    def conjugate(self, w: Any, y: Any) -> Any:
        if abs(w) >= self.width:
            return math.inf
        return self.width * self.width * rest_gap(w, self.width) + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        if abs(w) >= self.width:
            return math.copysign(math.inf, w)
        return w / rest_of(w, self.width) + y

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """e − log(1 + e) with e = |t| − |u| − |ut| where t and u agree in sign."""
        if abs(w) >= self.width:
            return math.inf
        u = abs(w) / self.width
        t = (s - y) / self.width if w >= 0.0 else (y - s) / self.width
        if t < 0.0:
            gap = log1p_gap(-t) + rest_gap(w, self.width) - u * t
        elif u < 0.5:
            gap = log1p_gap((t - u) - u * t)
        else:
            gap = log1p_gap((1.0 + t) * rest_of(w, self.width) - 1.0)
        return self.width * self.width * gap

    def descent_bound(self, y: Any) -> Any:
        """width² (√(1 + |y|/width) − 1)²."""
        t = abs(y) / self.width
        root = t / (1.0 + math.sqrt(1.0 + t))
        return self.width * self.width * root * root

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        """x − log(1 + x) grows with x ≥ 0: its smallest value over x ≥ |t| is at |t|."""
        import cvxpy as cp

        size = cp.Variable(predictions.shape, nonneg=True)
        above = cp.transforms.indicator([size >= cp.abs(predictions - y) / self.width])
        return self.width**2 * (size - cp.log1p(size)) + above

"""The logistic loss for labels ±1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate

# max over z of z/(1 + exp z), which is the Lambert number W(1/e).
LARGEST_DESCENT = 0.2784645427610738


def entropy_term(v: float) -> float:
    """v·log v, continued by 0 at v = 0."""
    return v * math.log(v) if v > 0.0 else 0.0


@dataclass(frozen=True)
class Logistic(SeparableConjugate):
    """l(s) = log(1 + exp(−ys)), y = ±1, γ = 1/4.

    With v = −yw the conjugate is l*(w) = v log v + (1−v) log(1−v) on 0 ≤ v ≤ 1.

    Examples
    --------
    >>> Logistic().value(-800.0, 1.0), Logistic().derivative(800.0, 1.0) <= 0.0
    (800.0, True)
    """

    formula = "log(1 + exp(−ys))"

    @property
    def gamma(self) -> Any:
        return 0.25

    def value(self, s: Any, y: Any) -> Any:
        z = y * s
        return max(-z, 0.0) + math.log1p(math.exp(-abs(z)))

    def derivative(self, s: Any, y: Any) -> Any:
        z = y * s
        tail = math.exp(-abs(z))
        return -y * (tail if z > 0.0 else 1.0) / (1.0 + tail)

    def conjugate(self, w: Any, y: Any) -> Any:
        v = -y * w
        if v < 0.0 or v > 1.0:
            return math.inf
        return entropy_term(v) + entropy_term(1.0 - v)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        v = -y * w
        if v <= 0.0:
            return y * math.inf
        if v >= 1.0:
            return -y * math.inf
        return y * (math.log1p(-v) - math.log(v))

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-1.0, 0.0) if y > 0 else (0.0, 1.0)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """The relative entropy of (v, 1−v) to the prediction's, from terms of order one."""
        v = -y * w
        if v < 0.0 or v > 1.0:
            return math.inf
        z = y * s
        linear = v * z if z > 0.0 else (v - 1.0) * z
        return linear + math.log1p(math.exp(-abs(z))) + entropy_term(v) + entropy_term(1.0 - v)

    def bregman_radius(self, bound: Any) -> Any:
        """ln 2 − H(expit(bound)), with its quadratic majorant where that cancels."""
        if bound < 1e-3:
            return bound * bound / 8
        v = math.exp(-bound) / (1.0 + math.exp(-bound))
        return math.log(2.0) + entropy_term(v) + (1.0 - v) * math.log1p(-v)

    def descent_bound(self, y: Any) -> Any:
        """sup_z z/(1 + exp z) = W(1/e)."""
        return LARGEST_DESCENT

    def label_fault(self, y: Any) -> str | None:
        values = np.unique(np.asarray(y, dtype=float))
        if np.isin(values, (-1.0, 1.0)).all():
            return None
        shown = ", ".join(f"{value:g}" for value in values[:5])
        return (
            f"y holds the labels {shown}{', …' if len(values) > 5 else ''}; the logistic loss "
            "expects -1 and +1: map two classes with numpy.where(y == y.max(), 1.0, -1.0)"
        )

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.logistic(-cp.multiply(y, predictions))

"""The logistic loss for labels ±1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from rcmd.conjugates import logistic_arrays
from rcmd.conjugates.base import SeparableConjugate
from rcmd.conjugates.labels import sign_fault
from rcmd.conjugates.scalars import entropy_gap, expit, negative_entropy, softplus

# max over z of z/(1 + exp z), which is the Lambert number W(1/e).
LARGEST_DESCENT = 0.2784645427610738


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
    spec = "logistic"
    gamma_words = "1/4"
    arrays: ClassVar[Any] = logistic_arrays

    @property
    def gamma(self) -> Any:
        return 0.25

    def value(self, s: Any, y: Any) -> Any:
        return softplus(-y * s)

    def derivative(self, s: Any, y: Any) -> Any:
        return -y * expit(-y * s)

    def second_derivative(self, s: Any, y: Any) -> Any:
        tail = math.exp(-abs(s))
        return tail / ((1.0 + tail) * (1.0 + tail))

    def conjugate(self, w: Any, y: Any) -> Any:
        v = -y * w
        if v < 0.0 or v > 1.0:
            return math.inf
        return negative_entropy(v)

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
        return entropy_gap(-y * s, v, 1.0 - v)

    def bregman_radius(self, bound: Any) -> Any:
        """ln 2 − H(expit(bound)), with its quadratic majorant where that cancels."""
        if bound < 1e-3:
            return bound * bound / 8
        return math.log(2.0) + negative_entropy(expit(-bound))

    def descent_bound(self, y: Any) -> Any:
        """sup_z z/(1 + exp z) = W(1/e)."""
        return LARGEST_DESCENT

    def label_fault(self, y: Any) -> str | None:
        return sign_fault(y, "logistic")

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.logistic(-cp.multiply(y, predictions))

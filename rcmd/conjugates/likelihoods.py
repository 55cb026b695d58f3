"""Negative log-likelihoods of counts, durations and shares, and the exponential loss.

Those with an exponential are smooth on bounded sets only: ``curvature_bound`` says how smooth on
the predictions of a sample.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rcmd.conjugates.base import COUNTS, POSITIVE, SHARES, SIGNS, SeparableConjugate
from rcmd.conjugates.scalars import (
    bounded_exp,
    entropy_gap,
    exp_conjugate,
    exp_young,
    expit,
    logistic_curvature,
    logistic_radius,
    margin_of_share,
    negative_entropy,
    outside,
    softplus,
)
from rcmd.rows.validation import positive


@dataclass(frozen=True)
class Poisson(SeparableConjugate):
    """exp(s) − ys, a count y ≥ 0 whose mean is exp(s); γ_j = exp(s) at the largest prediction.

    l*(w) = v log v − v with v = w + y ≥ 0. The exposure of a sample is an offset, its logarithm.

    Examples
    --------
    >>> Poisson().derivative(0.0, 3.0), Poisson().curvature_bound(-1.0, 0.0, 3.0)
    (-2.0, 1.0)
    """

    labels = COUNTS
    formula = "exp(s) − ys"
    spec = "poisson"
    gamma_words = "sup exp(s)"

    def value(self, s: Any, y: Any) -> Any:
        return bounded_exp(s) - y * s

    def derivative(self, s: Any, y: Any) -> Any:
        return bounded_exp(s) - y

    def second_derivative(self, s: Any, y: Any) -> Any:
        return bounded_exp(s)

    def curvature_bound(self, low: Any, high: Any, y: Any) -> Any:
        return bounded_exp(high)

    def conjugate(self, w: Any, y: Any) -> Any:
        return math.inf if outside(w, -y, math.inf) else exp_conjugate(max(w + y, 0.0))

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return math.log(w + y) if w + y > 0.0 else -math.inf

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-y, math.inf)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        return math.inf if outside(w, -y, math.inf) else exp_young(s, max(w + y, 0.0))

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.exp(predictions) - cp.multiply(y, predictions)


@dataclass(frozen=True)
class Exponential(SeparableConjugate):
    """exp(−ys) for y = ±1, the loss of AdaBoost; γ_j = exp(−ys) at the smallest margin.

    l*(w) = v log v − v with v = −yw ≥ 0.

    Examples
    --------
    >>> Exponential().value(0.0, 1.0), Exponential().curvature_bound(0.0, 2.0, 1.0)
    (1.0, 1.0)
    """

    labels = SIGNS
    formula = "exp(−ys)"
    spec = "exponential"
    gamma_words = "sup exp(−ys)"

    def value(self, s: Any, y: Any) -> Any:
        return bounded_exp(-y * s)

    def derivative(self, s: Any, y: Any) -> Any:
        return -y * bounded_exp(-y * s)

    def second_derivative(self, s: Any, y: Any) -> Any:
        return bounded_exp(-y * s)

    def curvature_bound(self, low: Any, high: Any, y: Any) -> Any:
        return bounded_exp(max(-y * low, -y * high))

    def conjugate(self, w: Any, y: Any) -> Any:
        return math.inf if y * w > 0.0 else exp_conjugate(-y * w)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return -y * math.log(-y * w) if y * w < 0.0 else y * math.inf

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-math.inf, 0.0) if y > 0 else (0.0, math.inf)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        return math.inf if y * w > 0.0 else exp_young(-y * s, -y * w)

    def descent_bound(self, y: Any) -> Any:
        """sup_z z·exp(−z) = 1/e, rounded up."""
        return 0.36787944117144239

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.exp(-cp.multiply(y, predictions))


@dataclass(frozen=True)
class Gamma(SeparableConjugate):
    """s + y exp(−s), a positive y whose mean is exp(s); γ_j = y exp(−s) at the smallest prediction.

    The deviance of the gamma and of the exponential distribution. l*(w) = v log(v/y) − v with
    v = 1 − w ≥ 0.

    Examples
    --------
    >>> Gamma().derivative(0.0, 3.0), Gamma().conjugate(1.0, 3.0)
    (-2.0, 0.0)
    """

    labels = POSITIVE
    formula = "s + y·exp(−s)"
    spec = "gamma"
    gamma_words = "sup y·exp(−s)"

    def value(self, s: Any, y: Any) -> Any:
        return s + y * bounded_exp(-s)

    def derivative(self, s: Any, y: Any) -> Any:
        return 1.0 - y * bounded_exp(-s)

    def second_derivative(self, s: Any, y: Any) -> Any:
        return y * bounded_exp(-s)

    def curvature_bound(self, low: Any, high: Any, y: Any) -> Any:
        return y * bounded_exp(-low)

    def conjugate(self, w: Any, y: Any) -> Any:
        if outside(w, -math.inf, 1.0):
            return math.inf
        v = max(1.0 - w, 0.0)
        return exp_conjugate(v) - v * math.log(y)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return math.log(y) - math.log(1.0 - w) if w < 1.0 else math.inf

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-math.inf, 1.0)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        if outside(w, -math.inf, 1.0):
            return math.inf
        return exp_young(math.log(y) - s, max(1.0 - w, 0.0))

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return predictions + cp.multiply(y, cp.exp(-predictions))


@dataclass(frozen=True)
class NegativeBinomial(SeparableConjugate):
    """(y + r)·log(1 + exp(s)/r) − ys with r = 1/dispersion: counts y of mean exp(s), overdispersed.

    Their variance is exp(s) + dispersion·exp(2s). With v = (w + y)/(y + r) in [0, 1],
    l*(w) = (y + r)·(v log v + (1 − v) log(1 − v)) + (w + y) log r.

    Examples
    --------
    >>> NegativeBinomial(1.0).derivative(0.0, 3.0), NegativeBinomial(1.0).conjugate_domain(3.0)
    (-1.0, (-3.0, 1.0))
    """

    dispersion: float = 1.0
    labels = COUNTS
    formula = "(y + r)·log(1 + exp(s)/r) − ys, r = 1/dispersion"
    spec = "negative-binomial[:DISPERSION]"
    gamma_words = "(y + r)/4"

    def __post_init__(self) -> None:
        positive("dispersion", self.dispersion, type(self).__name__, bounded=False)

    def value(self, s: Any, y: Any) -> Any:
        return (y + 1.0 / self.dispersion) * softplus(s + math.log(self.dispersion)) - y * s

    def derivative(self, s: Any, y: Any) -> Any:
        return (y + 1.0 / self.dispersion) * expit(s + math.log(self.dispersion)) - y

    def second_derivative(self, s: Any, y: Any) -> Any:
        q = s + math.log(self.dispersion)
        return (y + 1.0 / self.dispersion) * logistic_curvature(q, q)

    def curvature_bound(self, low: Any, high: Any, y: Any) -> Any:
        shift = math.log(self.dispersion)
        return (y + 1.0 / self.dispersion) * logistic_curvature(low + shift, high + shift)

    def conjugate(self, w: Any, y: Any) -> Any:
        r = 1.0 / self.dispersion
        if outside(w, -y, r):
            return math.inf
        v = min(max((w + y) / (y + r), 0.0), 1.0)
        return (y + r) * (negative_entropy(v) + v * math.log(r))

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        v = (w + y) / (y + 1.0 / self.dispersion)
        return -margin_of_share(v) - math.log(self.dispersion)

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-y, 1.0 / self.dispersion)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """y + r times the relative entropy of (v, 1 − v) to the prediction's."""
        r = 1.0 / self.dispersion
        if outside(w, -y, r):
            return math.inf
        v, rest = max(w + y, 0.0) / (y + r), max(r - w, 0.0) / (y + r)
        return (y + r) * entropy_gap(s + math.log(self.dispersion), v, rest)

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        terms = cp.logistic(predictions + math.log(self.dispersion))
        return cp.multiply(y + 1 / self.dispersion, terms) - cp.multiply(y, predictions)


@dataclass(frozen=True)
class CrossEntropy(SeparableConjugate):
    """log(1 + exp s) − ys for a share 0 ≤ y ≤ 1: logistic regression on soft targets; γ = 1/4.

    l*(w) = v log v + (1 − v) log(1 − v) with v = w + y in [0, 1].

    Examples
    --------
    >>> CrossEntropy().derivative(0.0, 0.25), CrossEntropy().conjugate_domain(0.25)
    (0.25, (-0.25, 0.75))
    """

    labels = SHARES
    gamma = 0.25
    formula = "log(1 + exp(s)) − ys"
    spec = "cross-entropy"
    gamma_words = "1/4"

    def value(self, s: Any, y: Any) -> Any:
        return math.log1p(math.exp(-abs(s))) + ((1.0 - y) * s if s > 0.0 else -y * s)

    def derivative(self, s: Any, y: Any) -> Any:
        return expit(s) - y

    def second_derivative(self, s: Any, y: Any) -> Any:
        return logistic_curvature(s, s)

    def conjugate(self, w: Any, y: Any) -> Any:
        return math.inf if outside(w, -y, 1.0 - y) else negative_entropy(w + y)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return -margin_of_share(w + y)

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-y, 1.0 - y)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """The relative entropy of (v, 1 − v) to the prediction's."""
        if outside(w, -y, 1.0 - y):
            return math.inf
        v = min(max(w + y, 0.0), 1.0)
        return entropy_gap(s, v, 1.0 - v)

    def bregman_radius(self, bound: Any) -> Any:
        return logistic_radius(bound)

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.logistic(predictions) - cp.multiply(y, predictions)

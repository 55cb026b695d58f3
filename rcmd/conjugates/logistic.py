"""The logistic loss for labels ±1."""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np

from rcmd.conjugates.base import SIGNS, SeparableConjugate
from rcmd.conjugates.scalars import (
    entropy_gap,
    expit,
    logistic_radius,
    margin_of_share,
    negative_entropy,
    softplus,
)
from rcmd.jit.caching import kernel
from rcmd.rows.validation import Array

# max over z of z/(1 + exp z), which is the Lambert number W(1/e).
LARGEST_DESCENT = 0.2784645427610738

# The number next to 0, at which the logarithm is finite and its factor 0.
LEAST = 5e-324


# ---- whole arrays ------------------------------------------------------------------------------


class LogisticArrays:
    """The methods of ``Logistic`` on arrays, where vector instructions beat a scalar loop fivefold.

    The forms are the same; ``expansion`` and ``duality`` find several of them from the same
    exponentials and logarithms, which are NumPy's, with compiled arithmetic around them.
    """

    @staticmethod
    def value(s: Array, y: Array) -> Array:
        q = -y * s
        return np.maximum(q, 0.0) + _tail(q)

    @staticmethod
    def derivative(s: Array, y: Array) -> Array:
        q = -y * s
        tail = np.exp(-abs(q))
        return -y * (np.where(q < 0.0, tail, 1.0) / (1.0 + tail))

    @staticmethod
    def second_derivative(s: Array, y: Array) -> Array:
        tail = np.exp(-abs(s))
        return tail / ((1.0 + tail) * (1.0 + tail))

    @staticmethod
    def conjugate(w: Array, y: Array) -> Array:
        v = -y * w
        return _inside(_negative_entropy(np.minimum(v, 1.0 - v)), v)

    @staticmethod
    def fenchel_young(s: Array, w: Array, y: Array) -> Array:
        v, q = -y * w, -y * s
        rest = 1.0 - v
        terms = abs(q) * np.where(q >= 0.0, rest, v)
        terms += _tail(q)
        terms += _negative_entropy(np.minimum(v, rest))
        return _inside(terms, v)

    @staticmethod
    def expansion(s: Array, y: Array) -> tuple[Array, Array, Array]:
        """``value``, ``derivative`` and ``second_derivative``."""
        tails, slopes = np.empty(len(s)), np.empty(len(s))
        _compiled(_exponents)(s, y, tails)
        np.exp(tails, out=tails)
        values = np.log1p(tails)
        _compiled(_expand)(s, y, tails, values, slopes)
        return values, slopes, tails

    @staticmethod
    def duality(s: Array, w: Array, y: Array) -> tuple[Array, Array, Array]:
        """``value`` at s, ``conjugate`` at w, and ``fenchel_young`` at (s, w)."""
        low, rest, terms = (np.empty(len(s)) for _ in range(3))
        least = _compiled(_shares)(s, w, y, low, rest, terms)
        np.exp(terms, out=terms)
        np.log1p(terms, out=terms)
        np.log1p(rest, out=rest)
        conjugates = np.maximum(low, LEAST)
        np.log(conjugates, out=conjugates)
        _compiled(_pair)(s, w, y, low, rest, conjugates, terms)
        if least < 0.0:
            conjugates[low < 0.0] = terms[low < 0.0] = np.inf
        return rest, conjugates, terms

    @staticmethod
    def bregman_radius(bound: Array) -> Array:
        tail = np.exp(-bound)
        entropy = _negative_entropy(tail / (1.0 + tail))
        return np.where(bound < 1e-3, bound * bound / 8, np.log(2.0) + entropy)


def _tail(q: Array) -> Array:
    """log(1 + exp(−|q|))."""
    tail = np.abs(q)
    np.negative(tail, out=tail)
    np.exp(tail, out=tail)
    return np.log1p(tail, out=tail)


def _negative_entropy(v: Array) -> Array:
    """v log v + (1−v) log(1−v) for v ≤ ½; NaN below 0."""
    rest, logarithm = np.negative(v), np.maximum(v, LEAST)
    np.log(logarithm, out=logarithm)
    logarithm *= v
    far = np.log1p(rest)
    rest += 1.0
    far *= rest
    far += logarithm
    return far


def _inside(terms: Array, v: Array) -> Array:
    """``terms`` where 0 ≤ v ≤ 1, and infinite elsewhere."""
    if v.min() < 0.0 or v.max() > 1.0:
        terms[(v < 0.0) | (v > 1.0)] = np.inf
    return terms


# Compiled when long arrays first ask for it, so that short ones start without numba.
_compiled = cache(kernel)


def _exponents(s: Array, y: Array, out: Array) -> None:
    """−|ys|."""
    for j in range(s.size):
        out[j] = -abs(y[j] * s[j])


def _expand(s: Array, y: Array, tails: Array, values: Array, slopes: Array) -> None:
    """From log(1 + exp(−|ys|)) in ``values`` and exp(−|ys|) in ``tails``: l there, l'' here."""
    for j in range(s.size):
        margin, tail = y[j] * s[j], tails[j]
        share = 1.0 / (1.0 + tail)
        rest = tail * share
        values[j] -= min(margin, 0.0)
        slopes[j] = -y[j] * (rest if margin > 0.0 else share)
        tails[j] = rest * share


def _shares(s: Array, w: Array, y: Array, low: Array, rest: Array, exponents: Array) -> float:
    """The lesser of v and 1−v for v = −yw, minus that, and −|ys|; returns the least v, 1−v."""
    least = 0.0
    for j in range(s.size):
        v = -y[j] * w[j]
        smaller = min(v, 1.0 - v)
        least = min(least, smaller)
        low[j] = smaller
        rest[j] = -smaller
        exponents[j] = -abs(y[j] * s[j])
    return least


def _pair(
    s: Array, w: Array, y: Array, low: Array, values: Array, conjugates: Array, terms: Array
) -> None:
    """l, l* and the Fenchel–Young terms, in the places of three logarithms.

    These are of 1−v and of v, v being the lesser share, and of 1 + exp(−|ys|).
    """
    for j in range(s.size):
        v, margin, tail = -y[j] * w[j], y[j] * s[j], terms[j]
        entropy = conjugates[j] * low[j] + values[j] * (1.0 - low[j])
        values[j] = tail - min(margin, 0.0)
        conjugates[j] = entropy
        terms[j] = abs(margin) * (v if margin > 0.0 else 1.0 - v) + tail + entropy


# ---- the loss ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Logistic(SeparableConjugate):
    """l(s) = log(1 + exp(−ys)), y = ±1, γ = 1/4.

    With v = −yw the conjugate is l*(w) = v log v + (1−v) log(1−v) on 0 ≤ v ≤ 1.

    Examples
    --------
    >>> Logistic().value(-800.0, 1.0), Logistic().derivative(800.0, 1.0) <= 0.0
    (800.0, True)
    """

    gamma = 0.25
    labels = SIGNS
    formula = "log(1 + exp(−ys))"
    spec = "logistic"
    gamma_words = "1/4"
    arrays: ClassVar[Any] = LogisticArrays

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
        return y * margin_of_share(-y * w)

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        return (-1.0, 0.0) if y > 0 else (0.0, 1.0)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """The relative entropy of (v, 1−v) to the prediction's, from terms of order one."""
        v = -y * w
        if v < 0.0 or v > 1.0:
            return math.inf
        return entropy_gap(-y * s, v, 1.0 - v)

    def bregman_radius(self, bound: Any) -> Any:
        return logistic_radius(bound)

    def descent_bound(self, y: Any) -> Any:
        """sup_z z/(1 + exp z) = W(1/e)."""
        return LARGEST_DESCENT

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.logistic(-cp.multiply(y, predictions))

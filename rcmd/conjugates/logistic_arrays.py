"""The logistic pair on whole arrays, where NumPy's vector instructions beat a scalar loop fivefold.

Each function is the method of ``Logistic`` of that name, in the same form.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LEAST, BELOW_ONE = 5e-324, 1.0 - 2.0**-53
"""The numbers next to 0 and 1, at which the logarithms are finite and their factors 0."""


def value(s: Array, y: Array) -> Array:
    """log(1 + exp(−ys))."""
    q = -y * s
    return np.maximum(q, 0.0) + np.log1p(np.exp(-abs(q)))


def derivative(s: Array, y: Array) -> Array:
    """−y/(1 + exp(ys))."""
    q = -y * s
    tail = np.exp(-abs(q))
    return -y * (np.where(q < 0.0, tail, 1.0) / (1.0 + tail))


def second_derivative(s: Array, y: Array) -> Array:
    """exp(−|s|)/(1 + exp(−|s|))²."""
    tail = np.exp(-abs(s))
    return tail / ((1.0 + tail) * (1.0 + tail))


def conjugate(w: Array, y: Array) -> Array:
    """v log v + (1−v) log(1−v) with v = −yw, infinite outside 0 ≤ v ≤ 1."""
    v = -y * w
    return np.where((v < 0.0) | (v > 1.0), np.inf, _negative_entropy(v))


def fenchel_young(s: Array, w: Array, y: Array) -> Array:
    """The relative entropy of (v, 1−v) to the prediction's, from terms of order one."""
    v, q = -y * w, -y * s
    rest = 1.0 - v
    linear = np.where(q >= 0.0, rest * q, -v * q)
    terms = linear + np.log1p(np.exp(-abs(q))) + _negative_entropy(np.minimum(v, rest))
    return np.where((v < 0.0) | (v > 1.0), np.inf, terms)


def bregman_radius(bound: Array) -> Array:
    """ln 2 − H(expit(bound)), with its quadratic majorant where that cancels."""
    tail = np.exp(-bound)
    entropy = _negative_entropy(tail / (1.0 + tail))
    return np.where(bound < 1e-3, bound * bound / 8, np.log(2.0) + entropy)


def _negative_entropy(v: Array) -> Array:
    above, below = np.maximum(v, LEAST), np.minimum(v, BELOW_ONE)
    return v * np.log(above) + (1.0 - v) * np.log1p(-below)

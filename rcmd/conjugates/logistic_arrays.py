"""The logistic pair on whole arrays, where NumPy's vector instructions beat a scalar loop fivefold.

Each function is the method of ``Logistic`` of that name, in the same form, or finds several of
them from the same exponentials and logarithms.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

LEAST = 5e-324
"""The number next to 0, at which the logarithm is finite and its factor 0."""


def value(s: Array, y: Array) -> Array:
    """log(1 + exp(−ys))."""
    q = -y * s
    return np.maximum(q, 0.0) + _tail(q)


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
    return _inside(_negative_entropy(np.minimum(v, 1.0 - v)), v)


def fenchel_young(s: Array, w: Array, y: Array) -> Array:
    """The relative entropy of (v, 1−v) to the prediction's, from terms of order one."""
    v, q = -y * w, -y * s
    rest = 1.0 - v
    terms = abs(q) * np.where(q >= 0.0, rest, v)
    terms += _tail(q)
    terms += _negative_entropy(np.minimum(v, rest))
    return _inside(terms, v)


def expansion(s: Array, y: Array) -> tuple[Array, Array, Array]:
    """``value``, ``derivative`` and ``second_derivative``."""
    from rcmd.conjugates.logistic_kernels import expand, exponents

    tails, slopes = np.empty(len(s)), np.empty(len(s))
    exponents(s, y, tails)
    np.exp(tails, out=tails)
    values = np.log1p(tails)
    expand(s, y, tails, values, slopes)
    return values, slopes, tails


def duality(s: Array, w: Array, y: Array) -> tuple[Array, Array]:
    """``conjugate`` at w, and ``fenchel_young`` at (s, w)."""
    from rcmd.conjugates.logistic_kernels import pair, shares

    low, rest, terms = (np.empty(len(s)) for _ in range(3))
    least = shares(s, w, y, low, rest, terms)
    np.exp(terms, out=terms)
    np.log1p(terms, out=terms)
    np.log1p(rest, out=rest)
    conjugates = np.maximum(low, LEAST)
    np.log(conjugates, out=conjugates)
    pair(s, w, y, low, rest, conjugates, terms)
    if least < 0.0:
        conjugates[low < 0.0] = terms[low < 0.0] = np.inf
    return conjugates, terms


def bregman_radius(bound: Array) -> Array:
    """ln 2 − H(expit(bound)), with its quadratic majorant where that cancels."""
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

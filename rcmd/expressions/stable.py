"""Scalar functions that keep their digits, in ``math`` style: what generated code calls."""

from __future__ import annotations

import math


def square(x: float) -> float:
    """x²."""
    return x * x


def softplus(x: float) -> float:
    """log(1 + exp x), without overflow and to the last digits also where it is tiny."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


def expit(x: float) -> float:
    """1/(1 + exp(−x))."""
    tail = math.exp(-abs(x))
    return (1.0 if x > 0.0 else tail) / (1.0 + tail)


def logcosh(x: float) -> float:
    """log cosh x, from a series in tanh²(x/2) near 0, where the logarithm cancels."""
    a = abs(x)
    if a < 0.5:
        # cosh x = (1 + q)/(1 − q) with q = tanh²(x/2), so log cosh x = 2·artanh q.
        q = math.tanh(a / 2.0)
        return 2.0 * math.atanh(q * q)
    return a - math.log(2.0) + math.log1p(math.exp(-2.0 * a))


def negative_entropy(v: float) -> float:
    """v·log v + (1 − v)·log(1 − v) on [0, 1]."""
    if v <= 0.0 or v >= 1.0:
        return 0.0
    return v * math.log(v) + (1.0 - v) * math.log1p(-v)


def cosh_entropy(v: float) -> float:
    """½[(1 + v)·log(1 + v) + (1 − v)·log(1 − v)] on [−1, 1], also near 0, where it cancels."""
    if abs(v) >= 1.0:
        return math.log(2.0)
    if abs(v) < 0.5:
        return v * math.atanh(v) + math.log1p(-v * v) / 2.0
    return ((1.0 + v) * math.log1p(v) + (1.0 - v) * math.log1p(-v)) / 2.0


def sech2(x: float) -> float:
    """1/cosh² x = 1 − tanh² x."""
    tail = math.exp(-2.0 * abs(x))
    return 4.0 * tail / ((1.0 + tail) * (1.0 + tail))


def sqrt_gap(x: float, c: float) -> float:
    """√(c + x) − √c."""
    return x / (math.sqrt(c + x) + math.sqrt(c))


def log1p_gap(x: float) -> float:
    """x − log(1 + x), from a series near 0, where the difference cancels."""
    if abs(x) > 0.1:
        return x - math.log1p(x)
    # With q = x/(2 + x), log(1 + x) = 2 artanh q, and x = 2q/(1 − q).
    q = x / (2.0 + x)
    q2 = q * q
    tail = q2 * (1 / 3 + q2 * (1 / 5 + q2 * (1 / 7 + q2 * (1 / 9 + q2 * (1 / 11 + q2 / 13)))))
    return 2.0 * q * (q / (1.0 - q) - tail)


def bounded_exp(x: float) -> float:
    """The exponential, infinite where it overflows."""
    return math.exp(x) if x < 709.0 else math.inf


def nudged(v: float, low: float, high: float, scale: float) -> float:
    """v, moved to an end of [low, high] that it misses by rounding alone."""
    slack = 1e-15 * (abs(v) + abs(scale))
    if high < v <= high + slack:
        return high
    if low - slack <= v < low:
        return low
    return v

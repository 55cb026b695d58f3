"""The conjugate of a loss that gives only its value and its derivative, by root finding.

The functions take ``value`` and ``derivative`` as plain functions of (fields, s, y), so that
they run on the methods of a class and, compiled, on the jitted ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

Scalar = Callable[[Any, Any, Any], Any]

FAR = 2.0**50
"""Where a slope counts as having reached its limit."""

LIMIT_TOLERANCE = 1e-9
"""A slope that moves by less, relatively, over the last three decades has a limit."""


def guarded(function: Scalar) -> Scalar:
    """``function`` with arithmetic faults, such as exp(1000), turned into nan."""

    def call(fields: Any, s: Any, y: Any) -> Any:
        try:
            return function(fields, s, y)
        except (ArithmeticError, ValueError):
            return math.nan

    return call


def inverse_slope(derivative: Scalar, fields: Any, w: Any, y: Any) -> Any:
    """An s with derivative(s) = w, by doubling until w is bracketed and false position within.

    +inf or −inf where the slope stays below or above w as far as it can be evaluated.
    """
    start = derivative(fields, 0.0, y) - w
    if start == 0.0:
        return 0.0
    direction = 1.0 if start < 0.0 else -1.0
    near, f_near = 0.0, start
    far = direction
    f_far = derivative(fields, far, y) - w
    while f_far * direction < 0.0 and abs(far) < FAR:
        near, f_near = far, f_far
        far *= 2.0
        f_far = derivative(fields, far, y) - w
    if f_far == 0.0:
        return far
    if not f_far * direction > 0.0:
        # Still on this side at FAR, or not a number any more.
        return direction * math.inf
    return _bracketed_root(derivative, fields, w, y, near, f_near, far, f_far)


def _bracketed_root(
    derivative: Scalar, fields: Any, w: Any, y: Any, a: Any, f_a: Any, b: Any, f_b: Any
) -> Any:
    """A zero of derivative − w between a and b: Illinois' rule, halving every third time."""
    for step in range(300):
        if abs(b - a) <= 2.0**-52 * max(abs(a), abs(b)):
            break
        middle = (a + b) / 2.0 if step % 3 == 2 else b - f_b * (b - a) / (f_b - f_a)
        if not min(a, b) < middle < max(a, b):
            middle = (a + b) / 2.0
        if middle == a or middle == b:
            break
        f_middle = derivative(fields, middle, y) - w
        if f_middle == 0.0:
            return middle
        if (f_middle > 0.0) == (f_b > 0.0):
            f_a = f_a / 2.0
        else:
            a, f_a = b, f_b
        b, f_b = middle, f_middle
    return b


def conjugate(value: Scalar, derivative: Scalar, fields: Any, w: Any, y: Any) -> Any:
    """sup_s ws − value(s), at the s of ``inverse_slope``; at an end of the domain by its limit."""
    s = inverse_slope(derivative, fields, w, y)
    if not math.isinf(s):
        return w * s - value(fields, s, y)
    limit = slope_limit(derivative, fields, y, math.copysign(1.0, s))
    if not abs(w - limit) <= LIMIT_TOLERANCE * (1.0 + abs(w)):
        return math.inf
    return _limit_of_supremum(value, fields, w, y, math.copysign(1.0, s))


def _limit_of_supremum(value: Scalar, fields: Any, w: Any, y: Any, direction: Any) -> Any:
    """lim ws − value(s) as s → ±inf; infinite if it still grows at 2^30."""
    best = -value(fields, 0.0, y)
    s = direction
    for _ in range(30):
        here = w * s - value(fields, s, y)
        if math.isnan(here):
            return best
        growth = here - best
        if abs(s) > 1024.0 and growth <= 2.0**-50 * abs(w * s):
            # Increments that halve add up to no more than the last of them.
            return best
        best = max(best, here)
        s *= 2.0
    return math.inf


def slope_limit(derivative: Scalar, fields: Any, y: Any, direction: Any) -> Any:
    """The limit of the slope as s → ±inf, an end of dom l*; ±inf where it keeps growing."""
    last, before = math.nan, math.nan
    s = direction * 1024.0
    while abs(s) <= FAR:
        here = derivative(fields, s, y)
        if math.isnan(here) or math.isinf(here):
            break
        before, last = last, here
        s *= 1024.0
    if math.isnan(before):
        # One decade or less could be evaluated: no limit is known, and none is claimed.
        return direction * math.inf
    settled = abs(last - before) <= LIMIT_TOLERANCE * (1.0 + abs(last))
    return last if settled else direction * math.inf


def largest_slope(derivative: Scalar, fields: Any, labels: tuple[Any, ...]) -> float:
    """An estimate of γ: the steepest chord of the slope on |s − y| ≤ 64, rounded up a little.

    Chords of length 1/16 find where the slope is steep, then ones of 2⁻¹⁰ how steep it is.
    """
    steepest = 0.0
    for y in labels:
        chords = []
        for k in range(-1024, 1024):
            left = y + k / 16.0
            chords.append(
                (derivative(fields, left + 0.0625, y) - derivative(fields, left, y), left)
            )
        _, left = max(chord for chord in chords if not math.isnan(chord[0]))
        for k in range(-64, 128):
            a, b = left + k / 1024.0, left + (k + 1) / 1024.0
            steepest = max(steepest, (derivative(fields, b, y) - derivative(fields, a, y)) * 1024.0)
    return steepest * (1.0 + 1e-4)

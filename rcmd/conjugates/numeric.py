"""The conjugate of a loss that gives only its value and its derivative, by root finding.

The functions are scalar code, which numba compiles with the methods of a loss.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from rcmd.jit.caching import compiled_as

Scalar = Callable[[Any], Any]

LIMIT_TOLERANCE = 1e-9
"""A slope that moves by less, relatively, over its last two doublings of s has a limit."""

EVEN, NEAR, GOLDEN = 320, 32, 0.6180339887498949
"""How many points are spread evenly, and how many on each side of a centre."""


def guarded(method: Callable[..., Any], *at: Any) -> Scalar:
    """s ↦ ``method(s, *at)`` with arithmetic faults, such as exp(1000), turned into nan."""

    def call(s: Any) -> Any:
        try:
            return method(s, *at)
        except (ArithmeticError, ValueError):
            # The fault leaves a floating-point flag up, which NumPy would report as its own at
            # the end of a loop over samples; a NumPy operation takes it down.
            np.add(0.0, 0.0)
            return math.nan

    return call


def value_at(loss: Any, s: Any, y: Any, *fields: Any) -> Any:
    """l(s; y), nan where that is an arithmetic fault."""
    return guarded(loss.value, y, *fields)(s)


def slope_at(loss: Any, s: Any, y: Any, *fields: Any) -> Any:
    """l'(s; y), likewise."""
    return guarded(loss.derivative, y, *fields)(s)


def _plain_value(loss: Any, s: Any, y: Any, *fields: Any) -> Any:
    return loss.value(s, y, *fields)


def _plain_slope(loss: Any, s: Any, y: Any, *fields: Any) -> Any:
    return loss.derivative(s, y, *fields)


# Compiled code raises no arithmetic faults, and cannot catch them.
compiled_as(value_at, _plain_value)
compiled_as(slope_at, _plain_slope)


def inverse_slope(loss: Any, w: Any, y: Any, *fields: Any) -> Any:
    """An s with l'(s) = w, by doubling until w is bracketed and false position within.

    +inf or −inf where the slope stays below or above w as far as it can be evaluated.
    """
    near, f_near = 0.0, slope_at(loss, 0.0, y, *fields) - w
    if f_near == 0.0:
        return 0.0
    direction = 1.0 if f_near < 0.0 else -1.0
    far, f_far = direction, slope_at(loss, direction, y, *fields) - w
    while f_far * direction < 0.0 and abs(far) < 2.0**50:
        near, f_near = far, f_far
        far, f_far = 2.0 * far, slope_at(loss, 2.0 * far, y, *fields) - w
    if f_far == 0.0:
        return far
    if not f_far * direction > 0.0:
        # Still on this side so far out, or not a number any more.
        return direction * math.inf
    return _bracketed_root(near, f_near, far, f_far, loss, w, y, *fields)


def _bracketed_root(
    a: Any, f_a: Any, b: Any, f_b: Any, loss: Any, w: Any, y: Any, *fields: Any
) -> Any:
    """A zero of l' − w between a and b: Illinois' rule, halving every third time."""
    for step in range(300):
        if abs(b - a) <= 2.0**-52 * max(abs(a), abs(b)):
            break
        middle = (a + b) / 2.0 if step % 3 == 2 else b - f_b * (b - a) / (f_b - f_a)
        if not min(a, b) < middle < max(a, b):
            middle = (a + b) / 2.0
        if middle == a or middle == b:
            break
        f_middle = slope_at(loss, middle, y, *fields) - w
        if f_middle == 0.0:
            return middle
        if (f_middle > 0.0) == (f_b > 0.0):
            f_a = f_a / 2.0
        else:
            a, f_a = b, f_b
        b, f_b = middle, f_middle
    return b


def conjugate(loss: Any, w: Any, y: Any, *fields: Any) -> Any:
    """sup_s ws − l(s), at the s of ``inverse_slope``; at an end of the domain by its limit."""
    s = inverse_slope(loss, w, y, *fields)
    if not math.isinf(s):
        return w * s - value_at(loss, s, y, *fields)
    direction = math.copysign(1.0, s)
    limit = slope_limit(loss, direction, y, *fields)
    if not abs(w - limit) <= LIMIT_TOLERANCE * (1.0 + abs(w)):
        return math.inf
    # lim ws − l(s) as s → ±inf; infinite if it still grows at 2^30.
    best = -value_at(loss, 0.0, y, *fields)
    for k in range(30):
        s = direction * 2.0**k
        here = w * s - value_at(loss, s, y, *fields)
        if math.isnan(here):
            return best
        if abs(s) > 1024.0 and here - best <= 2.0**-50 * abs(w * s):
            # Increments that halve add up to no more than the last of them.
            return best
        best = max(best, here)
    return math.inf


def slope_limit(loss: Any, direction: Any, y: Any, *fields: Any) -> Any:
    """The limit of l' as s → ±inf, an end of dom l*; ±inf where it keeps growing.

    It has a limit if it stands still between a quarter of the way and the farthest s up to
    2⁵⁰ at which it can be evaluated, and was never beyond it: far out rounding may be all there is.
    """
    quarter = half = last = math.nan
    known, farthest = 0, -math.inf
    for k in range(51):
        slope = slope_at(loss, direction * 2.0**k, y, *fields)
        if not math.isfinite(slope):
            break
        quarter, half, last = half, last, slope
        known, farthest = known + 1, max(farthest, direction * slope)
    # Where too little could be evaluated, no limit is known, and none is claimed.
    close = LIMIT_TOLERANCE * (1.0 + abs(last))
    settled = known >= 8 and abs(last - quarter) <= close and farthest <= direction * last + close
    return last if settled else direction * math.inf


def spread_points(low: float, high: float, y: float, phase: int = 0) -> np.ndarray[Any, Any]:
    """Points of [low, high] at irregular distances, closer together near 0 and y; both ends.

    The distances are irregular so that no period of a function hides between them; another
    ``phase`` gives other points.
    """
    width, k = high - low, np.arange(EVEN)
    even = low + width * (k + (GOLDEN * (k + 1 + 31 * phase)) % 1.0) / EVEN
    nearer = width * 2.0 ** -((np.arange(NEAR) + (GOLDEN * (phase + 1)) % 1.0) / 2)
    near = [centre + sign * nearer for centre in (0.0, y) for sign in (-1.0, 1.0)]
    found = np.unique(np.concatenate([[low, 0.0, y, high], even, *near]))
    return found[(found >= low) & (found <= high)]


def around(points: np.ndarray[Any, Any], k: int) -> np.ndarray[Any, Any]:
    """Closer points around the k-th of the intervals between ``points``."""
    return np.linspace(points[max(k - 1, 0)], points[min(k + 2, len(points) - 1)], 34)


def largest_slope(slope: Scalar, low: float, high: float, y: float) -> float:
    """An estimate of γ on [low, high]: the steepest chord of the slope, rounded up a little.

    Chords between ``spread_points`` find where the slope is steep, closer ones how steep it is.
    """
    # On less, rounding may hide how steep a chord is, and on more than [low, high] what is narrow.
    pad = max(1e-3 * (1.0 + abs(y)) - (high - low), 0.0)
    steepest = 0.0
    for wider in {0.0, pad}:
        points = spread_points(low - wider, high + wider, y)
        for _ in range(3):
            slopes, lengths = np.array([slope(s) for s in points.tolist()]), np.diff(points)
            sizes = abs(slopes)
            chords = (np.diff(slopes) - 1e-15 * (sizes[1:] + sizes[:-1])) / lengths
            chords[~np.isfinite(chords) | (lengths < 1e-7 * (abs(points[1:]) + abs(y)))] = 0.0
            steepest = max(steepest, float(chords.max(initial=0.0)))
            points = around(points, int(chords.argmax())) if len(chords) else points
    return steepest * (1.0 + 1e-4)

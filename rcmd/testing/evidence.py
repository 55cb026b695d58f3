"""What the value of a loss implies: the slope, pairs (s, w), l* at them, the steepest chord."""

import itertools
import math
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate, has_curvature_bound, numeric_parts
from rcmd.testing.report import Inspection, Sample, Skip, attempt, compared, shown

OFFSETS = [m * 10.0**k for k in range(-3, 3) for m in (1.3, 2.9, 6.1)]
"""Distances from 0 and from the label: no branch point of a common loss is among them."""

LOCAL_REACH = 16.0
"""How far from 0 a loss without a γ is looked at."""


class Evidence(Inspection):
    """A loss with its labels, and the numbers that its contract is checked against."""

    def __init__(self, loss: SeparableConjugate, labels: list[float]) -> None:
        super().__init__(repr(loss))
        self.loss, self.labels = loss, labels
        # A loss that is smooth on bounded sets only may overflow farther out.
        self.local = has_curvature_bound(type(loss)) and math.isinf(loss.gamma)
        self.reach = LOCAL_REACH if self.local else math.inf
        self._slopes: dict[tuple[float, float], float] = {}
        self._roundings: dict[tuple[float, float], float] = {}
        self.gaps: dict[str, tuple[float, float]] = {}
        if missing := numeric_parts(type(loss)):
            self.report.notes.append(f"found numerically, not given: {', '.join(missing)}")

    def states(self, y: float, reach: float = math.inf) -> list[float]:
        """Points s around 0 and around the label, at all scales."""
        found = _around(y, [d for d in OFFSETS if d <= reach])
        return [s for s in found if abs(s) <= self.reach]

    def points(self) -> Iterator[tuple[float, float]]:
        return ((s, y) for y in self.labels for s in self.states(y))

    def fine(self, y: float) -> list[float]:
        """A grid 6 % apart at all scales, for suprema over s."""
        found = {0.0, y, *_around(y, [10.0 ** (k / 40) for k in range(-160, 121)])}
        return sorted(s for s in found if abs(s) <= self.reach)

    def value(self, s: float, y: float) -> float:
        """l(s), NaN where it raises."""
        return attempt(self.loss.value, s, y).number

    def conjugate(self, w: float, y: float) -> float:
        return attempt(self.loss.conjugate, w, y).number

    def slope(self, s: float, y: float) -> float:
        """l'(s): the user's derivative once it has passed, else differences of value."""
        if (s, y) not in self._slopes:
            self._slopes[s, y] = (
                attempt(self.loss.derivative, s, y).number
                if self.derivative_is_right
                else difference(self.value, s, y)[0]
            )
        return self._slopes[s, y]

    def rounding(self, s: float, y: float) -> float:
        """How far value is from a smooth function near s."""
        if (s, y) not in self._roundings:
            self._roundings[s, y] = rounding(self.value, s, y)
        return self._roundings[s, y]

    def refuse_gaps(self, name: str) -> None:
        """An identity is not checked where the method ``name`` is not finite."""
        if name in self.gaps:
            s, y = self.gaps[name]
            raise Skip(
                f"{name} is not finite around s = {shown(s)}, y = {shown(y)}; elsewhere it holds"
            )

    def need_derivative(self) -> None:
        """What follows from a wrong derivative is not checked."""
        if not self.derivative_is_right:
            raise Skip("derivative is wrong")

    def need_origin(self, name: str) -> None:
        """A method that is found from a wrong derivative is wrong with it: one fault, told once."""
        if getattr(type(self.loss), name) is getattr(SeparableConjugate, name):
            self.need_derivative()

    @property
    def derivative_is_right(self) -> bool:
        """Whether the user's derivative is the slope of value."""
        return not self.slope_faults

    @cached_property
    def slope_faults(self) -> list[tuple[Any, ...]]:
        """Derivative against differences of value."""
        samples = []
        for s, y in self.points():
            expected, error = difference(self.value, s, y)
            tolerance = 20 * error + 1e-8 * (1e-3 + abs(expected))
            if math.isnan(expected):
                self.gaps["value"] = s, y
            else:
                found = attempt(self.loss.derivative, s, y)
                samples.append(Sample({"s": s, "y": y}, found, expected, tolerance))
        return list(compared(samples, swapped=lambda s, y: self.loss.derivative(y, s)))

    @cached_property
    def pairs(self) -> list[tuple[float, float, float, float]]:
        """(s, w, y, l*(w)) with w = l'(s), each w once for every label."""
        found: dict[tuple[float, float], tuple[float, float, float, float]] = {}
        for s, y in self.points():
            w = self.slope(s, y)
            value = self.value(s, y)
            # Of equal slopes the smallest |s| has the smallest rounding.
            better = abs(s) < abs(found.get((w, y), (math.inf,))[0])
            if better and math.isfinite(w) and math.isfinite(value):
                found[w, y] = (s, w, y, w * s - value)
        return list(found.values())

    @cached_property
    def steepest(self) -> tuple[float, float, float]:
        """The steepest chord of l' found, less what rounding may add to it, and its place."""
        if not self.derivative_is_right:
            return attempt(lambda: self.loss.gamma).number, 0.0, 0.0

        def chord(a: float, b: float, y: float) -> float:
            low, high = self.slope(a, y), self.slope(b, y)
            rise = (high - low) / (b - a)
            size = abs(low) + abs(high) + rise * (abs(a) + abs(b) + abs(y))
            steep = rise - 2.0**-51 * size / (b - a)
            return steep if math.isfinite(steep) else -math.inf

        best = (0.0, 0.0, self.labels[0])
        for y in self.labels:
            tried = [s for s in self.fine(y) if abs(s) <= 1e3]
            grid = [s for s in tried if math.isfinite(self.slope(s, y))]
            if len(grid) < len(tried):
                self.gaps["derivative"] = next(s for s in tried if s not in grid), y
            # Shorter chords are dominated by the rounding of their ends.
            lines = [(a, b) for a, b in itertools.pairwise(grid) if b - a > 1e-5 * (abs(a) + 1e-3)]
            if not lines:
                continue
            steep, a, b = max((chord(a, b, y), a, b) for a, b in lines)
            cuts = np.linspace(a - (b - a), b + (b - a), 25).tolist()
            finer = [(chord(u, v, y), u, y) for u, v in itertools.pairwise(cuts)]
            best = max(best, (steep, a, y), *finer)
        return best


def _around(y: float, distances: list[float]) -> list[float]:
    """Points at these distances from 0 and from y."""
    signed = [sign * d for d in distances for sign in (-1, 1)]
    return sorted({*signed, *(y + d for d in signed)})


def difference(
    function: Callable[[float, float], float], s: float, y: float
) -> tuple[float, float]:
    """The slope of ``function(·, y)`` at s by extrapolated central differences, and its error.

    The steps halve from 4 % of the distance to 0 or the label, whichever is nearer: of the
    whole extrapolation table the entry is taken that moves least, and by how much it moves is
    the error. A wrong derivative passes only if it is off by less than that.
    """
    step = 0.04 * max(min(abs(s), abs(s - y)), 1e-3)
    best, error = math.nan, math.inf
    rows: list[list[float]] = []
    for k in range(7):
        h = step / 2**k
        row = [(function(s + h, y) - function(s - h, y)) / ((s + h) - (s - h))]
        for m, above in enumerate(rows[-1] if rows else []):
            row.append(row[m] + (row[m] - above) / (4 ** (m + 1) - 1))
            moved = max(abs(row[-1] - row[-2]), abs(row[-1] - above))
            if moved < error:
                best, error = row[-1], moved
        rows.append(row)
    noise = (2.0**-50 * abs(function(s, y)) + rounding(function, s, y)) / step * 2**3
    return best, error + noise


def rounding(function: Callable[[float, float], float], s: float, y: float) -> float:
    """What ``function(s, y)`` may lose to digits that cancel inside it.

    A quarter of the largest fifth difference over points close to s; and, as terms that leave a
    small value at s, such as log(1 + eˢ) − s, leave their own size on the other side of y, the
    rounding there.
    """
    step = 1e-4 * max(min(abs(s), abs(s - y)), 1e-3)
    nearby = [function(s + k * step, y) for k in range(-4, 5)]
    return float(abs(np.diff(nearby, 5)).max()) / 4 + 2.0**-52 * abs(function(2 * y - s, y))

"""How both kinds of correction shorten and damp Newton's steps."""

from __future__ import annotations

from collections.abc import Callable

ROUNDING = 1e-15
"""What rounding may hide of a decrease, relative to the value."""

LEAST, MOST = 1e-13, 1.0
"""Bounds of the damping, relative to the curvature."""

SHORTEST = 2.0**-30
"""The least share of a step that is tried."""


def falls(value: float, here: float, promised: float) -> bool:
    """Whether ``value`` is below ``here`` by what was promised (a negative number).

    Where rounding hides what a step is worth, Newton's is taken at its word; NaN is no fall.
    """
    return value <= here + promised + ROUNDING * abs(here)


class Damping:
    """The multiple of the identity added to the curvature: more after steps that were too long."""

    def __init__(self) -> None:
        self.now = LEAST

    def longest(self, fallen: Callable[[float], bool]) -> float:
        """The largest share 1, ½, ¼, … of a step at which the value has fallen; else 0."""
        share = 1.0
        while share > SHORTEST and not fallen(share):
            share /= 2
        self.now = min(max(self.now * (0.1 if share > 0.1 else 100), LEAST), MOST)
        return share if share > SHORTEST else 0.0

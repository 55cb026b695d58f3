"""What a run may spend, checked before it starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from rcmd.result import StopReason

DEFAULT_EPOCHS, DEFAULT_GRADIENTS = 1000, 10**7
"""A run without budgets gives up after both so many passes and so many gradients."""


@dataclass(frozen=True)
class Spent:
    """Iterations and gradients used so far."""

    iterations: int
    gradients: int


class Budgets:
    """Limits on iterations, gradients and seconds; ``None`` for no limit.

    With none given, the larger of 1000 passes over n rows and 10⁷ gradients.
    """

    def __init__(
        self, iterations: Any, gradients: Any, seconds: Any, *, n: int, batch: int
    ) -> None:
        _check("max_iterations", iterations, Integral)
        _check("max_gradients", gradients, Integral)
        _check("max_seconds", seconds, Real)
        if iterations is None and gradients is None and seconds is None:
            gradients = max(DEFAULT_EPOCHS * n, DEFAULT_GRADIENTS)
        self.iterations, self.gradients = iterations, gradients
        self.seconds = math.inf if seconds is None else seconds
        self.require(batch)

    def require(self, step: int) -> None:
        """Refuse a budget that does not allow one step of so many gradients."""
        if self.gradients is not None and self.gradients < step:
            raise ValueError(
                f"max_gradients is {self.gradients}; expected at least one batch, {step} rows"
            )

    def steps_left(self, spent: Spent, batch: int) -> float:
        """Steps of ``batch`` gradients each that are still allowed."""
        left = math.inf
        if self.iterations is not None:
            left = self.iterations - spent.iterations
        if self.gradients is not None:
            left = min(left, (self.gradients - spent.gradients) // batch)
        return left

    def exceeded(self, spent: Spent, step: int) -> StopReason | None:
        """Which budget does not allow ``step`` more gradients, or one more iteration."""
        if self.iterations is not None and spent.iterations >= self.iterations:
            return StopReason.ITERATIONS
        if self.gradients is not None and spent.gradients + step > self.gradients:
            return StopReason.GRADIENTS
        return None


def _check(name: str, value: Any, kind: Any) -> None:
    whole = "whole " if kind is Integral else ""
    number = isinstance(value, kind) and not isinstance(value, bool)
    if value is not None and not (number and value > 0):
        raise ValueError(
            f"{name} is {value!r}; expected a positive {whole}number, or None for no limit"
        )

"""What a run may spend, checked before it starts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from rcmd.solver.history import StopReason

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

    def __init__(self, iterations: Any, gradients: Any, seconds: Any, *, n: int) -> None:
        _check("max_iterations", iterations, Integral)
        _check("max_gradients", gradients, Integral)
        _check("max_seconds", seconds, Real)
        if iterations is None and gradients is None and seconds is None:
            gradients = max(DEFAULT_EPOCHS * n, DEFAULT_GRADIENTS)
        self.iterations = math.inf if iterations is None else iterations
        self.gradients = math.inf if gradients is None else gradients
        self.seconds = math.inf if seconds is None else seconds

    def require(self, step: int) -> None:
        """Refuse a budget that does not allow one step of so many gradients."""
        if self.gradients < step:
            raise ValueError(
                f"max_gradients is {self.gradients}; expected at least one batch, {step} rows"
            )

    def steps_left(self, spent: Spent, batch: int) -> float:
        """Steps of ``batch`` gradients each that are still allowed."""
        affordable = (self.gradients - spent.gradients) / batch
        return min(self.iterations - spent.iterations, affordable)

    def exceeded(self, spent: Spent, step: int) -> StopReason | None:
        """Which budget does not allow ``step`` more gradients, or one more iteration."""
        if spent.iterations >= self.iterations:
            return StopReason.ITERATIONS
        if spent.gradients + step > self.gradients:
            return StopReason.GRADIENTS
        return None


def _check(name: str, value: Any, kind: Any) -> None:
    whole = "whole " if kind is Integral else ""
    number = isinstance(value, kind) and not isinstance(value, bool)
    if value is not None and not (number and value > 0):
        raise ValueError(
            f"{name} is {value!r}; expected a positive {whole}number, or None for no limit"
        )

"""Schedules that a program might use by mistake, for planted bugs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rcmd.model.schedules import Schedule


@dataclass(frozen=True)
class ConstantSteps(Schedule):
    """η_i the same for all i, and equal averaging weights."""

    eta: float

    def step(self, i: Any) -> Any:
        return self.eta + 0 * i

    def mixing(self, i: Any) -> Any:
        return 1 / (i + 1)

    def growth(self, i: Any, base: int) -> Any:
        return (i + 1) / (base + 1)

"""What methods share that take the whole gradient, and ask the oracle once, in every step."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.methods.base import Method, Progress
from rcmd.methods.step_rules import Rule, Segment
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom

Array = npt.NDArray[Any]


class FullGradient(Progress):
    """A run whose steps see ∇f(β) and a minimizer of ∇f(β)ᵀβ + R(β); it keeps s = Xβ."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        super().__init__(problem, rng)
        self.predictions = problem.rows.matvec(self.beta)
        self._dearest = problem.n

    @abstractmethod
    def move(self, w: Array, slope: Any, atom: Atom) -> None:
        """Change β and ``predictions``, given w = ∇L(Xβ), ``slope`` = ∇f(β) and its atom."""

    def step(self) -> None:
        w, before = self.w, self.gradients
        slope = self.problem.gradient(w)
        self.gradients += self.problem.n
        self.oracle_calls += 1
        self.move(w, slope, self.problem.oracle.argmin(slope))
        self._dearest = max(self._dearest, self.gradients - before)

    def searched(self, rule: Rule, segment: Segment) -> Any:
        """The step that ``rule`` takes; each of its looks at the losses counts n gradients."""
        share = rule.share(segment)
        self.gradients += segment.looks * self.problem.n
        return share

    @property
    def s(self) -> Array:
        return self.predictions

    @property
    def step_gradients(self) -> int:
        """The most that a step used so far, n at first: line searches are not known ahead."""
        return self._dearest


def check_batch(method: Method, batch: int | None, n: int) -> None:
    """Refuse batches."""
    if batch is not None and batch != n:
        raise ValueError(
            f"batch is {batch} rows; expected None or n = {n}: {type(method).__name__} takes the "
            "gradient over all rows in every step"
        )

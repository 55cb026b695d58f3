"""The Frank–Wolfe method, deterministic, with its usual step rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from rcmd.methods.base import Method, Progress
from rcmd.problem import Problem

StepRule = Literal["open-loop"]


@dataclass(frozen=True)
class FrankWolfe(Method):
    """β ← β + α_k (β̃ − β), β̃ a minimizer of ∇f(β)ᵀβ + R(β) (Jaggi 2013; R = indicator).

    ``rule`` is ``"open-loop"``, α_k = 2/(k+2): P(β^k) − P* ≤ 2 C_f/(k+2).

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0]], [0.5], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=FrankWolfe(), tol=1e-3).success
    True
    """

    rule: StepRule = "open-loop"
    note = "Frank-Wolfe: O(1/k), no bound is printed"

    def __post_init__(self) -> None:
        if self.rule not in get_args(StepRule):
            raise ValueError(
                f"rule of FrankWolfe is {self.rule!r}; expected one of {', '.join(get_args(StepRule))}"
            )

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _FrankWolfe(problem, rng)


class _FrankWolfe(Progress):
    @property
    def step_gradients(self) -> int:
        return self.problem.n

    def step(self) -> None:
        slope = self.slope_at(self.beta, np.arange(self.problem.n))
        self.beta = _towards(self.beta, self.lowest_point(slope), 2 / (self.iteration + 2))


def _towards(beta: Any, point: Any, share: float) -> Any:
    return beta + share * (point - beta)

"""SCGM, the stochastic conditional gradient method with averaged gradients."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from rcmd.methods.base import Method, Progress
from rcmd.methods.sampled import Sampled
from rcmd.model.problem import Problem
from rcmd.rows.validation import batch_size


@dataclass(frozen=True)
class SCGM(Method):
    """Momentum instead of large batches (Mokhtari, Hassani and Karbasi 2018, 2020).

    For t = 1, 2, … and d_0 = 0, with ∇̃f the mean gradient of a batch,

        d_t = (1 − ρ_t) d_{t−1} + ρ_t ∇̃f(β_t),     ρ_t = weight/(t+8)^decay
        β_{t+1} = (1 − γ_{t+1}) β_t + γ_{t+1} β̃_t,   γ_t = pace/(t+8)

    with β̃_t a minimizer of d_tᵀβ + R(β). The paper has ρ_t = 4/(t+8)^{2/3} and γ_t = 1/(t+8),
    the defaults, for which E P(β_t) − P* = O(t^{−1/3}) for any batch, by default the 1 % of the
    rows of Lu and Freund's experiments. Other numbers have no such theorem.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=SCGM(), tol=1e-2).success
    True
    """

    pace: float = 1.0
    weight: float = 4.0
    decay: float = 2 / 3
    any_batch = True
    note = "SCGM: O(t^(-1/3)) in expectation with its paper's steps, no bound is printed"

    def __post_init__(self) -> None:
        self._check("decay", 1.0)
        self._check("pace", 10.0)  # γ_2 ≤ 1
        self._check("weight", 9.0**self.decay)  # ρ_1 ≤ 1

    def _check(self, name: str, most: float) -> None:
        value = getattr(self, name)
        number: Any = value if isinstance(value, Real) else math.nan
        if not 0 < number <= most:
            raise ValueError(
                f"{name} of SCGM is {value!r}; expected a number above 0 and at most {most:g}"
            )

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _SCGM(self, problem, batch or batch_size(0.01, problem.n), rng)


class _SCGM(Sampled):
    batch: int

    def __init__(
        self, method: SCGM, problem: Problem, batch: int, rng: np.random.Generator
    ) -> None:
        super().__init__(method, problem, batch, rng)
        self._method = method

    @property
    def step_gradients(self) -> int:
        return self.batch

    def step(self) -> None:
        method, t = self._method, self.iteration + 1
        weight = method.weight / (t + 8) ** method.decay
        self.slope *= 1 - weight
        self.slope += weight * self.slope_at(self.beta, self.draw(self.batch))
        self.move(method.pace / (t + 9))

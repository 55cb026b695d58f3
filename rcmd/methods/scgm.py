"""SCGM, the stochastic conditional gradient method with averaged gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcmd.methods.base import Method, Progress
from rcmd.methods.sampled import Sampled
from rcmd.problem import Problem
from rcmd.validation import batch_size


@dataclass(frozen=True)
class SCGM(Method):
    """Momentum instead of large batches (Mokhtari, Hassani and Karbasi 2018, 2020).

    For t = 1, 2, … and d_0 = 0, with ∇̃f the mean gradient of a batch,

        d_t = (1 − ρ_t) d_{t−1} + ρ_t ∇̃f(β_t),     ρ_t = 4/(t+8)^{2/3}
        β_{t+1} = (1 − γ_{t+1}) β_t + γ_{t+1} β̃_t,   γ_t = 1/(t+8)

    with β̃_t a minimizer of d_tᵀβ + R(β): E P(β_t) − P* = O(t^{−1/3}) for any batch, by
    default the 1 % of the rows of Lu and Freund's experiments.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=SCGM(), tol=1e-2).success
    True
    """

    note = "SCGM: O(t^(-1/3)) in expectation, no bound is printed"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _SCGM(self, problem, batch or batch_size(0.01, problem.n), rng)


class _SCGM(Sampled):
    batch: int

    @property
    def step_gradients(self) -> int:
        return self.batch

    def step(self) -> None:
        t = self.iteration + 1
        weight = 4 / (t + 8) ** (2 / 3)
        self.slope *= 1 - weight
        self.slope += weight * self.slope_at(self.beta, self.draw(self.batch))
        self.move(1 / (t + 9))

"""SFW, stochastic Frank-Wolfe with growing batches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcmd.methods.base import Progress
from rcmd.methods.sampled import Capped, CappedRun
from rcmd.model.problem import Problem


@dataclass(frozen=True)
class SFW(Capped):
    """β_k = (1 − γ_k) β_{k−1} + γ_k β̃_k, γ_k = 2/(k+1), k = 1, 2, … (Hazan and Luo 2016).

    β̃_k is a minimizer of ∇̃_kᵀβ + R(β), with ∇̃_k the mean gradient at β_{k−1} of m_k rows.
    m_k = (G(k+1)/(LD))² gives E P(β_k) − P* = O(1/k); the default is that order without its
    constants, as in Lu and Freund's experiments: min{k², cap·n} rows, without replacement.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=SFW(cap=1.0), tol=1e-3).success
    True
    """

    note = "SFW: O(1/k) in expectation while batches grow like k², no bound is printed"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _SFW(self, problem, batch, rng)


class _SFW(CappedRun):
    @property
    def step_gradients(self) -> int:
        return self.size((self.iteration + 1) ** 2)

    def step(self) -> None:
        self.slope = self.slope_at(self.beta, self.draw(self.step_gradients))
        self.move(2 / (self.iteration + 2))

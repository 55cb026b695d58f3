"""SCGS, stochastic conditional gradient sliding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcmd.methods.base import Progress
from rcmd.methods.sampled import Capped, CappedRun
from rcmd.methods.sliding import curvature, slide, smoothness
from rcmd.model.problem import Problem


@dataclass(frozen=True)
class SCGS(Capped):
    """Nesterov's method whose prox steps are found by Frank-Wolfe (Lan and Zhou 2016).

    For k = 1, 2, … with x_0 = β_0 and γ_k = 3/(k+2),

        z_k = (1 − γ_k) β_{k−1} + γ_k x_{k−1},   ∇̃_k the mean gradient at z_k of m_k rows
        x_k ≈ argmin ∇̃_kᵀx + (b_k/2) ‖x − x_{k−1}‖² + R(x),   b_k = 4L/(k+2)
        β_k = (1 − γ_k) β_{k−1} + γ_k x_k

    where x_k has a Frank-Wolfe gap of at most LD²/(k(k+1)). m_k of order k³ gives
    E P(β_k) − P* = O(1/k²) after O(k²) oracle calls, R the indicator of a set; the default is
    that order without its constants, as in Lu and Freund's experiments: min{k³, cap·n} rows,
    without replacement. This is the rule for convex f; (1/n) Σ_j γ_j (2M_j)² stands for LD².

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=SCGS(cap=1.0), tol=1e-3).success
    True
    """

    note = "SCGS: O(1/k²) in expectation while batches grow like k³, no bound is printed"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _SCGS(self, problem, batch, rng)


class _SCGS(CappedRun):
    def __init__(
        self, method: SCGS, problem: Problem, batch: int | None, rng: np.random.Generator
    ) -> None:
        super().__init__(method, problem, batch, rng)
        self._smoothness, self._curvature = smoothness(problem), curvature(problem)
        self._x = self.beta.copy()

    @property
    def step_gradients(self) -> int:
        return self.size((self.iteration + 1) ** 3)

    def step(self) -> None:
        k = self.iteration + 1
        share = 3 / (k + 2)
        z = (1 - share) * self.beta + share * self._x
        self.slope = self.slope_at(z, self.draw(self.step_gradients))
        strength, error = 4 * self._smoothness / (k + 2), self._curvature / (k * (k + 1))
        self._x = slide(self, self.slope, self._x, strength, error)
        self.beta = (1 - share) * self.beta + share * self._x

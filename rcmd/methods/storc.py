"""STORC, stochastic variance-reduced conditional gradient sliding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rcmd.methods.base import Progress
from rcmd.methods.epochs import Array, Epochs
from rcmd.methods.sampled import Capped
from rcmd.methods.sliding import curvature, diameter, slide, smoothness, steepness
from rcmd.model.problem import Problem


@dataclass(frozen=True)
class STORC(Capped):
    """Conditional gradient sliding in epochs, each around a full gradient (Hazan and Luo 2016).

    Epoch t = 1, 2, … takes a snapshot β⁰ of β, sets x_0 = β and takes N_t = ⌈2^{t/2+2}⌉ steps

        z_k = (1 − γ_k) β_{k−1} + γ_k x_{k−1},   γ_k = 2/(k+1),   k = 1, …, N_t
        x_k ≈ argmin ∇̃_kᵀx + (b_k/2) ‖x − x_{k−1}‖² + R(x),   b_k = 3L/k
        β_k = (1 − γ_k) β_{k−1} + γ_k x_k

    where x_k has a Frank-Wolfe gap of at most 2LD²/(N_t k) and
    ∇̃_k = ∇f(β⁰) + mean over m_k rows of ∇f_j(z_k) − ∇f_j(β⁰). Before the first epoch β is a
    minimizer of gᵀβ + R(β), g the gradient at the start.

    Of the three rules of the paper this is the one for Lipschitz f:
    m_k = 700 N_t + 24 N_t G (k+1)/(LD), for which E P(β) − P* ≤ LD²/2^{t+1} after epoch t,
    O(1/K²) after K steps in all; but at most cap·n rows are taken, without replacement.
    (1/n) Σ_j γ_j (2M_j)² stands for LD², max_j (|l_j'(0)| + γ_j M_j) ‖x_j‖ for G.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=STORC(), tol=1e-3).success
    True
    """

    note = "STORC: O(1/k²) in expectation at the ends of epochs, no bound is printed"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _STORC(self, problem, batch, rng)


class _STORC(Epochs):
    def __init__(
        self, method: STORC, problem: Problem, batch: int | None, rng: np.random.Generator
    ) -> None:
        super().__init__(method, problem, batch, rng)
        self._smoothness, self._curvature = smoothness(problem), curvature(problem)
        steep, flat = steepness(problem), self._smoothness * diameter(problem)
        self._noise = steep / flat if flat > 0 else 0.0

    @property
    def length(self) -> int:
        return math.ceil(2 ** (self.epoch / 2 + 2))

    def batch_rule(self, k: int) -> int:
        return math.ceil(self.length * (700 + 24 * self._noise * (k + 1)))

    def inner_step(self, k: int, rows: Array) -> None:
        if k == 1:
            self._x = self.beta.copy()
        share = 2 / (k + 1)
        z = (1 - share) * self.beta + share * self._x
        self.slope = self.snapshot.slope_at(z, rows)
        strength, error = 3 * self._smoothness / k, 2 * self._curvature / (self.length * k)
        self._x = slide(self, self.slope, self._x, strength, error)
        self.beta = (1 - share) * self.beta + share * self._x

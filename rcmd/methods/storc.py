"""STORC, stochastic variance-reduced conditional gradient sliding."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rcmd.methods.base import Progress
from rcmd.methods.sampled import Capped, Sampled
from rcmd.methods.sliding import slide
from rcmd.methods.smoothness import curvature, diameter, smoothness, steepness
from rcmd.methods.snapshot import Snapshot
from rcmd.problem import Problem


@dataclass(frozen=True)
class STORC(Capped):
    """Conditional gradient sliding in epochs, each around a full gradient (Hazan and Luo 2016).

    Epoch t = 1, 2, … takes a snapshot β⁰ of β, sets x_0 = β and takes N_t = ⌈2^{t/2+2}⌉ steps

        z_k = (1 − γ_k) β_{k−1} + γ_k x_{k−1},   γ_k = 2/(k+1),   k = 1, …, N_t
        x_k ≈ argmin ∇̃_kᵀx + (b_k/2) ‖x − x_{k−1}‖² + R(x),   b_k = 3L/k
        β_k = (1 − γ_k) β_{k−1} + γ_k x_k

    where x_k has a Frank-Wolfe gap of at most 2LD²/(N_t k) and
    ∇̃_k = ∇f(β⁰) + mean over m_k rows of ∇f_j(z_k) − ∇f_j(β⁰). Before the first epoch β is a
    minimizer of ∇f(0)ᵀβ + R(β). Of the three rules of the paper this is the one for Lipschitz f:
    m_k = 700 N_t + 24 N_t G (k+1)/(LD), but at most cap·n rows, without replacement. Then
    E P(β) − P* ≤ LD²/2^{t+1} after epoch t, O(1/K²) after K steps in all.
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


class _STORC(Sampled):
    epoch = 1
    done = 0  # steps of this epoch

    def __init__(
        self, method: STORC, problem: Problem, batch: int | None, rng: np.random.Generator
    ) -> None:
        super().__init__(method, problem, batch, rng)
        self._most = max(1, int(method.cap * problem.n))
        self._smoothness, self._curvature = smoothness(problem), curvature(problem)
        steep, flat = steepness(problem), self._smoothness * diameter(problem)
        self._noise = steep / flat if flat > 0 else 0.0

    @property
    def length(self) -> int:
        """N_t, the steps of this epoch."""
        return math.ceil(2 ** (self.epoch / 2 + 2))

    def size(self, k: int) -> int:
        """Rows of the k-th batch of this epoch."""
        rule = self.length * (700 + 24 * self._noise * (k + 1))
        return self.batch or min(math.ceil(rule), self._most)

    @property
    def step_gradients(self) -> int:
        fresh = 0 if self.done else self.problem.n
        start = 0 if self.iteration else self.problem.n
        return start + fresh + self.size(self.done + 1)

    def step(self) -> None:
        if self.iteration == 0:
            self.slope = self.slope_at(self.beta, np.arange(self.problem.n))
            self.move(1.0)
        if self.done == 0:
            self._snapshot, self._x = Snapshot(self, self.beta), self.beta.copy()
        self.done += 1
        k = self.done
        share = 2 / (k + 1)
        z = (1 - share) * self.beta + share * self._x
        self.slope = self._snapshot.slope_at(z, self.draw(self.size(k)))
        strength, error = 3 * self._smoothness / k, 2 * self._curvature / (self.length * k)
        self._x = slide(self, self.slope, self._x, strength, error)
        self.beta = (1 - share) * self.beta + share * self._x
        if k == self.length:
            self.epoch, self.done = self.epoch + 1, 0

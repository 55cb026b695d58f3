"""SVRF, stochastic variance-reduced Frank-Wolfe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rcmd.methods.base import Progress
from rcmd.methods.epochs import Array, Epochs
from rcmd.methods.sampled import Capped
from rcmd.model.problem import Problem


@dataclass(frozen=True)
class SVRF(Capped):
    """Frank-Wolfe in epochs, each around a full gradient (Hazan and Luo 2016).

    Epoch t = 1, 2, … takes a snapshot β⁰ of β and N_t = 2^{t+3} − 2 steps

        β_k = (1 − γ_k) β_{k−1} + γ_k β̃_k,   γ_k = 2/(k+1),   k = 1, …, N_t

    with β̃_k a minimizer of ∇̃_kᵀβ + R(β) and
    ∇̃_k = ∇f(β⁰) + mean over m_k rows of ∇f_j(β_{k−1}) − ∇f_j(β⁰). Before the first epoch β is
    a minimizer of gᵀβ + R(β), g the gradient at the start.

    With m_k = 96(k+1), E P(β) − P* ≤ LD²/2^{t+1} after epoch t; the default is that order
    without its constants, as in Lu and Freund's experiments: min{k, cap·n} rows, without
    replacement, k counted anew in each epoch.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=SVRF(), tol=1e-3).success
    True
    """

    note = "SVRF: O(1/k) in expectation at the ends of epochs, no bound is printed"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _SVRF(self, problem, batch, rng)


class _SVRF(Epochs):
    @property
    def length(self) -> int:
        return int(2 ** (self.epoch + 3) - 2)

    def batch_rule(self, k: int) -> int:
        return k

    def inner_step(self, k: int, rows: Array) -> None:
        self.slope = self.snapshot.slope_at(self.beta, rows)
        self.move(2 / (k + 1))

"""Sarah Frank-Wolfe: a recursive gradient estimate, renewed at random."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from rcmd.methods.base import Method, Progress
from rcmd.methods.sampled import Sampled
from rcmd.model.problem import Problem


@dataclass(frozen=True)
class SarahFrankWolfe(Method):
    """Frank-Wolfe on a recursive estimate g_k of ∇f(β_k) (Beznosikov, Dobre and Gidel 2024).

    For k = 0, 1, … with g_0 = ∇f(β_0),

        β_{k+1} = (1 − η_k) β_k + η_k β̃_k,   β̃_k a minimizer of g_kᵀβ + R(β)
        g_{k+1} = ∇f(β_{k+1}) with probability p, and otherwise
                  g_k + mean over b rows of ∇f_j(β_{k+1}) − ∇f_j(β_k)

    E P(β_k) − P* = O(1/k). Defaults: b = √n and p = b/(n+b), with which full gradients and
    batches cost the same order. The steps are η_k = 2/(k + 4/p), the decreasing rule of a
    recursion r_{k+1} ≤ (1 − η_k) r_k + cη_k² with η_k ≤ p/2; it needs no horizon, unlike
    rules that begin with constant steps for half of a given number of iterations.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=SarahFrankWolfe(), tol=1e-3).success
    True
    """

    note = "Sarah Frank-Wolfe: O(1/k) in expectation, no bound is printed"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _SarahFrankWolfe(self, problem, batch or math.isqrt(problem.n), rng)


class _SarahFrankWolfe(Sampled):
    batch: int

    def __init__(
        self, method: Method, problem: Problem, batch: int, rng: np.random.Generator
    ) -> None:
        super().__init__(method, problem, batch, rng)
        self._chance = batch / (problem.n + batch)
        self._before = self.beta
        self._renew = True  # decided a step ahead: budgets ask for the price beforehand

    @property
    def step_gradients(self) -> int:
        return self.problem.n if self._renew else 2 * self.batch

    def step(self) -> None:
        if self._renew:
            self.slope = self.slope_at(self.beta, np.arange(self.problem.n))
        else:
            batch = self.draw(self.batch)
            self.slope += self.slope_at(self.beta, batch) - self.slope_at(self._before, batch)
        self._before = self.beta.copy()
        self.move(2 / (self.iteration + 4 / self._chance))
        self._renew = self.rng.random() < self._chance

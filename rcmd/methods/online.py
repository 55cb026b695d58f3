"""The online Frank-Wolfe method, on a stream of batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.methods.base import Method, Progress
from rcmd.methods.sampled import Sampled
from rcmd.methods.sliding import diameter, steepness
from rcmd.model.problem import Problem
from rcmd.rows.validation import batch_size

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class OnlineFrankWolfe(Method):
    """Frank-Wolfe on the mean of linearized, smoothed losses (Hazan and Kale 2012).

    For t = 1, 2, … a batch with mean loss f_t comes, F_t is the mean over τ ≤ t of
    ∇f_τ(β_τ)ᵀβ + σ_τ ‖β − β_1‖² with σ_τ = (G/D) τ^{−1/4}, and

        β_{t+1} = (1 − t^{−1/2}) β_t + t^{−1/2} β̃_t

    with β̃_t a minimizer of ∇F_t(β_t)ᵀβ + R(β). This is the variant for any convex losses, with
    one batch and one oracle call a step: the regret is O(T^{3/4}), so that the mean of
    β_1, …, β_T, the solution that is certified, has E P − P* = O(T^{−1/4}). Batches are 1 % of
    the rows by default; max_j (|l_j'(0)| + γ_j M_j) ‖x_j‖ stands for G, and D is such that
    LD² = (1/n) Σ_j γ_j (2M_j)².

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=OnlineFrankWolfe(), tol=5e-2).success
    True
    """

    any_batch = True
    note = "online Frank-Wolfe: O(T^(-1/4)) in expectation, no bound is printed"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _OnlineFrankWolfe(self, problem, batch or batch_size(0.01, problem.n), rng)


class _OnlineFrankWolfe(Sampled):
    batch: int

    def __init__(
        self, method: Method, problem: Problem, batch: int, rng: np.random.Generator
    ) -> None:
        super().__init__(method, problem, batch, rng)
        width = diameter(problem)
        self._strength = steepness(problem) / width if width > 0 else 0.0
        self._first = self.beta.copy()
        self._mean = self.beta.copy()  # of β_1, …, β_t
        self._linear = np.zeros(problem.p)  # the mean of ∇f_τ(β_τ)
        self._quadratic = 0.0  # the mean of σ_τ

    @property
    def step_gradients(self) -> int:
        return self.batch

    def averages(self) -> tuple[Array, Array]:
        return self._mean.copy(), self.problem.response(self._mean)

    def step(self) -> None:
        t = self.iteration + 1
        self._mean += (self.beta - self._mean) / t
        self._linear += (self.slope_at(self.beta, self.draw(self.batch)) - self._linear) / t
        self._quadratic += (self._strength * t**-0.25 - self._quadratic) / t
        self.slope = self._linear + 2 * self._quadratic * (self.beta - self._first)
        self.move(t**-0.5)

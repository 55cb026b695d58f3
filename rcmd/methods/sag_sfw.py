"""Stochastic Frank-Wolfe with remembered derivatives, as in SAG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.methods.base import Method, Progress
from rcmd.methods.sampled import Sampled
from rcmd.model.problem import Problem
from rcmd.rows.validation import batch_size

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class SagFrankWolfe(Method):
    """Constant batches, and a derivative kept for every row (Négiar et al. 2020).

    For t = 1, 2, … and w = 0, so that the estimate d = Xᵀw/n starts at 0,

        w_j ← l_j'(x_jᵀβ_{t−1}) for the rows j of a batch, and d with it
        β_t = (1 − γ_t) β_{t−1} + γ_t β̃_t,   γ_t = 2/(t+2)

    with β̃_t a minimizer of dᵀβ + R(β): E P(β_t) − P* = O(1/t) for any batch, by default 1 %
    of the rows. Rows not drawn yet count as w_j = 0, so that no first pass is needed. Where the
    dual engine averages predictions, this method evaluates them at β.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [1.0]], [0.25, 0.75], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=SagFrankWolfe(), tol=1e-3).success
    True
    """

    any_batch = True
    note = "SAG Frank-Wolfe: O(1/t) in expectation, no bound is printed"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        return _SagFrankWolfe(self, problem, batch or batch_size(0.01, problem.n), rng)


class _SagFrankWolfe(Sampled):
    batch: int

    def __init__(
        self, method: Method, problem: Problem, batch: int, rng: np.random.Generator
    ) -> None:
        super().__init__(method, problem, batch, rng)
        self._derivatives = np.zeros(problem.n)

    @property
    def step_gradients(self) -> int:
        return self.batch

    @property
    def w(self) -> Array:
        """The derivatives kept, each from the last time its row was drawn."""
        return self._derivatives.copy()

    def step(self) -> None:
        batch = self.draw(self.batch)
        self.gradients += len(batch)
        fresh = self.batches.derivatives(self.beta, batch)
        changes = fresh - self._derivatives[batch]
        self.batches.scatter(batch, changes / self.problem.n, self.slope)
        self._derivatives[batch] = fresh
        self.move(2 / (self.iteration + 3))

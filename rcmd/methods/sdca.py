"""Stochastic dual coordinate ascent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.engine.sampling import UniformSampler
from rcmd.methods.base import EngineProgress, Method, Progress
from rcmd.methods.rcmd import make_engine
from rcmd.model.problem import Problem
from rcmd.model.prox import CompositeProx
from rcmd.model.schedules import default_schedule

Array = npt.NDArray[Any]


def last_pair(problem: Problem, w: Array) -> tuple[Any, Array]:
    """β = ∇R*(−Xᵀw/n), and w."""
    atom = problem.oracle.argmin(problem.gradient(w))
    return atom.dense(problem.rows.zero()), w


@dataclass(frozen=True)
class Sdca(Method):
    """w_j ← argmax_v −l_j*(v) + a v − (κ_j/2)(v − w_j)², a = x_jᵀ∇R*(−Xᵀw/n), a random row j.

    Proximal SDCA (Shalev-Shwartz and Zhang 2013, 2014), R strongly convex with constant μ, with
    κ_j = ‖x_j‖²/(nμ): then E[D* − D(w^k)] ≤ (1 − 1/(nσ))^k (D* − D(w⁰)), σ = max_j 1 + γ_jκ_j.
    For batches of b > 1 rows, σ_b and n/b stand for σ and n, and κ = (σ_b − 1)/min_j γ_j for
    all κ_j. It starts at argmin h, h = (1/n) Σ_j κ_j w_j²/2 + l_j*(w_j), and certifies the last
    w with β = ∇R*(−Xᵀw/n).

    Examples
    --------
    >>> from rcmd import Logistic, Problem, Ridge, solve
    >>> problem = Problem([[1.0, 0.0], [1.0, 2.0]], [1.0, -1.0], Logistic(), Ridge(0.1))
    >>> solve(problem, method=Sdca(), tol=1e-8).success
    True
    """

    any_batch = True
    note = "proximal SDCA (Shalev-Shwartz & Zhang): linear, D* − D ≤ (1 − 1/(nσ))^k (D* − D⁰)"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        if not problem.oracle.mu > 0:
            raise ValueError(
                f"method Sdca got {problem.oracle!r}, which has μ = 0; expected a strongly convex "
                "R, such as Ridge(0.01)"
            )
        constants = problem.constants(batch or 1)
        sampler = UniformSampler(problem.n, constants.batch, rng)
        prox = replace(CompositeProx().bind(constants), by_row=constants.batch == 1)
        schedule = default_schedule(constants, unit_steps=True)
        return _Ascent(problem, make_engine("auto", problem, schedule, sampler, prox))


class _Ascent(EngineProgress):
    """The engine's run; only the pair to certify is another."""

    @property
    def d(self) -> Array:
        return self.problem.gradient(self.w)

    def averages(self) -> tuple[Any, Array]:
        return last_pair(self.problem, self.w)

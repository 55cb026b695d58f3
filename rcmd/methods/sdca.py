"""Stochastic dual coordinate ascent: the dual engine with the composite prox."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.engine.choosing import Engine, make_engine
from rcmd.engine.sampling import UniformSampler
from rcmd.methods.base import Method
from rcmd.problem import Problem
from rcmd.prox import CompositeProx
from rcmd.schedules import default_schedule

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Sdca(Method):
    """w_j ← argmax_v −l_j*(v) + a v − (κ/2)(v − w_j)², a = x_jᵀ∇R*(−Xᵀw/n) for a random row j.

    Proximal SDCA (Shalev-Shwartz and Zhang 2013, 2014), R strongly convex with constant μ, with
    κ = max_j γ_j‖x_j‖²/(nμ min_j γ_j), which for equal γ_j is their max_j ‖x_j‖²/(nμ): then
    E[D* − D(w^k)] ≤ (1 − 1/(nσ))^k (D* − D(w⁰)), σ = 1 + κ min_j γ_j. With batches of b rows,
    σ_b and n/b stand for σ and n. It starts at argmin h, h = (κ/2n)‖w‖² + L*/n, and certifies
    the last w with β = ∇R*(−Xᵀw/n).

    Examples
    --------
    >>> from rcmd import Logistic, Problem, Ridge, solve
    >>> problem = Problem([[1.0, 0.0], [1.0, 2.0]], [1.0, -1.0], Logistic(), Ridge(0.1))
    >>> solve(problem, method=Sdca(), tol=1e-8).success
    True
    """

    note = "proximal SDCA (Shalev-Shwartz & Zhang): linear, D* − D ≤ (1 − 1/(nσ))^k (D* − D⁰)"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Any:
        if not problem.oracle.mu > 0:
            raise ValueError(
                f"method Sdca got {problem.oracle!r}, which has μ = 0; expected a strongly convex "
                "R, such as Ridge(0.01)"
            )
        constants = problem.constants(batch or 1)
        sampler = UniformSampler(problem.n, constants.batch, rng)
        prox = CompositeProx().bind(constants)
        schedule = default_schedule(constants, unit_steps=True)
        return _Ascent(problem, make_engine("auto", problem, schedule, sampler, prox))


class _Ascent:
    """The engine, all of whose steps cost alike; only the pair to certify is another."""

    def __init__(self, problem: Problem, engine: Engine) -> None:
        self._problem, self._engine = problem, engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def averages(self) -> tuple[Any, Array]:
        """∇R*(−Xᵀw/n) and w."""
        w = self._engine.w
        atom = self._problem.oracle.argmin(self._problem.gradient(w))
        return atom.dense(self._problem.rows.zero()), w

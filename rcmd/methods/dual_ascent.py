"""Coordinate ascent on the dual of a strongly convex problem: SDCA, and the accelerated APCG."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rcmd.engine.base import next_refresh, not_finite
from rcmd.engine.kernels.accelerated import FADING, GUESS, LABEL, LASTING, run_accelerated
from rcmd.engine.kernels.layout import rows_tuple
from rcmd.engine.sampling import UniformSampler
from rcmd.engine.state import Stateful
from rcmd.jit.scalars import CannotCompile
from rcmd.methods.base import Method, Progress
from rcmd.methods.rcmd import EngineProgress, make_engine
from rcmd.model.problem import Problem
from rcmd.model.prox import ExactProx
from rcmd.model.schedules import default_schedule
from rcmd.oracles.l2 import Ridge
from rcmd.rows.validation import Array

CHUNK = 2**16
"""Steps of one compiled call."""

SMALLEST_SIGMA = 1 + 1e-6
"""A larger σ is always allowed, and with n = σ = 1 ρ would be 0."""


class LastPair(Progress):
    """A run that certifies the last w, with β = ∇R*(−Xᵀw/n)."""

    def averages(self) -> tuple[Any, Array]:
        w = self.w
        atom = self.problem.oracle.argmin(self.problem.gradient(w))
        return atom.dense(self.problem.rows.zero()), w


@dataclass(frozen=True)
class Sdca(Method):
    """w_j ← argmax_v −l_j*(v) + a v − (κ_j/2)(v − w_j)², a = x_jᵀ∇R*(−Xᵀw/n), a random row j.

    Proximal SDCA (Shalev-Shwartz and Zhang 2013, 2014), R strongly convex with constant μ, with
    κ_j = ‖x_j‖²/(nμ): then E[D* − D(w^k)] ≤ (1 − 1/(nσ))^k (D* − D(w⁰)), σ = max_j 1 + γ_jκ_j.
    For batches of b > 1 rows, σ_b and n/b stand for σ and n, and the κ_j are those of
    ``ExactProx``, whose steps these are. It starts at w⁰ = ∇L(0) and certifies the last w with
    β = ∇R*(−Xᵀw/n).

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
        prox = ExactProx().bind(constants)
        schedule = default_schedule(constants, unit_steps=True)
        return _Sdca(problem, make_engine("auto", problem, schedule, sampler, prox))


class _Sdca(LastPair, EngineProgress):
    d = Progress.d  # from scratch, as it is certified


@dataclass(frozen=True)
class Apcg(Method):
    """Three sequences of duals, one random coordinate j a step (Lin, Lu and Xiao 2015).

    −D(w) = f(w) + Σ_j ψ_j(w_j), where f(w) = ‖Xᵀw/n‖²/(2μ) + Σ_j w_j²/(2nγ_j) has the strong
    convexity of the l_j*, L_j = ‖x_j‖²/(n²μ) + 1/(nγ_j), and α = 1/(n√σ) with
    σ = max_j 1 + γ_j‖x_j‖²/(nμ):

        y = (w + αz)/(1 + α),        z̄ = (1 − α)z + αy,
        z⁺ = z̄ but for z⁺_j = argmin_v (nα L_j/2)(v − z̄_j)² + ∇_j f(y) v + ψ_j(v),
        w⁺ = y + nα(z⁺ − z̄).

    With w = ρ^k u + v and z = −ρ^k u + v, ρ = (1 − α)/(1 + α), a step changes u and v at j
    alone and costs O(nonzeros of the row). E[D* − D(w^k)] = O((1 − 1/(n√σ))^k): the √σ is
    the acceleration. The last w is certified with β = ∇R*(−Xᵀw/n).

    R is a ``Ridge`` without a given radius: no optimum leaves its ball, so that the dual without
    the ball has the same maximizer.

    Examples
    --------
    >>> from rcmd import Logistic, Problem, Ridge, solve
    >>> problem = Problem([[1.0, 0.0], [1.0, 2.0]], [1.0, -1.0], Logistic(), Ridge(0.1))
    >>> solve(problem, method=Apcg(), tol=1e-8).success
    True
    """

    note = "APCG (Lin, Lu & Xiao): accelerated, D* − D = O((1 − 1/(n√σ))^k)"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        given = problem.regularizer
        if not isinstance(given, Ridge) or given.radius is not None or problem.intercept:
            what = f"{given!r} with an intercept" if problem.intercept else repr(given)
            raise ValueError(
                f"method Apcg got R = {what}; expected a Ridge(strength) without a radius, and "
                "no intercept: use Sdca() for other strongly convex R"
            )
        if batch not in (None, 1):
            raise ValueError(f"batch is {batch} rows for Apcg; expected 1, as in its theory")
        if not problem.rows.compilable:
            raise ValueError(
                f"X is held as {type(problem.rows).__name__} for Apcg; expected dense or sparse "
                "rows of floats, for which it has compiled code"
            )
        try:
            return ApcgProgress(problem, rng)
        except CannotCompile as reason:
            raise ValueError(
                f"the loss of Apcg cannot be compiled: {reason}; expected one that numba "
                "understands: use Sdca() for others"
            ) from reason


class ApcgProgress(Stateful, LastPair):
    """Compiled steps on u and v; the formulas are at ``Apcg``."""

    changing: ClassVar[tuple[str, ...]] = ("iteration", "gradients", "oracle_calls", "rng")
    changing += ("_records", "_columns", "_power", "_refresh_at", "_fault")
    even_steps = True
    step_gradients = 1

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        super().__init__(problem, rng)
        n, losses = problem.n, problem.losses
        self._sampler = UniformSampler(n, 1, rng)
        self._rows, self._strength = rows_tuple(problem.rows), float(problem.oracle.mu)
        self._derivative = losses.scalar("derivative")
        curvature = problem.rows.square_norms() / (n * self._strength)
        sigma = max(float((1 + losses.gammas * curvature).max()), SMALLEST_SIGMA)
        self._share = 1 / math.sqrt(sigma)
        self._rho = (1 - self._share / n) / (1 + self._share / n)
        weights = np.ones(n) if losses.weights is None else losses.weights
        pull = self._share * (curvature + 1 / losses.gammas)  # n·nα L_j
        self._table = np.stack([weights, losses.gammas, pull], axis=1)
        self._records, self._columns = np.zeros((n, 4)), np.empty((problem.p, 2))
        self._records[:, LASTING] = losses.derivative(self._records[:, GUESS])
        self._records[:, LABEL] = losses.labels
        self._power, self._fault = 1.0, ""
        self._refresh()
        self._take(np.empty(0, np.uint64))  # compiles

    @property
    def w(self) -> Array:
        """w = ρ^k u + v, brought back into dom L* where rounding left it."""
        combined = self._power * self._records[:, FADING] + self._records[:, LASTING]
        return self.problem.losses.clip(combined)

    @property
    def s(self) -> Array:
        """The predictions at β."""
        return self.problem.rows.matvec(self.averages()[0])

    def step(self) -> None:
        self.advance(1)

    def advance(self, steps: int) -> None:
        if self._fault:
            raise FloatingPointError(self._fault)
        end = self.iteration + steps
        while self.iteration < end:
            stop = min(end, self.iteration + CHUNK, self._refresh_at)
            self._take(self._sampler.draw(stop - self.iteration).reshape(-1).view(np.uint64))
            if self.iteration == self._refresh_at:
                self._refresh()

    def _take(self, order: Array) -> None:
        functions = (self._derivative.address, self._derivative.theta)
        state = (self._records, self._columns, self._table)
        numbers = (self._strength, self._share, self._rho, self._power)
        self._power, health = run_accelerated(self._rows, order, *state, functions, *numbers)
        self.iteration += len(order)
        self.gradients = self.oracle_calls = self.iteration
        if not math.isfinite(health):
            self._fault = not_finite(self.problem, self.iteration)
            raise FloatingPointError(self._fault)

    def _refresh(self) -> None:
        """Rescale u, long before ρ^k underflows, and compute Xᵀu/n and Xᵀv/n from scratch."""
        self._records[:, FADING] *= self._power
        self._power = 1.0
        for side in (FADING, LASTING):
            self._columns[:, side] = self.problem.gradient(self._records[:, side])
        self._refresh_at = next_refresh(self.iteration, self.problem.n, 1)

"""Coordinate ascent on the dual of a strongly convex problem: SDCA, Quartz, accelerated APCG."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rcmd.engine.base import next_refresh, not_finite
from rcmd.engine.kernels.accelerated import FADING, GUESS, LABEL, LASTING, run_accelerated
from rcmd.engine.kernels.layout import rows_tuple
from rcmd.engine.sampling import UniformSampler, drawn
from rcmd.engine.state import Stateful
from rcmd.jit.scalars import CannotCompile
from rcmd.methods.base import Method, Progress, refuse_matrices, rows_a_step
from rcmd.methods.rcmd import EngineProgress, make_engine
from rcmd.model.bounds import RunFacts, why_none
from rcmd.model.certificate import BestPair
from rcmd.model.ownership import unaltered
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


def refuse_weak_convexity(method: Method, problem: Problem) -> None:
    """Refuse an R that is not strongly convex."""
    if not problem.oracle.mu > 0:
        raise ValueError(
            f"method {type(method).__name__} got {problem.oracle!r}, which has μ = 0; expected a "
            "strongly convex R, such as Ridge(0.01)"
        )


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
    >>> [solve(problem, method=each, tol=1e-8).success for each in (Sdca(), Quartz(), Apcg())]
    [True, True, True]
    """

    any_batch = True
    note = "proximal SDCA (Shalev-Shwartz & Zhang): linear, D* − D ≤ (1 − 1/(nσ))^k (D* − D⁰)"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        refuse_weak_convexity(self, problem)
        constants = problem.constants(rows_a_step(batch, problem.n))
        sampler = UniformSampler(problem.n, constants.batch, rng)
        prox = ExactProx().bind(constants)
        schedule = default_schedule(constants, unit_steps=True)
        return _Sdca(problem, make_engine("auto", problem, schedule, sampler, prox))


class _Sdca(LastPair, EngineProgress):
    d = Progress.d  # from scratch, as it is certified


@dataclass(frozen=True)
class Quartz(Method):
    """β ← (1 − θ)β + θβ̃, then w_j ← w_j + (l_j'(x_jᵀβ) − w_j)/σ, a random row j.

    Quartz (Qu, Richtárik and Zhang 2015), β̃ = ∇R*(−Xᵀw/n) the atom at w, σ = max_j 1 +
    γ_j‖x_j‖²/(nμ), θ = 1/(nσ): the gap itself has E[P(β^k) − D(w^k)] ≤ (1 − θ)^k
    (P(β⁰) − D(w⁰)). For batches of b > 1 rows, σ_b and n/b stand for σ and n. It starts at
    w⁰ = ∇L(0) and its atom. Here a draw is uniform, and a step costs O(p) more than its rows.

    For R(β⁺) ≤ (1 − θ)R(β) + θR(β̃), and at v_j = l_j'(x_jᵀβ⁺) one has
    l_j(x_jᵀβ⁺) ≤ (1 − θ)l_j(x_jᵀβ) + θ[v_j x_jᵀβ̃ − l_j*(v_j)]; the ascent pays for the rest:
    E D(w⁺) − D(w) ≥ (θ/n) Σ_j [(v_j x_jᵀβ̃ − l_j*(v_j)) − (w_j x_jᵀβ̃ − l_j*(w_j))].
    """

    any_batch = True
    note = "Quartz (Qu, Richtárik & Zhang): linear, P − D ≤ (1 − 1/(nσ))^k (P − D)⁰ in expectation"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Progress:
        refuse_weak_convexity(self, problem)
        refuse_matrices(self, problem)
        return QuartzProgress(self, problem, rows_a_step(batch, problem.n), rng)


class QuartzProgress(Progress):
    """A run: β, w, and shares θ and 1/σ_b by which they move."""

    even_steps = True
    not_kept = ("theorem_pair",)

    def __init__(
        self, method: Quartz, problem: Problem, batch: int, rng: np.random.Generator
    ) -> None:
        constants = problem.constants(batch)
        problem.oracle.reset()
        self.problem, self.rng = problem, rng
        self.sampler = UniformSampler(problem.n, constants.batch, rng)
        self.share = 1 / constants.sigma
        self.theta = self.share / constants.blocks
        self._w = problem.losses.derivative(0 * problem.losses.y)
        self.iteration, self.gradients, self.oracle_calls = 0, 0, 1
        self._refresh()
        self.beta = problem.first_atom.copy()
        self.steps_per_pass = problem.n / constants.batch
        self.constants_batch = constants.batch
        self.facts = RunFacts.of(
            problem,
            constants,
            theorem="quartz",
            own_method=type(method) is Quartz and unaltered(method),
            own_sampler=type(rng) is np.random.Generator,
            parts=(type(method),),
        )
        why = why_none(self.facts)
        self.theorem = None if why else "quartz"
        self.note = f"{method.note}; no bound: {why}" if why else ""
        _ = self.batches  # compiles

    @property
    def step_gradients(self) -> int:
        return self.sampler.batch

    @property
    def w(self) -> Array:
        return self.problem.losses.clip(self._w.copy())

    @property
    def d(self) -> Any:
        return self._d

    def advance(self, steps: int) -> None:
        super().advance(steps)
        if not (self.problem.exact or np.isfinite(self._d).all()):
            raise FloatingPointError(not_finite(self.problem, self.iteration))

    def step(self) -> None:
        atom, batch = self.lowest_atom(self._d), drawn(self.sampler, 1, self.problem.n)[0]
        self.beta *= 1 - self.theta
        atom.add_to(self.beta, self.theta)
        change = self.share * (self.batches.derivatives(self.beta, batch) - self._w[batch])
        self._w[batch] += change
        self.batches.scatter(batch, change / self.problem.n, self._d)
        self.gradients += len(batch)
        if self.iteration + 1 == self._refresh_at:
            self._refresh(self._refresh_at)

    def _refresh(self, iteration: int = 0) -> None:
        """Compute Xᵀw/n from scratch."""
        self._d = self.problem.gradient(self._w)
        self._refresh_at = next_refresh(iteration, self.problem.n, self.sampler.batch)

    def offer_own_pair(self, best: BestPair, beta: Any, w_average: Array) -> Array:
        predictions = super().offer_own_pair(best, beta, w_average)
        if self.theorem is not None:
            self.theorem_pair = best.offered()
        return predictions


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
            order = drawn(self._sampler, stop - self.iteration, self.problem.n)
            self._take(order.reshape(-1).view(np.uint64))
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

"""APCG: accelerated proximal coordinate ascent on the dual of a ridge problem."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.engine.faults import not_finite
from rcmd.engine.refreshing import next_refresh
from rcmd.engine.sampling import UniformSampler
from rcmd.methods.base import Method
from rcmd.oracles.l2 import Ridge
from rcmd.problem import Problem

Array = npt.NDArray[Any]

CHUNK = 2**16
"""Steps of one compiled call."""

SMALLEST_SIGMA = 1 + 1e-6
"""Less curvature than there is may always be assumed, and with n = σ = 1 ρ would be 0."""


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
    alone and costs what the row has nonzeros. E[D* − D(w^k)] = O((1 − 1/(n√σ))^k): the √σ is
    the acceleration. The last w is certified with β = ∇R*(−Xᵀw/n).

    R is a ``Ridge`` whose radius is left open: no optimum touches that ball, so that the dual
    without it has the same maximizer.

    Examples
    --------
    >>> from rcmd import Logistic, Problem, Ridge, solve
    >>> problem = Problem([[1.0, 0.0], [1.0, 2.0]], [1.0, -1.0], Logistic(), Ridge(0.1))
    >>> solve(problem, method=Apcg(), tol=1e-8).success
    True
    """

    note = "APCG (Lin, Lu & Xiao): accelerated, D* − D = O((1 − 1/(n√σ))^k)"

    def start(self, problem: Problem, batch: int | None, rng: np.random.Generator) -> Any:
        from rcmd.engine.kernels.layout import rows_tuple

        given = problem.regularizer
        if not isinstance(given, Ridge) or given.radius is not None or problem.intercept:
            what = f"{given!r} with an intercept" if problem.intercept else repr(given)
            raise ValueError(
                f"method Apcg got R = {what}; expected a Ridge(strength) whose radius is left "
                "open, and no intercept: use Sdca() for other strongly convex R"
            )
        if batch not in (None, 1):
            raise ValueError(f"batch is {batch} rows for Apcg; expected 1, its theory's only one")
        rows = rows_tuple(problem.rows)
        if rows is None:
            raise ValueError(
                f"X is held as {type(problem.rows).__name__} for Apcg; expected dense or sparse "
                "rows of floats, for which it has compiled code"
            )
        return _Acceleration(problem, rows, rng)


class _Acceleration:
    """A run; it has the contract of an engine, as all its steps cost alike."""

    def __init__(self, problem: Problem, rows: Any, rng: np.random.Generator) -> None:
        from rcmd.compiling.scalars import method_scalar
        from rcmd.engine.kernels.accelerated import FADING, GUESS, LABEL, LASTING, run_accelerated

        n, losses = problem.n, problem.losses
        self.problem, self.iteration, self.step_gradients = problem, 0, 1
        self.sampler = UniformSampler(n, 1, rng)
        self._kernel, self._rows = run_accelerated, rows
        self._derivative = method_scalar(losses.loss, "derivative")
        self._strength = float(problem.oracle.mu)
        curvature = problem.rows.square_norms() / (n * self._strength)
        sigma = max(float((1 + losses.gammas * curvature).max()), SMALLEST_SIGMA)
        self._share = 1 / math.sqrt(sigma)
        self._rho = (1 - self._share / n) / (1 + self._share / n)
        weights = np.ones(n) if losses.weights is None else losses.weights
        pull = self._share * (curvature + 1 / losses.gammas)  # n·nα L_j
        self._table = np.stack([weights, losses.gammas, pull], axis=1)
        self._records = np.zeros((n, 4))
        self._records[:, LASTING] = losses.derivative(self._records[:, GUESS])
        self._records[:, LABEL] = losses.y
        self._fading, self._lasting = FADING, LASTING
        self._columns = np.empty((problem.p, 2))
        self._power, self._fault = 1.0, ""
        self._refresh()

    @property
    def gradients(self) -> int:
        """Rows touched so far."""
        return self.iteration

    @property
    def oracle_calls(self) -> int:
        """Gradients of R* so far, one a step."""
        return self.iteration

    @property
    def w(self) -> Array:
        """w = ρ^k u + v, brought back into dom L* where rounding left it."""
        combined = self._power * self._records[:, self._fading] + self._records[:, self._lasting]
        return self.problem.losses.clip(combined)

    @property
    def d(self) -> Array:
        """Xᵀw/n."""
        return self.problem.gradient(self.w)

    @property
    def s(self) -> Array:
        """The predictions at ∇R*(−Xᵀw/n)."""
        return self.problem.rows.matvec(self.averages()[0])

    def averages(self) -> tuple[Any, Array]:
        """∇R*(−Xᵀw/n) and w."""
        w = self.w
        atom = self.problem.oracle.argmin(self.problem.gradient(w))
        return atom.dense(self.problem.rows.zero()), w

    def advance(self, steps: int) -> None:
        """Take ``steps`` steps."""
        if self._fault:
            raise FloatingPointError(self._fault)
        end, law = self.iteration + steps, (self._derivative.address, self._derivative.theta)
        while self.iteration < end:
            count = min(end, self.iteration + CHUNK, self._refresh_at) - self.iteration
            order = self.sampler.draw(count).reshape(-1).view(np.uint64)
            self._power, health = self._kernel(
                self._rows,
                order,
                self._records,
                self._columns,
                self._table,
                law,
                self._strength,
                self._share,
                self._rho,
                self._power,
            )
            self.iteration += count
            if not math.isfinite(health):
                self._fault = not_finite(self.problem, self.iteration)
                raise FloatingPointError(self._fault)
            if self.iteration == self._refresh_at:
                self._refresh()

    def _refresh(self) -> None:
        """Count u anew from here, long before ρ^k vanishes, and find the images from scratch."""
        self._records[:, self._fading] *= self._power
        self._power = 1.0
        for side in (self._fading, self._lasting):
            self._columns[:, side] = self.problem.gradient(self._records[:, side])
        self._refresh_at = next_refresh(self.iteration, self.problem.n, 1)

"""A run of APCG; importing this imports numba."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.compiling.scalars import method_scalar
from rcmd.engine.faults import not_finite
from rcmd.engine.kernels.accelerated import FADING, GUESS, LABEL, LASTING, run_accelerated
from rcmd.engine.kernels.layout import rows_tuple
from rcmd.engine.refreshing import next_refresh
from rcmd.engine.sampling import UniformSampler
from rcmd.methods.last_pair import LastPair
from rcmd.problem import Problem

Array = npt.NDArray[Any]

CHUNK = 2**16
"""Steps of one compiled call."""

SMALLEST_SIGMA = 1 + 1e-6
"""Less curvature than there is may always be assumed, and with n = σ = 1 ρ would be 0."""


class Acceleration(LastPair):
    """The contract of an engine, as all its steps cost alike; the formulas are at ``Apcg``."""

    run_state = ("iteration", "sampler", "_records", "_columns", "_power", "_refresh_at", "_fault")
    """What changes in a run; the rest, addresses of machine code among it, is made anew."""

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        n, losses = problem.n, problem.losses
        self.problem, self.iteration, self.sampler = problem, 0, UniformSampler(n, 1, rng)
        self._rows, self._strength = rows_tuple(problem.rows), float(problem.oracle.mu)
        self._derivative = method_scalar(losses.loss, "derivative")
        curvature = problem.rows.square_norms() / (n * self._strength)
        sigma = max(float((1 + losses.gammas * curvature).max()), SMALLEST_SIGMA)
        self._share = 1 / math.sqrt(sigma)
        self._rho = (1 - self._share / n) / (1 + self._share / n)
        weights = np.ones(n) if losses.weights is None else losses.weights
        pull = self._share * (curvature + 1 / losses.gammas)  # n·nα L_j
        self._table = np.stack([weights, losses.gammas, pull], axis=1)
        self._records, self._columns = np.zeros((n, 4)), np.empty((problem.p, 2))
        self._records[:, LASTING] = losses.derivative(self._records[:, GUESS])
        self._records[:, LABEL] = losses.y
        self._power, self._fault = 1.0, ""
        self._refresh()
        self._take(np.empty(0, np.uint64))  # compiles

    @property
    def w(self) -> Array:
        """w = ρ^k u + v, brought back into dom L* where rounding left it."""
        combined = self._power * self._records[:, FADING] + self._records[:, LASTING]
        return self.problem.losses.clip(combined)

    def advance(self, steps: int) -> None:
        """Take ``steps`` steps."""
        if self._fault:
            raise FloatingPointError(self._fault)
        end = self.iteration + steps
        while self.iteration < end:
            stop = min(end, self.iteration + CHUNK, self._refresh_at)
            self._take(self.sampler.draw(stop - self.iteration).reshape(-1).view(np.uint64))
            if self.iteration == self._refresh_at:
                self._refresh()

    def _take(self, order: Array) -> None:
        law = (self._derivative.address, self._derivative.theta)
        state = (self._records, self._columns, self._table)
        numbers = (self._strength, self._share, self._rho, self._power)
        self._power, health = run_accelerated(self._rows, order, *state, law, *numbers)
        self.iteration += len(order)
        if not math.isfinite(health):
            self._fault = not_finite(self.problem, self.iteration)
            raise FloatingPointError(self._fault)

    def _refresh(self) -> None:
        """Count u anew from here, long before ρ^k vanishes, and find the images from scratch."""
        self._records[:, FADING] *= self._power
        self._power = 1.0
        for side in (FADING, LASTING):
            self._columns[:, side] = self.problem.gradient(self._records[:, side])
        self._refresh_at = next_refresh(self.iteration, self.problem.n, 1)

"""Conditional gradient sliding: accelerated steps whose prox steps are found by Frank-Wolfe."""

import math
from dataclasses import dataclass
from typing import Any

from rcmd.methods.stochastic import Capped, Sampled, curvature, diameter, smoothness, steepness
from rcmd.methods.variance_reduced import Epochs
from rcmd.rows.validation import Array


def slide(run: Sampled, slope: Array, centre: Array, strength: float, error: float) -> Array:
    """The u that Frank-Wolfe finds for min slopeᵀu + strength/2 ‖u − centre‖² + R(u).

    The procedure CndG of Lan and Zhou (2016): from ``centre`` on, exact line searches (for a
    penalty R, on its bound by the chord) until the Frank-Wolfe gap is at most ``error``.
    """
    penalty, u = run.problem.oracle.penalty, centre.copy()
    while True:
        here = slope + strength * (u - centre)
        point = run.lowest_atom(here).dense(u)
        direction = point - u
        gap = penalty(u) - penalty(point) - here @ direction
        if gap <= error:
            return u
        bend = strength * (direction @ direction)
        u += direction if gap >= bend else (gap / bend) * direction


class _SCGS(Sampled):
    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        self._smoothness, self._curvature = smoothness(self.problem), curvature(self.problem)
        self._x = self.beta.copy()

    @property
    def step_gradients(self) -> int:
        return self.size((self.iteration + 1) ** 3)

    def step(self) -> None:
        k = self.iteration + 1
        share = 3 / (k + 2)
        z = (1 - share) * self.beta + share * self._x
        self.slope = self.slope_at(z, self.draw(self.step_gradients))
        strength, error = 4 * self._smoothness / (k + 2), self._curvature / (k * (k + 1))
        self._x = slide(self, self.slope, self._x, strength, error)
        self.beta = (1 - share) * self.beta + share * self._x


@dataclass(frozen=True)
class SCGS(Capped):
    """Nesterov's method whose prox steps are found by Frank-Wolfe (Lan and Zhou 2016).

    For k = 1, 2, … with x_0 = β_0 and γ_k = 3/(k+2),

        z_k = (1 − γ_k) β_{k−1} + γ_k x_{k−1},   ∇̃_k the mean gradient at z_k of m_k rows
        x_k ≈ argmin ∇̃_kᵀx + (b_k/2) ‖x − x_{k−1}‖² + R(x),   b_k = 4L/(k+2)
        β_k = (1 − γ_k) β_{k−1} + γ_k x_k

    where x_k has a Frank-Wolfe gap of at most LD²/(k(k+1)). m_k of order k³ gives
    E P(β_k) − P* = O(1/k²) after O(k²) oracle calls, R the indicator of a set; the default is
    that order without its constants, as in Lu and Freund's experiments: min{k³, cap·n} rows,
    without replacement. This is the rule for convex f; (1/n) Σ_j γ_j (2M_j)² stands for LD².
    """

    note = "SCGS: O(1/k²) in expectation while batches grow like k³, no bound is printed"
    run = _SCGS


class _STORC(Epochs):
    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        self._smoothness, self._curvature = smoothness(self.problem), curvature(self.problem)
        steep, flat = steepness(self.problem), self._smoothness * diameter(self.problem)
        self._noise = steep / flat if flat > 0 else 0.0
        self._x = self.beta.copy()

    @property
    def length(self) -> int:
        return math.ceil(2 ** (self.epoch / 2 + 2))

    def batch_rule(self, k: int) -> int:
        return math.ceil(self.length * (700 + 24 * self._noise * (k + 1)))

    def inner_step(self, k: int, rows: Array) -> None:
        if k == 1:
            self._x = self.beta.copy()
        share = 2 / (k + 1)
        z = (1 - share) * self.beta + share * self._x
        self.slope = self.slope_from_snapshot(z, rows)
        strength, error = 3 * self._smoothness / k, 2 * self._curvature / (self.length * k)
        self._x = slide(self, self.slope, self._x, strength, error)
        self.beta = (1 - share) * self.beta + share * self._x


@dataclass(frozen=True)
class STORC(Capped):
    """Conditional gradient sliding in epochs, each around a full gradient (Hazan and Luo 2016).

    Epoch t = 1, 2, … takes a snapshot β⁰ of β, sets x_0 = β and takes N_t = ⌈2^{t/2+2}⌉ steps

        z_k = (1 − γ_k) β_{k−1} + γ_k x_{k−1},   γ_k = 2/(k+1),   k = 1, …, N_t
        x_k ≈ argmin ∇̃_kᵀx + (b_k/2) ‖x − x_{k−1}‖² + R(x),   b_k = 3L/k
        β_k = (1 − γ_k) β_{k−1} + γ_k x_k

    where x_k has a Frank-Wolfe gap of at most 2LD²/(N_t k) and
    ∇̃_k = ∇f(β⁰) + mean over m_k rows of ∇f_j(z_k) − ∇f_j(β⁰). Before the first epoch β is a
    minimizer of gᵀβ + R(β), g the gradient at the start.

    Of the three rules of the paper this is the one for Lipschitz f:
    m_k = 700 N_t + 24 N_t G (k+1)/(LD), for which E P(β) − P* ≤ LD²/2^{t+1} after epoch t,
    O(1/K²) after K steps in all; but at most cap·n rows are taken, without replacement.
    (1/n) Σ_j γ_j (2M_j)² stands for LD², max_j (|l_j'(0)| + γ_j M_j) ‖x_j‖ for G.
    """

    note = "STORC: O(1/k²) in expectation at the ends of epochs, no bound is printed"
    run = _STORC

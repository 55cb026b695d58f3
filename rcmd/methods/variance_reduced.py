"""Stochastic Frank-Wolfe with variance reduction: SAG-type, SARAH, and in epochs SVRF."""

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.methods.base import BATCH
from rcmd.methods.stochastic import Capped, Sampled, Stochastic
from rcmd.rows.validation import Array


class _SagFrankWolfe(Sampled):
    default_share = BATCH

    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        self._derivatives = np.zeros(self.problem.n)

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


@dataclass(frozen=True)
class SagFrankWolfe(Stochastic):
    """Constant batches, and a derivative kept for every row (Négiar et al. 2020).

    For t = 1, 2, … and w = 0, so that the estimate d = Xᵀw/n starts at 0,

        w_j ← l_j'(x_jᵀβ_{t−1}) for the rows j of a batch, and d with it
        β_t = (1 − γ_t) β_{t−1} + γ_t β̃_t,   γ_t = 2/(t+2)

    with β̃_t a minimizer of dᵀβ + R(β): E P(β_t) − P* = O(1/t) for any batch, by default 1 %
    of the rows. Rows not drawn yet count as w_j = 0, so that no first pass is needed. Where the
    dual engine averages predictions, this method evaluates them at β.
    """

    any_batch = True
    note = "SAG Frank-Wolfe: O(1/t) in expectation, no bound is printed"
    run = _SagFrankWolfe


class _SarahFrankWolfe(Sampled):
    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        self.batch = self.batch or math.isqrt(self.problem.n)
        self._chance = self.batch / (self.problem.n + self.batch)
        self._before = self.beta
        self._renew = True  # decided a step ahead: budgets ask for the cost beforehand

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


@dataclass(frozen=True)
class SarahFrankWolfe(Stochastic):
    """Frank-Wolfe on a recursive estimate g_k of ∇f(β_k) (Beznosikov, Dobre and Gidel 2024).

    For k = 0, 1, … with g_0 = ∇f(β_0),

        β_{k+1} = (1 − η_k) β_k + η_k β̃_k,   β̃_k a minimizer of g_kᵀβ + R(β)
        g_{k+1} = ∇f(β_{k+1}) with probability p, and otherwise
                  g_k + mean over b rows of ∇f_j(β_{k+1}) − ∇f_j(β_k)

    E P(β_k) − P* = O(1/k). Defaults: b = √n and p = b/(n+b), with which full gradients and
    batches cost the same order. The steps are η_k = 2/(k + 4/p), the decreasing rule of a
    recursion r_{k+1} ≤ (1 − η_k) r_k + cη_k² with η_k ≤ p/2; it needs no horizon, unlike
    rules that begin with constant steps for half of a given number of iterations.
    """

    note = "Sarah Frank-Wolfe: O(1/k) in expectation, no bound is printed"
    run = _SarahFrankWolfe


class Epochs(Sampled):
    """Steps in epochs t = 1, 2, …, each begun with a snapshot β⁰ of β and the gradient there.

    Before the first one β becomes a minimizer of gᵀβ + R(β), g = ∇f(β), for n gradients. What is
    certified is the point at which an epoch ended, the one of the theorems: the first steps of
    the next epoch lead far away from it.
    """

    def __init__(self, *run: Any) -> None:
        super().__init__(*run)
        self.epoch, self.done = 1, 0  # and steps of this epoch
        self.snapshot = self.beta.copy()  # β⁰
        self._derivatives, self._full_slope = np.zeros(self.problem.n), np.zeros(self.problem.p)

    @property
    @abstractmethod
    def length(self) -> int:
        """N_t, the steps of this epoch."""

    @abstractmethod
    def batch_rule(self, k: int) -> int:
        """m_k, the rows that the paper asks for in step k = 1, …, N_t."""

    @abstractmethod
    def inner_step(self, k: int, rows: Array) -> None:
        """Step k of this epoch, on a batch of rows."""

    def averages(self) -> tuple[Any, Array]:
        beta = self.beta.copy() if self.done == 0 else self.snapshot
        return beta, self.problem.response(beta)

    @property
    def step_gradients(self) -> int:
        full_gradients = (self.iteration == 0) + (self.done == 0)
        return full_gradients * self.problem.n + self.size(self.batch_rule(self.done + 1))

    def step(self) -> None:
        if self.iteration == 0:
            self.slope = self.slope_at(self.beta, np.arange(self.problem.n))
            self.move(1.0)
        if self.done == 0:
            self.snapshot = self.beta.copy()
            self.gradients += self.problem.n
            self._derivatives = self.problem.response(self.snapshot)
            self._full_slope = self.problem.gradient(self._derivatives)
        self.done += 1
        self.inner_step(self.done, self.draw(self.size(self.batch_rule(self.done))))
        if self.done == self.length:
            self.epoch, self.done = self.epoch + 1, 0

    def slope_from_snapshot(self, beta: Array, batch: Array) -> Array:
        """∇f(β⁰) plus the mean over ``batch`` of (l_j'(x_jᵀβ) − l_j'(x_jᵀβ⁰)) x_j.

        As the n derivatives at β⁰ are kept, a row costs one gradient, not two.
        """
        slope = self._full_slope.copy()
        self.gradients += len(batch)
        changes = self.batches.derivatives(beta, batch) - self._derivatives[batch]
        self.batches.scatter(batch, changes / len(batch), slope)
        return slope


class _SVRF(Epochs):
    @property
    def length(self) -> int:
        return int(2 ** (self.epoch + 3) - 2)

    def batch_rule(self, k: int) -> int:
        return k

    def inner_step(self, k: int, rows: Array) -> None:
        self.slope = self.slope_from_snapshot(self.beta, rows)
        self.move(2 / (k + 1))


@dataclass(frozen=True)
class SVRF(Capped):
    """Frank-Wolfe in epochs, each around a full gradient (Hazan and Luo 2016).

    Epoch t = 1, 2, … takes a snapshot β⁰ of β and N_t = 2^{t+3} − 2 steps

        β_k = (1 − γ_k) β_{k−1} + γ_k β̃_k,   γ_k = 2/(k+1),   k = 1, …, N_t

    with β̃_k a minimizer of ∇̃_kᵀβ + R(β) and
    ∇̃_k = ∇f(β⁰) + mean over m_k rows of ∇f_j(β_{k−1}) − ∇f_j(β⁰). Before the first epoch β is
    a minimizer of gᵀβ + R(β), g the gradient at the start.

    With m_k = 96(k+1), E P(β) − P* ≤ LD²/2^{t+1} after epoch t; the default is that order
    without its constants, as in Lu and Freund's experiments: min{k, cap·n} rows, without
    replacement, where k restarts in each epoch.
    """

    note = "SVRF: O(1/k) in expectation at the ends of epochs, no bound is printed"
    run = _SVRF

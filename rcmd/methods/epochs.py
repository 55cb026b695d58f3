"""Epochs around a snapshot: the variance-reduced gradients of SVRF and STORC."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.methods.base import Progress
from rcmd.methods.sampled import CappedRun
from rcmd.rows.state import Stateful

Array = npt.NDArray[Any]


class Snapshot(Stateful):
    """∇f(β⁰) and the n derivatives l_j'(x_jᵀβ⁰) it is made of, counted as n gradients.

    As the derivatives are kept, n numbers, a row sampled later costs one gradient, not two.
    """

    changing = ("beta", "_derivatives", "_slope")

    def __init__(self, run: Progress) -> None:
        self._run = run
        self.beta = self._slope = self._derivatives = np.zeros(0)

    def take(self) -> None:
        """Take it where the run is now."""
        problem, self.beta = self._run.problem, self._run.beta.copy()
        self._run.gradients += problem.n
        self._derivatives = problem.response(self.beta)
        self._slope = problem.gradient(self._derivatives)

    def slope_at(self, beta: Array, batch: Array) -> Array:
        """∇f(β⁰) plus the mean over ``batch`` of (l_j'(x_jᵀβ) − l_j'(x_jᵀβ⁰)) x_j."""
        rows, slope = self._run.batches, self._slope.copy()
        self._run.gradients += len(batch)
        changes = rows.derivatives(beta, batch) - self._derivatives[batch]
        rows.scatter(batch, changes / len(batch), slope)
        return slope


class Epochs(CappedRun):
    """Steps in epochs t = 1, 2, …, each begun with a snapshot of β.

    Before the first one β becomes a minimizer of gᵀβ + R(β), g = ∇f(β), for n gradients. What is
    certified is the point at which an epoch ended, the one of the theorems: the first steps of
    the next epoch lead far away from it.
    """

    epoch = 1
    done = 0  # steps of this epoch

    @cached_property
    def snapshot(self) -> Snapshot:
        """The one of this epoch."""
        return Snapshot(self)

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
        beta = self.beta.copy() if self.done == 0 else self.snapshot.beta
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
            self.snapshot.take()
        self.done += 1
        self.inner_step(self.done, self.draw(self.size(self.batch_rule(self.done))))
        if self.done == self.length:
            self.epoch, self.done = self.epoch + 1, 0

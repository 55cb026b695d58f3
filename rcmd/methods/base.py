"""The contract of the methods that are compared with the dual one."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from rcmd.engine.choosing import Engine
from rcmd.methods.batches import Batches
from rcmd.problem import Problem

Array = npt.NDArray[Any]


class Progress(ABC):
    """A method in the middle of a run; the same runs, budgets and certificates drive all of them.

    ``step`` moves ``beta`` and adds what it used to ``gradients`` (derivatives l_j' evaluated,
    one per row) and ``oracle_calls``; ``advance`` counts the iterations.

    Attributes
    ----------
    problem, rng
        The instance, and where every random draw comes from.
    beta
        The primal iterate, a point of dom R from the start on: 0, or where that is outside dom R
        a minimizer of R, for an oracle call.
    iteration, gradients, oracle_calls
        What was done.
    """

    def __init__(self, problem: Problem, rng: np.random.Generator) -> None:
        self.problem = problem
        self.rng = rng
        self.iteration = self.gradients = self.oracle_calls = 0
        problem.oracle.restart()
        self.beta = problem.rows.zero()
        if math.isinf(problem.oracle.value(self.beta)):
            self.beta = self.lowest_point(problem.gradient(0 * problem.losses.y))

    @cached_property
    def batches(self) -> Batches:
        """Derivatives at some of the rows, and sums of them."""
        return Batches(self.problem)

    @abstractmethod
    def step(self) -> None:
        """One iteration."""

    @property
    @abstractmethod
    def step_gradients(self) -> int:
        """The gradients that the next iteration will use."""

    def advance(self, steps: int) -> None:
        """Take ``steps`` iterations."""
        for _ in range(steps):
            self.step()
            self.iteration += 1

    def averages(self) -> tuple[Any, Array]:
        """The primal point and a dual point to be certified; the response to β by default."""
        return self.beta.copy(), self.w

    @property
    def s(self) -> Array:
        """The predictions Xβ."""
        return self.problem.rows.matvec(self.beta)

    @property
    def w(self) -> Array:
        """The response ∇L(Xβ), or the method's own dual variable."""
        return self.problem.losses.derivative(self.s)

    @property
    def d(self) -> Any:
        """The method's gradient estimate; the true one by default."""
        return self.problem.gradient(self.w)

    def lowest_point(self, c: Any) -> Any:
        """A minimizer of cᵀβ + R(β) as a vector, counted as an oracle call."""
        self.oracle_calls += 1
        return self.problem.oracle.argmin(c).dense(self.beta)

    def draw(self, size: int) -> Array:
        """``size`` different rows, uniformly; all of them where ``size`` is n or more."""
        n = self.problem.n
        return np.arange(n) if size >= n else self.rng.choice(n, size=size, replace=False)

    def slope_at(self, beta: Any, batch: Array) -> Array:
        """The mean of l_j'(x_jᵀβ) x_j over ``batch``, counted as that many gradients."""
        problem = self.problem
        self.gradients += len(batch)
        if len(batch) == problem.n:
            return problem.gradient(problem.losses.derivative(problem.rows.matvec(beta)))
        total = problem.rows.zero()
        self.batches.scatter(batch, self.batches.derivatives(beta, batch) / len(batch), total)
        return total


class Method(ABC):
    """A method and its parameters: a frozen dataclass that starts runs.

    ``rcmd.solve(problem, method=FrankWolfe())`` runs it.

    Examples
    --------
    Frank-Wolfe as textbooks have it:

    >>> from dataclasses import dataclass
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> class Steps(Progress):
    ...     step_gradients = property(lambda self: self.problem.n)
    ...     def step(self):
    ...         slope = self.slope_at(self.beta, self.draw(self.problem.n))
    ...         self.beta += 2 / (self.iteration + 2) * (self.lowest_point(slope) - self.beta)
    >>> @dataclass(frozen=True)
    ... class Textbook(Method):
    ...     def start(self, problem, batch, rng): return Steps(problem, rng)
    >>> problem = Problem([[1.0]], [0.5], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, method=Textbook(), tol=1e-3).success
    True
    """

    note: ClassVar[str] = ""
    """The paper, and what its theory says."""

    @abstractmethod
    def start(
        self, problem: Problem, batch: int | None, rng: np.random.Generator
    ) -> Progress | Engine:
        """A run on ``problem``; ``batch`` rows a step, the paper's rule where it is ``None``.

        An ``Engine`` where all steps cost alike, so that many are taken between two looks at
        the clock; else a ``Progress``, step by step.
        """

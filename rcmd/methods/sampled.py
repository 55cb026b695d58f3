"""What the stochastic Frank-Wolfe methods share: batches, gradient estimates, sparse moves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.methods.base import Method, Progress
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom
from rcmd.rows.lowrank import LowRank

Array = npt.NDArray[Any]


class Sampled(Progress):
    """A run with a gradient estimate ``slope``, made from batches of rows."""

    def __init__(
        self, method: Method, problem: Problem, batch: int | None, rng: np.random.Generator
    ) -> None:
        _refuse_unless_vectors_of_floats(type(method).__name__, problem)
        super().__init__(problem, rng)
        self.batch = batch
        self.slope: Array = np.zeros(problem.p)

    @property
    def d(self) -> Array:
        return self.slope

    def lowest_atom(self, c: Array) -> Atom:
        """A minimizer of cᵀβ + R(β), counted as an oracle call."""
        self.oracle_calls += 1
        return self.problem.oracle.argmin(c)

    def move(self, share: float) -> None:
        """β ← (1 − share) β + share·β̃, β̃ a minimizer of slopeᵀβ + R(β)."""
        atom = self.lowest_atom(self.slope)
        self.beta *= 1 - share
        atom.add_to(self.beta, share)


class CappedRun(Sampled):
    """A run of a ``Capped`` method."""

    def __init__(
        self, method: Capped, problem: Problem, batch: int | None, rng: np.random.Generator
    ) -> None:
        super().__init__(method, problem, batch, rng)
        self._most = max(1, int(method.cap * problem.n))

    def size(self, rule: int) -> int:
        """min{rule, cap·n} rows, or as many as the run was told to take."""
        return self.batch or min(rule, self._most)


@dataclass(frozen=True)
class Capped(Method):
    """A method whose batches grow up to the share ``cap`` of all rows.

    One half, as in the experiments of Lu and Freund, keeps every step random: the gradient
    estimates then never become exact, and the papers' rates end where their noise begins.
    With ``cap=1.0`` the batches end with all rows.
    """

    cap: float = 0.5

    def __post_init__(self) -> None:
        number: Any = self.cap if isinstance(self.cap, Real) else math.nan
        if not 0 < number <= 1:
            raise ValueError(
                f"cap of {type(self).__name__} is {self.cap!r}; expected the largest batch as a "
                "share of all rows, in (0, 1]"
            )


def _refuse_unless_vectors_of_floats(owner: str, problem: Problem) -> None:
    if problem.exact:
        raise ValueError(
            f"X holds fractions while {owner} computes with floats; expected floats: convert X "
            "and y with .astype(float)"
        )
    if isinstance(problem.rows.zero(), LowRank):
        raise ValueError(
            f"the rows are entries of a matrix while {owner} works on vectors; expected X with "
            "a row of features for each sample, or no method at all: the dual engine takes "
            "matrices"
        )

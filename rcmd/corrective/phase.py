"""Rounds of correction: Newton on the atoms at hand, then the oracle's word on what is missing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.corrective.ball import BallCorrection
from rcmd.corrective.corrected import Corrected, Correction
from rcmd.corrective.hull import Hull
from rcmd.oracles.atoms import Atom
from rcmd.oracles.l2 import OnL2Ball
from rcmd.problem import Problem

Array = npt.NDArray[Any]

FEWEST_NEW = 5
"""Atoms asked of the oracle in a round, at least."""


class HullCorrection:
    """Fully corrective Frank–Wolfe with second-order steps, from a point of dom R on.

    Attributes
    ----------
    gradients, oracle_calls
        Work done: each pass over all losses counts as n gradients.
    """

    def __init__(self, problem: Problem, beta: Any) -> None:
        self.problem = problem
        parts = [(weight, atom) for weight, atom in problem.oracle.decompose(beta) if weight > 0]
        self._hull = Hull(
            problem, [atom for _, atom in parts], np.array([float(weight) for weight, _ in parts])
        )
        self.oracle_calls, self._extra = 0, 1
        self._here = self._respond()

    @property
    def gradients(self) -> int:
        """Passes over the losses times n."""
        return (self._hull.passes + self._extra) * self.problem.n

    def round(self) -> Corrected:
        """Take up the atoms that the oracle offers at this point, and take a Newton step."""
        self._hull.add(self._worthwhile())
        self._hull.improve()
        self._here = self._respond()
        self._extra += 1
        return self._here

    def _respond(self) -> Corrected:
        s = self._hull.predictions()
        w = self.problem.losses.derivative(s)
        return Corrected(self._hull.point(), s, w, self.problem.gradient(w))

    def _worthwhile(self) -> list[Atom]:
        """The oracle's best atoms that are better at d than the present point."""
        oracle, here = self.problem.oracle, self._here
        self.oracle_calls += 1
        count = max(FEWEST_NEW, len(self._hull.atoms) // 2)
        level = _inner(here.d, here.beta) + oracle.penalty(here.beta)
        zero = self.problem.rows.zero()
        offered = ((atom, atom.dense(zero)) for atom in oracle.best_atoms(here.d, count))
        return [a for a, point in offered if _inner(here.d, point) + oracle.penalty(point) < level]


def correction_for(problem: Problem, beta: Any) -> Correction:
    """The kind of correction that fits the oracle, from ``beta`` on."""
    if isinstance(problem.oracle, OnL2Ball):
        return BallCorrection(problem, problem.oracle, beta)
    return HullCorrection(problem, beta)


def _inner(d: Any, beta: Any) -> Any:
    return d @ beta

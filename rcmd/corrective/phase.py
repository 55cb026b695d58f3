"""Rounds of correction: Newton on the atoms at hand, then the oracle's word on what is missing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.corrective.atom_weights import AtomWeights
from rcmd.corrective.ball import BallCorrection, ball_of
from rcmd.corrective.corrected import Corrected, Correction
from rcmd.oracles.atoms import Atom, SparseAtom
from rcmd.problem import Problem

Array = npt.NDArray[Any]

FEWEST_NEW = 8
"""Atoms asked of the oracle in a round, at least."""

STRIDE, FEWEST_SAMPLES = 8, 2000
"""Every so many samples are solved first, if there are so many of them."""

LARGEST_DIVISOR = 2.0**10
"""Corrections start from no smaller share of the point that they are given."""

SHARE_OF_ERROR, MOST_ROUNDS = 0.1, 30
"""Fewer samples are solved until their gap is this share of a standard error of P, or so long."""


class HullCorrection:
    """Fully corrective Frank–Wolfe with second-order steps, from a point of dom R on.

    ``gradients`` and ``oracle_calls`` say what finding that point has cost.
    """

    def __init__(
        self, problem: Problem, beta: Any, gradients: int = 0, oracle_calls: int = 0
    ) -> None:
        self.problem = problem
        self._most = max(problem.rows.most_predictions // problem.n, 2)
        parts = sorted(problem.oracle.decompose(beta), key=lambda part: -float(part[0]))
        parts = [(weight, atom) for weight, atom in parts[: self._most] if weight > 0]
        weights = np.array([float(weight) for weight, _ in parts])
        self._hull = AtomWeights(problem, [atom for _, atom in parts], weights)
        self._earlier, self.oracle_calls = gradients, oracle_calls
        self._responses, self.moved = 0, True
        point = self._hull.point()
        self._here = self._respond(point, problem.rows.matvec(point))
        self.slope = problem.gradient(self._here.w)

    @property
    def gradients(self) -> int:
        """Passes over all rows, times n, and what was there before."""
        return self._earlier + (self._hull.passes + self._responses) * self.problem.n

    def round(self, passes: float) -> Corrected:
        """Take up the atoms that the oracle offers at this point, and take a Newton step."""
        self._hull.add(self._worthwhile())
        before = self._here
        s = self._hull.improve(before.s, before.w, self.slope)
        self._here = self._respond(self._hull.point(), s)
        self.moved = not np.array_equal(before.s, self._here.s)
        return self._here

    def _respond(self, beta: Any, s: Array) -> Corrected:
        self._responses += 1
        return Corrected(beta, s, self.problem.losses.derivative(s))

    def _worthwhile(self) -> list[Atom]:
        """The oracle's best atoms that are better at d than the present point."""
        oracle, beta, held = self.problem.oracle, self._here.beta, len(self._hull.atoms)
        self.oracle_calls += 1
        count = min(max(FEWEST_NEW, held // 2), self._most - held)
        if count <= 0:
            return []
        level = self.slope @ beta + oracle.penalty(beta)
        offered = oracle.best_atoms(self.slope, count)
        return [atom for atom in offered if self._promised(atom) < level]

    def _promised(self, atom: Atom) -> Any:
        """dᵀa + R(a)."""
        oracle = self.problem.oracle
        if oracle.indicator and isinstance(atom, SparseAtom):
            return sum(self.slope[k] * v for k, v in zip(atom.indices, atom.values, strict=True))
        point = atom.dense(self.problem.rows.zero())
        return self.slope @ point + oracle.penalty(point)


def correction_for(problem: Problem, beta: Any) -> Correction:
    """The kind of correction that fits the oracle, from about ``beta`` on.

    Where there are enough samples, every eighth of them is solved first, about as well as that
    many can tell: those rounds cost an eighth, and most of what is found then stays.
    """
    fewer = problem.every(STRIDE) if problem.n >= STRIDE * FEWEST_SAMPLES else None
    if fewer is None:
        beta, looks = _shortened(problem, beta)
        gradients, oracle_calls = looks * problem.n, 0
    else:
        sampled = correction_for(fewer, beta)
        beta, looks = _solved(fewer, sampled)
        gradients, oracle_calls = sampled.gradients + looks * fewer.n, sampled.oracle_calls
    ball = ball_of(problem.oracle)
    if ball is not None:
        return BallCorrection(problem, *ball, beta, gradients)
    return HullCorrection(problem, beta, gradients, oracle_calls)


def _shortened(problem: Problem, beta: Any) -> tuple[Any, int]:
    """The first of β, β/2, β/4, … after which P would rise, and the looks at all losses.

    The first averages of a run are far out, where the losses are flat and Newton's steps long.
    All of those points are in dom R if 0 is; else it stays at β.
    """
    oracle = problem.oracle
    if math.isinf(oracle.value(problem.rows.zero())):
        return beta, 0
    predictions, looks = problem.rows.matvec(beta), 2

    def value(divisor: float) -> Any:
        losses = problem.losses.value(predictions / divisor)
        return problem.mean(losses) + oracle.penalty(beta / divisor)

    divisor, here = 1.0, value(1.0)
    while divisor < LARGEST_DIVISOR and (shorter := value(2 * divisor)) < here:
        divisor, here, looks = 2 * divisor, shorter, looks + 1
    return beta / divisor, looks


def _solved(problem: Problem, correction: Correction) -> tuple[Any, int]:
    """The β of rounds that end where the gap is small beside the sampling error of P.

    Also how many they were: each looks at all losses once more than the correction counts.
    """
    rounds, going = 0, True
    while going and rounds < MOST_ROUNDS:
        rounds += 1
        here = correction.round(math.inf)
        correction.slope = slope = problem.gradient(here.w)
        oracle, losses = problem.oracle, problem.losses.value(here.s)
        gap = slope @ here.beta + oracle.penalty(here.beta) - oracle.minimum(slope)
        error = losses.std() / math.sqrt(problem.n)
        going = correction.moved and gap > SHARE_OF_ERROR * error
    return here.beta, rounds

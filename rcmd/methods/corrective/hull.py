"""Rounds of correction: Newton on the atoms at hand, then the oracle's word on what is missing."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.methods.corrective.atom_weights import AtomWeights
from rcmd.methods.corrective.ball import BallCorrection, ball_of
from rcmd.methods.corrective.columns import EntryColumns, single_entries
from rcmd.methods.corrective.point import Correction, Point
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom

Array = npt.NDArray[Any]

FEWEST_NEW = 16
"""Atoms asked of the oracle in a round, at least."""

MOST_STEPS, STEP_PASSES = 4, 3
"""Steps of a round, and passes over the data that one takes."""

STRIDE, FEWEST_SAMPLES = 8, 2000
"""Every so many samples are solved first, if there are so many of them."""

SHARE_OF_ERROR, MOST_ROUNDS = 0.5, 8
"""Fewer samples are solved until their gap is this share of a standard error of P, or so long."""


class HullCorrection:
    """Fully corrective Frank–Wolfe with second-order steps, from a point of dom R on.

    The atoms of another point, ``average``, are there from the beginning. ``gradients`` and
    ``oracle_calls`` say what finding both has cost.
    """

    def __init__(
        self,
        problem: Problem,
        beta: Any,
        average: Any,
        gradients: int = 0,
        oracle_calls: int = 0,
    ) -> None:
        self.problem = problem
        self._most = _most_atoms(problem)
        parts, others = (self._parts(point) for point in (beta, average))
        weights = np.array([float(weight) for weight, _ in parts])
        self._hull = AtomWeights(problem, [atom for _, atom in parts], weights)
        self._hull.add([atom for _, atom in others[: self._most - len(parts)]])
        self._earlier, self.oracle_calls, self.moved = gradients, oracle_calls, True

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""
        counts = {"earlier": self._earlier, "oracle_calls": self.oracle_calls}
        return {**counts, "moved": self.moved, "hull": self._hull.state()}

    @classmethod
    def from_state(cls, problem: Problem, state: dict[str, Any]) -> HullCorrection:
        """The correction that gave ``state``."""
        correction = cls.__new__(cls)
        correction.problem, correction._most = problem, _most_atoms(problem)
        correction._earlier, correction.oracle_calls = state["earlier"], state["oracle_calls"]
        correction.moved = state["moved"]
        correction._hull = AtomWeights.from_state(problem, state["hull"])
        return correction

    def _parts(self, point: Any) -> list[tuple[Any, Atom]]:
        """The atoms of ``point`` with the largest weights."""
        parts = sorted(self.problem.oracle.decompose(point), key=lambda part: -float(part[0]))
        return [(weight, atom) for weight, atom in parts[: self._most] if weight > 0]

    @property
    def gradients(self) -> int:
        """Looks at all losses and all rows, times n, and what was there before."""
        return self._earlier + self._hull.passes * self.problem.n

    @property
    def here(self) -> Point:
        """The point reached."""
        return self._hull.here

    def round(self, passes: float, enough: float) -> None:
        """Take up the atoms that the oracle offers at this point, take a Newton step, and so on.

        Where none of the new atoms was of use, further steps come first: the oracle has nothing
        to say before P is as small on the hull as it shall be.
        """
        hull, before, earlier, steps = self._hull, self._hull.here, self._hull.passes, 0
        gap = math.inf
        while gap > enough and steps < MOST_STEPS:
            held, start = hull.add(self._worthwhile()), hull.here
            slopes = hull.slopes(hull.here.slope)
            while steps < MOST_STEPS:
                hull.improve(slopes)
                steps += 1
                if hull.weights[held:].any() or hull.here is start:
                    break
                slopes = hull.slopes()
                if hull.weights @ slopes - slopes.min() <= enough:
                    break
            gap = _gap(self.problem, hull.here)
            if hull.here is start or hull.passes - earlier + STEP_PASSES > passes:
                break
        self.moved = not np.array_equal(before.s, hull.here.s)

    def _worthwhile(self) -> list[Atom]:
        """The oracle's best atoms that are better at d than the present point."""
        oracle, here, held = self.problem.oracle, self.here, len(self._hull.atoms)
        self.oracle_calls += 1
        count = min(max(FEWEST_NEW, held // 2), self._most - held)
        if count <= 0:
            return []
        level = here.slope @ here.beta + oracle.penalty(here.beta)
        offered = oracle.best_atoms(here.slope, count)
        single = single_entries(offered) if oracle.indicator else None
        if single is not None:
            promised = EntryColumns(single).slopes(here.slope)
        else:
            points = [atom.dense(self.problem.rows.zero()) for atom in offered]
            promised = np.array([here.slope @ x + oracle.penalty(x) for x in points])
        return [atom for atom, value in zip(offered, promised, strict=True) if value < level]


def _most_atoms(problem: Problem) -> int:
    return max(problem.rows.most_predictions // problem.n, 2)


def correction_from(problem: Problem, state: dict[str, Any]) -> Correction:
    """The correction of a checkpoint."""
    ball = ball_of(problem.oracle)
    if ball is not None:
        return BallCorrection.from_state(problem, ball, state)
    return HullCorrection.from_state(problem, state)


def correction_for(problem: Problem, beta: Any, average: Any) -> Correction:
    """The kind of correction that fits the oracle, from about ``beta`` on.

    Where there are enough samples, every eighth of them is solved first, about as well as that
    many can tell: those rounds cost an eighth, and most of what is found then stays.
    """
    fewer = problem.every(STRIDE) if problem.n >= STRIDE * FEWEST_SAMPLES else None
    gradients = oracle_calls = 0
    if fewer is not None:
        sampled = correction_for(fewer, beta, average)
        beta = average = _solved(fewer, sampled)
        gradients, oracle_calls = sampled.gradients, sampled.oracle_calls
    ball = ball_of(problem.oracle)
    if ball is not None:
        return BallCorrection(problem, *ball, beta, gradients)
    return HullCorrection(problem, beta, average, gradients, oracle_calls)


def _solved(problem: Problem, correction: Correction) -> Any:
    """The β of rounds that end where the gap is small beside the sampling error of P."""
    for _ in range(MOST_ROUNDS):
        # The root of the mean square, which unlike the deviation is not 0 where all is alike.
        error = np.linalg.norm(correction.here.losses) / problem.n
        enough = SHARE_OF_ERROR * float(error)
        correction.round(math.inf, enough)
        if not correction.moved or _gap(problem, correction.here) <= enough:
            break
    return correction.here.beta


def _gap(problem: Problem, here: Point) -> Any:
    """dᵀβ + R(β) − min, the duality gap of a point and its response."""
    oracle, slope = problem.oracle, here.slope
    return slope @ here.beta + oracle.penalty(here.beta) - oracle.minimum(slope)

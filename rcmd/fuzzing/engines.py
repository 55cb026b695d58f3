"""Both engines side by side, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.fuzzing.cases import Case
from rcmd.problem import Problem
from rcmd.run import iterate
from rcmd.running import Run

Array = npt.NDArray[Any]

STEPS = 20
ROUNDING = 1e-9
"""What one step's numbers may differ by, relative to their size."""

AS_GOOD_AS_BEST = 1e-7
"""What an atom may miss of the minimum, relative to the terms that were compared."""


class _Side:
    """One engine on a problem of its own: oracles remember what they were asked."""

    def __init__(self, case: Case, engine: str) -> None:
        problem = case.problem()
        self.problem = problem
        self.run: Run = iterate(problem, **replace(case, engine=engine).options())
        self.beta, self.d = self._now()
        self.reach = self.slopes = 0.0

    def _now(self) -> tuple[Array, Array]:
        engine = self.run.engine
        return np.array(engine.averages()[0], dtype=float), np.array(engine.d, dtype=float)

    def step(self, i: int) -> None:
        """Take step i; its atom is what it did to β̄."""
        slopes = abs(self.run.engine.w) @ abs(self.problem.rows.as_matrix()) / self.problem.n
        self.slopes = np.maximum(self.slopes, slopes)  # d rounds in terms of this size
        self.before, share = self.d, float(self.run.schedule.mixing(i))
        last = self.beta
        self.run.engine.advance(1)
        self.beta, self.d = self._now()
        self.atom = (self.beta - (1 - share) * last) / share
        self.reach = max(self.reach, float(abs(self.atom).max()))

    def excess(self) -> float:
        """How far the atom is from the best one, relative to the terms that were compared."""
        oracle, d = self.problem.oracle, self.before
        penalty, lowest = oracle.penalty(self.atom), oracle.minimum(d)
        # The atom, a difference of averages, rounds in terms of the largest one so far.
        size = (abs(d) + self.slopes).sum() * self.reach + abs(lowest) + abs(penalty)
        slack = abs(oracle.penalty(self.atom + ROUNDING * self.reach) - penalty)
        return float((d @ self.atom + penalty - lowest - slack) / (size or 1.0))


def difference(case: Case) -> str | None:
    """Where an engine takes an atom that is not the best, or both part for no good reason.

    A good reason is a tie: two atoms that are best but for rounding, of which each engine may
    take either. There the comparison ends, as it does where atoms are approximate anyway.
    """
    compiled, reference = _Side(case, "compiled"), _Side(case, "reference")
    exact = compiled.problem.oracle.exact_atoms
    for i in range(STEPS):
        compiled.step(i)
        reference.step(i)
        for side in (compiled, reference) if exact else ():
            if side.excess() > AS_GOOD_AS_BEST:
                return (
                    f"the atom {side.atom} at d = {side.before} in step {i} is {side.excess():.2g} "
                    f"of its terms above the best one ({type(side.run.engine).__name__})"
                )
        if _agree(compiled, reference):
            continue
        if exact and abs(compiled.atom - reference.atom).max() <= ROUNDING * reference.reach:
            return f"the engines part at step {i}, with the same atom {reference.atom}"
        return None
    return None


def _agree(one: _Side, other: _Side) -> bool:
    a, b, problem = one.run.engine, other.run.engine, one.problem
    scale = _scale(problem)
    return bool(
        abs(a.s - b.s).max() <= ROUNDING * scale
        and (abs(a.w - b.w) <= ROUNDING * (scale * problem.losses.gammas + abs(b.w))).all()
        and abs(one.beta - other.beta).max() <= ROUNDING * other.reach
    )


def _scale(problem: Problem) -> float:
    return float(problem.prediction_bounds.max() + abs(problem.losses.y).max())

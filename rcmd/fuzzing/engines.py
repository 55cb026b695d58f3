"""Both engines side by side, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.fuzzing.cases import Case
from rcmd.problem import Problem
from rcmd.run import Run, iterate

Array = npt.NDArray[Any]

STEPS = 20
ROUNDING = 1e-9
"""What one step's numbers may differ by, relative to their size."""


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
        value, lowest = d @ self.atom + oracle.penalty(self.atom), oracle.minimum(d)
        size = (abs(d) + self.slopes) @ abs(self.atom) + abs(lowest) + oracle.penalty(self.atom)
        return float((value - lowest) / (size or 1.0))


def difference(case: Case) -> str | None:
    """Where the engines part for no good reason, in words.

    A good reason is a tie: two atoms that are best but for rounding, of which each engine may
    take either. There the comparison ends, as it does where atoms are approximate anyway.
    """
    compiled, reference = _Side(case, "compiled"), _Side(case, "reference")
    for i in range(STEPS):
        compiled.step(i)
        reference.step(i)
        if _agree(compiled, reference):
            continue
        if not compiled.problem.oracle.exact_atoms:
            return None
        if abs(compiled.atom - reference.atom).max() <= ROUNDING * reference.reach:
            return f"the engines part at step {i}, with the same atom {reference.atom}"
        worst = max((compiled, reference), key=_Side.excess)
        if worst.excess() > ROUNDING:
            return (
                f"the {'compiled' if worst is compiled else 'reference'} engine takes the atom "
                f"{worst.atom} at d = {worst.before} in step {i}, {worst.excess():.2g} of the "
                "terms above the best one"
            )
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

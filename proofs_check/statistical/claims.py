"""A claimed bound of an expected gap, put to independent runs by ``rcmd.theory.verify``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from proofs_check.statement import Finding
from rcmd import RCMD, Problem
from rcmd.model.bounds import Bound, named
from rcmd.model.constants import Constants
from rcmd.model.schedules import Schedule, default_schedule
from rcmd.theory import Verification, verify
from rcmd.theory.bernstein import samples_needed
from rcmd.theory.verification import pathwise_span


@dataclass(frozen=True)
class Claim:
    """E[gap] ≤ ``bound(constants, steps)`` for runs with ``schedule(constants)``."""

    bound: Callable[[Constants, int], Any]
    schedule: Callable[[Constants], Schedule]


@dataclass(frozen=True)
class Experiment:
    """Where a claim is put to the test.

    The number of runs follows from the bound that is believed, rcmd's ``name``: a sample mean of at
    most ``share`` of it certifies it, whatever the variance.
    """

    problem: Callable[[], Problem]
    steps: int
    name: str
    share: float

    def finding(self, claim: Claim) -> Finding:
        """Whether the claimed bound of the claimed schedule's gap is certified."""
        problem = _made(self.problem)
        constants = problem.constants()
        found = _verified(self, claim.schedule(constants))
        bound = float(claim.bound(constants, self.steps))
        return Finding(
            found.upper <= bound,
            f"n = {problem.n}, {self.steps} steps, {found.runs} runs: mean gap {found.mean:.4g}, "
            f"below {found.upper:.4g} but for a chance of {found.error:g}; bound {bound:.4g}",
            found.upper / bound,
        )


@cache
def _made(problem: Callable[[], Problem]) -> Problem:
    return problem()


@cache
def _verified(experiment: Experiment, schedule: Schedule) -> Verification:
    """The same runs for every bound that is claimed of them."""
    problem, believed = _made(experiment.problem), named(experiment.name)
    constants = problem.constants()
    value = believed(constants, experiment.steps)
    runs = samples_needed(value, pathwise_span(problem), experiment.share)
    bound: Bound = believed
    if schedule != default_schedule(constants):
        bound = Bound("planted", schedule=type(schedule), value=lambda c, k: value)
    return verify(
        bound, problem, experiment.steps, method=RCMD(batch=1, schedule=schedule), seeds=range(runs)
    )

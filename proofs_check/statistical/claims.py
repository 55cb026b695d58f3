"""A claimed bound of an expected gap, put to independent runs of rcmd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from proofs_check.statement import Finding
from rcmd import RCMD, Problem
from rcmd.model.constants import Constants
from rcmd.model.schedules import Schedule
from rcmd.theory.bernstein import FAILURE_RATE, certified_mean, samples_needed
from rcmd.theory.verification import pathwise_span, sampled_gaps


@dataclass(frozen=True)
class Claim:
    """E[gap] ≤ ``bound(constants, steps)`` for runs with ``schedule(constants)``."""

    bound: Callable[[Constants, int], Any]
    schedule: Callable[[Constants], Schedule]


@dataclass(frozen=True)
class Experiment:
    """Where a claim is put to the test; ``last`` says whether the gap is that of the last w.

    The number of runs follows from ``expected``, the bound that is believed: a sample mean of
    at most share·expected certifies it, whatever the variance.
    """

    problem: Callable[[], Problem]
    steps: int
    last: bool
    expected: Callable[[Constants, int], Any]
    share: float

    def finding(self, claim: Claim) -> Finding:
        """Whether the claimed bound of the claimed schedule's gap is certified."""
        problem = _made(self.problem)
        constants, span = problem.constants(), pathwise_span(problem)
        runs = samples_needed(float(self.expected(constants, self.steps)), span, self.share)
        samples = _sampled(self.problem, claim.schedule(constants), self.steps, runs, self.last)
        certified = certified_mean(samples, span)
        bound = float(claim.bound(constants, self.steps))
        return Finding(
            certified <= bound,
            f"n = {problem.n}, {self.steps} steps, {runs} runs: mean gap {samples.mean():.4g}, "
            f"below {certified:.4g} but for a chance of {FAILURE_RATE:g}; bound {bound:.4g}",
            bound / certified - 1,
        )


@cache
def _made(problem: Callable[[], Problem]) -> Problem:
    return problem()


@cache
def _sampled(
    problem: Callable[[], Problem], schedule: Schedule, steps: int, runs: int, last: bool
) -> npt.NDArray[np.float64]:
    """The same runs for every bound that is claimed of them."""
    return sampled_gaps(_made(problem), RCMD(schedule=schedule), steps, range(runs), last)

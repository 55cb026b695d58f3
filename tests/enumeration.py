"""Expectations without sampling: every sequence of batches is run, in the problem's own numbers."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rcmd import DenseAtom, LinearMinOracle, Problem, SeparableConjugate
from rcmd.engine.accounting import Step
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import Replay
from rcmd.model.schedules import LinearSchedule, Schedule
from rcmd.rows import Rows


def averaging_weight(schedule: Any, i: int) -> Any:
    """c_i as the theorems write it: 2N + i, or q^i with q = Nσ/(Nσ − 1)."""
    if isinstance(schedule, LinearSchedule):
        size = schedule.blocks * schedule.sigma
        return (size / (size - 1)) ** i
    return 2 * schedule.blocks + i


class Path:
    """β̄, w̄ and the steps of one run, all of them equally likely."""

    def __init__(self, problem: Problem, schedule: Schedule, kind: type[ReferenceEngine]) -> None:
        self.problem = problem
        self.steps: list[Step] = []
        self.engine = kind(problem, schedule, Replay([[0]]), accounting=(self,))

    def record(self, step: Step) -> None:
        self.steps.append(step)

    def extended(self, batch: tuple[int, ...]) -> "Path":
        """A copy of this run, one step on the rows ``batch`` later."""
        longer = copy.deepcopy(self, {id(self.problem): self.problem})
        longer.engine.sampler = Replay([batch])
        longer.engine.step()
        return longer

    def gap(self, averaged: bool) -> Any:
        """P(β̄) − D(w̄) if ``averaged``, else P(β̄) − D(w)."""
        return self.problem.primal(self.engine.averages()[0]) - self.dual(averaged)

    def dual(self, averaged: bool) -> Any:
        return self.problem.dual(self.engine.averages()[1] if averaged else self.engine.w)


def levels(
    problem: Problem,
    schedule: Schedule,
    batch: int,
    steps: int,
    kind: type[ReferenceEngine] = ReferenceEngine,
) -> Iterator[list[Path]]:
    """All runs after 1, 2, …, ``steps`` steps."""
    paths = [Path(problem, schedule, kind)]
    batches = list(combinations(range(problem.n), batch))
    for _ in range(steps):
        paths = [path.extended(rows) for path in paths for rows in batches]
        yield paths


def mean(values: Any) -> Any:
    """The mean of some numbers of any type."""
    numbers = list(values)
    return sum(numbers) / len(numbers)


@dataclass(frozen=True)
class Parabola(LinearMinOracle):
    """R(β) = (mu/2)(β − centre)² on lower ≤ β ≤ upper, for one variable."""

    curvature: Any
    centre: Any
    lower: Any
    upper: Any
    indicator = False

    @property
    def mu(self) -> Any:
        return self.curvature

    def argmin(self, c: Any) -> DenseAtom:
        free = self.centre - c[0] / self.curvature
        return DenseAtom(np.array([min(max(free, self.lower), self.upper)], dtype=c.dtype))

    def minimum(self, c: Any) -> Any:
        atom = self.argmin(c).vector
        return c @ atom + self.penalty(atom)

    def violation(self, beta: Any) -> Any:
        return max(self.lower - beta[0], beta[0] - self.upper, 0) / (self.upper - self.lower)

    def penalty(self, beta: Any) -> Any:
        return self.curvature * (beta[0] - self.centre) ** 2 / 2

    def prediction_range(self, rows: Rows) -> tuple[Any, Any]:
        ends = np.full(rows.p, self.lower), np.full(rows.p, self.upper)
        return rows.box_range(*ends)


@dataclass(frozen=True)
class TiltedHuber(SeparableConjugate):
    """Huber's loss of width ``width``, plus (curvature/2)s² + tilt·s, in any number type."""

    width: Any
    curvature: Any
    tilt: Any

    @property
    def gamma(self) -> Any:
        return 1 + self.curvature

    def value(self, s: Any, y: Any) -> Any:
        inner = min(abs(s), self.width)
        return inner * (abs(s) - inner / 2) + self.curvature * s * s / 2 + self.tilt * s

    def derivative(self, s: Any, y: Any) -> Any:
        return min(max(s, -self.width), self.width) + self.curvature * s + self.tilt

    def conjugate(self, w: Any, y: Any) -> Any:
        s = self.conjugate_derivative(w, y)
        return w * s - self.value(s, y)

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        slope = w - self.tilt
        inner = slope / (1 + self.curvature)
        if abs(inner) <= self.width:
            return inner
        return (slope - self.width if slope > 0 else slope + self.width) / self.curvature

    def bregman_radius(self, bound: Any) -> Any:
        """a l'(a) − l(a) at a = ±bound."""
        inner = min(bound, self.width)
        return inner * inner / 2 + self.curvature * bound * bound / 2

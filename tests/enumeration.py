"""Expectations without sampling: every sequence of batches is run, in the problem's own numbers."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from rcmd import LinearMinOracle, Problem, SeparableConjugate
from rcmd.engine.accounting import DualAverage, PrimalAverage, Step
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import Replay
from rcmd.model.schedules import Schedule
from rcmd.oracles import DenseAtom
from rcmd.rows import Rows


class Path:
    """β̄, w̄ and the steps of one run, all of them equally likely."""

    def __init__(self, problem: Problem, schedule: Schedule, kind: type[ReferenceEngine]) -> None:
        number_type = problem.rows.number_type
        self.problem = problem
        self.beta = PrimalAverage(schedule, problem.rows.zero())
        self.w_average = DualAverage(schedule, problem.n, number_type)
        self.steps: list[Step] = []
        self.engine = kind(
            problem, schedule, Replay([[0]]), accounting=(self.beta, self.w_average, self)
        )

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
        return self.problem.primal(self.beta.value()) - self.dual(averaged)

    def dual(self, averaged: bool) -> Any:
        """D(w̄) if ``averaged``, else D(w)."""
        w = self.engine.w
        return self.problem.dual(self.w_average.value(w) if averaged else w)


def levels(
    problem: Problem,
    schedule: Schedule,
    batch: int,
    steps: int,
    kind: type[ReferenceEngine] = ReferenceEngine,
) -> Iterator[list[Path]]:
    """All runs after 1, 2, …, ``steps`` steps."""
    paths = [Path(problem, schedule, kind)]
    for _ in range(steps):
        batches = list(combinations(range(problem.n), batch))
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
        huber = inner * (abs(s) - inner / 2)
        return huber + self.curvature * s * s / 2 + self.tilt * s

    def derivative(self, s: Any, y: Any) -> Any:
        return min(max(s, -self.width), self.width) + self.curvature * s + self.tilt

    def conjugate(self, w: Any, y: Any) -> Any:
        s = tilted_huber_inverse(w - self.tilt, self.width, self.curvature)
        inner = min(abs(s), self.width)
        huber = inner * (abs(s) - inner / 2)
        return (w - self.tilt) * s - huber - self.curvature * s * s / 2

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return tilted_huber_inverse(w - self.tilt, self.width, self.curvature)

    def bregman_radius(self, bound: Any) -> Any:
        """a l'(a) − l(a) at a = ±bound."""
        inner = min(bound, self.width)
        return inner * inner / 2 + self.curvature * bound * bound / 2


def tilted_huber_inverse(slope: Any, width: Any, curvature: Any) -> Any:
    """The s with min(max(s, −width), width) + curvature·s = slope."""
    inner = slope / (1 + curvature)
    if abs(inner) <= width:
        return inner
    return (slope - width if slope > 0 else slope + width) / curvature

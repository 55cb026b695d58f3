"""Time to a certified gap: the least effort that reaches it, found rung by rung and repeated."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rcmd import L1Ball, L1Penalty, Logistic, Problem
from rcmd.lab.bench.timing import Absent, as_json, clocked
from rcmd.model.certificate import certify
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.rows.validation import Array
from rcmd.theory.parallel import run_each

TARGETS = (1e-3, 1e-5, 1e-6)
BEATEN = 1.5
"""Times the best of its team to the last target, after which a member gives up."""


class Answer(NamedTuple):
    """A solution β, and its dual solution for those who have one."""

    beta: Array
    w: Array | None = None


def judged(problem: Problem, beta: Array, w: Array | None = None) -> float:
    """P(β) − D(w) for w, or the response to β, or the share of it that suits a penalty."""
    w = problem.response(beta) if w is None else w
    return float(certify(problem, beta, problem.oracle.feasible_share(problem.gradient(w)) * w).gap)


@dataclass(frozen=True, eq=False)
class Task:
    """The problem, and the one certificate by which all answers are judged, whoever gave them.

    It is logistic regression on an l1 ball, or with the penalty λ‖β‖₁ of the same solution, where
    λ = ``strength`` is the ball's multiplier. The gap is P(β) − D(w), computed here from β and,
    for those who have none, w = ∇L(Xβ), so that no answer looks better than it is.

    >>> task = Task(np.eye(2), np.array([1.0, -1.0]), radius=2.0, strength=0.13)
    >>> task.gap(np.array([1.0, -1.0])) < 1e-15, task.gap(np.array([9.0, -9.0])) < 1e-15
    (True, True)
    """

    X: Any
    y: Array
    radius: float
    strength: float
    seed: int = 0
    budget: float = math.inf

    @cached_property
    def ball(self) -> Problem:
        return Problem(self.X, self.y, Logistic(), L1Ball(self.radius))

    @cached_property
    def penalised(self) -> Problem:
        return self.ball.with_oracle(L1Penalty(self.strength))

    def gap(self, beta: Array, w: Array | None = None, *, penalised: bool = False) -> float:
        """The certified gap; infinite where an answer is no vector of numbers.

        On the ball β is first shrunk into it. An answer to the penalised problem is certified
        on either, whichever says more: on its own, w is shrunk until ‖Xᵀw/n‖_∞ ≤ λ, which for a
        small λ costs more than the ball's certificate does.
        """
        beta = np.asarray(beta, dtype=float)
        if beta.shape != (self.ball.p,):
            raise ValueError(
                f"the answer β has shape {beta.shape}; expected ({self.ball.p},), one number for "
                "each column of X"
            )
        if not all(np.isfinite(part).all() for part in (beta, w) if part is not None):
            return math.inf
        return min(self.on_ball(beta, w), judged(self.penalised, beta) if penalised else math.inf)

    def on_ball(self, beta: Array, w: Array | None = None) -> float:
        """The gap of β, shrunk into the ball."""
        norm = abs(beta).sum()
        beta = beta * (self.radius / norm) if norm > self.radius else beta
        return judged(self.ball, beta, w)


class Step(NamedTuple):
    """One run: its effort, its time and the certified gap."""

    effort: Any
    seconds: float
    gap: float


Run = Callable[[Any], Answer]

COUNTS = [1]
"""Passes: whole numbers from 1 to 10⁷, about a quarter apart."""
while COUNTS[-1] < 10**7 / 1.25:
    COUNTS.append(max(COUNTS[-1] + 1, math.ceil(1.25 * COUNTS[-1])))

TOLERANCES = [10.0 ** (-k / 3) for k in range(3, 43)]
"""From 0.1 down to 1e-14, three in each power of ten."""


@dataclass(frozen=True)
class Peer:
    """Somebody who takes part.

    ``prepare`` puts the data into the package's own format, once, and returns what solves from
    scratch with an effort: a number of passes, or a tolerance.
    """

    name: str
    prepare: Callable[[Task], Run]
    efforts: Sequence[Any] = tuple(COUNTS)  # the ladder, from the least effort on
    penalised: bool = False  # whether the penalised problem is solved, not that on the ball
    targets: Sequence[float] = TARGETS  # gaps to reach, from the largest on
    team: str = ""  # a team has one line in the table, with the best of its times

    @property
    def line(self) -> str:
        """Its line in the table."""
        return self.team or self.name


@dataclass
class Racer:
    """A peer on its ladder, or the reason why it is absent.

    ``setup`` and ``first_call`` are seconds: of putting the data into the package's format, and of
    the first run with the least effort, where code may be compiled.
    """

    peer: Peer
    task: Task
    run: Run | None = None
    setup: float = 0.0
    absent: str | None = None
    first_call: float = 0.0
    steps: list[Step] = field(default_factory=list)
    repeats: list[Step] = field(default_factory=list)
    fault: str | None = None

    def climb(self, budget: float, beaten_after: float = math.inf) -> None:
        """Try effort after effort until all gaps are reached or ``budget`` seconds are spent.

        A single run longer than ``beaten_after`` seconds ends it too: another of the same team
        did it all in less. A package that fails ends it with its ``fault``.
        """
        for effort in self.peer.efforts:
            if not self.attempt(effort, self.steps):
                return
            step, spent = self.steps[-1], sum(done.seconds for done in self.steps)
            reached = step.gap <= self.peer.targets[-1]
            if reached or step.seconds > beaten_after or spent > budget:
                return

    def repeat(self, budget: float) -> None:
        """Run once more each effort that first reached a target, unless ``budget`` is spent."""
        first = filter(None, map(self.reaching, self.peer.targets))
        for effort in dict.fromkeys(step.effort for step in first):
            if sum(done.seconds for done in self.repeats) < budget:
                self.attempt(effort, self.repeats)

    def attempt(self, effort: Any, done: list[Step]) -> bool:
        """Append one run from scratch to ``done``; False and a ``fault`` if the package fails."""
        assert self.run is not None
        try:
            answer, seconds = clocked(self.run, effort)
        except Exception as error:  # other people's code may fail in any way
            self.fault = f"failed at {effort:g}: {error!r}"
            return False
        gap = self.task.gap(*answer, penalised=self.peer.penalised)
        done.append(Step(effort, seconds, gap))
        return True

    def reaching(self, target: float) -> Step | None:
        """The first step of the ladder whose gap is at most ``target``."""
        return next((step for step in self.steps if step.gap <= target), None)

    def times(self, target: float) -> list[float]:
        """Nanoseconds of all runs with the effort that first reached ``target``, and reached it."""
        first = self.reaching(target)
        if first is None:
            return []
        again = (run for run in self.repeats if run.effort == first.effort and run.gap <= target)
        return [1e9 * run.seconds for run in (first, *again)]

    def as_dict(self) -> dict[str, Any]:
        problem = "penalised" if self.peer.penalised else "ball"
        row = {"contender": self.peer.name, "team": self.peer.line, "problem": problem}
        if self.absent is not None:
            return {**row, "absent": self.absent, "reached": {}, "ladder": []}
        return {
            **row,
            "setup_seconds": self.setup,
            "first_call_seconds": self.first_call,
            "fault": self.fault,
            "reached": {
                f"{target:.0e}": {**first._asdict(), **as_json(self.times(target))}
                for target in self.peer.targets
                if (first := self.reaching(target))
            },
            "ladder": [step._asdict() for step in self.steps],
        }


def best(racers: Sequence[Racer], target: float) -> Racer | None:
    """The racer with the best time to ``target``, if any got there."""
    there = [racer for racer in racers if racer.times(target)]
    return min(there, key=lambda racer: min(racer.times(target)), default=None)


def compete(task: Task, peers: Sequence[Peer], repeats: int) -> list[Racer]:
    """Let everybody climb within the task's budget, then repeat by turns, each on one thread."""
    racers = []
    for peer in peers:
        tell(f"{peer.name} prepares")
        try:
            racers.append(Racer(peer, task, *clocked(peer.prepare, task)))
        except Absent as reason:
            racers.append(Racer(peer, task, absent=str(reason)))

    def climb(racer: Racer) -> None:
        target = racer.peer.targets[-1]
        rival = best([other for other in racers if other.peer.line == racer.peer.line], target)
        first: list[Step] = []
        if racer.attempt(racer.peer.efforts[0], first):
            racer.first_call = first[0].seconds
        beaten_after = BEATEN * min(rival.times(target)) / 1e9 if rival else math.inf
        racer.climb(task.budget, beaten_after)

    present = [(racer,) for racer in racers if racer.absent is None]
    names = [racer.peer.name for (racer,) in present]
    run_each(climb, present, names, tell=tell)
    turns = [f"turn {turn + 1}, {name}" for turn in range(repeats) for name in names]
    run_each(lambda racer: racer.repeat(task.budget), present * repeats, turns, tell=tell)
    return racers

"""One case: everybody climbs, then all repeat by turns what reached a gap."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rcmd.bench.clock import Timing
from rcmd.bench.one_thread import one_thread
from rcmd.bench.peers import NotInstalled
from rcmd.bench.race.entrants import Entrant, Task
from rcmd.bench.race.judging import Judge
from rcmd.bench.race.ladder import Climber, clocked

BEATEN = 1.5
"""Times the best of its team to the last target, after which a member gives up."""


@dataclass
class Racer:
    """An entrant with its climb, or the reason why there is none.

    ``setup`` and ``first_call`` are seconds: of putting the data into the package's format, and
    of the first run with the least effort, where code may be compiled.
    """

    entrant: Entrant
    climber: Climber | None = None
    setup: float = 0.0
    first_call: float = 0.0
    absent: str | None = None

    def timing(self, target: float) -> Timing | None:
        """The times to ``target``, if it was reached."""
        return None if self.climber is None else self.climber.timing(target)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        row: dict[str, Any] = {
            "contender": self.entrant.name,
            "team": self.entrant.line,
            "problem": "penalised" if self.entrant.penalised else "ball",
        }
        if self.climber is None:
            return {**row, "absent": self.absent, "reached": {}, "ladder": []}
        reached = {}
        for target in self.entrant.targets:
            first, timing = self.climber.reaching(target), self.climber.timing(target)
            if first is not None and timing is not None:
                entry = {"effort": first.effort, "gap": first.gap, **timing.as_dict()}
                reached[f"{target:.0e}"] = entry
        return {
            **row,
            "setup_seconds": self.setup,
            "first_call_seconds": self.first_call,
            "fault": self.climber.fault,
            "reached": reached,
            "ladder": [step.as_dict() for step in self.climber.steps],
        }


class Best(NamedTuple):
    """The best time of a team, in seconds, and whose it is."""

    seconds: float
    name: str


def compete(
    task: Task,
    entrants: Sequence[Entrant],
    repeats: int,
    tell: Callable[[str], None],
) -> list[Racer]:
    """Let everybody climb within the task's budget, then repeat by turns."""
    judge = Judge(task.X, task.y, task.radius, task.strength)
    racers = []
    for entrant in entrants:
        tell(f"{entrant.name} prepares")
        racers.append(_prepared(entrant, task, judge))
    # Entered after all packages are loaded, for it reaches only libraries that are there.
    with one_thread():
        for racer in racers:
            if racer.climber is not None:
                tell(racer.entrant.name)
                rival = best(racers, racer.entrant.line, racer.entrant.targets[-1])
                first = racer.climber.attempt(next(iter(racer.entrant.efforts())))
                racer.first_call = first.seconds if first else 0.0
                beaten_after = BEATEN * rival.seconds if rival else math.inf
                racer.climber.climb(task.budget, beaten_after)
        for turn in range(repeats):
            tell(f"turn {turn + 1}")
            for racer in racers:
                if racer.climber is not None:
                    racer.climber.repeat(task.budget)
    return racers


def best(racers: Sequence[Racer], line: str, target: float) -> Best | None:
    """The best time of a team to ``target``, if any of it got there."""
    found = [
        Best(timing.best / 1e9, racer.entrant.name)
        for racer in racers
        if racer.entrant.line == line and (timing := racer.timing(target)) is not None
    ]
    return min(found, default=None)


def at_least(racers: Sequence[Racer], line: str) -> float | None:
    """Seconds that a team needs at least for what none of it reached, if it took part."""
    climbers = [r.climber for r in racers if r.entrant.line == line and r.climber is not None]
    return min((climber.longest() for climber in climbers if not climber.fault), default=None)


def _prepared(entrant: Entrant, task: Task, judge: Judge) -> Racer:
    try:
        run, setup, _ = clocked(lambda: entrant.prepare(task))
    except NotInstalled as reason:
        return Racer(entrant, absent=str(reason))
    climber = Climber(
        run,
        lambda answer: judge.gap(answer.beta, answer.w, penalised=entrant.penalised),
        entrant.efforts(),
        entrant.targets,
    )
    return Racer(entrant, climber, setup)

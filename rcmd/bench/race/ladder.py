"""Finding the least effort that reaches a gap, and how long it takes."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy.typing as npt

from rcmd.bench.clock import Timing

Array = npt.NDArray[Any]


class Answer(NamedTuple):
    """A solution β, and its dual solution for those who have one."""

    beta: Array
    w: Array | None = None


class Step(NamedTuple):
    """One run: the smaller of wall-clock and processor seconds, the former, the certified gap."""

    effort: Any
    seconds: float
    wall: float
    gap: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON, which has no infinite numbers."""
        return {**self._asdict(), "gap": self.gap if math.isfinite(self.gap) else None}


@dataclass
class Climber:
    """Somebody who climbs a ladder of efforts until all gaps asked for are reached.

    Parameters
    ----------
    run
        Solves from scratch with an effort: a number of passes, or a tolerance.
    gap
        The certified gap of an answer.
    efforts
        The ladder, from the least effort on.
    targets
        Gaps to reach, from the largest on.
    """

    run: Callable[[Any], Answer]
    gap: Callable[[Answer], float]
    efforts: Iterable[Any]
    targets: Sequence[float]
    steps: list[Step] = field(default_factory=list)
    repeats: list[Step] = field(default_factory=list)
    fault: str | None = None

    def climb(self, budget: float, beaten_after: float = math.inf) -> None:
        """Try effort after effort until ``budget`` seconds are spent.

        A single run longer than ``beaten_after`` seconds ends it too: somebody of the same
        team did it all in less. A package that fails ends it with its ``fault``.
        """
        for effort in self.efforts:
            step = self.attempt(effort)
            if step is None:
                return
            self.steps.append(step)
            if (
                step.gap <= self.targets[-1]
                or step.seconds > beaten_after
                or sum(done.seconds for done in self.steps) > budget
            ):
                return

    def repeat(self, budget: float) -> None:
        """Run once more each effort that first reached a target, unless ``budget`` is spent."""
        first = [self.reaching(target) for target in self.targets]
        for effort in dict.fromkeys(step.effort for step in first if step is not None):
            if sum(done.seconds for done in self.repeats) < budget:
                step = self.attempt(effort)
                self.repeats += [] if step is None else [step]

    def reaching(self, target: float) -> Step | None:
        """The first step of the ladder whose gap is at most ``target``."""
        return next((step for step in self.steps if step.gap <= target), None)

    def timing(self, target: float) -> Timing | None:
        """All runs with the effort that first reached ``target``, those that missed it left out."""
        first = self.reaching(target)
        if first is None:
            return None
        again = (step for step in self.repeats if step.effort == first.effort)
        runs = [first, *(step for step in again if step.gap <= target)]
        return Timing(
            samples=tuple(step.seconds * 1e9 for step in runs),
            wall=tuple(step.wall * 1e9 for step in runs),
        )

    def longest(self) -> float:
        """Seconds of the longest run: at least so long does a target take that was not reached."""
        return max((step.seconds for step in self.steps), default=0.0)

    def attempt(self, effort: Any) -> Step | None:
        """One run from scratch, or None and a ``fault`` where the package fails."""
        try:
            answer, seconds, wall = clocked(lambda: self.run(effort))
        except Exception as error:  # somebody else's code may fail in any way
            self.fault = f"failed at {effort:g}: {error!r}"
            return None
        return Step(effort, seconds, wall, self.gap(answer))


def clocked(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """What ``work`` returns, the smaller of wall-clock and processor seconds, and the former."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a rung that is not yet high enough is no news
        begun, busy = time.perf_counter(), time.process_time()
        outcome = work()
        busy, wall = time.process_time() - busy, time.perf_counter() - begun
    return outcome, min(busy, wall), wall


def counts(ratio: float = 1.25, limit: int = 10**7) -> Iterator[int]:
    """Whole numbers from 1 on, about ``ratio`` apart.

    Examples
    --------
    >>> list(counts(limit=20))
    [1, 2, 3, 4, 5, 7, 9, 12, 15, 19]
    """
    count = 1
    while count <= limit:
        yield count
        count = max(count + 1, math.ceil(ratio * count))


def tolerances(per_decade: int = 3, smallest: float = 1e-14) -> Iterator[float]:
    """From 0.1 down, so many in each power of ten.

    Examples
    --------
    >>> [f"{tol:.0e}" for tol in tolerances(2, 1e-3)]
    ['1e-01', '3e-02', '1e-02', '3e-03', '1e-03']
    """
    steps = round(-math.log10(smallest) * per_decade)
    for k in range(per_decade, steps + 1):
        yield 10.0 ** (-k / per_decade)

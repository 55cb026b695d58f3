"""Contenders timed against each other in one run; times and ratios as cells of a table."""

import json
import math
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from rcmd.reporting.tables import Section, Target, nanoseconds


class Absent(RuntimeError):
    """A package, a compiler or data that are not there; the text says why."""


@dataclass(frozen=True)
class Contender:
    """Something to be timed.

    ``work`` does an amount of work, in a unit of its own, and returns how many stochastic
    gradients that was; ``limit`` is the largest amount it accepts.
    """

    name: str
    work: Callable[[int], int]
    limit: int = 2**40


def calling(
    name: str, function: Callable[..., Any], *arguments: Any, gradients: int = 1, **limit: int
) -> Contender:
    """A contender whose unit of work is one call, which counts as so many gradients."""

    def work(calls: int) -> int:
        for _ in range(calls):
            function(*arguments)
        return calls * gradients

    return Contender(name, work, **limit)


@dataclass(frozen=True)
class Timing:
    """Nanoseconds per stochastic gradient, one number for each repeat.

    ``samples`` are the smaller of wall-clock time and of the processors' time: what a busy machine
    gives to others does not count, and threads that work side by side count once. ``wall`` is
    wall-clock time.
    """

    samples: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least disturbed repeat."""
        return min(self.samples)

    def as_dict(self) -> dict[str, object]:
        return {
            "best_ns": self.best,
            "median_ns": statistics.median(self.samples),
            "samples_ns": list(self.samples),
            "wall_best_ns": min(self.wall),
        }


class Clocked(NamedTuple):
    """What some work returned, the smaller of wall-clock and processor seconds, the former."""

    outcome: Any
    seconds: float
    wall: float


def clocked(work: Callable[..., Any], *arguments: Any) -> Clocked:
    """Do the work once, without its warnings, such as that it has not converged."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun, busy = time.perf_counter(), time.process_time()
        outcome = work(*arguments)
        busy, wall = time.process_time() - busy, time.perf_counter() - begun
    return Clocked(outcome, min(busy, wall), wall)


def run_module(
    module: str, *arguments: Any, what: str, environment: Mapping[str, str] | None = None
) -> Any:
    """What a module, run as a program, prints as JSON; ``what`` names the work if it fails."""
    words = [sys.executable, "-m", module, *map(str, arguments)]
    answer = subprocess.run(words, capture_output=True, text=True, env=environment)
    if answer.returncode != 0:
        raise RuntimeError(f"{what} failed: {answer.stderr.strip()[-500:]}")
    return json.loads(answer.stdout)


def race(
    contenders: Sequence[Contender], *, repeats: int, seconds: float, budget: float = math.inf
) -> dict[str, Timing]:
    """Time all contenders by turns, so that whatever else the machine does affects all of them.

    A turn lasts about ``seconds``; a contender that has used up ``budget`` seconds sits out
    the turns after its second.

    >>> timings = race([Contender("sum", lambda k: sum(range(k)) and k)], repeats=3, seconds=1e-3)
    >>> timings["sum"].best > 0, len(timings["sum"].samples)
    (True, 3)
    """
    amounts = [_amount(contender, seconds) for contender in contenders]
    turns: list[list[Clocked]] = [[] for _ in contenders]
    for turn in range(repeats):
        for contender, amount, own in zip(contenders, amounts, turns, strict=True):
            if turn < 2 or sum(done.seconds for done in own) < budget:
                own.append(clocked(contender.work, amount))
    return {
        contender.name: Timing(
            samples=tuple(turn.seconds / turn.outcome * 1e9 for turn in own),
            wall=tuple(turn.wall / turn.outcome * 1e9 for turn in own),
        )
        for contender, own in zip(contenders, turns, strict=True)
    }


def _amount(contender: Contender, seconds: float) -> int:
    """How much work takes about ``seconds``; finding out also warms up."""
    amount = 1
    contender.work(amount)
    while True:
        # Twice, so that one hiccup of the machine does not pass for much work.
        elapsed = min(clocked(contender.work, amount).seconds for _ in range(2))
        if elapsed >= seconds / 2 or amount == contender.limit:
            return amount
        growth = min(8.0, max(1.5, seconds / max(elapsed, 1e-9)))
        amount = min(contender.limit, math.ceil(amount * growth))


def cells(line: str) -> list[str]:
    """The cells of a line of a table.

    >>> cells("a9a | 1 |  | 3.2 s")
    ['a9a', '1', '', '3.2 s']
    """
    return line.split(" | ")


def add_timed(
    section: Section,
    labels: Sequence[str],
    columns: Sequence[str],
    row: Mapping[str, Any],
    timings: Mapping[str, Timing],
    ratios: Mapping[str, float] = MappingProxyType({}),
    targets: Mapping[str, Target] = MappingProxyType({}),
) -> None:
    """Append a line: ``labels``, then the time or the ratio that each of ``columns`` names.

    A column ``rcmd/C`` is the ratio of two times, and an empty one says whether the ratio before
    it meets its target. What was not measured is a dash. ``row`` goes to the JSON file, with all
    times.
    """
    ratios = dict(ratios)
    for name in columns:
        one, _, other = name.partition("/")
        if one in timings and other in timings:
            ratios[name] = timings[one].best / timings[other].best
    line, last = list(labels), ""
    for column in columns:
        last = column or last
        if column in timings and column not in ratios:
            line.append(nanoseconds(timings[column].best))
        else:
            value, verdict = shown_ratio(ratios, last, targets)
            line.append(value if column else verdict)
    times = {name: timing.as_dict() for name, timing in timings.items()}
    section.add(line, **row, times=times, ratios=ratios, targets=verdicts(targets, ratios))


def verdicts(targets: Mapping[str, Target], ratios: Mapping[str, float]) -> dict[str, Any]:
    """Which targets the ratios meet, for the JSON file."""
    return {name: t.as_dict(ratios[name]) for name, t in targets.items() if name in ratios}


def shown_ratio(
    ratios: Mapping[str, float], name: str, targets: Mapping[str, Target]
) -> tuple[str, str]:
    """A ratio and its target, two cells."""
    if name not in ratios:
        return "–", ""
    value, target = ratios[name], targets.get(name)
    digits = ".0f" if value >= 10 else ".2f" if value >= 0.1 else ".1g"
    return f"{value:{digits}}", target.shown(value) if target else ""


def prefixed(name: str, tell: Callable[[str], None]) -> Callable[[str], None]:
    """``tell`` with the name of what is being measured."""
    return lambda text: tell(f"{name}: {text}" if text else "")

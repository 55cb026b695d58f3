"""Contenders timed against each other in one run; times and ratios as cells of a table."""

import importlib.util
import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Section, Target, nanoseconds


class Absent(RuntimeError):
    """A package, a compiler or data that are not there; the text says why."""


UNLIMITED = 2**40


@dataclass(frozen=True)
class Contender:
    """Something to be timed.

    ``work`` does an amount of work, in a unit of its own, and returns how many stochastic
    gradients that was; ``limit`` is the largest amount it accepts. ``prepare`` is called before
    each turn, off the clock.
    """

    name: str
    work: Callable[[int], int]
    limit: int = UNLIMITED
    prepare: Callable[[], None] = lambda: None


def calling(
    name: str,
    function: Callable[..., Any],
    *arguments: Any,
    gradients: int = 1,
    limit: int = UNLIMITED,
) -> Contender:
    """A contender whose unit of work is one call, which counts as so many gradients."""

    def work(calls: int) -> int:
        for _ in range(calls):
            function(*arguments)
        return calls * gradients

    return Contender(name, work, limit)


def clocked(work: Callable[..., Any], *arguments: Any) -> tuple[Any, float]:
    """What some work returns, without its warnings, and its seconds.

    They are the smaller of wall-clock time and of the processors' time: what a busy machine gives
    to others does not count, and threads that work side by side count once.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begun, busy = time.perf_counter(), time.process_time()
        outcome = work(*arguments)
        busy, wall = time.process_time() - busy, time.perf_counter() - begun
    return outcome, min(busy, wall)


def race(
    contenders: Sequence[Contender], *, repeats: int, seconds: float, budget: float = math.inf
) -> dict[str, list[float]]:
    """Nanoseconds per stochastic gradient, one number for each turn of a contender.

    All take turns, so that whatever else the machine does affects all of them. A turn lasts about
    ``seconds``; a contender that has used up ``budget`` seconds sits out the turns after its
    second.

    >>> times = race([Contender("sum", lambda k: sum(range(k)) and k)], repeats=3, seconds=1e-3)
    >>> min(times["sum"]) > 0, len(times["sum"])
    (True, 3)
    """
    amounts = [_amount(contender, seconds) for contender in contenders]
    times: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    spent = dict.fromkeys(times, 0.0)
    for turn in range(repeats):
        for contender, amount in zip(contenders, amounts, strict=True):
            if turn < 2 or spent[contender.name] < budget:
                contender.prepare()
                gradients, elapsed = clocked(contender.work, amount)
                times[contender.name].append(elapsed / gradients * 1e9)
                spent[contender.name] += elapsed
    return times


def _amount(contender: Contender, seconds: float) -> int:
    """How much work takes about ``seconds``; finding out also warms up."""
    amount = 1
    contender.prepare()
    contender.work(amount)
    while True:
        # Twice, so that one hiccup of the machine does not pass for much work.
        elapsed = min(clocked(contender.work, amount)[1] for _ in range(2))
        if elapsed >= seconds / 2 or amount == contender.limit:
            return amount
        growth = min(8.0, max(1.5, seconds / max(elapsed, 1e-9)))
        amount = min(contender.limit, math.ceil(amount * growth))


def cells(line: str) -> list[str]:
    """The cells of a line of a table, such as ``a9a | 1 |  | 3.2 s``."""
    return line.split(" | ")


def add_timed(
    section: Section,
    labels: Sequence[str],
    columns: Sequence[str],
    row: Mapping[str, Any],
    times: Mapping[str, Sequence[float]],
    targets: Mapping[str, Target] = MappingProxyType({}),
) -> None:
    """Append a line: ``labels``, then the best time or the ratio that each of ``columns`` names.

    A column ``rcmd/C`` is the ratio of two times, and an empty one says whether the ratio before
    it meets its target. What was not measured is a dash. A terminal shows the line at once;
    ``row`` goes to the JSON file, with all times.
    """
    best = {name: min(samples) for name, samples in times.items()}
    line, ratios, verdict = list(labels), {}, ""
    for column in columns:
        one, _, other = column.partition("/")
        if not column:
            line.append(verdict)
        elif column in best:
            line.append(nanoseconds(best[column]))
        elif one in best and other in best:
            ratios[column] = value = best[one] / best[other]
            verdict = targets[column].shown(value) if column in targets else ""
            line.append(f"{value:{'.0f' if value >= 10 else '.2f' if value >= 0.1 else '.1g'}}")
        else:
            line.append("–")
            verdict = ""
    shown = {name: as_json(samples) for name, samples in times.items()}
    met = {name: t.as_dict(ratios[name]) for name, t in targets.items() if name in ratios}
    section.add(line, **row, times=shown, ratios=ratios, targets=met)
    tell("  ".join(line), stays=True)


def as_json(samples: Sequence[float]) -> dict[str, object]:
    """The nanoseconds of all turns; the least disturbed one is what counts."""
    return {"best_ns": min(samples), "samples_ns": samples}


def threads() -> str:
    """A note on what ``one_thread`` can do here."""
    if importlib.util.find_spec("threadpoolctl"):
        return "on one thread"
    return (
        "with all threads that BLAS takes: install threadpoolctl, or set OMP_NUM_THREADS=1, to "
        "compare on one"
    )

"""Timing contenders against each other in one run."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True)
class Contender:
    """Something to be timed.

    Parameters
    ----------
    name
        Who it is.
    work
        Does an amount of work, in whatever unit it likes, and tells how many stochastic
        gradients that was.
    limit
        The largest amount it accepts.
    """

    name: str
    work: Callable[[int], int]
    limit: int = 2**40


@dataclass(frozen=True)
class Timing:
    """Nanoseconds per stochastic gradient, one number for each repeat.

    Attributes
    ----------
    samples
        The smaller of wall-clock time and of the processors' time: what a busy machine gives
        to others does not count, and threads that work side by side count once.
    wall
        By the clock on the wall alone.
    """

    samples: tuple[float, ...]
    wall: tuple[float, ...]

    @property
    def best(self) -> float:
        """The least disturbed repeat."""
        return min(self.samples)

    def as_dict(self) -> dict[str, object]:
        """For JSON."""
        return {
            "best_ns": self.best,
            "median_ns": statistics.median(self.samples),
            "samples_ns": list(self.samples),
            "wall_best_ns": min(self.wall),
        }


def race(
    contenders: Sequence[Contender], *, repeats: int, seconds: float, budget: float = math.inf
) -> dict[str, Timing]:
    """Time all contenders by turns, so that what else the machine does hits all of them.

    A turn lasts about ``seconds``; a contender that has used up ``budget`` seconds sits out
    the turns after its second.

    Examples
    --------
    >>> timings = race([Contender("sum", lambda k: sum(range(k)) and k)], repeats=3, seconds=1e-3)
    >>> timings["sum"].best > 0, len(timings["sum"].samples)
    (True, 3)
    """
    amounts = [_amount(contender, seconds) for contender in contenders]
    turns: list[list[_Turn]] = [[] for _ in contenders]
    for turn in range(repeats):
        for contender, amount, own in zip(contenders, amounts, turns, strict=True):
            if turn < 2 or sum(done.seconds for done in own) < budget:
                own.append(_timed(contender, amount))
    return {
        contender.name: Timing(
            samples=tuple(turn.seconds / turn.gradients * 1e9 for turn in own),
            wall=tuple(turn.wall / turn.gradients * 1e9 for turn in own),
        )
        for contender, own in zip(contenders, turns, strict=True)
    }


class _Turn(NamedTuple):
    seconds: float
    wall: float
    gradients: int


def _amount(contender: Contender, seconds: float) -> int:
    """How much work takes about ``seconds``; finding out also warms up."""
    amount = 1
    contender.work(amount)
    while True:
        # Twice, so that one hiccup of the machine does not pass for much work.
        elapsed = min(_timed(contender, amount).seconds for _ in range(2))
        if elapsed >= seconds / 2 or amount == contender.limit:
            return amount
        growth = min(8.0, max(1.5, seconds / max(elapsed, 1e-9)))
        amount = min(contender.limit, math.ceil(amount * growth))


def _timed(contender: Contender, amount: int) -> _Turn:
    begun, busy = time.perf_counter(), time.process_time()
    gradients = contender.work(amount)
    busy, wall = time.process_time() - busy, time.perf_counter() - begun
    return _Turn(min(busy, wall), wall, gradients)

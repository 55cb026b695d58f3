"""What a run looked like: P at every checkpoint, against what was spent."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from rcmd.comparing.entrants import Entrant
from rcmd.problem import Problem
from rcmd.result import State, StopReason
from rcmd.run import Options, solve


class Point(NamedTuple):
    """A checkpoint: what was spent, P at the iterate, and the best pair up to there.

    ``value`` is P of the point that the method would return now, which may rise; ``primal``
    and ``dual`` are the best so far. Certificates are in the ``seconds``, not in the counts.
    """

    iteration: int
    gradients: int
    oracle_calls: int
    seconds: float
    value: float
    primal: float
    dual: float
    gap: float


Listener = Callable[[Point], bool | None]


def trace(
    problem: Problem,
    entrant: Entrant,
    *,
    batch: int,
    seed: int,
    tol: float,
    max_gradients: int,
    max_seconds: float | None = None,
    checkpoints: Iterable[int] | None = None,
    listener: Listener = lambda point: None,
) -> list[Point]:
    """Run ``entrant`` and keep every checkpoint; a ``listener`` that returns True ends the run."""
    points: list[Point] = []

    def keep(state: State) -> bool | None:
        points.append(_point(problem, state))
        return listener(points[-1])

    options: Options = entrant.options(batch, seed) | {
        "tol": tol,
        "max_gradients": max_gradients,
        "max_seconds": max_seconds,
        "checkpoints": checkpoints,
    }
    result = solve(problem, callbacks=[keep], **options)
    if result.stop is StopReason.INTERRUPTED:
        raise KeyboardInterrupt
    return points


def _point(problem: Problem, state: State) -> Point:
    numbers: list[Any] = [problem.primal(state.beta_average), state.primal, state.dual, state.gap]
    return Point(
        state.iteration,
        state.gradients,
        state.oracle_calls,
        state.seconds,
        *map(float, numbers),
    )

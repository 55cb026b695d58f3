"""Who takes part in a race, and one run of it: methods by name, budgets, a curve.

All that ``rcmd.lab`` solves goes through ``Entrant.solve``; many runs are queued by
``rcmd.theory.parallel.run_each``, which keeps the time, names what fails and takes what is already
there. What a curve says is for others to judge.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rcmd.methods import Method, method_named
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.model.problem import Problem
from rcmd.solver.history import State, StopReason
from rcmd.solver.result import Result
from rcmd.solver.solve import iterate, solve


@dataclass(frozen=True)
class Entrant:
    """A method that takes part, and how it is written."""

    name: str
    method: Method

    @property
    def random(self) -> bool:
        """Whether another seed is another run."""
        return self.method.random

    def solve(self, problem: Problem, batch: float, seed: int = 0, **limits: Any) -> Result:
        """One run within ``limits``, options of ``rcmd.solve``; Ctrl-C is no result."""
        result = solve(problem, **self._options(batch, seed), **limits)
        if result.stop is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return result

    def check(self, problem: Problem, batch: float, **limits: Any) -> None:
        """Raise what ``solve`` would raise before its first step."""
        iterate(problem, **self._options(batch, 0), **limits)

    def _options(self, batch: Any, seed: int) -> dict[str, Any]:
        size = batch if self.method.any_batch else None
        return {"method": self.method, "batch": size, "seed": seed}


PLAIN, CORRECTED = Entrant("rcmd", RCMD()), Entrant("corrected", Corrected())


def parse_entrants(text: str) -> list[Entrant]:
    """Entrants as names with commas, a step rule after a colon where there is a choice.

    >>> [entrant.name for entrant in parse_entrants("rcmd,fw:exact")]
    ['rcmd', 'fw:exact']
    """
    words = [word.strip() for word in text.split(",")]
    repeated = {word for word in words if words.count(word) > 1}
    if repeated:
        raise ValueError(
            f"methods {text!r} name {' and '.join(sorted(repeated))} more than once; expected "
            "each once"
        )
    return [Entrant(word, method_named(word)) for word in words]


def fitting(
    problem: Problem, entrants: Sequence[Entrant], batch: int, budget: int
) -> tuple[list[Entrant], dict[str, str]]:
    """Those that take this problem and budget, and why the others do not, by name."""
    fit, refused = [], {}
    for entrant in entrants:
        try:
            entrant.check(problem, batch, max_gradients=budget)
        except ValueError as reason:
            refused[entrant.name] = str(reason)
        else:
            fit.append(entrant)
    return fit, refused


class Point(NamedTuple):
    """A record of a run: what was spent, P at the iterate, and the best pair up to there.

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


def trace(
    problem: Problem,
    entrant: Entrant,
    batch: int,
    seed: int,
    listener: Callable[[Point], bool | None] = lambda point: None,
    **limits: Any,
) -> list[Point]:
    """Run ``entrant`` and keep every record; a ``listener`` that returns True ends the run."""
    points: list[Point] = []

    def keep(state: State) -> bool | None:
        spent = state.iteration, state.gradients, state.oracle_calls, state.seconds
        value = problem.primal(state.beta_average)
        numbers = map(float, (value, state.primal, state.dual, state.gap))
        points.append(Point(*spent, *numbers))
        return listener(points[-1])

    entrant.solve(problem, batch, seed, callbacks=[keep], **limits)
    return points

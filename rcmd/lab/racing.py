"""Who takes part in a race of methods.

Races and benches solve by ``Entrant.solve``, and many runs are queued by
``rcmd.theory.parallel.run_each``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rcmd.methods import NAMED, Method, method_named
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.model.problem import Problem
from rcmd.solver.history import State, StopReason
from rcmd.solver.result import Result
from rcmd.solver.solve import iterate, solve


@dataclass(frozen=True)
class Entrant:
    """A method that takes part, with its name."""

    name: str
    method: Method

    def solve(self, problem: Problem, batch: float | None, seed: int = 0, **limits: Any) -> Result:
        """One run within ``limits``, options of ``rcmd.solve``; Ctrl-C is no result."""
        result = solve(problem, **self._options(batch, seed), **limits)
        if result.stop is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        return result

    def check(self, problem: Problem, batch: float | None, **limits: Any) -> None:
        """Raise what ``solve`` would raise before its first step."""
        iterate(problem, **self._options(batch, 0), **limits)

    def _options(self, batch: Any, seed: int) -> dict[str, Any]:
        size = batch if self.method.any_batch else None
        return {"method": self.method, "batch": size, "seed": seed}


PLAIN, CORRECTED = Entrant("rcmd", RCMD()), Entrant("corrected", Corrected())


SEARCHING = "fw", "away", "pairwise", "bpcg"
"""Methods with a step rule: where all methods are shown these have the same one, a line search."""

FIELD = ("fw:open-loop", *(f"{name}:exact" if name in SEARCHING else name for name in NAMED))
"""The entrants where none are named; the textbook's steps of Frank-Wolfe are among them."""


def entrants_of(methods: Any) -> list[Entrant]:
    """The entrants, from names, methods or either by a name.

    >>> [entrant.name for entrant in entrants_of(["rcmd", "fw:exact"])]
    ['rcmd', 'fw:exact']
    """
    wanted = "expected names or methods, such as ['rcmd', 'fw:exact'], or methods by name"
    if isinstance(methods, str | Method) or not isinstance(methods, Iterable):
        raise TypeError(f"methods is {methods!r}; {wanted}")
    pairs = methods.items() if isinstance(methods, Mapping) else [(one, one) for one in methods]
    found = []
    for name, one in pairs:
        if isinstance(one, str):
            found.append(Entrant(str(name).strip(), method_named(one.strip())))
        elif isinstance(one, Method):
            found.append(Entrant(name if isinstance(name, str) else repr(one), one))
        else:
            raise TypeError(f"methods holds {one!r}; {wanted}")
    names = [entrant.name for entrant in found]
    if not found or len(set(names)) < len(names):
        raise ValueError(f"methods is {methods!r}; {wanted}, each once")
    return found


def fitting(
    problem: Problem, entrants: Sequence[Entrant], batch: int, budget: int
) -> tuple[list[Entrant], dict[str, str]]:
    """The entrants that accept this problem and budget, and why the others do not, by name."""
    fit, refused = [], {}
    for entrant in entrants:
        try:
            entrant.check(problem, batch, max_gradients=budget)
        except ValueError as reason:
            refused[entrant.name] = str(reason)
        else:
            fit.append(entrant)
    return fit, refused


def value(state: State) -> dict[str, float]:
    """A column of curves: P of the point that the method would return now, which may rise."""
    return {"value": float(state.problem.primal(state.beta_average))}

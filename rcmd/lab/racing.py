"""Races of methods: who takes part, one run and its curve, many side by side, fitted slopes.

Races and benches solve by ``Entrant.solve``, and many runs are queued by
``rcmd.theory.parallel.run_each``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from rcmd.methods import NAMED, Method, method_named
from rcmd.methods.base import Batches
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.model.problem import Problem
from rcmd.solver.history import State, StopReason
from rcmd.solver.result import Result
from rcmd.solver.solve import iterate, solve
from rcmd.theory.parallel import run_each

AXES = {"gradients": "gradients", "oracle_calls": "oracle calls", "seconds": "seconds"}
"""What a method spends, with its label."""

DECADE, FEWEST_POINTS = 10.0, 4
ABOVE_NOISE = 10.0
"""Times the uncertainty of P*, below which P − P* is not known well enough to be fitted."""


@dataclass(frozen=True)
class Entrant:
    """A method that takes part, with its name."""

    name: str
    method: Method

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


SEARCHING = "fw", "away", "pairwise", "bpcg"
"""Methods with a step rule: where all methods are shown these have the same one, a line search."""

FIELD = ("fw:open-loop", *(f"{name}:exact" if name in SEARCHING else name for name in NAMED))
"""The entrants where none are named; the textbook's steps of Frank-Wolfe are among them."""


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


class Slope(NamedTuple):
    """The exponent a of y ≈ c·x^a, fitted to ``points`` points with low ≤ x ≤ high."""

    exponent: float
    low: float
    high: float
    points: int


@dataclass(frozen=True)
class Standing:
    """An entrant's curves, one for each seed."""

    entrant: Entrant
    curves: list[list[Point]]

    def end(self, column: str) -> float:
        """The median over the seeds of a column at the end."""
        return median(getattr(curve[-1], column) for curve in self.curves)

    def slope(self, axis: str, best: float, noise: float) -> Slope | None:
        """The slope of P − best against ``axis``, over all seeds."""
        points = [point for curve in self.curves for point in curve]
        return fit_slope([getattr(p, axis) for p in points], excess(points, best), noise)


def excess(curve: Sequence[Point], best: float) -> list[float]:
    """P − best along a curve."""
    return [point.value - best for point in curve]


@dataclass(frozen=True)
class Comparison:
    """The entrants, and the best P and the best D of all runs."""

    standings: list[Standing]
    best: float
    lower: float

    @property
    def noise(self) -> float:
        """How far ``best`` may be above P*."""
        return max(self.best - self.lower, 0.0)


def compare(
    problem: Problem,
    entrants: Sequence[Entrant],
    *,
    batch: int,
    budget: int,
    seeds: Sequence[int],
    tol: float,
    max_seconds: float | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Comparison:
    """Run each with at most ``budget`` gradients, once for each seed where runs are random.

    The best known P is the least of all runs and of one of ``rcmd.solve`` that may use ten
    budgets. All runs have one thread.
    """
    tell("the best known P")
    reference = CORRECTED.solve(problem, batch, seeds[0], tol=tol, max_gradients=10 * budget)
    if any(entrant.method.random for entrant in entrants):
        Batches(problem)  # compiled here, and not by whoever comes first
    runs = [(e, seed) for e in entrants for seed in (seeds if e.method.random else seeds[:1])]

    limits: dict[str, Any] = {"tol": tol, "max_gradients": budget, "max_seconds": max_seconds}

    def work(entrant: Entrant, seed: int) -> list[Point]:
        return trace(problem, entrant, batch, seed, **limits)

    curves = run_each(work, runs, [f"{e.name}, seed {seed}" for e, seed in runs], tell=tell)
    ends = [curve[-1] for curve in curves]
    best = min([float(reference.primal), *(point.primal for point in ends)])
    lower = max([float(reference.dual), *(point.dual for point in ends)])
    own = [[c for (e, _), c in zip(runs, curves, strict=True) if e is mine] for mine in entrants]
    return Comparison(list(map(Standing, entrants, own)), best, lower)


def fit_slope(x: Any, y: Any, noise: float) -> Slope | None:
    """The slope of the points (x, y) over the last decade of x in which y > 10·noise.

    ``None`` where fewer than four points, or only one x, are left.

    >>> slope = fit_slope([1, 2, 4, 8, 16], [1.0, 0.5, 0.25, 0.125, 0.0625], noise=0.0)
    >>> round(slope.exponent, 6), slope.low, slope.high
    (-1.0, 2.0, 16.0)
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    usable = (y > ABOVE_NOISE * noise) & (y > 0) & (x > 0)
    usable &= x >= x.max(initial=0.0, where=usable) / DECADE
    x, y = x[usable], y[usable]
    if len(x) < FEWEST_POINTS or x.min() == x.max():
        return None
    exponent = float(np.polyfit(np.log(x), np.log(y), 1)[0])
    return Slope(exponent, float(x.min()), float(x.max()), len(x))

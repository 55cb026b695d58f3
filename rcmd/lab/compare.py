"""``rcmd compare``: methods side by side on one problem under one budget of gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, NamedTuple

import numpy as np

from rcmd.lab.racing import CORRECTED, Entrant, Point, trace
from rcmd.methods.batches import Batches
from rcmd.model.problem import Problem
from rcmd.theory.parallel import run_each

AXES = {"gradients": "gradients", "oracle_calls": "oracle calls", "seconds": "seconds"}
"""What a method spends, and how it is called."""

REFERENCE_SHARE = 10
"""Budgets of the entrants that the run for the best known P may use."""

DECADE, FEWEST_POINTS = 10.0, 4
ABOVE_NOISE = 10.0
"""Times the uncertainty of P*, below which P − P* is not known well enough to be fitted."""


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
        pairs = [([getattr(p, axis) for p in curve], excess(curve, best)) for curve in self.curves]
        return fit_slope(pairs, noise)


def excess(curve: Sequence[Point], best: float) -> list[float]:
    """P − best along a curve."""
    return [point.value - best for point in curve]


@dataclass(frozen=True)
class Comparison:
    """The entrants, and the best P and the best D that anybody found."""

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
    """Run everybody with at most ``budget`` gradients, once for each seed where runs are random.

    The best known P is the least of all runs and of one of ``rcmd.solve`` that may use ten
    budgets. All runs have one thread.
    """
    tell("the best known P")
    reference = CORRECTED.solve(
        problem, batch, seeds[0], tol=tol, max_gradients=REFERENCE_SHARE * budget
    )
    if any(entrant.random for entrant in entrants):
        Batches(problem)  # compiled here, and not by whoever comes first
    runs = [(e, seed) for e in entrants for seed in (seeds if e.random else seeds[:1])]

    def work(entrant: Entrant, seed: int) -> list[Point]:
        limits: dict[str, Any] = {"max_gradients": budget, "max_seconds": max_seconds}
        return trace(problem, entrant, batch, seed, tol=tol, **limits)

    curves = run_each(work, runs, [f"{e.name}, seed {seed}" for e, seed in runs], tell=tell)
    ends = [curve[-1] for curve in curves]
    best = min([float(reference.primal), *(point.primal for point in ends)])
    lower = max([float(reference.dual), *(point.dual for point in ends)])
    own = [[c for (e, _), c in zip(runs, curves, strict=True) if e is mine] for mine in entrants]
    return Comparison(list(map(Standing, entrants, own)), best, lower)


def fit_slope(
    curves: Iterable[tuple[Sequence[float], Sequence[float]]], noise: float
) -> Slope | None:
    """The slope over the last decade of x of curves (x, y), all fitted by one line.

    The decade ends where the longest curve still has y > 10·noise. ``None`` where fewer than
    four points, or only one x, are left.

    >>> slope = fit_slope([([1, 2, 4, 8, 16], [1.0, 0.5, 0.25, 0.125, 0.0625])], noise=0.0)
    >>> round(slope.exponent, 6), slope.low, slope.high
    (-1.0, 2.0, 16.0)
    """
    pairs = [np.array(curve, dtype=float).reshape(2, -1) for curve in curves]
    x, y = np.concatenate(pairs, axis=1) if pairs else np.empty((2, 0))
    usable = (y > ABOVE_NOISE * noise) & (y > 0) & (x > 0)
    x, y = x[usable], y[usable]
    if len(x):
        late = x >= x.max() / DECADE
        x, y = x[late], y[late]
    if len(x) < FEWEST_POINTS or x.min() == x.max():
        return None
    exponent = float(np.polyfit(np.log(x), np.log(y), 1)[0])
    return Slope(exponent, float(x.min()), float(x.max()), len(x))

"""All entrants on one problem under one budget of gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from rcmd.comparing.curves import Point, trace
from rcmd.comparing.entrants import Entrant
from rcmd.comparing.slopes import Slope, fitted
from rcmd.methods.batches import Batches
from rcmd.problem import Problem
from rcmd.run import solve

AXES = {"gradients": "gradients", "oracle_calls": "oracle calls", "seconds": "seconds"}
"""What a method spends, and how it is called."""

REFERENCE_SHARE = 10
"""Budgets of the entrants that the run for the best known P may use."""


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
        return fitted(
            (
                ([getattr(point, axis) for point in curve], excess(curve, best))
                for curve in self.curves
            ),
            noise,
        )


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
    budgets.
    """
    tell("the best known P")
    reference = solve(
        problem, batch=batch, tol=tol, max_gradients=REFERENCE_SHARE * budget, seed=seeds[0]
    )
    if any(entrant.random for entrant in entrants):
        Batches(problem)  # compiled here, and not by whoever comes first
    standings = []
    for entrant in entrants:
        curves = []
        for seed in seeds if entrant.random else seeds[:1]:
            tell(f"{entrant.name}, seed {seed}")
            curves.append(
                trace(
                    problem,
                    entrant,
                    batch=batch,
                    seed=seed,
                    tol=tol,
                    max_gradients=budget,
                    max_seconds=max_seconds,
                )
            )
        standings.append(Standing(entrant, curves))
    tell("")
    ends = [curve[-1] for standing in standings for curve in standing.curves]
    best = min([float(reference.primal), *(point.primal for point in ends)])
    lower = max([float(reference.dual), *(point.dual for point in ends)])
    return Comparison(standings, best, lower)

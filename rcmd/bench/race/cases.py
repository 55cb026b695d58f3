"""The problems of the race."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rcmd import L1Ball, Logistic, Problem, solve
from rcmd.bench import workloads
from rcmd.bench.race.entrants import SHARE, Task

REFERENCE_GAP = 1e-11
"""Certified gap of the solution from which λ of the penalised problem is taken."""

LOOSEST_REFERENCE = 1e-8
"""The largest gap of it at which the penalised problem is still the ball's."""

REFERENCE_SECONDS = 60.0
"""What it may take at least: compilation may come with it, and it is no contender."""

ZIPF = (20_000, 50_000, 50)
"""Rows, columns and nonzeros of a row of the generated problem."""


class NoReference(RuntimeError):
    """The penalised problem that belongs to the ball was not found."""


@dataclass(frozen=True)
class Case:
    """A data set, and how rcmd's times to a gap compare with cyanure's to 1e-6, as hoped for.

    Attributes
    ----------
    data
        Name of a LIBSVM file, or ``zipf``.
    radius
        Of the l1 ball.
    to_middle, to_high
        At most so many of cyanure's times to 1e-6 may rcmd take to 1e-6, and to 1e-10.
    dense
        Whether the file's rows are stored with their zeros.
    """

    data: str
    radius: float
    to_middle: float = 1.0
    to_high: float | None = None
    dense: bool = False

    @property
    def name(self) -> str:
        """The data set and the radius, such as ``a9a:5``."""
        return f"{self.data}:{self.radius:g}"

    def load(self, folder: str | None, seed: int) -> workloads.Data:
        """The data, read or generated."""
        if self.data == "zipf":
            return workloads.zipf(*ZIPF, np.random.default_rng(seed))
        data = workloads.load(self.data, folder)
        return workloads.Data(data.X.toarray(), data.y) if self.dense else data


CASES = (
    Case("a9a", 5.0, 0.25, 0.5),
    Case("w8a", 5.0, 0.25, 0.5),
    Case("mushrooms", 5.0, 0.25, 0.5),
    Case("a9a", 50.0),
    Case("w8a", 50.0),
    Case("gisette_scale.t", 5.0, dense=True),
    Case("zipf", 5.0),
)


def chosen(names: Sequence[str]) -> tuple[Case, ...]:
    """The cases of these names, such as ``a9a`` for both radii or ``a9a:5``.

    Examples
    --------
    >>> [case.name for case in chosen(["a9a", "zipf:5"])]
    ['a9a:5', 'a9a:50', 'zipf:5']
    """
    for name in names:
        if not any(name in (case.data, case.name) for case in CASES):
            raise ValueError(
                f"problem is {name!r}; expected some of {', '.join(c.name for c in CASES)}, "
                "with or without the radius"
            )
    return tuple(case for case in CASES if {case.data, case.name} & set(names))


def make_task(data: workloads.Data, radius: float, seed: int, budget: float) -> tuple[Task, float]:
    """The task, and the certified gap of the solution whose multiplier ‖Xᵀw/n‖_∞ is its λ."""
    problem = Problem(data.X, data.y, Logistic(), L1Ball(radius))
    seconds = max(REFERENCE_SECONDS, 5 * budget)
    result = solve(problem, batch=SHARE, tol=REFERENCE_GAP, seed=seed, max_seconds=seconds)
    if result.gap > LOOSEST_REFERENCE:
        raise NoReference(
            f"λ is known from a solution with a gap of {result.gap:.1g} only, after {seconds:g} s; "
            f"expected at most {LOOSEST_REFERENCE:g}"
        )
    strength = float(abs(problem.gradient(result.w)).max())
    return Task(data.X, data.y, radius, strength, seed, budget), float(result.gap)

"""Oracles that solve linear programmes: a warm call beside a cold one.

A plain run tells which costs it asks for. Warm, ``argmin`` goes along them in their order, each
call from the vertex of the last one; cold, the oracle is restarted before each call.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rcmd import LeastSquares, LinearMinOracle, Polytope, Problem, cur, solve
from rcmd.bench.clock import Contender, race
from rcmd.bench.contenders import shown_ratio, shown_time, times, verdicts
from rcmd.bench.peers import imported
from rcmd.bench.report import Section, Target
from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import Array
from rcmd.oracles.decorated import Decorated
from rcmd.oracles.kept_model import OnProgramme

REPEATS, SECONDS = 2, 0.04
"""Turns of each contender, and how long one lasts at least, about; a walk is never cut short."""

LEFT_OUT = 5
"""Calls at the beginning of a run, the first of them cold."""

COLD_CALLS = 5
"""At most so many of a run's costs are asked for cold."""

RATIO, TARGET = "warm/cold", Target(0.1)


@dataclass(frozen=True)
class Case:
    """A problem over linear programmes, the run whose costs are asked for, and what is hoped."""

    problem: Problem
    batch: int
    steps: int
    targets: dict[str, Target]


@dataclass(frozen=True, eq=False)
class Recording(Decorated):
    """``oracle``, with the ``costs`` that ``argmin`` was asked for.

    Examples
    --------
    >>> from rcmd import Box
    >>> recording = Recording(Box(0.0, 1.0))
    >>> for c in ([1.0], [-2.0]):
    ...     print(recording.argmin(np.array(c)).vector, recording.costs)
    [0.] [array([1.])]
    [1.] [array([1.]), array([-2.])]
    """

    oracle: LinearMinOracle
    costs: list[Array] = field(default_factory=list)

    def argmin(self, c: Array) -> Atom:
        self.costs.append(c.copy())
        return super().argmin(c)


def cases(rng: np.random.Generator) -> dict[str, Case]:
    """CUR with radii at which M is fitted worse and better, and a wide and a long polytope."""
    hoped = {RATIO: TARGET}
    M = rng.standard_normal((30, 4)) @ rng.standard_normal((4, 20))
    M += 0.1 * rng.standard_normal(M.shape)
    return {
        "CUR 30 × 20, radius 0.05": Case(cur.problem(M, 0.05), M.size, 300, hoped),
        "CUR 30 × 20, radius 0.1": Case(cur.problem(M, 0.1), M.size, 300, hoped),
        "CUR 30 × 20, radius 0.3": Case(cur.problem(M, 0.3), M.size, 25, {}),
        "Polytope 300 × 50": Case(_on_polytope(300, 50, 5.0, rng), 20, 150, hoped),
        "Polytope 60 × 100": Case(_on_polytope(60, 100, 1.0, rng), 20, 150, hoped),
    }


def bench_programmes(rng: np.random.Generator) -> Section:
    """Time warm and cold calls; ``NotInstalled`` where HiGHS is not there."""
    imported("highspy", "HiGHS")
    section = Section(
        "programmes",
        "Linear programmes: warm calls beside cold ones",
        ("programme", "calls", "warm", "pivots", "cold", "pivots", RATIO, ""),
    )
    section.notes = [
        f"best of {REPEATS} walks along the costs that a plain run asks for after its first "
        f"{LEFT_OUT}, of which at most {COLD_CALLS}, evenly spread, are asked for cold; pivots are "
        "the median of the simplex iterations of a call",
        "cold calls are those of HiGHS, warm ones pivots on dense arrays from the last vertex; "
        "that pays as far as the best vertex stays near: with radius 0.3 the solution of CUR lies "
        "inside the set, where only noise is left of the costs",
    ]
    for name, case in cases(rng).items():
        cells, row = _compared(name, case)
        section.add(cells, **row)
    return section


def recorded(case: Case) -> list[Array]:
    """The costs that a plain run asks for, without the first ones."""
    recording = Recording(case.problem.oracle)
    solve(
        case.problem.with_oracle(recording),
        batch=case.batch,
        tol=0.0,
        max_iterations=case.steps,
        corrective=False,
    )
    return recording.costs[LEFT_OUT:]


def asked(
    oracle: OnProgramme[Any], costs: Sequence[Array], *, cold: bool
) -> Iterator[OnProgramme[Any]]:
    """The oracle after each call in turn."""
    for c in costs:
        if cold:
            oracle.restart()
        oracle.argmin(c)
        yield oracle


def _compared(name: str, case: Case) -> tuple[list[str], dict[str, Any]]:
    """The cells and the data of one line."""
    oracle = case.problem.oracle
    assert isinstance(oracle, OnProgramme)
    warm = recorded(case)
    costs = {"warm": warm, "cold": warm[:: -(-len(warm) // COLD_CALLS)]}
    pivots = {
        who: statistics.median(o.pivots for o in asked(oracle, own, cold=who == "cold"))
        for who, own in costs.items()
    }
    contenders = [
        Contender(who, _walking(oracle, own, cold=who == "cold")) for who, own in costs.items()
    ]
    timings = race(contenders, repeats=REPEATS, seconds=SECONDS)
    ratios = {RATIO: timings["warm"].best / timings["cold"].best}
    cells = [name, str(len(warm))]
    for who, median in pivots.items():
        cells += [shown_time(timings, who), f"{median:g}"]
    return [*cells, *shown_ratio(ratios, RATIO, case.targets)], {
        "programme": name,
        "calls": {who: len(own) for who, own in costs.items()},
        "pivots": pivots,
        "times": times(timings),
        "ratios": ratios,
        "targets": verdicts(case.targets, ratios),
    }


def _walking(
    oracle: OnProgramme[Any], costs: Sequence[Array], *, cold: bool
) -> Callable[[int], int]:
    """Whole walks, since calls late in a run are cheaper than early ones."""

    def work(walks: int) -> int:
        return sum(1 for _ in range(walks) for _ in asked(oracle, costs, cold=cold))

    return work


def _on_polytope(m: int, p: int, end: float, rng: np.random.Generator) -> Problem:
    """Least squares over m inequalities in p variables and the box [−end, end]."""
    A, b = rng.standard_normal((m, p)), 1 + abs(rng.standard_normal(m))
    X = rng.standard_normal((100, p))
    y = 3 * X @ rng.standard_normal(p) + rng.standard_normal(100)
    return Problem(X, y, LeastSquares(), Polytope(A, b, lower=-end, upper=end))

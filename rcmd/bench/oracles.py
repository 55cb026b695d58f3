"""``rcmd bench oracles``: closed-form oracles beside one pass of NumPy over c.

For each oracle the pass is one that its formula cannot avoid, timed by turns with ``argmin`` and
``minimum`` (see ``clock``). Those that solve linear programmes are in ``programmes``.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import oracles
from rcmd.bench.clock import Contender, race
from rcmd.bench.contenders import shown_ratio, shown_time, times, verdicts
from rcmd.bench.one_thread import one_thread
from rcmd.bench.peers import NotInstalled
from rcmd.bench.programmes import bench_programmes
from rcmd.bench.report import Report, Section, Target, about
from rcmd.json_output import check_json

Array = npt.NDArray[Any]

REPEATS, SECONDS = 25, 0.04
"""Turns of each contender, and about how long one may last."""

LEAST_P = 100
TARGET = Target(3)


@dataclass(frozen=True)
class Case:
    """An oracle, and the pass over c that its formula cannot avoid, in words and as a function."""

    oracle: oracles.LinearMinOracle
    words: str
    numpy_pass: Callable[[Array], Any]


def cases(p: int, rng: np.random.Generator) -> dict[str, Case]:
    """All closed-form oracles of p variables, with penalties at which atoms are not 0."""
    largest = ("abs(c).argmax()", lambda c: abs(c).argmax())
    scaled = ("-2.0 * c, c @ c", lambda c: (-2.0 * c, c @ c))
    k = p // 20
    top = (f"np.argpartition(c, {k})", lambda c: np.argpartition(c, k))
    even, uneven = np.arange(p) // 10, np.sort(rng.integers(0, p // 10, p))
    starts = np.flatnonzero(np.diff(uneven, prepend=-1))
    scattered = rng.permutation(even)
    return {
        "L1Ball": Case(oracles.L1Ball(5.0), *largest),
        "L1Penalty": Case(oracles.L1Penalty(0.5, 5.0), *largest),
        "Simplex": Case(oracles.Simplex(5.0), *largest),
        "LInfBall": Case(oracles.LInfBall(5.0), *largest),
        "Box": Case(oracles.Box(-1.0, 2.0), *largest),
        "Box, vectors": Case(oracles.Box(np.full(p, -1.0), np.full(p, 2.0)), *largest),
        "L2Ball": Case(oracles.L2Ball(5.0), *scaled),
        "Ridge, free": Case(oracles.Ridge(0.5, 1e6), *scaled),
        "Ridge, ball": Case(oracles.Ridge(0.5, 5.0), *scaled),
        "ElasticNet, free": Case(oracles.ElasticNet(0.5, 0.5, 1e6), *scaled),
        "ElasticNet, ball": Case(oracles.ElasticNet(0.5, 0.5, 5.0), *scaled),
        "Ellipsoid, diagonal": Case(oracles.Ellipsoid(rng.uniform(1, 2, p), 5.0), *scaled),
        "GroupL2Ball, even": Case(oracles.GroupL2Ball(even, 5.0), *scaled),
        "GroupLasso, even": Case(oracles.GroupLasso(even, 0.5, 5.0), *scaled),
        "GroupL2Ball, uneven": Case(
            oracles.GroupL2Ball(uneven, 5.0),
            "np.add.reduceat(c, at)",
            lambda c: np.add.reduceat(c, starts),
        ),
        "GroupL2Ball, scattered": Case(
            oracles.GroupL2Ball(scattered, 5.0),
            "np.bincount(groups, c)",
            lambda c: np.bincount(scattered, c),
        ),
        "CappedSimplex": Case(oracles.CappedSimplex(k + 0.5, 1.0), *top),
        "KSparseBall": Case(oracles.KSparseBall(k, 5.0), *top),
        "KSupportBall": Case(oracles.KSupportBall(k, 5.0), *top),
        "OWLBall": Case(oracles.OWLBall(np.linspace(2, 1, p), 5.0), "np.sort(c)", np.sort),
        "LpBall": Case(
            oracles.LpBall(5.0, 1.7), "np.power(abs(c), 1.7)", lambda c: np.power(abs(c), 1.7)
        ),
        "EntropySimplex": Case(oracles.EntropySimplex(0.5), "np.exp(c)", np.exp),
    }


def bench_oracles(p: int = 10**5, calls: int = 10**4, seed: int = 0) -> Report:
    """Time every closed form at p variables, by at most ``calls`` calls each; then programmes."""
    if p < LEAST_P:
        raise ValueError(f"p is {p}; expected at least {LEAST_P} variables")
    if calls < REPEATS:
        raise ValueError(f"calls is {calls}; expected at least {REPEATS}, one for each turn")
    rng = np.random.default_rng(seed)
    c = rng.standard_normal(p)
    section = Section(
        "oracles",
        f"Time of argmin and minimum over a pass of NumPy: p = {p:,}",
        ("oracle", "pass", "time", "argmin", "", "minimum", ""),
    )
    section.notes = [
        f"best of {REPEATS} turns, {calls // REPEATS} calls or about {1e3 * SECONDS:g} ms each"
    ]
    section.notes.append(
        "on one thread"
        if importlib.util.find_spec("threadpoolctl")
        else "with all threads, which makes a dot product slow where one of them has just written "
        "the vector: install threadpoolctl, or set OMP_NUM_THREADS=1, to compare on one"
    )
    with one_thread():
        for name, case in cases(p, rng).items():
            cells, row = _compared(name, case, c, calls)
            section.add(cells, **row)
        sections = [section]
        try:
            sections.append(bench_programmes(np.random.default_rng(seed)))
        except NotInstalled as reason:
            section.notes.append(f"no table of linear programmes: {reason}")
    return Report(sections, about(seed, None, p=p, calls=calls))


def run_oracles(p: int, calls: int, json_path: str | None) -> int:
    """The command: print the tables and write the JSON file; returns the exit status."""
    check_json(json_path)
    bench_oracles(p, calls).tell(json_path)
    return 0


def _compared(name: str, case: Case, c: Array, calls: int) -> tuple[list[str], dict[str, Any]]:
    """The cells and the data of one line."""
    functions = {
        "pass": case.numpy_pass,
        "argmin": case.oracle.argmin,
        "minimum": case.oracle.minimum,
    }
    contenders = [
        Contender(who, _calling(function, c), calls // REPEATS)
        for who, function in functions.items()
    ]
    timings = race(contenders, repeats=REPEATS, seconds=SECONDS)
    ratios = {who: timings[who].best / timings["pass"].best for who in ("argmin", "minimum")}
    targets = dict.fromkeys(ratios, TARGET)
    cells = [name, case.words, shown_time(timings, "pass")]
    for who in ratios:
        cells += shown_ratio(ratios, who, targets)
    return cells, {
        "oracle": name,
        "pass": case.words,
        "times": times(timings),
        "ratios": ratios,
        "targets": verdicts(targets, ratios),
    }


def _calling(function: Callable[[Array], Any], c: Array) -> Callable[[int], int]:
    def work(count: int) -> int:
        for _ in range(count):
            function(c)
        return count

    return work

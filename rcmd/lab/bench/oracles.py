"""``rcmd bench oracles``: closed-form oracles beside one pass of NumPy over c.

For each oracle the pass is one that its formula cannot avoid, timed by turns with ``argmin``
and ``minimum`` (see ``timing``).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rcmd import oracles
from rcmd.lab.bench.timing import add_timed, calling, cells, race, threads
from rcmd.reporting.progress import one_thread
from rcmd.reporting.tables import Report, Section, Target, about
from rcmd.rows.validation import Array

REPEATS, SECONDS = 25, 0.04
"""Turns of each contender, and about how long one may last."""

LEAST_P = 100


class Case(NamedTuple):
    """An oracle, and the pass over c that its formula cannot avoid: code, and arrays it names."""

    oracle: oracles.LinearMinOracle
    words: str
    names: Mapping[str, Array] = MappingProxyType({})

    def numpy_pass(self) -> Any:
        """The code as a function of c: what is timed is what is printed."""
        return eval(f"lambda c: ({self.words})", {"np": np, **self.names})


def cases(p: int, rng: np.random.Generator) -> dict[str, Case]:
    """All closed-form oracles of p variables, with penalties at which atoms are not 0."""
    even, uneven = np.arange(p) // 10, np.sort(rng.integers(0, p // 10, p))
    scattered, k, radius, strength = rng.permutation(even), p // 20, 5.0, 0.5
    lower, upper = np.full(p, -1.0), np.full(p, 2.0)
    largest, square, ranked = "abs(c).argmax()", "-2.0 * c, c @ c", f"np.argpartition(c, {k})"
    starts = {"at": np.flatnonzero(np.diff(uneven, prepend=-1))}
    return {
        "L1Ball": Case(oracles.L1Ball(radius), largest),
        "L2Ball": Case(oracles.L2Ball(radius), square),
        "LInfBall": Case(oracles.LInfBall(radius), largest),
        "LpBall": Case(oracles.LpBall(radius, 1.7), "np.power(abs(c), 1.7)"),
        "Box": Case(oracles.Box(-1.0, 2.0), largest),
        "Box, vectors": Case(oracles.Box(lower, upper), largest),
        "Simplex": Case(oracles.Simplex(radius), largest),
        "CappedSimplex": Case(oracles.CappedSimplex(k + 0.5, 1.0), ranked),
        "KSparseBall": Case(oracles.KSparseBall(k, radius), ranked),
        "KSupportBall": Case(oracles.KSupportBall(k, radius), ranked),
        "GroupL2Ball, even": Case(oracles.GroupL2Ball(even, radius), square),
        "GroupL2Ball, uneven": Case(
            oracles.GroupL2Ball(uneven, radius), "np.add.reduceat(c, at)", starts
        ),
        "GroupL2Ball, scattered": Case(
            oracles.GroupL2Ball(scattered, radius), "np.bincount(groups, c)", {"groups": scattered}
        ),
        "OWLBall": Case(oracles.OWLBall(np.linspace(2, 1, p), radius), "np.sort(c)"),
        "Ellipsoid, diagonal": Case(oracles.Ellipsoid(rng.uniform(1, 2, p), radius), square),
        "Ridge, free": Case(oracles.Ridge(strength, 1e6), square),
        "Ridge, ball": Case(oracles.Ridge(strength, radius), square),
        "L1Penalty": Case(oracles.L1Penalty(strength, radius), largest),
        "ElasticNet, free": Case(oracles.ElasticNet(strength, strength, 1e6), square),
        "ElasticNet, ball": Case(oracles.ElasticNet(strength, strength, radius), square),
        "GroupLasso, even": Case(oracles.GroupLasso(even, strength, radius), square),
        "EntropySimplex": Case(oracles.EntropySimplex(strength, radius), "np.exp(c)"),
    }


def bench_oracles(p: int = 10**5, calls: int = 10**4, seed: int = 0) -> Report:
    """Time every closed form at p variables, by at most ``calls`` calls each."""
    if p < LEAST_P:
        raise ValueError(f"p is {p}; expected at least {LEAST_P} variables")
    if calls < REPEATS:
        raise ValueError(f"calls is {calls}; expected at least {REPEATS}, one for each turn")
    rng = np.random.default_rng(seed)
    c = rng.standard_normal(p)
    title = f"Time of argmin and minimum over a pass of NumPy: p = {p:,}"
    section = Section("oracles", title, cells("oracle | pass | time | argmin |  | minimum | "))
    section.notes = [
        f"best of {REPEATS} turns, {calls // REPEATS} calls or about {1e3 * SECONDS:g} ms each",
        threads(),
    ]
    columns = cells("pass | argmin/pass |  | minimum/pass | ")
    targets = {"argmin/pass": Target(3), "minimum/pass": Target(3)}
    with one_thread():
        for name, case in cases(p, rng).items():
            oracle = case.oracle
            work = {"pass": case.numpy_pass(), "argmin": oracle.argmin, "minimum": oracle.minimum}
            contenders = [calling(who, work[who], c, limit=calls // REPEATS) for who in work]
            times = race(contenders, repeats=REPEATS, seconds=SECONDS)
            row = {"oracle": name, "pass": case.words}
            add_timed(section, [name, case.words], columns, row, times, targets)
    return Report([section], about(seed, None, p=p, calls=calls))


def run(p: int, calls: int, json: str | None) -> int:
    """The command: print the table and write the JSON file; returns the exit status."""
    bench_oracles(p, calls).tell(json)
    return 0

"""``rcmd bench oracles``: closed-form oracles beside one pass of NumPy over c.

For each oracle the pass is one that its formula cannot avoid, which its class names, timed by turns
with ``argmin`` and ``minimum`` (see ``timing``).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from rcmd import LinearMinOracle
from rcmd.lab.bench.timing import add_timed, calling, cells, race, threads
from rcmd.model.specs import ORACLES
from rcmd.reporting.progress import one_thread
from rcmd.reporting.tables import Report, Section, Target, about
from rcmd.rows.validation import Array

REPEATS, SECONDS = 25, 0.04
"""Turns of each contender, and about how long one may last."""

LEAST_P = 100


class Case(NamedTuple):
    """An oracle, and the pass over c that its formula cannot avoid: code, and arrays it names."""

    oracle: LinearMinOracle
    words: str
    names: Mapping[str, Array] = MappingProxyType({})

    def numpy_pass(self) -> Any:
        """The code as a function of c: what is timed is what is printed."""
        return eval(f"lambda c: ({self.words})", {"np": np, **self.names})


def cases(p: int, rng: np.random.Generator) -> dict[str, Case]:
    """All closed-form oracles of p variables, with penalties at which atoms are not 0."""
    even, uneven = np.arange(p) // 10, np.sort(rng.integers(0, p // 10, p))
    scattered = rng.permutation(even)
    fields = {
        "radius": 5.0,
        "order": 1.7,
        "lower": -1.0,
        "upper": 2.0,
        "k": p // 20,
        "total": p // 20 + 0.5,
        "cap": 1.0,
        "groups": even,
        "weights": np.linspace(2, 1, p),
        "matrix": rng.uniform(1, 2, p),
    }
    vectors = {"lower": np.full(p, -1.0), "upper": np.full(p, 2.0)}
    variants: dict[str, dict[str, dict[str, Any]]] = {
        "Box": {"": {}, ", vectors": vectors},
        "Ellipsoid": {", diagonal": {}},
        "Ridge": {", free": {"radius": 1e6}, ", ball": {}},
        "ElasticNet": {", free": {"radius": 1e6}, ", ball": {}},
        "GroupLasso": {", even": {}},
        "GroupL2Ball": {
            ", even": {},
            ", uneven": {"groups": uneven},
            ", scattered": {"groups": scattered},
        },
    }
    starts = np.flatnonzero(np.diff(uneven, prepend=-1))
    passes: dict[str, tuple[str, Mapping[str, Array]]] = {
        "GroupL2Ball, uneven": ("np.add.reduceat(c, at)", {"at": starts}),
        "GroupL2Ball, scattered": ("np.bincount(groups, c)", {"groups": scattered}),
    }
    found = {}
    for spec in ORACLES.values():
        makes = spec.makes
        for variant, own in variants.get(makes.__name__, {"": {}}).items():
            if makes.numpy_pass:
                chosen = {name: {**fields, **own}.get(name, 0.5) for name in spec.parameters}
                name = makes.__name__ + variant
                usual = makes.numpy_pass.format(k=fields["k"])
                found[name] = Case(makes(**chosen), *passes.get(name, (usual, {})))
    return found


def run(p: int, calls: int) -> Report:
    """Time every closed form at p variables, by at most ``calls`` calls each."""
    if p < LEAST_P:
        raise ValueError(f"p is {p}; expected at least {LEAST_P} variables")
    if calls < REPEATS:
        raise ValueError(f"calls is {calls}; expected at least {REPEATS}, one for each turn")
    rng = np.random.default_rng(0)
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
    return Report([section], about(0, None, p=p, calls=calls))

"""``rcmd bench steps``: Theorem I's exact coordinate step beside the paper's η = 1/σ.

Logistic loss, and counts, of which γ_j is found on the range of predictions; strongly convex R,
batch 1. After equal passes, the mean over seeds of the gap of the
theorem's own pair and the theorem's bound of it; and the time to a certified gap, which is what
decides on a default: exact steps find a root each.
"""

import math
from functools import partial
from typing import Any

import numpy as np

from rcmd import Logistic, Poisson, Problem, solve
from rcmd.lab.bench import workloads
from rcmd.lab.bench.timing import Absent, cells, clocked
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Report, Section, about
from rcmd.rows.validation import FileError
from rcmd.theory.replicates import replicate

DATA = "mushrooms", "a9a", "w8a"
REGULARIZERS = "ridge:1e-2", "ridge:1e-3", "ridge:1e-4", "elastic-net:1e-3:1e-3"
COUNTS, OF_COUNTS = (2000, 20), ("ridge:1", "ridge:1e-1", "ridge:1e-2")
METHODS = {"1/σ": "rcmd", "exact": "rcmd:exact"}
TOLERANCES = 1e-3, 1e-6
LONGEST = 200
"""Passes after which a run to a tolerance is given up."""


def run(data: str | None, quick: bool, seeds: int, passes: int) -> Report:
    """Both steps on every data set with every R."""
    seeds = 3 if quick else seeds
    title = f"Exact steps beside 1/σ after {passes} passes: batch 1, {seeds} seeds"
    words = "data | R | gap 1/σ | bound | gap exact | bound | ratio | to 1e-3 | to 1e-6"
    section = Section("steps", title, cells(words))
    section.notes = [
        "gap: the mean over seeds of P − D at the pair of the theorem; the bound is of its mean",
        "! beside a bound: the mean gap is not below it at 95 %",
        "ratio: exact over 1/σ, of the gaps; to 1e-3, 1e-6: of the times to a certified gap",
        f"–: one of the two did not get there within {LONGEST} passes",
        f"counts: Poisson, {COUNTS[0]} rows and {COUNTS[1]} columns that are drawn; else logistic",
    ]
    for name in DATA:
        try:
            found = workloads.load(name, data)
        except (Absent, FileError) as reason:
            section.notes.append(f"{name} is left out: {reason}")
            continue
        for spec in REGULARIZERS:
            problem = Problem(found.X, found.y, Logistic(), spec)
            _compare(section, name, spec, problem, seeds, passes)
    rng = np.random.default_rng(0)
    X = 0.3 * rng.standard_normal(COUNTS)
    y = rng.poisson(np.exp(X @ rng.standard_normal(COUNTS[1]) / 2))
    for spec in OF_COUNTS:
        _compare(section, "counts", spec, Problem(X, y, Poisson(), spec), seeds, passes)
    tell("")
    return Report([section], about(0, None, seeds=seeds, passes=passes))


def _compare(
    section: Section, name: str, spec: str, problem: Problem, seeds: int, passes: int
) -> None:
    """A line of the table."""
    steps, shown = passes * problem.n, list[str]()
    row: dict[str, Any] = {"data": name, "R": spec, "passes": passes}
    gaps, times = dict[str, float](), dict[tuple[str, float], float]()
    for step, method in METHODS.items():
        tell(f"{name}, {spec}, {step}")
        options: dict[str, Any] = {"method": method, "batch": 1}
        fixed = options | {"tol": 0.0, "max_iterations": steps, "record_at": [steps]}
        found = replicate(problem, range(seeds), **fixed).against_bound()
        gaps[step], bound = float(found.mean[-1]), float(found.bound[-1])
        shown += [f"{gaps[step]:.1e}", f"{bound:.1e}{'' if found.holds else ' !'}"]
        row[step] = {"mean_gap": gaps[step], "bound": bound, "holds": found.holds}
        for tol in TOLERANCES:
            reaching = options | {"tol": tol, "max_gradients": LONGEST * problem.n}
            runs = [clocked(partial(solve, problem, **reaching)) for _ in range(3)]
            reached = all(result.success for result, _ in runs)
            times[step, tol] = min(seconds for _, seconds in runs) if reached else math.nan
    ratios = [times["exact", tol] / times["1/σ", tol] for tol in TOLERANCES]
    row |= {"seconds": {f"{step} to {tol:.0e}": t for (step, tol), t in times.items()}}
    written = ["–" if math.isnan(ratio) else f"{ratio:.2f}" for ratio in ratios]
    section.add([name, spec, *shown, f"{gaps['exact'] / gaps['1/σ']:.2g}", *written], **row)

"""``rcmd bench engine``: the compiled engine in numbers.

Times are the best of several repeats. What is compared is timed by turns in one run (see
``timing``), and ``advance`` is timed as a whole: drawing batches, tabulating the schedule,
refreshing sums.
"""

from dataclasses import asdict
from itertools import product

import numpy as np

from rcmd import L1Ball
from rcmd.lab.bench import workloads
from rcmd.lab.bench.contenders import (
    NONZEROS,
    RADIUS,
    REGULARIZERS,
    Settings,
    absent_contenders,
    compiler_version,
    other_contenders,
    stepping,
)
from rcmd.lab.bench.timing import add_timed, calling, cells
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Report, Section, Target, about
from rcmd.rows.validation import FileError

NAMED = ("a9a", "w8a", "mushrooms")
"""The data sets of the first table."""


def run(data: str | None, quick: bool, seed: int) -> Report:
    """Measure all that ``rcmd bench engine`` shows."""
    settings = Settings(data=data, seed=seed)
    return bench_engine(settings.quick() if quick else settings)


def gradients(settings: Settings) -> Section:
    """Time per stochastic gradient on real data, against plain C and COPT."""
    title = f"Time per stochastic gradient: logistic loss, l1 ball {RADIUS:g}"
    header = cells("data | batch | rcmd | plain C | COPT LF | rcmd/C |  | COPT/rcmd | ")
    columns = cells("rcmd | C | COPT | rcmd/C |  | COPT/rcmd | ")
    section = Section("gradients", title, header)
    section.notes = absent_contenders() or [
        "COPT draws its batches on all cores: compare on an idle machine"
    ]
    for name in NAMED:
        tell(f"reading {name}")
        try:
            data = workloads.load(name, settings.data)
        except FileError as reason:
            section.notes.append(f"{name} is left out: {reason}")
            continue
        n, p = data.X.shape
        for batch in _batches(n):
            tell(f"{name}, batch {batch}")
            mine = stepping("rcmd", settings.engine(data, L1Ball(RADIUS), batch), batch)
            times = settings.timed([mine, *other_contenders(data, batch)])
            targets = {"COPT/rcmd": Target(12 if batch > 1 else 200, at_least=True)}
            if batch > 1:
                targets["rcmd/C"] = Target(1.3)
            row = {"data": name, "n": n, "p": p, "batch": batch}
            add_timed(section, [name, str(batch)], columns, row, times, targets)
    return section


def growth(settings: Settings) -> Section:
    """Time per step as p and n grow."""
    title = f"Time per step at batch 1: Zipf-sparse rows with {NONZEROS} nonzeros"
    header = cells("R | n | p | rcmd | to first |  | plain C | COPT LF | rcmd/C | COPT/rcmd")
    columns = cells("rcmd | rcmd/first |  | C | COPT | rcmd/C | COPT/rcmd")
    section = Section("growth", title, header, notes=absent_contenders())
    section.notes.append("plain C and COPT walk over all p coordinates in every step")
    first_n, first_p = settings.zipf_n[0], settings.zipf_p[0]
    sizes = [(first_n, p) for p in settings.zipf_p] + [(n, first_p) for n in settings.zipf_n[1:]]
    rng = np.random.default_rng(settings.seed)
    # All are kept and timed by turns, for their ratios are what counts.
    mine, others = [], {}
    for n, p in sizes:
        tell(f"making n = {n}, p = {p}")
        data = workloads.zipf(n, p, NONZEROS, rng)
        for label, oracle in REGULARIZERS.items():
            mine.append(stepping(f"{label} {n}×{p}", settings.engine(data, oracle, 1), 1))
        if n == first_n:
            tell(f"others at p = {p}")
            walking = other_contenders(data, 1, part=True)
            others["l1 ball", n, p] = settings.timed(walking, min(3, settings.repeats))
    tell("all sizes by turns")
    times = settings.timed(mine)
    targets = {("l1 ball", first_n, 10**6): Target(4), ("l1 ball", 10**6, first_p): Target(2)}
    for label, (n, p) in product(REGULARIZERS, sizes):
        own = {"rcmd": times[f"{label} {n}×{p}"], "first": times[f"{label} {first_n}×{first_p}"]}
        own |= others.get((label, n, p), {})
        target = {"rcmd/first": targets[label, n, p]} if (label, n, p) in targets else {}
        row = {"regularizer": label, "n": n, "p": p, "batch": 1}
        add_timed(section, [label, f"{n:,}", f"{p:,}"], columns, row, own, target)
    return section


def dense(settings: Settings) -> Section:
    """Dense rows in both precisions, beside NumPy reading the same rows once."""
    n, p = settings.dense
    title = f"Time per stochastic gradient: dense rows, n = {n:,}, p = {p:,}"
    words = "R | batch | float64 | float32 | float32/float64 | row of X.sum() | float64/X.sum()"
    columns = cells("float64 | float32 | float32/float64 | X.sum() | float64/X.sum()")
    notes = ["X.sum() in float64 is NumPy reading all rows once, on one core"]
    section = Section("dense", title, cells(words), notes=notes)
    rng = np.random.default_rng(settings.seed)
    # Rows like gisette's, scaled to [−1, 1].
    data = workloads.Data(rng.uniform(-1.0, 1.0, (n, p)), np.where(rng.random(n) < 0.5, 1.0, -1.0))
    narrow = workloads.Data(data.X.astype(np.float32), data.y)
    for label, oracle in REGULARIZERS.items():
        for batch in _batches(n):
            tell(f"{label}, batch {batch}")
            contenders = [
                stepping("float64", settings.engine(data, oracle, batch), batch),
                stepping("float32", settings.engine(narrow, oracle, batch), batch),
                calling("X.sum()", data.X.sum, gradients=n),
            ]
            row = {"regularizer": label, "n": n, "p": p, "batch": batch}
            add_timed(section, [label, str(batch)], columns, row, settings.timed(contenders))
    return section


def _batches(n: int) -> list[int]:
    """One row in a hundred, and one row."""
    return list(dict.fromkeys((max(1, round(0.01 * n)), 1)))


SECTIONS = (gradients, growth, dense)


def bench_engine(settings: Settings) -> Report:
    """Measure all sections."""
    done = [section(settings) for section in SECTIONS]
    tell("")
    settings_used = asdict(settings)
    return Report(done, about(settings_used.pop("seed"), compiler_version(), **settings_used))

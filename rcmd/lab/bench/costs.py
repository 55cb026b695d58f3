"""What a run costs besides time per step: its start, memory and rounding drift."""

import os
import sys
import tempfile
import tracemalloc

import numpy as np

from rcmd import Logistic, Problem
from rcmd.engine.base import next_refresh
from rcmd.engine.compiled import CompiledEngine
from rcmd.lab.bench import workloads
from rcmd.lab.bench.contenders import NONZEROS, REGULARIZERS, Settings
from rcmd.lab.bench.timing import cells, run_module, verdicts
from rcmd.lab.racing import CORRECTED
from rcmd.reporting.progress import tell_on_terminal as tell
from rcmd.reporting.tables import Section, Target

START = "rcmd.lab.bench.start"


def start(settings: Settings) -> Section:
    """From the solve call to the first step, in new processes.

    The first of each problem finds an empty cache of machine code; all find Python's own cache
    of bytecode.
    """
    title = "Seconds from the solve call to the first step, import of numba included"
    section = Section("start", title, cells("problem | empty cache |  | later process | "))
    targets = {"cold": Target(10), "later": Target(0.5)}
    for problem in settings.start_problems:
        tell(problem)
        with tempfile.TemporaryDirectory(prefix="rcmd-bench-") as cache:
            environment = os.environ | {"NUMBA_CACHE_DIR": cache}
            first, *others = [
                run_module(START, problem, what="measuring the start", environment=environment)
                for _ in range(1 + settings.starts)
            ]
        times = {"cold": first, "later": min(others)}
        cold, later = (targets[name].shown(time) for name, time in times.items())
        line = cells(f"{problem} | {first:.2f} | {cold} | {min(others):.3f} | {later}")
        met = verdicts(targets, times)
        section.add(line, problem=problem, **times, later_samples=others, targets=met)
    return section


def memory(settings: Settings) -> Section:
    """Peak memory beyond the data."""
    n, p = settings.memory
    title = f"Peak memory beyond the data, in vectors of n + p doubles: n = {n:,}, p = {p:,}"
    section = Section("memory", title, cells("what | vectors | "))
    data = workloads.zipf(n, p, NONZEROS, np.random.default_rng(settings.seed))
    target = Target(12)

    def engine(regularizer: str, batch: int) -> None:
        engine = settings.engine(data, REGULARIZERS[regularizer], batch)
        engine.advance(20_000 // batch)
        engine.averages()

    def solve(regularizer: str, batch: int) -> None:
        certificates = iter((None, True))
        problem = Problem(data.X, data.y, Logistic(), REGULARIZERS[regularizer])
        CORRECTED.solve(problem, batch, settings.seed, callbacks=[lambda _: next(certificates)])

    percent = max(1, n // 100)
    for what, work, regularizer, batch in (
        ("engine", engine, "l1 ball", 1),
        ("engine", engine, "l1 ball", percent),
        ("engine", engine, "ridge", 1),
        ("solve up to two certificates", solve, "l1 ball", percent),
        ("solve up to two certificates", solve, "ridge", percent),
    ):
        label = f"{what}, {regularizer}, batch {batch}"
        tell(label)
        work(regularizer, batch)  # what is compiled and imported once does not count
        tracemalloc.start()
        work(regularizer, batch)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        vectors = peak / 8 / (n + p)
        numbers = {"n": n, "p": p, "batch": batch, "bytes": peak, "vectors": vectors}
        line = cells(f"{label} | {vectors:.1f} | {target.shown(vectors)}")
        section.add(line, what=label, **numbers, targets=verdicts({"vectors": target}, numbers))
    return section


def drift(settings: Settings) -> Section:
    """How far the running d is from Xᵀw/n, at the worst moment: just before a refresh."""
    title = "Rounding drift: max |d − Xᵀw/n| / max |Xᵀw/n| just before a refresh, batch 1"
    header = cells("data | R | coordinate updates | refreshed |  | never refreshed")
    section = Section("drift", title, header)
    name, data, section.notes = settings.real_data()
    updates = next_refresh(int(settings.drift), len(data.y), 1) - 1
    target = Target(1e-10)
    for label, oracle in REGULARIZERS.items():
        drifts = []
        for refreshed in (True, False):
            tell(f"{label}, {'with' if refreshed else 'without'} refreshes")
            engine = settings.engine(data, oracle, 1)
            if not refreshed:
                engine._refresh_at = sys.maxsize
            engine.advance(updates)
            drifts.append(drift_of(engine))
        own, without = drifts
        shown = f"{own:.1e} | {target.shown(own)} | {without:.1e}"
        row = {"data": name, "regularizer": label, "updates": updates}
        row |= {"drift": own, "drift_without_refresh": without}
        line = cells(f"{name} | {label} | {updates:,} | {shown}")
        section.add(line, **row, targets={"drift": target.as_dict(own)})
    return section


def drift_of(engine: CompiledEngine) -> float:
    """max |d − Xᵀw/n| / max |Xᵀw/n|, the true sum in extended precision."""
    matrix = engine.problem.rows.matrix  # type: ignore[attr-defined]
    w = engine.w.astype(np.longdouble)
    true = matrix.astype(np.longdouble).T @ w / engine.problem.n
    return float(abs(engine.d - true).max() / abs(true).max())

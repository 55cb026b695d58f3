"""What a run costs besides time per step: its start, memory and rounding drift."""

import os
import sys
import tempfile
import tracemalloc
from collections.abc import Callable

import numpy as np

from rcmd import L1Ball, LinearMinOracle, Logistic, Problem, Ridge
from rcmd.engine.base import next_refresh
from rcmd.engine.compiled import CompiledEngine
from rcmd.lab.bench import workloads
from rcmd.lab.bench.contenders import NONZEROS, RADIUS, STRENGTH, Settings
from rcmd.lab.bench.timing import cells, run_module, verdicts
from rcmd.lab.racing import CORRECTED
from rcmd.reporting.tables import Section, Target


def starting(settings: Settings, tell: Callable[[str], None]) -> Section:
    """From the solve call to the first step, in new processes.

    The first of each problem finds an empty cache of machine code; all find Python's own cache
    of bytecode. ``import numba`` is within, and also measured alone.
    """
    title = "Seconds from the solve call to the first step, import of numba included"
    section = Section("start", title, cells("problem | empty cache |  | later process | "))
    targets = {"cold": Target(10), "later": Target(0.5)}
    for problem in settings.start_problems:
        tell(problem)
        with tempfile.TemporaryDirectory(prefix="rcmd-bench-") as cache:
            first, *others = [_started(problem, cache) for _ in range(1 + settings.starts)]
        times = {"cold": first, "later": min(others)}
        cold, later = (targets[name].shown(time) for name, time in times.items())
        line = cells(f"{problem} | {first:.2f} | {cold} | {min(others):.3f} | {later}")
        met = verdicts(targets, times)
        section.add(line, problem=problem, **times, later_samples=others, targets=met)
    imports = [_started("numba") for _ in range(settings.starts)]
    line = cells(f"import numba alone |  |  | {min(imports):.3f} | ")
    section.add(line, problem="import numba", later=min(imports), later_samples=imports)
    return section


def _started(problem: str, cache: str | None = None) -> float:
    environment = os.environ | ({"NUMBA_CACHE_DIR": cache} if cache else {})
    words = "rcmd.lab.bench.start", problem
    return float(run_module(*words, what="measuring the start", environment=environment))


def memory(settings: Settings, tell: Callable[[str], None]) -> Section:
    """Peak memory beyond the data."""
    n, p = settings.memory
    title = f"Peak memory beyond the data, in vectors of n + p doubles: n = {n:,}, p = {p:,}"
    section = Section("memory", title, cells("what | vectors | "))
    data = workloads.zipf(n, p, NONZEROS, np.random.default_rng(settings.seed))
    target = Target(12)

    def engine(oracle: LinearMinOracle, batch: int) -> None:
        engine = settings.engine(data, oracle, batch)
        engine.advance(20_000 // batch)
        engine.averages()

    def whole(oracle: LinearMinOracle, batch: int) -> None:
        certificates = iter((None, True))
        problem = Problem(data.X, data.y, Logistic(), oracle)
        CORRECTED.solve(problem, batch, settings.seed, callbacks=[lambda _: next(certificates)])

    percent = max(1, n // 100)
    cases = {
        "engine, l1 ball, batch 1": (engine, L1Ball(RADIUS), 1),
        "engine, l1 ball, batch 1 %": (engine, L1Ball(RADIUS), percent),
        "engine, ridge, batch 1": (engine, Ridge(STRENGTH), 1),
        "solve up to two certificates, l1 ball, batch 1 %": (whole, L1Ball(RADIUS), percent),
        "solve up to two certificates, ridge, batch 1 %": (whole, Ridge(STRENGTH), percent),
    }
    for label, (work, oracle, batch) in cases.items():
        tell(label)
        work(oracle, batch)  # what is compiled and imported once does not count
        tracemalloc.start()
        try:
            work(oracle, batch)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        vectors = peak / 8 / (n + p)
        numbers = {"n": n, "p": p, "batch": batch, "bytes": peak, "vectors": vectors}
        line = cells(f"{label} | {vectors:.1f} | {target.shown(vectors)}")
        section.add(line, what=label, **numbers, targets=verdicts({"vectors": target}, numbers))
    return section


def drift(settings: Settings, tell: Callable[[str], None]) -> Section:
    """How far the running d is from Xᵀw/n, at the worst moment: just before a refresh."""
    title = "Rounding drift: max |d − Xᵀw/n| / max |Xᵀw/n| just before a refresh, batch 1"
    header = cells("data | R | coordinate updates | refreshed |  | never refreshed")
    section = Section("drift", title, header)
    name, data, section.notes = settings.real_data()
    updates = next_refresh(int(settings.drift), len(data.y), 1) - 1
    target = Target(1e-10)
    for label, oracle in (("l1 ball", L1Ball(RADIUS)), ("ridge", Ridge(STRENGTH))):
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

"""Sections about what a run costs besides time per step: its start, memory and rounding drift."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable

import numpy as np

from rcmd import L1Ball, LinearMinOracle, Logistic, Problem, Ridge, iterate
from rcmd.bench import start, workloads
from rcmd.bench.contenders import make_engine
from rcmd.bench.report import Section, Target
from rcmd.bench.settings import NONZEROS, RADIUS, STRENGTH, Settings
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.refreshing import next_refresh


def starting(settings: Settings, tell: Callable[[str], None]) -> Section:
    """From the solve call to the first step, in new processes."""
    section = Section(
        "start",
        "Seconds from the solve call to the first step, import of numba included",
        ("problem", "empty cache", "", "later process", ""),
    )
    cold_target, later_target = Target(10), Target(0.5)
    for problem in settings.start_problems:
        tell(problem)
        row = start.measure(problem, settings.starts)
        cold, later = row["cold"], row["later"]
        section.add(
            [
                problem,
                f"{cold:.2f}",
                cold_target.shown(cold),
                f"{later:.3f}",
                later_target.shown(later),
            ],
            **row,
            targets={"cold": cold_target.as_dict(cold), "later": later_target.as_dict(later)},
        )
    imports = start.measure_import(settings.starts)
    section.add(
        ["import numba alone", "", "", f"{min(imports):.3f}", ""],
        problem="import numba",
        later=min(imports),
        later_samples=imports,
    )
    return section


def memory(settings: Settings, tell: Callable[[str], None]) -> Section:
    """Peak memory beyond the data."""
    n, p = settings.memory
    section = Section(
        "memory",
        f"Peak memory beyond the data, in vectors of n + p doubles: n = {n:,}, p = {p:,}",
        ("what", "vectors", ""),
    )
    data = workloads.zipf(n, p, NONZEROS, np.random.default_rng(settings.seed))
    target = Target(12)

    def engine(oracle: LinearMinOracle, batch: int) -> None:
        engine = make_engine(data, oracle, batch, settings.seed)
        engine.advance(20_000 // batch)
        engine.averages()

    def whole(oracle: LinearMinOracle, batch: int) -> None:
        run = iterate(Problem(data.X, data.y, Logistic(), oracle), batch=batch, seed=settings.seed)
        for _ in range(2):
            next(run)
        run.result()

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
        section.add(
            [label, f"{vectors:.1f}", target.shown(vectors)],
            what=label,
            n=n,
            p=p,
            batch=batch,
            bytes=peak,
            vectors=vectors,
            targets={"vectors": target.as_dict(vectors)},
        )
    return section


def drift(settings: Settings, tell: Callable[[str], None]) -> Section:
    """How far the running d is from Xᵀw/n, at the worst moment: just before a refresh."""
    section = Section(
        "drift",
        "Rounding drift: max |d − Xᵀw/n| / max |Xᵀw/n| just before a refresh, batch 1",
        ("data", "R", "coordinate updates", "refreshed", "", "never refreshed"),
    )
    found, section.notes = workloads.available(workloads.NAMED[:1], settings.data)
    if not found:
        rng = np.random.default_rng(settings.seed)
        found = {"zipf": workloads.zipf(settings.zipf_n[0], settings.zipf_p[0], NONZEROS, rng)}
    [(name, data)] = found.items()
    target = Target(1e-10)
    for label, oracle in (("l1 ball", L1Ball(RADIUS)), ("ridge", Ridge(STRENGTH))):
        drifts = []
        for refreshed in (True, False):
            tell(f"{label}, {'with' if refreshed else 'without'} refreshes")
            engine = make_engine(data, oracle, 1, settings.seed)
            updates = next_refresh(int(settings.drift), len(data.y), 1) - 1
            if not refreshed:
                engine._refresh_at = sys.maxsize
            engine.advance(updates)
            drifts.append(drift_of(engine))
        section.add(
            [
                name,
                label,
                f"{updates:,}",
                f"{drifts[0]:.1e}",
                target.shown(drifts[0]),
                f"{drifts[1]:.1e}",
            ],
            data=name,
            regularizer=label,
            updates=updates,
            drift=drifts[0],
            drift_without_refresh=drifts[1],
            targets={"drift": target.as_dict(drifts[0])},
        )
    return section


def drift_of(engine: CompiledEngine) -> float:
    """max |d − Xᵀw/n| / max |Xᵀw/n|, the true sum in extended precision."""
    matrix = engine.problem.rows.matrix  # type: ignore[attr-defined]
    w = engine.w.astype(np.longdouble)
    true = matrix.astype(np.longdouble).T @ w / engine.problem.n
    return float(abs(engine.d - true).max() / abs(true).max())

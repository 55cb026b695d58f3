"""``rcmd bench engine``: the compiled engine in numbers.

Times are the best of several repeats. What is compared is timed by turns in one run (see
``clock``), and ``advance`` is timed as a whole: drawing batches, tabulating the schedule,
refreshing sums.
"""

from __future__ import annotations

import contextlib
import sys
import tracemalloc
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import L1Ball, LinearMinOracle, Logistic, Problem, Ridge, iterate
from rcmd.bench import peers, start, workloads, yardstick
from rcmd.bench.clock import Contender, Timing, race
from rcmd.bench.report import Report, Section, Target, about, nanoseconds
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.refreshing import next_refresh
from rcmd.engine.sampling import UniformSampler
from rcmd.prox import ConjugateProx
from rcmd.schedules import default_schedule

Array = npt.NDArray[Any]

RADIUS, STRENGTH = 5.0, 1e-3
NONZEROS = 50


@dataclass(frozen=True)
class Settings:
    """How much to measure.

    Attributes
    ----------
    data
        Folder with a9a, w8a and mushrooms.
    seed
        Of generated data and of batches.
    repeats, seconds
        Turns of each contender, and how long one lasts.
    zipf_p, zipf_n
        Sizes of the generated sparse problems; p grows at the first n, n at the first p.
    peers_up_to
        The largest p at which the others, whose steps walk over all of p, are timed.
    dense
        Rows and columns of the dense problem.
    empty
        Empty features to append.
    starts, start_problems
        Processes started, and on which of ``start.PROBLEMS``.
    memory
        Rows and columns of the problem whose memory is measured.
    drift
        Coordinate updates after which the drift of d is looked at.
    sections
        Names of the tables to make.
    """

    data: str | None = None
    seed: int = 0
    repeats: int = 25
    seconds: float = 0.05
    zipf_p: tuple[int, ...] = (10**3, 10**4, 10**5, 10**6)
    zipf_n: tuple[int, ...] = (10**4, 10**5, 10**6)
    peers_up_to: int = 10**6
    dense: tuple[int, int] = (2000, 5000)
    empty: int = 10**5
    starts: int = 7
    start_problems: tuple[str, ...] = start.PROBLEMS
    memory: tuple[int, int] = (10**5, 10**5)
    drift: float = 2e7
    sections: tuple[str, ...] = (
        "gradients",
        "growth",
        "ridge",
        "dense",
        "start",
        "memory",
        "drift",
    )

    def quick(self) -> Settings:
        """Less of everything: under a minute."""
        return replace(
            self,
            repeats=6,
            seconds=0.02,
            zipf_n=(10**4, 10**5),
            peers_up_to=10**5,
            dense=(500, 5000),
            starts=2,
            start_problems=start.PROBLEMS[:1],
            memory=(40_000, 40_000),
            drift=min(self.drift, 1e6),
        )

    @property
    def budget(self) -> float:
        """Seconds after which a slow contender sits out."""
        return 3 * self.repeats * self.seconds


def bench_engine(settings: Settings, tell: Callable[[str], None] | None = None) -> Report:
    """Measure what ``settings`` ask for; ``tell`` hears what is being measured."""
    hear = tell or (lambda text: None)
    sections = []
    for name in settings.sections:
        hear(name)
        sections.append(SECTIONS[name](settings, _prefixed(name, hear)))
    hear("")
    settings_used = asdict(settings)
    seed = settings_used.pop("seed")
    return Report(sections, about(seed, yardstick.compiler_version(), **settings_used))


def _prefixed(name: str, hear: Callable[[str], None]) -> Callable[[str], None]:
    return lambda text: hear(f"{name}: {text}")


def run_bench(
    data: str | None, json_path: str | None, quick: bool, drift: float | None, seed: int = 0
) -> int:
    """The command: print the tables and write the JSON file; returns the exit status."""
    settings = Settings(data=data, seed=seed)
    settings = settings.quick() if quick else settings
    if drift is not None:
        settings = replace(settings, drift=drift)
    report = bench_engine(settings, _tell_on_terminal)
    if json_path is not None:
        report.write(json_path)
    print(report.text())
    return 0


def _tell_on_terminal(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def make_engine(
    data: workloads.Data, oracle: LinearMinOracle, batch: int, seed: int
) -> CompiledEngine:
    """The compiled engine on the logistic loss, with the theorem's schedule."""
    problem = Problem(data.X, data.y, Logistic(), oracle)
    schedule = default_schedule(problem.constants(batch))
    sampler = UniformSampler(problem.n, batch, np.random.default_rng(seed))
    return CompiledEngine(problem, schedule, sampler, ConjugateProx())


def _stepping(name: str, engine: Any, batch: int) -> Contender:
    """A contender that takes steps."""

    def work(steps: int) -> int:
        engine.advance(steps)
        return steps * batch

    return Contender(name, work)


def _rcmd(
    data: workloads.Data, oracle: LinearMinOracle, batch: int, seed: int, name: str = "rcmd"
) -> Contender:
    return _stepping(name, make_engine(data, oracle, batch, seed), batch)


def _others(data: workloads.Data, batch: int, part: bool = False) -> list[Contender]:
    """The plain C loop and COPT, those that are there; see ``peers`` for ``part``."""
    contenders = []
    with contextlib.suppress(yardstick.NoCompiler):
        loop = yardstick.PlainC(data.X, data.y, batch, RADIUS)
        contenders.append(_stepping("C", loop, batch))
    with contextlib.suppress(peers.NotInstalled):
        work, limit = peers.copt_lf(data.X, data.y, batch, RADIUS, part=part)
        contenders.append(Contender("COPT", work, limit))
    return contenders


def _absent() -> list[str]:
    """Why a column is empty."""
    reasons = []
    try:
        yardstick.compiler()
    except yardstick.NoCompiler as reason:
        reasons.append(f"no plain C: {reason}")
    try:
        peers.copt()
    except peers.NotInstalled as reason:
        reasons.append(f"no COPT: {reason}")
    return reasons


def _ratios(timings: dict[str, Timing]) -> dict[str, float]:
    """rcmd's time over C's, and COPT's over rcmd's."""
    mine, ratios = timings["rcmd"].best, {}
    if "C" in timings:
        ratios["rcmd/C"] = mine / timings["C"].best
    if "COPT" in timings:
        ratios["COPT/rcmd"] = timings["COPT"].best / mine
    return ratios


def _times(timings: dict[str, Timing]) -> dict[str, Any]:
    return {name: timing.as_dict() for name, timing in timings.items()}


def _verdicts(targets: dict[str, Target], ratios: dict[str, float]) -> dict[str, Any]:
    return {name: t.as_dict(ratios[name]) for name, t in targets.items() if name in ratios}


def _shown_ratio(ratios: dict[str, float], name: str, targets: dict[str, Target]) -> list[str]:
    """A ratio and its target, two cells."""
    if name not in ratios:
        return ["–", ""]
    value, target = ratios[name], targets.get(name)
    digits = ".0f" if value >= 10 else ".2f" if value >= 0.1 else ".1g"
    return [f"{value:{digits}}", target.shown(value) if target else ""]


def _shown_time(timings: dict[str, Timing], name: str) -> str:
    return nanoseconds(timings[name].best) if name in timings else "–"


def gradients(settings: Settings, tell: Callable[[str], None]) -> Section:
    """Time per stochastic gradient on real data, against plain C and COPT."""
    section = Section(
        "gradients",
        f"Time per stochastic gradient: logistic loss, l1 ball {RADIUS:g}",
        ("data", "batch", "rcmd", "plain C", "COPT LF", "rcmd/C", "", "COPT/rcmd", ""),
    )
    tell("reading data")
    found, section.notes = workloads.available(workloads.NAMED, settings.data)
    section.notes += _absent() or [
        "COPT draws its batches on all cores: compare on an idle machine"
    ]
    for name, data in found.items():
        n = len(data.y)
        for batch in dict.fromkeys((max(1, round(0.01 * n)), 1)):
            tell(f"{name}, batch {batch}")
            contenders = [
                _rcmd(data, L1Ball(RADIUS), batch, settings.seed),
                *_others(data, batch),
            ]
            timings = _race(contenders, settings)
            ratios = _ratios(timings)
            targets = {"COPT/rcmd": Target(12 if batch > 1 else 200, at_least=True)}
            if batch > 1:
                targets["rcmd/C"] = Target(1.3)
            section.add(
                [
                    name,
                    str(batch),
                    *(_shown_time(timings, who) for who in ("rcmd", "C", "COPT")),
                    *_shown_ratio(ratios, "rcmd/C", targets),
                    *_shown_ratio(ratios, "COPT/rcmd", targets),
                ],
                data=name,
                n=n,
                p=data.X.shape[1],
                batch=batch,
                times=_times(timings),
                ratios=ratios,
                targets=_verdicts(targets, ratios),
            )
    return section


def growth(settings: Settings, tell: Callable[[str], None]) -> Section:
    """Time per step as p and n grow."""
    section = Section(
        "growth",
        f"Time per step at batch 1: Zipf-sparse rows with {NONZEROS} nonzeros",
        ("n", "p", "rcmd", "to first", "", "plain C", "COPT LF", "rcmd/C", "COPT/rcmd"),
    )
    section.notes = [*_absent(), "plain C and COPT walk over all p coordinates in every step"]
    first_n, first_p = settings.zipf_n[0], settings.zipf_p[0]
    sizes = [(first_n, p) for p in settings.zipf_p] + [(n, first_p) for n in settings.zipf_n[1:]]
    rng = np.random.default_rng(settings.seed)
    # All are kept and timed by turns, for their ratios are what counts.
    mine, others = [], {}
    for n, p in sizes:
        tell(f"making n = {n}, p = {p}")
        data = workloads.zipf(n, p, NONZEROS, rng)
        mine.append(_rcmd(data, L1Ball(RADIUS), 1, settings.seed, f"{n}×{p}"))
        if n == first_n and p <= settings.peers_up_to:
            tell(f"others at p = {p}")
            others[n, p] = _race(
                _others(data, 1, part=True), replace(settings, repeats=min(3, settings.repeats))
            )
    tell("all sizes by turns")
    timings = _race(mine, settings)
    base = timings[mine[0].name].best
    targets = {(first_n, 10**6): Target(4), (10**6, first_p): Target(2)}
    for n, p in sizes:
        own = {"rcmd": timings[f"{n}×{p}"], **others.get((n, p), {})}
        ratios = {"to first": own["rcmd"].best / base, **_ratios(own)}
        target = {"to first": targets[n, p]} if (n, p) in targets else {}
        section.add(
            [
                f"{n:,}",
                f"{p:,}",
                _shown_time(own, "rcmd"),
                *_shown_ratio(ratios, "to first", target),
                _shown_time(own, "C"),
                _shown_time(own, "COPT"),
                _shown_ratio(ratios, "rcmd/C", {})[0],
                _shown_ratio(ratios, "COPT/rcmd", {})[0],
            ],
            n=n,
            p=p,
            batch=1,
            times=_times(own),
            ratios=ratios,
            targets=_verdicts(target, ratios),
        )
    return section


def ridge(settings: Settings, tell: Callable[[str], None]) -> Section:
    """Ridge-logistic at batch 1 with Theorem 3.2's schedule, with and without empty features."""
    section = Section(
        "ridge",
        f"Time per step at batch 1: ridge {STRENGTH:g}, logistic loss, Theorem 3.2's schedule",
        ("data", "n", "p", "rcmd", "to first"),
    )
    found, section.notes = workloads.available(workloads.NAMED[:1], settings.data)
    if not found:
        rng = np.random.default_rng(settings.seed)
        found = {"zipf": workloads.zipf(settings.zipf_n[0], settings.zipf_p[0], NONZEROS, rng)}
    [(name, data)] = found.items()
    wider = workloads.Data(workloads.with_empty_features(data.X, settings.empty), data.y)
    variants = {name: data, f"{name} + {settings.empty:,} empty features": wider}
    contenders = []
    for label, variant in variants.items():
        tell(label)
        contenders.append(_rcmd(variant, Ridge(STRENGTH), 1, settings.seed, label))
    timings = _race(contenders, settings)
    for label, variant in variants.items():
        ratio = timings[label].best / timings[name].best
        section.add(
            [
                label,
                *(f"{size:,}" for size in variant.X.shape),
                _shown_time(timings, label),
                f"{ratio:.2f}",
            ],
            data=label,
            n=variant.X.shape[0],
            p=variant.X.shape[1],
            batch=1,
            times={"rcmd": timings[label].as_dict()},
            ratios={"to first": ratio},
        )
    return section


def dense(settings: Settings, tell: Callable[[str], None]) -> Section:
    """Dense rows in both precisions, beside NumPy reading the same rows once."""
    n, p = settings.dense
    section = Section(
        "dense",
        f"Time per stochastic gradient: dense rows, n = {n:,}, p = {p:,}",
        (
            "R",
            "batch",
            "float64",
            "float32",
            "float32/float64",
            "row of X.sum()",
            "float64/X.sum()",
        ),
    )
    section.notes = ["X.sum() in float64 is NumPy reading all rows once, on one core"]
    data = workloads.dense(n, p, np.random.default_rng(settings.seed))
    narrow = workloads.Data(data.X.astype(np.float32), data.y)

    def read(times: int) -> int:
        for _ in range(times):
            data.X.sum()
        return times * n

    for label, oracle in (("l1 ball", L1Ball(RADIUS)), ("ridge", Ridge(STRENGTH))):
        for batch in dict.fromkeys((max(1, round(0.01 * n)), 1)):
            tell(f"{label}, batch {batch}")
            contenders = [
                _rcmd(data, oracle, batch, settings.seed, "float64"),
                _rcmd(narrow, oracle, batch, settings.seed, "float32"),
                Contender("X.sum()", read),
            ]
            timings = _race(contenders, settings)
            wide = timings["float64"].best
            ratios = {
                "float32/float64": timings["float32"].best / wide,
                "float64/X.sum()": wide / timings["X.sum()"].best,
            }
            section.add(
                [
                    label,
                    str(batch),
                    _shown_time(timings, "float64"),
                    _shown_time(timings, "float32"),
                    f"{ratios['float32/float64']:.2f}",
                    _shown_time(timings, "X.sum()"),
                    f"{ratios['float64/X.sum()']:.2f}",
                ],
                regularizer=label,
                n=n,
                p=p,
                batch=batch,
                times=_times(timings),
                ratios=ratios,
            )
    return section


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


def _race(contenders: list[Contender], settings: Settings) -> dict[str, Timing]:
    return race(
        contenders,
        repeats=settings.repeats,
        seconds=settings.seconds,
        budget=settings.budget,
    )


SECTIONS: dict[str, Callable[[Settings, Callable[[str], None]], Section]] = {
    "gradients": gradients,
    "growth": growth,
    "ridge": ridge,
    "dense": dense,
    "start": starting,
    "memory": memory,
    "drift": drift,
}

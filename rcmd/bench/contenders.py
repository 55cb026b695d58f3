"""Who is timed, and how a comparison is put into numbers and cells."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from rcmd import LinearMinOracle, Logistic, Problem
from rcmd.bench import peers, workloads, yardstick
from rcmd.bench.clock import Contender, Timing, race
from rcmd.bench.report import Target, nanoseconds
from rcmd.bench.settings import RADIUS, Settings
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.prox import ConjugateProx
from rcmd.schedules import default_schedule


def make_engine(
    data: workloads.Data, oracle: LinearMinOracle, batch: int, seed: int
) -> CompiledEngine:
    """The compiled engine on the logistic loss, with the theorem's schedule."""
    problem = Problem(data.X, data.y, Logistic(), oracle)
    schedule = default_schedule(problem.constants(batch))
    sampler = UniformSampler(problem.n, batch, np.random.default_rng(seed))
    return CompiledEngine(problem, schedule, sampler, ConjugateProx())


def stepping(name: str, engine: Any, batch: int) -> Contender:
    """A contender that takes steps."""

    def work(steps: int) -> int:
        engine.advance(steps)
        return steps * batch

    return Contender(name, work)


def rcmd_contender(
    data: workloads.Data, oracle: LinearMinOracle, batch: int, seed: int, name: str = "rcmd"
) -> Contender:
    """The compiled engine as a contender."""
    return stepping(name, make_engine(data, oracle, batch, seed), batch)


def other_contenders(data: workloads.Data, batch: int, part: bool = False) -> list[Contender]:
    """The plain C loop and COPT, those that are there; see ``peers`` for ``part``."""
    contenders = []
    with contextlib.suppress(yardstick.NoCompiler):
        loop = yardstick.PlainC(data.X, data.y, batch, RADIUS)
        contenders.append(stepping("C", loop, batch))
    with contextlib.suppress(peers.NotInstalled):
        work, limit = peers.copt_lf(data.X, data.y, batch, RADIUS, part=part)
        contenders.append(Contender("COPT", work, limit))
    return contenders


def absent_contenders() -> list[str]:
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


def ratios_of(timings: dict[str, Timing]) -> dict[str, float]:
    """rcmd's time over C's, and COPT's over rcmd's."""
    mine, ratios = timings["rcmd"].best, {}
    if "C" in timings:
        ratios["rcmd/C"] = mine / timings["C"].best
    if "COPT" in timings:
        ratios["COPT/rcmd"] = timings["COPT"].best / mine
    return ratios


def times(timings: dict[str, Timing]) -> dict[str, Any]:
    """All timings, for the JSON file."""
    return {name: timing.as_dict() for name, timing in timings.items()}


def verdicts(targets: dict[str, Target], ratios: dict[str, float]) -> dict[str, Any]:
    """Which targets the ratios meet, for the JSON file."""
    return {name: t.as_dict(ratios[name]) for name, t in targets.items() if name in ratios}


def shown_ratio(ratios: dict[str, float], name: str, targets: dict[str, Target]) -> list[str]:
    """A ratio and its target, two cells."""
    if name not in ratios:
        return ["–", ""]
    value, target = ratios[name], targets.get(name)
    digits = ".0f" if value >= 10 else ".2f" if value >= 0.1 else ".1g"
    return [f"{value:{digits}}", target.shown(value) if target else ""]


def shown_time(timings: dict[str, Timing], name: str) -> str:
    """A time, or a dash where there is none."""
    return nanoseconds(timings[name].best) if name in timings else "–"


def timed(contenders: list[Contender], settings: Settings) -> dict[str, Timing]:
    """The contenders timed by turns, as long as the settings say."""
    return race(
        contenders,
        repeats=settings.repeats,
        seconds=settings.seconds,
        budget=settings.budget,
    )

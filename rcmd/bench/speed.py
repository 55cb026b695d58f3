"""Sections about time: per gradient and per step, as n and p grow, sparse and dense."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import L1Ball, Ridge
from rcmd.bench import workloads
from rcmd.bench.clock import Contender
from rcmd.bench.contenders import (
    absent_contenders,
    other_contenders,
    ratios_of,
    rcmd_contender,
    shown_ratio,
    shown_time,
    timed,
    times,
    verdicts,
)
from rcmd.bench.report import Section, Target
from rcmd.bench.settings import NONZEROS, RADIUS, STRENGTH, Settings

Array = npt.NDArray[Any]


def gradients(settings: Settings, tell: Callable[[str], None]) -> Section:
    """Time per stochastic gradient on real data, against plain C and COPT."""
    section = Section(
        "gradients",
        f"Time per stochastic gradient: logistic loss, l1 ball {RADIUS:g}",
        ("data", "batch", "rcmd", "plain C", "COPT LF", "rcmd/C", "", "COPT/rcmd", ""),
    )
    tell("reading data")
    found, section.notes = workloads.available(workloads.NAMED, settings.data)
    section.notes += absent_contenders() or [
        "COPT draws its batches on all cores: compare on an idle machine"
    ]
    for name, data in found.items():
        n = len(data.y)
        for batch in dict.fromkeys((max(1, round(0.01 * n)), 1)):
            tell(f"{name}, batch {batch}")
            contenders = [
                rcmd_contender(data, L1Ball(RADIUS), batch, settings.seed),
                *other_contenders(data, batch),
            ]
            timings = timed(contenders, settings)
            ratios = ratios_of(timings)
            targets = {"COPT/rcmd": Target(12 if batch > 1 else 200, at_least=True)}
            if batch > 1:
                targets["rcmd/C"] = Target(1.3)
            section.add(
                [
                    name,
                    str(batch),
                    *(shown_time(timings, who) for who in ("rcmd", "C", "COPT")),
                    *shown_ratio(ratios, "rcmd/C", targets),
                    *shown_ratio(ratios, "COPT/rcmd", targets),
                ],
                data=name,
                n=n,
                p=data.X.shape[1],
                batch=batch,
                times=times(timings),
                ratios=ratios,
                targets=verdicts(targets, ratios),
            )
    return section


def growth(settings: Settings, tell: Callable[[str], None]) -> Section:
    """Time per step as p and n grow."""
    section = Section(
        "growth",
        f"Time per step at batch 1: Zipf-sparse rows with {NONZEROS} nonzeros",
        ("n", "p", "rcmd", "to first", "", "plain C", "COPT LF", "rcmd/C", "COPT/rcmd"),
    )
    section.notes = [
        *absent_contenders(),
        "plain C and COPT walk over all p coordinates in every step",
    ]
    first_n, first_p = settings.zipf_n[0], settings.zipf_p[0]
    sizes = [(first_n, p) for p in settings.zipf_p] + [(n, first_p) for n in settings.zipf_n[1:]]
    rng = np.random.default_rng(settings.seed)
    # All are kept and timed by turns, for their ratios are what counts.
    mine, others = [], {}
    for n, p in sizes:
        tell(f"making n = {n}, p = {p}")
        data = workloads.zipf(n, p, NONZEROS, rng)
        mine.append(rcmd_contender(data, L1Ball(RADIUS), 1, settings.seed, f"{n}×{p}"))
        if n == first_n and p <= settings.peers_up_to:
            tell(f"others at p = {p}")
            others[n, p] = timed(
                other_contenders(data, 1, part=True),
                replace(settings, repeats=min(3, settings.repeats)),
            )
    tell("all sizes by turns")
    timings = timed(mine, settings)
    base = timings[mine[0].name].best
    targets = {(first_n, 10**6): Target(4), (10**6, first_p): Target(2)}
    for n, p in sizes:
        own = {"rcmd": timings[f"{n}×{p}"], **others.get((n, p), {})}
        ratios = {"to first": own["rcmd"].best / base, **ratios_of(own)}
        target = {"to first": targets[n, p]} if (n, p) in targets else {}
        section.add(
            [
                f"{n:,}",
                f"{p:,}",
                shown_time(own, "rcmd"),
                *shown_ratio(ratios, "to first", target),
                shown_time(own, "C"),
                shown_time(own, "COPT"),
                shown_ratio(ratios, "rcmd/C", {})[0],
                shown_ratio(ratios, "COPT/rcmd", {})[0],
            ],
            n=n,
            p=p,
            batch=1,
            times=times(own),
            ratios=ratios,
            targets=verdicts(target, ratios),
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
        contenders.append(rcmd_contender(variant, Ridge(STRENGTH), 1, settings.seed, label))
    timings = timed(contenders, settings)
    for label, variant in variants.items():
        ratio = timings[label].best / timings[name].best
        section.add(
            [
                label,
                *(f"{size:,}" for size in variant.X.shape),
                shown_time(timings, label),
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
                rcmd_contender(data, oracle, batch, settings.seed, "float64"),
                rcmd_contender(narrow, oracle, batch, settings.seed, "float32"),
                Contender("X.sum()", read),
            ]
            timings = timed(contenders, settings)
            wide = timings["float64"].best
            ratios = {
                "float32/float64": timings["float32"].best / wide,
                "float64/X.sum()": wide / timings["X.sum()"].best,
            }
            section.add(
                [
                    label,
                    str(batch),
                    shown_time(timings, "float64"),
                    shown_time(timings, "float32"),
                    f"{ratios['float32/float64']:.2f}",
                    shown_time(timings, "X.sum()"),
                    f"{ratios['float64/X.sum()']:.2f}",
                ],
                regularizer=label,
                n=n,
                p=p,
                batch=batch,
                times=times(timings),
                ratios=ratios,
            )
    return section

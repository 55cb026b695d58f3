"""``rcmd bench mpi``: measure steps on 1, 2, 4, … ranks, fit the cost model, look ahead."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from rcmd.bench.mpi.launching import mpirun
from rcmd.bench.mpi.model import PRICES, Case, Prices, fit, relative_errors
from rcmd.bench.mpi.paying import Forecast, Workload, forecasts, the_one_that_pays
from rcmd.bench.report import Section, Target, about
from rcmd.json_output import check_json, say, write_json

COLUMNS = (10**3, 10**4, 10**5)
ROW_ENTRIES = (10, 100)
BATCHES = (256, 512, 1024, 2048, 4096, 8192)
HELD_OUT = (512, 2048)
"""Batch sizes that the fit does not see, on any number of ranks."""

MACHINES = (1, 4, 16, 64)
FORECAST_BATCHES = tuple(4**k for k in range(1, 12))
WORKLOADS = (
    Workload(rows=10**8, columns=10**4, row_entries=100),
    Workload(rows=10**8, columns=10**6, row_entries=100),
)
ALLOWED = Target(0.2)
"""The median relative error on what was held out."""


def run_mpi(
    ranks: Sequence[int],
    seconds: float,
    latency: float,
    bandwidth: float,
    seed: int,
    json_target: str | None,
) -> int:
    """The command; returns 0 where the model foretells what it did not see, 1 where not."""
    check_json(json_target)
    measured = [row for count in ranks for row in _measured(count, seconds, seed)]
    cores = os.cpu_count() or 1
    prices = fit(*_split([row for row in measured if not row["held_out"]]), cores)
    sections = [
        _times(measured, prices),
        _against_one(measured),
        _prices(prices),
        _errors(measured, prices),
    ]
    cluster = prices.on_cluster(latency, bandwidth)
    sections += [_forecast(cluster, work) for work in WORKLOADS]
    for section in sections:
        say(section.text() + "\n", json_target)
    settings = {"ranks": list(ranks), "seconds": seconds, "cores": cores}
    settings |= {"latency": latency, "bandwidth": bandwidth}
    tables = {section.name: section.rows for section in sections}
    write_json(about(seed, None, **settings) | tables, json_target)
    unseen = [row["error"] for row in sections[0].rows if row["held_out"]]
    return 0 if ALLOWED.met(median(unseen)) else 1


def _measured(ranks: int, seconds: float, seed: int) -> list[dict[str, Any]]:
    """Seconds for a step of every case, from processes that mpirun starts.

    The least of several slices counts: other work on the machine only adds to them.
    """
    cases = [
        Case(ranks, p, z, b, exchange)
        for p in COLUMNS
        for z in ROW_ENTRIES
        for b in BATCHES
        for exchange in ("sparse", "dense")
    ]
    asked = {"cases": [case.as_dict() for case in cases], "seconds": seconds, "seed": seed}
    command = mpirun(ranks, ["-m", "rcmd.bench.mpi.worker", json.dumps(asked)])
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no word"]
        raise OSError(
            f"mpirun on {ranks} ranks ended with status {done.returncode} ({last[0]}); expected it "
            "to run: try mpirun -n 2 python -c 'import mpi4py.MPI'"
        )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        {"case": case, "seconds": min(row["times"]), "held_out": case.batch in HELD_OUT, **row}
        for case, row in zip(cases, rows, strict=True)
    ]


def _split(rows: Sequence[dict[str, Any]]) -> tuple[list[Case], list[float]]:
    return [row["case"] for row in rows], [row["seconds"] for row in rows]


def _times(measured: Sequence[dict[str, Any]], prices: Prices) -> Section:
    header = ("p", "z", "batch", "exchange", "ranks", "µs a step", "model", "error", "held out")
    section = Section("times", "Time of a step, measured and by the model", header)
    errors = relative_errors(prices, *_split(measured))
    for row, error in zip(measured, errors.tolist(), strict=True):
        case, model = row["case"], prices.seconds(row["case"])
        section.add(
            (
                f"{case.columns:,}",
                str(case.row_entries),
                f"{case.batch:,}",
                case.exchange,
                str(case.ranks),
                f"{1e6 * row['seconds']:,.0f}",
                f"{1e6 * model:,.0f}",
                f"{error:.0%}",
                "yes" if row["held_out"] else "",
            ),
            **{**row, "case": case.as_dict(), "model": model, "error": error},
            parts=dict(zip(PRICES, prices.parts(case).tolist(), strict=True)),
        )
    return section


def _against_one(measured: Sequence[dict[str, Any]]) -> Section:
    """µs a step of one process and of every number of ranks, and how far their iterates differ."""
    counts = sorted({row["case"].ranks for row in measured})
    ranked = (f"{ranks} rank{'s' * (ranks > 1)}" for ranks in counts)
    header = ("p", "z", "batch", "exchange", "one process", *ranked, "max |Δs|")
    section = Section("one_process", "Beside the engine of one process, µs a step", header)
    alike: dict[Case, list[dict[str, Any]]] = {}
    for row in measured:
        alike.setdefault(replace(row["case"], ranks=1), []).append(row)
    for case, rows in alike.items():
        times = {row["case"].ranks: row["seconds"] for row in rows}
        process = next((min(row["one_process"]) for row in rows if "one_process" in row), None)
        difference = max(row["difference"] for row in rows)
        section.add(
            (
                f"{case.columns:,}",
                str(case.row_entries),
                f"{case.batch:,}",
                case.exchange,
                "" if process is None else f"{1e6 * process:,.0f}",
                *(f"{1e6 * times[ranks]:,.0f}" for ranks in counts),
                f"{difference:.1e}",
            ),
            **{**case.as_dict(), "ranks": times, "one_process": process, "difference": difference},
        )
    return section


def _prices(prices: Prices) -> Section:
    section = Section("prices", "Prices of the model", ("of one", "nanoseconds"))
    for name, value in zip(PRICES, prices.values, strict=True):
        section.add((name, f"{1e9 * value:,.4g}"), name=name, seconds=value)
    section.notes.append("The formula is in rcmd.bench.mpi.model.")
    return section


def _errors(measured: Sequence[dict[str, Any]], prices: Prices) -> Section:
    header = ("ranks", "cases", "median error", "largest", "target for the median")
    section = Section("errors", "Relative errors where the fit did not look", header)
    counts = sorted({row["case"].ranks for row in measured})
    for ranks in (*counts, None):
        unseen = [row for row in measured if row["held_out"] and ranks in (None, row["case"].ranks)]
        errors = relative_errors(prices, *_split(unseen)).tolist()
        middle = median(errors)
        section.add(
            (
                "all" if ranks is None else str(ranks),
                str(len(errors)),
                f"{middle:.1%}",
                f"{max(errors):.1%}",
                ALLOWED.shown(middle),
            ),
            ranks=ranks,
            median=middle,
            largest=max(errors),
        )
    return section


def _forecast(prices: Prices, work: Workload) -> Section:
    title = (
        f"A cluster of one-rank machines: {work.rows:,} rows of {work.row_entries} entries in "
        f"{work.columns:,} columns"
    )
    header = ("machines", "batch", "exchange", "µs a step", "seconds a pass", "pays")
    section = Section(f"cluster_p{work.columns}", title, header)
    alone = None
    for ranks in MACHINES:
        every = forecasts(prices, work, ranks, FORECAST_BATCHES)
        best = the_one_that_pays(every)
        alone = alone or best
        for one in every:
            section.add(_cells(one, one is best), **_row(one, one is best))
        section.notes.append(
            f"{ranks} machine{'s' * (ranks > 1)}: batches of {best.case.batch:,} pay, "
            f"{alone.pass_seconds / best.pass_seconds:.3g} times as fast as one machine."
        )
    return section


def _cells(one: Forecast, best: bool) -> tuple[str, ...]:
    return (
        str(one.case.ranks),
        f"{one.case.batch:,}",
        one.case.exchange,
        f"{1e6 * one.step_seconds:,.0f}",
        f"{one.pass_seconds:,.3g}",
        "<" if best else "",
    )


def _row(one: Forecast, best: bool) -> dict[str, Any]:
    numbers = {"step_seconds": one.step_seconds, "pass_seconds": one.pass_seconds}
    return {**one.case.as_dict(), **numbers, "pays": best}

"""``rcmd compare``: the table, the JSON file and the figure."""

from __future__ import annotations

import argparse
import math
from typing import Any

from rcmd.bench.report import Report, Section, about_command
from rcmd.comparing.entrants import ENTRANTS, fitting, parse_entrants
from rcmd.comparing.racing import AXES, Comparison, Standing, compare, excess
from rcmd.comparing.slopes import Slope
from rcmd.json_output import check_json
from rcmd.plotting import Line, Panel, check_plot, write_figure
from rcmd.problem import Problem
from rcmd.run import iterate
from rcmd.solving.samples import read_samples
from rcmd.specs import made, parse_batch, parse_loss, parse_oracle
from rcmd.telling import CountedProgress, tell_on_terminal
from rcmd.validation import batch_size

HEADER = (
    "method",
    "gradients",
    "calls",
    "seconds",
    "gap",
    "P − best",
    "slope/gradients",
    "slope/calls",
    "slope/seconds",
)

NOTES = (
    "medians over the seeds at the end of the runs; gap: certified, P(β) − D(w) of the best pair; "
    "certificates are in the seconds, not in the counts",
    "slopes: a where P − best ≈ c·xᵃ, by least squares over the last decade of x in which P − best "
    "is above ten times what the best known P may be off; exact ranges are in the JSON file",
)


def run_compare(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    report, comparison = _report(options)
    report.tell(options.json)
    if options.plot is not None:
        write_figure(_panels(comparison), options.plot, len(AXES))
    return 0


def _report(options: argparse.Namespace) -> tuple[Report, Comparison]:
    """Check everything, then run."""
    check_json(options.json)
    if options.plot is not None:
        check_plot(options.plot)
    if not options.passes > 0 or not math.isfinite(options.passes):
        raise ValueError(f"--passes is {options.passes}; expected a number above 0")
    if options.seeds < 1:
        raise ValueError(f"--seeds is {options.seeds}; expected at least 1")
    every = options.methods is None
    entrants = list(ENTRANTS.values()) if every else parse_entrants(options.methods)
    problem, remarks = _problem(options)
    batch = batch_size(parse_batch(options.batch), problem.n)
    budget = math.ceil(options.passes * problem.n)
    # Its checks of the tolerance and the budgets come before any work.
    iterate(
        problem,
        batch=batch,
        tol=options.tol,
        max_gradients=budget,
        max_seconds=options.max_seconds,
    )
    entrants, refused = fitting(problem, entrants, batch, budget)
    if not entrants or (refused and not every):
        raise ValueError("; ".join(f"{name}: {reason}" for name, reason in refused.items()))
    runs = sum(options.seeds if entrant.random else 1 for entrant in entrants)
    comparison = compare(
        problem,
        entrants,
        batch=batch,
        budget=budget,
        seeds=range(options.seed, options.seed + options.seeds),
        tol=options.tol,
        max_seconds=options.max_seconds,
        tell=CountedProgress(1 + runs, tell_on_terminal),
    )
    section = Section(
        "comparison",
        f"{options.file or 'generated data'}: n = {problem.n:,}, p = {problem.p:,}, "
        f"{options.loss}, {options.oracle}; at most {budget:,} gradients",
        HEADER,
    )
    for standing in comparison.standings:
        _add(section, standing, comparison)
    best = f"best known P {comparison.best:.12g}, at most {comparison.noise:.1e} above P*"
    seeds = f"{options.seeds} seed{'s' if options.seeds > 1 else ''} from {options.seed}"
    section.notes += [*remarks, f"{best}; {seeds}, batch {batch}", *NOTES]
    section.notes += [f"left out, {name}: {reason}" for name, reason in refused.items()]
    made_by = about_command(options, rows=problem.n, features=problem.p)
    made_by["best_known"] = {"primal": comparison.best, "dual": comparison.lower}
    return Report([section], made_by), comparison


def _problem(options: argparse.Namespace) -> tuple[Problem, list[str]]:
    """The problem, and what was done to its labels."""
    loss, oracle = parse_loss(options.loss), parse_oracle(options.oracle)
    X, y, remarks = read_samples(options.file, options.data, loss, options.seed)
    return Problem(X, y, loss, made(oracle, X.shape[1])), remarks


def _add(section: Section, standing: Standing, comparison: Comparison) -> None:
    """One line of the table, with all curves for the JSON file."""
    best, noise = comparison.best, comparison.noise
    slopes = {axis: standing.slope(axis, best, noise) for axis in AXES}
    behind = standing.end("primal") - best
    cells = (
        standing.entrant.name,
        f"{standing.end('gradients'):,.0f}",
        f"{standing.end('oracle_calls'):,.0f}",
        f"{standing.end('seconds'):.3g}",
        f"{standing.end('gap'):.2e}",
        f"{behind:.2e}",
        *map(_shown, slopes.values()),
    )
    row: dict[str, Any] = {
        "method": standing.entrant.name,
        "parameters": repr(standing.entrant.method),
        "excess": behind,
        **{name: standing.end(name) for name in ("iteration", *AXES, "primal", "dual", "gap")},
        "slopes": {axis: slope and slope._asdict() for axis, slope in slopes.items()},
        "curves": [[point._asdict() for point in curve] for curve in standing.curves],
    }
    section.add(cells, **row)


def _shown(slope: Slope | None) -> str:
    return "–" if slope is None else f"{slope.exponent:.2f}"


def _panels(comparison: Comparison) -> list[Panel]:
    return [
        Panel(
            "",
            label,
            [
                Line(
                    standing.entrant.name,
                    [getattr(point, axis) for point in curve],
                    excess(curve, comparison.best),
                )
                for standing in comparison.standings
                for curve in standing.curves
            ],
            y_label="P − best known",
        )
        for axis, label in AXES.items()
    ]

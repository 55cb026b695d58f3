"""Run methods side by side on one problem, each with the same number of
gradients, and show what they reached against gradients, oracle calls and
seconds, with fitted log-log slopes.

    rcmd compare a9a --data ~/libsvm --methods rcmd,fw,scgm --plot a9a.png

FILE is a LIBSVM file or the name of a data set; without it, generated data.
--methods: rcmd (the algorithm of the paper), corrected (the same, ending with
corrections), fw, away, pairwise, bpcg, sfw, svrf, storc, scgm, scgs, sag,
sarah, online, sdca, quartz, apcg; fw, away, pairwise and bpcg take a step
rule, as in fw:exact. By default all that the problem allows, those four with
exact line searches. --batch is for methods that take any batch, --schedule and
--prox are for rcmd and corrected.
"""

import argparse
import math
from dataclasses import replace
from typing import Any

from rcmd.cli.options import (
    add_plot_option,
    add_problem_options,
    add_step_options,
    chosen_batch,
    with_steps,
)
from rcmd.cli.tasks import samples_problem
from rcmd.lab.racing import (
    AXES,
    CORRECTED,
    FIELD,
    Comparison,
    Entrant,
    Standing,
    compare,
    excess,
    fitting,
    parse_entrants,
)
from rcmd.methods.base import BATCH
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.plotting import Line, Panel, drawn
from rcmd.reporting.progress import tell_on_terminal
from rcmd.reporting.tables import Report, Section, about_command
from rcmd.rows.validation import batch_size

HEADER = (
    "method", "passes", "calls", "seconds", "gap", "P − best", "/pass", "/call", "/sec.",
)  # fmt: skip

NOTES = (
    "medians over the seeds at the end of the runs; passes: gradients per row; calls: of the "
    "oracle; gap: certified, P(β) − D(w) of the best pair; certificates are in the seconds, not in "
    "the counts",
    "/pass, /call, /sec.: the slope a where P − best ≈ c·xᵃ, by least squares over the last decade "
    "of x in which P − best is above ten times what the best known P may be off; exact ranges are "
    "in the JSON file",
)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``rcmd compare``."""
    add_problem_options(parser, oracle="l1:5", tol=1e-10, max_seconds=None)
    add = parser.add_argument
    add("--methods", metavar="NAMES", help="with commas (default: all that fit)")
    add_step_options(parser)
    add("--passes", type=float, default=20.0, help="gradients per row (default: %(default)s)")
    add("--seeds", type=int, default=3, help="runs, from --seed on (default: %(default)s)")
    add_plot_option(parser)


def run(options: argparse.Namespace) -> int:
    """Run ``rcmd compare``; returns the exit status."""
    if not options.passes > 0 or not math.isfinite(options.passes):
        raise ValueError(f"--passes is {options.passes}; expected a number above 0")
    if options.seeds < 1:
        raise ValueError(f"--seeds is {options.seeds}; expected at least 1")
    all_methods = options.methods is None
    entrants = parse_entrants(",".join(FIELD) if all_methods else options.methods)
    entrants = [_with_steps(entrant, options) for entrant in entrants]
    problem, remarks = samples_problem(options, options.loss, options.oracle)
    batch = batch_size(chosen_batch(options) or BATCH, problem.n)
    budget = math.ceil(options.passes * problem.n)
    limits = {"batch": batch, "tol": options.tol, "max_seconds": options.max_seconds}
    CORRECTED.check(problem, max_gradients=budget, **limits)  # the limits, before any work
    entrants, refused = fitting(problem, entrants, batch, budget)
    if not entrants or (refused and not all_methods):
        raise ValueError("; ".join(f"{name}: {reason}" for name, reason in refused.items()))
    comparison = compare(
        problem,
        entrants,
        budget=budget,
        seeds=range(options.seed, options.seed + options.seeds),
        **limits,
        tell=tell_on_terminal,
    )
    section = Section(
        "comparison",
        f"{options.file or 'generated data'}: n = {problem.n:,}, p = {problem.p:,}, "
        f"{options.loss}, {options.oracle}; at most {budget:,} gradients",
        HEADER,
    )
    for standing in comparison.standings:
        _add(section, standing, comparison, problem.n)
    best = f"best known P {comparison.best:.12g}, at most {comparison.noise:.1e} above P*"
    seeds = f"{options.seeds} seed{'s' if options.seeds > 1 else ''} from {options.seed}"
    ground = f"ground of the gaps and of the best known P: {problem.ground_text}"
    section.notes += [*remarks, f"{best}; {seeds}, batch {batch}", ground, *NOTES]
    section.notes += [f"left out, {name}: {reason}" for name, reason in refused.items()]
    about = about_command(options, rows=problem.n, features=problem.p)
    about["ground"] = problem.ground_text
    about["best_known"] = {"primal": comparison.best, "dual": comparison.lower}
    Report([section], about).tell(options.json)
    if options.plot is not None:
        drawn(_panels(comparison), len(AXES)).savefig(options.plot)
    return 0


def _with_steps(entrant: Entrant, options: argparse.Namespace) -> Entrant:
    if not isinstance(entrant.method, RCMD | Corrected):
        return entrant
    return replace(entrant, method=with_steps(entrant.method, options))


def _add(section: Section, standing: Standing, comparison: Comparison, n: int) -> None:
    """One line of the table, with all curves for the JSON file."""
    best, noise = comparison.best, comparison.noise
    slopes = {axis: standing.slope(axis, best, noise) for axis in AXES}
    behind = standing.end("primal") - best
    cells = (
        standing.entrant.name,
        f"{standing.end('gradients') / n:.3g}",
        f"{standing.end('oracle_calls'):,.0f}",
        f"{standing.end('seconds'):.2g}",
        f"{standing.end('gap'):.2e}",
        f"{behind:.2e}",
        *("–" if slope is None else f"{slope.exponent:.2f}" for slope in slopes.values()),
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


def _panels(comparison: Comparison) -> list[Panel]:
    panels = []
    for axis, label in AXES.items():
        lines = [
            Line(s.entrant.name, [getattr(p, axis) for p in curve], excess(curve, comparison.best))
            for s in comparison.standings
            for curve in s.curves
        ]
        panels.append(Panel("", label, lines, y_label="P − best known"))
    return panels

"""Run the algorithm of the paper once for each seed and set the mean gap, with
confidence intervals, beside the theorem's bound of its expectation. Status 1
where a mean is above it.

    rcmd replicate a9a.bz2 --oracle l1:5 --batch 1% --seeds 20 --plot a9a.png

The figure has every run, their mean and quantiles, and the bound, over passes.
"""

import argparse
import math
from typing import Any

from rcmd.cli.options import (
    add_method_options,
    add_plot_option,
    add_problem_options,
    chosen_batch,
    chosen_method,
)
from rcmd.cli.tasks import samples_problem
from rcmd.model import bounds
from rcmd.model.problem import Problem
from rcmd.reporting.progress import tell_on_terminal
from rcmd.reporting.tables import Report, Section, about_command
from rcmd.solver.solve import iterate
from rcmd.theory.replicates import AgainstBound, Replicates, check_confidence, replicate

NOTES = (
    "best: quantiles of the gap of the best pair up to there; the numbers of steps are in the JSON "
    "file",
    "mean gap: of the pair that the theorem is about, whose expectation it bounds",
    "±: Student's intervals, all together at {:.0%}; below, above: where the mean is, of the "
    "bound, with its whole interval",
)

HEADER = ("passes", "best: 10 %", "median", "90 %", "mean gap", "±", "bound", "")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``rcmd replicate``."""
    add_problem_options(parser, oracle="l1:5")
    add = parser.add_argument
    add("--passes", type=float, default=10.0, help="gradients per row (default: %(default)s)")
    add("--seeds", type=int, default=20, help="runs, from --seed on (default: %(default)s)")
    add("--jobs", type=int, default=1, help="processes, -1 for all cores (default: %(default)s)")
    add("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    add_method_options(parser, "rcmd, as corrections would hide what the seed does")
    add_plot_option(parser)


def run(options: argparse.Namespace) -> int:
    """Run ``rcmd replicate``; the status is 1 where a mean is above the bound."""
    if not 0 < options.passes < math.inf:
        raise ValueError(f"--passes is {options.passes}; expected a number above 0")
    if options.seeds < 2:
        raise ValueError(f"--seeds is {options.seeds}; expected at least 2")
    check_confidence(options.confidence)
    problem, remarks = samples_problem(options, options.loss, options.oracle)
    chosen: dict[str, Any] = {"batch": chosen_batch(options), "tol": 0.0}
    chosen |= {"max_gradients": math.ceil(options.passes * problem.n)}
    chosen |= {"method": chosen_method(options, "rcmd")}
    seeds = range(options.seed, options.seed + options.seeds)
    runs = replicate(problem, seeds, n_jobs=options.jobs, tell=tell_on_terminal, **chosen)
    found = runs.against_bound(options.confidence) if runs.bounded else None
    size = f"n = {problem.n:,}, p = {problem.p:,}"
    title = f"{options.seeds} runs, {size}, {problem.loss!r}, {problem.regularizer!r}"
    notes = [*remarks, NOTES[0]]
    if found is None:
        notes.append(f"no theorem bounds these runs: {runs[0].note}")
    else:
        notes += [
            NOTES[1],
            NOTES[2].format(options.confidence),
            *bounds_shown(problem, chosen, found),
        ]
    section = Section("replicates", title, HEADER if found else HEADER[:4], notes=notes)
    _add(section, runs, found)
    settings = about_command(options, rows=problem.n, features=problem.p)
    Report([section], settings).tell(options.json)
    if options.plot is not None:
        runs.plot().savefig(options.plot)
    return 1 if found is not None and found.violated else 0


def bounds_shown(problem: Problem, chosen: dict[str, Any], found: AgainstBound) -> list[str]:
    """Whose the bounds are that the table shows, the best at each record."""
    progress = iterate(problem, **chosen).progress
    if progress.facts is None or progress.theorem is None:
        return []
    constants, kind = progress.facts.constants, progress.theorem
    best = {bounds.best(constants, int(k), kind)[0].described() for k in found.iterations}
    return [f"bound: {words}" for words in sorted(best)]


def _add(section: Section, runs: Replicates, found: AgainstBound | None) -> None:
    passes = runs.mean("gradients") / len(runs[0].w)
    quantiles, pair_gaps = runs.quantiles(), runs.column("pair_gap")
    for k, iteration in enumerate(runs.iterations if found is None else found.iterations):
        gaps = [float(level[k]) for level in quantiles]
        cells = [f"{passes[k]:.3g}", *(f"{gap:.2e}" for gap in gaps)]
        row: dict[str, Any] = {
            "iteration": int(iteration), "passes": float(passes[k]), "best_gap_quantiles": gaps,
        }  # fmt: skip
        if found is not None:
            mean, upper, bound = float(found.mean[k]), float(found.upper[k]), float(found.bound[k])
            cells += [f"{mean:.3e}", f"{upper - mean:.1e}", f"{bound:.3e}", found.verdicts[k]]
            row |= {
                "mean": mean, "interval": [float(found.lower[k]), upper], "bound": bound,
                "verdict": found.verdicts[k], "gaps": pair_gaps[:, k].tolist(),
            }  # fmt: skip
        section.add(cells, **row)

"""Run the algorithm of the paper once for each seed and set the mean gap, with
confidence intervals, beside the theorem's bound of its expectation. Status 1
where a mean is above it.

    rcmd replicate a9a.bz2 --oracle l1:5 --batch 1% --seeds 20 --plot a9a.png

The figure has every run, their mean and quantiles, and the bound, over passes.
"""

import argparse
import math

from rcmd.cli.options import (
    add_method_options,
    add_plot_option,
    add_problem_options,
    chosen_batch,
    chosen_method,
)
from rcmd.cli.tasks import samples_problem
from rcmd.reporting.progress import tell_on_terminal
from rcmd.reporting.tables import Report, Section, about_command
from rcmd.theory.replicates import AgainstBound, Replicates, check_confidence, replicate

NOTES = (
    "best gap: of the best pair up to there; mean gap: of the pair that the theorem is about, "
    "whose expectation it bounds",
    "Student's intervals, all together at {:.0%}; below, above: the bound is outside the interval",
)

HEADER = ("steps", "passes", "best gap 10 %", "median", "90 %", "mean gap", "interval", "bound", "")


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
    runs = replicate(
        problem,
        range(options.seed, options.seed + options.seeds),
        n_jobs=options.jobs,
        tell=tell_on_terminal,
        batch=chosen_batch(options),
        tol=0.0,
        max_gradients=math.ceil(options.passes * problem.n),
        method=chosen_method(options, "rcmd"),
    )
    found = runs.against_bound(options.confidence)
    size = f"n = {problem.n:,}, p = {problem.p:,}"
    title = f"{options.seeds} runs, {size}, {problem.loss!r}, {problem.regularizer!r}"
    notes = [*remarks, *(note.format(options.confidence) for note in NOTES)]
    section = Section("replicates", title, HEADER, notes=notes)
    _add(section, runs, found)
    settings = about_command(options, rows=problem.n, features=problem.p)
    Report([section], settings).tell(options.json)
    if options.plot is not None:
        runs.plot().savefig(options.plot)
    return 1 if found.violated else 0


def _add(section: Section, runs: Replicates, found: AgainstBound) -> None:
    passes = runs.mean("gradients") / len(runs[0].w)
    quantiles, pair_gaps = runs.quantiles(), runs.column("pair_gap")
    for k, verdict in enumerate(found.verdicts):
        gaps = [float(level[k]) for level in quantiles]
        section.add(
            (
                f"{found.iterations[k]:,}",
                f"{passes[k]:.3g}",
                *(f"{gap:.2e}" for gap in gaps),
                f"{found.mean[k]:.3e}",
                f"{found.lower[k]:.3e}…{found.upper[k]:.3e}",
                f"{found.bound[k]:.3e}",
                verdict,
            ),
            iteration=int(found.iterations[k]),
            passes=float(passes[k]),
            best_gap_quantiles=gaps,
            mean=float(found.mean[k]),
            interval=[float(found.lower[k]), float(found.upper[k])],
            bound=float(found.bound[k]),
            verdict=verdict,
            gaps=pair_gaps[:, k].tolist(),
        )

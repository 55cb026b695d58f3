"""Run the algorithm of the paper once for each seed and set the mean gap, with
confidence intervals, beside the theorem's bound of its expectation. Status 1
where a mean is above it.

    rcmd replicate a9a.bz2 --oracle l1:5 --batch 1% --seeds 20 --plot a9a.png

The figure has every run, their mean and quantiles, and the bound, over passes.
With several batches or schedules, between commas, it is a study: a table for
each, and a figure of their means and bounds.

    rcmd replicate --batch 1,4,40 --passes 30 --plot batches.svg
    rcmd replicate --schedule sublinear,head-start --passes 30
"""

import argparse
import math
from itertools import product
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
from rcmd.theory.replicates import AgainstBound, Replicates, check_confidence, sweep

NOTES = (
    "best: quantiles of the gap of the best pair up to there; the numbers of steps are in the JSON "
    "file",
    "mean gap: of the pair that the theorem is about, whose expectation it bounds",
    "±: Student's intervals, all together at {:.0%}; below, above: where the mean is, of the "
    "bound, with its whole interval",
)

HEADER = ("passes", "best: 10 %", "median", "90 %", "mean gap", "±", "bound", "")


def add_options(parser: argparse.ArgumentParser) -> None:
    add_problem_options(parser, oracle="l1:5")
    add = parser.add_argument
    add("--passes", type=float, default=10.0, help="gradients per row (default: %(default)s)")
    add("--seeds", type=int, default=20, help="runs, from --seed on (default: %(default)s)")
    add("--jobs", type=int, default=1, help="processes, -1 for all cores (default: %(default)s)")
    add("--confidence", type=float, default=0.95, help="(default: %(default)s)")
    add_method_options(parser, "rcmd, as corrections would hide what the seed does")
    add_plot_option(parser)


def run(options: argparse.Namespace) -> int:
    if not 0 < options.passes < math.inf:
        raise ValueError(f"--passes is {options.passes}; expected a number above 0")
    if options.seeds < 2:
        raise ValueError(f"--seeds is {options.seeds}; expected at least 2")
    check_confidence(options.confidence)
    problem, remarks = samples_problem(options, options.loss, options.oracle)
    common = {"tol": 0.0, "max_gradients": math.ceil(options.passes * problem.n)}
    cases = {name: (problem, own) for name, own in studied(options).items()}
    seeds = range(options.seed, options.seed + options.seeds)
    found = sweep(cases, seeds, n_jobs=options.jobs, tell=tell_on_terminal, **common)
    sections, violated = [], False
    for name, (_, own) in cases.items():
        section, above = _section(name, problem, found[name], common | own, options.confidence)
        section.notes[:0] = remarks
        sections.append(section)
        violated = violated or above
    for section in sections[:-1]:
        section.notes = [note for note in section.notes if note not in sections[-1].notes]
    settings = about_command(options, rows=problem.n, features=problem.p)
    Report(sections, settings).tell(options.json)
    if options.plot is not None:
        figure = found.plot() if len(found) > 1 else next(iter(found.values())).plot()
        figure.savefig(options.plot)
    return 1 if violated else 0


def studied(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The batch and the method of each case, by its name: every batch with every schedule."""
    batches, schedules = split(options.batch), split(options.schedule)
    cases = {}
    for batch, schedule in product(batches, schedules):
        words = argparse.Namespace(**vars(options) | {"batch": batch, "schedule": schedule})
        named = [f"batch {batch}"] * (len(batches) > 1) + [str(schedule)] * (len(schedules) > 1)
        own = {"batch": chosen_batch(words), "method": chosen_method(words, "rcmd")}
        cases[", ".join(named)] = own
    return cases


def split(text: str | None) -> list[str | None]:
    """The words between commas; in a word with parentheses commas are its own.

    >>> split("1,4"), split("mine.py:Steps(1,2)"), split(None)
    (['1', '4'], ['mine.py:Steps(1,2)'], [None])
    """
    return [text] if text is None or "(" in text else [*text.split(",")]


def _section(
    name: str, problem: Problem, runs: Replicates, chosen: dict[str, Any], confidence: float
) -> tuple[Section, bool]:
    """The table of a case, and whether a mean is above its bound."""
    found = runs.against_bound(confidence) if runs.bounded else None
    size = f"n = {problem.n:,}, p = {problem.p:,}"
    about = f"{len(runs)} runs, {size}, {problem.loss!r}, {problem.regularizer!r}"
    notes = [NOTES[0]]
    if found is None:
        notes.append(f"no theorem bounds these runs: {runs[0].note}")
    else:
        notes += [NOTES[1], NOTES[2].format(confidence), *bounds_shown(problem, chosen, found)]
    title = ": ".join(filter(None, (name, about)))
    section = Section("replicates", title, HEADER if found else HEADER[:4], notes=notes)
    _add(section, runs, found)
    return section, found is not None and found.violated


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

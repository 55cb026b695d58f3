"""``rcmd replicate``: the mean gap over many seeds beside the theorem's bound."""

from __future__ import annotations

import argparse
import math

from rcmd.bench.report import Report, Section, about_command
from rcmd.json_output import check_json
from rcmd.problem import Problem
from rcmd.replicates.against_bound import AgainstBound
from rcmd.replicates.replicates import Replicates
from rcmd.replicates.running import replicate
from rcmd.solving.samples import read_samples
from rcmd.specs import made, parse_batch, parse_loss, parse_oracle
from rcmd.telling import tell_on_terminal

HEADER = ("steps", "passes", "best gap 10 %", "median", "90 %", "mean gap", "interval", "bound", "")


def run_replicate(options: argparse.Namespace) -> int:
    """The command; returns the exit status: 1 where a mean is above the bound."""
    check_json(options.json)
    if not 0 < options.passes < math.inf:
        raise ValueError(f"--passes is {options.passes}; expected a number above 0")
    if options.seeds < 2:
        raise ValueError(f"--seeds is {options.seeds}; expected at least 2")
    loss, oracle = parse_loss(options.loss), parse_oracle(options.oracle)
    X, y, remarks = read_samples(options.file, options.data, loss, options.seed)
    problem = Problem(X, y, loss, made(oracle, X.shape[1]))
    runs = replicate(
        problem,
        range(options.seed, options.seed + options.seeds),
        n_jobs=options.jobs,
        tell=tell_on_terminal,
        batch=parse_batch(options.batch),
        tol=0.0,
        max_gradients=math.ceil(options.passes * problem.n),
        corrective=False,
    )
    found = runs.against_bound(options.confidence)
    title = f"{options.seeds} runs, n = {problem.n:,}, p = {problem.p:,}, {loss!r}, {oracle!r}"
    section = Section("replicates", title, HEADER, notes=[*remarks, *_notes(found)])
    _add(section, runs, found)
    settings = about_command(options, rows=problem.n, features=problem.p)
    Report([section], settings).tell(options.json)
    return 1 if found.violated else 0


def _add(section: Section, runs: Replicates, found: AgainstBound) -> None:
    passes = runs.mean("gradients") / len(runs[0].w)
    quantiles = runs.quantiles()
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
            gaps=[row[k] for row in runs.pair_gaps],
        )


def _notes(found: AgainstBound) -> list[str]:
    return [
        "best gap: of the best pair up to there; mean gap: of the pair that the theorem speaks of, "
        "whose expectation it bounds",
        f"Student's intervals, all together at {found.confidence:.0%}; below, above: the bound is "
        "outside the interval",
    ]

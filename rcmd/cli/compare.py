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

from rcmd.cli.options import (
    add_plot_option,
    add_problem_options,
    add_step_options,
    chosen_batch,
    limit,
    with_steps,
)
from rcmd.cli.tasks import samples_problem
from rcmd.lab.comparison import compare
from rcmd.lab.racing import FIELD, entrants_of
from rcmd.methods.base import BATCH
from rcmd.methods.corrected import Corrected
from rcmd.methods.rcmd import RCMD
from rcmd.reporting.tables import Report, about_command


def add_options(parser: argparse.ArgumentParser) -> None:
    add_problem_options(parser, oracle="l1:5", tol=1e-10, max_seconds=None)
    add = parser.add_argument
    add("--methods", metavar="NAMES", help="with commas (default: all that fit)")
    add_step_options(parser)
    passes = "gradients per row (default: %(default)s)"
    add("--passes", type=limit(float), default=20.0, help=passes)
    seeds = "runs, from --seed on (default: %(default)s)"
    add("--seeds", type=limit(int), default=3, help=seeds)
    add_plot_option(parser)


def run(options: argparse.Namespace) -> int:
    words = FIELD if options.methods is None else options.methods.split(",")
    methods = {one.name: one.method for one in entrants_of(words)}
    for name, method in methods.items():
        if isinstance(method, RCMD | Corrected):
            methods[name] = with_steps(method, options)
    problem, remarks = samples_problem(options, options.loss, options.oracle)
    comparison = compare(
        problem,
        methods,
        skip=options.methods is None,
        batch=chosen_batch(options) or BATCH,
        passes=options.passes,
        seeds=range(options.seed, options.seed + options.seeds),
        tol=options.tol,
        max_seconds=options.max_seconds,
    )
    section = comparison.section()
    section.title = f"{options.file or 'generated data'}: {section.title}"
    section.notes[:0] = remarks
    about = about_command(options, rows=problem.n, features=problem.p)
    about["ground"] = problem.ground_text
    about["best_known"] = {"primal": comparison.best, "dual": comparison.lower}
    Report([section], about).tell(options.json)
    if options.plot is not None:
        comparison.plot().savefig(options.plot)
    return 0

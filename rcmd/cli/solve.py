"""``rcmd solve``: the run, then its report, its JSON, its figure and its file."""

from __future__ import annotations

import argparse

from rcmd.cli.options import (
    add_data_options,
    add_result_options,
    add_run_options,
    check_outputs,
    run_options,
    word,
)
from rcmd.cli.results import HEADER, report, row
from rcmd.cli.tasks import TASKS, Task, words_of
from rcmd.model import truth
from rcmd.model.problem import Problem
from rcmd.reporting.json_output import say
from rcmd.reporting.process import exit_status, launched_ranks
from rcmd.reporting.progress import RunProgress, tell_on_terminal
from rcmd.solver.history import State
from rcmd.solver.result import Result
from rcmd.solver.run import Run
from rcmd.solver.solve import drive, iterate

DEFAULT_TOL = "0.001, for matrices times the mean loss at β = 0"

HELP = """\
Solve a problem to a certified gap and show how it went.

With no FILE: l1-constrained logistic regression on built-in generated data,
compared with the CVXPY optimum. With a LIBSVM file (plain, .gz, .bz2 or .xz),
or the name of a data set:

    rcmd solve a9a.bz2 --loss logistic --oracle l1:5 --batch 1% --tol 1e-2
    rcmd solve a9a --data ~/libsvm --tol 1e-6 --save a9a.rcmd --plot a9a.pdf

A loss of your own is a class in a file, or a formula in s and y:

    rcmd solve a9a --loss my_losses.py:Tilted
    rcmd solve a9a --loss 'expression:log(1 + exp(-y*s))'

--rows entries completes a matrix from lines "row column value"; --rows cur
chooses columns and rows of a matrix (text or .npy):

    rcmd solve ratings.txt --rows entries --oracle nuclear:auto:9 --held-out 0.2
    rcmd solve matrix.csv --rows cur --oracle cur:auto:0.5

With mpirun the rows are spread over processes, here or on several machines,
and the plain algorithm takes the same steps whatever their number (pip install
'rcmd-opt[mpi]'):

    mpirun -n 4 rcmd solve a9a.bz2 --batch 10% --tol 1e-2

All losses and oracles, and how they are written: rcmd list.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """What may be typed after ``rcmd solve``."""
    add_data_options(parser)
    add = parser.add_argument
    add("--rows", choices=tuple(TASKS), default="libsvm", help="what FILE holds (default: libsvm)")
    add("--loss", type=word, help="the loss (default: logistic, for matrices least-squares)")
    add("--oracle", type=word, help="the set or the regularizer (default: l1:5)")
    add("--intercept", type=float, metavar="B", help="add an intercept between -B and B")
    add("--held-out", type=float, metavar="SHARE", help="entries: share to leave out and predict")
    add("--keep", metavar="CxR", help="cur: columns and rows to keep (default: 90%% of the weight)")
    add_run_options(parser, batch="1%, matrices: 100%", tol=DEFAULT_TOL)
    parser.set_defaults(seed=0)  # which generated data depend on, too
    add_result_options(parser)


def run(options: argparse.Namespace) -> int:
    """Carry out ``rcmd solve``; returns the exit status."""
    if launched_ranks() > 1:
        from rcmd.cli.mpi import on_every_rank, sharded_task

        return on_every_rank(lambda g: _start(sharded_task(g, options), options), options)
    check_outputs(options)
    return _start(TASKS[options.rows](options), options)


def _start(task: Task, options: argparse.Namespace) -> int:
    defaults = {"batch": task.batch, "tol": task.tol, "method": task.method}
    steps = iterate(task.problem, **run_options(options, **defaults))
    if steps.saver is not None:
        steps.saver.command = words_of(options, task.problem)
    return finish(task, steps, options)


def finish(task: Task, steps: Run, options: argparse.Namespace) -> int:
    """Let the run go to its end, and say and write all about it; returns the exit status."""
    about = task.problem.describe(steps.progress.constants_batch)  # every rank answers, one speaks
    speaks = task.problem.group.rank == 0
    if speaks:
        say("\n".join([*task.remarks, about, "", HEADER]), options.json)
    result = drive(steps, _Rows(steps, options) if speaks else ())
    if speaks:
        tell_on_terminal("")
        said = list(task.summary(result))
        if options.truth or (options.file is None and not task.problem.spread):
            said.append(_beside_the_truth(task.problem, result))
        report(result, options, task.remarks, said)
    return exit_status(result)


class _Rows:
    """A line for each doubling of the gradients, and the progress in between."""

    def __init__(self, steps: Run, options: argparse.Namespace) -> None:
        self._steps, self._json, self._shown = steps, options.json, 0
        self._progress = RunProgress(steps.tol, steps.budgets, tell_on_terminal)

    def __call__(self, state: State) -> None:
        # Certificates are closer together than people can read.
        if state.gradients >= 2 * self._shown or self._steps.stop is not None:
            tell_on_terminal("")
            say(row(state), self._json)
            self._shown = state.gradients
        self._progress(state)


def _beside_the_truth(problem: Problem, result: Result) -> str:
    optimum = truth.solve(problem)
    distance = float(result.primal) - optimum.primal
    return (
        f"CVXPY: P* = {optimum.primal:.10f}, so P(β) − P* = {distance:.3e}, "
        f"{'within' if distance <= result.gap + 1e-9 else 'OUTSIDE'} the certified gap"
    )

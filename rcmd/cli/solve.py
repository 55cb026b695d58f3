"""Solve a problem to a certified gap and show how it went.

With no FILE: the algorithm of the paper on l1-constrained logistic regression
with built-in generated data, beside its theorem's bound and the CVXPY optimum.
With a LIBSVM file (plain, .gz, .bz2 or .xz), or the name of a data set, steps
of the algorithm and then corrections:

    rcmd solve a9a.bz2 --loss logistic --oracle l1:5 --batch 1% --tol 1e-2
    rcmd solve a9a --data ~/libsvm --tol 1e-6 --save a9a.rcmd --plot a9a.pdf

A table has a column for each feature and one for the label, the last one unless
--label names another; text of two classes is mapped to -1 and +1:

    rcmd solve people.csv --label outcome --intercept 10

A loss of your own is a class in a file, or a formula in s and y; so are a set
and a method, or an object such as RCMD(schedule=…, prox=…) in the file:

    rcmd solve a9a --loss 'expression:log(1 + exp(-y*s))'
    rcmd solve a9a --loss mine.py:Tilted --oracle 'mine.py:Cone(2.0)'
    rcmd solve a9a --method mine.py:steps
    rcmd solve a9a --method rcmd --schedule head-start --prox euclidean

Numbers of each sample, such as the logarithm of its exposure, or those that a
loss reads beside the label, are in files of their own:

    rcmd solve counts.txt --loss poisson --offset exposure.npy
    rcmd solve a9a --loss 'expression:softplus(-y*s + m)' --field m=margins.txt

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

import argparse
import math
import os
from collections.abc import Iterator, Sequence
from typing import Any

from rcmd.cli.options import (
    FLAGS,
    STEPS,
    add_data_options,
    add_method_options,
    add_result_options,
    add_run_options,
    chosen_batch,
    chosen_method,
    given,
    word,
)
from rcmd.cli.tasks import TASKS, Task, field_files, located
from rcmd.model import truth
from rcmd.model.bounds import Bound
from rcmd.model.problem import Problem
from rcmd.model.user_code import code_run
from rcmd.reporting.progress import RunProgress, exit_status, launched_ranks, tell_on_terminal
from rcmd.reporting.sketch import sketch
from rcmd.reporting.tables import about_command, say, write_json
from rcmd.solver.history import History, Record, State, StopReason
from rcmd.solver.result import Result
from rcmd.solver.run import Run
from rcmd.solver.saved_results import as_data
from rcmd.solver.solve import TOL, iterate, solve

WORDS: dict[str, type] = {
    "rows": str, "file": str, "label": str, "data": str, "loss": str, "oracle": str,
    "intercept": float, "offset": str, "field": list, "batch": str, "seed": int,
    "held_out": float, "keep": str, "method": str, "schedule": str, "prox": str,
}  # fmt: skip
"""The options that say what is solved, and by which steps; each may be ``None``."""

DEFAULTS = {
    "method": "corrected, for built-in data and entries rcmd",
    "batch": "1%, or the method's own rule; matrices: 100%",
    "tol": f"{TOL:g}; built-in data 0.01; matrices: 0.001 times the mean loss at β = 0",
    "max_gradients": "1000 passes, at least 10 million",
}
"""Defaults in words, for the help; those of batch and tol depend on the task."""

RESOLVED = 1e-12
"""A gap below this share of 1 + |P| that does not fall is as small as rounding lets it be."""

COLUMNS = {
    "passes": 9, "P(β)": 13, "D(w)": 13,
    "gap of averages": 15, "certified gap": 13, "bound on E": 12,
}  # fmt: skip
"""The table's columns and their widths: passes over the data; the gap of the theorem's pair, whose
expectation is bounded; the smallest gap of any pair so far."""

HEADER = " ".join(f"{word:>{width}}" for word, width in COLUMNS.items())

SPACING = 1.5
"""How many times the gradients of a line are those of the line above: records are more."""

SKETCHED = 8
"""Records from which on a run has a shape to draw."""


def add_options(parser: argparse.ArgumentParser) -> None:
    add_task_options(parser)
    keep = "cur: columns and rows to keep (default: 90%% of the weight)"
    parser.add_argument("--keep", metavar="CxR", help=keep)
    own = {name: option.default for name, option in FLAGS.items()}
    del own["method"]
    add_method_options(parser, DEFAULTS["method"])
    add_run_options(parser, own | {"tol": None}, DEFAULTS)
    add_result_options(parser)


def add_task_options(parser: argparse.ArgumentParser) -> None:
    """The options that say which problem it is, but for the seed that draws data."""
    add_data_options(parser)
    add = parser.add_argument
    add("--rows", choices=tuple(TASKS), default="libsvm", help="what FILE holds (default: libsvm)")
    add("--loss", type=word, help="the loss (default: logistic, for matrices least-squares)")
    add("--oracle", type=word, help="the set or the regularizer (default: l1:5)")
    add("--intercept", type=float, metavar="B", help="add an intercept between -B and B")
    add("--held-out", type=float, metavar="SHARE", help="entries: share to leave out and predict")


def run(options: argparse.Namespace) -> int:
    if launched_ranks() > 1:
        from rcmd.cli.mpi import on_every_rank, sharded_task

        return on_every_rank(lambda g: _start(sharded_task(g, options), options), options)
    return _start(TASKS[options.rows](options), options)


def _start(task: Task, options: argparse.Namespace) -> int:
    method = chosen_method(options, task.method)
    plain = getattr(method, "plain", method)
    own = any(getattr(plain, name, None) is not None for name in ("batch", "sampler"))
    chosen: dict[str, Any] = {"tol": task.tol} | given(options, FLAGS) | {"method": method}
    chosen["batch"] = chosen_batch(options)
    if chosen["batch"] is None and method.any_batch and not own:
        chosen["batch"] = task.batch
    steps = iterate(task.problem, **chosen)
    if steps.saver is not None:
        steps.saver.command = words_of(options, task.problem)
    return finish(task, steps, options)


def words_of(options: argparse.Namespace, problem: Problem) -> dict[str, Any]:
    """The options that say what is solved, with the absolute path of the data."""
    words = {name: getattr(options, name) for name in WORDS}
    named = " ".join(str(words[name]) for name in ("loss", "oracle", "method", *STEPS))
    code = {place: sha256 for place, sha256 in code_run.items() if place in named}
    words |= {"spread": problem.spread, "code": code}
    if options.file is not None:
        path = located(options.file, options.data) if options.rows == "libsvm" else options.file
        words |= {"file": os.path.abspath(path), "data": None}
    if options.offset is not None:
        words["offset"] = os.path.abspath(options.offset)
    if options.field is not None:
        files = field_files(options).items()
        words["field"] = [f"{name}={os.path.abspath(file)}" for name, file in files]
    return words


def finish(task: Task, steps: Run, options: argparse.Namespace) -> int:
    """Finish the run, print and write its result; returns the exit status."""
    problem = task.problem
    about = repr(problem)
    if steps.started:
        run = steps.progress
        about = problem.describe(run.constants_batch, run.theorem)  # collective; rank 0 prints
    if problem.group.rank > 0:
        return exit_status(steps.finish())
    say("\n".join([*task.remarks, about, "", HEADER]), options.json)
    rows = _Rows(steps, options)
    steps.callbacks = (rows,)
    result = steps.finish()
    tell_on_terminal("")
    if options.save is not None:  # before anything else, which may fail
        result.save(options.save)
    said = list(task.summary(result))
    shown = [bound.described() for bound in rows.bounds.values()]
    known = " ".join(about.split())
    named = [f"bound {text}" for text in shown if text not in known]
    told = [*picture(result.history, problem.n), "", *named, *ending(result), *said]
    say("\n".join(told), options.json)
    built_in = options.file is None and not problem.spread
    if options.truth or built_in:
        said.append(_beside_the_truth(problem, result))  # CVXPY takes longer than the solve
        say(said[-1], options.json)
    if built_in and options.method is None:
        said.append(_with_corrections(problem, options))
        say(said[-1], options.json)
    if options.plot is not None:
        result.plot().savefig(options.plot)
    words = {"remarks": task.remarks, "said": said}
    write_json(about_command(options) | as_data(result) | words, options.json)
    return exit_status(result)


class _Rows:
    """The lines of the table, and the progress in between."""

    def __init__(self, steps: Run, options: argparse.Namespace) -> None:
        self._steps, self._json, self._shown = steps, options.json, 0
        self.bounds: dict[str, Bound] = {}
        """Those that lines show, by name."""
        self._progress = RunProgress(steps.tol, steps.budgets, tell_on_terminal)

    def __call__(self, state: State) -> None:
        if state.gradients >= SPACING * self._shown or self._steps.stop is not None:
            tell_on_terminal("")
            say(row(state, self._steps.problem.n), self._json)
            if (best := self._steps.progress.best_bound) is not None:
                self.bounds[best[0].name] = best[0]
            self._shown = state.gradients
        self._progress(state)


def row(state: Record, n: int, own: Sequence[str] = ()) -> str:
    """One line under ``HEADER``, of a run with n rows, and then the columns ``own``."""
    pair_gap, bound = (
        "–" if math.isnan(value) else f"{float(value):.3e}"
        for value in (state.pair_gap, state.bound)
    )
    bound = "corrections" if state.phase == "corrective" else bound
    cells = (
        f"{state.gradients / n:,.2f}", f"{float(state.primal):.8f}", f"{float(state.dual):.8f}",
        pair_gap, f"{float(state.gap):.3e}", bound,
    )  # fmt: skip
    words = [f"{cell:>{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True)]
    return " ".join([*words, *(f"{float(state.own.get(name, math.nan)):>14.6g}" for name in own)])


def picture(history: History, n: int) -> Iterator[str]:
    """The gap of a run over its passes, and the bound, where there is something to see."""
    if len(history) < SKETCHED:
        return
    gap = history.column("pair_gap")
    name = "* gap of averages"
    if any(map(math.isnan, gap)):  # as in corrections
        gap, name = history.column("gap"), "* certified gap"
    curves = {"- bound on E": history.column("bound"), name: gap}
    if drawn := sketch("passes", history.column("gradients") / n, curves):
        yield f"\n{drawn}"


def ending(result: Result) -> Iterator[str]:
    """How the run ended, and what its certificate says."""
    pair = result.certificate
    yield result.message
    if result.stop in (StopReason.GRADIENTS, StopReason.SECONDS):
        yield "for a smaller gap raise --max-gradients or --max-seconds"
    if result.stop is StopReason.PRECISION:
        yield f"doubles tell no gap below {float(pair.gap):.3e} beside such a P(β)"
    if result.stop is StopReason.STALLED:
        precise = float(pair.gap) <= RESOLVED * (1 + abs(float(pair.primal)))
        limit = "double precision shows no smaller gap" if precise else "another --method may do"
        yield f"the gap stayed as it is while the gradients grew tenfold: {limit}"
    yield f"P(β) = {float(pair.primal):.10f} is at most {float(pair.gap):.3e} above the optimum:"
    yield f"  losses      (1/n) Σ l(xᵀβ) + l*(w) − w·xᵀβ   = {float(pair.loss_gap):.3e}"
    yield f"  regularizer R(β) + R*(−Xᵀw/n) + (Xᵀw/n)ᵀβ    = {float(pair.regularizer_gap):.3e}"
    yield f"  ground      {pair.ground_text}"
    if result.note:
        yield result.note


def _with_corrections(problem: Problem, options: argparse.Namespace) -> str:
    result = solve(problem, seed=options.seed or 0)
    return (
        f"with corrections: a certified gap of {float(result.gap):.1e} after "
        f"{result.history[-1].gradients:,} gradients, by --method corrected --tol {TOL:g}"
    )


def _beside_the_truth(problem: Problem, result: Result) -> str:
    try:
        optimum = truth.solve(problem)
    except Exception as fault:  # whatever CVXPY or its solver does, the result is not lost
        return f"no comparison with CVXPY: {str(fault) or type(fault).__name__}"
    distance = float(result.primal) - optimum.primal
    return (
        f"CVXPY: P* = {optimum.primal:.10f}, so P(β) − P* = {distance:.3e}, "
        f"{'within' if distance <= result.gap + 1e-9 else 'OUTSIDE'} the certified gap"
    )

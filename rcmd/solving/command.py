"""``rcmd solve``: the run, then its report, its JSON, its figure and its file."""

from __future__ import annotations

import argparse

from rcmd.bench.report import about
from rcmd.budgets import Budgets
from rcmd.exit_status import status_of
from rcmd.json_output import check_folder, check_json, say, write_json
from rcmd.plotting import check_plot
from rcmd.problem import Problem
from rcmd.result import Result
from rcmd.run import iterate
from rcmd.solving.report import HEADER, as_data, ending, row
from rcmd.solving.tasks import TASKS, Task
from rcmd.specs import parse_batch
from rcmd.telling import RunProgress, tell_on_terminal
from rcmd.validation import batch_size


def run_solve(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    check_json(options.json)
    if options.plot is not None:
        check_plot(options.plot)
    if options.save is not None:
        check_folder(options.save)
    task = TASKS[options.rows](options)
    result = _run(task, options)
    said = list(task.summary(result))
    if options.truth or options.file is None:
        said.append(_beside_the_truth(task.problem, result))
    say("\n".join(["", *ending(result), *said]), options.json)
    if options.save is not None:
        result.save(options.save)
    if options.plot is not None:
        result.plot().savefig(options.plot)
    settings = {name: value for name, value in vars(options).items() if name not in ("run", "seed")}
    made_by = about(options.seed, None, **settings)
    write_json(made_by | as_data(result) | {"remarks": task.remarks, "said": said}, options.json)
    return status_of(result)


def _run(task: Task, options: argparse.Namespace) -> Result:
    """Run, with a line for each doubling and the progress in between."""
    problem = task.problem
    size = batch_size(parse_batch(options.batch or task.batch), problem.n)
    tol = task.tol if options.tol is None else options.tol
    run = iterate(
        problem,
        batch=size,
        tol=tol,
        seed=options.seed,
        max_seconds=options.max_seconds,
        max_gradients=options.max_gradients,
        corrective=task.corrective,
    )
    say("\n".join([*task.remarks, problem.describe(size), "", HEADER]), options.json)
    budgets = Budgets(None, options.max_gradients, options.max_seconds, n=problem.n, batch=size)
    progress = RunProgress(tol, budgets, tell_on_terminal)
    shown = 0
    for state in run:
        # Certificates are closer together than people can read.
        if state.gradients >= 2 * shown or run.stop is not None:
            tell_on_terminal("")
            say(row(state), options.json)
            shown = state.gradients
        progress(state)
    tell_on_terminal("")
    return run.result()


def _beside_the_truth(problem: Problem, result: Result) -> str:
    from rcmd import truth

    optimum = truth.solve(problem)
    distance = float(result.primal) - optimum.primal
    return (
        f"CVXPY: P* = {optimum.primal:.10f}, so P(β) − P* = {distance:.3e}, "
        f"{'within' if distance <= result.gap + 1e-9 else 'OUTSIDE'} the certified gap"
    )

"""``rcmd solve``, ``rcmd resume``: the run, then its report, its JSON, its figure and its file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rcmd.bench.report import about_command
from rcmd.exit_status import status_of
from rcmd.json_output import check_folder, check_json, say, write_json
from rcmd.plotting import check_plot
from rcmd.problem import Problem
from rcmd.result import Result, State
from rcmd.run import drive, iterate
from rcmd.running import Run
from rcmd.saving.resuming import read_checkpoint, reopen
from rcmd.solving.checkpoints import options_from, words_of
from rcmd.solving.report import HEADER, as_data, ending, row
from rcmd.solving.tasks import TASKS, Task
from rcmd.specs import parse_batch
from rcmd.telling import RunProgress, tell_on_terminal
from rcmd.validation import batch_size


def run_solve(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    _check_outputs(options)
    task = TASKS[options.rows](options)
    size = batch_size(parse_batch(options.batch or task.batch), task.problem.n)
    run = iterate(
        task.problem,
        batch=size,
        tol=task.tol if options.tol is None else options.tol,
        seed=options.seed,
        max_seconds=options.max_seconds,
        max_gradients=options.max_gradients,
        corrective=task.corrective,
        checkpoint=options.checkpoint,
        every=options.every,
    )
    if run.saver is not None:
        run.saver.command = words_of(options)
    return _told(task, run, size, options)


def run_resume(options: argparse.Namespace) -> int:
    """``rcmd resume``; returns the exit status."""
    _check_outputs(options)
    path = Path(options.checkpoint)
    words = read_checkpoint(path)[0]["command"]
    changes = changes_in(options)
    options = options_from(options.checkpoint, words, options)
    task = TASKS[options.rows](options)
    size = batch_size(parse_batch(options.batch or task.batch), task.problem.n)
    return _told(task, reopen(path, task.problem, **changes), size, options)


def changes_in(options: argparse.Namespace) -> Any:
    """What the run that goes on is to have otherwise."""
    names = ("tol", "max_seconds", "max_gradients", "every")
    return {name: vars(options)[name] for name in names if vars(options)[name] is not None}


def _check_outputs(options: argparse.Namespace) -> None:
    """Refuse names that cannot be written to, before the work."""
    check_json(options.json)
    if options.plot is not None:
        check_plot(options.plot)
    if options.save is not None:
        check_folder(options.save)


def _told(task: Task, run: Run, size: int, options: argparse.Namespace) -> int:
    """The run with all that is said and written of it; returns the exit status."""
    result = _followed(task, run, size, options)
    said = list(task.summary(result))
    if options.truth or options.file is None:
        said.append(_beside_the_truth(task.problem, result))
    say("\n".join(["", *ending(result), *said]), options.json)
    if options.save is not None:
        result.save(options.save)
    if options.plot is not None:
        result.plot().savefig(options.plot)
    made_by, told = about_command(options), {"remarks": task.remarks, "said": said}
    write_json(made_by | as_data(result) | told, options.json)
    return status_of(result)


def _followed(task: Task, run: Run, size: int, options: argparse.Namespace) -> Result:
    """Run, with a line for each doubling and the progress in between."""
    say("\n".join([*task.remarks, task.problem.describe(size), "", HEADER]), options.json)
    progress = RunProgress(run.tol, run.budgets, tell_on_terminal)
    shown = 0

    def show(state: State) -> None:
        nonlocal shown
        # Certificates are closer together than people can read.
        if state.gradients >= 2 * shown or run.stop is not None:
            tell_on_terminal("")
            say(row(state), options.json)
            shown = state.gradients
        progress(state)

    result = drive(run, show)
    tell_on_terminal("")
    return result


def _beside_the_truth(problem: Problem, result: Result) -> str:
    from rcmd import truth

    optimum = truth.solve(problem)
    distance = float(result.primal) - optimum.primal
    return (
        f"CVXPY: P* = {optimum.primal:.10f}, so P(β) − P* = {distance:.3e}, "
        f"{'within' if distance <= result.gap + 1e-9 else 'OUTSIDE'} the certified gap"
    )

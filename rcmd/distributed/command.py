"""``mpirun -n 4 rcmd solve …``: the command on several ranks, of which rank 0 speaks."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rcmd import datasets
from rcmd.bench.report import about
from rcmd.distributed.group import Alone, Group, SharedFault, one_for_all, together
from rcmd.distributed.mpi import world
from rcmd.distributed.problem import ShardedProblem
from rcmd.distributed.resuming import read_sharded, reopen_sharded
from rcmd.distributed.run import ShardedRun
from rcmd.distributed.shards import fitting_labels, read_shard, shard
from rcmd.distributed.watch import Watched
from rcmd.exit_status import EXIT_BAD_INPUT, status_of
from rcmd.json_output import check_folder, check_json, say, write_json
from rcmd.launched import launched_ranks
from rcmd.plotting import check_plot
from rcmd.result import Result
from rcmd.solving.report import HEADER, as_data, ending, row
from rcmd.solving.samples import found
from rcmd.solving.solutions import about_oracle
from rcmd.specs import made, parse_batch, parse_loss, parse_oracle

PROBLEM = ("file", "data", "loss", "oracle", "intercept", "seed")
"""The options that say what is solved, which a checkpoint keeps."""


def run_solve_sharded(options: argparse.Namespace) -> int:
    """``rcmd solve`` on this rank; returns the exit status, the same on all."""

    def work(group: Group) -> int:
        with together(group):
            _check(options)
            batch = parse_batch(options.batch or "1%")
        words = {name: getattr(options, name) for name in PROBLEM}
        problem, remarks = _problem(group, words)
        run = ShardedRun(
            problem,
            batch=batch,
            tol=1e-3 if options.tol is None else options.tol,
            seed=options.seed,
            max_seconds=options.max_seconds,
            max_gradients=options.max_gradients,
            checkpoint=options.checkpoint,
            every=options.every,
        )
        if run.saver is not None:
            run.saver.command = words
        return _told(run, options, remarks)

    return _on_every_rank(work, options.checkpoint)


def run_resume_sharded(file: str, options: argparse.Namespace, **changes: Any) -> int:
    """``rcmd resume FILE`` on this rank, which need not have been there before."""

    def work(group: Group) -> int:
        with together(group):
            _check_outputs(options)
        words = read_sharded(group, Path(file))[0]["command"]
        if words is None:
            raise SharedFault(
                f"{file} was not written by `rcmd solve`, and does not say how its problem is "
                "made; expected one that was: in Python, resume_sharded(file, problem) goes on"
            )
        problem, remarks = _problem(group, words)
        return _told(reopen_sharded(file, problem, **changes), options, remarks)

    return _on_every_rank(work, file)


def is_sharded(file: str) -> bool:
    """Whether the file is a checkpoint of a run on several ranks."""
    from rcmd.distributed.saver import SHARDED

    with open(file, "rb") as stream:
        return stream.read(len(SHARDED.name)) == SHARDED.name.encode()


def _on_every_rank(work: Callable[[Group], int], checkpoint: str | None) -> int:
    """An error that every rank has is told by one; one that a rank has alone ends the others."""
    group = world() if launched_ranks() > 1 else Alone()
    hint = "" if checkpoint is None else f"; mpirun -n RANKS rcmd resume {checkpoint} goes on"
    try:
        with one_for_all(group), Watched(group, hint):
            return work(group)
    except SharedFault:
        if group.rank == 0:
            raise
        return EXIT_BAD_INPUT


def _check(options: argparse.Namespace) -> None:
    _check_outputs(options)
    if options.rows != "libsvm":
        raise ValueError(
            f"--rows {options.rows} on several ranks; expected samples, --rows libsvm: start one "
            "process for matrices"
        )
    for name in ("held_out", "keep"):
        if getattr(options, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')} has no meaning here; leave it out")


def _check_outputs(options: argparse.Namespace) -> None:
    check_json(options.json)
    if options.save is not None:
        check_folder(options.save)
    if options.plot is not None:
        check_plot(options.plot)
    if options.truth:
        raise ValueError("--truth needs all rows in one process; leave it out on several ranks")


def _problem(group: Group, words: dict[str, Any]) -> tuple[ShardedProblem, list[str]]:
    """The problem that the words of a command line stand for, and what was done to its data."""
    remarks: list[str] = []
    with together(group):
        loss = parse_loss(words["loss"] or "logistic")
        oracle = parse_oracle(words["oracle"] or "l1:5")
        path = words["file"]
        if path is not None:  # whole, for who goes on from another folder
            path = words["file"] = os.path.abspath(found(path, words["data"]))
    if path is None:
        signs_only = loss.label_fault([0.5]) is not None
        make = datasets.make_classification if signs_only else datasets.make_regression
        X, y = shard(group, *make(rng=words["seed"]))
    else:
        X, y = read_shard(group, path)
        y, remarks = fitting_labels(group, loss, y)
    with together(group):
        regularizer = made(oracle, X.shape[1])
    given = {"group": group, "intercept": words["intercept"]}
    return ShardedProblem(X, y, loss, regularizer, **given), remarks


def _told(run: ShardedRun, options: argparse.Namespace, remarks: list[str]) -> int:
    """Run to the end; rank 0 prints a line for each doubling, and the report."""
    problem, group = run.problem, run.group
    size = run.engine.step_gradients
    words = [*remarks, problem.describe(size), ""]  # every rank answers, one prints
    _say(group, "\n".join([*words, _spread(run), "", HEADER]), options)
    shown = 0
    for state in run:
        if state.gradients >= 2 * shown or run.stop is not None:
            _say(group, row(state), options)
            shown = state.gradients
    result = run.result()
    status = np.zeros(1, dtype=int)
    if result is not None:
        _report(problem, result, options, remarks)
        status[0] = status_of(result)
    return int(group.broadcast(status)[0])


def _spread(run: ShardedRun) -> str:
    group = run.group
    counts = np.diff(run.problem.starts)
    return (
        f"{group.size} ranks with {counts.min():,} to {counts.max():,} rows each; the change of d "
        f"travels {run.engine.exchange.name}"
    )


def _report(
    problem: ShardedProblem, result: Result, options: argparse.Namespace, remarks: list[str]
) -> None:
    said = list(about_oracle(problem.regularizer, result))
    if problem.intercept is not None:
        said.append(f"intercept {result.beta[-1]:.6g}")
    say("\n".join(["", *ending(result), *said]), options.json)
    if options.save is not None:
        result.save(options.save)
    if options.plot is not None:
        result.plot().savefig(options.plot)
    settings = {name: value for name, value in vars(options).items() if name not in ("run", "seed")}
    made_by = about(options.seed, None, ranks=problem.group.size, **settings)
    write_json(made_by | as_data(result) | {"remarks": remarks, "said": said}, options.json)


def _say(group: Group, text: str, options: argparse.Namespace) -> None:
    if group.rank == 0:
        say(text, options.json)

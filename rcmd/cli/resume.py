"""Go on with a run that was killed, interrupted, or ended by a budget: bit for
bit as if nothing had happened.

    rcmd solve a9a.bz2 --tol 1e-8 --max-seconds 60 --checkpoint a9a.ckpt
    rcmd resume a9a.ckpt --max-seconds 600

Budgets count what was used before. The data are read again, and must not have
changed.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rcmd.cli.options import add_result_options, limit
from rcmd.cli.solve import WORDS, checksum, finish
from rcmd.cli.tasks import TASKS
from rcmd.reporting.progress import launched_ranks
from rcmd.rows.processes import Alone, Group, shared_errors
from rcmd.solver.checkpoint.resume import read_checkpoint, reopen
from rcmd.solver.checkpoint.saver import refuse_missing


def add_options(parser: argparse.ArgumentParser) -> None:
    """What may be typed after ``rcmd resume``."""
    add = parser.add_argument
    add("checkpoint", metavar="FILE", help="the checkpoint, which is kept up to date")
    add("--tol", type=float, help="another certified gap to reach")
    add("--max-seconds", type=limit(float), metavar="S", help="another time budget, in all")
    add("--max-iterations", type=limit(int), metavar="K", help="another budget of steps, in all")
    add("--max-gradients", type=limit(int), metavar="G", help="another budget of gradients, in all")
    add("--every", type=float, metavar="S", help="seconds between two checkpoints")
    add_result_options(parser)
    parser.set_defaults(seed=None)  # the checkpoint's


def run(options: argparse.Namespace) -> int:
    """Carry out ``rcmd resume``; returns the exit status."""
    path = Path(options.checkpoint)
    refuse_missing(path)
    if launched_ranks() > 1 or (read_checkpoint(path, Alone())["command"] or {}).get("spread"):
        from rcmd.cli.mpi import on_every_rank

        return on_every_rank(lambda group: _go_on(path, group, options), options)
    return _go_on(path, Alone(), options)


def _go_on(path: Path, group: Group, options: argparse.Namespace) -> int:
    words = read_checkpoint(path, group)["command"]
    with shared_errors(group):
        _check(options.checkpoint, words, data=group.rank == 0)
    whole = argparse.Namespace(**vars(options) | {name: words[name] for name in WORDS})
    if words["spread"]:
        from rcmd.cli.mpi import sharded_task

        task = sharded_task(group, whole)
    else:
        task = TASKS[whole.rows](whole)
    names = ("tol", "max_seconds", "max_iterations", "max_gradients", "every")
    changes = {name: vars(options)[name] for name in names if vars(options)[name] is not None}
    return finish(task, reopen(path, task.problem, **changes), whole)


def _check(checkpoint: str, words: Any, *, data: bool) -> None:
    """Refuse a checkpoint that does not say what is solved, or whose ``data`` have changed."""
    if words is None:
        raise ValueError(
            f"{checkpoint} was not written by `rcmd solve`, and does not say how its problem is "
            "made; expected one that was: in Python, rcmd.resume(file, problem) goes on with it"
        )
    if not data or words["file"] is None:
        return
    path = Path(words["file"])
    if not path.exists():
        raise FileNotFoundError(
            f"{path}, the data of {checkpoint}, is not there; expected it as it was when the "
            "run began: put it back"
        )
    if checksum(path) != words["sha256"]:
        raise ValueError(
            f"{path} has changed since the run of {checkpoint} began; expected the same data: "
            "put the old file back, or start anew with `rcmd solve`"
        )

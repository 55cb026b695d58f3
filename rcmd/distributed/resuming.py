"""Going on with a sharded run from its checkpoint, on any number of ranks."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from rcmd.distributed.engine import ROW_STATE
from rcmd.distributed.fingerprint import sharded_fingerprint
from rcmd.distributed.group import Array, Group, SharedFault, same_words, together
from rcmd.distributed.problem import ShardedProblem
from rcmd.distributed.run import ShardedRun
from rcmd.distributed.saver import SHARDED, ShardedSaver
from rcmd.distributed.solve import drive
from rcmd.result import Checkpoint, Result, State
from rcmd.saving.container import unpacked
from rcmd.saving.fingerprints import fingerprint
from rcmd.schedules import Schedule


class ShardedChanges(TypedDict, total=False):
    """The options of ``resume_sharded``, explained there."""

    tol: float
    max_iterations: int | None
    max_gradients: int | None
    max_seconds: float | None
    schedule: Schedule | None
    checkpoints: Iterable[int] | None
    every: float


def resume_sharded(
    checkpoint: str | os.PathLike[str],
    problem: ShardedProblem,
    *,
    callbacks: Iterable[Callable[[State], bool | None]] = (),
    **changes: Unpack[ShardedChanges],
) -> Result | None:
    """Go on with a run from the file that ``solve_sharded(problem, checkpoint=file)`` wrote.

    The problem is that of the run, made again from the same data on any number of ranks; only
    rank 0 needs the file. The iterates are those of an undisturbed run, to the last bit where
    ``solve_sharded`` promises it.

    Parameters
    ----------
    checkpoint
        The file. It is kept up to date.
    problem
        The problem of that run.
    callbacks, changes
        As for ``solve_sharded``: ``tol``, ``every``, and the budgets, which count what the run used
        before; a ``schedule`` and ``checkpoints`` if the run was given some. The rest is as it was.

    Examples
    --------
    >>> import tempfile
    >>> from rcmd import L1Ball, LeastSquares
    >>> from rcmd.distributed import Alone, solve_sharded
    >>> problem = ShardedProblem(np.eye(4), np.ones(4), LeastSquares(), L1Ball(1.0), group=Alone())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/run.ckpt"
    ...     first = solve_sharded(problem, tol=0.0, max_iterations=10, checkpoint=file)
    ...     more = resume_sharded(file, problem, max_iterations=30)
    >>> first.nit, more.nit
    (10, 30)
    """
    return drive(reopen_sharded(checkpoint, problem, **changes), callbacks)


def reopen_sharded(
    checkpoint: str | os.PathLike[str], problem: ShardedProblem, **changes: Unpack[ShardedChanges]
) -> ShardedRun:
    """The run of a checkpoint, ready to go on."""
    path, group = Path(os.path.abspath(checkpoint)), problem.group
    tree, arrays = read_sharded(group, path)
    _refuse_another(path, tree["problem"], sharded_fingerprint(problem))
    saved = tree["options"]
    every = changes.pop("every", saved["every"])
    changes.setdefault("tol", saved["tol"])
    run = ShardedRun(problem, batch=saved["batch"], exchange=saved["exchange"], **changes)
    given = fingerprint(run.given_schedule)
    _refuse_another(path, {"schedule": tree["schedule"]}, {"schedule": given})
    rows, *vectors, best_beta, best_w = arrays
    lengths = np.diff(problem.starts)
    own = _dealt(group, rows, len(ROW_STATE) * lengths)
    p = problem.p
    run.engine.restore(own, tree["numbers"], [_told(group, v, p) for v in vectors])
    history = [Checkpoint(**line) for line in tree["history"]]
    pair = None
    if history:
        pair = _told(group, best_beta, p), _dealt(group, best_w, lengths)
    run.go_on(tree["generator"], tree["seconds"], history, pair)
    run.saver = ShardedSaver(problem, path, every, taken_up=True)
    run.saver.command = tree["command"]
    return run


def read_sharded(group: Group, path: Path) -> tuple[Any, list[Array]]:
    """What the file holds: its words on every rank, its arrays on rank 0 (empty elsewhere)."""
    words, arrays = "", [np.zeros(0)] * 6
    with together(group):
        if group.rank == 0:
            if not path.is_file():
                raise FileNotFoundError(f"there is no checkpoint {path}; expected a file's name")
            tree, arrays = unpacked(path, SHARDED)
            words = json.dumps(tree)
    return json.loads(same_words(group, words)), arrays


def _dealt(group: Group, whole: Array, lengths: Array) -> Array:
    """This rank's part of rank 0's vector."""
    parts = np.split(whole, np.cumsum(lengths)[:-1]) if group.rank == 0 else None
    return group.deal(parts, np.empty(lengths[group.rank]))


def _told(group: Group, vector: Array, length: int) -> Array:
    """Rank 0's vector, on every rank."""
    return group.broadcast(vector.copy() if group.rank == 0 else np.empty(length))


def _refuse_another(path: Path, saved: dict[str, str], found: dict[str, str]) -> None:
    differ = [name for name, value in saved.items() if found[name] != value]
    if differ:
        raise SharedFault(
            f"the run of {path} had another {' and another '.join(differ)}; expected the same "
            "data, loss, oracle and schedule: a run goes on as it began"
        )

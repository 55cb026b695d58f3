"""Going on with a run from its checkpoint."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from rcmd.engine.sampling import Sampler
from rcmd.methods.base import Method
from rcmd.problem import Problem
from rcmd.prox import BregmanProx
from rcmd.result import Result
from rcmd.run import Callback, drive
from rcmd.running import Run
from rcmd.saving.container import unpacked
from rcmd.saving.fingerprints import problem_fingerprint
from rcmd.saving.parts import parts_of
from rcmd.saving.places import refuse_missing, whole_path
from rcmd.saving.saver import Saver
from rcmd.saving.settings import options_from
from rcmd.saving.values import Reader
from rcmd.schedules import Schedule


class Changes(TypedDict, total=False):
    """The options of ``resume`` and ``reopen``, explained there."""

    tol: float
    max_iterations: int | None
    max_gradients: int | None
    max_seconds: float | None
    schedule: Schedule | None
    prox: BregmanProx | None
    sampler: Sampler | None
    checkpoints: Iterable[int] | None
    method: Method | None
    every: float


def resume(
    checkpoint: str | os.PathLike[str],
    problem: Problem,
    *,
    callbacks: Callback | Sequence[Callback] = (),
    **changes: Unpack[Changes],
) -> Result:
    """Go on with a run from the file that ``solve(problem, checkpoint=file)`` wrote.

    Iterates, history and result are those of a run that was never interrupted, bit for bit but
    for the seconds, on the same machine with as many threads. The file is kept up to date.

    Parameters
    ----------
    checkpoint
        The file. One that is damaged, foreign or of a newer rcmd is refused and left as it is.
    problem
        The problem of that run, made again from the same data.
    tol, max_iterations, max_gradients, max_seconds
        Where they are to be others than before: ``None`` for no limit. Budgets count what the
        run used before, too: a run that ended by one goes on with a larger one, as if it had been
        given that from the beginning (but for corrections, which plan with the gradients left).
    schedule, prox, sampler, checkpoints, method
        Objects of classes that are not rcmd's, and endless streams, once more as ``solve`` was
        given them: a file holds no code. Samplers and streams are given anew, from their start.
    every
        Seconds between two writings, as before by default.
    callbacks
        As for ``solve``.

    Examples
    --------
    >>> import tempfile
    >>> from rcmd import L1Ball, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), L1Ball(1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = f"{folder}/run.ckpt"
    ...     first = solve(problem, tol=0.0, max_iterations=10, checkpoint=file)
    ...     more = resume(file, problem, max_iterations=30)
    >>> first.nit, more.nit, bool(more.gap == solve(problem, tol=0.0, max_iterations=30).gap)
    (10, 30, True)
    """
    return drive(reopen(checkpoint, problem, **changes), callbacks)


def reopen(checkpoint: str | os.PathLike[str], problem: Problem, **changes: Unpack[Changes]) -> Run:
    """The run of a checkpoint, ready to go on: ``for state in reopen(file, problem): …``.

    Takes what ``resume`` takes, except ``callbacks``.
    """
    path = whole_path(checkpoint)
    tree, arrays = read_checkpoint(path)
    if not isinstance(problem, Problem):
        raise TypeError(
            f"problem is of type {type(problem).__name__}; expected the Problem of the checkpoint"
        )
    _refuse_another(path, tree["problem"], problem)
    saver = Saver(path, changes.get("every", tree["every"]), taken_up=True)
    saved = Reader(arrays, {}).read(tree["options"])
    options = options_from(saved, changes)
    run = Run(problem, **options)
    reader = Reader(arrays, parts_of(run))
    problem.oracle.remember(reader.read(tree["oracle"]))
    reader.read(tree["run"], run)
    run.saver = saver
    saver.command = tree["command"]
    saver.describe(problem, options)
    run.go_on(tree["seconds"], ended=tree["ended"])
    return run


def read_checkpoint(path: Path) -> tuple[Any, Any]:
    """What a checkpoint holds, in plain values."""
    refuse_missing(path)
    return unpacked(path)


def _refuse_another(path: Path, saved: dict[str, str], problem: Problem) -> None:
    found = problem_fingerprint(problem)
    differ = [name for name, value in saved.items() if found[name] != value]
    if differ:
        raise ValueError(
            f"problem is not that of {path}: {' and '.join(differ)} differ{'s' * (len(differ) < 2)}"
            "; expected the same data, loss and oracle, in the same order"
        )

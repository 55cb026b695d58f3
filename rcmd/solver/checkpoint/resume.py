"""Resuming a run from its checkpoint."""

import inspect
import io
import math
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any

from rcmd.methods import Method, method_named
from rcmd.model.problem import Problem, check_problem
from rcmd.rows.atoms import Atom
from rcmd.rows.processes import Group, SharedError, same_bytes, shared_errors
from rcmd.rows.validation import FileError, one_line
from rcmd.solver.checkpoint.file import read_stream
from rcmd.solver.checkpoint.saver import (
    OtherRun,
    Saver,
    options_from,
    refuse_missing,
    whole_path,
)
from rcmd.solver.result import Result
from rcmd.solver.run import Run
from rcmd.solver.solve import CHANGING, Options, called_with

KNOWN = inspect.signature(Options).parameters
"""The options of a run, with their defaults."""


def reopen(
    checkpoint: str | os.PathLike[str],
    problem: Problem,
    *,
    method: Method | str | None = None,
    record_at: Iterable[int] | None = None,
    **changes: Any,
) -> Run:
    """The run of a checkpoint, ready to continue: ``for state in reopen(file, problem): …``.

    Takes what ``resume`` takes.
    """
    if unknown := changes.keys() - set(CHANGING):
        raise TypeError(f"reopen() got an unexpected keyword argument {min(unknown)!r}")
    path = whole_path(checkpoint)
    check_problem(problem)
    tree = read_checkpoint(path, problem.group)
    own = method_named(method) if isinstance(method, str) else method
    # None is no limit; for an option that is always a number, it leaves that as it was.
    changed = {k: v for k, v in changes.items() if v is not None or KNOWN[k].default is None}
    with _whole(path):
        _refuse_another(path, tree["problem"], problem)
        saved = options_from(tree["options"], own, record_at)
        Options(problem, **saved)
    options = Options(problem, **saved | changed)
    with _whole(path):
        run = Run(options)
        _check_atoms(tree["run"], math.prod(problem.rows.zero().shape))
        problem.oracle.load_state(tree["oracle"])
        run.load_state(tree["run"], float(tree["seconds"]), ended=bool(tree["ended"]))
        command = tree["command"]
    run.saver = Saver(run, path, resumed=True)
    run.saver.command = command
    return run


*_parameters, _ = inspect.signature(reopen).parameters.values()
_changing = [KNOWN[name].replace(default="as before") for name in CHANGING]
vars(reopen)["__signature__"] = inspect.Signature([*_parameters, *_changing])


@called_with(reopen)
def resume(run: Run) -> Result:
    """Continue a run from the file that ``solve(problem, checkpoint=file)`` wrote.

    Iterates, history and result are those of a run that was never interrupted, bit for bit but
    for the seconds, on the same machine with as many threads. The file is kept up to date.

    Parameters
    ----------
    checkpoint
        The file. If damaged, foreign or of another version, it is refused and left as it is.
    problem
        The problem of that run, made again from the same data.
    tol, max_iterations, max_gradients, max_seconds
        New values, where they change: ``None`` for no limit. Budgets include what the run used
        before: a run that ended by one continues with a larger one, as if it had been given that
        from the beginning (except for corrections, which plan with the gradients left).
    method, record_at
        A method with parts that are not rcmd's, and an endless stream of iterations, once more as
        ``solve`` was given them, from their start: a file holds no code.
    every
        Seconds between two saves, as before by default.
    callbacks, bounds
        As for ``solve``: a file holds no code.

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
    return run.finish()


def read_checkpoint(path: Path, group: Group) -> Any:
    """What a checkpoint holds, on every rank; only rank 0 needs the file."""
    data = b""
    with shared_errors(group):
        if group.rank == 0:
            refuse_missing(path)
            data = path.read_bytes()
    return read_stream(io.BytesIO(same_bytes(group, data)), path)


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Whatever a forged file leads to becomes one kind of error."""
    try:
        yield
    except (OtherRun, SharedError, BrokenBarrierError):
        raise
    except Exception as fault:
        raise FileError(
            f"{path} does not hold the state of such a run ({one_line(fault)}); expected the "
            "problem and the rcmd that it was written with. The file was left as it is"
        ) from fault


def _check_atoms(held: Any, p: int) -> None:
    """Refuse an atom, anywhere in the state of a run, that does not have p entries."""
    if isinstance(held, Atom) and not held.fits(p):
        raise ValueError(f"{held!r} is no atom of the problem")
    inner = held.values() if isinstance(held, dict) else held
    for item in inner if isinstance(held, dict | list | tuple) else ():
        _check_atoms(item, p)


def _refuse_another(path: Path, saved: dict[str, str], problem: Problem) -> None:
    found = problem.fingerprint()
    differ = [name for name in {**saved, **found} if saved.get(name) != found.get(name)]
    if differ:
        raise OtherRun(
            f"problem is not that of {path}: {' and '.join(differ)} differ{'s' * (len(differ) < 2)}"
            "; expected the same data, loss and oracle, in the same order"
        )

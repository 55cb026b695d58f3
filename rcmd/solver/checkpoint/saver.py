"""Where and when a run is saved, and what happens when that fails."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rcmd
from rcmd.rows.processes import shared_errors
from rcmd.rows.validation import warn_caller
from rcmd.solver.checkpoint.file import (
    BadCheckpoint,
    CannotSave,
    part_of,
    read_file,
    write_file,
)
from rcmd.solver.checkpoint.options import saved_options
from rcmd.solver.history import StopReason

if TYPE_CHECKING:
    from rcmd.solver.run import Run

LONGEST_SHARE = 0.1
"""Writing may take this share of a run's time, except where ``every`` is 0."""


class Saver:
    """Writes a run to ``path`` every so many seconds; on many ranks, rank 0 does.

    Attributes
    ----------
    command
        What the command line needs to make the problem again, in plain values.
    fault
        Why the file is out of date; empty if it is not.
    seconds
        How long the last save took.
    """

    def __init__(self, run: Run, path: str | os.PathLike[str], *, resumed: bool = False) -> None:
        self.path, self.every = whole_path(path), float(run.options.every)
        self.command: Any = None
        self.fault, self.seconds = "", 0.0
        self._writes = run.problem.group.rank == 0
        self._begun, self._last = resumed, 0.0
        with shared_errors(run.problem.group):
            self._ours = _identity(self.path) if resumed and self._writes else None
            if self._writes:
                if not resumed:
                    _refuse_existing(self.path)
                _refuse_folder(self.path)
        self._unchanging = {
            "problem": run.problem.fingerprint(),
            "options": saved_options(run.options, run.method),
        }

    def begin(self, run: Run) -> None:
        """Write the file for the first time; what fails here fails before any work is done."""
        if not self._begun:
            self._write(run)
            self._begun = True

    def due(self, seconds: float, writing: float) -> bool:
        """Whether it is time to write again; ``writing`` is how long it took last."""
        wait = self.every and max(self.every, writing / LONGEST_SHARE)
        return seconds - self._last >= wait

    def save(self, run: Run) -> None:
        """Write the run as it is; a failure is one warning, and the old file stays."""
        try:
            self._write(run)
        except (OSError, CannotSave) as fault:
            told, self.fault = self.fault, f"the checkpoint {self.path} is not up to date: {fault}"
            if not told:
                warn_caller(f"{self.fault}; the run continues")
        else:
            self.fault = ""

    def _write(self, run: Run) -> None:
        begun = time.perf_counter()
        self._last = run.time
        tree = {
            "rcmd": rcmd.__version__,
            **self._unchanging,
            "command": self.command,
            "seconds": run.seconds(),
            "ended": run.stop is StopReason.TOLERANCE,
            "oracle": oracle_state(run.problem.oracle),
            "run": run.state(),
        }
        if self._writes:
            if _identity(self.path) not in (None, self._ours):
                raise CannotSave(
                    "another program has written a file of that name, which is left alone"
                )
            write_file(self.path, tree)
            self._ours = _identity(self.path)
            self.seconds = time.perf_counter() - begun


def oracle_state(oracle: Any) -> Any:
    """What the oracle remembers of this run; a class with its own reset() needs its own state()."""
    order = [vars(base) for base in type(oracle).__mro__]
    reset, state = (
        next(i for i, own in enumerate(order) if name in own) for name in ("reset", "state")
    )
    if reset < state:
        raise CannotSave(
            f"{type(oracle).__name__} has a reset() of its own but no state(), so that a "
            "checkpoint could not hold what it remembers; expected both, and load_state(state)"
        )
    return oracle.state()


def whole_path(checkpoint: Any) -> Path:
    """The whole path of a checkpoint, as the working folder may change."""
    if not isinstance(checkpoint, str | os.PathLike):
        raise TypeError(f"checkpoint is {checkpoint!r}; expected the name of a file")
    return Path(os.path.abspath(checkpoint))


def refuse_missing(path: Path) -> None:
    """Say that there is no such file."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no checkpoint {path}; expected the name of a file")


def _refuse_existing(path: Path) -> None:
    """Nothing is ever overwritten: say what is there and what to do."""
    if not os.path.lexists(path):
        return
    try:
        refuse_missing(path)  # a folder, a device
        tree = read_file(path)
    except (BadCheckpoint, OSError):
        raise FileExistsError(
            f"checkpoint {path} exists and is not a whole checkpoint of rcmd; expected a new name: "
            "it will not be overwritten"
        ) from None
    raise FileExistsError(
        f"checkpoint {path} exists and holds a run of {tree['seconds']:.3g} s; continue it by "
        "rcmd.resume(file, problem) or `rcmd resume FILE`, or choose a new name: it will not be "
        "overwritten"
    )


def _refuse_folder(path: Path) -> None:
    """Refuse a folder that takes no files before any work is done."""
    part = part_of(path)
    try:
        open(part, "xb").close()
        part.unlink()
    except OSError as fault:
        raise OSError(
            f"checkpoint {path} cannot be written, {fault.strerror or fault}; expected a name in "
            "an existing folder that you may write to"
        ) from None


def _identity(path: Path) -> tuple[int, ...] | None:
    """What distinguishes a file from another of its name; ``None`` where there is none."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

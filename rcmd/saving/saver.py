"""When a run is written to its file, and what happens where that fails."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rcmd.option_checks import check_every
from rcmd.problem import Problem
from rcmd.result import StopReason
from rcmd.saving.atomic import replace_file
from rcmd.saving.container import packed
from rcmd.saving.faults import CannotSave
from rcmd.saving.fingerprints import problem_fingerprint
from rcmd.saving.parts import memory_of, parts_of
from rcmd.saving.places import identity, refuse_existing, refuse_folder, whole_path
from rcmd.saving.settings import saved_options
from rcmd.saving.values import Writer

if TYPE_CHECKING:
    from rcmd.running import Run

LONGEST_SHARE = 0.1
"""Writing may take this share of a run's time, except where ``every`` is 0."""


class Saver:
    """Writes a run to ``path`` at most ``every`` so many seconds.

    Attributes
    ----------
    command
        What the command line needs to make the problem again, in plain values.
    fault
        Why the file is older than the run, or nothing.
    seconds
        How long the last writing took.
    """

    def __init__(
        self, path: str | os.PathLike[str], every: float, *, taken_up: bool = False
    ) -> None:
        self.path = whole_path(path)
        check_every(every)
        self.every = float(every)
        self.command: Any = None
        self.fault, self.seconds = "", 0.0
        self._ours = identity(self.path) if taken_up else None
        self._begun = taken_up
        self._last = time.perf_counter()
        if not taken_up:
            refuse_existing(self.path)
        refuse_folder(self.path)

    def describe(self, problem: Problem, options: Mapping[str, Any]) -> None:
        """Say what is solved, and how."""
        self._problem = problem_fingerprint(problem)
        self._options = saved_options(options)

    def begin(self, run: Run) -> None:
        """Write the file for the first time; what fails here fails before any work is done."""
        if not self._begun:
            self._write(run)
            self._begun = True

    def due(self) -> bool:
        """Whether it is time to write again."""
        wait = self.every and max(self.every, self.seconds / LONGEST_SHARE)
        return time.perf_counter() - self._last >= wait

    def save(self, run: Run) -> None:
        """Write the run as it is; a failure is told once, and the old file stays."""
        self._last = time.perf_counter()
        try:
            self._write(run)
        except (OSError, CannotSave) as fault:
            told, self.fault = self.fault, f"the checkpoint {self.path} is not up to date: {fault}"
            if not told:
                warnings.warn(f"{self.fault}; the run goes on", RuntimeWarning, stacklevel=5)
        else:
            self.fault = ""

    def _write(self, run: Run) -> None:
        import rcmd  # whose last import may be what brought this module in

        begun = time.perf_counter()
        arrays: list[Any] = []
        writer = Writer(parts_of(run), arrays)
        tree = {
            "rcmd": rcmd.__version__,
            "problem": self._problem,
            "options": Writer({}, arrays).write(self._options, "an option"),
            "command": self.command,
            "every": self.every,
            "seconds": run.seconds(),
            "ended": run.stop is StopReason.TOLERANCE,
            "oracle": writer.write(memory_of(run.problem.oracle), "the oracle's memory"),
            "run": writer.write(run, "the run"),
        }
        there = identity(self.path)
        if there not in (None, self._ours):
            raise CannotSave("another program has written a file of that name, which is left alone")
        replace_file(self.path, packed(tree, arrays))
        self._ours = identity(self.path)
        self._last = time.perf_counter()
        self.seconds = self._last - begun

"""Checkpoints of sharded runs: everyone's rows in one file, for any number of ranks.

Rank 0 writes it, in the container of ``rcmd.saving``. What belongs to rows lies there in the order
of all rows, so that other shares of them can go on.
"""

from __future__ import annotations

import os
import warnings
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.distributed.fingerprint import sharded_fingerprint
from rcmd.distributed.group import Group, SharedFault, together
from rcmd.distributed.problem import ShardedProblem
from rcmd.result import History
from rcmd.saving.atomic import replace_file
from rcmd.saving.container import Kind, packed
from rcmd.saving.faults import BadCheckpoint
from rcmd.saving.fingerprints import fingerprint
from rcmd.saving.places import refuse_folder

if TYPE_CHECKING:
    from rcmd.distributed.run import ShardedRun

SHARDED = Kind("sharded checkpoint", 1, "a run on several ranks", BadCheckpoint)


class ShardedSaver:
    """Writes a run to ``path`` at most ``every`` so many seconds; collective, like the run.

    Attributes
    ----------
    command
        What the command line needs to make the problem again, in plain values.
    """

    def __init__(
        self,
        problem: ShardedProblem,
        path: str | os.PathLike[str],
        every: float,
        *,
        taken_up: bool = False,
    ) -> None:
        if not (isinstance(every, Real) and every >= 0):
            raise SharedFault(f"every is {every!r}; expected seconds between two checkpoints, ≥ 0")
        self.path: Path = Path(os.path.abspath(path))
        self.every: float = float(every)
        self.command: Any = None
        self._group: Group = problem.group
        self._last: float = 0.0
        self._told: bool = False
        with together(self._group):
            if self._group.rank == 0:
                if not taken_up and os.path.lexists(self.path):
                    raise FileExistsError(
                        f"checkpoint {self.path} exists; expected a new name: it will not be "
                        "overwritten. `rcmd resume FILE` goes on with a run"
                    )
                refuse_folder(self.path)
        self._problem: dict[str, str] = sharded_fingerprint(problem)

    def due(self, seconds: float) -> bool:
        """Whether it is time to write again, by the run's own time."""
        return seconds - self._last >= self.every

    def save(self, run: ShardedRun) -> None:
        """Write the run as it is; a failure is told once, and the old file stays."""
        self._last = run.seconds
        engine, best = run.engine, run.best_pair()
        rows = self._group.collect(engine.row_state())
        best_w = self._group.collect(best[1])
        if rows is None or best_w is None:
            return
        numbers, vectors = engine.shared_state()
        tree = {
            "problem": self._problem,
            "schedule": fingerprint(run.given_schedule),
            "options": {"batch": engine.step_gradients, "exchange": engine.exchange.name}
            | {"tol": float(run.tol), "every": self.every},
            "command": self.command,
            "numbers": numbers,
            "generator": run.generator_state(),
            "seconds": run.seconds,
            "history": History(run.history).as_dicts(),
        }
        arrays = [np.concatenate(rows), *vectors, best[0], np.concatenate(best_w)]
        try:
            replace_file(self.path, packed(tree, arrays, SHARDED))
        except OSError as fault:
            if not self._told:
                words = f"the checkpoint {self.path} is not up to date: {fault}; the run goes on"
                warnings.warn(words, RuntimeWarning, stacklevel=4)
            self._told = True

"""All cells of the experiment, several at a time, those already there left alone."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from rcmd.comparing.entrants import ENTRANTS
from rcmd.datasets import locate
from rcmd.reproducing.cells import Cell, find_optimum, finished, run_cell, sha256, store
from rcmd.reproducing.published import EXPERIMENTS, METHODS

OPTIMUM = "optimum"


@dataclass(frozen=True)
class Settings:
    """How much to run.

    Attributes
    ----------
    names
        The data sets.
    data
        Folder with their files.
    seeds
        Runs of each random method.
    passes, oracle_calls
        Where a run ends that is still above the target.
    jobs
        Processes.
    """

    names: tuple[str, ...] = tuple(EXPERIMENTS)
    data: str | None = None
    seeds: int = 3
    passes: int = 2500
    oracle_calls: int = 250_000
    jobs: int = min(2, os.cpu_count() or 1)

    def quick(self) -> Settings:
        """One seed, and budgets that suffice for fw and gsfw on a9a, w8a and mushrooms."""
        return replace(self, seeds=1, passes=1000, oracle_calls=50_000)


Found = dict[str, dict[str, list[dict[str, Any]]]]
"""What was found, by data set, method and seed; the method "optimum" is the one for P*."""


def run_all(settings: Settings, folder: Path, tell: Callable[[str], None]) -> Found:
    """Run what is not yet in ``folder``, and read all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    tell("looking for the data")
    optima = [_optimum_cell(settings, name) for name in settings.names]
    best = _finish([(cell, None) for cell in optima], folder, settings.jobs, tell)
    tasks = [
        (replace(cell, method=method, seed=seed), found["primal"])
        for seed in range(settings.seeds)
        for method in METHODS
        if seed == 0 or ENTRANTS[method].random
        for cell, found in zip(optima, best, strict=True)
    ]
    runs = _finish(tasks, folder, settings.jobs, tell)
    tell("")
    everything: Found = {
        cell.experiment: {OPTIMUM: [found]} for cell, found in zip(optima, best, strict=True)
    }
    for (cell, _), found in zip(tasks, runs, strict=True):
        everything[cell.experiment].setdefault(cell.method, []).append(found)
    return everything


def _optimum_cell(settings: Settings, name: str) -> Cell:
    path = locate(EXPERIMENTS[name].file, settings.data)
    budgets = (settings.passes, settings.oracle_calls)
    return Cell(name, str(path), sha256(path), OPTIMUM, 0, *budgets)


Task = tuple[Cell, float | None]


def _finish(
    tasks: Sequence[Task], folder: Path, jobs: int, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """What each task found, in order; each is stored as soon as it is finished."""
    found = {cell: finished(cell, folder) for cell, _ in tasks}
    missing = [task for task in tasks if found[task[0]] is None]
    if missing:
        # Fresh processes: compiled code and threads do not survive a fork unharmed.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(jobs, len(missing)), mp_context=context) as pool:
            _run(pool, missing, jobs, found, folder, tell)
    return [result for cell, _ in tasks if (result := found[cell]) is not None]


def _run(
    pool: ProcessPoolExecutor,
    missing: Sequence[Task],
    jobs: int,
    found: dict[Cell, dict[str, Any] | None],
    folder: Path,
    tell: Callable[[str], None],
) -> None:
    """Run what is missing, never more than ``jobs`` ahead: Ctrl-C need not wait for a queue."""
    ahead = iter(missing)
    running: dict[Future[dict[str, Any]], Cell] = {}
    while True:
        for task in islice(ahead, jobs - len(running)):
            running[pool.submit(_work, *task)] = task[0]
        if not running:
            return
        done = sum(result is not None for result in found.values())
        names = ", ".join(f"{c.experiment} {c.method} seed {c.seed}" for c in running.values())
        tell(f"{done} of {len(found)} runs done; {names}")
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            cell = running.pop(future)
            found[cell] = future.result()
            store(cell, folder, future.result())


def _work(cell: Cell, optimum: float | None) -> dict[str, Any]:
    return find_optimum(cell) if optimum is None else run_cell(cell, optimum)

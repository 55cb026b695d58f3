"""All cells of the experiment, several at a time, those already there left alone."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from multiprocessing.connection import wait as wait_for
from pathlib import Path
from statistics import mean
from threading import Thread
from typing import Any

from rcmd.bench.one_thread import one_thread
from rcmd.datasets import locate
from rcmd.reproducing.cells import Cell, find_optimum, finished, run_cell, sha256, store
from rcmd.reproducing.published import EXPERIMENTS, METHODS, RUNS
from rcmd.telling import duration

OPTIMUM = "optimum"

TOLD_EVERY = 1.0
"""Seconds between two lines of the progress display."""


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
        if seed == 0 or RUNS[method].random
        for cell, found in zip(optima, best, strict=True)
        if method in EXPERIMENTS[cell.experiment].methods
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
        with ProcessPoolExecutor(
            min(jobs, len(missing)), mp_context=context, initializer=_end_with_parent
        ) as pool:
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
    running: dict[Future[dict[str, Any]], tuple[Cell, float]] = {}
    while True:
        for task in islice(ahead, jobs - len(running)):
            running[pool.submit(_work, *task)] = task[0], time.perf_counter()
        if not running:
            return
        begun = dict(running.values())
        done = sum(result is not None for result in found.values())
        left = seconds_left(found, begun, jobs, time.perf_counter())
        names = ", ".join(f"{c.experiment} {c.method} seed {c.seed}" for c in begun)
        estimate = "" if left is None else f", about {duration(left)} left"
        tell(f"{done} of {len(found)} runs done{estimate}; {names}")
        for future in wait(running, TOLD_EVERY, return_when=FIRST_COMPLETED).done:
            cell, start = running.pop(future)
            result = future.result() | {"seconds": time.perf_counter() - start}
            store(cell, folder, result)
            found[cell] = result


def seconds_left(
    found: Mapping[Cell, dict[str, Any] | None], begun: Mapping[Cell, float], jobs: int, now: float
) -> float | None:
    """An estimate: a run takes as long as those of its method did, on its data where there are.

    ``None`` before anything is finished.
    """
    times = {cell: result["seconds"] for cell, result in found.items() if result is not None}
    if not times:
        return None

    def expected(cell: Cell) -> float:
        same = [other for other in times if other.method == cell.method] or list(times)
        same = [other for other in same if other.experiment == cell.experiment] or same
        return mean(times[other] for other in same)

    left = [
        max(expected(cell) - (now - begun[cell] if cell in begun else 0.0), 0.0)
        for cell in found
        if cell not in times
    ]
    return max(sum(left) / jobs, *left)


def _work(cell: Cell, optimum: float | None) -> dict[str, Any]:
    with one_thread():  # the other cores have work of their own
        return find_optimum(cell) if optimum is None else run_cell(cell, optimum)


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:

        def watch(sentinel: int = parent.sentinel) -> None:
            wait_for([sentinel])
            os._exit(1)

        Thread(target=watch, daemon=True).start()

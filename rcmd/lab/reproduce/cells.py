"""The runs of the experiment, each with a file that is written whole, when the run is finished."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rcmd import __version__
from rcmd.conjugates import Logistic
from rcmd.datasets import locate, map_labels, read_libsvm
from rcmd.lab.racing import CORRECTED, value
from rcmd.lab.reproduce.published import EXPERIMENTS, METHODS, RADIUS, RUNS, TARGET, hundredth
from rcmd.model.problem import Problem
from rcmd.oracles import L1Ball
from rcmd.solver.history import State
from rcmd.theory.parallel import run_each

COARSE, FINE, NEAR = 1.03, 1.001, 1.3
"""Records are 3 % apart, and 0.1 % once P − P* is within 1.3 targets, until it is reached."""

BEYOND = 0.2
"""The share of the target at which a run ends: far enough to show whether the target is kept."""

OPTIMUM, OPTIMUM_TOLERANCE = "optimum", 1e-10

MOSTLY_FULL = 0.5
"""Share of nonzero entries from which dense rows are faster."""


@dataclass(frozen=True)
class Settings:
    """How much to run."""

    names: tuple[str, ...] = tuple(EXPERIMENTS)  # the data sets
    data: str | None = None  # a folder with their files
    seeds: int = 3  # runs of each random method
    # Where a run ends that is still above the target.
    passes: int = 2500
    oracle_calls: int = 250_000
    jobs: int = min(2, os.cpu_count() or 1) if find_spec("joblib") else 1  # processes

    def quick(self) -> Settings:
        """One seed, and budgets that suffice for fw and rcmd on a9a, w8a and mushrooms."""
        return replace(self, seeds=1, passes=1000, oracle_calls=50_000)


@dataclass(frozen=True)
class Cell:
    """A method on a data set with a seed, and the budgets; ``optimum`` is the method for P*.

    ``data`` is the SHA-256 of the file: other data are another cell.
    """

    experiment: str
    path: str
    data: str
    method: str
    seed: int
    passes: int
    oracle_calls: int
    version: str = __version__

    @property
    def file(self) -> str:
        return f"{self.experiment}-{self.method}-{self.seed}.json".replace(" ", "-")

    def settings(self) -> dict[str, Any]:
        """What must agree for a finished cell to be used again."""
        mine = asdict(self) | {"radius": RADIUS, "target": TARGET}
        del mine["path"]
        return mine | {"records": [COARSE, FINE, NEAR], "run": repr(RUNS.get(self.method))}


Found = dict[str, dict[str, list[dict[str, Any]]]]
"""What was found, by data set, method and seed; the method "optimum" is the one for P*."""


def run_all(settings: Settings, folder: Path, tell: Callable[[str], None]) -> Found:
    """Run what is not yet in ``folder``, and read all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    tell("looking for the data")
    optima = []
    for name in settings.names:
        path = locate(EXPERIMENTS[name].file, settings.data)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        budgets = settings.passes, settings.oracle_calls
        optima.append(Cell(name, str(path), digest, OPTIMUM, 0, *budgets))
    best = _finish(find_optimum, [(cell,) for cell in optima], folder, settings.jobs, tell)
    tasks = [
        (replace(cell, method=method, seed=seed), found["primal"])
        for seed in range(settings.seeds)
        for method in METHODS
        if seed == 0 or RUNS[method].method.random
        for cell, found in zip(optima, best, strict=True)
        if method in EXPERIMENTS[cell.experiment].methods
    ]
    runs = _finish(run_cell, tasks, folder, settings.jobs, tell)
    everything: Found = {
        cell.experiment: {OPTIMUM: [found]} for cell, found in zip(optima, best, strict=True)
    }
    for (cell, _), found in zip(tasks, runs, strict=True):
        everything[cell.experiment].setdefault(cell.method, []).append(found)
    return everything


def _finish(
    work: Callable[..., dict[str, Any]],
    tasks: Sequence[tuple[Any, ...]],
    folder: Path,
    jobs: int,
    tell: Callable[[str], None],
) -> list[dict[str, Any]]:
    """What each task found, in order; those without a file of it are run."""
    missing = [(work, folder, *task) for task in tasks if finished(task[0], folder) is None]
    names = [f"{cell.experiment} {cell.method} seed {cell.seed}" for _, _, cell, *_ in missing]
    run_each(run_and_store, missing, names, jobs=jobs, tell=tell)
    return [finished(cell, folder) for cell, *_ in tasks]


def finished(cell: Cell, folder: Path) -> Any:
    """What an earlier run found with the same settings; ``None`` without a whole file of it."""
    try:
        stored = json.loads((folder / cell.file).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    same = isinstance(stored, dict) and stored.get("settings") == cell.settings()
    return stored["found"] if same else None


def run_and_store(work: Callable[..., Any], folder: Path, cell: Cell, *further: Any) -> None:
    """Run a cell and write its file, which comes in one move: no reader finds half of it."""
    found = work(cell, *further)
    part = folder / f"{cell.file}.{os.getpid()}.part"
    part.write_text(json.dumps({"settings": cell.settings(), "found": found}) + "\n")
    part.replace(folder / cell.file)


@cache
def problem_of(path: str) -> Problem:
    """l1-constrained logistic regression on a file, labels mapped to ±1."""
    X, y = read_libsvm(path)
    if X.nnz > MOSTLY_FULL * X.shape[0] * X.shape[1]:
        X = X.toarray()
    return Problem(X, map_labels(y)[0], Logistic(), L1Ball(RADIUS))


def find_optimum(cell: Cell) -> dict[str, Any]:
    """P* up to a certified 1e-10."""
    problem = problem_of(cell.path)
    result = CORRECTED.solve(problem, hundredth(problem.n), cell.seed, tol=OPTIMUM_TOLERANCE)
    if not result.success:
        raise ValueError(f"{cell.experiment}: no certified P*; {result.message}")
    numbers = {name: float(getattr(result, name)) for name in ("primal", "dual", "gap")}
    return {"rows": problem.n, "features": problem.p, **numbers}


def run_cell(cell: Cell, optimum: float) -> dict[str, Any]:
    """The run: its first record at the target or below, and its curve."""
    problem, entrant = problem_of(cell.path), RUNS[cell.method]
    watch = Watch(optimum, cell.oracle_calls, COARSE if entrant.method.random else 1.0)
    limits = {"max_gradients": cell.passes * problem.n, "record_at": watch.iterations()}
    limits |= {"tol": 0.0, "callbacks": [watch.see, watch.ended]}
    points = entrant.solve(problem, hundredth(problem.n), cell.seed, **limits).history
    reached, before, kept_from = None, 0, 0
    for point in points:
        if point.own["value"] - optimum > TARGET:
            kept_from = point.gradients
        elif reached is None:
            resolution = (point.iteration - before - 1) / point.iteration
            counts = {"gradients": point.gradients, "calls": point.oracle_calls}
            reached = {**counts, "resolution": resolution}
        before = point.iteration
    return {
        "reached": reached and reached | {"kept_from": kept_from},
        "gradients": points.column("gradients").tolist(),
        "calls": points.column("oracle_calls").tolist(),
        "excess": (points.column("value") - optimum).tolist(),
    }


class Watch:
    """Places the records of a run by what it has reached, and ends it."""

    def __init__(self, optimum: float, oracle_calls: int, coarse: float) -> None:
        self.optimum, self.oracle_calls, self.coarse = optimum, oracle_calls, coarse
        self.excess, self.reached = math.inf, False

    def iterations(self) -> Iterator[int]:
        """Where records are taken: far from the target by ``coarse`` apart, near it by ``FINE``."""
        iteration = 1
        while True:
            yield iteration
            near = not self.reached and self.excess <= NEAR * TARGET
            spaced = math.ceil(iteration * (FINE if near else self.coarse))
            iteration = max(iteration + 1, spaced)

    def see(self, state: State) -> dict[str, float]:
        """Note how far P is from its optimum."""
        column = value(state)
        self.excess = column["value"] - self.optimum
        self.reached = self.reached or self.excess <= TARGET
        return column

    def ended(self, state: State) -> bool:
        """Whether nothing more is to be learned."""
        return self.excess <= BEYOND * TARGET or state.oracle_calls >= self.oracle_calls

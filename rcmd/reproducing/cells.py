"""One run of the experiment, and its file: written when it is finished, never half."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rcmd import __version__
from rcmd.comparing.curves import Point, trace
from rcmd.conjugates import Logistic
from rcmd.datasets import map_labels, read_libsvm
from rcmd.oracles import L1Ball
from rcmd.problem import Problem
from rcmd.reproducing.published import RADIUS, RUNS, TARGET, hundredth
from rcmd.run import solve

COARSE, FINE, NEAR = 1.03, 1.001, 1.3
"""Checkpoints are 3 % apart, and 0.1 % once P − P* is within 1.3 targets, until it is reached."""

BEYOND = 0.2
"""The share of the target at which a run ends: it shows whether the target is kept."""

OPTIMUM_TOLERANCE = 1e-10

MOSTLY_FULL = 0.5
"""Share of entries that are not zero from which rows with their zeros are the faster ones."""


@dataclass(frozen=True)
class Cell:
    """A method on a data set with a seed, and the budgets; ``optimum`` is the method for P*.

    ``data`` is the SHA-256 of the file, so that other data are another cell.
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
        """The name of its file."""
        return f"{self.experiment}-{self.method}-{self.seed}.json".replace(" ", "-")

    def settings(self) -> dict[str, Any]:
        """What must agree for a finished cell to be taken as it is."""
        fixed: dict[str, Any] = {"radius": RADIUS, "target": TARGET}
        fixed |= {"checkpoints": [COARSE, FINE, NEAR], "run": repr(RUNS.get(self.method))}
        mine = asdict(self)
        del mine["path"]
        return mine | fixed


def finished(cell: Cell, folder: Path) -> dict[str, Any] | None:
    """What an earlier run found for the same settings, if it is there and whole."""
    try:
        stored = json.loads((folder / cell.file).read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    same = isinstance(stored, dict) and stored.get("settings") == cell.settings()
    return stored["found"] if same else None


def store(cell: Cell, folder: Path, found: dict[str, Any]) -> None:
    """Write the file under another name first: what has the name is whole."""
    write_whole(folder / cell.file, json.dumps({"settings": cell.settings(), "found": found}))


def write_whole(path: Path, text: str) -> None:
    """Replace ``path`` in one move."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_text(text + "\n")
    part.replace(path)


def sha256(path: Path) -> str:
    """Of the bytes of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
    result = solve(problem, batch=hundredth(problem.n), tol=OPTIMUM_TOLERANCE, seed=cell.seed)
    if not result.success:
        raise ValueError(f"{cell.experiment}: no certified P*; {result.message}")
    numbers = {name: float(getattr(result, name)) for name in ("primal", "dual", "gap")}
    return {"rows": problem.n, "features": problem.p, **numbers}


def run_cell(cell: Cell, optimum: float) -> dict[str, Any]:
    """The run: its first checkpoint at the target or below, and its curve."""
    problem, entrant = problem_of(cell.path), RUNS[cell.method]
    watch = Watch(optimum, cell.oracle_calls, COARSE if entrant.random else 1.0)
    points = trace(
        problem,
        entrant,
        batch=hundredth(problem.n),
        seed=cell.seed,
        tol=0.0,
        max_gradients=cell.passes * problem.n,
        checkpoints=watch.marks(),
        listener=watch,
    )
    excess = [point.value - optimum for point in points]
    above = [place for place, value in enumerate(excess) if value > TARGET]
    below = [place for place, value in enumerate(excess) if value <= TARGET]
    reached = None
    if below:
        first = points[below[0]]
        before = points[below[0] - 1].iteration if below[0] else 0
        reached = {
            "gradients": first.gradients,
            "calls": first.oracle_calls,
            "resolution": (first.iteration - before - 1) / first.iteration,
            "kept_from": points[above[-1]].gradients if above else 0,
        }
    return {
        "reached": reached,
        "gradients": [point.gradients for point in points],
        "calls": [point.oracle_calls for point in points],
        "excess": excess,
    }


class Watch:
    """Places the checkpoints of a run by what it has reached, and ends it."""

    def __init__(self, optimum: float, oracle_calls: int, coarse: float) -> None:
        self.optimum, self.oracle_calls, self.coarse = optimum, oracle_calls, coarse
        self.excess, self.reached = math.inf, False

    def marks(self) -> Iterator[int]:
        """Iterations, far from the target by ``coarse`` apart, close to it by ``FINE``."""
        mark = 1
        while True:
            yield mark
            near = not self.reached and self.excess <= NEAR * TARGET
            mark = max(mark + 1, math.ceil(mark * (FINE if near else self.coarse)))

    def __call__(self, point: Point) -> bool:
        """Look at a checkpoint; True where nothing more is to be learned."""
        self.excess = point.value - self.optimum
        self.reached = self.reached or self.excess <= TARGET
        return self.excess <= BEYOND * TARGET or point.oracle_calls >= self.oracle_calls

"""How long the first step lets people wait; each measurement is a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PROBLEMS = ("l1-sparse", "l1-dense", "ridge-sparse")


def measure(problem: str, repeats: int) -> dict[str, Any]:
    """Seconds from the solve call to the first step, in a first and in later processes.

    The first process finds an empty cache of machine code; both find Python's own cache of
    bytecode. ``import numba`` is within, and also measured alone.
    """
    with tempfile.TemporaryDirectory(prefix="rcmd-bench-") as cache:
        cold = _process(problem, cache)
        later = [_process(problem, cache) for _ in range(repeats)]
    return {"problem": problem, "cold": cold, "later": min(later), "later_samples": later}


def measure_import(repeats: int) -> list[float]:
    """Seconds for ``import numba`` alone, after NumPy and SciPy, in ``repeats`` processes."""
    return [_process("numba", "") for _ in range(repeats)]


def _process(problem: str, cache: str) -> float:
    package = str(Path(__file__).parents[2])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    if cache:
        environment["NUMBA_CACHE_DIR"] = cache
    words = [sys.executable, "-m", "rcmd.bench.start", problem]
    answer = subprocess.run(words, env=environment, capture_output=True, text=True)
    if answer.returncode != 0:
        raise RuntimeError(f"measuring the start failed: {answer.stderr.strip()[-500:]}")
    return float(json.loads(answer.stdout))


def first_step(problem: str) -> float:
    """Seconds from the solve call to the end of the first step, in this process."""
    import numpy as np

    from rcmd import L1Ball, Logistic, Problem, Ridge, iterate
    from rcmd.datasets import make_classification

    kind, layout = problem.split("-")
    X, y = make_classification(
        density=0.1 if layout == "sparse" else 1, rng=np.random.default_rng(0)
    )
    subject = Problem(X, y, Logistic(), L1Ball(5.0) if kind == "l1" else Ridge(0.1))
    begun = time.perf_counter()
    iterate(subject, batch=0.01).engine.advance(1)
    return time.perf_counter() - begun


def import_numba() -> float:
    """Seconds for ``import numba`` in this process."""
    import scipy.sparse  # noqa: F401  (numba would import much of it)

    begun = time.perf_counter()
    import numba  # noqa: F401

    return time.perf_counter() - begun


if __name__ == "__main__":
    print(json.dumps(import_numba() if sys.argv[1] == "numba" else first_step(sys.argv[1])))

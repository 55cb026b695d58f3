"""What a compiled run costs the machine: memory, the keyboard, other threads."""

import os
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import RCMD, ConjugateProx, L1Ball, Logistic, Problem, Ridge, solve
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.model.schedules import SublinearSchedule

ROOT = Path(__file__).parents[2]

VECTORS = 12
"""Of length n + p, beyond the data."""


def sparse(n: int, p: int, nonzeros: int, dtype: Any = float) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(p // nonzeros, size=(n, nonzeros)), axis=1)
    columns += np.arange(nonzeros) * (p // nonzeros)  # no two alike, sorted
    values = rng.standard_normal(n * nonzeros).astype(dtype)
    offsets = np.arange(0, n * nonzeros + 1, nonzeros, dtype=np.int32)
    X = sp.csr_array((values, columns.ravel().astype(np.int32), offsets), shape=(n, p))
    return X, np.where(rng.random(n) < 0.5, 1.0, -1.0)


def peak(work: Callable[[], Any]) -> int:
    """The most bytes ``work`` held at one time; numpy reports its arrays to tracemalloc."""
    tracemalloc.start()
    try:
        kept = work()
        del kept
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("oracle", "nonzeros", "dtype"),
    [
        (L1Ball(5.0), 20, float),
        (L1Ball(5.0), 60, float),
        (L1Ball(5.0), 60, np.float32),
        (Ridge(0.01), 20, float),
    ],
    ids=["l1-ball", "l1-ball-more-data", "l1-ball-float32", "ridge"],
)
def test_memory(oracle: Any, nonzeros: int, dtype: Any) -> None:
    """Problem, engine and certificates together."""

    def run(n: int, p: int) -> Callable[[], Any]:
        X, y = sparse(n, p, nonzeros, dtype)
        # Several certificates: what one of them keeps must not stay beside the next.
        marks = {"max_iterations": 80, "record_at": range(10, 81, 10)}
        options = {**marks, "batch": 10, "tol": 0, "method": RCMD(engine="compiled")}
        return lambda: solve(Problem(X, y, Logistic(), oracle), **options)

    n, p = 20_000, 40_000
    work = run(n, p)
    work()  # compiles
    assert peak(work) <= VECTORS * 8 * (n + p)


# ---- the keyboard -------------------------------------------------------------------------------

INTERRUPTED = """
import os, signal, threading
import numpy as np
from rcmd import RCMD, L1Ball, Logistic, Problem, solve
rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 50))
problem = Problem(X, np.sign(X[:, 0]), Logistic(), L1Ball(5.0))
compiled = {"method": RCMD(engine="compiled"), "tol": 0}
solve(problem, max_iterations=10, **compiled)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
result = solve(problem, max_iterations=10**12, record_at=[10**12], **compiled)
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
print(result.stop.name, result.nit > 1000, bool(np.isfinite(result.gap)))
"""


def test_ctrl_c_returns_what_was_found() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["INTERRUPTED", "True", "True"]


# ---- other threads ------------------------------------------------------------------------------


@contextmanager
def ticking() -> Iterator[list[int]]:
    """Another thread that counts milliseconds while it may run."""
    ticks, done = [0], threading.Event()

    def tick() -> None:
        while not done.is_set():
            time.sleep(0.001)
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield ticks
    finally:
        done.set()
        thread.join()


@pytest.mark.parametrize("oracle", [L1Ball(5.0), Ridge(0.01, 1.0)], ids=["vertex", "ridge"])
def test_other_threads_run_while_a_kernel_does(oracle: Any) -> None:
    X, y = sparse(1000, 2000, 20)
    problem = Problem(X, y, Logistic(), oracle)
    sampler = UniformSampler(problem.n, 1, np.random.default_rng(0))
    engine: Any = CompiledEngine(problem, SublinearSchedule(1000.0), sampler, ConjugateProx())
    engine._chunk = 10**9  # one call
    engine._refresh_at = 10**9
    engine.advance(10)
    run, counted, seconds = engine._loop.run, [], []
    with ticking() as ticks:

        def watched(*arguments: Any) -> float:
            before, begun = ticks[0], time.perf_counter()
            health = run(*arguments)
            counted.append(ticks[0] - before)
            seconds.append(time.perf_counter() - begun)
            return float(health)

        engine._loop.run = watched
        while not seconds or seconds[-1] < 0.2:
            engine.advance(2 * engine.iteration)
    assert counted[-1] > 10

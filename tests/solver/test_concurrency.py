"""Threads that share an oracle and processes that are given one: the results of one after another.

HiGHS is not made for threads, and CVXPY keeps the numbers of a call in shared objects.
"""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from rcmd import CurSet, CvxpyOracle, L1Ball, LinearMinOracle, Polytope, Problem, solve


def disc(beta: Any) -> Any:
    import cvxpy as cp  # not needed in most of the processes

    return 0.1 * cp.norm1(beta), [cp.norm2(beta) <= 1]


def polytope() -> Polytope:
    sides = np.vstack([np.eye(8), -np.eye(8), np.random.default_rng(0).normal(size=(6, 8))])
    return Polytope(sides, np.ones(len(sides)))


ORACLES: dict[str, Callable[[], LinearMinOracle]] = {
    "polytope": polytope,
    "cur": lambda: CurSet((2, 4), 1.0),
    "cvxpy": lambda: CvxpyOracle(disc, 8),
    "l1": lambda: L1Ball(1.0),
}


def problems(oracle: LinearMinOracle, count: int) -> list[Problem]:
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 8))
    labels = [X @ random.normal(size=8) for _ in range(count)]
    return [Problem(X, y, "least-squares", oracle) for y in labels]


def solved(problem: Problem) -> tuple[bytes, bytes]:
    result = solve(problem, tol=1e-7, max_iterations=12)
    return result.beta.tobytes(), result.w.tobytes()


@pytest.mark.parametrize("name", ORACLES)
def test_threads_that_share_an_oracle(name: str) -> None:
    shared = problems(ORACLES[name](), 4)
    serial = [solved(problem) for problem in shared]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(solved, shared * 2)) == serial * 2


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
@pytest.mark.parametrize("way", ["fork", "spawn"])
def test_processes(way: str) -> None:
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip("this system does not fork")
    given = problems(polytope(), 1) + problems(CurSet((2, 4), 1.0), 1)
    serial = [solved(problem) for problem in given]  # the models are in use before the fork
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(way)) as pool:
        assert list(pool.map(solved, given)) == serial

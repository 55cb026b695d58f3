"""Stochastic Frank-Wolfe on (P) and coordinate mirror descent on (D), with the same rows."""

from itertools import islice
from typing import Any

import numpy as np

from rcmd import L1Ball, Logistic, Problem, iterate
from rcmd.engine.sampling import Replay
from rcmd.methods.gsfw import gsfw
from rcmd.schedules import SublinearSchedule


def run(steps: int = 40, seed: int = 0) -> tuple[Problem, Any, list[Any], list[Any]]:
    """The problem, the rows drawn, and the iterates of both algorithms."""
    problem = Problem([[2.0, 0.5], [0.3, 1.2]], [1.0, -1.0], Logistic(), L1Ball(3.0))
    rows = np.random.default_rng(seed).integers(2, size=(steps, 1))
    primal = list(islice(gsfw(problem, SublinearSchedule(2), Replay(rows)), steps))
    every = range(1, steps + 1)
    dual = iterate(problem, sampler=Replay(rows), tol=0.0, max_iterations=steps, checkpoints=every)
    return problem, rows, primal, list(dual)


def difference(one: Any, other: Any) -> float:
    """The largest between the averages, predictions and substitute gradients of both."""
    pairs = (one.beta, other.beta_average), (one.s, other.s), (one.d, other.d)
    return max(float(abs(u - v).max()) for u, v in pairs)


if __name__ == "__main__":
    _, _, primal, dual = run()
    print(max(map(difference, primal, dual)))

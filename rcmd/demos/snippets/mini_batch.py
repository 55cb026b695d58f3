"""Steps 1/σ and 1/σ_b on ten copies of one row, b of them moved at a time."""

from typing import Any

import numpy as np

from rcmd import LeastSquares, Problem, Ridge, iterate
from rcmd.schedules import LinearSchedule


def run(b: int = 10, steps: int = 30, seed: int = 0) -> tuple[Problem, dict[str, list[Any]]]:
    """The problem, and the states of a run with each rule."""
    problem = Problem(np.ones((10, 1)), np.ones(10), LeastSquares(), Ridge(0.65, 4.0))
    constants, runs = problem.constants(b), {}
    options: Any = {"batch": b, "seed": seed, "max_iterations": steps, "engine": "reference"}
    for name, sigma in (("published", constants.sigma_printed), ("corrected", constants.sigma)):
        rule = LinearSchedule(constants.blocks, sigma)
        every = range(1, steps + 1)
        runs[name] = list(iterate(problem, schedule=rule, tol=0.0, checkpoints=every, **options))
    return problem, runs


def gaps(problem: Problem, states: list[Any]) -> list[float]:
    """P − D for the averaged β and the last w, as in Theorem 3.2."""
    return [float(problem.primal(s.beta_average) - problem.dual(s.w)) for s in states]


if __name__ == "__main__":
    problem, runs = run()
    print({name: gaps(problem, states) for name, states in runs.items()})

"""The expected gap without sampling: every sequence of batches is run, and the bound."""

from itertools import combinations, product
from typing import Any

import numpy as np

from rcmd import L1Ball, LeastSquares, Problem, bounds, iterate
from rcmd.engine.sampling import Replay


def run(n: int = 3, b: int = 1, steps: int = 5, seed: int = 0) -> tuple[Any, list[float]]:
    """The gaps of every sequence after each step, and the bound."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1.0, 1.0, size=(n, 2))
    problem = Problem(X, X @ [0.7, -0.4], LeastSquares(), L1Ball(2.0))
    gaps, every = [], range(1, steps + 1)
    options: Any = {"tol": 0.0, "max_iterations": steps, "checkpoints": every}
    for batches in product(combinations(range(n), b), repeat=steps):
        states = iterate(problem, sampler=Replay(batches), engine="reference", **options)
        gaps.append([problem.primal(s.beta_average) - problem.dual(s.w_average) for s in states])
    theorem = bounds.named("theorem-3.1-first")
    return np.array(gaps), [theorem(problem.constants(b), t) for t in every]


if __name__ == "__main__":
    gaps, bound = run()
    print(len(gaps), "sequences", gaps.mean(axis=0), bound, sep="\n")

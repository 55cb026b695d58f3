"""The substitute gradient d beside the gradient at the average, along one run."""

from typing import Any

import numpy as np

from rcmd import L1Ball, Logistic, Problem, iterate
from rcmd.datasets import make_classification


def run(radius: float = 1.0, steps: int = 4000, seed: int = 0) -> tuple[Problem, list[Any]]:
    """The problem, and the states of a run."""
    X, y = make_classification(n=80, p=8, density=1, rng=seed)
    problem = Problem(X, y, Logistic(), L1Ball(radius))
    return problem, list(iterate(problem, tol=0.0, max_iterations=steps, seed=seed))


def gradient(problem: Problem, beta: Any) -> Any:
    """The true gradient."""
    return problem.gradient(problem.response(beta))


def angle(u: Any, v: Any) -> float:
    """In degrees."""
    u, v = u / np.linalg.norm(u), v / np.linalg.norm(v)
    return float(np.degrees(2 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v))))


if __name__ == "__main__":
    problem, states = run()
    print([round(angle(s.d, gradient(problem, s.beta_average)), 2) for s in states])

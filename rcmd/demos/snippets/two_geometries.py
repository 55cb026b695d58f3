"""One problem, the same rows, three prox functions h for the dual step."""

from typing import Any

import numpy as np

from rcmd import CompositeProx, ConjugateProx, EuclideanProx, Logistic, Problem, Ridge, iterate
from rcmd.engine.sampling import Replay

PROXES = {"conjugate": ConjugateProx(), "Euclidean": EuclideanProx(), "composite": CompositeProx()}


def run(strength: float = 0.2, steps: int = 40, seed: int = 0) -> tuple[Problem, dict[str, Any]]:
    """The problem, and the states of a run with each prox."""
    problem = Problem([[2.0, 0.5], [0.3, 1.2]], [1.0, -1.0], Logistic(), Ridge(strength))
    rows = np.random.default_rng(seed).integers(2, size=(steps, 1))
    options: Any = {"tol": 0.0, "checkpoints": range(1, steps + 1), "engine": "reference"}
    return problem, {
        name: list(
            iterate(problem, prox=prox, sampler=Replay(rows), max_iterations=steps, **options)
        )
        for name, prox in PROXES.items()
    }


if __name__ == "__main__":
    for name, states in run()[1].items():
        print(name, states[-1].gap)

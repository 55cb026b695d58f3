"""Seconds to the first step: run by ``costs`` in a process of its own.

Nothing here may import numba before the clock runs.
"""

import sys
import time

import numpy as np

from rcmd import L1Ball, Logistic, Problem, Ridge, iterate
from rcmd.datasets import make_classification

PROBLEMS = ("l1-sparse", "l1-dense", "ridge-sparse")


def first_step(problem: str) -> float:
    """Seconds from the solve call to the end of the first step, in this process."""
    kind, layout = problem.split("-")
    X, y = make_classification(
        density=0.1 if layout == "sparse" else 1, rng=np.random.default_rng(0)
    )
    subject = Problem(X, y, Logistic(), L1Ball(5.0) if kind == "l1" else Ridge(0.1))
    begun = time.perf_counter()
    iterate(subject, batch=0.01).progress.advance(1)
    return time.perf_counter() - begun


if __name__ == "__main__":
    print(first_step(sys.argv[1]))

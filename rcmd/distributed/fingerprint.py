"""What tells the data of one sharded problem from another's, however its rows are spread."""

from __future__ import annotations

import numpy as np

from rcmd.distributed.problem import ShardedProblem
from rcmd.distributed.summing import sum_terms
from rcmd.saving.fingerprints import fingerprint


def sharded_fingerprint(problem: ShardedProblem) -> dict[str, str]:
    """A hash of each thing the problem is made of, by its name in sentences.

    X, y and the weights are known by their products with fixed random numbers, one for each row:
    sums that have the same bits for any number of ranks.
    """
    losses, stream = problem.losses, np.random.PCG64(0)
    stream.advance(int(problem.starts[problem.group.rank]))  # a number for each row
    numbers = np.random.Generator(stream).random(problem.rows.n)
    weights = np.zeros(0) if losses.weights is None else losses.weights
    return {
        "X": fingerprint(problem.gradient(numbers)),
        "y": fingerprint(sum_terms(problem.group, numbers * losses.y)),
        "weights": fingerprint(sum_terms(problem.group, numbers[: len(weights)] * weights)),
        "loss": fingerprint(losses.loss),
        "oracle": fingerprint((problem.regularizer, problem.intercept)),
    }

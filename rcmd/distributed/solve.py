"""Solving a sharded problem: every rank calls the same function."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TypedDict, Unpack

import numpy as np

from rcmd.distributed.exchange import ExchangeName
from rcmd.distributed.group import one_for_all
from rcmd.distributed.problem import ShardedProblem
from rcmd.distributed.run import ShardedRun
from rcmd.engine.sampling import Sampler
from rcmd.result import Result, State, StopReason
from rcmd.schedules import Schedule


class ShardedOptions(TypedDict, total=False):
    """The options of ``solve_sharded``, explained there."""

    batch: int | float
    tol: float
    max_iterations: int | None
    max_gradients: int | None
    max_seconds: float | None
    seed: int | np.random.Generator
    schedule: Schedule | None
    sampler: Sampler | None
    exchange: ExchangeName
    checkpoints: Iterable[int] | None
    checkpoint: str | os.PathLike[str] | None
    every: float


def solve_sharded(
    problem: ShardedProblem,
    *,
    callbacks: Iterable[Callable[[State], bool | None]] = (),
    **options: Unpack[ShardedOptions],
) -> Result | None:
    """Solve (P) and (D) with their rows spread over ranks; every rank calls it alike.

    Same seed, same iterates, for any number of ranks: to the last bit with the sparse exchange
    and CSR rows, to rounding with the dense one. The algorithm is the plain one of the paper,
    without corrections.

    Parameters
    ----------
    problem
        What to solve.
    batch, tol, max_iterations, max_gradients, max_seconds, seed, schedule, sampler, checkpoints
        As for ``rcmd.solve``; the seed is rank 0's.
    exchange
        How the change of d travels: ``"sparse"``, ``"dense"``, or by default whichever has fewer
        bytes (see ``rcmd.distributed.exchange``).
    checkpoint, every
        A file to keep the run in, which rank 0 writes every so many seconds; ``resume_sharded``
        goes on from it, on any number of ranks.
    callbacks
        Functions of a ``State``, called at each checkpoint on every rank; a run stops where one
        returns True on any rank.

    Returns
    -------
    Result or None
        On rank 0 the result, with w of all rows; ``None`` on the others.

    Examples
    --------
    >>> from rcmd import L1Ball, Logistic
    >>> from rcmd.datasets import make_classification
    >>> from rcmd.distributed import ShardedProblem, rehearse, shard, solve_sharded
    >>> X, y = make_classification(n=90, p=5, rng=0)
    >>> def work(group):
    ...     problem = ShardedProblem(*shard(group, X, y), Logistic(), L1Ball(5.0), group=group)
    ...     return solve_sharded(problem, batch=9, tol=1e-2)
    >>> first, second, third = rehearse(3, work)
    >>> first.success, len(first.w), second, third
    (True, 90, None, None)
    """
    return drive(ShardedRun(problem, **options), callbacks)


def drive(run: ShardedRun, callbacks: Iterable[Callable[[State], bool | None]]) -> Result | None:
    """Let the run go to its end, with callbacks at its checkpoints."""
    with one_for_all(run.group), run.interrupts:
        for state in run:
            answers = [0, *(int(bool(callback(state))) for callback in callbacks)]
            if run.group.largest(np.array([max(answers)]))[0] and run.stop is None:
                run.stop = StopReason.CALLBACK
                run.save()
        return run.result()

"""Duality gaps of independent runs of rcmd."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from rcmd import RCMD, Problem, certify, iterate
from rcmd.model.schedules import Schedule

Pair = Literal["average", "last"]


def gaps(
    problem: Problem,
    schedule: Schedule,
    steps: int,
    runs: int,
    pair: Pair,
    rng: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """P(β̄) − D(w) of each run after ``steps`` steps of one row.

    w is w̄ (``"average"``, Theorem 3.1) or the last one (``"last"``, Theorem 3.2).
    """
    return np.array([_gap(problem, schedule, steps, pair, rng) for _ in range(runs)])


def _gap(
    problem: Problem, schedule: Schedule, steps: int, pair: Pair, rng: np.random.Generator
) -> float:
    run = iterate(
        problem,
        tol=0,
        max_iterations=steps,
        record_at=[steps],
        method=RCMD(schedule=schedule, engine="compiled"),
        seed=rng,
    )
    state = next(run)
    w = state.w_average if pair == "average" else state.w
    return float(certify(problem, state.beta_average, w).gap)

"""What all engines share: refreshes and faults."""

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from rcmd.model.problem import Problem
from rcmd.model.schedules import Schedule, StepState
from rcmd.oracles.base import LinearMinOracle
from rcmd.rows.atoms import Atom

EngineName = Literal["auto", "compiled", "reference"]

REFRESH_PASSES = 16
"""Passes over the data between two refreshes, once a run is under way."""


def next_refresh(iteration: int, n: int, batch: int) -> int:
    """The first iteration after ``iteration`` at which sums are computed from scratch.

    This keeps rounding errors from accumulating. It happens after 1, 2, 4, 8, 16 passes over the
    data and every 16 passes from then on: early sums shrink fastest and lose their digits first. It
    depends on the iteration alone, so that runs do not depend on how they are sliced.

    Examples
    --------
    >>> [next_refresh(i, n=10, batch=1) for i in (0, 10, 159, 160)]
    [10, 20, 160, 320]
    """
    for passes in (1, 2, 4, 8):
        if iteration < math.ceil(passes * n / batch):
            return math.ceil(passes * n / batch)
    period = math.ceil(REFRESH_PASSES * n / batch)
    return (iteration // period + 1) * period


def checked_atom(oracle: LinearMinOracle, d: Any) -> Atom:
    """The oracle's answer at d, which must be an atom."""
    atom = oracle.argmin(d)
    if not isinstance(atom, Atom):
        raise TypeError(
            f"argmin of {type(oracle).__name__} returned a {type(atom).__name__}; expected an "
            "Atom: wrap a vector as rcmd.oracles.DenseAtom(vector)"
        )
    p = math.prod(d.shape)
    if not atom.fits(p):
        raise ValueError(
            f"argmin of {type(oracle).__name__} returned {atom!r}, which does not have p = {p} "
            "entries; expected an atom of the length of c"
        )
    return atom


def step_size(schedule: Schedule, i: int, state: Callable[[], StepState]) -> Any:
    """η_i, or one number for each row of the batch; what saw the run is looked at."""
    if not schedule.sees_run:
        return schedule.step(i)
    here = state()
    eta: Any = schedule.step(i, here)  # type: ignore[call-arg]
    shape = np.shape(eta)
    if shape not in ((), here.s.shape) or not np.all((eta >= 0) & (eta <= 1)):
        raise ValueError(
            f"step of {type(schedule).__name__} returned {eta!r} at iteration {i}; expected a "
            f"number in [0, 1], or {len(here.batch)} of them, one for each row of the batch"
        )
    return eta


def not_finite(problem: Problem, iteration: int) -> str:
    """The message for a dual variable that is not finite."""
    return (
        f"the dual variable became NaN or infinite before iteration {iteration}; expected finite "
        f"numbers from the derivative of {problem.loss!r} and the atoms of {problem.oracle!r}: "
        "check them at very large and very small arguments"
    )

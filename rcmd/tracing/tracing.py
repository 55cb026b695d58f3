"""``rcmd.trace``: run an instance and put it into every line of its proof."""

from __future__ import annotations

import math
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.constants import Constants
from rcmd.engine.sampling import Sampler, UniformSampler
from rcmd.problem import Problem
from rcmd.schedules import LinearSchedule, Schedule, default_schedule
from rcmd.tracing import linear, sublinear
from rcmd.tracing.lines import ProofLine
from rcmd.tracing.moment import Moment
from rcmd.tracing.report import Entry, Trace
from rcmd.validation import batch_size

Array = npt.NDArray[Any]

MOST_BATCHES = 10_000
"""Batches enumerated for one conditional expectation."""


def trace(
    problem: Problem,
    steps: int = 10,
    *,
    batch: int | float = 1,
    w: Any = None,
    seed: int | np.random.Generator = 0,
    sampler: Sampler | None = None,
) -> Trace:
    """Run Algorithm 2 and evaluate every inequality of its convergence proof at each step.

    Conditional expectations are exact: all batches are enumerated. Printed, the trace shows
    which lines are tight on this instance (left/right near 1) and which are loose.

    Parameters
    ----------
    problem
        A small instance; fractions give exact slacks.
    steps
        Iterations.
    batch
        Rows per step, or a fraction of n.
    w
        The fixed dual point of the proofs; CVXPY's optimum by default.
    seed, sampler
        Where the batches of this run come from; a sampler has its own batch size.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, trace
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.5], LeastSquares(), Box(-1.0, 1.0))
    >>> proof = trace(problem, 4, w=[-0.5, 0.25])
    >>> proof.broken(), bool(proof.line("repair F3")[-1].holds)
    ([], True)
    """
    if not isinstance(problem, Problem):
        raise TypeError(
            f"problem is of type {type(problem).__name__}; expected a Problem(X, y, loss, oracle)"
        )
    if not problem.oracle.exact_atoms:
        raise ValueError(
            f"oracle {problem.oracle!r} answers with minimizers that are not exact; expected one "
            "whose are, as the proofs assume"
        )
    problem.oracle.restart()
    if not (isinstance(steps, Integral) and steps > 0):
        raise ValueError(f"steps is {steps!r}; expected a positive whole number of iterations")
    size = batch_size(batch, problem.n) if sampler is None else sampler.batch
    count = math.comb(problem.n, size)
    if count > MOST_BATCHES:
        raise ValueError(
            f"there are {count} batches of {size} out of n = {problem.n} rows; expected at most "
            f"{MOST_BATCHES}, all of which are run through at every step: trace a smaller problem"
        )
    constants = problem.constants(size)
    schedule = default_schedule(constants)
    fixed = _fixed_point(problem, w)
    sampler = sampler or UniformSampler(problem.n, size, np.random.default_rng(seed))
    moments: list[Moment] = []
    entries: list[Entry] = []
    lines = _lines(problem, schedule)
    batches = [_mask(problem.n, rows) for rows in combinations(range(problem.n), size)]
    s = 0 * problem.losses.y
    for i in range(int(steps)):
        atom = problem.oracle.argmin(problem.gradient(problem.losses.derivative(s)))
        drawn = _mask(problem.n, sampler.draw(1)[0])
        weight = _weight(schedule, constants, i)
        eta = schedule.step(i)
        moments.append(Moment(problem, constants, i, eta, weight, s, atom, fixed, batches, drawn))
        entries += [Entry(line, i, *line.sides(moments)) for line in lines]
        s = moments[-1].s_next
    theorem = "3.2" if isinstance(schedule, LinearSchedule) else "3.1"
    title = f"The proof of Theorem {theorem} along {steps} steps of {problem!r}, batch {size}"
    return Trace(title, lines, entries)


def _lines(problem: Problem, schedule: Schedule) -> tuple[ProofLine, ...]:
    if not isinstance(schedule, LinearSchedule):
        return sublinear.LINES
    return linear.QUADRATIC_LINES if problem.loss.quadratic else linear.LINES


def _weight(schedule: Schedule, constants: Constants, i: int) -> Any:
    """g_i: 2N + i, or q^i."""
    if isinstance(schedule, LinearSchedule):
        product = constants.blocks * constants.sigma
        return (product / (product - 1)) ** i
    return 2 * constants.blocks + i


def _fixed_point(problem: Problem, w: Any) -> Array:
    if w is None:
        from rcmd import truth

        w = truth.solve(problem).w
    fixed = np.asarray(w, dtype=problem.rows.number_type)
    if fixed.shape != (problem.n,):
        raise ValueError(f"w has shape {fixed.shape}; expected ({problem.n},), one number per row")
    return problem.losses.clip(fixed)


def _mask(n: int, rows: Any) -> Array:
    mask = np.zeros(n, dtype=bool)
    mask[list(rows)] = True
    return mask

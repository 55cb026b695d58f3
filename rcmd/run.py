"""Solving a problem, in one go or checkpoint by checkpoint."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TypedDict, Unpack

import numpy as np

from rcmd.engine.choosing import EngineName
from rcmd.engine.sampling import Sampler
from rcmd.methods.base import Method
from rcmd.option_checks import check_names, checked_callbacks
from rcmd.problem import Problem
from rcmd.prox import BregmanProx
from rcmd.result import Result, State, StopReason
from rcmd.running import Run
from rcmd.schedules import Schedule

Callback = Callable[[State], bool | None]


class Options(TypedDict, total=False):
    """The options of ``solve`` and ``iterate``, explained there; ``Run`` holds the defaults."""

    batch: int | float | None
    tol: float
    max_iterations: int | None
    max_gradients: int | None
    max_seconds: float | None
    seed: int | np.random.Generator
    schedule: Schedule | None
    prox: BregmanProx | None
    sampler: Sampler | None
    engine: EngineName
    checkpoints: Iterable[int] | None
    warm_start: Result | None
    corrective: bool | None
    method: Method | None
    checkpoint: str | os.PathLike[str] | None
    every: float


def iterate(problem: Problem, **options: Unpack[Options]) -> Run:
    """Iterate over the checkpoints of a run: ``for state in iterate(problem): …``.

    Takes the options of ``solve`` except ``callbacks``, and runs the same code; its
    ``result()`` may be asked for at any checkpoint.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, iterate
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> run = iterate(problem, batch=2, tol=0.0, max_iterations=4, checkpoints=[1, 2, 3, 4])
    >>> [state.iteration for state in run], run.result().stop.name
    ([1, 2, 3, 4], 'ITERATIONS')
    """
    check_names(options, Options.__annotations__)
    return Run(problem, **options)


def solve(
    problem: Problem, *, callbacks: Sequence[Callback] = (), **options: Unpack[Options]
) -> Result:
    """Solve (P) and (D) together, to a certified gap.

    Parameters
    ----------
    problem
        What to solve.
    batch
        Rows per step: a whole number, or a fraction of n as a float in (0, 1]; 1 by default,
        or the rule of the ``method``.
    tol
        Stop when the certified gap P(β) − D(w) is at most this; 1e-4 by default.
    max_iterations, max_gradients, max_seconds
        Budgets; with none given, the larger of 1000 passes over the data and 10⁷ gradients.
    seed
        A whole number, 0 by default, or a ``numpy.random.Generator``: same seed, same
        iterates.
    schedule
        Step sizes and averaging weights; by default Theorem 3.2's where R is strongly
        convex, Theorem 3.1's where it is not.
    prox
        Geometry of the dual step; by default the paper's, h = L*/n.
    sampler
        Where batches come from, instead of ``batch`` and ``seed``; see
        ``rcmd.engine.sampling.Replay``.
    engine
        ``"compiled"`` runs machine code made from the classes given, ``"reference"`` plain
        Python; ``"auto"`` compiles where it can. Both give the same iterates.
    checkpoints
        Iterations at which to certify; by default log-spaced from a quarter of a pass on.
    warm_start
        An earlier ``Result``, of this problem or one like it (other labels, a larger ball),
        to go on from: s⁰ = Xβ, and step sizes and averages as if a quarter of its passes over
        the data had led to β here. No theorem bounds such runs; certificates hold as ever.
    method
        Another method to run instead, from ``rcmd.methods``, under the same contract.
    corrective
        Whether to end with corrections: second-order steps over the atoms found, where the
        certificates say that they are the shorter way to ``tol``; ``False`` is the plain
        algorithm of the paper. By default ``True``, unless a schedule, a prox, a sampler or a
        method is given. There are none for ``tol=0`` and for fractions.
    checkpoint
        A file to keep the run in, which must not exist yet: written every so many seconds and at
        the end, whole at any time. ``rcmd.resume(file, problem)`` goes on from it, bit for bit as
        if nothing had happened. A disk that fills up on the way stops nothing: a warning and the
        result's ``note`` say that the file is old.
    every
        Seconds between two writings, 30 by default; more where writing takes longer than a tenth
        of them. With 0 it is written whenever the run looks at the clock.
    callbacks
        A function of a ``State``, or several, called at each checkpoint; one that returns
        True stops the run.

    Returns
    -------
    Result
        β, w, the certificate, the history and the reason for stopping. Ctrl-C and SIGTERM
        return what was found so far.

    Examples
    --------
    >>> from rcmd import L1Ball, Logistic, Problem, solve
    >>> from rcmd.datasets import make_classification
    >>> import numpy as np
    >>> X, y = make_classification(n=50, p=5, rng=np.random.default_rng(0))
    >>> result = solve(Problem(X, y, Logistic(), L1Ball(5.0)), batch=0.1, tol=1e-2)
    >>> result.success, bool(result.gap <= 1e-2)
    (True, True)
    """
    check_names(options, [*Options.__annotations__, "callbacks"])
    return drive(Run(problem, **options), callbacks)


def drive(run: Run, callbacks: Callback | Sequence[Callback]) -> Result:
    """Let the run go to its end, with callbacks at its checkpoints."""
    listeners = checked_callbacks(callbacks)
    with run.interrupts:
        for state in run:
            going = run.stop is None
            for callback in listeners:
                if callback(state) and run.stop is None:
                    run.stop = StopReason.CALLBACK
            if run.interrupts.requested and run.stop is None:
                run.stop = StopReason.INTERRUPTED
            if going and run.stop is not None:
                run.save()
            del state  # five vectors, which the next checkpoint would add its own to
    return run.result()

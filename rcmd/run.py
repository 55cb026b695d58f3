"""Running a problem: budgets, checkpoints, certificates and callbacks around an engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, TypedDict, Unpack

import numpy as np

from rcmd import bounds
from rcmd.certificate import BestPair
from rcmd.constants import Constants
from rcmd.engine.choosing import EngineName, make_engine
from rcmd.engine.sampling import Sampler, UniformSampler
from rcmd.interrupts import Interrupts
from rcmd.problem import Problem
from rcmd.prox import BregmanProx, ConjugateProx
from rcmd.result import Checkpoint, History, Result, State, StopReason
from rcmd.schedules import LinearSchedule, Schedule, SublinearSchedule, default_schedule
from rcmd.validation import batch_size

Callback = Callable[[State], bool | None]

DEFAULT_EPOCHS, DEFAULT_GRADIENTS = 1000, 10**7
"""A run without budgets gives up after both so many passes and so many gradients."""

SLICE_SECONDS = 0.05
"""Work done between two looks at the clock and the keyboard."""


class Options(TypedDict, total=False):
    """The options of ``solve`` and ``iterate``, explained there; ``Run`` holds the defaults."""

    batch: int | float
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


class Run(Iterator[State]):
    """An iterator over the checkpoints of one run; see ``solve`` for the options."""

    def __init__(
        self,
        problem: Problem,
        *,
        batch: int | float = 1,
        tol: float = 1e-4,
        max_iterations: int | None = None,
        max_gradients: int | None = None,
        max_seconds: float | None = None,
        seed: int | np.random.Generator = 0,
        schedule: Schedule | None = None,
        prox: BregmanProx | None = None,
        sampler: Sampler | None = None,
        engine: EngineName = "auto",
        checkpoints: Iterable[int] | None = None,
    ) -> None:
        if not isinstance(problem, Problem):
            raise TypeError(
                f"problem is of type {type(problem).__name__}; expected a "
                "Problem(X, y, loss, oracle)"
            )
        if schedule is not None and not isinstance(schedule, Schedule):
            raise TypeError(f"schedule is {schedule!r}; expected a Schedule, or None")
        if prox is not None and not isinstance(prox, BregmanProx):
            raise TypeError(f"prox is {prox!r}; expected a BregmanProx, or None")
        _check_tolerance(tol)
        self.problem = problem
        self.tol = tol
        _check_sampler(sampler, problem.n)
        size = sampler.batch if sampler is not None else batch_size(batch, problem.n)
        _check_budget("max_iterations", max_iterations, Integral)
        _check_budget("max_gradients", max_gradients, Integral)
        _check_budget("max_seconds", max_seconds, Real)
        if max_iterations is None and max_gradients is None and max_seconds is None:
            max_gradients = max(DEFAULT_EPOCHS * problem.n, DEFAULT_GRADIENTS)
        self._limits = _step_limits(max_iterations, max_gradients, size)
        self._max_seconds = math.inf if max_seconds is None else max_seconds

        constants = problem.constants(size)
        self.prox = (prox or ConjugateProx()).bind(constants)
        self.schedule = schedule or _schedule_for(self.prox, constants)
        sampler = sampler or UniformSampler(problem.n, size, np.random.default_rng(seed))
        self.engine = make_engine(engine, problem, self.schedule, sampler, self.prox)
        self._bound_kind = _bound_kind(self.prox, self.schedule, sampler, constants)
        self._constants = constants
        self._marks = log_spaced(constants) if checkpoints is None else _checked_marks(checkpoints)
        self._best = BestPair(problem)
        self._history: list[Checkpoint] = []
        self.stop: StopReason | None = None
        self.interrupts = Interrupts()
        self._started: float | None = None

    def __next__(self) -> State:
        """Work until the next checkpoint and certify it."""
        if self.stop is not None:
            raise StopIteration
        if self._started is None:
            self._started = time.perf_counter()
        with self.interrupts:
            self.stop = self._advance()
            state = self._certified_state()
        self._history.append(state.checkpoint())
        if self.interrupts.requested:
            self.stop = StopReason.INTERRUPTED
        elif state.gap <= self.tol:
            self.stop = StopReason.TOLERANCE
        return state

    def result(self) -> Result:
        """The best certified pair and how the run went, up to now."""
        if not self._history:
            raise ValueError("the run has not started; take a step with next(run) first")
        return Result(
            certificate=self._best.certificate(),
            history=History(self._history),
            stop=self.stop or StopReason.CALLBACK,
            note=self.prox.note,
        )

    def seconds(self) -> float:
        """Wall-clock time since the first step."""
        return 0.0 if self._started is None else time.perf_counter() - self._started

    def _advance(self) -> StopReason | None:
        """Step to the next mark or the end of a budget; say which budget ended, if any."""
        mark = next((m for m in self._marks if m > self.engine.iteration), None)
        end = min([*self._limits.values(), *([] if mark is None else [mark])], default=None)
        slice_steps = 1
        while end is None or self.engine.iteration < end:
            begun = time.perf_counter()
            left = math.inf if end is None else end - self.engine.iteration
            self.engine.advance(int(min(slice_steps, left)))
            if self.interrupts.requested:
                return StopReason.INTERRUPTED
            if self.seconds() >= self._max_seconds:
                return StopReason.SECONDS
            if time.perf_counter() - begun < SLICE_SECONDS / 2:
                slice_steps *= 2
        reached = (r for r, limit in self._limits.items() if self.engine.iteration >= limit)
        return next(reached, None)

    def _certified_state(self) -> State:
        """Offer the averages, the response to β̄ and the last w; certify the best pair."""
        engine = self.engine
        beta, w_average = engine.averages()
        self._best.offer_primal(beta)
        for w in (w_average, self.problem.response(beta), engine.w):
            self._best.offer_dual(w)
        certificate = self._best.certificate()
        return State(
            iteration=engine.iteration,
            gradients=engine.iteration * engine.sampler.batch,
            oracle_calls=engine.iteration,
            seconds=self.seconds(),
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap,
            bound=self._bound(engine.iteration),
            certificate=certificate,
            s=engine.s.copy(),
            w=engine.w.copy(),
            d=engine.d.copy(),
            beta_average=beta,
            w_average=w_average,
        )

    def _bound(self, iterations: int) -> float:
        if self._bound_kind is None:
            return math.nan
        return bounds.best(self._constants, iterations, self._bound_kind)[1]


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
        Rows per step: a whole number, or a fraction of n as a float in (0, 1]; 1 by default.
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
    callbacks
        A function of a ``State``, or several, called at each checkpoint; one that returns
        True stops the run.

    Returns
    -------
    Result
        β, w, the certificate, the history and the reason for stopping. Ctrl-C returns what
        was found so far.

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
    listeners = (callbacks,) if callable(callbacks) else callbacks
    run = Run(problem, **options)
    with run.interrupts:
        for state in run:
            for callback in listeners:
                if callback(state) and run.stop is None:
                    run.stop = StopReason.CALLBACK
            if run.interrupts.requested and run.stop is None:
                run.stop = StopReason.INTERRUPTED
    return run.result()


def log_spaced(constants: Constants, ratio: float = 1.25) -> Iterator[int]:
    """Iterations from a quarter of a pass on, growing by ``ratio``: O(log k) certificates."""
    mark = max(1, math.ceil(constants.blocks / 4))
    while True:
        yield mark
        mark = max(mark + 1, math.ceil(mark * ratio))


def _schedule_for(prox: BregmanProx, constants: Constants) -> Schedule:
    """Relative smoothness, which Theorem 3.2 needs, is a property of h = L*/n alone."""
    if prox.unit_steps and not constants.mu > 0:
        raise ValueError(
            f"schedule is None while {type(prox).__name__} takes unit steps and R has μ = 0, for "
            "which no schedule here is made; expected one of your own"
        )
    if prox.carries_bounds or prox.unit_steps:
        return default_schedule(constants, prox.unit_steps)
    return SublinearSchedule(constants.blocks)


def _bound_kind(
    prox: BregmanProx, schedule: Schedule, sampler: Sampler, constants: Constants
) -> bounds.Kind | None:
    """The kind of bound for this run, if prox, schedule and sampler are a theorem's own."""
    if not (prox.carries_bounds and isinstance(sampler, UniformSampler)):
        return None
    own: list[Schedule] = [SublinearSchedule(constants.blocks)]
    if constants.mu > 0:
        own.append(LinearSchedule(constants.blocks, constants.sigma))
    kind = schedule.theorem if schedule in own else None
    # Data so large that M² overflows leave no bound.
    return kind if kind is not None and bounds.valid(constants, 1, kind) else None


def _step_limits(
    max_iterations: int | None, max_gradients: int | None, size: int
) -> dict[StopReason, int]:
    """Both budgets as numbers of steps of ``size`` gradients each."""
    limits = {}
    if max_iterations is not None:
        limits[StopReason.ITERATIONS] = max_iterations
    if max_gradients is not None:
        if max_gradients < size:
            raise ValueError(
                f"max_gradients is {max_gradients}; expected at least one batch, {size} rows"
            )
        limits[StopReason.GRADIENTS] = max_gradients // size
    return limits


def _check_tolerance(tol: Any) -> None:
    number: Any = tol if isinstance(tol, Real) else math.nan
    if not number >= 0:
        raise ValueError(f"tol is {tol!r}; expected a number ≥ 0")


def _check_sampler(sampler: Any, n: int) -> None:
    """Refuse a sampler made for other data."""
    drawn_from = getattr(sampler, "n", n)
    if drawn_from != n:
        raise ValueError(
            f"sampler draws from {drawn_from} rows; expected one for the problem's n = {n}"
        )


def _check_budget(name: str, value: Any, kind: Any) -> None:
    whole = "whole " if kind is Integral else ""
    if value is not None and not (isinstance(value, kind) and value > 0):
        raise ValueError(
            f"{name} is {value!r}; expected a positive {whole}number, or None for no limit"
        )


def _checked_marks(checkpoints: Iterable[Any]) -> Iterator[int]:
    """The marks, a sequence of them checked before the run, an endless stream on the way."""
    if isinstance(checkpoints, Sequence | np.ndarray):
        return iter(list(_increasing(checkpoints)))
    return _increasing(checkpoints)


def _increasing(checkpoints: Iterable[Any]) -> Iterator[int]:
    last = 0
    for mark in checkpoints:
        if not isinstance(mark, Integral) or mark <= last:
            raise ValueError(
                f"checkpoints holds {mark!r} after {last}; expected whole numbers of iterations, "
                "each larger than the one before"
            )
        last = int(mark)
        yield last

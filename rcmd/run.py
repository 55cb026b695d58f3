"""Running a problem: budgets, checkpoints, certificates and callbacks around an engine."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, TypedDict, Unpack

import numpy as np

from rcmd import bounds
from rcmd.budgets import Budgets, Spent
from rcmd.certificate import BestPair
from rcmd.constants import Constants
from rcmd.corrective.corrected import Correction
from rcmd.corrective.phase import correction_for
from rcmd.corrective.switching import worth_correcting
from rcmd.engine.choosing import Engine, EngineName, make_engine
from rcmd.engine.faults import refuse_infeasible_atoms
from rcmd.engine.sampling import Sampler, UniformSampler
from rcmd.interrupts import Interrupts
from rcmd.methods.base import Method, Progress
from rcmd.problem import Problem
from rcmd.prox import BregmanProx, ConjugateProx
from rcmd.result import Checkpoint, History, Result, State, StopReason
from rcmd.schedules import (
    LinearSchedule,
    Resumed,
    Schedule,
    SublinearSchedule,
    default_schedule,
)
from rcmd.validation import batch_size

Callback = Callable[[State], bool | None]

SLICE_SECONDS = 0.05
"""Work done between two looks at the clock and the keyboard."""


COUNTED_PAST = 0.25
"""Share of an earlier run's passes that a warm start counts as done.

All of them can make the steps too short to correct its faults, and none would forget it.
"""


STILL_ROUNDS, SLOW_ROUNDS, LEAST_FALL = 3, 30, 0.1
"""Corrections end after so many rounds that changed nothing, or in which the gap fell by less."""

ROUND_PASSES = 5
"""Passes over the data that a round of corrections takes at least."""


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


class Run(Iterator[State]):
    """An iterator over the checkpoints of one run; see ``solve`` for the options."""

    def __init__(
        self,
        problem: Problem,
        *,
        batch: int | float | None = None,
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
        warm_start: Result | None = None,
        corrective: bool | None = None,
        method: Method | None = None,
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
        if sampler is not None:
            batch = sampler.batch
        size = batch_size(1 if batch is None else batch, problem.n)
        self._budgets = Budgets(max_iterations, max_gradients, max_seconds, n=problem.n, batch=size)
        own_parts = {"schedule": schedule, "prox": prox, "sampler": sampler}
        if method is not None:
            _check_method(method, {**own_parts, "warm_start": warm_start})
        if corrective is None:  # whoever brings a part of the algorithm studies the plain method
            corrective = all(part is None for part in (*own_parts.values(), method))
        if not isinstance(corrective, bool):
            raise TypeError(f"corrective is {corrective!r}; expected True, False or None")
        self._may_correct = corrective and tol > 0 and not problem.exact
        constants = problem.constants(size)
        self.prox = (prox or ConjugateProx()).bind(constants)
        self.schedule = schedule or _schedule_for(self.prox, constants)
        sampler = sampler or UniformSampler(problem.n, size, np.random.default_rng(seed))
        start = None
        if warm_start is not None:
            start = _checked_start(problem, warm_start)
            done = COUNTED_PAST * warm_start.passes * problem.n / size
            self.schedule = Resumed(self.schedule, round(done))
        self._bound_kind = _bound_kind(self.prox, self.schedule, sampler, constants)
        self._note = self.prox.note
        self.engine: Engine | Progress
        if method is None:
            self.engine = make_engine(engine, problem, self.schedule, sampler, self.prox, start)
        else:
            given = None if batch is None else size
            self.engine = method.start(problem, given, np.random.default_rng(seed))
            self._bound_kind, self._note = None, method.note
            self._budgets.require(self.engine.step_gradients)
        self._constants = constants
        # Other methods may take their first steps on few rows and the later ones on all.
        blocks = problem.n / self.engine.step_gradients if method is None else 1
        self._marks = log_spaced(blocks) if checkpoints is None else _checked_marks(checkpoints)
        self._best = BestPair(problem)
        if warm_start is not None:
            self._best.offer_dual(self._best.offer_primal(warm_start.beta))
            if len(warm_start.w) == problem.n:
                self._best.offer_dual(warm_start.w)
        self._history: list[Checkpoint] = []
        self._correction: Correction | None = None
        self._rounds, self._still, self._slow = 0, 0, 0
        self._landmark: Any = math.inf
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
            if self._correction is None or not self._may_correct:
                self.stop = self._advance()
                state = self._certified_state()
            else:
                state = self._corrected_state(self._correction)
                self.stop = self._budget_end(ROUND_PASSES * self.problem.n)
        self._history.append(state.checkpoint())
        self._choose_phase(state)
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
            note=self._note,
        )

    def seconds(self) -> float:
        """Wall-clock time since the first step."""
        return 0.0 if self._started is None else time.perf_counter() - self._started

    def _advance(self) -> StopReason | None:
        """Step to the next mark or the end of a budget; say which budget ended, if any."""
        engine = self.engine
        mark = next((m for m in self._marks if m > engine.iteration), math.inf)
        slice_steps = 1
        while engine.iteration < mark:
            begun = time.perf_counter()
            allowed = self._budgets.steps_left(self._spent(), engine.step_gradients)
            if allowed < 1:
                break
            even = not isinstance(engine, Progress)  # else every step may cost more
            ahead = min(slice_steps if even else 1, allowed, mark - engine.iteration)
            engine.advance(int(ahead))
            if self.interrupts.requested:
                return StopReason.INTERRUPTED
            if self.seconds() >= self._budgets.seconds:
                return StopReason.SECONDS
            if time.perf_counter() - begun < SLICE_SECONDS / 2:
                slice_steps *= 2
        return self._budget_end(engine.step_gradients)

    def _spent(self) -> Spent:
        engine, done = self.engine, self._correction
        extra = 0 if done is None else done.gradients
        return Spent(engine.iteration + self._rounds, engine.gradients + extra)

    def _budget_end(self, step: int) -> StopReason | None:
        """Which budget does not allow a further step of so many gradients."""
        if self.seconds() >= self._budgets.seconds:
            return StopReason.SECONDS
        return self._budgets.exceeded(self._spent(), step)

    def _choose_phase(self, state: State) -> None:
        """Begin corrections where the certificates say that they pay; end them where they idle."""
        if not self._may_correct or self.stop is not None or state.gap <= self.tol:
            return
        if self._correction is not None:
            fell = state.gap < (1 - LEAST_FALL) * self._landmark
            self._slow = 0 if fell else self._slow + 1
            self._landmark = state.gap if fell else self._landmark
            self._still = 0 if self._correction.moved else self._still + 1
            self._may_correct = self._still < STILL_ROUNDS and self._slow < SLOW_ROUNDS
        elif worth_correcting(self._history, self.problem.n, self.tol):
            # The budget may not allow a round any more.
            if self._budget_end(ROUND_PASSES * self.problem.n) is None:
                self._correction = correction_for(self.problem, state.certificate.beta)
                self._landmark = state.gap
            else:
                self._may_correct = False

    def _certified_state(self) -> State:
        """Offer the averages, the response to β̄ and the last w; certify the best pair."""
        engine = self.engine
        beta, w_average = engine.averages()
        self._best.offer_dual(self._best.offer_primal(beta))
        self._best.offer_dual(w_average)
        self._best.offer_dual(engine.w)
        if math.isinf(self._best.certificate().primal):
            refuse_infeasible_atoms(self.problem.oracle, engine.d, self.problem.rows.zero())
        iterates = (engine.s.copy(), engine.w.copy(), engine.d.copy(), beta, w_average)
        return self._state("plain", self._bound(engine.iteration), *iterates)

    def _corrected_state(self, correction: Correction) -> State:
        """One round of corrections, certified with its own response."""
        left = math.inf
        if self._budgets.gradients is not None:
            left = (self._budgets.gradients - self._spent().gradients) / self.problem.n
        here = correction.round(left)
        self._rounds += 1
        self._best.offer_primal(here.beta)
        self._best.offer_dual(here.w)
        return self._state("corrective", math.nan, here.s, here.w, here.d, here.beta, here.w)

    def _state(self, phase: str, bound: float, *iterates: Any) -> State:
        certificate, spent, done = self._best.certificate(), self._spent(), self._correction
        return State(
            iteration=spent.iterations,
            gradients=spent.gradients,
            oracle_calls=self.engine.oracle_calls + (0 if done is None else done.oracle_calls),
            seconds=self.seconds(),
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap,
            bound=bound,
            phase=phase,
            certificate=certificate,
            **dict(zip(("s", "w", "d", "beta_average", "w_average"), iterates, strict=True)),
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
            del state  # five vectors, which the next checkpoint would add its own to
    return run.result()


def log_spaced(blocks: Any, ratio: float = 1.25) -> Iterator[int]:
    """Iterations from a quarter of a pass on, growing by ``ratio``: O(log k) certificates."""
    mark = max(1, math.ceil(blocks / 4))
    while True:
        yield mark
        mark = max(mark + 1, math.ceil(mark * ratio))


def _checked_start(problem: Problem, warm_start: Any) -> Any:
    """The β to start from, which must lie in dom R: averages would stay outside with it."""
    if not isinstance(warm_start, Result):
        raise TypeError(
            f"warm_start is of type {type(warm_start).__name__}; expected the Result of an "
            "earlier run"
        )
    beta, like = warm_start.beta, problem.rows.zero()
    if type(beta) is not type(like) or beta.shape != like.shape:
        raise ValueError(
            f"warm_start holds a β of shape {beta.shape}; expected {like.shape}, that of this "
            "problem"
        )
    if math.isinf(problem.oracle.value(beta)):
        raise ValueError(
            f"warm_start holds a β outside dom R, R(β) = {problem.oracle.describe()}; expected "
            "one inside: go from smaller sets to larger ones"
        )
    return beta


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


def _check_tolerance(tol: Any) -> None:
    number: Any = tol if isinstance(tol, Real) else math.nan
    if not number >= 0:
        raise ValueError(f"tol is {tol!r}; expected a number ≥ 0")


def _check_method(method: Any, parts: dict[str, Any]) -> None:
    """Refuse what is no method, and parts of the dual algorithm beside another method."""
    if not isinstance(method, Method):
        raise TypeError(f"method is {method!r}; expected a Method, such as FrankWolfe(), or None")
    given = [name for name, part in parts.items() if part is not None]
    if given:
        raise ValueError(
            f"{' and '.join(given)} given beside method = {method!r}; expected neither: they are "
            "parts of the dual algorithm"
        )


def _check_sampler(sampler: Any, n: int) -> None:
    """Refuse a sampler made for other data."""
    drawn_from = getattr(sampler, "n", n)
    if drawn_from != n:
        raise ValueError(
            f"sampler draws from {drawn_from} rows; expected one for the problem's n = {n}"
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

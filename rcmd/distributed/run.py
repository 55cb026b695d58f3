"""Running a sharded problem: the contract of ``rcmd.run``, on all ranks at once.

Every decision is made from numbers that all ranks share: the latest clock, anyone's Ctrl-C.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, TypedDict, Unpack

import numpy as np

from rcmd import bounds
from rcmd.budgets import Budgets, Spent
from rcmd.certificate import BestPair
from rcmd.description import summarize
from rcmd.distributed.engine import ShardedEngine, confirm_lockstep
from rcmd.distributed.exchange import ExchangeName
from rcmd.distributed.group import Array, one_for_all, same_words
from rcmd.distributed.problem import ShardedProblem
from rcmd.engine.faults import refuse_infeasible_atoms
from rcmd.engine.sampling import Sampler, UniformSampler
from rcmd.interrupts import Interrupts
from rcmd.marks import checked_marks, log_spaced
from rcmd.option_checks import check_parts, check_tolerance
from rcmd.prox import ConjugateProx
from rcmd.result import Checkpoint, History, Result, State, StopReason
from rcmd.run_theory import bound_kind, schedule_for
from rcmd.schedules import Schedule
from rcmd.validation import batch_size

if TYPE_CHECKING:
    from rcmd.distributed.saver import ShardedSaver

SLICE_SECONDS = 0.05
"""Work done between two agreements on the time."""

EVERY = 30.0
"""Seconds between two checkpoint files."""


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


class ShardedRun(Iterator[State]):
    """An iterator over the checkpoints of one run; see ``solve_sharded`` for the options.

    The states hold β, d and all numbers of everyone; s, w and w̄ of this rank's rows.
    """

    def __init__(
        self,
        problem: ShardedProblem,
        *,
        batch: int | float = 1,
        tol: float = 1e-4,
        max_iterations: int | None = None,
        max_gradients: int | None = None,
        max_seconds: float | None = None,
        seed: int | np.random.Generator = 0,
        schedule: Schedule | None = None,
        sampler: Sampler | None = None,
        exchange: ExchangeName = "auto",
        checkpoints: Iterable[int] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = EVERY,
    ) -> None:
        check_parts(problem, schedule, None, sampler)
        check_tolerance(tol)
        self.problem, self.group, self.tol = problem, problem.group, tol
        size = batch_size(batch if sampler is None else sampler.batch, problem.n)
        self._budgets = Budgets(max_iterations, max_gradients, max_seconds, n=problem.n, batch=size)
        self._constants = constants = problem.constants(size)
        prox = ConjugateProx()
        self.schedule = schedule or schedule_for(prox, constants)
        if sampler is None:
            sampler = UniformSampler(problem.n, size, self._same_generator(seed))
        self._bound_kind = bound_kind(prox, self.schedule, sampler, constants)
        self._note = prox.note
        self._settings = {
            "method": "randomized coordinate mirror descent",
            "batch": size,
            "tol": float(tol),
            "corrections": False,
            "seed": seed if isinstance(seed, int) else None,
            "ranks": problem.group.size,
        }
        self.engine = ShardedEngine(problem, self.schedule, sampler, exchange)
        blocks = problem.n / size
        self._marks = log_spaced(blocks) if checkpoints is None else checked_marks(checkpoints)
        self._mark: float = 0
        self._best = BestPair(problem)
        self.history: list[Checkpoint] = []
        self.stop: StopReason | None = None
        self.interrupts = Interrupts()
        self._started: float | None = None
        self.seconds = 0.0
        self._earlier = 0.0
        self.saver: ShardedSaver | None = None
        if checkpoint is not None:
            from rcmd.distributed.saver import ShardedSaver

            self.generator_state()  # refuses other samplers before the work
            self.saver = ShardedSaver(problem, checkpoint, every)

    def __next__(self) -> State:
        """Work until the next checkpoint and certify it."""
        if self.stop is not None:
            raise StopIteration
        if self._started is None:
            self._started = time.perf_counter()
        with self.interrupts:
            ended = self._advance()
            if ended is not None:  # before the certificate that only this end asks for
                self.save()
            confirm_lockstep(self.group, self.engine)
            state = self._certified_state()
            self.history.append(state.checkpoint())
            interrupted = self._agree()
            if state.gap <= self.tol:
                ended = StopReason.TOLERANCE
            self.stop = StopReason.INTERRUPTED if interrupted else ended or self._budget_end()
            if ended in (None, StopReason.TOLERANCE):
                self.save(always=self.stop is not None)
        return state

    def result(self) -> Result | None:
        """The best certified pair and how the run went, on rank 0; ``None`` on the others."""
        if not self.history:
            raise ValueError("the run has not started; take a step with next(run) first")
        certificate, about = (
            self._best.certificate(),
            summarize(self.problem, self._constants.batch),
        )
        parts = self.group.collect(certificate.w)
        if parts is None:
            return None
        return Result(
            certificate=replace(certificate, w=np.concatenate(parts)),
            history=History(self.history),
            stop=self.stop or StopReason.CALLBACK,
            note=self._note,
            about=about,
            options=self._settings,
        )

    def save(self, *, always: bool = True) -> None:
        """Write the checkpoint file, if there is to be one; without ``always``, only if due."""
        if self.saver is not None and (always or self.saver.due(self.seconds)):
            self.saver.save(self)

    def best_pair(self) -> tuple[Array, Array]:
        """The certified β, and w of this rank's rows; empty before the first certificate."""
        if not self.history:
            return np.zeros(0), np.zeros(0)
        certificate = self._best.certificate()
        return certificate.beta, certificate.w

    def generator_state(self) -> str:
        """The state of the generator that batches are drawn from, in JSON."""
        sampler = self.engine.sampler
        if not isinstance(sampler, UniformSampler):
            raise ValueError(
                "checkpoint is given beside sampler; expected one of them: a file holds no batches "
                "of your own"
            )
        return _words(sampler.rng)

    def go_on(
        self,
        generator: str,
        seconds: float,
        history: list[Checkpoint],
        pair: tuple[Array, Array] | None,
    ) -> None:
        """Take up a run of so many seconds, with its history and its best pair (β, w)."""
        sampler = self.engine.sampler
        assert isinstance(sampler, UniformSampler)
        sampler.rng.bit_generator.state = json.loads(generator)
        self._earlier, self.seconds, self.history = seconds, seconds, history
        if pair is not None:
            self._best.offer_primal(pair[0])
            self._best.offer_dual(pair[1])
            reached = self._best.certificate().gap <= self.tol
            self.stop = StopReason.TOLERANCE if reached else self._budget_end()

    def _advance(self) -> StopReason | None:
        """Step to the next mark or the end of a budget; say which budget ended, if any."""
        engine, steps = self.engine, 1
        if engine.iteration >= self._mark:
            self._mark = next((m for m in self._marks if m > engine.iteration), math.inf)
        while engine.iteration < self._mark:
            begun = self.seconds
            allowed = self._budgets.steps_left(self._spent(), engine.step_gradients)
            if allowed < 1:
                break
            engine.advance(int(min(steps, allowed, self._mark - engine.iteration)))
            interrupted = self._agree()
            if engine.iteration >= self._mark:
                return None
            if interrupted:
                return StopReason.INTERRUPTED
            if self.seconds >= self._budgets.seconds:
                return StopReason.SECONDS
            if self.seconds - begun < SLICE_SECONDS / 2:
                steps *= 2
            self.save(always=False)
        return self._budget_end()

    def _agree(self) -> bool:
        """Set the time to the latest of all clocks; whether anyone was interrupted."""
        elapsed = 0.0 if self._started is None else time.perf_counter() - self._started
        own = np.array([self._earlier + elapsed, float(self.interrupts.requested)])
        self.seconds, interrupted = self.group.largest(own).tolist()
        return interrupted > 0

    def _budget_end(self) -> StopReason | None:
        if self.seconds >= self._budgets.seconds:
            return StopReason.SECONDS
        return self._budgets.exceeded(self._spent(), self.engine.step_gradients)

    def _spent(self) -> Spent:
        return Spent(self.engine.iteration, self.engine.gradients)

    def _certified_state(self) -> State:
        """Offer the averages, the response to β̄ and the last w; certify the best pair."""
        engine, best = self.engine, self._best
        beta, w_average = engine.averages()
        best.offer_with_response(beta)
        best.offer_dual(w_average)
        best.offer_dual(engine.w)
        certificate = best.certificate()
        if math.isinf(certificate.primal):
            refuse_infeasible_atoms(self.problem.oracle, engine.d, self.problem.rows.zero())
        bound = math.nan
        if self._bound_kind is not None:
            bound = bounds.best(self._constants, engine.iteration, self._bound_kind)[1]
        return State(
            iteration=engine.iteration,
            gradients=engine.gradients,
            oracle_calls=engine.oracle_calls,
            seconds=self.seconds,
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap,
            bound=bound,
            phase="plain",
            certificate=certificate,
            s=engine.s.copy(),
            w=engine.w,
            d=engine.d.copy(),
            beta_average=beta,
            w_average=w_average,
        )

    def _same_generator(self, seed: int | np.random.Generator) -> np.random.Generator:
        """Rank 0's generator, in the same state on every rank."""
        rng = np.random.default_rng(seed)
        rng.bit_generator.state = json.loads(same_words(self.group, _words(rng)))
        return rng


def _words(rng: np.random.Generator) -> str:
    return json.dumps(rng.bit_generator.state, default=np.ndarray.tolist)


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

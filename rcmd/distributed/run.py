"""Running a sharded problem: the contract of ``rcmd.run``, on all ranks at once.

Every decision is made from numbers that all ranks share: the latest clock, anyone's Ctrl-C.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rcmd import bounds
from rcmd.budgets import Budgets, Spent
from rcmd.certificate import BestPair
from rcmd.description import summarize
from rcmd.distributed.engine import ShardedEngine, confirm_lockstep
from rcmd.distributed.exchange import ExchangeName
from rcmd.distributed.group import Array, SharedFault, together
from rcmd.distributed.problem import ShardedProblem
from rcmd.distributed.seeds import same_generator, set_state, state_of
from rcmd.engine.faults import refuse_infeasible_atoms
from rcmd.engine.sampling import Sampler, UniformSampler
from rcmd.interrupts import Interrupts
from rcmd.marks import checked_marks, log_spaced
from rcmd.option_checks import check_every, check_parts, check_tolerance
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
        if not isinstance(problem, ShardedProblem):
            raise TypeError(
                f"problem is of type {type(problem).__name__}; expected a ShardedProblem, with "
                "this rank's rows"
            )
        with together(problem.group):
            check_parts(problem, schedule, None, sampler)
            check_tolerance(tol)
            check_every(every)
            size = batch_size(batch if sampler is None else sampler.batch, problem.n)
            limits = max_iterations, max_gradients, max_seconds
            self._budgets = Budgets(*limits, n=problem.n, batch=size)
            marks = None if checkpoints is None else checked_marks(checkpoints)
        self.problem, self.group, self.tol = problem, problem.group, tol
        self._constants = constants = problem.constants(size)
        prox, rng = ConjugateProx(), same_generator(self.group, seed)
        self.schedule, self.given_schedule = schedule or schedule_for(prox, constants), schedule
        sampler = sampler or UniformSampler(problem.n, size, rng)
        self._bound_kind = bound_kind(prox, self.schedule, sampler, constants)
        self._settings = {
            "method": "randomized coordinate mirror descent",
            "batch": size,
            "tol": float(tol),
            "corrections": False,
            "seed": seed if isinstance(seed, int) else None,
            "ranks": problem.group.size,
        }
        self.engine = ShardedEngine(problem, self.schedule, sampler, exchange)
        self._marks = marks or log_spaced(problem.n / size)
        self._mark: float = 0
        self._best = BestPair(problem)
        self.history: list[Checkpoint] = []
        self.stop: StopReason | None = None
        self.interrupts = Interrupts()
        self._started: float | None = None
        self.seconds = self._earlier = 0.0
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
        certificate = self._best.certificate()
        parts = self.group.collect(certificate.w)
        if parts is None:
            return None
        return Result(
            certificate=replace(certificate, w=np.concatenate(parts)),
            history=History(self.history),
            stop=self.stop or StopReason.CALLBACK,
            note=ConjugateProx.note,
            about=summarize(self.problem, self._constants.batch),
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
            raise SharedFault(
                "checkpoint is given beside sampler; expected one of them: a file holds no batches "
                "of your own"
            )
        return state_of(sampler.rng)

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
        set_state(sampler.rng, generator)
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
        best.forget()
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

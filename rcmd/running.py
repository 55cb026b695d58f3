"""A run: budgets, checkpoints, certificates and corrections around an engine."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rcmd import bounds
from rcmd.budgets import Budgets, Spent
from rcmd.certificate import BestPair
from rcmd.corrective.rounds import ROUND_PASSES, Rounds
from rcmd.description import summarize
from rcmd.engine.choosing import EngineName
from rcmd.engine.faults import refuse_infeasible_atoms
from rcmd.engine.sampling import Sampler
from rcmd.heeding import Halted, heeding
from rcmd.interrupts import Interrupts
from rcmd.marks import checked_marks, log_spaced
from rcmd.methods.base import Method, Progress
from rcmd.option_checks import check_every, check_method, check_parts, check_tolerance
from rcmd.problem import Problem
from rcmd.prox import BregmanProx
from rcmd.result import Checkpoint, History, Result, State, StopReason
from rcmd.run_parts import RunParts
from rcmd.schedules import Schedule
from rcmd.validation import batch_size, check_seed

if TYPE_CHECKING:
    from rcmd.saving.saver import Saver

SLICE_SECONDS = 0.05
"""Work done between two looks at the clock and the keyboard."""

EVERY = 30.0
"""Seconds between two checkpoint files."""


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
        checkpoint: str | os.PathLike[str] | None = None,
        every: float = EVERY,
    ) -> None:
        check_parts(problem, schedule, prox, sampler)
        check_tolerance(tol)
        check_seed(seed)
        check_every(every)
        self.problem = problem
        self.tol = tol
        if sampler is not None:
            batch = sampler.batch
        options = {
            "batch": batch,
            "seed": seed,
            "tol": tol,
            "max_iterations": max_iterations,
            "max_gradients": max_gradients,
            "max_seconds": max_seconds,
            "schedule": schedule,
            "prox": prox,
            "sampler": sampler,
            "engine": engine,
            "checkpoints": checkpoints,
            "warm_start": warm_start,
            "corrective": corrective,
            "method": method,
        }
        size = batch_size(1 if batch is None else batch, problem.n)
        self.budgets = Budgets(max_iterations, max_gradients, max_seconds, n=problem.n, batch=size)
        own_parts = {"schedule": schedule, "prox": prox, "sampler": sampler}
        if method is not None:
            chosen = None if engine == "auto" else engine
            others = {"warm_start": warm_start, "corrective": corrective or None, "engine": chosen}
            check_method(method, {**own_parts, **others})
        if corrective is None:  # whoever brings a part of the algorithm studies the plain method
            corrective = all(part is None for part in (*own_parts.values(), method))
        if not isinstance(corrective, bool):
            raise TypeError(f"corrective is {corrective!r}; expected True, False or None")
        marks = None if checkpoints is None else checked_marks(checkpoints)
        self._rounds = Rounds(problem, corrective and tol > 0 and not problem.exact)
        self.saver: Saver | None = None
        if checkpoint is not None:
            from rcmd.saving.saver import Saver

            self.saver = Saver(checkpoint, every)
        parts = RunParts(problem, size, options)
        self.engine, self.schedule, self.prox = parts.engine, parts.schedule, parts.prox
        self._constants, self._bound_kind = parts.constants, parts.bound_kind
        self._note = parts.note
        self.budgets.require(self.engine.step_gradients)
        self._settings = {
            "method": "randomized coordinate mirror descent" if method is None else repr(method),
            "batch": self.engine.step_gradients,
            "tol": float(tol),
            "corrections": corrective,
            "seed": seed if isinstance(seed, int) else None,
        }
        # Other methods may take their first steps on few rows and the later ones on all.
        blocks = problem.n / self.engine.step_gradients if method is None else 1
        self._marks, self._marks_given = marks or log_spaced(blocks), marks is not None
        self._mark: float | None = None
        self._best = BestPair(problem)
        if warm_start is not None:
            self._best.offer_with_response(warm_start.beta)
            if len(warm_start.w) == problem.n:
                self._best.offer_dual(warm_start.w)
        self._history: list[Checkpoint] = []
        self.stop: StopReason | None = None
        self.interrupts = Interrupts()
        self._started: float | None = None
        self._earlier = self._certifying = 0.0
        if self.saver is not None:
            self.saver.describe(problem, options)

    run_state: ClassVar[tuple[str, ...]] = ("engine", "_best", "_history", "_rounds", "_mark")
    """What a checkpoint file holds of a run; options and budgets make the rest."""

    def __next__(self) -> State:
        """Work until the next checkpoint and certify it."""
        if self.stop is not None:
            raise StopIteration
        if self._started is None:
            self._started = time.perf_counter()
            self._certify_start()
        with self.interrupts:
            if self.saver is not None:
                self.saver.begin(self)
            if self._rounds.under_way:
                state, ended = self._corrected_state()
            else:
                ended = self._advance()
                if ended is not None:
                    # Before the certificate that only this end asks for: who goes on from here
                    # sees what an undisturbed run would have seen.
                    self.save()
                state = self._certified_state()
            self._history.append(state.checkpoint())
            self.stop = self._conclude(state.gap, ended)
            if ended is None or self.stop is StopReason.TOLERANCE:
                self.save(always=self.stop is not None)
        return state

    def _conclude(self, gap: Any, ended: StopReason | None) -> StopReason | None:
        """Choose the phase to go on with, and say why the run does not, if so."""
        self._corrections_follow(self._history[-1])
        if self.interrupts.requested:
            return StopReason.INTERRUPTED
        if gap <= self.tol:
            return StopReason.TOLERANCE
        return ended or self._budget_end()

    def _corrections_follow(self, last: Checkpoint) -> bool:
        """Whether the certificates, ``last`` among them, say that corrections are next."""
        if not last.gap <= self.tol:
            round_left = self.budgets.exceeded(self._spent(), ROUND_PASSES * self.problem.n)
            earlier = [row for row in self._history[-2:] if row is not last]
            self._rounds.consider([*earlier, last], self.tol, round_left is None)
        return self._rounds.under_way

    def save(self, *, always: bool = True) -> None:
        """Write the checkpoint file, if there is to be one; without ``always``, only if it is due.

        Where that fails, one warning and the result say so, and the run goes on.
        """
        if self.saver is not None and (always or self.saver.due()):
            self.saver.save(self)

    def result(self) -> Result:
        """The best certified pair and how the run went, up to now."""
        if not self._history:
            raise ValueError("the run has not started; take a step with next(run) first")
        fault = None if self.saver is None else self.saver.fault
        return Result(
            certificate=self._best.certificate(),
            history=self.history,
            stop=self.stop or StopReason.CALLBACK,
            note=". ".join(filter(None, (self._note, fault))),
            about=summarize(self.problem, self._constants.batch),
            options=self._settings,
        )

    @property
    def history(self) -> History:
        """The checkpoints up to now."""
        return History(self._history)

    def seconds(self) -> float:
        """Wall-clock time since the first step, with that of the runs that this one goes on."""
        now = 0.0 if self._started is None else time.perf_counter() - self._started
        return self._earlier + now

    def go_on(self, seconds: float, *, ended: bool) -> None:
        """Take up a run of so many seconds; with ``ended``, one that had reached its tolerance.

        A smaller tolerance goes on from there. Where no budget is left, it ends at once.
        """
        self._earlier = seconds
        if ended:
            self.stop = self._conclude(self._history[-1].gap, None)
        elif self._rounds.under_way:
            self.stop = self._budget_end()

    def _advance(self) -> StopReason | None:
        """Step to the next mark or the end of a budget; say which budget ended, if any."""
        engine = self.engine
        if self._mark is None:
            self._mark = next((m for m in self._marks if m > engine.iteration), math.inf)
        slice_steps = 1
        if engine.iteration and self._out_of_time():
            return StopReason.SECONDS
        while engine.iteration < self._mark:
            begun = time.perf_counter()
            allowed = self.budgets.steps_left(self._spent(), engine.step_gradients)
            if allowed < 1:
                break
            even = not isinstance(engine, Progress)  # else every step may cost more
            ahead = min(slice_steps if even else 1, allowed, self._mark - engine.iteration)
            engine.advance(int(ahead))
            if self.interrupts.requested:
                return StopReason.INTERRUPTED
            if self._out_of_time():
                return StopReason.SECONDS
            if time.perf_counter() - begun < SLICE_SECONDS / 2:
                slice_steps *= 2
            self.save(always=False)
        return self._budget_end()

    def _spent(self) -> Spent:
        engine, rounds = self.engine, self._rounds
        return Spent(engine.iteration + rounds.count, engine.gradients + rounds.gradients)

    def _out_of_time(self) -> bool:
        """Whether the time left is needed to certify and to save, as long as it took last."""
        saving = 0.0 if self.saver is None else self.saver.seconds
        return self.seconds() + self._certifying + saving >= self.budgets.seconds

    def _budget_end(self) -> StopReason | None:
        """Which budget does not allow a further step, or a further round."""
        if self._out_of_time():
            return StopReason.SECONDS
        under_way = self._rounds.under_way
        step = ROUND_PASSES * self.problem.n if under_way else self.engine.step_gradients
        return self.budgets.exceeded(self._spent(), step)

    def _certified_state(self) -> State:
        """Offer the averages, and where plain steps go on, the response to β̄ and the last w.

        Where the start has said already that corrections are next, and within the bound, a look
        at the averages would tell nothing that is of use.
        """
        begun = time.perf_counter()
        engine, bound = self.engine, self._bound(self.engine.iteration)
        beta, w_average = engine.averages()
        if math.isinf(self.problem.oracle.value(beta)):
            refuse_infeasible_atoms(self.problem.oracle, engine.d, self.problem.rows.zero())
        if not self._start_is_enough(bound):
            self._offer_averages(beta, w_average)
            self._best.certificate()
        iterates = (engine.s.copy(), engine.w.copy(), engine.d.copy(), beta, w_average)
        self._certifying = time.perf_counter() - begun
        if self._mark is not None and engine.iteration >= self._mark:
            self._mark = None
        return self._state("plain", bound, *iterates)

    def _offer_averages(self, beta: Any, w_average: Any) -> None:
        best = self._best
        if self._rounds.allowed:
            predictions = best.offer_pair(beta, w_average)
            if self._corrections_next():
                return
        else:
            predictions = best.offer_primal(beta)
            best.offer_dual(w_average)
        best.offer_dual(self.problem.losses.derivative(predictions))
        best.offer_dual(self.engine.w)

    def _certify_start(self) -> None:
        """Certify 0 and its response, where a cold run that may end with corrections is there."""
        engine, best = self.engine, self._best
        cold = engine.iteration == 0 and not best.complete and not engine.s.any()
        if cold and self._rounds.allowed:
            best.begin(engine.w, engine.d.copy())

    def _start_is_enough(self, bound: float) -> bool:
        """Whether nothing but the start is certified, and no more needs to be."""
        if self._history or self._marks_given or not self._best.complete:
            return False
        return not self._best.certificate().gap > bound and self._corrections_next()

    def _corrections_next(self) -> bool:
        """Whether the best certificate up to now says that corrections are next."""
        return self._corrections_follow(self._checkpoint("plain", math.nan))

    def _corrected_state(self) -> tuple[State, StopReason | None]:
        """One round of corrections, certified with its own response; why it was halted, if so."""
        rounds, left = self._rounds, math.inf
        try:
            with heeding(lambda: self.interrupts.requested or self._out_of_time()):
                rounds.begin(self._best.certificate().beta, self.engine.averages()[0])
                if self.budgets.gradients is not None:
                    left = (self.budgets.gradients - self._spent().gradients) / self.problem.n
                rounds.next(left, self.tol, undo=self.saver is not None)
        except Halted:
            self.save()
            self._certify(rounds.reached)
            reason = StopReason.INTERRUPTED if self.interrupts.requested else StopReason.SECONDS
            return self._state("corrective", math.nan, *self._iterates()), reason
        here = self._certify(rounds.reached)
        iterates = (here.s, here.w, here.slope, here.beta, here.w)
        return self._state("corrective", math.nan, *iterates), None

    def _certify(self, here: Any) -> Any:
        """Offer a point that rounds have come to, if they have; returns it."""
        if here is not None:
            begun = time.perf_counter()
            self._best.offer_pair(here.beta, here.w, (here.s, here.losses), here.slope)
            self._best.certificate()
            self._certifying = time.perf_counter() - begun
        return here

    def _iterates(self) -> tuple[Any, ...]:
        """s, w and d of the engine, and its averages, for anybody to keep."""
        engine = self.engine
        return engine.s.copy(), engine.w.copy(), engine.d.copy(), *engine.averages()

    def _state(self, phase: str, bound: float, *iterates: Any) -> State:
        self._best.forget()
        names = ("s", "w", "d", "beta_average", "w_average")
        return State(
            **vars(self._checkpoint(phase, bound)),
            certificate=self._best.certificate(),
            **dict(zip(names, iterates, strict=True)),
        )

    def _checkpoint(self, phase: str, bound: float) -> Checkpoint:
        certificate, spent = self._best.certificate(), self._spent()
        return Checkpoint(
            iteration=spent.iterations,
            gradients=spent.gradients,
            oracle_calls=self.engine.oracle_calls + self._rounds.oracle_calls,
            seconds=self.seconds(),
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap,
            bound=bound,
            phase=phase,
        )

    def _bound(self, iterations: int) -> float:
        if self._bound_kind is None:
            return math.nan
        return bounds.best(self._constants, iterations, self._bound_kind)[1]

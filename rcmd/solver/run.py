"""A run: budgets, records, certificates and interrupts around any method."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from types import FrameType
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.methods.base import FEW_ROWS, NotStarted, Progress
from rcmd.model.bounds import Bound, RunFacts
from rcmd.model.certificate import BestPair, Certificate, certify
from rcmd.model.constants import summarize
from rcmd.model.fingerprint import fingerprint
from rcmd.model.problem import check_problem
from rcmd.rows.processes import (
    Cancelled,
    abort_on_error,
    cancellable,
    refuse_differences,
    shared_errors,
)
from rcmd.solver.checkpoint.saver import Saver
from rcmd.solver.history import (
    History,
    Record,
    State,
    StopReason,
    checked_columns,
    checked_iterations,
    log_spaced,
)
from rcmd.solver.result import Result

if TYPE_CHECKING:
    from rcmd.solver.solve import Options

SLICE_SECONDS = 0.05
"""Work done between two checks of the clock and the keyboard."""

CERTIFICATE_PASSES, CERTIFICATE_SHARE = 1.0, 0.2
"""What a certificate costs, in passes of plain steps, and how much of a run it may take.

Measured with batches of 1 %: 0.5 to 0.9 for sparse rows, 1 to 2 for dense ones.
"""

DEFAULT_EPOCHS, DEFAULT_GRADIENTS = 1000, 10**7
"""A run without budgets ends after the larger of so many passes and so many gradients."""

STALL_GROWTH, STALL_PASSES, LEAST_FALL = 10, 20, 1e-6
"""A run stalls where plain steps do not lower the gap by the last of these, relatively, while the
gradients grow by the first; those of so many passes count as none. Slow powers of 1/k do better.
"""

STALL_RECORDS, STEADY_FALL = 6, 0.2
"""But not after fewer records of that growth, and not where the gaps of the pairs at hand fall by
such a share from their first half to the second: then the best pair was found early, by luck.
"""

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Budgets:
    """Limits on iterations, gradients and seconds; ``None`` for no limit.

    With none given, the larger of 1000 passes over n rows and 10⁷ gradients.
    """

    def __init__(self, iterations: Any, gradients: Any, seconds: Any, *, n: int) -> None:
        given = {"max_iterations": iterations, "max_gradients": gradients, "max_seconds": seconds}
        for name, value in given.items():
            kind, whole = (Real, "") if name == "max_seconds" else (Integral, "whole ")
            number = isinstance(value, kind) and not isinstance(value, bool)
            if value is not None and not (number and value > 0):
                raise ValueError(
                    f"{name} is {value!r}; expected a positive {whole}number, or None for no limit"
                )
        if iterations is gradients is seconds is None:
            gradients = max(DEFAULT_EPOCHS * n, DEFAULT_GRADIENTS)
        limits = (
            math.inf if limit is None else limit for limit in (iterations, gradients, seconds)
        )
        self.iterations, self.gradients, self.seconds = limits


class Interrupts:
    """Within it, the first Ctrl-C or SIGTERM only sets ``requested``; a second acts as usual.

    It may be entered again inside itself. A signal that was ignored stays so. Outside the main
    thread Python delivers no signals, and it does nothing.
    """

    def __init__(self) -> None:
        self.requested = False
        self._previous: dict[signal.Signals, Any] = {}
        self._depth = 0

    def __enter__(self) -> Interrupts:
        self._depth += 1
        if self._depth == 1 and threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                handler = signal.getsignal(number)
                # None is a handler that is not Python's and could not be restored.
                if handler not in (signal.SIG_IGN, None):
                    self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *fault: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            while self._previous:
                signal.signal(*self._previous.popitem())

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            # Restore the previous handler and send it the signal.
            signal.signal(number, self._previous.pop(signal.Signals(number)))
            signal.raise_signal(number)
        self.requested = True


class Run(Iterator[State]):
    """An iterator over the records of one run; see ``solve`` for the options."""

    def __init__(self, options: Options) -> None:
        check_problem(options.problem)
        with abort_on_error(options.problem.group):
            self._prepare(options)

    def _prepare(self, options: Options) -> None:
        problem = options.problem
        self.problem, self.options, self.tol = problem, options, options.tol
        with shared_errors(problem.group):
            self.method, batch, self.budgets = options.check()
            self.callbacks = options.listeners()
            asked = options.asked_bounds()
            given = options.record_at
            iterations = None if given is None else checked_iterations(given)
        if problem.spread:
            self._compare_ranks(asked)
        warm: Any = {} if options.warm_start is None else {"warm_start": options.warm_start}
        self.progress = progress = self._begin(batch, warm)
        progress.aim(options.tol, self.budgets.gradients)
        if self.budgets.gradients < progress.step_gradients:
            raise ValueError(
                f"max_gradients is {self.budgets.gradients}; expected at least one batch, "
                f"{progress.step_gradients} rows"
            )
        self._note = progress.note or self.method.note
        self._bounds: tuple[Bound, ...] = ()
        if asked and self.started:
            self._show_bounds(asked)
        self._about: dict[str, Any] = {
            "method": repr(self.method),
            "batch": progress.usual_gradients,
            "tol": float(options.tol),
            "seed": options.seed if isinstance(options.seed, int) else None,
        }
        if problem.spread:
            self._about["ranks"] = problem.group.size
        if self._bounds:
            self._about["bounds"] = {bound.name: bound.verdict.value for bound in self._bounds}
        apart = 0.0 if problem.n <= FEW_ROWS else CERTIFICATE_PASSES / CERTIFICATE_SHARE
        self._record_at = iterations or log_spaced(progress.steps_per_pass, passes_apart=apart)
        self._next_record: float | None = None
        self._best = BestPair(problem)
        if options.warm_start is not None:
            progress.offer_start(self._best, options.warm_start)
        self._history: list[Record] = []
        self._lowest: Any = math.inf
        self._fell_at = 0
        self._since: list[float] = []
        self.stop: StopReason | None = None
        self.interrupts = Interrupts()
        self._started: float | None = None
        self._certifying = self.time = self._saving = 0.0
        self._out_of_time = self._interrupted = False
        self._slice_steps = 1
        self.saver = None
        if options.checkpoint is not None and self.started:
            self.saver = Saver(self, options.checkpoint)

    def _compare_ranks(self, asked: tuple[Bound, ...]) -> None:
        """Refuse options that differ from rank to rank: one would stop and leave others waiting."""
        options, group = self.options, self.problem.group
        names = ("batch", "tol", "max_iterations", "max_gradients", "max_seconds", "every")
        given: dict[str, Any] = {name: getattr(options, name) for name in names}
        given |= {"method": self.method, "bounds": [bound.name for bound in asked]}
        if isinstance(options.record_at, Sequence | np.ndarray):  # a stream would be used up
            given["record_at"] = list(options.record_at)
        with shared_errors(group):
            hashes = {name: fingerprint(value) for name, value in given.items()}
        refuse_differences(group, hashes, "run")

    @property
    def started(self) -> bool:
        """Whether there was time to start the method."""
        return not isinstance(self.progress, NotStarted)

    def _show_bounds(self, asked: tuple[Bound, ...]) -> None:
        """Keep those of the bounds whose hypotheses this run has; the note says why not others."""
        progress, options = self.progress, self.options
        facts = progress.facts or RunFacts.of(
            self.problem,
            self.problem.constants(progress.constants_batch),
            theorem=None,
            parts=(type(self.method),),
            cold=options.warm_start is None,
        )
        for bound in asked:
            why = bound.broken(facts)
            said = f"no bound {bound.name!r}: {why}" if why else bound.said()
            self._note = ". ".join(filter(None, (self._note, said)))
            self._bounds += () if why else (bound,)
        self._constants = facts.constants
        self._own_bounds(1)  # one that fails does so before any work

    def _own_bounds(self, steps: int) -> dict[str, Any]:
        """The bounds asked for, after so many steps."""
        found: dict[str, Any] = {}
        for bound in self._bounds:
            try:
                found[bound.name] = value = bound(self._constants, steps)
            except Exception as fault:  # whatever the user's function raises
                raise ValueError(
                    f"value of the bound {bound.name!r} raises {type(fault).__name__}: {fault} "
                    f"after {steps} steps; expected a number"
                ) from fault
            if not isinstance(value, Real):
                raise TypeError(
                    f"value of the bound {bound.name!r} is {value!r} after {steps} steps; expected "
                    "a number"
                )
        return found

    def _begin(self, batch: int | None, warm: Any) -> Progress:
        """Start the method; the constants M_j, which may take many oracle calls, are found within
        the time budget where it needs them.

        On several processes all must come to the same end.
        """
        problem, begun = self.problem, time.perf_counter()
        calls, seconds = problem.range_calls, problem.range_seconds
        generator = partial(problem.generator, self.options.seed)

        def too_late() -> bool:
            over = time.perf_counter() - begun >= self.budgets.seconds
            return over and problem.range_calls > calls and not problem.spread

        try:
            with cancellable(too_late):
                return self.method.begin(problem, batch, generator, **warm)
        except Cancelled:
            return NotStarted(problem, generator())
        finally:
            self._earlier = problem.range_seconds - seconds

    def __next__(self) -> State:
        """Work until the next record and certify it."""
        if self.stop is not None:
            raise StopIteration
        if self._started is None:
            self._started = time.perf_counter()
        with abort_on_error(self.problem.group), self.interrupts:
            self._poll()
            if self.saver is not None:
                self.saver.begin(self)
            ended = self._advance()
            if ended is not None:
                # Before the certificate that only this end asks for: a resumed run then sees
                # what an undisturbed run would have seen.
                self.save()
            state = self._certified_state()
            self._append(state.record())
            self._since.append(self._offered)
            self.stop = self._conclude(state.certificate, ended)
            if self.stop is not None:
                called = np.array([len(self.callbacks)], dtype=float)
                if self.problem.group.largest(called)[0]:  # by some rank
                    check_problem(self.problem)  # which they may have altered
            columns = self._call_back(state)
            if self.callbacks:
                state = replace(state, own=columns)
                self._history[-1] = state.record()
            if ended is None or self.stop in (StopReason.TOLERANCE, StopReason.PRECISION):
                self.save(always=self.stop is not None)
        return state

    def _call_back(self, state: State) -> dict[str, Any]:
        """Call the callbacks with a record; one of them, or Ctrl-C meanwhile, may end the run.

        Returns the record's own columns, with those that callbacks returned.
        """
        columns, stops = dict(state.own), False
        for callback in self.callbacks:
            returned = callback(state)
            if isinstance(returned, Mapping):
                columns |= checked_columns(returned, columns)
            else:
                stops |= bool(returned)
        if self.stop is None:
            own = np.array([stops, self.interrupts.requested], dtype=float)
            stopped, interrupted = self.problem.group.largest(own)
            if stopped or interrupted:
                self.stop = StopReason.CALLBACK if stopped else StopReason.INTERRUPTED
        return columns

    def finish(self) -> Result:
        """The result of the whole run."""
        with self.interrupts:
            deque(self, maxlen=0)  # no record is held while the next one is made
            with abort_on_error(self.problem.group):
                return self.result()

    def _append(self, row: Record) -> None:
        """Add to the history, and note the gradients at the last fall of the gap."""
        self._history.append(row)
        fell = row.gap < (1 - LEAST_FALL) * self._lowest
        if fell or row.phase != "plain":  # corrections end by themselves
            self._fell_at, self._since = row.gradients, []
        if fell:
            self._lowest = row.gap

    def _stalled(self) -> bool:
        """Whether further steps are in vain; with ``tol=0`` a run uses its budget all the same."""
        since = max(self._fell_at, STALL_PASSES * self.problem.n)
        now = self._history[-1].gradients
        if not (self.tol > 0 and now >= STALL_GROWTH * since):
            return False
        rows = self._history[len(self._history) - len(self._since) :]
        pairs = zip(rows, self._since, strict=True)
        gaps = [gap for row, gap in pairs if row.gradients * STALL_GROWTH >= now]
        half = len(gaps) // 2
        falls = np.median(gaps[half:]) < (1 - STEADY_FALL) * np.median(gaps[:half] or math.inf)
        return len(gaps) >= STALL_RECORDS and not falls

    def _conclude(self, pair: Certificate, ended: StopReason | None) -> StopReason | None:
        """Why the run ends here; ``None`` if it continues.

        With ``tol=0`` it uses its budget, unless all terms of the gap are 0.
        """
        if self._interrupted:
            return StopReason.INTERRUPTED
        if pair.gap <= self.tol:
            return StopReason.TOLERANCE
        if pair.loss_gap + pair.regularizer_gap <= (self._best.limit() if self.tol > 0 else 0):
            return StopReason.PRECISION
        return ended or (StopReason.STALLED if self._stalled() else self._budget_end())

    def save(self, *, always: bool = True) -> None:
        """Write the checkpoint, if one was asked for; without ``always``, only if it is due.

        Where that fails, one warning and the result say so, and the run continues.
        """
        if self.saver is not None and (always or self.saver.due(self.time, self._saving)):
            self.saver.save(self)

    def result(self) -> Result:
        """The best certified pair and how the run went, up to now."""
        if not self._history:
            raise ValueError("the run has not started; take a step with next(run) first")
        fault = None if self.saver is None else self.saver.fault
        certificate, bound = self._best.certificate(), self.problem.intercept
        if self.problem.spread:
            certificate = replace(certificate, w=self.problem.gathered(certificate.w))
        if bound is not None and abs(certificate.beta[-1]) >= bound:
            ended = f"the intercept ends on its bound B = {bound}: give a larger one"
        else:
            ended = None
        calls = self.problem.range_calls
        batch = self.progress.constants_batch
        about = summarize(self.problem, batch, found=True) if self.started else None
        took = f"the constants M_j took {calls} calls of the oracle" if calls else None
        return Result(
            certificate=certificate,
            history=self.history,
            stop=self.stop or StopReason.CALLBACK,
            note=". ".join(filter(None, (self._note, took, ended, fault))),
            about=about,
            options=self._about,
        )

    def state(self) -> dict[str, Any]:
        """What a checkpoint holds of a run; the rest follows from the options."""
        return {
            "progress": self.progress.state(),
            "best": self._best.state(),
            "history": self.history.columns(),
            "next_record": self._next_record,
            "since": self._since,
        }

    def load_state(self, state: dict[str, Any], seconds: float, *, ended: bool) -> None:
        """Continue a run of so many seconds from there.

        With ``ended``, it had reached its tolerance, and continues only with a smaller one, or
        made no more progress.
        """
        progress = self.progress
        progress.load_state(state["progress"])
        counts: tuple[Any, ...] = progress.iteration, progress.gradients, progress.oracle_calls
        if not all(isinstance(count, Integral) and int(count) >= 0 for count in counts):
            raise ValueError(f"iteration, gradients and oracle calls are {counts}")
        if not (isinstance(size := progress.step_gradients, Integral) and int(size) > 0):
            raise ValueError(f"a step takes {size!r} gradients")
        self._best.load_state(state["best"])
        for row in History.of_columns(state["history"]):
            self._append(row)
        self._since = [float(gap) for gap in state["since"]]
        self._next_record = later = state["next_record"]
        if later is not None and not later > 0:
            raise ValueError(f"next_record is {later}; expected an iteration")
        self._earlier = self.time = seconds
        if ended:
            self.stop = self._conclude(self._best.certificate(), None)
            self.progress.reconsider(self._best)

    @property
    def history(self) -> History:
        """The records up to now."""
        return History(self._history)

    def seconds(self) -> float:
        """Wall-clock time since the first step, including M_j and the runs that this continues."""
        now = 0.0 if self._started is None else time.perf_counter() - self._started
        return self._earlier + now

    def _advance(self) -> StopReason | None:
        """Step to the next record or the end of a budget; returns which budget ended, if any."""
        progress, budgets = self.progress, self.budgets
        if self._next_record is None:
            later = (i for i in self._record_at if i > progress.iteration)
            self._next_record = next(later, math.inf)
        if not self.started or (self._out_of_time and progress.iteration):
            return StopReason.SECONDS
        while progress.iteration < self._next_record and not progress.record_due:
            begun = self.time
            affordable = (budgets.gradients - progress.gradients) / progress.step_gradients
            last = min(budgets.iterations, self._next_record)
            ahead = min(self._slice_steps, affordable, last - progress.iteration)
            if ahead < 1:
                break
            steps = int(ahead) if progress.even_steps else 1
            try:
                with cancellable(self._to_be_cancelled):
                    progress.advance(steps)
            except Cancelled:
                return StopReason.INTERRUPTED if self.interrupts.requested else StopReason.SECONDS
            self._poll()
            if self._interrupted:
                return StopReason.INTERRUPTED
            if self._out_of_time:
                return StopReason.SECONDS
            if self.time - begun < SLICE_SECONDS / 2:
                self._slice_steps = max(self._slice_steps, 2 * steps)
            self.save(always=False)
        return self._budget_end()

    def _poll(self) -> None:
        """Check the clock and the keyboard; all ranks see the latest clock and anyone's Ctrl-C.

        The time is up when the rest is needed to certify and to save, which take as long as before.
        """
        saving = 0.0 if self.saver is None else self.saver.seconds
        own = self.seconds(), self._certifying, saving, float(self.interrupts.requested)
        if self.problem.spread:
            own = self.problem.group.largest(np.array(own)).tolist()
        self.time, certifying, self._saving, interrupted = own
        self._out_of_time = self.time + certifying + self._saving >= self.budgets.seconds
        self._interrupted = interrupted > 0

    def _to_be_cancelled(self) -> bool:
        self._poll()
        return self._interrupted or self._out_of_time

    def _budget_end(self) -> StopReason | None:
        """Which budget does not allow a further step."""
        progress, budgets = self.progress, self.budgets
        if self._out_of_time:
            return StopReason.SECONDS
        if progress.iteration >= budgets.iterations:
            return StopReason.ITERATIONS
        if progress.gradients + progress.step_gradients > budgets.gradients:
            return StopReason.GRADIENTS
        return None

    def _certified_state(self) -> State:
        begun = time.perf_counter()
        progress, best = self.progress, self._best
        phase = progress.phase
        beta, w_average = progress.offer(best)
        certificate = best.certificate()
        pair = progress.theorem_pair
        pair_gap = math.nan if pair is None else pair.gap
        resolution = best.resolution()
        bound = max(progress.bound, resolution)  # NaN stays NaN
        own = {}
        if self._bounds and phase == "plain":
            values = self._own_bounds(progress.steps_done)
            own = {name: float(max(value, resolution)) for name, value in values.items()}
            if progress.theorem is None:
                pair_gap = certify(self.problem, beta, w_average).gap
        self._offered = float(max((pair or best.offered()).gap, resolution))
        best.forget()
        s, w, d = progress.s.copy(), progress.w.copy(), progress.d.copy()
        self._certifying = time.perf_counter() - begun
        self._poll()
        if self._next_record is not None and progress.iteration >= self._next_record:
            self._next_record = None
        return State(
            iteration=progress.iteration,
            gradients=progress.gradients,
            oracle_calls=progress.oracle_calls,
            seconds=self.time,
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap,
            pair_gap=pair_gap,
            bound=bound,
            phase=phase,
            certificate=certificate,
            s=s,
            w=w,
            d=d,
            beta_average=beta,
            w_average=w_average,
            problem=self.problem,
            own=own,
        )

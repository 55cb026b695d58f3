"""The contract of a schedule: its steps, and averaging weights that fit each other."""

import itertools
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from rcmd.engine.base import step_size
from rcmd.model.problem import Problem
from rcmd.model.schedules import Schedule, StepState
from rcmd.rows.validation import check_kind
from rcmd.testing.report import (
    Call,
    Cause,
    Faults,
    Inspection,
    Report,
    Sample,
    Skip,
    attempt,
    compared,
    identity,
)

ITERATIONS = [0, 1, 2, 3, 5, 10, 31, 100, 1000, 10**4, 10**6]
RELATIVE = 1e-9


def check_schedule(schedule: Schedule) -> Report:
    """Check every identity of a schedule; a ``ContractError`` lists all failures.

    Examples
    --------
    >>> from rcmd.model.schedules import SublinearSchedule
    >>> check_schedule(SublinearSchedule(4.0)).ok
    True
    """
    return inspect_schedule(schedule).checked()


def inspect_schedule(schedule: Schedule) -> Report:
    """The report of ``check_schedule``, also where something fails.

    Examples
    --------
    >>> from rcmd.model.schedules import SublinearSchedule
    >>> class Long(SublinearSchedule):
    ...     def step(self, i): return super().step(i) + 0.2
    >>> print(inspect_schedule(Long(4.0)).failures[0].remedy)
    mirror steps are shares of the way, above 0 and at most 1
    """
    check_kind("schedule", schedule, Schedule, "a Schedule")
    return ScheduleInspection(schedule).run()


def first_state() -> StepState:
    """What a schedule sees of a small problem whose run begins."""
    problem = Problem(
        [[1.0, 2.0], [-1.0, 0.5], [0.3, -1.0]], [1.0, -1.0, 1.0], "logistic", "ridge:0.1"
    )
    batch, w = np.array([0, 2]), problem.response(np.zeros(2))
    atom = problem.oracle.argmin(d := problem.gradient(w))
    predictions = problem.rows.predict(batch, atom)
    return StepState(problem, d, atom, batch, np.zeros(2), w[batch], predictions, w.copy)


def _cause(call: Call, most: float) -> Cause:
    """Why a number is not above 0 and at most ``most``."""
    if call.fault:
        return Cause.RAISES
    return Cause.TOO_LARGE if call.number > most else Cause.TOO_SMALL


class ScheduleInspection(Inspection):
    """One schedule under inspection."""

    def __init__(self, schedule: Schedule) -> None:
        super().__init__(repr(schedule))
        self.schedule = schedule

    @cached_property
    def first(self) -> dict[str, list[Call]]:
        """η_i, α_i and C_i/C_0, which may overflow later, at the first iterations and some far."""
        return {
            "step": [attempt(self.step, i) for i in ITERATIONS],
            "mixing": [attempt(self.schedule.mixing, i) for i in ITERATIONS],
            "growth": [attempt(self.schedule.growth, i, 0) for i in ITERATIONS if i <= 100],
        }

    def step(self, i: int) -> Any:
        """η_i, for a schedule that sees the run at a start; of a row's steps that farthest off."""
        if not self.schedule.sees_run:
            return self.schedule.step(i)
        eta = step_size(self.schedule, i, first_state)
        return max(np.atleast_1d(eta).tolist(), key=lambda one: abs(one - 0.5))

    @identity("steps lie in (0, 1], or in [0, 1] if they see the run")
    def steps(self) -> Faults:
        for i, call in zip(ITERATIONS, self.first["step"], strict=True):
            if not (0 < call.number <= 1 or (call.number == 0 and self.schedule.sees_run)):
                remedy = "mirror steps are shares of the way, above 0 and at most 1"
                yield {"i": i}, str(call), "a number in (0, 1]", _cause(call, 1.0), remedy

    @identity("weights are positive: mixing lies in (0, 1], growth above 0")
    def weights(self) -> Faults:
        for name, most in (("mixing", 1.0), ("growth", np.inf)):
            for i, call in zip(ITERATIONS, self.first[name], strict=False):
                if not 0 < call.number <= most:
                    expected = "a number in (0, 1]" if most == 1 else "a number above 0"
                    yield {"i": i}, f"{call} from {name}", expected, _cause(call, most)

    @identity("mixing is the newest share: C_{i−1}/C_i = 1 − α_i")
    def shares(self) -> Faults:
        samples = []
        for i in (1, 2, 3, 10, 100):
            before, now, share = (
                attempt(self.schedule.growth, i - 1, 0),
                attempt(self.schedule.growth, i, 0),
                attempt(self.schedule.mixing, i),
            )
            if before.finite and now.finite:
                found, right = Call(share.number, share.fault), 1 - before.number / now.number
                samples.append(Sample({"i": i}, found, right, RELATIVE))
        yield from self.following(compared(samples, axis="i"))

    @identity("growth is a ratio: C_i/C_a · C_a/C_b = C_i/C_b, and 1 at i = b")
    def ratios(self) -> Faults:
        growth, samples = self.schedule.growth, []
        for i, a, b in itertools.product((0, 3, 10, 40), repeat=3):
            parts = [attempt(growth, i, a).number, attempt(growth, a, b).number]
            expected = 1.0 if i == b else float(np.prod(parts))
            if np.isfinite(expected):
                room = RELATIVE * (1 + abs(expected))
                samples.append(Sample({"i": i, "b": b}, attempt(growth, i, b), expected, room))
        yield from self.following(compared(samples, axis="i"))

    @identity("arrays of iterations and table have the same numbers")
    def arrays(self) -> Faults:
        if isinstance(self.schedule.mixing(0), Fraction):
            raise Skip("they are fractions, which the compiled engine does not take")
        schedule, i, base = self.schedule, np.arange(7, 19), 5
        eta, weights, total = schedule.table(7, 19, base)
        mixing, step = schedule.mixing, schedule.step

        def growth(k: Any) -> Any:
            return schedule.growth(k, base)

        numbers: list[tuple[str, Any, Any]] = [
            ("mixing", mixing(i), mixing),
            ("growth", growth(i), growth),
            ("table, its weights", weights, lambda k: float(mixing(k)) * float(growth(k))),
            ("table, its totals", total, growth),
        ]
        if not schedule.sees_run:
            numbers += [("step", step(i), step), ("table, its η", eta, step)]
        for name, found, one in numbers:
            array = np.broadcast_to(np.asarray(found, dtype=float), i.shape)
            for k, number in zip(i.tolist(), array.tolist(), strict=True):
                expected = float(one(k))
                if not (number == expected or abs(number - expected) <= RELATIVE * abs(expected)):
                    remedy = f"{name} at an array of iterations differs from the number at one"
                    yield {"i": k}, number, expected, self.first_cause(), remedy

    @identity("the numbers depend on i alone")
    def repeatable(self) -> Faults:
        """Asked again, from the last iteration to the first: else a resumed run is another one."""
        if hasattr(self.schedule, "load_state"):
            raise Skip("it is Stateful, and a checkpoint keeps what it remembers")
        for name, calls in self.first.items():
            rest = (0,) if name == "growth" else ()
            for i, call in reversed(list(zip(ITERATIONS, calls, strict=False))):
                if call.fault:
                    raise Skip(f"{name} raises {call}")
                asked = self.step if name == "step" else getattr(self.schedule, name)
                again = attempt(asked, i, *rest)
                if again.number != call.number:
                    remedy = f"{name} gave another number before: it must be Stateful to remember"
                    yield {"i": i}, str(again), call.number, Cause.CHANGES, remedy

"""RCMD that ends with corrections: second-order steps over the atoms found, or without any."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rcmd.methods.base import Generators, Method, Progress, rows_a_step
from rcmd.methods.corrections.hull import (
    continued,
    correction_for,
    correction_to_load,
    kind_for,
)
from rcmd.methods.corrections.newton import Correction, Point
from rcmd.methods.rcmd import RCMD, checked_start
from rcmd.model.bounds import Bound
from rcmd.model.certificate import BestPair, OfferedPair
from rcmd.model.fingerprint import fingerprint
from rcmd.model.problem import Problem
from rcmd.rows.processes import Cancelled, refuse_differences
from rcmd.rows.validation import Array, check_kind

STILL_ROUNDS, SLOW_ROUNDS, LEAST_FALL = 3, 30, 0.1
"""Corrections end after so many rounds without change, or with a smaller relative fall."""

ROUND_PASSES = 5
"""Passes over the data that a round of corrections takes at least."""

CORRECTION_PASSES = 10.0
"""What corrections cost at most, in passes of plain steps over the data (measured: 4 to 10)."""

SLOWEST_PACE = 0.25
"""The smallest power of 1/k at which a gap is assumed to fall."""


PLAIN = RCMD()
"""The paper's algorithm with its defaults."""

ALONE = "corrections from the start: no bound applies"


@dataclass(frozen=True, repr=False)
class Corrected(Method):
    """``plain`` steps, then rounds of corrections where the certificates say that they pay off.

    Plain steps find the right face of a polytope quickly and then crawl along it; a round of
    corrections takes Newton steps on the weights of the atoms found and asks the oracle which are
    missing. Where R needs no atoms (l2 balls, sums over coordinates) and neither ``plain`` nor a
    batch is given, rounds come at once, and plain steps only where these end without ``tol``. No
    corrections for ``tol=0`` and for fractions.

    Examples
    --------
    >>> from rcmd import Box, Corrected, LeastSquares, Problem, RCMD, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> result = solve(problem, method=Corrected(RCMD(batch=1)), tol=1e-12)
    >>> result.history[-1].phase
    'corrective'
    """

    plain: RCMD = PLAIN
    any_batch: ClassVar[bool] = True
    spreads: ClassVar[bool] = True
    warm_starts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_kind("plain", self.plain, RCMD, "an RCMD")

    def start(
        self, problem: Problem, batch: int | None, rng: np.random.Generator, warm_start: Any = None
    ) -> CorrectedProgress:
        return self.begin(problem, batch, lambda: rng, warm_start=warm_start)

    def begin(
        self, problem: Problem, batch: int | None, generator: Generators, **more: Any
    ) -> CorrectedProgress:
        warm_start = more.get("warm_start")

        def plain() -> Progress:
            return self.plain.start(problem, batch, generator(), warm_start, within=self)

        warm = None if warm_start is None else checked_start(problem, warm_start)

        def first(earlier: Correction | None) -> Correction:
            if warm is not None:
                return correction_for(problem, warm, warm, sampled=False, earlier=earlier)
            zero = problem.rows.zero()
            inside = not math.isinf(problem.oracle.value(zero))
            beta = zero if inside else problem.oracle.argmin(zero).dense(zero)
            return correction_for(problem, beta, beta)

        asked = batch is not None or self.plain != PLAIN
        kind = None if problem.exact or asked else kind_for(problem)
        at_once = first if kind is not None and not kind.needs_atoms else None
        return CorrectedProgress(problem, plain, rows_a_step(batch, problem.n), at_once)


class CorrectedProgress(Progress):
    """Plain steps, and rounds of corrections from the best point that they have found.

    Where rounds may come at once, ``first`` makes their correction, and ``plain``, which starts the
    plain steps, is called only if these are needed.
    """

    not_kept = ("_tol", "_max_gradients", "_reached", "_earlier")

    def __init__(
        self,
        problem: Problem,
        plain: Callable[[], Progress],
        size: int,
        first: Callable[[Correction | None], Correction] | None,
    ) -> None:
        self.problem, self._start_plain, self._first = problem, plain, first
        self.constants_batch, self.steps_per_pass = size, problem.n / size
        self.note, self._at_once, self._start = ALONE, first is not None, None
        self._tol, self._max_gradients = 0.0, math.inf
        self._correcting = self._idle = self.record_due = False
        self._rounds = self._still = self._slow = 0
        self._gap_to_beat: Any = math.inf
        self._before: tuple[int, Any] | None = None
        self._last: tuple[int, Any] | None = None
        self._correction: Correction | None = None
        self._earlier: Correction | None = None
        self._reached: Point | None = None
        if first is None:
            self._follow_plain()
        self._count()

    @property
    def plain(self) -> Progress:
        """The plain steps, started when they are first needed."""
        if "_plain" not in vars(self):  # no cached property, whose lock all ranks would wait for
            self._plain = self._start_plain()
        return self._plain

    def _follow_plain(self) -> None:
        """Begin with plain steps, and say of the run what they do."""
        plain, self._at_once = self.plain, False
        self.note, self.steps_per_pass = plain.note, plain.steps_per_pass
        self.constants_batch, self.theorem = plain.constants_batch, plain.theorem
        self.facts = plain.facts

    def aim(self, tol: float, max_gradients: float) -> None:
        self._tol, self._max_gradients = tol, max_gradients
        if self._at_once and not (tol > 0 and ROUND_PASSES * self.problem.n <= max_gradients):
            self._follow_plain()
        self._correcting = self._at_once
        self._count()

    @property
    def under_way(self) -> bool:
        """Whether the next step is a round of corrections."""
        return self._correcting and not self._idle

    @property
    def even_steps(self) -> bool:
        return not self.under_way and self.plain.even_steps

    @property
    def step_gradients(self) -> int:
        return ROUND_PASSES * self.problem.n if self.under_way else self.plain.step_gradients

    @property
    def usual_gradients(self) -> int:
        return self.constants_batch

    @property
    def phase(self) -> str:
        return "plain" if self._reached is None else "corrective"

    @property
    def steps_done(self) -> int:
        return self.iteration - self._rounds

    @property
    def best_bound(self) -> tuple[Bound, float] | None:
        return self.plain.best_bound if self._reached is None and self.steps_done else None

    @property
    def theorem_pair(self) -> OfferedPair | None:  # type: ignore[override]
        return self.plain.theorem_pair if self._reached is None else None

    @property
    def s(self) -> Array:
        return self.plain.s if self._reached is None else self._reached.s

    @property
    def w(self) -> Array:
        return self.plain.w if self._reached is None else self._reached.w

    @property
    def d(self) -> Any:
        return self.plain.d if self._reached is None else self._reached.slope

    def averages(self) -> tuple[Any, Array]:
        if self._reached is None:
            return self.plain.averages()
        return self._reached.beta, self._reached.w

    def step(self) -> None:
        """One round of corrections.

        A cancelled round leaves everything as it was before, so that a resumed run repeats it; the
        point that it reached is still certified.
        """
        with np.errstate(all="ignore"):  # a step that is NaN is not taken
            if self._correction is None:
                self._correction = self._begun()
                self._start = self._earlier = None
            self._count()
            passes = (self._max_gradients - self.gradients) / self.problem.n
            correction = copy(self._correction)
            try:
                correction.round(passes, self._tol)
                correction = continued(correction)
            except Cancelled:
                self._reached = correction.here
                raise
        if self.problem.spread:
            found = {"β": fingerprint(correction.here.beta)}
            refuse_differences(self.problem.group, found, "round of corrections")
        self._correction, self._reached = correction, correction.here
        self._rounds += 1
        self.record_due = True

    def _begun(self) -> Correction:
        """The corrections, from the best point so far or at once."""
        if self._at_once and self._first is not None:
            return self._first(self._earlier)
        return correction_for(self.problem, self._start, self.plain.averages()[0])

    def advance(self, steps: int) -> None:
        if self.under_way:
            self.step()
        else:
            self.plain.advance(steps)
            self._reached = None
        self._count()

    def _count(self) -> None:
        correction, plain = self._correction, vars(self).get("_plain")
        self.iteration, self.gradients, self.oracle_calls = self._rounds, 0, 0
        if plain is not None:
            self.iteration += plain.iteration
            self.gradients, self.oracle_calls = plain.gradients, plain.oracle_calls
        if correction is not None:
            self.gradients += correction.gradients
            self.oracle_calls += correction.oracle_calls

    def load_state(self, state: dict[str, Any]) -> None:
        if state["_correction"] is not None:
            self._correction = correction_to_load(self.problem, state["_correction"])
        if "_plain" in state:
            self.plain  # noqa: B018 (starts them)
        elif state["_at_once"]:
            vars(self).pop("_plain", None)
        super().load_state(state)
        if self._correction is not None and self._rounds and self.under_way:
            self._reached = self._correction.here
        self._count()

    def offer_start(self, best: BestPair, warm_start: Any) -> None:
        if not self._at_once:  # else the first round offers it, or what is better
            super().offer_start(best, warm_start)

    def follow(self, earlier: Progress) -> None:
        ours, theirs = self.problem, earlier.problem
        if isinstance(earlier, CorrectedProgress):
            same = ours.rows is theirs.rows and ours.losses is theirs.losses
            self._earlier = earlier._correction if same else None

    def offer(self, best: BestPair) -> tuple[Any, Array]:
        """Offer the point reached, and decide how to continue."""
        self.record_due = False
        here = self._reached
        if here is not None:
            _, w, slope = here.dual
            best.offer_pair(here.beta, w, (here.s, here.loss, here.loss_size), slope)
            self._judge_round(best.certificate().gap)
            return here.beta, here.w
        if not self._may_correct:
            return self.plain.offer(best)
        beta, w_average = self.plain.feasible_averages()
        if self._last is None:  # early averages may be far off, where Newton's steps fail
            best.offer_primal(self.problem.rows.zero())
        predictions = self.plain.offer_own_pair(best, beta, w_average)
        if not self._turns_to_corrections(best):
            self.plain.offer_responses(best, predictions)
            self._turns_to_corrections(best)
        self._before, self._last = self._last, (self.gradients, best.certificate().gap)
        return beta, w_average

    def reconsider(self, best: BestPair) -> None:
        if self._may_correct and not self._correcting:
            self._last, last = self._before, self._last
            self._turns_to_corrections(best)
            self._last = last

    @property
    def _may_correct(self) -> bool:
        return self._tol > 0 and not self.problem.exact

    def _turns_to_corrections(self, best: BestPair) -> bool:
        """Whether rounds of corrections come next, from the best point found."""
        certificate = best.certificate()
        affordable = self.gradients + ROUND_PASSES * self.problem.n <= self._max_gradients
        if not self._correcting and affordable:
            now = self.gradients, certificate.gap
            if worth_correcting(self._last, now, self.problem.n, self._tol):
                self._correcting = True
                self._gap_to_beat, self._start = certificate.gap, certificate.beta
        return self.under_way

    def _judge_round(self, gap: Any) -> None:
        """End corrections where the last rounds changed nothing, or too little."""
        assert self._correction is not None
        if not gap > self._tol:
            return
        fell = gap < (1 - LEAST_FALL) * self._gap_to_beat
        self._slow = 0 if fell else self._slow + 1
        self._gap_to_beat = gap if fell else self._gap_to_beat
        self._still = 0 if self._correction.moved else self._still + 1
        self._idle = self._still >= STILL_ROUNDS or self._slow >= SLOW_ROUNDS


def worth_correcting(
    before: tuple[int, Any] | None, now: tuple[int, Any], n: int, tol: float
) -> bool:
    """Whether plain steps would need longer than corrections to reach ``tol``.

    ``before`` and ``now`` are the gradients and the gaps of the last two certificates. The gap is
    assumed to keep falling as the power of 1/k that they show: the theorem's first power before
    there are two, a high one where convergence is linear.
    """
    gradients, gap = now
    if not gap > tol > 0:
        return False
    pace = 1.0
    if before is not None and not math.isinf(before[1]) and gradients > before[0] > 0:
        fall = math.log(float(before[1]) / float(gap))
        pace = max(fall / math.log(gradients / before[0]), SLOWEST_PACE)
    # By logarithms: a slow pace and a small tolerance overflow.
    farther = math.log(float(gap) / tol) / pace
    return farther > 300 or gradients / n * math.expm1(farther) > CORRECTION_PASSES

"""How far to go along a segment: the step rules that Frank–Wolfe methods share."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, get_args

from rcmd.engine.state import Stateful
from rcmd.model.problem import Problem
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array

SearchRule = Literal["exact", "short-step", "adaptive"]
"""The rules that serve any direction of descent."""

StepRule = Literal["open-loop", SearchRule]

ROOT_ACCURACY = 1e-15
"""The share of the slope at 0 that a line search leaves."""

MOST_TRIALS = 100
"""Trials of a line search at most; Newton's method needs a few."""


class Segment:
    """An upper model of P along β + αd, 0 ≤ α ≤ ``limit``: f itself, R replaced by its chord.

    φ(α) = f(β + αd) + α·``chord``, where ``chord`` = R(β + d) − R(β), is P − R(β) for the
    indicator of a set, and at least that for any convex R while α ≤ 1; so what lowers φ lowers
    P. ``evaluations`` counts the points, other than β, at which all losses were evaluated.
    """

    def __init__(
        self,
        problem: Problem,
        s: Array,
        w: Array,
        along: Array,
        direction: Callable[[], Any],
        *,
        limit: Any = 1,
        chord: Any = 0,
    ) -> None:
        self.problem, self.losses, self.s, self.w = problem, problem.losses, s, w
        self.along, self._direction, self.limit, self.chord = along, direction, limit, chord
        self.evaluations = 0

    @cached_property
    def gap(self) -> Any:
        """−φ'(0): the Frank–Wolfe gap where d leads to an atom."""
        return -(self.problem.mean(self.w * self.along) + self.chord)

    @cached_property
    def square_length(self) -> Any:
        """‖d‖₂²."""
        d = self._direction()
        return (d.singular_values() ** 2).sum() if isinstance(d, LowRank) else d @ d

    @property
    def largest_curvature(self) -> Any:
        """(1/n) Σ_j γ_j (x_jᵀd)², which φ'' nowhere exceeds."""
        return self.problem.mean(self.losses.gammas * self.along * self.along)

    def curvature(self) -> Any:
        """φ''(0)."""
        return self.problem.mean(self.losses.second_derivative(self.s) * self.along * self.along)

    def slope_at(self, share: Any) -> tuple[Any, Any, Any]:
        """φ'(share), its rounding error, and φ''(share)."""
        self.evaluations += 1
        mean, size, s = self.problem.mean, abs(self.along), self.s + share * self.along
        w, bend = self.losses.derivative(s), self.losses.second_derivative(s)
        # Of l_j', and of the two terms of its argument.
        rounding = math.ulp(1.0) * mean((abs(w) + bend * (abs(self.s) + share * size)) * size)
        return mean(w * self.along) + self.chord, rounding, mean(bend * size * size)

    def rise(self, share: Any) -> Any:
        """φ(share) − φ(0) + share·gap ≥ 0, as a mean of Fenchel–Young terms."""
        self.evaluations += 1
        return self.problem.mean(self.losses.fenchel_young(self.s + share * self.along, self.w))

    def lowest_of_parabola(self, curvature: Any) -> Any:
        """The α that minimizes −α·gap + α²·curvature/2 on the segment."""
        if self.gap <= 0:
            return 0
        # Compared before it is divided: nothing overflows where the losses are flat.
        return self.limit if self.gap >= self.limit * curvature else self.gap / curvature


class ShortStep(Stateful):
    """α = min(gap/(L‖d‖²), limit), with L = λ_max(Xᵀ diag(γ_j) X)/n the smoothness of f."""

    def __init__(self, problem: Problem) -> None:
        self.smoothness = problem.spectral_energy / problem.n

    def share(self, segment: Segment) -> Any:
        """α for this segment."""
        return segment.lowest_of_parabola(self.smoothness * segment.square_length)


class ExactSearch(Stateful):
    """The root of φ', by Newton's method kept in a bracket that bisection shrinks."""

    def share(self, segment: Segment) -> Any:
        trial = segment.lowest_of_parabola(segment.curvature())
        if segment.gap <= 0 or segment.losses.loss.quadratic:
            return trial
        low, high, seen_above = 0, segment.limit, False
        for _ in range(MOST_TRIALS):
            slope, rounding, curvature = segment.slope_at(trial)
            if abs(slope) <= ROOT_ACCURACY * segment.gap + rounding:
                return trial
            if slope > 0:
                high, seen_above = trial, True
            elif trial == segment.limit:
                return trial
            else:
                low = trial
            if abs(slope) < segment.limit * curvature:
                trial = trial - slope / curvature
            else:
                trial = math.inf if slope < 0 else -math.inf
            if trial >= high and not seen_above:
                trial = high
            elif not low < trial < high:
                trial = (low + high) / 2
        return low


class Adaptive(Stateful):
    """Short steps with an estimate M of L (Pedregosa, Negiar, Askari & Jaggi 2020).

    M begins at 9/10 of the last estimate and doubles until
    f(β + αd) ≤ f(β) + α∇f(β)ᵀd + α²M‖d‖²/2 for α = min(gap/(M‖d‖²), limit). Where
    M‖d‖² ≥ (1/n) Σ_j γ_j (x_jᵀd)² that holds without a trial. The first estimate is the curvature
    along the first direction.
    """

    changing = ("estimate",)
    estimate: Any = None

    def share(self, segment: Segment) -> Any:
        length, most = segment.square_length, segment.largest_curvature
        if segment.gap <= 0 or most == 0:
            return segment.lowest_of_parabola(most)
        if self.estimate is None:
            self.estimate = (segment.curvature() or most) / length
        self.estimate = self.estimate * 9 / 10
        while True:
            bend = self.estimate * length
            share = segment.lowest_of_parabola(bend)
            if bend >= most or segment.rise(share) <= share * share * bend / 2:
                return share
            self.estimate = 2 * self.estimate


def rule_named(name: StepRule, problem: Problem) -> Any:
    """The rule called ``name``, with its state in a run; ``None`` for open-loop steps."""
    if name == "short-step":
        return ShortStep(problem)
    return {"open-loop": None, "exact": ExactSearch(), "adaptive": Adaptive()}[name]


def check_rule(method: Any, names: Any) -> None:
    """Refuse a rule that is not among the names of a ``Literal``."""
    if method.rule not in get_args(names):
        raise ValueError(
            f"rule of {type(method).__name__} is {method.rule!r}; expected one of "
            f"{', '.join(get_args(names))}"
        )

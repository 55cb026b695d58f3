"""Step sizes η_i and averaging weights, one class per theorem.

Averages use weights c_0, c_1, … with totals C_i = c_0 + … + c_i. A schedule gives the
mixing weight α_i = c_i/C_i and the growth C_i/C_base, which is all that an average needs.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rcmd.model.bounds import Kind
from rcmd.model.constants import Constants
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array, check_kind, positive

if TYPE_CHECKING:
    from rcmd.model.problem import Problem


@dataclass(frozen=True, eq=False)
class StepState:
    """What a schedule with ``sees_run`` reads before iteration i is taken; it changes nothing.

    Attributes
    ----------
    problem, d, atom, batch
        The problem, d = Xᵀw/n, the atom β̃^i at d and the rows drawn.
    s, w, predictions
        s_j, w_j = l_j'(s_j) and a_j = x_jᵀβ̃^i, for the rows j of the batch.
    all_w
        A call of it returns w_j for all rows.
    """

    problem: Problem
    d: Any
    atom: Atom
    batch: Array
    s: Array
    w: Array
    predictions: Array
    all_w: Callable[[], Array] = field(repr=False)

    @property
    def dual(self) -> Any:
        """D(w), found when it is read: a minimum at d, and the conjugates of all rows."""
        conjugates = self.problem.losses.conjugate(self.all_w())
        return self.problem.oracle.minimum(self.d) - self.problem.mean(conjugates)

    def __post_init__(self) -> None:
        for name in ("d", "batch", "s", "w", "predictions"):
            if isinstance(array := getattr(self, name), np.ndarray):
                array = array.view()
                array.flags.writeable = False
                object.__setattr__(self, name, array)


class Schedule(ABC):
    """η_i, α_i and C_i/C_base as functions of the iteration i = 0, 1, …

    The compiled engine asks for many iterations at once: i may be an array of integers. A step that
    depends on the run is ``step(i, state)`` of a class that says ``sees_run = True``: it is called
    once a step, with a ``StepState``, and returns one η in [0, 1] or one for every row of the
    batch. Python then runs between compiled steps. A schedule that remembers earlier steps derives
    from ``rcmd.engine.state.Stateful`` too: every run has a copy, and checkpoints keep its state.

    Examples
    --------
    Rows that are near their predictions already take a full step:

    >>> class Bold(SublinearSchedule):
    ...     sees_run = True
    ...     def step(self, i, state):
    ...         near = abs(state.predictions - state.s) < 1e-3
    ...         return np.where(near, 1.0, super().step(i))
    >>> from rcmd import RCMD, Box, Logistic, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, -1.0], Logistic(), Box(-1.0, 1.0))
    >>> solve(problem, method=RCMD(schedule=Bold(2.0)), tol=1e-2).success
    True
    """

    sees_run: ClassVar[bool] = False
    """Whether ``step`` takes the state of the run too."""

    theorem: ClassVar[Kind | None] = None
    """The kind of bound that holds for runs with this schedule (see ``rcmd.model.bounds``)."""

    @abstractmethod
    def step(self, i: Any) -> Any:
        """The step size η_i."""

    @abstractmethod
    def mixing(self, i: Any) -> Any:
        """α_i, the share of the newest term in the average of terms 0, …, i."""

    @abstractmethod
    def growth(self, i: Any, base: int) -> Any:
        """C_i/C_base; may be infinite for i far beyond ``base``."""

    def table(self, start: int, stop: int, base: int) -> tuple[Array, Array, Array]:
        """η_i, c_i/C_base and C_i/C_base for start ≤ i < stop, for the compiled engine."""
        i = np.arange(start, stop)
        total = np.asarray(self.growth(i, base), dtype=float)
        steps = math.nan if self.sees_run else self.step(i)  # asked for in each step
        eta = np.broadcast_to(np.asarray(steps, dtype=float), i.shape)
        with np.errstate(invalid="ignore"):  # nothing after an infinite total is used
            return np.ascontiguousarray(eta), self.mixing(i) * total, total


@dataclass(frozen=True)
class SublinearSchedule(Schedule):
    """Theorem 3.1: η_i = 2N/(2N+i+1), weights c_i = 2N+i, for N = n/b blocks.

    Examples
    --------
    >>> SublinearSchedule(Fraction(2)).mixing(1)
    Fraction(5, 9)
    """

    blocks: Any
    theorem: ClassVar[Kind | None] = "sublinear"
    _passes: ClassVar[int] = 2
    """The first weight, in passes of N steps."""

    def __post_init__(self) -> None:
        positive("blocks", self.blocks, type(self).__name__, bounded=False)

    @property
    def _first(self) -> Any:
        """c_0."""
        return self._passes * self.blocks

    def step(self, i: Any) -> Any:
        return 2 * self.blocks / (self._first + i + 1)

    def mixing(self, i: Any) -> Any:
        return 2 * (self._first + i) / ((i + 1) * (2 * self._first + i))

    def growth(self, i: Any, base: int) -> Any:
        return (i + 1) * (2 * self._first + i) / ((base + 1) * (2 * self._first + base))

    def table(self, start: int, stop: int, base: int) -> tuple[Array, Array, Array]:
        """In few passes over memory: this used to take a tenth of a step at batch 1."""
        if type(self) not in (SublinearSchedule, HeadStart):  # others may have steps of their own
            return super().table(start, stop, base)
        first, unit = self._first, 1 / ((base + 1) * (2 * self._first + base))
        total = np.arange(start, stop, dtype=float)
        weights = total + first
        eta = weights + 1
        np.divide(2 * self.blocks, eta, out=eta)
        total += 1
        total *= weights + first
        total *= unit
        weights *= 2 * unit
        return eta, weights, total


@dataclass(frozen=True)
class HeadStart(SublinearSchedule):
    """Theorem 3.1's steps and weights as if 2N steps were done: 2N/(4N+i+1) and 4N+i.

    The first step is 1/2 and not nearly 1. E[P(β̄^k) − D(w̄^k)] is at most

        8NE/(8N+k) + 4N(4N−1)V/((8N+k)(k+1)),

    by the proof of Theorem 3.1 as it was mended; V = E/2 gives less than there for k + 1 ≥ 2N/3.
    The worst case of few rows and steps is smaller too, by up to two fifths. On ordinary problems
    neither is always ahead: on eight of them the gap was 0.57 to 1.51 times Theorem 3.1's in the
    first thirty passes, and 0.96 to 1.16 times after a hundred. So it is not the default.

    Examples
    --------
    >>> HeadStart(Fraction(2)).step(0), HeadStart(Fraction(2)).mixing(1)
    (Fraction(4, 9), Fraction(9, 17))
    """

    theorem: ClassVar[Kind | None] = "head-start"
    _passes: ClassVar[int] = 4


@dataclass(frozen=True)
class LinearSchedule(Schedule):
    """Theorem 3.2: η_i = 1/σ, weights c_i = q^i with 1/q = 1 − 1/(Nσ).

    σ is σ_b of the problem: with the printed σ the theorem fails for b > 1. Then
    α_i = (1/(Nσ)) / (1 − q^{−(i+1)}), evaluated by expm1 and log1p.

    Examples
    --------
    >>> schedule = LinearSchedule(blocks=Fraction(2), sigma=Fraction(2))
    >>> schedule.step(0), schedule.mixing(0), schedule.growth(1, 0)  # q = 4/3
    (Fraction(1, 2), Fraction(1, 1), Fraction(7, 3))
    """

    blocks: Any
    sigma: Any
    theorem: ClassVar[Kind | None] = "linear"

    def __post_init__(self) -> None:
        for name in ("blocks", "sigma"):
            positive(name, getattr(self, name), type(self).__name__, bounded=False)

    def step(self, i: Any) -> Any:
        return 1 / self.sigma

    def mixing(self, i: Any) -> Any:
        return self._share / self._one_minus_decay(i + 1)

    def growth(self, i: Any, base: int) -> Any:
        ratio = self._one_minus_decay(i + 1) / self._one_minus_decay(base + 1)
        with np.errstate(over="ignore"):
            return ratio * self._power(i - base)

    @property
    def _share(self) -> Any:
        """1/(Nσ) = 1 − 1/q."""
        return 1 / (self.blocks * self.sigma)

    def _one_minus_decay(self, steps: Any) -> Any:
        """1 − q^{−steps}."""
        if isinstance(self._share, Fraction):
            return 1 - (1 - self._share) ** steps
        return 1.0 if self._share >= 1 else -np.expm1(steps * math.log1p(-self._share))

    def _power(self, steps: Any) -> Any:
        """q^steps, for any sign of ``steps``."""
        if self._share >= 1:
            limits = np.where(steps == 0, 1, np.where(steps > 0, math.inf, 0))
            return limits if limits.ndim else (1 if steps == 0 else limits.item())
        if isinstance(self._share, Fraction):
            return (1 - self._share) ** (-steps)
        return np.exp(-steps * math.log1p(-self._share))


@dataclass(frozen=True)
class UnitStepSchedule(LinearSchedule):
    """Theorem I: η_i = 1 with Theorem 3.2's weights, for proxes that contain the step size.

    Examples
    --------
    >>> UnitStepSchedule(blocks=2.0, sigma=2.0).step(7)
    1
    """

    theorem: ClassVar[Kind | None] = "exact"

    def step(self, i: Any) -> Any:
        return 1


@dataclass(frozen=True)
class ShortStep(Schedule):
    """The longest safe step for the batch at hand, R strongly convex; no theorem here.

    D rises by at least (1/n) Σ_{j∈B} (δ_j a_j − l_j*(w_j + δ_j) + l_j*(w_j)) − ‖Σ δ_j x_j‖²/(2n²μ)
    where w moves by δ. With v_j = l_j'(a_j) − w_j and the losses' mean curvatures on the way,

        η = Σ_{j∈B} v_j (a_j − s_j) / (Σ_{j∈B} v_j (a_j − s_j) + ‖Σ_{j∈B} v_j x_j‖²/(nμ)),

    which is the best η for quadratic losses, and there never lets D fall. 1/σ_b, by contrast, is
    made for the worst w. ``averages`` has the averaging weights.

    Examples
    --------
    >>> from rcmd import RCMD, LeastSquares, Problem, Ridge, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Ridge(0.5))
    >>> short = ShortStep(default_schedule(problem.constants(2)))
    >>> solve(problem, method=RCMD(batch=2, schedule=short), tol=1e-9).beta.round(4)
    array([0.1667])
    """

    averages: Schedule
    sees_run: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_kind("averages of ShortStep", self.averages, Schedule, "a Schedule")

    def step(self, i: Any, state: StepState) -> Any:  # type: ignore[override]
        problem, mu = state.problem, state.problem.oracle.mu
        if not mu > 0:
            raise ValueError(
                f"schedule ShortStep got {problem.oracle!r}, which has μ = 0; expected a strongly "
                "convex R, such as Ridge(0.01)"
            )
        moves = problem.losses.derivative(state.predictions, state.batch) - state.w
        rise, pull = moves @ (state.predictions - state.s), 0 * state.d
        problem.rows.scatter(state.batch, moves, pull)
        return rise / (rise + (pull * pull).sum() / (problem.n * mu)) if rise > 0 else 1

    def mixing(self, i: Any) -> Any:
        return self.averages.mixing(i)

    def growth(self, i: Any, base: int) -> Any:
        return self.averages.growth(i, base)


@dataclass(frozen=True)
class Resumed(Schedule):
    """``schedule`` from its iteration ``start`` on; averages count those before it.

    Examples
    --------
    >>> Resumed(SublinearSchedule(2.0), 3).step(0) == SublinearSchedule(2.0).step(3)
    True
    """

    schedule: Schedule
    start: int

    def __post_init__(self) -> None:
        check_kind("schedule of Resumed", self.schedule, Schedule, "a Schedule")
        if not (isinstance(self.start, Integral) and self.start >= 0):
            raise ValueError(
                f"start of Resumed is {self.start!r}; expected a whole number of iterations ≥ 0"
            )

    @property
    def sees_run(self) -> bool:  # type: ignore[override]
        return self.schedule.sees_run

    def step(self, i: Any, *state: StepState) -> Any:
        return self.schedule.step(i + self.start, *state)

    def mixing(self, i: Any) -> Any:
        return self.schedule.mixing(i + self.start)

    def growth(self, i: Any, base: int) -> Any:
        return self.schedule.growth(i + self.start, base + self.start)


def default_schedule(constants: Constants, unit_steps: bool = False) -> Schedule:
    """Theorem 3.2's schedule where R is strongly convex, Theorem 3.1's where it is not.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem, Ridge
    >>> X, y = [[1.0], [2.0]], [1.0, 0.0]
    >>> for oracle in (L1Ball(1.0), Ridge(0.5)):
    ...     constants = Problem(X, y, LeastSquares(), oracle).constants()
    ...     print(type(default_schedule(constants)).__name__)
    SublinearSchedule
    LinearSchedule
    """
    if not constants.mu > 0:
        return SublinearSchedule(constants.blocks)
    kind = UnitStepSchedule if unit_steps else LinearSchedule
    return kind(constants.blocks, constants.sigma)


__all__ = [
    "HeadStart",
    "LinearSchedule",
    "Resumed",
    "Schedule",
    "ShortStep",
    "StepState",
    "SublinearSchedule",
    "UnitStepSchedule",
    "default_schedule",
]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__

"""What all corrections share: points, small linear systems, and step lengths."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from rcmd.engine.state import Stateful
from rcmd.model.problem import Problem
from rcmd.rows.processes import check_cancelled
from rcmd.rows.validation import Array

ROUNDING = 1e-15
"""The decrease that rounding may hide, relative to the value."""

LEAST, MOST = 1e-13, 1.0
"""Bounds of the damping, relative to the curvature."""

CLOSE = 0.9
"""A share of w from which on w itself does, where R is an indicator."""

INEXACT, EXACT = 0.1, 1e-8
"""The least and the greatest accuracy of a step, relative to how far the point is from optimal."""

SHORTEST = 2.0**-30
"""The least share of a step that is tried."""


class Point:
    """A primal point β with its predictions s = Xβ, and one evaluation of all losses.

    Attributes
    ----------
    w, curvatures
        l_j' and l_j'' at s_j.
    loss, loss_size
        (1/n) Σ_j l_j(s_j) and (1/n) Σ_j |l_j(s_j)|.
    estimate
        About the gap of (β, w), where that is known at less cost than the gap itself.
    """

    estimate: float | None = None

    def __init__(self, problem: Problem, beta: Any, s: Array) -> None:
        check_cancelled()
        self.problem, self.beta, self.s = problem, beta, s
        losses, self.w, self.curvatures = problem.losses.expansion(s)
        self.loss, self.loss_size = (float(problem.mean(part)) for part in (losses, abs(losses)))

    @property
    def slope(self) -> Any:
        """Xᵀw/n, the gradient of the loss part, from scratch."""
        if "_slope" not in vars(self):  # no cached property, whose lock all ranks would wait for
            problem = self.problem
            self._slope = problem.total(lambda: problem.rows.rmatvec(self.w)) / problem.n
        return self._slope

    @property
    def dual(self) -> tuple[Any, Array, Any]:
        """The gap of β and a dual point, w and Xᵀw/n there: the response, or a share of it.

        Where R is a penalty that grows linearly, −R*(−Xᵀw/n) is small as long as ‖Xᵀw/n‖ is above
        its strength by a little. Where P is near the sum of the least losses, w should be smaller.
        """
        if "_dual" not in vars(self):
            self._dual = self._best_dual()
        return self._dual

    def _best_dual(self) -> tuple[Any, Array, Any]:
        problem, w, slope = self.problem, self.w, self.slope
        oracle, estimate = problem.oracle, self.estimate
        apart = oracle.fenchel_young(self.beta, slope) if estimate is None else estimate
        if oracle.indicator:
            share = self.shrunk(float(apart))[0]
            share = share if share < CLOSE else 1
        else:
            share = oracle.feasible_share(slope)
        if share < 1:
            less = problem.losses.clip(share * w)
            gap = problem.mean(problem.losses.fenchel_young(self.s, less))
            gap += oracle.fenchel_young(self.beta, share * slope)
            clipped = problem.total(lambda: np.count_nonzero(less != share * w))
            if not clipped and gap < apart:
                return gap, less, share * slope
        if estimate is not None:
            apart = oracle.fenchel_young(self.beta, slope)
        return apart, w, slope

    def shrunk(self, apart: float) -> tuple[float, float]:
        """The share t of w with the largest D where R is an indicator, and its gap, nearly.

        D falls at t = 1 by ``apart``, the gap of w itself, and bends by −(1/n) Σ w_j²/l_j''.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            bend = float(self.problem.mean(np.where(self.w, self.w**2 / self.curvatures, 0.0)))
        less = min(apart / bend, 1.0) if bend > 0 else 0.0
        return 1 - less, apart * (1 - less) + (bend * less * less / 2 if less else 0.0)

    @property
    def gap(self) -> Any:
        """The duality gap of this point and the better of these dual points."""
        return self.dual[0]


class Correction(Stateful):
    """Rounds that bring P down by second-order steps; arrays and lists are never changed in place.

    Attributes
    ----------
    here
        The point reached.
    moved
        Whether the last round changed anything.
    passes, oracle_calls
        Evaluations of all losses or passes over all rows, and linear minimizations, so far.
    damping
        The multiple of the identity added to the curvature: more after steps that were too long.
    """

    changing: ClassVar[tuple[str, ...]] = (
        "passes",
        "oracle_calls",
        "moved",
        "damping",
        "_earlier",
        "_last_gap",
    )
    needs_atoms: ClassVar[bool] = False
    """Whether it continues from what plain steps have found, and cannot begin anywhere."""

    here: Point

    def __init__(
        self,
        problem: Problem,
        gradients: int = 0,
        oracle_calls: int = 0,
        *,
        earlier: Correction | None = None,
    ) -> None:
        self._known = None if earlier is None else earlier.here
        self.problem, self._earlier, self.oracle_calls = problem, gradients, oracle_calls
        self.passes, self.moved, self.damping, self._last_gap = 0, True, LEAST, 0.0

    @property
    def gradients(self) -> int:
        """Passes times n, and the cost of finding the start."""
        return self._earlier + self.passes * self.problem.n

    @abstractmethod
    def round(self, passes: float, enough: float) -> None:
        """One round, in about ``passes`` passes at most.

        It may end early at a gap of ``enough``.
        """

    def state(self) -> dict[str, Any]:
        return {
            **super().state(),
            "beta": self.here.beta,
            "s": self.problem.gathered(self.here.s),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        super().load_state(state)
        self.here = Point(self.problem, state["beta"], self.problem.own_part(state["s"]))

    def accuracy(self, enough: float, power: float) -> float:
        """How exact the next step should be, if the gap is like 1/``power``-th power of it.

        Enough for the gap to end where it is asked to; and where steps have a model, no more than
        the share of the gap that was left by the last one.
        """
        gap = float(self.here.gap)
        last, self._last_gap = self._last_gap or gap, gap
        needed = 0.3 * (enough / (max(gap, enough) or 1.0)) ** power
        model = 0.0 if self.problem.loss.quadratic else gap / (last or 1.0)
        return max(min(max(needed, model), INEXACT), EXACT)

    def point_at(self, beta: Array, s: Array | None = None) -> Point:
        """The point β, counted as a pass; ``s`` is Xβ, where that was found already.

        Where ``earlier`` corrections ended there, Xβ and Xᵀw are known.
        """
        self.passes += 1
        (known, self._known), rows = (self._known, None), self.problem.rows
        if known is not None and np.array_equal(known.beta, beta):
            point = Point(self.problem, beta, known.s)
            point._slope = known.slope
            return point
        if s is None:
            s = rows.matvec(beta) if beta.any() else np.zeros(rows.n)
        return Point(self.problem, beta, s)

    def longest(self, fallen: Callable[[float], bool]) -> float:
        """The largest share 1, ½, ¼, … of a step at which the value has fallen; else 0."""
        share = 1.0
        while share > SHORTEST and not fallen(share):
            share /= 2
        self.damping = min(max(self.damping * (0.1 if share > 0.1 else 100), LEAST), MOST)
        return share if share > SHORTEST else 0.0


def falls(value: float, here: float, promised: float) -> bool:
    """Whether ``value`` is below ``here`` by what was promised (a negative number).

    Where rounding hides the decrease, the step is taken; NaN is no fall.
    """
    return value <= here + promised + ROUNDING * abs(here)


def inverse_of(matrix: Array) -> Callable[[Array], Array]:
    """H⁻¹; where cancellation made H indefinite, with eigenvalues raised to rounding."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    factor, fault = dpotrf(matrix)
    if fault == 0:
        return lambda right: np.asarray(dpotrs(factor, right)[0])
    from scipy.linalg import eigh

    values, vectors = eigh(matrix, check_finite=False)
    least = len(matrix) * np.finfo(float).eps * abs(values).max()
    return lambda right: np.asarray(vectors @ ((vectors.T @ right) / np.maximum(values, least)))


def solve_definite(matrix: Array, right: Array) -> Array:
    """H⁻¹ right."""
    return inverse_of(matrix)(right)

"""Prox functions h of the dual mirror step, separable: h(w) = (1/n) Σ_j h_j(w_j)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from rcmd.conjugates.base import SeparableConjugate as Loss
from rcmd.conjugates.samples import SampleLosses
from rcmd.model.constants import Constants
from rcmd.rows.validation import Array

if TYPE_CHECKING:
    from rcmd.model.problem import Problem


class BregmanProx(ABC):
    """The geometry of the dual mirror step.

    The state of a coordinate is s with w = ω·l'(s), which keeps its digits where w is
    at an end of dom l*. The mirror variable is m = h_j'(w) and the mirror step along the
    subgradient a − s of the dual, a the row's prediction at the atom, is

        h_j'(w⁺) = h_j'(w) + η (a − s),        w⁺ in dom l_j*.

    The methods are scalar code: ``loss`` is the unweighted pair of the sample, its offset and
    fields filled in and with its γ_j; ``y`` and ``weight`` are its label and ω, ``bound`` its M_j.

    Examples
    --------
    The paper's prox, but with the mirror variable doubled, which halves every step:

    >>> from rcmd import LeastSquares
    >>> class Slower(ConjugateProx):
    ...     def mirror(self, loss, s, y, weight): return 2 * s
    ...     def inverse(self, loss, m, s, y, weight, bound): return m / 2
    >>> losses, s, gap = SampleLosses(LeastSquares(), np.zeros(2)), np.zeros(2), np.ones(2)
    >>> Slower().step(losses, np.ones(2), np.arange(2), s, gap, 0.5)
    array([0.25, 0.25])
    """

    unit_steps: ClassVar[bool] = False
    """Whether the step size is part of h, so that schedules must take η_i = 1."""

    note: ClassVar[str] = ""
    """What a reader of a result must know about this geometry."""

    @abstractmethod
    def mirror(self, loss: Loss, s: Any, y: Any, weight: Any) -> Any:
        """h_j'(w) at w = ω·l'(s)."""

    @abstractmethod
    def inverse(self, loss: Loss, m: Any, s: Any, y: Any, weight: Any, bound: Any) -> Any:
        """The s whose w has h_j'(w) = ``m``, or the nearest in the domain; ``s`` is a guess."""

    @abstractmethod
    def divergence(self, loss: Loss, w: Any, s: Any, y: Any, weight: Any) -> Any:
        """D_{h_j}(w, w') with w' = ω·l'(s)."""

    def bind(self, constants: Constants) -> BregmanProx:
        """This prox with the parameters that follow from the problem filled in."""
        return self

    def losses(self, problem: Problem) -> SampleLosses:
        """The losses with the weights that ``mirror`` and ``inverse`` see: the problem's own."""
        return problem.losses

    def centre(self, losses: SampleLosses, bounds: Array) -> Array:
        """The state s⁰ of the prox centre w⁰ = argmin h, coordinate by coordinate."""

        def solve(loss: Any, bound: Any, y: Any, weight: Any) -> Any:
            return self.inverse(loss, 0 * y, 0 * y, y, weight, bound)

        return _map(solve, losses, bounds)

    def step(
        self, losses: SampleLosses, bounds: Array, batch: Array, s: Array, gap: Array, eta: Any
    ) -> Array:
        """The states after a mirror step by ``eta`` along ``gap`` = a − s."""

        def move(loss: Any, s: Any, gap: Any, bound: Any, y: Any, weight: Any) -> Any:
            m = self.mirror(loss, s, y, weight) + eta * gap
            return self.inverse(loss, m, s, y, weight, bound)

        return _map(move, losses, s, gap, bounds[batch], batch=batch)


def _map(function: Any, losses: SampleLosses, *arguments: Array, batch: Any = None) -> Array:
    """``function(loss, *arguments, y, weight)`` coordinate by coordinate."""
    y, weights = losses.y, losses.weights
    places = range(len(y)) if batch is None else batch
    values = [
        function(losses.one(j), *at, y[j], 1 if weights is None else weights[j])
        for j, *at in zip(places, *arguments, strict=True)
    ]
    return np.array(values, dtype=y.dtype)


@dataclass(frozen=True)
class ConjugateProx(BregmanProx):
    """h = L*/n, the paper's choice: m = s, and the step is s⁺ = s + η (a − s).

    GSFW is the primal reading of exactly this method (Lemma 2.1).

    Examples
    --------
    >>> from rcmd import LeastSquares
    >>> ConjugateProx().divergence(LeastSquares(), w=1.0, s=3.0, y=0.0, weight=1.0)  # ½(w − s)²
    2.0
    """

    def centre(self, losses: SampleLosses, bounds: Array) -> Array:
        return 0 * losses.y if type(self) is ConjugateProx else super().centre(losses, bounds)

    def step(
        self, losses: SampleLosses, bounds: Array, batch: Array, s: Array, gap: Array, eta: Any
    ) -> Array:
        if type(self) is not ConjugateProx:  # a subclass may have another mirror map
            return super().step(losses, bounds, batch, s, gap, eta)
        return s + eta * gap

    def mirror(self, loss: Loss, s: Any, y: Any, weight: Any) -> Any:
        return s

    def inverse(self, loss: Loss, m: Any, s: Any, y: Any, weight: Any, bound: Any) -> Any:
        return m

    def divergence(self, loss: Loss, w: Any, s: Any, y: Any, weight: Any) -> Any:
        """The Fenchel–Young gap of (s, w)."""
        return weight * loss.fenchel_young(s, w / weight, y)


@dataclass(frozen=True)
class EuclideanProx(BregmanProx):
    """h_j(w) = (w − ω l'(0))²/(2 ω γ): coordinate subgradient ascent, projected.

    The projection is onto the responses ω l'([−M_j, M_j]) inside dom l_j*. They hold every
    dual optimum, and on them the slope of l_j* is at most M_j, where at the ends of
    dom l_j* it may be infinite. For the squared loss this is the conjugate prox.

    Examples
    --------
    >>> from rcmd import RCMD, Box, Logistic, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, -1.0], Logistic(), Box(-1.0, 1.0))
    >>> solve(problem, method=RCMD(prox=EuclideanProx()), tol=1e-2).success
    True
    """

    note = "Euclidean h: coordinate subgradient ascent"

    def mirror(self, loss: Loss, s: Any, y: Any, weight: Any) -> Any:
        return (loss.derivative(s, y) - loss.derivative(0 * s, y)) / loss.gamma

    def inverse(self, loss: Loss, m: Any, s: Any, y: Any, weight: Any, bound: Any) -> Any:
        w = loss.derivative(0 * s, y) + loss.gamma * m
        if w >= loss.derivative(bound, y):
            return bound
        if w <= loss.derivative(-bound, y):
            return -bound
        return loss.conjugate_derivative(w, y)

    def divergence(self, loss: Loss, w: Any, s: Any, y: Any, weight: Any) -> Any:
        gap = w - weight * loss.derivative(s, y)
        return gap * gap / (2 * weight * loss.gamma)


@dataclass(frozen=True)
class CompositeProx(BregmanProx):
    """h = ‖w‖²/(2η) + L*/n with unit steps: proximal coordinate ascent, which is SDCA.

    In n·h the quadratic part is κ w²/2 with κ = n/η, so m = s + κ w. The step solves
    s⁺ + κ ω l'(s⁺) = a + κ w, a strictly monotone equation in one number.

    Parameters
    ----------
    eta
        η; by default n·min_j γ_j/(σ_b − 1), for which the smooth part R*(−Xᵀw/n) is
        majorized in expectation.
    rows
        n, filled in from the problem.
    by_row
        Whether row j has κ_j = ‖x_j‖²/(nμ) instead of κ, the curvature of the smooth part along
        that coordinate alone: right for batches of one row.

    Examples
    --------
    >>> from rcmd import RCMD, LeastSquares, Problem, Ridge, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Ridge(0.5))
    >>> solve(problem, method=RCMD(prox=CompositeProx()), tol=1e-9).beta.round(4)
    array([0.1667])
    """

    eta: Any = None
    rows: int = 1
    by_row: bool = False
    unit_steps = True
    note = "composite h: proximal dual coordinate ascent (SDCA)"

    def __post_init__(self) -> None:
        number: Any = self.eta if isinstance(self.eta, Real) else math.nan
        if self.eta is not None and not number > 0:
            raise ValueError(
                f"eta of CompositeProx is {self.eta!r}; expected a positive number, or None for "
                "a safe default"
            )

    def bind(self, constants: Constants) -> CompositeProx:
        if self.eta is not None:
            return replace(self, rows=constants.n)
        if not constants.mu > 0:
            raise ValueError(
                "prox CompositeProx got a regularizer with μ = 0; SDCA expects a strongly convex "
                "one, such as Ridge: use the default prox, or give eta and a schedule yourself"
            )
        smallest = constants.smallest_gamma or constants.gamma
        kappa = (constants.sigma - 1) / smallest
        return replace(self, eta=constants.n / kappa if kappa > 0 else math.inf, rows=constants.n)

    def losses(self, problem: Problem) -> SampleLosses:
        """κ_j w = κ (κ_j/κ) ω_j l'(s): a κ that depends on the row enters by its weight."""
        kappa, losses = self.rows / self.eta, problem.losses
        if not self.by_row or kappa == 0:
            return losses
        shares = problem.rows.square_norms() / (problem.n * problem.oracle.mu * kappa)
        weights = shares if losses.weights is None else shares * losses.weights
        return losses.with_weights(weights)

    def mirror(self, loss: Loss, s: Any, y: Any, weight: Any) -> Any:
        return s + self.rows / self.eta * weight * loss.derivative(s, y)

    def inverse(self, loss: Loss, m: Any, s: Any, y: Any, weight: Any, bound: Any) -> Any:
        """False position (the Illinois variant); as the slope is ≥ 1, two points bracket the root.

        Exact after one step where l' is affine, in any number type.
        """
        kappa = self.rows / self.eta * weight
        left = s
        f_left = left + kappa * loss.derivative(left, y) - m
        if f_left == 0:
            return left
        right = left - f_left
        f_right = right + kappa * loss.derivative(right, y) - m
        for _ in range(200):
            if f_right == 0 or f_left == f_right:
                return right
            middle = right - f_right * (right - left) / (f_right - f_left)
            if middle == left or middle == right:
                return right
            f_middle = middle + kappa * loss.derivative(middle, y) - m
            if (f_middle > 0) == (f_right > 0):
                f_left = f_left / 2
            else:
                left, f_left = right, f_right
            right, f_right = middle, f_middle
        return right

    def divergence(self, loss: Loss, w: Any, s: Any, y: Any, weight: Any) -> Any:
        gap = w - weight * loss.derivative(s, y)
        return weight * loss.fenchel_young(s, w / weight, y) + self.rows / self.eta * gap * gap / 2

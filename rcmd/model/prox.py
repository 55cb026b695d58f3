"""Prox functions h of the dual mirror step, separable: h(w) = (1/n) Σ_j h_j(w_j)."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
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

    def bounds(self, problem: Problem) -> Array:
        """What ``inverse`` gets as ``bound``: M_j, which may take many calls of the oracle."""
        return problem.prediction_bounds

    def centre(self, losses: SampleLosses, bounds: Array) -> Array:
        """The state s⁰ of the prox centre w⁰ = argmin h, coordinate by coordinate."""

        def solve(loss: Any, bound: Any, y: Any, weight: Any) -> Any:
            return self.inverse(loss, 0 * y, 0 * y, y, weight, bound)

        return _map(solve, losses, bounds)

    def step(
        self, losses: SampleLosses, bounds: Array, batch: Array, s: Array, gap: Array, eta: Any
    ) -> Array:
        """The states after a mirror step along ``gap`` = a − s by ``eta``, one η or one a row."""

        def move(loss: Any, s: Any, step: Any, bound: Any, y: Any, weight: Any) -> Any:
            m = self.mirror(loss, s, y, weight) + step
            return self.inverse(loss, m, s, y, weight, bound)

        return _map(move, losses, s, eta * gap, bounds[batch], batch=batch)


def _map(function: Any, losses: SampleLosses, *arguments: Array, batch: Any = None) -> Array:
    """``function(loss, *arguments, y, weight)`` coordinate by coordinate."""
    y, weights = losses.y, losses.weights
    places = range(len(y)) if batch is None else batch
    with np.errstate(over="ignore", invalid="ignore"):  # as in compiled code
        values = [
            function(losses.one(j), *at, y[j], 1 if weights is None else weights[j])
            for j, *at in zip(places, *arguments, strict=True)
        ]
    return np.array(values, dtype=y.dtype)


def _unused(problem: Problem) -> Array:
    """In place of bounds that rcmd's own ``inverse`` does not read; a subclass may."""
    return np.zeros(len(problem.losses.y), problem.rows.number_type)


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

    def bounds(self, problem: Problem) -> Array:
        return _unused(problem) if type(self) is ConjugateProx else super().bounds(problem)

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
class ExactProx(BregmanProx):
    """h_j(w) = l_j*(w) + (κ_j/2)(w − l_j'(0))² with unit steps: the exact coordinate step.

    R* is 1/μ-smooth, so D rises by at least M_j(δ)/n where w_j moves by δ alone,

        M_j(δ) = δ a_j − l_j*(w_j + δ) + l_j*(w_j) − κ_j δ²/2,        κ_j = ‖x_j‖²/(nμ).

    The step maximizes M_j: s_j moves to the root s⁺ between s_j and a_j of
    s⁺ + κ_j l_j'(s⁺) = a_j + κ_j l_j'(s_j), which is at least 1/σ of the way. This is proximal
    coordinate ascent, SDCA's own step.

    *Batches.* All δ_j are found at the same w and B is drawn afterwards, so that with
    θ = (b−1)/(n−1)

        E_B‖Σ_{j∈B} δ_j x_j‖² = (b/n) [(1−θ) Σ_j ‖x_j‖²δ_j² + θ ‖Xᵀδ‖²],

    and ‖Xᵀδ‖² ≤ S Σ_j δ_j²/γ_j for S = ‖diag(√γ)X‖₂². Hence E_B[D(w⁺) − D(w)] is at least
    (1/N)(1/n) Σ_j M_j(δ_j) with κ_j = [(1−θ)‖x_j‖² + θS/γ_j]/(nμ), and γ_jκ_j ≤ σ_b − 1. As l_j* is
    1/γ_j-strongly convex, M_j at δ = (l_j'(a_j) − w_j)/σ_b, and so its maximum, is at least
    (1/σ_b)[l_j(a_j) + l_j*(w_j) − w_j a_j]. So P(β̃) − D(w) ≤ Nσ_b E_B[D(w⁺) − D(w)], from which
    Theorem I follows (see ``rcmd.model.bounds``).

    Parameters
    ----------
    kappa
        One κ for all rows instead of these κ_j; κ = n/η gives the appendix's h, ‖w‖²/(2η) + L*/n
        but for a linear term.
    own, joint
        1 − θ and θS over nμ, filled in from the problem.

    Examples
    --------
    >>> from rcmd import RCMD, LeastSquares, Problem, Ridge, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Ridge(0.5))
    >>> solve(problem, method=RCMD(prox=ExactProx()), tol=1e-9).beta.round(4)
    array([0.1667])
    """

    kappa: Any = None
    own: Any = field(default=0, repr=False)
    joint: Any = field(default=0, repr=False)
    unit_steps = True
    note = "exact coordinate steps, as in SDCA"

    def __post_init__(self) -> None:
        number: Any = self.kappa if isinstance(self.kappa, Real) else math.nan
        if self.kappa is not None and not 0 <= number < math.inf:
            raise ValueError(
                f"kappa of ExactProx is {self.kappa!r}; expected a number from 0 on, or None for "
                "the κ_j of the problem"
            )

    def bind(self, constants: Constants) -> ExactProx:
        if self.kappa is not None:
            return self
        if not constants.mu > 0:
            raise ValueError(
                "prox ExactProx got a regularizer with μ = 0; expected a strongly convex one, such "
                "as Ridge: use the default prox, or give kappa and a schedule yourself"
            )
        unit = 1 / (constants.n * constants.mu)
        if constants.batch == 1:
            return replace(self, kappa=unit / unit, own=unit)
        share = type(constants.gamma)(constants.batch - 1) / (constants.n - 1)
        joint = share * constants.spectral_energy * unit
        return replace(self, kappa=unit / unit, own=(1 - share) * unit, joint=joint)

    def losses(self, problem: Problem) -> SampleLosses:
        """κ_j l_j'(s) = κ (κ_j ω_j) l'(s): a κ that depends on the row enters by its weight."""
        losses = problem.losses
        if not (self.own or self.joint):
            return losses
        kappas = self.own * problem.rows.square_norms()
        if self.joint:
            kappas = kappas + self.joint / losses.gammas
        return losses.with_weights(kappas if losses.weights is None else kappas * losses.weights)

    def bounds(self, problem: Problem) -> Array:
        return _unused(problem) if type(self) is ExactProx else super().bounds(problem)

    def mirror(self, loss: Loss, s: Any, y: Any, weight: Any) -> Any:
        return s + self.kappa * weight * (loss.derivative(s, y) - loss.derivative(0 * s, y))

    def inverse(self, loss: Loss, m: Any, s: Any, y: Any, weight: Any, bound: Any) -> Any:
        """False position (the Illinois variant); as the slope is ≥ 1, two points bracket the root.

        Exact after one step where l' is affine, in any number type. Where l' is so steep at one
        point, or infinite, that a step rounds to the other, the bracket is halved.
        """
        kappa = self.kappa * weight
        target = m + kappa * loss.derivative(0 * s, y)
        last = far = s
        f_last = f_far = s + kappa * loss.derivative(s, y) - target
        near = s - f_last - f_last / 2**48  # beyond the root
        for k in range(300):
            term = kappa * loss.derivative(near, y)
            f_near = near + term - target
            size, beyond = abs(near) + abs(term) + abs(target), (f_near > 0) != (f_last > 0)
            if size - abs(f_near) / 4 == size or not (k or beyond):  # what is left is rounding
                return near
            if beyond:
                far, f_far = last, f_last
            else:
                f_far = f_far / 2
            last, f_last = near, f_near
            near = last - f_last * ((last - far) / (f_last - f_far))
            if not min(last, far) < near < max(last, far):
                near = (last + far) / 2
                if near == last or near == far:
                    return last
        return near

    def divergence(self, loss: Loss, w: Any, s: Any, y: Any, weight: Any) -> Any:
        gap = w - weight * loss.derivative(s, y)
        return weight * loss.fenchel_young(s, w / weight, y) + self.kappa * gap * gap / 2

"""Certificates: a primal–dual pair and the gap it proves, computed from scratch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Number, Rational
from typing import Any, NamedTuple

import numpy as np

from rcmd.model.constants import ROUNDING
from rcmd.model.problem import Problem, check_problem
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array, as_array, checked_numbers

RESOLVED = 1e-13
"""The rounding up to which a gap holds as it is; a larger bound on it is part of the gap."""

UNIT = 2.0**-53
"""What rounding a number to a double may change in it, relatively."""

OF_TERMS = 2.0**-48
"""What rounding may change in a Fenchel–Young term, relative to |l_j|, |l_j*| and itself."""

SMALL_BY_FAR = 10.0
"""How much larger than one atom others are assumed to be, where M_j is not known."""

CONSISTENCY = 1e-8
"""Rounding, relative to the terms involved, by which P − D may miss the sum of its parts."""

NO_CERTIFICATE = "only these can be certified"


@dataclass(frozen=True, eq=False)
class Certificate:
    """P(β) − D(w) ≥ P(β) − P*, as a sum of non-negative Fenchel–Young terms.

    Attributes
    ----------
    beta, w
        The pair; β is a vector, or a ``LowRank`` where the samples are entries of a matrix.
    primal, dual
        P(β) and D(w).
    loss_gap
        (1/n) Σ_j [l_j(x_jᵀβ) + l_j*(w_j) − w_j x_jᵀβ].
    regularizer_gap
        R(β) + R*(−Xᵀw/n) + (Xᵀw/n)ᵀβ.
    ground_text
        What it rests on, in a line that begins with ``ground``; see ``Problem.ground``.

    Where the rounding of Xβ + o, Xᵀw or oᵀw may change P or D by more than 1e-13, a bound of that
    is added to P, to −D and to these two; where that of the terms in ``loss_gap`` may, a bound of
    it to ``loss_gap``. So the gap holds up to 1e-13 for the numbers returned. A sum is taken to be
    accurate to 2⁻⁵⁰ of its terms, l_j(s) + l_j*(w) − ws to 2⁻⁴⁸ of |l_j|, |l_j*| and itself (above
    e¹⁶, to 2⁻⁵² of these times their logarithm, as in exp(s − y)), and |x_j|ᵀ|β| to be at most M_j
    on dom R. With weights, and for formulas, it is the gap at doubles that are within 2⁻⁵³ of w_j
    and of what is added to it, such as ω_j times the double w_j/ω_j: l_j* may be so steep that
    its value at w_j is another, but P(β) − P* is no larger.
    The gap is never below ``smallest_gap``.
    """

    beta: Any
    w: Array
    primal: Any
    dual: Any
    loss_gap: Any
    regularizer_gap: Any
    ground_text: str

    @property
    def ground(self) -> str:
        """``"proved"``, ``"sampled"`` or ``"unchecked"``: what is known of the classes used."""
        return self.ground_text.partition(":")[0]

    @property
    def gap(self) -> Any:
        """The certified gap, the sum of the two parts, but at least ``smallest_gap``."""
        return max(self.loss_gap + self.regularizer_gap, self.smallest_gap)

    @property
    def smallest_gap(self) -> Any:
        """2⁻⁵³·|P|, what doubles cannot tell apart beside P; 0 in fractions."""
        if isinstance(self.primal, Rational):
            return 0
        return UNIT * abs(self.primal)

    def __repr__(self) -> str:
        return (
            f"Certificate(primal={float(self.primal):.9g}, dual={float(self.dual):.9g}, "
            f"gap={float(self.gap):.3g} = {float(self.loss_gap):.3g} from the losses + "
            f"{float(self.regularizer_gap):.3g} from the regularizer; {self.ground_text})"
        )


@dataclass(eq=False)
class PrimalPoint:
    """β with Xβ (until forgotten), the mean loss, the mean absolute loss, and R(β).

    ``doubt`` bounds the error of P by rounding in Xβ, and is part of ``value``.
    """

    beta: Any
    predictions: Any
    loss: Any
    loss_size: Any
    penalty: Any
    doubt: Any

    @classmethod
    def at(cls, problem: Problem, beta: Any) -> PrimalPoint:
        """The point ``beta``, from scratch."""
        penalty = problem.oracle.value(beta)  # first, as it rounds a LowRank
        predictions = problem.rows.matvec(beta)
        losses = problem.losses.value(predictions)
        doubt = _doubt(problem, beta, predictions)
        return cls(beta, predictions, *_mean_and_size(problem, losses), penalty, doubt)

    @property
    def value(self) -> Any:
        """P(β)."""
        return self.loss + self.penalty + self.doubt

    @property
    def size(self) -> Any:
        """The terms of P(β), in absolute values."""
        return self.loss_size + abs(self.penalty)


@dataclass(eq=False)
class DualPoint:
    """w in dom l* with Xᵀw/n (until forgotten), the mean conjugate, its mean absolute value, and
    −R*(−Xᵀw/n).

    ``doubt`` bounds the error of D by rounding in Xᵀw, and is taken off ``value``.
    """

    w: Array
    slope: Any
    conjugate: Any
    conjugate_size: Any
    lowest: Any
    doubt: Any

    @classmethod
    def at(cls, problem: Problem, w: Array, conjugates: Any = None, slope: Any = None) -> DualPoint:
        """The point ``w`` of dom l*, from scratch except for l_j*(w_j) and Xᵀw/n where given."""
        conjugates = problem.losses.conjugate(w) if conjugates is None else conjugates
        slope = problem.gradient(w) if slope is None else slope
        lowest, doubt = problem.oracle.minimum(slope), _dual_doubt(problem, w)
        return cls(w, slope, *_mean_and_size(problem, conjugates), lowest, doubt)

    @property
    def value(self) -> Any:
        """D(w)."""
        return self.lowest - self.conjugate - self.doubt

    @property
    def size(self) -> Any:
        """The terms of D(w), in absolute values."""
        return self.conjugate_size + abs(self.lowest)


def _points(
    problem: Problem,
    beta: Any,
    w: Array,
    known: tuple[Array, Any, Any] | None = None,
    slope: Any = None,
) -> tuple[PrimalPoint, DualPoint, Any]:
    """The points β and w, brought into dom l*, and the mean Fenchel–Young term of the losses.

    They take one sweep over the data, but for ``known``, Xβ with the mean loss and its mean size
    there, and ``slope``, Xᵀw/n, which counts where w is in dom l*.
    """
    penalty = problem.oracle.value(beta)  # first, as it rounds a LowRank
    inside = problem.losses.clip(w)
    slope = slope if inside is w else None
    if known is None and slope is None:
        predictions, slope = problem.products(beta, inside)
    else:
        predictions = known[0] if known else problem.rows.matvec(beta)
    losses, conjugates, terms = problem.losses.duality(predictions, inside)
    gap = problem.mean(terms)
    del terms  # one vector less while the next ones are made
    if known is None:
        losses = problem.losses.value(predictions) if losses is None else losses
        known = predictions, *_mean_and_size(problem, losses)
    del losses
    primal = PrimalPoint(beta, *known, penalty, _doubt(problem, beta, predictions))
    return primal, DualPoint.at(problem, inside, conjugates, slope), gap


def _mean_and_size(problem: Problem, terms: Array) -> tuple[Any, Any]:
    """The mean of the terms, and that of their absolute values."""
    return problem.mean(terms), problem.mean(abs(terms))


class OfferedPair(NamedTuple):
    """P(β) − D(w) and D(w) of a pair that was offered, and what rounding may change in them."""

    gap: Any
    dual: Any
    rounding: Any


def certify(problem: Problem, beta: Any, w: Array) -> Certificate:
    """The certificate of (β, w), from nothing but the problem and the pair.

    Examples
    --------
    >>> import numpy as np
    >>> from rcmd import Box, LeastSquares, Problem
    >>> problem = Problem([[1.0]], [3.0], LeastSquares(), Box(-1.0, 1.0))
    >>> pair = certify(problem, np.array([1.0]), np.array([-2.0]))
    >>> float(pair.primal), float(pair.dual), bool(pair.gap == 2 * 2.0**-53)
    (2.0, 2.0, True)
    """
    check_problem(problem)
    if isinstance(beta, LowRank):
        for part in (beta.left, beta.weights, beta.right):
            checked_numbers("beta", part, remedy=NO_CERTIFICATE)
        _check_shape("beta", beta, problem.rows.zero().shape)
    else:
        beta = _checked("beta", beta, problem.p)
    w = _checked("w", w, len(problem.losses.y))
    return _certified(problem, *_points(problem, beta, w))


def _checked(name: str, values: Any, length: int) -> Array:
    array = as_array(name, values)
    _check_shape(name, array, (length,))
    return checked_numbers(name, array, remedy=NO_CERTIFICATE)


def _check_shape(name: str, value: Any, shape: tuple[int, ...]) -> None:
    if value.shape != shape:
        raise ValueError(
            f"{name} has shape {value.shape}; expected {shape}, as {name} has in this problem"
        )


def _doubt(problem: Problem, beta: Any, predictions: Array) -> Any:
    """(1/n) Σ_j ρ_j·sup|l_j'| on s_j ± ρ_j, for s = Xβ known up to ρ = ε|X||β|; 0 if that is small.

    It matters only where rows differ greatly in size, or large terms cancel. An offset o_j adds the
    rounding of s_j + o_j to ρ_j. |X||β| is formed only where r_j ≥ ρ_j from the sizes of all rows
    does not do, and slopes only where |l_j'(s)| ≤ |l_j'(0)| + γ_j|s| on I_j does not, where γ_j
    holds and 0 is: of some losses γ_j is 10⁵⁰. As l_j' does not fall, it is largest at an end.
    """
    if problem.exact or not isinstance(beta, np.ndarray):
        return 0
    losses = problem.losses
    added: Any = 0
    with np.errstate(over="ignore", invalid="ignore"):  # 0 · ∞
        if losses.offset is not None:
            added = UNIT * abs(predictions + losses.offset)
        lengths = abs(beta).sum(), math.sqrt(beta @ beta)
        reach = problem.mean(abs(predictions))

        def small(most: float) -> bool:
            size = most + (math.sqrt(problem.mean(added * added)) if np.ndim(added) else 0.0)
            error = most + added
            bend = losses.unit_gamma * error
            if losses.weights is not None:
                bend = losses.weights * bend
            if np.ndim(bend):
                curved = problem.mean(bend * (abs(predictions) + error))
            else:
                curved = bend * (reach + error)
            return bool(size * problem.start_slope + curved <= RESOLVED)

        most = ROUNDING * float(problem.peak * lengths[0])
        if small(most):
            return 0
        most = ROUNDING * float(np.nanmin(problem.row_sizes * lengths))
        if small(most):
            return 0

        def doubt(errors: Any) -> Any:
            ends = predictions - errors, predictions + errors
            slopes = np.maximum(*(abs(losses.derivative(end)) for end in ends))
            return problem.mean(errors * slopes)

        if doubt(most + added) <= RESOLVED:
            return 0
        errors = ROUNDING * problem.rows.box_range(-abs(beta), abs(beta))[1] + added
        found = doubt(errors)
    return 0 if found <= RESOLVED else found


def _dual_doubt(problem: Problem, w: Array) -> Any:
    """ε·(1/n) Σ_j |w_j| (M_j + |o_j|), what rounding may change in D; 0 if that is small.

    Where the M_j would take many oracle calls, they are found only if it is not small by far with
    the norms of one atom, assumed to be like those of the others.
    """
    if problem.exact:
        return 0
    offset, matters = problem.losses.offset, True
    with np.errstate(over="ignore"):
        if not problem.knows_ranges and isinstance(beta := problem.first_atom, np.ndarray):
            lengths = abs(beta).sum(), math.sqrt(beta @ beta)
            likely = problem.mean(abs(w)) * min(problem.row_sizes * lengths)
            matters = SMALL_BY_FAR * ROUNDING * likely > RESOLVED
        doubt = ROUNDING * problem.mean(abs(w) * problem.prediction_bounds) if matters else 0
        if offset is not None:
            doubt += ROUNDING * problem.mean(abs(w * offset))
    return doubt if doubt > RESOLVED else 0


def _doubt_of_terms(problem: Problem, primal: PrimalPoint, dual: DualPoint, gap: Any) -> Any:
    """What rounding may change in the mean Fenchel–Young term ``gap``; 0 if that is small."""
    if problem.exact:
        return 0
    size = primal.loss_size + dual.conjugate_size + gap
    # An argument of exp as large as the logarithm of the size is itself rounded.
    doubt = OF_TERMS * size * max(1.0, math.log(max(size, 1.0)) / 16)
    return doubt if doubt > RESOLVED else 0


def _certified(
    problem: Problem, primal: PrimalPoint, dual: DualPoint, loss_gap: Any
) -> Certificate:
    feasible = not math.isinf(primal.penalty)
    beta, slope = primal.beta, dual.slope
    apart = problem.oracle.fenchel_young(beta, slope) if feasible else math.inf
    certificate = Certificate(
        beta=beta,
        w=dual.w,
        primal=primal.value,
        dual=dual.value,
        loss_gap=loss_gap + _doubt_of_terms(problem, primal, dual, loss_gap) + primal.doubt,
        regularizer_gap=max(apart, 0) + dual.doubt,
        ground_text=problem.ground_text,
    )
    if feasible and math.isfinite(primal.doubt + dual.doubt):
        size, doubt = primal.size + dual.size, primal.doubt + dual.doubt
        difference = certificate.primal - certificate.dual
        # A gap that is not P − D: the loss or the oracle contradicts itself.
        if not abs(difference - certificate.gap) <= CONSISTENCY * (1 + size) + doubt:
            raise ValueError(
                f"P(β) − D(w) is {float(difference):.6g} but the Fenchel–Young terms add up to "
                f"{float(certificate.gap):.6g}; expected the same number: the values, conjugates "
                f"or minima of {problem.loss!r} or {problem.oracle!r} are wrong; "
                "check them with rcmd.testing.check_conjugate and check_oracle"
            )
    return certificate


class BestPair:
    """The best β and the best w so far, each by its own value from scratch.

    The certificate reuses what was computed for the points offered; ``forget`` then drops all
    vectors but the pair itself.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._primal: PrimalPoint | None = None
        self._dual: DualPoint | None = None
        self._certificate: Certificate | None = None
        self._loss_gap: Any = None  # of the best pair, where its points came together
        self._last_primal = self._last_dual = (math.nan, math.nan)

    def offer_primal(self, beta: Any) -> Array:
        """Consider β; returns Xβ."""
        point = PrimalPoint.at(self.problem, beta)
        predictions = point.predictions
        self._take_primal(point)
        return predictions

    def offer_dual(self, w: Array) -> None:
        """Consider w, clipped to dom l*: averages leave it by rounding."""
        self._take_dual(DualPoint.at(self.problem, self.problem.losses.clip(w)))

    def offer_pair(
        self, beta: Any, w: Array, known: tuple[Array, Any, Any] | None = None, slope: Any = None
    ) -> Array:
        """Consider β and w together; returns Xβ.

        ``known`` = (Xβ, the mean loss and its mean size there) and ``slope`` = Xᵀw/n were computed
        from scratch before.
        """
        primal, dual, loss_gap = _points(self.problem, beta, w, known, slope)
        predictions = primal.predictions
        taken = self._take_primal(primal), self._take_dual(dual)
        self._loss_gap = loss_gap if all(taken) else None
        return predictions

    def offered(self) -> OfferedPair:
        """The pair of the β and the w that were offered last, the best or not."""
        (primal, one), (dual, other) = self._last_primal, self._last_dual
        return OfferedPair(max(primal - dual, 0.0), dual, CONSISTENCY + one + other)

    def resolution(self) -> Any:
        """What rounding leaves open of P − D: 2⁻⁵⁰ of the terms of the best pair."""
        if self.problem.exact or self._primal is None or self._dual is None:
            return 0
        return ROUNDING * (self._primal.size + self._dual.size)

    def limit(self) -> Any:
        """The gap from which on half of it is rounding, or all that doubles tell beside P."""
        smallest, primal, dual = self.certificate().smallest_gap, self._primal, self._dual
        if primal is None or dual is None:  # there is a certificate, and so there are points
            return smallest
        doubt = _doubt_of_terms(self.problem, primal, dual, 0) + primal.doubt + dual.doubt
        return max(smallest, 2 * doubt)

    def certificate(self) -> Certificate:
        """The certificate of the best pair."""
        primal, dual = self._primal, self._dual
        if primal is None or dual is None:
            raise ValueError("no pair was offered yet; offer a primal and a dual point first")
        if self._certificate is None:
            if dual.slope is None:
                dual.slope = self.problem.gradient(dual.w)
            loss_gap = self._loss_gap
            if loss_gap is None:
                if primal.predictions is None:
                    primal.predictions = self.problem.rows.matvec(primal.beta)
                terms = self.problem.losses.duality(primal.predictions, dual.w)[2]
                loss_gap = self.problem.mean(terms)
            self._certificate = _certified(self.problem, primal, dual, loss_gap)
        return self._certificate

    def _take_primal(self, point: PrimalPoint) -> bool:
        self._last_primal = point.value, point.doubt + CONSISTENCY * point.size
        better = self._primal is None or bool(point.value < self._primal.value)
        if better:
            point.beta = frozen(point.beta)
            self._primal, self._certificate, self._loss_gap = point, None, None
        return better

    def _take_dual(self, point: DualPoint) -> bool:
        self._last_dual = point.value, point.doubt + CONSISTENCY * point.size
        better = self._dual is None or bool(point.value > self._dual.value)
        if better:
            point.w = frozen(point.w)
            self._dual, self._certificate, self._loss_gap = point, None, None
        return better

    def forget(self) -> None:
        """Keep the pair and its certificate only, not the vectors that were needed for it."""
        if self._primal is not None and self._dual is not None:
            self._primal.predictions = self._dual.slope = None

    def state(self) -> dict[str, Any]:
        """The pair and its values, with w for all rows."""
        primal, dual, certificate = self._primal, self._dual, self._certificate
        if primal is None or dual is None:
            return {}
        return {
            "primal": [primal.beta, primal.loss, primal.loss_size, primal.penalty, primal.doubt],
            "dual": [dual.conjugate, dual.conjugate_size, dual.lowest, dual.doubt],
            "w": self.problem.gathered(dual.w),
            "gaps": certificate and [certificate.loss_gap, certificate.regularizer_gap],
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue with that pair; with its numbers too, where they are right up to rounding."""
        if not state:
            return
        beta, *numbers = state["primal"]
        zero, losses = self.problem.rows.zero(), self.problem.losses
        _check_shape("beta", beta, zero.shape)
        _check_shape("w", state["w"], (self.problem.n,))
        if isinstance(beta, np.ndarray):
            checked_numbers("beta", beta, remedy=NO_CERTIFICATE)
        w = frozen(self.problem.own_part(state["w"]))
        stated = [*numbers, *state["dual"], *(state["gaps"] or [])]
        if not (
            all(isinstance(value, Number) for value in stated)
            and type(beta) is type(zero)
            and getattr(beta, "dtype", None) == getattr(zero, "dtype", None)
            and w.dtype == losses.y.dtype
            and np.isfinite(np.asarray(losses.conjugate(w), dtype=float)).all()
        ):
            raise ValueError("the best pair is none: expected β, w in dom l*, and numbers")
        fresh, memory = BestPair(self.problem), self.problem.oracle.state()
        fresh.offer_pair(beta, w)
        fresh.certificate()
        self.problem.oracle.load_state(memory)  # which this pair is no part of
        held: Any = fresh.state()
        found = [*held["primal"][1:], *held["dual"], *held["gaps"]]
        room = RESOLVED * (1 + held["primal"][2] + held["dual"][1])
        if not all(abs(a - b) <= room for a, b in zip(stated, found, strict=False)):
            self._primal, self._dual = fresh._primal, fresh._dual
            self._certificate = fresh._certificate
            return
        self._primal = PrimalPoint(frozen(beta), None, *numbers)
        self._dual = DualPoint(w, None, *state["dual"])
        if state["gaps"] is not None:
            pair, values = (self._primal.beta, self._dual.w), (self._primal.value, self._dual.value)
            loss_gap, regularizer_gap = state["gaps"]
            ground = self.problem.ground_text
            self._certificate = Certificate(*pair, *values, loss_gap, regularizer_gap, ground)
            if not all(gap >= 0 for gap in state["gaps"]):
                raise ValueError(f"gaps are {state['gaps']}; expected no negative number")


def frozen(array: Any) -> Any:
    """A read-only copy: what is certified must not change."""
    copy = array.copy()
    copy.setflags(write=False)
    return copy

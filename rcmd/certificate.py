"""Certificates: a primal–dual pair and the gap it proves, computed from scratch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.problem import Problem

Array = npt.NDArray[Any]

CONSISTENCY = 1e-8
"""Rounding, relative to the terms involved, by which P − D may miss the sum of its parts."""


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
    """

    beta: Any
    w: Array
    primal: Any
    dual: Any
    loss_gap: Any
    regularizer_gap: Any

    @property
    def gap(self) -> Any:
        """The certified gap, the sum of the two parts."""
        return self.loss_gap + self.regularizer_gap

    def __repr__(self) -> str:
        return (
            f"Certificate(primal={float(self.primal):.9g}, dual={float(self.dual):.9g}, "
            f"gap={float(self.gap):.3g} = {float(self.loss_gap):.3g} from the losses + "
            f"{float(self.regularizer_gap):.3g} from the regularizer)"
        )


def certify(problem: Problem, beta: Array, w: Array) -> Certificate:
    """The certificate of (β, w), from nothing but the problem and the pair.

    Examples
    --------
    >>> import numpy as np
    >>> from rcmd import Box, LeastSquares, Problem
    >>> problem = Problem([[1.0]], [3.0], LeastSquares(), Box(-1.0, 1.0))
    >>> float(certify(problem, np.array([1.0]), np.array([-2.0])).gap)
    0.0
    """
    inside = problem.losses.clip(w)
    w = w if np.array_equal(w, inside) else inside
    del inside
    predictions = problem.rows.matvec(beta)
    slope = problem.gradient(w)
    penalty, lowest = problem.oracle.value(beta), problem.oracle.minimum(slope)
    feasible = not math.isinf(penalty)
    loss, loss_size = _mean_and_size(problem, problem.losses.value(predictions))
    conjugate, conjugate_size = _mean_and_size(problem, problem.losses.conjugate(w))
    certificate = Certificate(
        beta=beta,
        w=w,
        primal=loss + penalty,
        dual=lowest - conjugate,
        loss_gap=problem.mean(problem.losses.fenchel_young(predictions, w)),
        regularizer_gap=max(problem.oracle.fenchel_young(beta, slope), 0) if feasible else math.inf,
    )
    if feasible:
        size = loss_size + conjugate_size + abs(penalty) + abs(lowest)
        _refuse_contradiction(problem, certificate, size)
    return certificate


def _mean_and_size(problem: Problem, terms: Array) -> tuple[Any, Any]:
    """The means of the terms and of their absolute values."""
    return problem.mean(terms), problem.mean(abs(terms))


def _refuse_contradiction(problem: Problem, certificate: Certificate, size: Any) -> None:
    """The gap and P − D are one number, unless the loss or the oracle contradicts itself."""
    difference = certificate.primal - certificate.dual
    if not abs(difference - certificate.gap) <= CONSISTENCY * (1 + size):
        raise ValueError(
            f"P(β) − D(w) is {float(difference):.6g} but the Fenchel–Young terms add up to "
            f"{float(certificate.gap):.6g}; expected the same number: the values, conjugates or "
            f"minima of {problem.loss!r} or {problem.oracle!r} are wrong, which "
            "rcmd.testing.check_conjugate and check_oracle will tell apart"
        )


class BestPair:
    """The best β and the best w seen, each judged by its own value from scratch."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._primal: tuple[Any, Any] = (math.inf, None)
        self._dual: tuple[Any, Array | None] = (-math.inf, None)
        self._certificate: Certificate | None = None

    def offer_primal(self, beta: Any) -> Array:
        """Consider β; returns its response ∇L(Xβ)."""
        problem, predictions = self.problem, self.problem.rows.matvec(beta)
        value = problem.mean(problem.losses.value(predictions)) + problem.oracle.value(beta)
        if self._primal[1] is None or value < self._primal[0]:
            self._primal, self._certificate = (value, _frozen(beta)), None
        return problem.losses.derivative(predictions)

    def offer_dual(self, w: Array) -> None:
        """Consider w, brought into dom l* first (averages round)."""
        w = self.problem.losses.clip(w)
        value = self.problem.dual(w)
        if self._dual[1] is None or value > self._dual[0]:
            self._dual, self._certificate = (value, _frozen(w)), None

    def certificate(self) -> Certificate:
        """The certificate of the best pair."""
        beta, w = self._primal[1], self._dual[1]
        if beta is None or w is None:
            raise ValueError("no pair was offered yet; offer a primal and a dual point first")
        if self._certificate is None:
            self._certificate = certify(self.problem, beta, w)
        return self._certificate


def _frozen(array: Any) -> Any:
    """A copy that nobody can write to: what is certified must stay what it was."""
    copy = array.copy()
    copy.setflags(write=False)
    return copy

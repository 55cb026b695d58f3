"""The one certificate by which all answers are judged, whoever gave them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import L1Ball, L1Penalty, Logistic, Problem
from rcmd.certificate import certify

Array = npt.NDArray[Any]


class Judge:
    """Certified gaps of answers to logistic regression on an l1 ball, or with the penalty.

    The gap is P(β) − D(w), computed here from β and, for those who have none, w = ∇L(Xβ), so
    that no answer looks better than it is.

    Parameters
    ----------
    X, y
        The data.
    radius
        Of the ball.
    strength
        λ of the penalised problem λ‖β‖₁ with the same solution: the ball's multiplier.

    Examples
    --------
    >>> judge = Judge(np.eye(2), np.array([1.0, -1.0]), radius=2.0, strength=0.13)
    >>> judge.gap(np.array([1.0, -1.0])) < 1e-15, judge.gap(np.array([9.0, -9.0])) < 1e-15
    (True, True)
    """

    def __init__(self, X: Any, y: Array, radius: float, strength: float) -> None:
        self.ball = Problem(X, y, Logistic(), L1Ball(radius))
        self.penalised = self.ball.with_oracle(L1Penalty(strength))
        self.radius, self.strength = radius, strength

    def gap(self, beta: Array, w: Array | None = None, *, penalised: bool = False) -> float:
        """The certified gap; infinite where an answer is no vector of numbers.

        On the ball β is first shrunk into it. An answer to the penalised problem is certified
        on either, whichever says more: on its own, w is shrunk until ‖Xᵀw/n‖_∞ ≤ λ, which for a
        small λ costs more than the ball's certificate does.
        """
        beta = np.asarray(beta, dtype=float)
        if beta.shape != (self.ball.p,):
            raise ValueError(
                f"the answer β has shape {beta.shape}; expected ({self.ball.p},), one number for "
                "each column of X"
            )
        if not all(np.isfinite(part).all() for part in (beta, w) if part is not None):
            return math.inf
        return min(self._on_ball(beta, w), self._with_penalty(beta) if penalised else math.inf)

    def _on_ball(self, beta: Array, w: Array | None) -> float:
        norm = abs(beta).sum()
        beta = beta * (self.radius / norm) if norm > self.radius else beta
        w = self.ball.response(beta) if w is None else w
        return float(certify(self.ball, beta, w).gap)

    def _with_penalty(self, beta: Array) -> float:
        w = self.penalised.response(beta)
        level = abs(self.penalised.gradient(w)).max()
        w = w * (self.strength / max(level, self.strength))
        return float(certify(self.penalised, beta, w).gap)

"""How far from zero an intercept can be: an interval that holds back no optimum."""

from __future__ import annotations

from typing import Any

from rcmd.problem import Problem
from rcmd.rows.inner import InnerRows
from rcmd.validation import in_number_type

FARTHEST = 2.0**200


def intercept_bound(problem: Problem) -> float:
    """The least power of two B such that [−B, B] holds an optimal intercept.

    ``problem`` is the one without an intercept. Predictions x_jᵀβ lie in [low_j, high_j]
    for β in dom R, and every l_j' is increasing. So Σ_j l_j'(B + low_j) ≥ 0 says that beyond
    B no loss falls any more, whatever β is; and Σ_j l_j'(−B + high_j) ≤ 0 the same of −B.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares
    >>> intercept_bound(Problem([[1.0], [-1.0]], [8.0, 6.0], LeastSquares(), L1Ball(5.0)))
    16.0
    """
    losses = problem.losses
    regularizer = in_number_type(problem.regularizer, problem.exact)
    # A radius left open is larger beside an intercept.
    regularizer = regularizer.bind(InnerRows(problem.rows, alone=False), losses)
    low, high = regularizer.prediction_range(problem.rows)

    def holds(bound: float) -> Any:
        above, below = losses.derivative(low + bound), losses.derivative(high - bound)
        return above.sum() >= 0 and below.sum() <= 0

    bound = 1.0
    while not holds(bound):
        bound *= 2
        if bound > FARTHEST:
            raise ValueError(
                f"loss {problem.loss!r} falls as the intercept grows without end; expected one "
                "that is smallest at some intercept: use fit_intercept=False"
            )
    while bound > 1 / FARTHEST and holds(bound / 2):
        bound /= 2
    return bound

r"""LASSO is an instance of (P), with an explicit bound on predictions.

Paper: Example 1.1, LASSO (exam:lasso), Section 1.1
Claim: least squares over $\|\beta\|_1 \le \delta$ is (P) with $l_j = \tfrac12(y_j - \cdot)^2$ and
    an indicator; its constants are $\gamma = 1$ and $M = \delta\max_j\|x_j\|_\infty$.
Hypotheses: none
Verdict: TIGHT
Proof: by hand
Check: in fractions on drawn data: $\tfrac{1}{2n}\|y - X\beta\|^2$ equals $P(\beta)$ at feasible
    points, no prediction exceeds M, and a vertex attains it.
Tested: n = 4, p = 3, no steps; squared losses on an ℓ₁ ball
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import numbers, problem
from proofs_check.exact.losses import Squared
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.statement import Finding, Kind, check

DELTA = Fraction(3)


def prediction_bound(rows: Any, delta: Any) -> Any:
    """δ max_j ‖x_j‖_∞."""
    return delta * max(abs(x) for row in rows for x in row)


@check(
    Kind.EXACT,
    prediction_bound,
    {
        "‖x_j‖₁ for ‖x_j‖_∞": lambda rows, delta: delta * max(sum(map(abs, row)) for row in rows),
        "last row forgotten": lambda rows, delta: prediction_bound(rows[:-1], delta),
        "δ forgotten": lambda rows, delta: prediction_bound(rows, 1),
    },
)
def the_bound_holds_and_a_vertex_attains_it(formula: Any) -> Finding:
    """50 drawn problems, 20 feasible points each."""
    generator = default_rng(5)
    ball = cross_polytope(3, DELTA)
    within, attained, equal = True, True, True
    for _ in range(50):
        small = problem(generator, 4, 3, ball, Squared)
        limit = formula(small.rows, DELTA)
        sizes = [abs(s) for vertex in ball.vertices for s in small.predictions(vertex)]
        attained &= max(sizes) == limit
        for _ in range(20):
            direction = numbers(generator, 3)
            length = max(sum(abs(x) for x in direction), Fraction(1))
            beta = tuple(DELTA * x / length for x in direction)
            predictions = small.predictions(beta)
            within &= max(map(abs, predictions)) <= limit
            residuals = (
                loss.derivative(s) for loss, s in zip(small.losses, predictions, strict=True)
            )
            equal &= sum(r * r for r in residuals) / 8 == small.primal(beta)
    return Finding(
        within and attained and equal, f"within {within}, attained {attained}, P equal {equal}", 1
    )

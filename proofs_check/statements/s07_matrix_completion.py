r"""Matrix completion is an instance of (P) with M = δ.

Paper: Example 1.2 (robespierre), Section 1.1
Claim: with one sample per observed entry and the nuclear-norm ball, $x_{(i,j)}$ picks an entry;
    the constants are $\gamma = 1$ and $M = \delta$.
Hypotheses: the nuclear-norm ball of radius $\delta$ and squared losses
Verdict: TIGHT
Correction: the n of (P) is $|\Omega|$ here, not the number n of rows.
Proof: by hand
Check: the ball is the hull of $\delta uv^T$ with unit u and v, whose entries are
    $\delta u_iv_j$: exactly over rational unit vectors on the circle; $u = e_i$, $v = e_j$
    attains $\delta$.
Tested: n = 2, p = 4, no steps; 37² points of the ball in 2 by 2 matrices, no losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.statement import Finding, Kind, check

DELTA = Fraction(5, 2)


def _unit_vectors() -> list[tuple[Fraction, Fraction]]:
    """Rational points ((1−t²)/(1+t²), 2t/(1+t²)) of the circle."""
    parameters = [Fraction(k, 6) for k in range(-18, 19)]
    return [((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)) for t in parameters]


def prediction_bound(delta: Fraction) -> Fraction:
    """δ."""
    return delta


@check(
    Kind.EXACT,
    prediction_bound,
    {"δ/2": lambda delta: delta / 2, "2δ, which nothing attains": lambda delta: 2 * delta},
)
def entries_of_extreme_points_are_at_most_delta(formula: Any) -> Finding:
    """All pairs of 37 rational unit vectors."""
    vectors = _unit_vectors()
    largest = max(abs(DELTA * a * b) for u in vectors for v in vectors for a in u for b in v)
    return Finding(largest == formula(DELTA), f"largest entry {largest} for δ = {DELTA}", 1)

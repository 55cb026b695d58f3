r"""The regularizer must be convex, which the assumption does not say.

Paper: Assumption 1.1 (ass:smooth), Section 1
Claim: smooth strictly convex losses, a bounded domain of R with an attained oracle, and
    $0 \in \mathrm{dom}\,R$ suffice for Theorems 3.1 and 3.2.
Hypotheses: the three parts of Assumption 1.1, as printed
Verdict: PROOF GAP
Correction: add that R is proper and convex. The proofs use that averages of atoms lie in dom R
    and that $\phi(\cdot, w)$ is convex. Closedness is not needed: an attained oracle gives the
    same answers for R and for its closure.
Proof: exact; by a counterexample to the assumption as printed
Check: with R the indicator of $\{-1, 0, 1\}$ the assumption holds as printed (the oracle is
    attained for every c, and 0 lies in the domain), yet $\bar\beta^k$ leaves the domain and the
    expected gap is infinite; on the hull $[-1, 1]$ the same runs obey the bound.
Tested: n = 2, p = 1, b = 1, k = 3; squared losses
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import expectation, levels
from proofs_check.exact.problem import Small, Vector
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check


@dataclass(frozen=True)
class ThreePoints:
    """The indicator of {−1, 0, 1}."""

    mu = 0

    def argmin(self, c: Vector) -> Vector:
        return (Fraction((c[0] < 0) - (c[0] > 0)),)

    def value(self, beta: Vector) -> Any:
        return 0 if beta[0] in (-1, 0, 1) else math.inf


class ThreePointHull(ThreePoints):
    """The indicator of [−1, 1], with the same oracle."""

    def value(self, beta: Vector) -> Any:
        return 0 if abs(beta[0]) <= 1 else math.inf


def _expected_gap(regularizer: ThreePoints) -> Any:
    losses = [Squared(Fraction(1, 8)), Squared(Fraction(1, 4))]
    small = Small(((Fraction(1),), (Fraction(1),)), losses, regularizer)
    return expectation(list(levels(small, sublinear(Fraction(2)), 1, 4))[-1], lambda p: p.gap())


@check(Kind.EXACT, ThreePoints(), {"the convex hull of the domain": ThreePointHull()})
def the_gap_is_infinite_on_three_points(regularizer: ThreePoints) -> Finding:
    """n = 2, k = 3: some β̄^3 is neither −1, 0 nor 1."""
    gap, convex = _expected_gap(regularizer), _expected_gap(ThreePointHull())
    n, k = 2, 3
    bound = Fraction(8 * n, 4 * n + k) + Fraction(2 * n * (2 * n - 1), (4 * n + k) * (k + 1))
    return Finding(
        gap == math.inf and convex <= bound,
        f"expected gap {gap}; on the hull {float(convex):.4f}, bound {float(bound):.4f}",
    )

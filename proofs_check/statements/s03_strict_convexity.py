r"""Strict convexity is needed to recover predictions from duals, and for nothing else.

Paper: Assumption 1.1, part 1 (ass:smooth-1), Section 1
Claim: strict convexity "is only needed to guarantee that the conjugate is differentiable".
Hypotheses: (A); (U); (3.1)
Verdict: HOLDS
Correction: it is Algorithm 2 that needs it; Algorithm 1, whose state is s, runs and obeys
    Theorem 3.1 without it, with $D_h(w, w^i)$ read as a Fenchel-Young gap.
Proof: by hand; thm:A, whose state is s
Check: Huber's loss without curvature: s = 2 and s = 3 have the same w, so that w does
    not determine s; Algorithm 1's runs with n = 2 obey the bound up to k = 5.
Tested: n = 2, p = 1, b = 1, k ≤ 5; Huber's loss without curvature
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.losses import Squared, TiltedHuber
from proofs_check.exact.paths import expectation, levels
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check

HUBER = TiltedHuber(Fraction(1), Fraction(0), Fraction(0))


@check(
    Kind.EXACT,
    HUBER,
    {
        "a little curvature": TiltedHuber(Fraction(1), Fraction(1, 100), Fraction(0)),
        "the squared loss": Squared(Fraction(0)),
    },
)
def two_predictions_share_one_dual(loss: Any) -> Finding:
    """l'(2) = l'(3), while Fenchel's equality holds at both."""
    w = loss.derivative(Fraction(2))
    gaps = [loss.value(s) + loss.conjugate(w) - w * s for s in (Fraction(2), Fraction(3))]
    same = w == loss.derivative(Fraction(3))
    return Finding(same and gaps == [0, 0], f"w = {w}, Fenchel-Young gaps {gaps[0]} and {gaps[1]}")


def bound(k: int) -> Fraction:
    """Theorem 3.1 with n = 2, γ = 1, M = 3."""
    return 9 * (Fraction(16, 8 + k) + Fraction(12, (8 + k) * (k + 1)))


@check(
    Kind.EXACT,
    bound,
    {"a hundredth of the bound": lambda k: bound(k) / 100},
)
def algorithm_1_needs_no_strict_convexity(limit: Any) -> Finding:
    """Rows 3 and 1 on |β| ≤ 1, Huber's loss with two tilts."""
    losses = [TiltedHuber(Fraction(1), Fraction(0), Fraction(tilt, 4)) for tilt in (-2, 1)]
    rows = ((Fraction(3),), (Fraction(1),))
    small = Small(rows, losses, cross_polytope(1, Fraction(1)))
    worst = max(
        expectation(paths, lambda p: p.gap()) / limit(k)
        for k, paths in enumerate(levels(small, sublinear(Fraction(2)), 1, 6))
    )
    return Finding(0 < worst <= 1, f"largest ratio to the bound {float(worst):.4f}", worst)

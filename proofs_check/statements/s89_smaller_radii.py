r"""Averages of the row bounds in place of their maximum.

Paper: none; sharpens Proposition 3.1 (rem:radii)
Claim: with $M_j = \max|x_j^T\beta|$, $\bar M^2 = \tfrac1n\sum_j M_j^2$ and $M_2^2 =
    \max\|X\beta\|^2/n$ over dom R: $D_h(\hat w, w^0) \le \tfrac\gamma2M_2^2 \le
    \tfrac\gamma2\bar M^2 \le \tfrac\gamma2M^2$.
Hypotheses: (A); (U)
Verdict: TIGHT
Correction: $\|s^i\|^2/n \le M_2^2$ holds in expectation but not on every run: updating
    coordinates at different times leaves the set $X\,\mathrm{dom}\,R$.
Proof: by hand
Check: in fractions on the cross-polytope; squared losses attain the first inequality; $X = I$
    with labels (1, 9/10) has runs with $\|s^i\|^2/n > 0.8$ where $M_2^2 = 0.5$; the
    mean stays below.
Tested: n ≤ 3, p = 2, b = 1, k ≤ 5; squared losses on an ℓ₁ ball
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import problem
from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import expectation, levels
from proofs_check.exact.problem import Small, Vector
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check

BALL = cross_polytope(2, Fraction(1))


def _predictions(small: Small) -> list[Vector]:
    return [small.predictions(vertex) for vertex in BALL.vertices]


def joint(small: Small) -> Any:
    """M₂² = max ‖Xβ‖²/n, at a vertex as the norm is convex."""
    return max(sum(s * s for s in row) for row in _predictions(small)) / small.n


def averaged(small: Small) -> Any:
    """M̄² = (1/n) Σ_j max (x_jᵀβ)²."""
    columns = zip(*_predictions(small), strict=True)
    return sum(max(s * s for s in column) for column in columns) / small.n


def largest(small: Small) -> Any:
    """M²."""
    return max(s * s for row in _predictions(small) for s in row)


@check(
    Kind.EXACT,
    joint,
    {
        "M̄² for M₂², which is not attained": averaged,
        "1/n² for 1/n": lambda small: joint(small) / small.n,
        "the first vertex alone": lambda small: (
            sum(s * s for s in _predictions(small)[0]) / small.n
        ),
    },
)
def squared_losses_attain_the_joint_radius(radius: Any) -> Finding:
    """50 problems with n = 3: sup D_h(ŵ, w⁰) = γM₂²/2 ≤ γM̄²/2 ≤ γM²/2."""
    generator = default_rng(89)
    right = 0
    shares = []
    for _ in range(50):
        small = problem(generator, 3, 2, BALL, Squared)
        zero = (Fraction(0),) * 3
        distance = max(small.bregman(s, zero) for s in _predictions(small))
        right += distance == radius(small) / 2 <= averaged(small) / 2 <= largest(small) / 2
        shares.append(radius(small) / max(largest(small), Fraction(1, 64)))
    mean = float(sum(shares) / 50)
    return Finding(right == 50, f"{right} of 50 attained; M₂²/M² is {mean:.3f} on average", 1)


@check(
    Kind.EXACT,
    (Fraction(1), Fraction(9, 10)),
    {"labels that keep the oracle at one vertex": (Fraction(1), Fraction(0))},
)
def a_run_may_leave_the_joint_radius(labels: tuple[Fraction, Fraction]) -> Finding:
    """X = I, n = 2: the largest ‖s^i‖²/n over all runs of 5 steps, and its mean."""
    one, zero = Fraction(1), Fraction(0)
    small = Small(((one, zero), (zero, one)), [Squared(y) for y in labels], BALL)
    sizes, means = [], []
    for paths in levels(small, sublinear(Fraction(2)), 1, 5):
        sizes.append(max(sum(s * s for s in p.s[-1]) / 2 for p in paths))
        means.append(expectation(paths, lambda p: sum(s * s for s in p.s[-1]) / 2))
    limit = joint(small)
    return Finding(
        max(sizes) > limit >= max(means),
        f"largest {float(max(sizes)):.4f}, largest mean {float(max(means)):.4f}, M₂² = {limit}",
        max(sizes) / limit,
    )

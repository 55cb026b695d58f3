r"""That 0 lies in the domain of R is never used.

Paper: Assumption 1.1, part 3 (ass:smooth-3), Section 1
Claim: $0 \in \mathrm{dom}\,R$ is assumed, "for notational convenience, as we can always translate".
Hypotheses: (A); (U); (3.1)
Verdict: LOOSE
Correction: the assumption can be dropped: $\alpha_0 = 1$ removes $\bar\beta^{-1} = 0$ from every
    average. And translating is not neutral: it changes $s^0 = 0$, hence M and $D_{\max}$.
Proof: by hand, exact; that 0 leaves the average
Check: on $\mathrm{dom}\,R = [1, 2]$ all runs with n = 2 obey Theorem 3.1's bound up to k = 5; no
    $\bar\beta^k$ depends on $\bar\beta^{-1}$. Translating to $[0, 1]$ halves M.
Tested: n = 2, p = 1, b = 1, k ≤ 5; squared losses on [1, 2]
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import expectation, levels
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Hull
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check

N = Fraction(2)


def segment(low: int, high: int) -> Hull:
    """The indicator of low ≤ β ≤ high."""
    return Hull(((Fraction(low),), (Fraction(high),)))


def largest_prediction(hull: Hull) -> Fraction:
    """M for rows x_j = 1."""
    return max(abs(vertex[0]) for vertex in hull.vertices)


@check(
    Kind.EXACT,
    largest_prediction,
    {"half the width instead of M": lambda hull: (hull.vertices[1][0] - hull.vertices[0][0]) / 2},
)
def the_bound_holds_without_zero(bound_of: Any) -> Finding:
    """dom R = [1, 2], labels 5/4 and 7/4: E gap/bound for k ≤ 5."""
    hull = segment(1, 2)
    losses = [Squared(Fraction(5, 4)), Squared(Fraction(7, 4))]
    small = Small(((Fraction(1),), (Fraction(1),)), losses, hull)
    worst = Fraction(0)
    for k, paths in enumerate(levels(small, sublinear(N), 1, 6)):
        energy = bound_of(hull) ** 2
        bound = (8 * N + N * (2 * N - 1) / (k + 1)) * energy / (4 * N + k)
        worst = max(worst, expectation(paths, lambda p: p.gap()) / bound)
    halved = bound_of(segment(1, 2)) / bound_of(segment(0, 1))
    return Finding(
        worst <= 1 and halved == 2,
        f"largest ratio to the bound {float(worst):.4f}; M is {halved} times that of [0, 1]",
        worst,
    )


def mixing(i: int) -> Fraction:
    """α_i = 2(2n+i)/((i+1)(4n+i))."""
    return 2 * (2 * N + i) / ((i + 1) * (4 * N + i))


@check(
    Kind.EXACT,
    mixing,
    {
        "α_{i+1} at i": lambda i: mixing(i + 1),
        "2(2n+i)/((i+2)(4n+i))": lambda i: mixing(i) * (i + 1) / (i + 2),
    },
)
def the_starting_point_leaves_the_average(alpha: Any) -> Finding:
    """The share of β̄^{−1} in β̄^k is Π(1 − α_i) = 0."""
    share = Fraction(1)
    for i in range(6):
        share *= 1 - alpha(i)
    return Finding(share == 0, f"share of the start after 6 steps: {share}")

r"""The substitute gradient is updated by a multiple of one row.

Paper: Algorithm 1 (al:SFW), Section 1.2
Claim: $d^{i+1} = \tfrac1n X^T\nabla L(s^{i+1}) = d^i + \tfrac1n(\dot l_{j_i}(s^{i+1}_{j_i}) -
    \dot l_{j_i}(s^i_{j_i}))x_{j_i}$; in batches the sum over $B_i$ (Remark 3.4).
Hypotheses: (A)
Verdict: HOLDS
Correction: the start must be $d^0 = \tfrac1n X^T\nabla L(0)$; with $d^0 = 0$ every later $d^i$ is
    off by that vector.
Proof: by hand; by linearity of $X^T$
Check: n = 4, 200 steps in fractions, b = 1 and b = 2: the incremental d against the sum over
    all rows at every step.
Tested: n = 4, p = 3, b ≤ 2, k ≤ 200; Huber-like losses on an ℓ₁ ball
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.paths import start
from proofs_check.exact.problem import Small, Vector
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check


class Substitute:
    """d^0 and its update over the rows of a batch."""

    def first(self, small: Small) -> Vector:
        """XᵀL'(0)/n."""
        return small.slope(small.response((Fraction(0),) * small.n))

    def row(self, small: Small, j: int) -> Vector:
        """The row added for sample j."""
        return small.rows[j]

    def share(self, small: Small) -> Fraction:
        """1/n."""
        return Fraction(1, small.n)

    def next(self, small: Small, d: Vector, j: int, old: Any, new: Any) -> Vector:
        """d + (l'(new) − l'(old)) x_j/n."""
        loss = small.losses[j]
        change = self.share(small) * (loss.derivative(new) - loss.derivative(old))
        return tuple(x + change * y for x, y in zip(d, self.row(small, j), strict=True))


class ZeroStart(Substitute):
    """d^0 = 0."""

    def first(self, small: Small) -> Vector:
        return (Fraction(0),) * len(small.rows[0])


class NextRow(Substitute):
    """Row j + 1 for sample j."""

    def row(self, small: Small, j: int) -> Vector:
        return small.rows[(j + 1) % small.n]


class Unscaled(Substitute):
    """1 for 1/n."""

    def share(self, small: Small) -> Fraction:
        return Fraction(1)


@check(
    Kind.EXACT,
    Substitute(),
    {"a start at d^0 = 0": ZeroStart(), "the next row": NextRow(), "1/n forgotten": Unscaled()},
)
def the_incremental_gradient_equals_the_sum(substitute: Substitute) -> Finding:
    """All 200 steps, b = 1 and b = 2."""
    generator = default_rng(11)
    equal = 0
    for b in (1, 2):
        small = problem(generator, 4, 3, cross_polytope(3, Fraction(2)), tilted)
        path = start(small, sublinear(Fraction(4, b)))
        d = substitute.first(small)
        for _ in range(200):
            batch = tuple(int(j) for j in generator.choice(4, b, replace=False))
            path = path.extended(batch)
            for j in batch:
                d = substitute.next(small, d, j, path.s[-2][j], path.s[-1][j])
            equal += d == small.slope(path.w[-1])
    return Finding(equal == 400, f"equal after {equal} of 400 steps")

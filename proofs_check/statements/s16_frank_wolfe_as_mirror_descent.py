r"""Generalized Frank-Wolfe on the primal is mirror descent on the dual.

Paper: the deterministic equivalence, quoted from Bach (rem:bach), Section 2
Claim: the generalized Frank-Wolfe method for (P) is equivalent to mirror descent with $h$ for (D).
Hypotheses: (A); (W); $\eta_i = \alpha_i$ and $X\beta^0 = 0$; all rows at every step
Verdict: HOLDS
Correction: with $\eta_i = \alpha_i$, from $\beta^0$ with $X\beta^0 = 0$. Theorem 3.1's
    $\eta_i$ and $\alpha_i$ differ even for n = 1, so that its method is not Frank-Wolfe there.
Proof: by hand
Check: 60 steps in fractions with a loss that is not quadratic: $w^i = \nabla L(X\beta^i)$ along
    Frank-Wolfe equals the mirror descent iterates, every coordinate stepping at once.
Tested: n = 4, p = 3, b = 4, k ≤ 60; Huber-like losses on an ℓ₁ ball
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.mirror import conjugate_slope, solved_step
from proofs_check.exact.problem import Small, Vector, mix
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.statement import Finding, Kind, check


def share(i: int) -> Fraction:
    """2/(i+3), Theorem 3.1's η_i for n = 1."""
    return Fraction(2, i + 3)


def _frank_wolfe(small: Small, count: int) -> list[Vector]:
    """w^i = ∇L(Xβ^i)."""
    beta: Vector = (Fraction(0),) * len(small.rows[0])
    duals = [small.response(small.predictions(beta))]
    for i in range(count):
        beta = mix(beta, small.regularizer.argmin(small.slope(duals[-1])), share(i))
        duals.append(small.response(small.predictions(beta)))
    return duals


@check(
    Kind.EXACT,
    share,
    {
        "η_i = α_{i+1}": lambda i: share(i + 1),
        "Theorem 3.1's α_i for n = 1": lambda i: Fraction(2 * (i + 2), (i + 1) * (i + 4)),
        "η_i = α_i/2": lambda i: share(i) / 2,
    },
)
def both_methods_have_the_same_duals(eta: Any) -> Finding:
    """n = 4, p = 3, the ℓ₁ ball."""
    small = problem(default_rng(16), 4, 3, cross_polytope(3, Fraction(2)), tilted)
    w = small.response((Fraction(0),) * 4)
    duals = _frank_wolfe(small, 60)
    same = 0
    for i in range(60):
        predictions = small.predictions(small.atom(w))
        slopes = [conjugate_slope(loss, v) for loss, v in zip(small.losses, w, strict=True)]
        g = [(a - s) / 4 for a, s in zip(predictions, slopes, strict=True)]
        w = tuple(solved_step(small.losses[j], w[j], g[j], eta(i), 4) for j in range(4))
        same += w == duals[i + 1]
    return Finding(same == 60, f"{same} of 60 duals agree")

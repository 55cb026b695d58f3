r"""The oracle's answer yields a subgradient of the dual objective.

Paper: (rem:subgradient), Section 2
Claim: $\tfrac1n(X\tilde\beta^i - \nabla L^*(w^i))$ is a subgradient of the concave D at $w^i$.
Hypotheses: (A); (W)
Verdict: HOLDS
Proof: by hand
Check: $D(w^i) + \langle g^i, w - w^i\rangle - D(w)$ equals $D_h(w, w^i)$ plus
    $\phi(\tilde\beta^i, w) - D(w)$, both non-negative: in fractions on 200 drawn pairs.
Tested: n = 3, p = 2, no steps; Huber-like losses on an ℓ₁ ball
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import numbers, problem, tilted
from proofs_check.exact.mirror import conjugate_slope
from proofs_check.exact.problem import Vector
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.statement import Finding, Kind, check


def subgradient(predictions: Vector, slopes: Vector, n: int) -> Vector:
    """(Xβ̃ − ∇L*(w))/n."""
    return tuple((a - s) / n for a, s in zip(predictions, slopes, strict=True))


@check(
    Kind.EXACT,
    subgradient,
    {
        "wrong sign": lambda predictions, slopes, n: subgradient(slopes, predictions, n),
        "half of the predictions": lambda predictions, slopes, n: subgradient(
            tuple(a / 2 for a in predictions), slopes, n
        ),
        "predictions shifted by one sample": lambda predictions, slopes, n: subgradient(
            predictions[1:] + predictions[:1], slopes, n
        ),
    },
)
def the_dual_lies_below_its_linearization(formula: Any) -> Finding:
    """n = 3, the ℓ₁ ball."""
    generator = default_rng(17)
    wrong, smallest = 0, Fraction(10**6)
    for _ in range(200):
        small = problem(generator, 3, 2, cross_polytope(2, Fraction(1)), tilted)
        s_old, s_new = numbers(generator, 3), numbers(generator, 3)
        old, w = small.response(s_old), small.response(s_new)
        atom = small.atom(old)
        slopes = tuple(conjugate_slope(loss, v) for loss, v in zip(small.losses, old, strict=True))
        g = formula(small.predictions(atom), slopes, small.n)
        linear = sum(x * (a - b) for x, a, b in zip(g, w, old, strict=True))
        rest = small.dual(old) + linear - small.dual(w)
        parts = small.bregman(s_new, s_old), small.saddle(atom, w) - small.dual(w)
        wrong += rest != sum(parts) or min(parts) < 0
        smallest = min(smallest, rest)
    return Finding(wrong == 0, f"{wrong} of 200 fail; smallest rest {float(smallest):.4f}")

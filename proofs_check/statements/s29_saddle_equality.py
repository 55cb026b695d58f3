r"""The saddle function at an oracle's answer, expanded around the current dual.

Paper: Proposition 3.5 (prop:equality), Section 3
Claim: $\phi(\tilde\beta^i, w) = D(w^i) + \langle\nabla_w\phi(\tilde\beta^i, w^i), w - w^i\rangle
    - D_h(w, w^i)$.
Hypotheses: (A); (W)
Verdict: HOLDS
Proof: symbolic
Check: symbolically for every conjugate, one sample at a time, as both sides are sums over the
    samples; and in fractions on drawn problems with n = 3.
Tested: n = 3, p = 2, no steps; Huber-like losses and clipped ridge
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import numbers, problem, tilted
from proofs_check.exact.mirror import conjugate_slope
from proofs_check.exact.regularizers import Ridge
from proofs_check.statement import Finding, Kind, check


def expanded(dual: Any, linear: Any, bregman: Any) -> Any:
    """D(w^i) + ⟨∇φ, w − w^i⟩ − D_h(w, w^i)."""
    return dual + linear - bregman


PLANTED = {
    "plus the Bregman distance": lambda dual, linear, bregman: dual + linear + bregman,
    "half of the linear term": lambda dual, linear, bregman: dual + linear / 2 - bregman,
}


@check(Kind.SYMBOLIC, expanded, PLANTED)
def the_expansion_is_an_identity_for_every_conjugate(formula: Any) -> Finding:
    """n, xᵀβ̃, R(β̃), w and w^i symbolic; ∇φ_j = (xᵀβ̃ − l*'(w^i))/n."""
    n = sympy.symbols("n", positive=True)
    w, old, prediction, regularizer = sympy.symbols("w v a R", real=True)
    conjugate = sympy.Function("c")
    slope = sympy.Symbol("slope")

    def phi(v: Any) -> Any:
        return (v * prediction - conjugate(v)) / n + regularizer

    linear = (prediction - slope) / n * (w - old)
    bregman = (conjugate(w) - conjugate(old) - slope * (w - old)) / n
    rest = sympy.simplify(phi(w) - formula(phi(old), linear, bregman))
    return Finding(rest == 0, f"difference of the two sides: {rest}")


@check(
    Kind.EXACT,
    lambda j: j,
    {"prediction of the next sample": lambda j: (j + 1) % 3},
)
def the_expansion_holds_on_drawn_problems(sample: Any) -> Finding:
    """100 problems, n = 3."""
    generator = default_rng(29)
    ridge = Ridge(Fraction(1), (Fraction(0), Fraction(1, 2)), Fraction(1))
    equal = 0
    for _ in range(100):
        small = problem(generator, 3, 2, ridge, tilted)
        old, w = numbers(generator, 3), numbers(generator, 3)
        atom = small.atom(old)
        predictions = small.predictions(atom)
        slopes = [conjugate_slope(loss, v) for loss, v in zip(small.losses, old, strict=True)]
        linear = sum((predictions[sample(j)] - slopes[j]) * (w[j] - old[j]) for j in range(3)) / 3
        moved = sum(slopes[j] * (w[j] - old[j]) for j in range(3)) / 3
        bregman = small.conjugate(w) - small.conjugate(old) - moved
        equal += expanded(small.dual(old), linear, bregman) == small.saddle(atom, w)
    return Finding(equal == 100, f"{equal} of 100 equalities")

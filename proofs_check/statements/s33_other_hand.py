r"""The subgradient inequality of the dual, as an equality, and what it makes of one step.

Paper: the second display of the proof of Theorem 3.1 (eq:nonsmooth-theotherhand), Section 3
Claim: $\langle -g^i, w-w^i\rangle = D(w^i) - \phi(\tilde\beta^i,w) - D_h(w,w^i)$; with the first
    display and $\eta_i = \frac{2n}{2n+i+1}$, $(2n+i)(\phi(\tilde\beta^i,w)-D(w^i)) \le 4n\gamma
    M^2\frac{2n+i}{2n+i+1} + \frac12((2n+i)(2n+i-1)D_h(w,w^i) - (2n+i)(2n+i+1) \mathbb E_{j_i}
    D_h(w,w^{i+1}))$.
Hypotheses: (A); (U); b = 1; (3.1); w does not depend on $j_i$
Verdict: HOLDS
Correction: For w fixed before $j_i$ is drawn. The printed proof takes the sum of these at the
    random $\hat w$, which is its gap (chain:random-w).
Proof: by hand, symbolic
Check: The equality row by row and the coefficients of the product symbolically, for real N = n/b;
    the equality with $D_h$ computed from the conjugates, in fractions.
Tested: n ≤ 2, p ≤ 2, b = 1, k ≤ 3; squared and Huber-like losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.exact.energies import step
from proofs_check.exact.fitted import family
from proofs_check.exact.paths import levels
from proofs_check.exact.problem import Small, Vector, dot
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check


def right_side(dual: Any, saddle: Any, distance: Any) -> Any:
    """D(w^i) − φ(β̃^i, w) − D_h(w, w^i)."""
    return dual - saddle - distance


PLANTED_SIDES = {
    "sign of the distance": lambda dual, saddle, distance: dual - saddle + distance,
    "half of the distance": lambda dual, saddle, distance: dual - saddle - distance / 2,
    "values exchanged": lambda dual, saddle, distance: saddle - dual - distance,
}


@check(Kind.SYMBOLIC, right_side, planted=PLANTED_SIDES)
def equality_row_by_row(right: Any) -> Finding:
    """With D and φ of a row, R(β̃) in both."""
    a, s, w, now, h, h_now, R = sp.symbols("a s w w_i h h_i R")
    left = -(a - s) * (w - now)
    distance = h - h_now - s * (w - now)
    wrong = sp.expand(left - right(now * a - h_now + R, w * a - h + R, distance))
    return Finding(wrong == 0, f"left minus right side of a row: {wrong}")


def coefficients(N: Any, i: Any) -> tuple[Any, Any, Any]:
    """What stands before γM², D_h(w, w^i) and E D_h(w, w^{i+1}) in the product."""
    g = 2 * N + i
    return 4 * N * g / (g + 1), g * (g - 1) / 2, g * (g + 1) / 2


@check(
    Kind.SYMBOLIC,
    coefficients,
    planted={
        "coefficient 2N for 4N": lambda N, i: (coefficients(N, i)[0] / 2, *coefficients(N, i)[1:]),
        "index shifted": lambda N, i: (coefficients(N, i)[0], *coefficients(N, i + 1)[1:]),
    },
)
def coefficients_of_the_product(found: Any) -> Finding:
    """2η_i g_i, (N/η_i − 1)g_i and (N/η_i)g_i; the last meets the next step's second."""
    N, i = sp.symbols("N i", positive=True)
    eta, g = 2 * N / (2 * N + i + 1), 2 * N + i
    expected = 2 * eta * g, (N / eta - 1) * g, N / eta * g
    differences = [sp.simplify(a - b) for a, b in zip(found(N, i), expected, strict=True)]
    after = sp.simplify(found(N, i)[2] - found(N, i + 1)[1])
    agrees = all(difference == 0 for difference in [*differences, after])
    return Finding(agrees, f"differences {differences}; the sum telescopes up to {after}")


@check(Kind.EXACT, right_side, planted=PLANTED_SIDES)
def equality_in_fractions(right: Any) -> Finding:
    """All histories, w the responses to the extreme points."""
    count = 0
    for fitted in family(33, 6, (1, 2)):
        problem = fitted.problem
        for paths in levels(problem, sublinear(Fraction(problem.n)), 1, 4):
            for path in paths:
                i = len(path.batches) - 1
                for corner in fitted.corners:
                    w = problem.response(problem.predictions(corner))
                    far = tuple(a - b for a, b in zip(w, path.w[i], strict=True))
                    distance = _distance(problem, w, path.w[i], path.s[i])
                    saddle = problem.saddle(path.atoms[i], w)
                    left = -dot(step(path, i), far) / problem.n
                    if left != right(problem.dual(path.w[i]), saddle, distance):
                        return Finding(False, f"after {i} steps the sides differ at w = {w}")
                    count += 1
    return Finding(True, f"equal at {count} pairs of a step and a w")


def _distance(problem: Small, w: Vector, now: Vector, s: Vector) -> Any:
    """D_h(w, w^i) from its definition, h = L*/n and ∇h(w^i) = s^i/n."""
    inner = sum(x * (a - b) for x, a, b in zip(s, w, now, strict=True)) / problem.n
    return problem.conjugate(w) - problem.conjugate(now) - inner

r"""All responses and all dual iterates lie in a box around the start.

Paper: Proposition 3.2 (prop:well-behavior-of-w), Section 3
Claim: the maximizer of $\phi(\hat\beta, w)$ over w and every $w^i$ lie in
    $T = \{w : \|w - w^0\|_\infty \le \gamma M\}$.
Hypotheses: (A); (U)
Verdict: TIGHT
Correction: the proof cites Corollary 3.1 where it needs Proposition 3.3, and $T$ has a stray bar.
Proof: by hand
Check: $\nabla L(X\hat\beta)$ at all corners and every $w^i$ of all $4^3$ runs of three steps,
    in fractions; the squared loss attains $\gamma M$ at a corner.
Tested: n = 4, p = 2, b = 1, k ≤ 3; squared and Huber-like losses on a cube
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import levels
from proofs_check.exact.problem import Small, Vector
from proofs_check.exact.regularizers import Cube
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check

CORNERS = tuple(product((Fraction(1), Fraction(-1)), repeat=2))


def box(gamma: Any, bound: Any) -> Any:
    """γM."""
    return gamma * bound


PLANTED = {
    "γM/2": lambda gamma, bound: gamma * bound / 2,
    "M without γ": lambda gamma, bound: bound,
}


def _distances(small: Small, points: list[Vector]) -> Any:
    """Largest |w_j − w^0_j|, and M."""
    w0 = small.response((Fraction(0),) * small.n)
    bound = max(abs(s) for corner in CORNERS for s in small.predictions(corner))
    return max(abs(v - v0) for w in points for v, v0 in zip(w, w0, strict=True)), bound


@check(Kind.EXACT, box, PLANTED)
def the_responses_lie_in_the_box_and_one_on_its_boundary(side: Any) -> Finding:
    """Responses to the corners of a cube, for a drawn problem and for squared losses."""
    generator = default_rng(22)
    cube = Cube(Fraction(1))
    small = problem(generator, 4, 2, cube, tilted)
    squared = problem(generator, 4, 2, cube, lambda y: Squared(y, Fraction(3, 2)))
    ratios = []
    for each in (small, squared):
        responses = [each.response(each.predictions(corner)) for corner in CORNERS]
        far, bound = _distances(each, responses)
        ratios.append(far / side(each.losses[0].gamma, bound))
    return Finding(
        max(ratios) == 1, f"largest distances over γM: {', '.join(map(str, ratios))}", max(ratios)
    )


@check(Kind.EXACT, box, {"γM/4": lambda gamma, bound: gamma * bound / 4})
def the_iterates_lie_in_the_box(side: Any) -> Finding:
    """All 64 sequences of three steps."""
    small = problem(default_rng(122), 4, 2, Cube(Fraction(1)), tilted)
    paths = list(levels(small, sublinear(Fraction(4)), 1, 3))[-1]
    far, bound = _distances(small, [w for path in paths for w in path.w])
    ratio = far / side(small.losses[0].gamma, bound)
    return Finding(ratio <= 1, f"largest distance is {float(ratio):.4f} γM", ratio)

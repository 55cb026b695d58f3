r"""The dual is strongly concave relative to h.

Paper: Proposition 3.7, part 2 (prop:coordinate smoothness 2), Section 3.1
Claim: $-D(\cdot)$ is 1-strongly convex relative to $h$.
Hypotheses: (A); (W)
Verdict: TIGHT
Correction: no strong convexity of R is needed: $-D = R^{*}(-X^Tw/n) + h$ and the first part is
    convex. The constant 1 cannot grow, since that part may be linear.
Proof: by hand
Check: exactly, over drawn problems and pairs of dual points; with equality where dom R has one
    answer to both.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), no steps; squared, Huber-like and shifted
    losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.losses import Squared
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Parabola
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check

F = Fraction


def slacks(one: Strong, modulus: Any) -> list[Any]:
    """−D(w') + D(w) + ⟨∇D(w), w'−w⟩ − modulus·D_h(w', w)."""
    problem, found = one.problem, []
    points = [tuple(F(a * (i + 1) - i, 4) for i in range(one.n)) for a in (-5, -2, 0, 3, 7)]
    for s in points:
        w = problem.response(s)
        a = problem.predictions(problem.atom(w))
        for new in points:
            w_new = problem.response(new)
            linear = sum((v - u) * (c - x) for v, u, c, x in zip(w_new, w, a, s, strict=True))
            rise = problem.dual(w) - problem.dual(w_new) + linear / one.n
            found.append(rise - modulus * problem.bregman(new, s))
    return found


@check(Kind.EXACT, F(1), {"2": F(2), "101/100": F(101, 100), "1/2, attained by nothing": F(1, 2)})
def one_is_enough_and_attained(modulus: Fraction) -> Finding:
    """No pair violates it; a centre far outside a short interval pins the answer to its end."""
    smallest = min(min(slacks(one, modulus)) for one in zoo())
    pinned = Parabola(F(1), F(100), F(0), F(1))
    one = Strong(Small(((F(1),), (F(1, 2),)), [Squared(F(1)), Squared(F(-1))], pinned))
    largest = max(abs(x) for x in slacks(one, modulus))
    return Finding(
        smallest >= 0 and largest == 0,
        f"smallest slack {float(smallest):.3g}; 0 everywhere when R* is linear",
        1,
    )

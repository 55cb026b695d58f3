r"""The running predictions never leave [-M, M].

Paper: Proposition 3.3 (prop:s-bound), Section 3
Claim: $|\dot l_j^*(w_j^i)| \le M$ for all i and j.
Hypotheses: (A); steps $\eta_i \in (0, 1]$
Verdict: HOLDS
Correction: sharper, $|s_j^i| \le (1 - \prod_{t<i}(1-\eta_t))\,M_j < M_j$: the start at 0 keeps a
    share, so M itself is not reached while $\eta < 1$.
Proof: by hand, symbolic
Check: the induction step as an identity; and all $3^4$ runs of four steps in fractions with
    the sharper bound, which the rows that are drawn every time attain.
Tested: n = 3, p = 3, b = 1, k ≤ 4; squared losses on a cube
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import levels
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Cube
from proofs_check.exact.schedules import Steps, sublinear
from proofs_check.statement import Finding, Kind, check


def reached(steps: Steps, i: int, bound: Any) -> Any:
    """(1 − Π_{t<i}(1 − η_t)) M."""
    rest = Fraction(1)
    for t in range(i):
        rest *= 1 - steps.eta(t)
    return (1 - rest) * bound


@check(
    Kind.EXACT,
    reached,
    {
        "one factor too few": lambda steps, i, bound: reached(steps, max(i - 1, 0), bound),
        "M, which nothing attains": lambda steps, i, bound: bound,
    },
)
def every_run_stays_within_the_sharper_bound(limit: Callable[[Steps, int, Any], Any]) -> Finding:
    """X = I scaled, labels far out so that the oracle keeps its answer: attained."""
    rows = tuple(
        tuple(Fraction(j + 1) if j == k else Fraction(0) for k in range(3)) for j in range(3)
    )
    small = Small(rows, [Squared(Fraction(9))] * 3, Cube(Fraction(1)))
    steps = sublinear(Fraction(3))
    within, attained = True, False
    for paths in levels(small, steps, 1, 4):
        for path in paths:
            i = len(path.batches)
            for j, s in enumerate(path.s[-1]):
                within &= abs(s) <= limit(steps, i, Fraction(j + 1))
                attained |= abs(s) == limit(steps, i, Fraction(j + 1))
    largest = float(reached(steps, 4, Fraction(1)))
    return Finding(within and attained, f"after 4 draws of a row |s_j| = {largest:.4f} M_j")


@check(
    Kind.SYMBOLIC,
    lambda s, a, eta: (1 - eta) * s + eta * a,
    {
        "weights that add up to more than one": lambda s, a, eta: s + eta * a,
        "step size of the next iteration for the old part": lambda s, a, eta: (
            (1 - eta / (1 + eta)) * s + eta * a
        ),
    },
)
def the_step_keeps_an_interval(step: Any) -> Finding:
    """M − s⁺ = (1−η)(M − s) + η(M − a), and likewise below: no step leaves [−M, M]."""
    s, a, eta, bound = sympy.symbols("s a eta M", real=True)
    rests = [
        sympy.expand(bound - sign * step(s, a, eta))
        - sympy.expand((1 - eta) * (bound - sign * s) + eta * (bound - sign * a))
        for sign in (1, -1)
    ]
    agrees = all(sympy.simplify(rest) == 0 for rest in rests)
    return Finding(agrees, "both distances are convex combinations of non-negative ones")

r"""The substitute gradient is not an unbiased estimate of the gradient.

Paper: (rem:not-unbiased), Section 1.2
Claim: $s^i$ need not be $X\bar\beta$, and $d^i$ is not necessarily an unbiased estimate of the
    gradient that it stands for, $\nabla f(\bar\beta^{i-1})$.
Hypotheses: (A); (U); (3.1)
Verdict: HOLDS
Proof: exact; by an instance
Check: n = 2 and squared losses, so that expectations pass through the derivative: all runs of
    two and of three steps in fractions give $\mathbb{E}\,d^i \ne \mathbb{E}\,\nabla
    f(\bar\beta^{i-1})$. For n = 1 and $\eta_i = \alpha_i$, which is Frank-Wolfe, they agree.
Tested: n = 2, p = 1, b = 1, k ≤ 3; squared losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import Path, expectation, levels
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.exact.schedules import Steps, sublinear
from proofs_check.statement import Finding, Kind, check


def _slope_at_average(path: Path) -> Any:
    small = path.problem
    return small.slope(small.response(small.predictions(path.beta)))[0]


CASES = {"n": 2, "steps": sublinear(Fraction(2))}


@check(
    Kind.EXACT,
    CASES,
    {
        "Frank-Wolfe: n = 1 and η_i = α_i": {
            "n": 1,
            "steps": Steps(lambda i: Fraction(2, i + 2), lambda i: Fraction(i + 1)),
        }
    },
)
def the_mean_substitute_gradient_is_another(case: Any) -> Finding:
    """E d^k against E ∇f(β̄^{k−1}) after k = 2 and k = 3 steps."""
    losses = [Squared(Fraction(1, 3)) for _ in range(case["n"])]
    rows = ((Fraction(1),),) * case["n"]
    small = Small(rows, losses, cross_polytope(1, Fraction(1)))
    differences = []
    for paths in list(levels(small, case["steps"], 1, 3))[1:]:
        mean = expectation(paths, lambda p: p.problem.slope(p.w[-1])[0])
        differences.append(mean - expectation(paths, _slope_at_average))
    same = any(path.s[-1] == small.predictions(path.beta) for path in paths)
    return Finding(
        0 not in differences and not same,
        "differences of the means " + ", ".join(map(str, differences)),
    )

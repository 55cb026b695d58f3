r"""The gradient of the loss term as a weighted sum of the data rows.

Paper: (rob1), with rob2 and rob3, Section 1.2
Claim: $\nabla f(\beta) = \tfrac1n X^T\nabla L(X\beta) = \tfrac1n\sum_j w_jx_j$ with
    $w_j = \dot l_j(x_j^T\beta)$.
Hypotheses: every $l_j$ is differentiable
Verdict: HOLDS
Proof: symbolic
Check: symbolically for every n and every loss, in two variables.
Tested: no instance: all n, p = 2, undetermined losses
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check

N, J = sympy.symbols("n j", integer=True, positive=True)
BETA = sympy.symbols("b0:2", real=True)
X = sympy.IndexedBase("x")
LOSS = sympy.Function("l")


def _prediction(j: Any) -> Any:
    return sum(X[j, k] * b for k, b in enumerate(BETA))


def _weight(j: Any) -> Any:
    s = sympy.Symbol("s")
    return sympy.Subs(sympy.diff(LOSS(j, s), s), s, _prediction(j))


def weighted_row(j: Any, k: int) -> Any:
    """Coordinate k of w_jx_j/n."""
    return _weight(j) * X[j, k] / N


@check(
    Kind.SYMBOLIC,
    weighted_row,
    {
        "without 1/n": lambda j, k: N * weighted_row(j, k),
        "weights shifted by one sample": lambda j, k: _weight(j + 1) * X[j, k] / N,
        "the other coordinate": lambda j, k: weighted_row(j, 1 - k),
    },
)
def the_gradient_is_the_weighted_sum(formula: Any) -> Finding:
    """∂f/∂β_k of f = (1/n) Σ_{j≤n} l_j(x_jᵀβ) is the sum of the formula, term by term."""
    rests = []
    for k, b in enumerate(BETA):
        slope = sympy.diff(sympy.Sum(LOSS(J, _prediction(J)) / N, (J, 1, N)), b)
        assert slope.args[1] == (J, 1, N)
        rests.append(sympy.simplify((slope.function - formula(J, k)).doit()))
    return Finding(rests == [0, 0], f"differences of the terms {rests}")

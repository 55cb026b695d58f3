r"""The gradient of the loss term as a weighted sum of the data rows.

Paper: (rob1), with rob2 and rob3, Section 1.2
Claim: $\nabla f(\beta) = \tfrac1n X^T\nabla L(X\beta) = \tfrac1n\sum_j w_jx_j$ with
    $w_j = \dot l_j(x_j^T\beta)$.
Verdict: HOLDS
Check: symbolically, three samples in two variables with undetermined entries and losses; more
    samples only add like terms.
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check

SAMPLES = 3
BETA = sympy.symbols("b0:2", real=True)
ROWS = [sympy.symbols(f"x{j}_0:2", real=True) for j in range(SAMPLES)]
LOSSES = [sympy.Function(f"l{j}") for j in range(SAMPLES)]


def _prediction(j: int) -> Any:
    return sum(x * b for x, b in zip(ROWS[j], BETA, strict=True))


def _weight(j: int) -> Any:
    t = sympy.Symbol("t")
    return sympy.diff(LOSSES[j](t), t).subs(t, _prediction(j)).doit()


def weighted_rows(k: int) -> Any:
    """Coordinate k of (1/n) Σ_j w_j x_j."""
    return sum(_weight(j) * ROWS[j][k] for j in range(SAMPLES)) / SAMPLES


@check(
    Kind.SYMBOLIC,
    weighted_rows,
    {
        "without 1/n": lambda k: SAMPLES * weighted_rows(k),
        "weights shifted by one sample": lambda k: (
            sum(_weight((j + 1) % SAMPLES) * ROWS[j][k] for j in range(SAMPLES)) / SAMPLES
        ),
    },
)
def the_gradient_is_the_weighted_sum(formula: Any) -> Finding:
    """∂f/∂β_k of f = (1/n) Σ l_j(x_jᵀβ) minus the formula, for both k."""
    total = sum(LOSSES[j](_prediction(j)) for j in range(SAMPLES)) / SAMPLES
    rests = [sympy.simplify((sympy.diff(total, BETA[k]) - formula(k)).doit()) for k in range(2)]
    return Finding(rests == [0, 0], f"differences {rests}")

r"""The sum of the linear theorem's weights.

Paper: last display of the proof of Theorem 3.2 (eq:weight-sum), Section 3.1
Claim: $\frac{n\sigma}{\sum_{i=1}^kq^i} = \frac{1}{(1+\frac{1}{n\sigma-1})^k-1}$, that is
    $\sum_{i=1}^kq^i = n\sigma(q^k-1)$.
Hypotheses: $n\sigma > 1$
Verdict: HOLDS
Correction: the proof's weights $q^{i+1}$ and the weights $q^i$ of $\bar\beta$ are proportional.
Proof: symbolic; induction
Check: symbolically for all $n\sigma$ and k, by induction on k.
Tested: no instance: a formula for all numbers in it
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check


def weight_sum(T: Any, q: Any, k: Any) -> Any:
    """nσ(q^k − 1)."""
    return T * (q**k - 1)


@check(
    Kind.SYMBOLIC,
    weight_sum,
    {
        "nσ − 1, as for the sum from 0": lambda T, q, k: (T - 1) * (q**k - 1),
        "q^{k+1}": lambda T, q, k: weight_sum(T, q, k + 1),
    },
)
def the_sum_by_induction(formula: Any) -> Finding:
    """0 at k = 0, q^{k+1} more at k + 1; the quotient of the display."""
    T, k = sympy.symbols("T k", positive=True)
    q = sympy.Symbol("q", positive=True)
    number = q / (q - 1)
    rests = [
        formula(number, q, 0),
        formula(number, q, k + 1) - formula(number, q, k) - q ** (k + 1),
        number / formula(number, q, k) - 1 / (q**k - 1),
        (1 + 1 / (T - 1)) - T / (T - 1),
    ]
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(all(rest == 0 for rest in found), f"rests {found}")

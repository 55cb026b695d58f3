r"""Iterations for a gap of ε: of order n/ε, as many sample gradients as Frank-Wolfe takes.

Paper: Remark 3.2 (rem:factor_n), Section 3
Claim: Theorem 3.1 shows that $O(n/\varepsilon)$ iterations reach an expected gap of $\varepsilon$,
    the order of the deterministic method's sample gradients.
Hypotheses: (A); (U); (3.1)
Verdict: HOLDS
Correction: explicitly, $k \ge 12n\gamma M^2/\varepsilon$ with $\varepsilon \le 12\gamma M^2$.
Proof: by hand, symbolic; from thm:A
Check: for $k + 1 \ge n$ the theorem's bound is at most $12n\gamma M^2/(4n+k)$: the difference is
    $2n(2(k+1) - (2n-1))\gamma M^2/((4n+k)(k+1))$. The deterministic method is the case b = n of
    the mini-batch bound: N = 1, of order $1/\varepsilon$ iterations of n sample gradients.
Tested: no instance: a formula for all numbers in it
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check

N, K = sympy.symbols("N k", positive=True)


def bound(N: Any, k: Any) -> Any:
    """Theorem 3.1's bound for γM² = 1."""
    return 8 * N / (4 * N + k) + 2 * N * (2 * N - 1) / ((4 * N + k) * (k + 1))


@check(
    Kind.SYMBOLIC,
    bound,
    {
        "first coefficient 9": lambda N, k: bound(N, k) + N / (4 * N + k),
        "k for k + 1": lambda N, k: bound(N, k) + 2 * N * (2 * N - 1) / (4 * N + k) / (k * (k + 1)),
        "n² in the first term": lambda N, k: bound(N, k) + 8 * N * (N - 1) / (4 * N + k),
    },
)
def twelve_n_over_four_n_plus_k_is_an_upper_bound(formula: Any) -> Finding:
    """12N/(4N+k) minus the bound is a product of positive factors once k + 1 ≥ N."""
    rest = 12 * N / (4 * N + K) - formula(N, K)
    positive = 2 * N * (2 * (K + 1) - (2 * N - 1)) / ((4 * N + K) * (K + 1))
    difference = sympy.simplify(rest - positive)
    return Finding(difference == 0, f"difference from the factored form: {difference}")


@check(
    Kind.SYMBOLIC,
    bound,
    {
        "a rate of 1/√k": lambda N, k: sympy.sqrt(N / (N + k)),
        "coefficient 7": lambda N, k: bound(N, k) - N / (4 * N + k),
    },
)
def the_order_in_n_and_k_is_n_over_k(formula: Any) -> Finding:
    """k·bound/n → 8 as k → ∞, whatever n is."""
    limits = [sympy.limit(K * formula(sympy.Integer(n), K) / n, K, sympy.oo) for n in (1, 2, 1000)]
    return Finding(limits == [8, 8, 8], f"k·bound/n tends to {limits} for n = 1, 2, 1000")

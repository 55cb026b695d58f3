r"""For large k the bound is (1 − 1/(nσ))^k D_max.

Paper: sentence after Theorem 3.2 (eq:asymptotic-strong), Section 3.1
Claim: when k is large the $-1$ in the denominator can be ignored, "which yields the asymptotic
    bound $\left(1-\tfrac{1}{n\sigma}\right)^kD_{\max}$".
Hypotheses: $n\sigma > 1$
Verdict: HOLDS
Correction: as the asymptotics of the bound's value: the quotient is $\frac{1}{1-q^{-k}} \to 1$.
    It is below the bound for every k, and not itself a bound of the gap, even for n = 1, where
    the theorem holds; by how much is settled once $k \ge n\sigma$ (a factor 1.59), not before.
Proof: symbolic, exact
Check: the limit symbolically; in fractions, n = 1 and Huber's loss, with a gap above
    $q^{-k}D_{\max}$ at k = 1.
Tested: n = 1, p = 1, k ≤ 2; a Huber-like loss
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.exact.strong_instances import huber
from proofs_check.statement import Finding, Kind, check


def asymptote(T: Any, k: Any) -> Any:
    """(1 − 1/T)^k."""
    return (1 - 1 / T) ** k


@check(
    Kind.SYMBOLIC,
    asymptote,
    {
        "exponent k − 1": lambda T, k: asymptote(T, k - 1),
        "factor nσ, which linear_conv has": lambda T, k: T * asymptote(T, k),
    },
)
def the_quotient_tends_to_one(decrease: Any) -> Finding:
    """(1/(q^k−1))/(1−1/T)^k = 1/(1−q^{−k}), whose limit is 1 for q > 1."""
    q, k, extra = sympy.symbols("q k extra", positive=True)
    quotient = sympy.simplify(1 / (q**k - 1) / decrease(q / (q - 1), k))
    rest = sympy.simplify(quotient - 1 / (1 - q**-k))
    limit = sympy.limit((1 / (1 - q**-k)).subs(q, 1 + extra), k, sympy.oo)
    return Finding(rest == 0 and limit == 1, f"rest {rest}, limit {limit}")


@check(
    Kind.EXACT,
    asymptote,
    {"the bound itself": lambda T, k: 1 / ((T / (T - 1)) ** k - 1)},
)
def it_is_not_a_bound_of_the_gap(decrease: Any) -> Finding:
    """n = 1 with Huber's loss, where the bound itself holds."""
    one = huber(1)
    ratios = {k: gap / (decrease(one.T, k) * one.radius) for k, gap in one.gaps(2)}
    shown = ", ".join(f"k={k}: {float(r):.4f}" for k, r in ratios.items())
    return Finding(ratios[1] > 1, f"gap over the asymptotic expression: {shown}")

r"""M is a supremum that need not be attained.

Paper: definition of M (def:M), Section 3
Claim: $M = \max_{\beta\in\mathrm{dom}\,R}\max_j |x_j^T\beta|$, finite as dom R is bounded.
Hypotheses: (A)
Verdict: TYPO
Correction: $M = \sup\ldots$: dom R is bounded but need not be closed, even for closed R.
Proof: by hand, symbolic
Check: $R(\beta) = -\ln(1 - \beta^2)$ is closed and convex, its oracle is attained at
    $\beta = (1 - \sqrt{1+c^2})/c$ inside $(-1, 1)$ for every $c \ne 0$, and M = 1 for x = 1 is a
    limit of predictions but none of them.
Tested: n = 1, p = 1, no steps; $R = -\ln(1-\beta^2)$, any loss
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check

C = sympy.symbols("c", positive=True)


def answer(c: Any) -> Any:
    """The minimizer of cβ − ln(1 − β²)."""
    return (1 - sympy.sqrt(1 + c**2)) / c


@check(
    Kind.SYMBOLIC,
    answer,
    {
        "coefficient 2 before the root": lambda c: (1 - 2 * sympy.sqrt(1 + c**2)) / c,
        "the other root, outside the domain": lambda c: (1 + sympy.sqrt(1 + c**2)) / c,
        "c shifted by one": lambda c: answer(c + 1),
    },
)
def the_oracle_is_attained_inside_an_open_domain(formula: Any) -> Finding:
    """Stationary, 1 − β² > 0 in the form −2β/c, and β → −1 as c → ∞ (c < 0 by symmetry)."""
    beta = sympy.symbols("beta", real=True)
    slope = sympy.diff(C * beta - sympy.log(1 - beta**2), beta)
    stationary = sympy.simplify(slope.subs(beta, formula(C))) == 0
    inside = sympy.simplify(1 - formula(C) ** 2 + 2 * formula(C) / C) == 0
    limit = sympy.limit(formula(C), C, sympy.oo)
    negative = bool(formula(sympy.Integer(1)) < 0)
    return Finding(
        stationary and inside and negative and limit == -1,
        f"stationary {stationary}, 1 − β² = −2β/c {inside}, limit {limit}",
    )

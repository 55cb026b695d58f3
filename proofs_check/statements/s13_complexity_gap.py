r"""Which of the quoted methods match Frank-Wolfe's order in ε.

Paper: (rem:complexity-gap), Section 1.3
Claim: of the quoted stochastic Frank-Wolfe methods only STORC (with an optimum inside Q, or
    strongly convex f) and SCGS (strongly convex f) reach $O(1/\varepsilon)$ gradient and oracle
    calls; quoted are STORC: $\varepsilon^{-1}$ (optimum inside), $\varepsilon^{-3/2}$,
    $\ln\frac1\varepsilon$ (strongly convex f) gradient and $\varepsilon^{-1}$ oracle calls; SCGS,
    strongly convex f: $\varepsilon^{-1}$ of both; online Frank-Wolfe: $\varepsilon^{-4}$ of both.
Hypotheses: the quoted orders
Verdict: HOLDS
Correction: as a conclusion from the quoted orders, which are theorems of other papers.
Proof: none; the orders are theorems of other papers, the conclusion is read off
Check: the list is read off the quoted powers of $1/\varepsilon$, and a method that samples one
    gradient per oracle call at the online rate $K^{-1/4}$ takes $\varepsilon^{-4}$ of both.
Tested: no instance: nine quoted pairs of orders
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.statement import Finding, Kind, check

QUOTED = {
    "SFW": (3, 1),
    "SVRF": (2, 1),
    "STORC, optimum inside": (1, 1),
    "STORC": (Fraction(3, 2), 1),
    "STORC, strongly convex": (0, 1),
    "SCGS": (2, 1),
    "SCGS, strongly convex": (1, 1),
    "SCG": (3, 3),
    "online": (4, 4),
}
"""Powers of 1/ε: gradient calls and oracle calls; a logarithm is of power 0."""

NAMED = {"STORC, optimum inside", "STORC, strongly convex", "SCGS, strongly convex"}


@check(
    Kind.EXACT,
    QUOTED,
    {
        "STORC as good without hypotheses": QUOTED | {"STORC": (1, 1)},
        "the online rate K^{-1/3}": QUOTED | {"online": (3, 3)},
        "SCGS no better for strongly convex f": QUOTED | {"SCGS, strongly convex": (2, 1)},
    },
)
def only_three_cases_match(quoted: Any) -> Finding:
    """Powers of at most 1 for both calls."""
    found = {name for name, powers in quoted.items() if max(powers) <= 1}
    rate = Fraction(1, 4)  # ε = K^{−1/4} is K = ε^{−4}
    online = quoted["online"] == (1 / rate, 1 / rate)
    return Finding(found == NAMED and online, ", ".join(sorted(found)))

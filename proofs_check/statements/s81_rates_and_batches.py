r"""The quoted rates of other methods are consistent with their batch sizes.

Paper: Table 2 (tab:batch_size), with the rates of Section 1.3, Section 4
Claim: batches of $k^2$ (SFW), $k$ (SVRF), $k^3$ (SCGS) and constant size (SCGM), with
    $\varepsilon^{-3}$, $\varepsilon^{-2}$, $\varepsilon^{-2}$, $\varepsilon^{-3}$ sample gradients
    and $\varepsilon^{-1}$, $\varepsilon^{-1}$, $\varepsilon^{-1}$, $\varepsilon^{-3}$ oracle calls.
Hypotheses: the quoted batch sizes and numbers of calls
Verdict: HOLDS
Correction: for SCGS, k must be read as an outer step of order k oracle calls, $\varepsilon^{-1/2}$
    steps in all; read as one call per step, batches of $k^3$ would mean $\varepsilon^{-4}$.
Proof: symbolic; the rates themselves are theorems of other papers
Check: powers of K in the sums of batch and of call counts over $k \le K$, symbolically. Only the
    consistency is checked: the rates are theorems of other papers.
Tested: no instance: four methods
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check

HALF = sympy.Rational(1, 2)

# Steps as a power of 1/ε, oracle calls and batch of step k as powers of k.
METHODS = {
    "SFW": (1, 0, 2),
    "SVRF": (1, 0, 1),
    "SCGS": (HALF, 1, 3),
    "SCGM": (3, 0, 0),
}
QUOTED = {"SFW": (1, 3), "SVRF": (1, 2), "SCGS": (1, 2), "SCGM": (3, 3)}


@check(
    Kind.SYMBOLIC,
    METHODS,
    {
        "SCGS with one call per step": METHODS | {"SCGS": (1, 0, 3)},
        "SFW's batches of k³": METHODS | {"SFW": (1, 0, 3)},
        "SCGM's and SVRF's entries exchanged": METHODS
        | {"SCGM": METHODS["SVRF"], "SVRF": METHODS["SCGM"]},
    },
)
def summed_batches_have_the_quoted_order(methods: Any) -> Finding:
    """Σ_{k≤K} k^a is of degree a + 1 in K = ε^{−steps}."""
    k, total = sympy.symbols("k K", positive=True, integer=True)

    def degree(power: int) -> Any:
        return sympy.degree(sympy.summation(k**power, (k, 1, total)), total)

    found = {
        name: (steps * degree(calls), steps * degree(batch))
        for name, (steps, calls, batch) in methods.items()
    }
    return Finding(found == QUOTED, f"powers of 1/ε, calls and gradients: {found}")

r"""The step sizes α_i of the linear theorem are those of weights q^i.

Paper: Proposition 3.9 (prop:step-series), Section 3.1
Claim: $\alpha_i = \frac{n^{-1}\sigma^i}{\sigma^{i+1}-(\sigma-1/n)^{i+1}}$ makes $\bar\beta^k$ the
    mean of $\tilde\beta^0, \ldots, \tilde\beta^k$ with weights $\gamma_i = \left(\frac{n\sigma}
    {n\sigma-1}\right)^i$.
Hypotheses: (S); $n\sigma > 1$
Verdict: HOLDS
Correction: $\alpha_i = q^i/\sum_{l \le i}q^l = \frac{1/(n\sigma)}{1-(1-1/(n\sigma))^{i+1}}$ lies
    in $(0, 1]$ iff $n\sigma \ge 1$, and $\alpha_0 = 1$, so that $\bar\beta^{-1}$ does not matter.
    For $n\sigma = 1$ every $\alpha_i$ is 1.
Proof: symbolic; induction
Check: symbolically for all n, $\sigma$ and i, by induction on i: the sum of weights, $\alpha_i$
    as a quotient, and the mean after one more step; $n\sigma = \frac{q}{q-1}$ is any number above
    1.
Tested: no instance: a formula for all numbers in it
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check


def alpha(i: Any, n: Any, sigma: Any) -> Any:
    """n^{-1}σ^i/(σ^{i+1} − (σ−1/n)^{i+1})."""
    return sigma**i / n / (sigma ** (i + 1) - (sigma - 1 / n) ** (i + 1))


@check(
    Kind.SYMBOLIC,
    alpha,
    {
        "index i + 1": lambda i, n, sigma: alpha(i + 1, n, sigma),
        "σ^i in the denominator": lambda i, n, sigma: (
            sigma**i / n / (sigma**i - (sigma - 1 / n) ** (i + 1))
        ),
        "σ − 2/n for σ − 1/n": lambda i, n, sigma: (
            sigma**i / n / (sigma ** (i + 1) - (sigma - 2 / n) ** (i + 1))
        ),
    },
)
def the_mean_has_weights_q_to_the_i(step: Any) -> Finding:
    """S_i = (q^{i+1}−1)/(q−1): S_0 = 1, S_{i+1} = S_i + q^{i+1}; α_0 = 1; one step of the mean."""
    q, sigma, i = sympy.symbols("q sigma i", positive=True)
    n = q / ((q - 1) * sigma)

    def total(m: Any) -> Any:
        return (q ** (m + 1) - 1) / (q - 1)

    rests = [
        total(0) - 1,
        total(i + 1) - total(i) - q ** (i + 1),
        step(0, n, sigma) - 1,
        step(i, n, sigma) - q**i / total(i),
        (1 - step(i + 1, n, sigma)) / total(i) - 1 / total(i + 1),
        step(i, n, sigma) - (1 / (n * sigma)) / (1 - (1 - 1 / (n * sigma)) ** (i + 1)),
    ]
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(all(rest == 0 for rest in found), f"rests {found}")

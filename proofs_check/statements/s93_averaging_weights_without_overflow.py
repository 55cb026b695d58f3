r"""The averaging weights of the linear theorem, without overflow.

Paper: none; evaluating the $\alpha_i$ of Theorem 3.2 (num:alpha)
Claim: $\alpha_i = n^{-1}\sigma^i/(\sigma^{i+1} - (\sigma - 1/n)^{i+1}) =
    \frac{1/(n\sigma)}{1 - (1 - 1/(n\sigma))^{i+1}}$, whose powers stay below 1.
Hypotheses: $n\sigma > 1$
Verdict: HOLDS
Correction: printed as it stands, the formula overflows double precision at $\sigma = 2$, i = 1100,
    and cancels for large n; with expm1 and log1p the second form does neither.
Proof: symbolic; the rounding is compared, not bounded
Check: the identity for all n, $\sigma$, i; rcmd's schedule against fractions for i up to 2000 and
    n up to $10^6$; the printed formula's overflow.
Tested: n ≤ 10⁶, p and losses do not enter, i ≤ 2000
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check
from rcmd.model.schedules import LinearSchedule


def shares(n: Any, sigma: Any, i: Any) -> Any:
    """(1/(nσ))/(1 − (1 − 1/(nσ))^{i+1})."""
    return (1 / (n * sigma)) / (1 - (1 - 1 / (n * sigma)) ** (i + 1))


@check(
    Kind.SYMBOLIC,
    shares,
    {
        "i for i + 1": lambda n, sigma, i: shares(n, sigma, i - 1),
        "1/n for 1/(nσ) above": lambda n, sigma, i: sigma * shares(n, sigma, i),
    },
)
def the_two_forms_are_equal(formula: Any) -> Finding:
    """For symbolic n, σ and i; with τ = nσ, (σ − 1/n)^{i+1} = σ^{i+1}(1 − 1/τ)^{i+1}."""
    n, sigma = sympy.symbols("n sigma", positive=True)
    i, decay = sympy.symbols("i decay", positive=True)
    base = 1 - 1 / (n * sigma)
    printed = sigma**i / n / (sigma ** (i + 1) * (1 - decay))
    stated = formula(n, sigma, i).subs(base ** (i + 1), decay)
    rest = sympy.simplify(printed - stated)
    return Finding(rest == 0, f"difference of the two forms: {rest}")


def scheduled(n: int, sigma: Fraction, i: int) -> Any:
    """rcmd's α_i."""
    return LinearSchedule(float(n), float(sigma)).mixing(i)


def printed(n: int, sigma: Fraction, i: int) -> Any:
    """The paper's formula, as it stands; not a number where it overflows."""
    s = float(sigma)
    try:
        return s**i / n / (s ** (i + 1) - (s - 1 / n) ** (i + 1))
    except OverflowError:
        return float("nan")


@check(
    Kind.FLOAT,
    scheduled,
    {
        "off by 1e-12": lambda n, sigma, i: scheduled(n, sigma, i) * (1 + 1e-12),
        "the formula as printed": printed,
        "the next iteration's weight": lambda n, sigma, i: scheduled(n, sigma, i + 1),
    },
)
def the_schedule_agrees_with_fractions(alpha: Any) -> Finding:
    """σ = 2 and 9/8, n = 1, 2, 10^6, i = 0, 1, 10, 2000."""
    worst = 0.0
    for sigma in (Fraction(2), Fraction(9, 8)):
        for n in (1, 2, 10**6):
            for i in (0, 1, 10, 2000):
                true = float(shares(n, sigma, i))
                error = abs(alpha(n, sigma, i) / true - 1)
                worst = max(worst, error if error == error else float("inf"))
    return Finding(worst < 1e-14, f"largest relative error {worst:.1e}")

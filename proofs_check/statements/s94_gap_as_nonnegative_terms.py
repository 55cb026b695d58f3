r"""The duality gap in double precision: a sum of non-negative terms, not a difference.

Paper: none; the optional accounting of Algorithm 1 (num:gap)
Claim: the terms $l_j(a) + l_j^*(w_j) - w_ja = D_{l_j}(a, s_j)$ and $R(\beta) + R^*(-X^Tw/n) +
    w^TX\beta/n$ of $P(\beta) - D(w)$ are non-negative and keep their digits when each is
    computed by itself, for squared losses as $\tfrac\gamma2(a - s)^2$. The difference of two
    values of size 1 has an absolute error of about $10^{-16}$: no digit below that, not even
    a sign.
Hypotheses: squared losses
Verdict: HOLDS
Proof: by hand; the rounding is compared, not bounded
Check: a squared loss with |a - s| from $10^{-4}$ to $10^{-10}$, both ways in double precision
    against fractions.
Tested: n = 1, p = 1, no steps; a squared loss at four distances
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from proofs_check.statement import Finding, Kind, check

LABEL = 0.7


def subtracted(a: float, s: float) -> float:
    """l(a) − [wa − l*(w)] with w = l'(s)."""
    w = s - LABEL
    return (a - LABEL) ** 2 / 2 - (w * a - (w * w / 2 + LABEL * w))


def as_a_square(a: float, s: float) -> float:
    """(a − s)²/2."""
    return (a - s) ** 2 / 2


def _errors(formula: Callable[[float, float], float]) -> list[float]:
    errors = []
    for exponent in (4, 6, 8, 10):
        a = -1.0
        s = a + 10.0**-exponent
        true = (Fraction(a) - Fraction(s)) ** 2 / 2
        errors.append(float(abs(Fraction(formula(a, s)) / true - 1)))
    return errors


@check(
    Kind.FLOAT,
    subtracted,
    {"the non-negative term": as_a_square},
)
def the_difference_loses_its_digits(formula: Callable[[float, float], float]) -> Finding:
    """Relative errors at |a − s| = 10⁻⁴, 10⁻⁶, 10⁻⁸, 10⁻¹⁰."""
    errors = _errors(formula)
    text = ", ".join(f"{error:.1e}" for error in errors)
    return Finding(errors[0] > 1e-10 and errors[3] >= 1, f"relative errors {text}")


@check(
    Kind.FLOAT,
    as_a_square,
    {
        "the difference": subtracted,
        "without the half": lambda a, s: (a - s) ** 2,
        "off by 1e-13": lambda a, s: as_a_square(a, s) * (1 + 1e-13),
    },
)
def the_term_by_itself_keeps_them(formula: Callable[[float, float], float]) -> Finding:
    """Relative errors within a few units of the last place."""
    worst = max(_errors(formula))
    return Finding(worst < 1e-15, f"largest relative error {worst:.1e}")

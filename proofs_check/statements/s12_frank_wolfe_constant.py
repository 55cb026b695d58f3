r"""Frank-Wolfe's rate involves the Lipschitz constant of the gradient.

Paper: recap of the Frank-Wolfe method (rem:fw-recap), Section 1.2
Claim: an $\varepsilon$-optimal solution takes $O(LD^2/\varepsilon)$ iterations, "where L is the
    Lipschitz constant of f on Q" and D the diameter of Q.
Hypotheses: f convex, $\nabla f$ L-Lipschitz on a convex Q of diameter D; steps 2/(i+2)
Verdict: TYPO
Correction: of $\nabla f$. With that of f the claim depends on the unit of length: shrinking $\beta$
    and Q by t leaves every gap as it is, multiplies $LD^2$ by t for f, by 1 for $\nabla f$.
Proof: by hand; a textbook theorem
Check: $f(\beta) = \tfrac12(\beta/t - y)^2$ on $|\beta| \le t$ with steps 2/(i+2), in fractions: the
    gaps of t = 1 and t = 1/1000 are equal; $2LD^2/(k+2)$ holds for $\nabla f$ and fails for f.
Tested: n = 1, p = 1, k ≤ 40; a squared loss on an interval
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from proofs_check.statement import Finding, Kind, check

LABEL = Fraction(1, 3)


def _gaps(unit: Fraction, count: int) -> list[Fraction]:
    """f(β^k) − f* after k = 1 … count steps; f* = 0."""
    beta, gaps = unit, []
    for i in range(count):
        slope = (beta / unit - LABEL) / unit
        atom = -unit if slope > 0 else unit
        share = Fraction(2, i + 2)
        beta = (1 - share) * beta + share * atom
        gaps.append((beta / unit - LABEL) ** 2 / 2)
    return gaps


def of_the_gradient(unit: Fraction) -> Fraction:
    """Lipschitz constant of ∇f: 1/t²."""
    return 1 / unit**2


def of_the_function(unit: Fraction) -> Fraction:
    """Lipschitz constant of f on |β| ≤ t: max |f'| = (1 + y)/t."""
    return (1 + LABEL) / unit


@check(
    Kind.EXACT,
    of_the_gradient,
    {
        "of the function, as printed": of_the_function,
        "1/t for 1/t²": lambda unit: 1 / unit,
    },
)
def the_rate_holds_in_every_unit_of_length(constant: Any) -> Finding:
    """2 L D²/(k+2) with D = 2t for t = 1 and 1/1000, k ≤ 40."""
    units = (Fraction(1), Fraction(1, 1000))
    gaps = [_gaps(unit, 40) for unit in units]
    worst = max(
        gap * (k + 2) / (2 * constant(unit) * (2 * unit) ** 2)
        for unit, values in zip(units, gaps, strict=True)
        for k, gap in enumerate(values, start=1)
    )
    return Finding(
        gaps[0] == gaps[1] and worst <= 1,
        f"gaps equal: {gaps[0] == gaps[1]}; largest gap over the rate {float(worst):.4f}",
        worst,
    )

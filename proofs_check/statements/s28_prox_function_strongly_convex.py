r"""The prox function is strongly convex.

Paper: Proposition 3.4 (prop:strong), Section 3
Claim: $h$ is $\tfrac{1}{n\gamma}$-strongly convex in the Euclidean norm; in the proof "$\dot
    l_j^*$ is $\tfrac1\gamma$-strongly convex".
Hypotheses: (A); (W)
Verdict: TYPO
Correction: the proposition is right; its proof means $l_j^*$, not its derivative. For the
    squared loss it is an equality.
Proof: by hand; the smoothness of $l_j$ and conjugacy
Check: exactly, $D_h(w, w') \ge \|w - w'\|^2/(2n\gamma)$ on drawn pairs, with equality for the
    squared loss; symbolically, the slope $\dot l^*$ of the squared loss is affine, so it is not
    strongly convex, while $l^*$ has second derivative $1/\gamma$.
Tested: n = 3, no steps, all p; squared and Huber-like losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import numbers, tilted
from proofs_check.exact.losses import Squared
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Cube
from proofs_check.statement import Finding, Kind, check


def modulus(n: int, gamma: Any) -> Any:
    """1/(nγ)."""
    return 1 / (n * gamma)


@check(
    Kind.EXACT,
    modulus,
    {
        "2/(nγ)": lambda n, gamma: 2 / (n * gamma),
        "1/γ": lambda n, gamma: 1 / gamma,
        "γ/n": lambda n, gamma: gamma / n,
    },
)
def the_bregman_distance_exceeds_the_squared_norm(formula: Any) -> Finding:
    """150 pairs for a loss that is not quadratic, 150 for one that is (equality)."""
    generator = default_rng(28)
    rows = ((Fraction(1),),) * 3
    holds, equal = True, True
    for _ in range(150):
        labels, s_to, s_from = (numbers(generator, 3) for _ in range(3))
        for quadratic in (False, True):
            losses = [Squared(y, Fraction(5, 4)) if quadratic else tilted(y) for y in labels]
            small = Small(rows, losses, Cube(Fraction(1)))
            to, start = small.response(s_to), small.response(s_from)
            square = sum((a - b) ** 2 for a, b in zip(to, start, strict=True))
            rest = small.bregman(s_to, s_from) - formula(3, Fraction(5, 4)) * square / 2
            holds &= rest >= 0
            equal &= rest == 0 or not quadratic
    return Finding(holds and equal, f"holds {holds}, equality for squared losses {equal}", 1)


@check(
    Kind.SYMBOLIC,
    lambda conjugate, w: conjugate,
    {
        "the derivative, as printed": lambda conjugate, w: sympy.diff(conjugate, w),
        "half of the conjugate": lambda conjugate, w: conjugate / 2,
    },
)
def the_conjugate_is_strongly_convex_and_not_its_slope(meant: Any) -> Finding:
    """Second derivative 1/γ for l*(w) = w²/(2γ) + yw."""
    w, y = sympy.symbols("w y", real=True)
    gamma = sympy.symbols("gamma", positive=True)
    curvature = sympy.diff(meant(w**2 / (2 * gamma) + y * w, w), w, 2)
    return Finding(sympy.simplify(curvature - 1 / gamma) == 0, f"second derivative {curvature}")

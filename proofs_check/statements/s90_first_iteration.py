r"""The sublinear bound after the first oracle call.

Paper: Theorem 3.1 at k = 0 (thm:non-strong-0), Section 3
Claim: $P(\bar\beta^0) - D(\bar w^0) \le 2\gamma M^2 + \tfrac{2n-1}{2}D_{\max}$, with
    $\alpha_0 = 1$ and $\eta_0 = 2n/(2n+1)$.
Verdict: LOOSE
Correction: $P(\bar\beta^0) - D(w^0) = D_h(w^0, \hat w^0) \le \tfrac12\gamma M^2$ for every n, where
    $\hat w^0 = \nabla L(X\tilde\beta^0)$: the printed bound grows with n, the gap does not.
Check: symbolically the bound and the step sizes at k = 0; in fractions the identity
    $P(\tilde\beta^i) - D(w^i) = D_h(w^i, \hat w^i)$ and the half on drawn problems, with equality
    for the squared loss and n = 1.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import start
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Cube
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check


def bound(n: Any, k: Any, radius: Any) -> Any:
    """Theorem 3.1 with γM² = 1."""
    return 8 * n / (4 * n + k) + 2 * n * (2 * n - 1) * radius / ((4 * n + k) * (k + 1))


@check(
    Kind.SYMBOLIC,
    bound,
    {
        "first coefficient 4": lambda n, k, radius: bound(n, k, radius) - 4 * n / (4 * n + k),
        "bound of k = 1": lambda n, k, radius: bound(n, k + 1, radius),
    },
)
def at_zero_the_bound_is_two_plus_half_the_radius(formula: Any) -> Finding:
    """2 + (2n − 1)D/2, α_0 = 1, η_0 = 2n/(2n+1) for all n."""
    n, radius = sympy.symbols("n D", positive=True)
    rest = sympy.simplify(formula(n, sympy.Integer(0), radius) - 2 - (2 * n - 1) * radius / 2)
    steps = sublinear(n)
    eta = sympy.simplify(steps.eta(0) - 2 * n / (2 * n + 1))
    return Finding(rest == 0 and eta == 0, f"differences {rest} and {eta}")


def half(gamma: Any, largest: Any) -> Any:
    """γM²/2."""
    return gamma * largest**2 / 2


@check(
    Kind.EXACT,
    half,
    {
        "γM²/3": lambda gamma, largest: gamma * largest**2 / 3,
        "γM², which nothing attains": lambda gamma, largest: gamma * largest**2,
    },
)
def the_first_gap_is_at_most_half(limit: Any) -> Finding:
    """100 problems with n = 3, and n = 1 with equality."""
    generator = default_rng(90)
    cube = Cube(Fraction(1))
    holds, same = True, True
    printed = []
    for _ in range(100):
        small = problem(generator, 3, 2, cube, tilted)
        largest = max(sum(abs(x) for x in row) for row in small.rows)
        path = start(small, sublinear(Fraction(3))).extended((0,))
        gap = path.gap()
        reached = small.predictions(path.beta)
        same &= gap == small.bregman(path.s[0], reached)
        holds &= gap <= limit(Fraction(5, 4), largest)
        printed.append(bound(Fraction(3), 0, Fraction(1, 2)) * Fraction(5, 4) * largest**2 / gap)
    one = Small(((Fraction(2),),), [Squared(Fraction(9))], cube)
    attained = start(one, sublinear(Fraction(1))).extended((0,)).gap() == limit(1, Fraction(2))
    return Finding(
        holds and same and attained,
        f"holds {holds}, identity {same}, attained {attained}; the printed bound is at least "
        f"{float(min(printed)):.1f} times the gap here",
        float(min(printed) - 1),
    )

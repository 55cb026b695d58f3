r"""The univariate problems of Algorithm 2 and of dual coordinate ascent.

Paper: (eq:our_update), with eq:their_update, Appendix A
Claim: a step of Algorithm 2 solves $\min_w cw + l^*(w)$, a basic step of SDCA
    $\min_w cw + l^*(w) + bw^2$.
Verdict: HOLDS
Correction: explicitly, $c = -((1-\eta)s + \eta x^T\tilde\beta)$ for the former; for the latter,
    with $R = \tfrac\mu2\|\beta\|^2$, $b = \|x_j\|^2/(2n\mu)$, so the two differ wherever
    $x_j \ne 0$.
Check: symbolically, for every conjugate: the mirror objective and n times $-D$ along a coordinate
    differ from the stated forms by constants.
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check

V, W, S, PREDICTION = sympy.symbols("v w s a", real=True)
ETA, MU = sympy.symbols("eta mu", positive=True)
CONJUGATE = sympy.Function("c")


def ours(s: Any, prediction: Any, eta: Any) -> Any:
    """The coefficient c of Algorithm 2's step."""
    return -((1 - eta) * s + eta * prediction)


@check(
    Kind.SYMBOLIC,
    ours,
    {
        "η at both terms": lambda s, prediction, eta: -eta * (s + prediction),
        "wrong sign": lambda s, prediction, eta: -ours(s, prediction, eta),
        "step size of the next iteration": lambda s, prediction, eta: ours(
            s, prediction, eta / (1 + eta)
        ),
    },
)
def the_mirror_step_has_no_quadratic_term(coefficient: Any) -> Finding:
    """−η(a − s)v + D_{l*}(v, w) − [cv + l*(v)] does not depend on v."""
    bregman = CONJUGATE(V) - CONJUGATE(W) - S * (V - W)
    stated = coefficient(S, PREDICTION, ETA) * V + CONJUGATE(V)
    rest = sympy.diff(-ETA * (PREDICTION - S) * V + bregman - stated, V)
    return Finding(
        sympy.simplify(rest) == 0, f"derivative of the difference: {sympy.simplify(rest)}"
    )


def theirs(squared_norm: Any, n: int, mu: Any) -> Any:
    """The coefficient b of SDCA's step."""
    return squared_norm / (2 * n * mu)


@check(
    Kind.SYMBOLIC,
    theirs,
    {
        "without the 2": lambda squared_norm, n, mu: squared_norm / (n * mu),
        "1/n² for 1/n": lambda squared_norm, n, mu: theirs(squared_norm, n, mu) / n,
        "no quadratic term": lambda squared_norm, n, mu: 0,
    },
)
def exact_coordinate_ascent_has_a_quadratic_term(coefficient: Any) -> Finding:
    """n = 2, p = 2: −nD in w_1 minus l*(w_1) is a parabola with coefficient b."""
    rows = [sympy.symbols(f"x{j}_0:2", real=True) for j in range(2)]
    other = sympy.symbols("w2", real=True)
    d = [(V * rows[0][k] + other * rows[1][k]) / 2 for k in range(2)]
    minus_dual = sum(c**2 for c in d) / (2 * MU) + (CONJUGATE(V) + CONJUGATE(other)) / 2
    parabola = sympy.expand(2 * minus_dual - CONJUGATE(V))
    norm = rows[0][0] ** 2 + rows[0][1] ** 2
    rest = sympy.simplify(sympy.diff(parabola, V, 2) / 2 - coefficient(norm, 2, MU))
    return Finding(rest == 0, f"difference of the coefficients: {rest}")

r"""The univariate problems of Algorithm 2 and of dual coordinate ascent.

Paper: (eq:our_update), with eq:their_update, Appendix A
Claim: a step of Algorithm 2 solves $\min_w cw + l^*(w)$, a basic step of SDCA
    $\min_w cw + l^*(w) + bw^2$.
Hypotheses: (A); (W); $R = \frac\mu2\|\beta\|_2^2$ where SDCA comes in
Verdict: HOLDS
Correction: explicitly, $c = -((1-\eta)s + \eta x^T\tilde\beta)$ for the former; for the latter,
    with $R = \tfrac\mu2\|\beta\|^2$, $b = \|x_j\|^2/(2n\mu)$. The objectives differ wherever
    $x_j \ne 0$, their minimizers need not: with squared losses of curvature $\gamma$, that R, rows
    of equal norm and $\eta = 1/\sigma$ the mirror step is SDCA's. Of the rules [III], [IV], [V] of
    Prox-SDCA, which move $w_j$ on the way to $\dot l_j(x_j^T\tilde\beta)$, the last has the
    constant weight $1/\sigma$, too: it mixes duals where Algorithm 2 mixes predictions, which is
    the same where losses are quadratic. (The rules are quoted from memory of that paper.)
Proof: by hand, symbolic, exact
Check: symbolically, for every conjugate: the mirror objective and n times $-D$ along a coordinate
    differ from the stated forms by constants; for squared losses the mirror step, SDCA's and rule
    [V] are the same number; in fractions, for Huber's loss, they are three.
Tested: n = 1 and 2, p ≤ 2, one step; undetermined, squared and Huber-like losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.losses import Squared, TiltedHuber
from proofs_check.exact.shifted import root
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


def constant_step(gamma: Any, squared_norm: Any, n: Any, mu: Any) -> Any:
    """1/σ for a row of this norm."""
    return 1 / (1 + gamma * squared_norm / (n * mu))


@check(
    Kind.SYMBOLIC,
    constant_step,
    {
        "without the 1": lambda gamma, square, n, mu: n * mu / (gamma * square),
        "b of SDCA for 2b": lambda gamma, square, n, mu: constant_step(gamma, square / 2, n, mu),
        "n for σ": lambda gamma, square, n, mu: 1 / n,
    },
)
def squared_losses_make_the_steps_one(step: Any) -> Finding:
    """l(s) = (γ/2)(s − y)² at w = l'(s): stationary for SDCA, and rule [V]'s mean of duals."""
    s, y = sympy.symbols("s y", real=True)
    gamma, square, n = sympy.symbols("gamma square n", positive=True)
    eta = step(gamma, square, n, MU)
    w, there = gamma * (s - y), gamma * (PREDICTION - y)
    mirror = gamma * ((1 - eta) * s + eta * PREDICTION - y)
    # n times −D along w_j: −a(v − w) + ‖x‖²(v − w)²/(2nμ) + l*(v), a the prediction at w.
    slope = -PREDICTION + square * (mirror - w) / (n * MU) + mirror / gamma + y
    mixed = (1 - eta) * w + eta * there
    rests = [sympy.simplify(slope), sympy.simplify(mirror - mixed)]
    return Finding(not any(rests), f"SDCA's slope at the mirror step, rule [V] minus it: {rests}")


@check(
    Kind.EXACT,
    TiltedHuber(Fraction(1), Fraction(1, 4), Fraction(0)),
    {
        "a squared loss": Squared(Fraction(0)),
        "kinks out of reach": TiltedHuber(Fraction(9), Fraction(1, 4), Fraction(0)),
    },
)
def other_losses_tell_the_steps_apart(loss: Any) -> Finding:
    """κ = ‖x‖²/(nμ) = 2, from s = 0 with a = 6: mirror, SDCA, rule [V]."""
    kappa, a = Fraction(2), Fraction(6)
    sigma = 1 + loss.gamma * kappa
    mirror = loss.derivative(a / sigma)
    mixed = loss.derivative(a) / sigma
    # SDCA's w = l'(s⁺) with s⁺ + κ l'(s⁺) = a, s⁺ between 0 and a (thm:exact-step).
    best = loss.derivative(root(loss, kappa, Fraction(0), a))
    return Finding(
        len({mirror, best, mixed}) == 3, f"w: mirror {mirror}, SDCA {best}, rule [V] {mixed}"
    )

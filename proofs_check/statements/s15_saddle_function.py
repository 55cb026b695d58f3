r"""P and D as the two sides of a saddle function, and their gap as Fenchel-Young terms.

Paper: (eq:minmax), with eq:primal-dual, Section 2
Claim: $P(\beta) = \max_{w}\phi(\beta, w)$, attained at $w = \nabla L(X\beta)$, and
    $D(w) = \min_{\beta}\phi(\beta, w)$; hence $P(\beta) \ge D(w)$ for all $\beta$ and $w$.
Hypotheses: R and every $l_j$ are proper, closed and convex, $l_j$ differentiable
Verdict: HOLDS
Proof: by hand, symbolic
Check: $P(\beta) - \phi(\beta, w) = \tfrac{1}{n}\sum_{j}[l_{j}(s_{j}) + l_{j}^{*}(w_{j}) -
    w_{j}s_{j}]$ and $\phi(\beta, w) - D(w) = R(\beta) + R^{*}(-X^{T}w/n) + w^{T}X\beta/n$, each
    term non-negative: in fractions on drawn problems, and symbolically for the squared loss,
    whose term is $(w - \gamma(s - y))^{2}/(2\gamma)$.
Tested: n = 3, p = 2, no steps; Huber-like losses and clipped ridge
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import numbers, problem, tilted
from proofs_check.exact.problem import Small, Vector
from proofs_check.exact.regularizers import Ridge
from proofs_check.statement import Finding, Kind, check


def saddle(small: Small, beta: Vector, w: Vector) -> Any:
    """φ(β, w) = wᵀXβ/n − L*(w)/n + R(β)."""
    coupling = sum(v * s for v, s in zip(w, small.predictions(beta), strict=True))
    conjugates = sum(loss.conjugate(v) for loss, v in zip(small.losses, w, strict=True))
    return (coupling - conjugates) / small.n + small.regularizer.value(beta)


@check(
    Kind.EXACT,
    saddle,
    {
        "no 1/n before the conjugates": lambda small, beta, w: (
            saddle(small, beta, w) - (small.n - 1) * small.conjugate(w)
        ),
        "w shifted by one index": lambda small, beta, w: saddle(small, beta, w[1:] + w[:1]),
        "R left out": lambda small, beta, w: saddle(small, beta, w) - small.regularizer.value(beta),
    },
)
def the_saddle_function_lies_between_dual_and_primal(phi: Any) -> Finding:
    """P = φ at ∇L(Xβ), D = φ at the oracle's point, D ≤ φ ≤ P elsewhere."""
    generator = default_rng(16)
    centre = (Fraction(0), Fraction(1, 4))
    wrong, smallest = 0, Fraction(10**6)
    for _ in range(150):
        small = problem(generator, 3, 2, Ridge(Fraction(1), centre, Fraction(2)), tilted)
        w = numbers(generator, 3)
        beta = tuple(m + x for m, x in zip(centre, numbers(generator, 2), strict=True))
        primal, dual = small.primal(beta), small.dual(w)
        wrong += phi(small, beta, small.response(small.predictions(beta))) != primal
        wrong += phi(small, small.atom(w), w) != dual
        wrong += not dual <= phi(small, beta, w) <= primal
        smallest = min(smallest, primal - dual)
    return Finding(wrong == 0, f"{wrong} of 450 relations fail; smallest gap {float(smallest):.4f}")


def squared_conjugate(w: Any, y: Any, gamma: Any) -> Any:
    """l*(w) of (γ/2)(s − y)²."""
    return w**2 / (2 * gamma) + y * w


@check(
    Kind.SYMBOLIC,
    squared_conjugate,
    {
        "coefficient of w² doubled": lambda w, y, gamma: w**2 / gamma + y * w,
        "label of the wrong sign": lambda w, y, gamma: w**2 / (2 * gamma) - y * w,
    },
)
def the_squared_losses_term_is_a_square(conjugate: Any) -> Finding:
    """l(s) + l*(w) − ws = (w − γ(s − y))²/(2γ) ≥ 0, zero only at w = l'(s)."""
    s, w, y = sympy.symbols("s w y", real=True)
    gamma = sympy.symbols("gamma", positive=True)
    term = gamma * (s - y) ** 2 / 2 + conjugate(w, y, gamma) - w * s
    rest = sympy.simplify(term - (w - gamma * (s - y)) ** 2 / (2 * gamma))
    return Finding(rest == 0, f"difference from the square: {rest}")

r"""A proximal coordinate step is a mirror step with another prox function.

Paper: the unaccelerated composite update (rem:composite-mirror), Appendix A
Claim: minimizing $c\,w + \tfrac{1}{2\eta}(w - w^i)^2 + \tfrac1n l^*(w)$, "c one coordinate of
    the gradient", is a coordinate mirror step with $h = \tfrac{1}{2\eta}\|w\|^2 + \tfrac1n L^*$.
Hypotheses: (W)
Verdict: TYPO
Correction: right with c the coordinate of the gradient of the smooth part alone, and a mirror step
    of size 1 along the gradient of the whole objective, $c + \tfrac1n\dot l^*(w^i)$.
Proof: symbolic
Check: the two objectives differ by a constant, symbolically for every conjugate.
Tested: no instance: a formula for all numbers in it
"""

from __future__ import annotations

from typing import Any

import sympy

from proofs_check.statement import Finding, Kind, check

V, W, C, SLOPE = sympy.symbols("v w c s", real=True)
N, ETA = sympy.symbols("n eta", positive=True)
CONJUGATE = sympy.Function("l")


def whole_gradient(c: Any, slope: Any, n: Any, eta: Any) -> Any:
    """c + l*'(w)/n, with step size 1."""
    return c + slope / n


@check(
    Kind.SYMBOLIC,
    whole_gradient,
    {
        "c the whole gradient already, as it may be read": lambda c, slope, n, eta: c,
        "step size η": lambda c, slope, n, eta: eta * (c + slope / n),
        "slope without 1/n": lambda c, slope, n, eta: c + slope,
    },
)
def the_objectives_differ_by_a_constant(gradient: Any) -> Finding:
    """d/dv of ⟨g, v⟩ + D_h(v, w) − [cv + (v − w)²/(2η) + l*(v)/n] vanishes."""
    proximal = C * V + (V - W) ** 2 / (2 * ETA) + CONJUGATE(V) / N
    bregman = (V - W) ** 2 / (2 * ETA)
    bregman += (CONJUGATE(V) - CONJUGATE(W) - SLOPE * (V - W)) / N
    mirror = gradient(C, SLOPE, N, ETA) * V + bregman
    rest = sympy.simplify(sympy.diff(mirror - proximal, V))
    return Finding(rest == 0, f"derivative of the difference: {rest}")

r"""The mirror step of Algorithm 2 mixes the conjugate's slope with the new prediction.

Paper: Proposition 2.1 (prop:wupdate), with robo3, Section 2
Claim: $\dot l^{*}_{j_i}(w^{i+1}_{j_i}) = (1-\eta_i)\dot l^{*}_{j_i}(w^{i}_{j_i}) +
    \eta_i x_{j_i}^{T}\tilde\beta^{i}$, and $w^{i+1}_{j_i} = \dot l_{j_i}$ of that.
Hypotheses: (A); (W)
Verdict: HOLDS
Proof: symbolic
Check: symbolically, for every conjugate and all $n$: the stated slope makes the derivative of
    the step's objective vanish. In 50 digits, bisection on the derivative of the
    logistic objective, which knows nothing of the formula, returns the same point.
Tested: n = 1, p = 1, one step; logistic losses
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy

from proofs_check.exact.losses import Softplus
from proofs_check.exact.mirror import conjugate_slope
from proofs_check.statement import Finding, Kind, check


def mixed(s: Any, prediction: Any, eta: Any) -> Any:
    """(1 − η) s + η xᵀβ̃."""
    return (1 - eta) * s + eta * prediction


PLANTED = {
    "mixing weights exchanged": lambda s, prediction, eta: eta * s + (1 - eta) * prediction,
    "step without the old slope": lambda s, prediction, eta: eta * prediction,
    "step size of the next iteration": lambda s, prediction, eta: mixed(
        s, prediction, eta / (1 + eta)
    ),
}


@check(Kind.SYMBOLIC, mixed, PLANTED)
def the_mixed_slope_is_stationary(formula: Any) -> Finding:
    """d/dv [−η g̃_j v + D_{l*/n}(v, w)] = 0 where l*'(v) is the formula's value."""
    n, eta = sympy.symbols("n eta", positive=True)
    v, w, prediction, s = sympy.symbols("v w prediction s", real=True)
    conjugate = sympy.Function("c")
    subgradient = (prediction - s) / n
    bregman = (conjugate(v) - conjugate(w) - s * (v - w)) / n
    derivative = sympy.diff(-eta * subgradient * (v - w) + bregman, v)
    value = derivative.subs(sympy.diff(conjugate(v), v), formula(s, prediction, eta))
    rest = sympy.simplify(value)
    return Finding(rest == 0, f"derivative at the stated point: {rest}")


def _stationary(loss: Softplus, w: Any, prediction: Any, eta: Any) -> Any:
    """The minimizer of −η(xᵀβ̃ − l*'(w))v + D_{l*}(v, w), by halving its domain 160 times."""
    old = conjugate_slope(loss, w)
    low, high = sorted((mpmath.mpf(0), -loss.y))
    for _ in range(160):
        middle = (low + high) / 2
        rising = conjugate_slope(loss, middle) - old - eta * (prediction - old) > 0
        low, high = (low, middle) if rising else (middle, high)
    return (low + high) / 2


@check(Kind.DIGITS, mixed, PLANTED)
def bisection_returns_the_same_point(formula: Any) -> Finding:
    """Logistic loss in 50 digits."""
    worst = mpmath.mpf(0)
    with mpmath.workdps(50):
        for label, s, prediction in ((1, "-1.5", "2"), (-1, "0.25", "-3"), (1, "4", "-0.5")):
            loss, eta = Softplus(mpmath.mpf(label)), mpmath.mpf(2) / 5
            old, new = mpmath.mpf(s), mpmath.mpf(prediction)
            found = _stationary(loss, loss.derivative(old), new, eta)
            worst = max(worst, abs(found - loss.derivative(formula(old, new, eta))))
        return Finding(worst < mpmath.mpf(10) ** -38, f"largest difference {float(worst):.1e}")

r"""The logistic conjugate from the prediction, without cancellation.

Paper: none; evaluating $l^*(w^i)$ in floating point (num:conjugate)
Claim: with $z = ys$, $v = 1/(1 + e^{z})$ and $\mathrm{sp}(t) = \ln(1 + e^t)$: $l^*(\dot l(s)) =
    -(v\,\mathrm{sp}(z) + (1 - v)\,\mathrm{sp}(-z))$, a sum of terms of one sign.
Hypotheses: $v = 1/(1+e^z)$
Verdict: HOLDS
Correction: the difference $s\,w - l(s)$ is the same number and loses every digit at z = -50.
Proof: symbolic; the rounding is compared, not bounded
Check: symbolically against $v\ln v + (1-v)\ln(1-v)$; in double precision against 50 digits for z
    from -700 to 700.
Tested: n = 1, p = 1, no steps; the logistic loss at ten margins
"""

from __future__ import annotations

import math
from typing import Any

import mpmath
import sympy

from proofs_check.statement import Finding, Kind, check


def one_sign(z: Any, v: Any, softplus: Any) -> Any:
    """−(v sp(z) + (1 − v) sp(−z)); 1 − v must come as the weight of −z."""
    return -(v(z) * softplus(z) + v(-z) * softplus(-z))


def difference(z: Any, v: Any, softplus: Any) -> Any:
    """sw − l(s) = −zv − sp(−z)."""
    return -z * v(z) - softplus(-z)


@check(
    Kind.SYMBOLIC,
    one_sign,
    {
        "coefficient 2": lambda z, v, softplus: one_sign(z, v, softplus) - v(z) * softplus(z),
        "weights exchanged": lambda z, v, softplus: -(v(-z) * softplus(z) + v(z) * softplus(-z)),
    },
)
def it_is_the_negative_entropy(formula: Any) -> Finding:
    """Same derivative and same value at z = 0 as v ln v + (1 − v) ln(1 − v)."""
    z = sympy.symbols("z", real=True)

    def v(t: Any) -> Any:
        return 1 / (1 + sympy.exp(t))

    entropy = v(z) * sympy.log(v(z)) + v(-z) * sympy.log(v(-z))
    rest = formula(z, v, lambda t: sympy.log(1 + sympy.exp(t))) - entropy
    # ln v(z) = −sp(z); written out, the difference is a combination of these logarithms.
    flat = rest.subs(
        {sympy.log(v(t)): -sympy.log(1 + sympy.exp(t)) for t in (z, -z)}, simultaneous=True
    )
    flat = sympy.simplify(flat)
    return Finding(flat == 0, f"difference from the entropy: {flat}")


def _v(t: float) -> float:
    tail = math.exp(-abs(t))
    return tail / (1 + tail) if t > 0 else 1 / (1 + tail)


def _softplus(t: float) -> float:
    return max(t, 0.0) + math.log1p(math.exp(-abs(t)))


@check(
    Kind.FLOAT,
    one_sign,
    {
        "the difference sw − l(s)": difference,
        "1 − v subtracted from 1": lambda z, v, softplus: (
            -(v(z) * softplus(z) + (1 - v(z)) * softplus(-z))
        ),
        "off by 1e-12": lambda z, v, softplus: one_sign(z, v, softplus) * (1 + 1e-12),
    },
)
def double_precision_is_enough(formula: Any) -> Finding:
    """Relative errors at z = ±1, ±20, ±36, ±50, ±700."""
    worst = 0.0
    with mpmath.workdps(400):
        for size in (1, 20, 36, 50, 700):
            for z in (mpmath.mpf(size), -mpmath.mpf(size)):
                p, q = 1 / (1 + mpmath.exp(z)), 1 / (1 + mpmath.exp(-z))
                true = p * mpmath.log(p) + q * mpmath.log(q)
                worst = max(worst, float(abs(formula(float(z), _v, _softplus) / true - 1)))
    lost = abs(difference(-50.0, _v, _softplus))
    return Finding(worst < 1e-14, f"largest relative error {worst:.1e}; sw − l(s) at −50 is {lost}")

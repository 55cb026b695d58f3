r"""For the logistic loss the radius ln 2 serves, and a smaller one exists for every M.

Paper: Remark 3.1 (remarkrob), Section 3
Claim: $l_j^*(w_j) = -y_jw_j\ln(-y_jw_j) + (1 + y_jw_j)\ln(1 + y_jw_j)$ on
    $0 \le -y_jw_j \le 1$, and $D_{\max} = \ln 2$.
Hypotheses: logistic losses with labels ±1
Verdict: LOOSE
Correction: $D_{\max} = \ln 2 - H(1/(1 + e^{M}))$ with the entropy $H$ in nats: it is attained,
    lies below both $\ln 2$ and $M^2/8 = \gamma M^2/2$, and tends to $\ln 2$ as $M \to \infty$.
Proof: by hand, symbolic
Check: symbolically, the conjugate satisfies Fenchel's equality at $w = l'(s)$, and $1/4 - l''$ is
    a square, which gives $M^2/8$ by Proposition 3.1 as corrected; in 50 digits, $\ln 2 - H$ is the
    distance $D_{l^*}(l'(s), l'(0)) = \ln 2 - l(s) + s\,l'(s)$ at $s = \pm M$ for nine values of M.
Tested: n = 1, p = 1, no steps; the logistic loss, nine values of M
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy

from proofs_check.exact.losses import Softplus
from proofs_check.statement import Finding, Kind, check


def conjugate(w: Any, y: int) -> Any:
    """l*(w) as printed."""
    v = -y * w
    return v * sympy.log(v) + (1 - v) * sympy.log(1 - v)


@check(
    Kind.SYMBOLIC,
    conjugate,
    {
        "coefficient 2 at the second entropy term": lambda w, y: (
            conjugate(w, y) + (1 + y * w) * sympy.log(1 + y * w)
        ),
        "label of the other sign": lambda w, y: conjugate(w, -y),
        "entropy with the wrong sign": lambda w, y: -conjugate(w, y),
    },
)
def the_conjugate_meets_fenchels_equality(formula: Any) -> Finding:
    """l(s) + l*(w) − ws = 0 with w = l'(s), for all s = −yx and both labels."""
    x = sympy.symbols("x", real=True)
    rests = []
    for y in (1, -1):
        s = -y * x
        w = -y / (1 + sympy.exp(y * s))
        rests.append(sympy.log(1 + sympy.exp(-y * s)) + formula(w, y) - w * s)
    agrees = all(
        sympy.simplify(sympy.diff(rest, x)) == 0 and sympy.simplify(rest.subs(x, 0)) == 0
        for rest in rests
    )
    return Finding(agrees, "derivative and value at 0 of the Fenchel-Young term vanish")


def radius(bound: Any) -> Any:
    """ln 2 − H(sigmoid(M))."""
    v = 1 / (1 + mpmath.exp(bound))
    return mpmath.log(2) + v * mpmath.log(v) + (1 - v) * mpmath.log1p(-v)


@check(
    Kind.DIGITS,
    radius,
    {
        "sigmoid at M/2": lambda bound: radius(bound / 2),
        "entropy in bits": lambda bound: (
            mpmath.log(2) - (mpmath.log(2) - radius(bound)) / mpmath.log(2)
        ),
        "ln 2, which nothing attains": lambda bound: mpmath.log(2),
    },
)
def the_entropy_radius_is_attained_and_below_both_bounds(formula: Any) -> Finding:
    """D_{l*}(l'(±M), l'(0)) from the loss itself, M = 2^−4 … 2^4."""
    agrees, ratios = True, []
    with mpmath.workdps(50):
        loss = Softplus(mpmath.mpf(1))
        for exponent in range(-4, 5):
            bound = mpmath.mpf(2) ** exponent
            distance = max(
                loss.value(0 * s) - loss.value(s) + s * loss.derivative(s) for s in (bound, -bound)
            )
            value = formula(bound)
            agrees &= abs(value - distance) < mpmath.mpf(10) ** -45
            agrees &= value < min(mpmath.log(2), bound**2 / 8)
            ratios.append(mpmath.log(2) / distance)
        detail = f"ln 2 is {float(ratios[4]):.3f} times the radius at M = 1"
        return Finding(bool(agrees), detail, 1 / ratios[4])


@check(
    Kind.SYMBOLIC,
    sympy.Rational(1, 4),
    {"γ = 1/5": sympy.Rational(1, 5), "γ = 1": sympy.Integer(1)},
)
def the_curvature_is_at_most_a_quarter(gamma: Any) -> Finding:
    """1/4 − l''(s) = (e^s − 1)²/(4(e^s + 1)²), with equality at s = 0."""
    s = sympy.symbols("s", real=True)
    curvature = sympy.diff(sympy.log(1 + sympy.exp(-s)), s, 2)
    square = (sympy.exp(s) - 1) ** 2 / (4 * (sympy.exp(s) + 1) ** 2)
    rest = sympy.simplify(gamma - curvature - square)
    return Finding(rest == 0, f"difference from the square: {rest}")

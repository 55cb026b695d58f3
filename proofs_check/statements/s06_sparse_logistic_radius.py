r"""A ball of 0.4 times the radius holds the sparse logistic solution.

Paper: Example 1.1, sparse logistic regression (exam:sparse-logistic), Section 1.1
Claim: the problem may be restricted to $\|\beta\|_1 \le \ln(2)/\lambda$.
Hypotheses: $R = \lambda\|\beta\|_1$ and logistic losses
Verdict: LOOSE
Correction: $\|\beta^*\|_1 \le W(1/e)/\lambda \approx 0.27846/\lambda$ with Lambert's W, attained.
    Along the ray through $\beta^*$ the derivative vanishes: $\lambda\|\beta^*\|_1 =
    \tfrac1n\sum_j m_j/(1 + e^{m_j})$ with margins $m_j = y_jx_j^T\beta^*$, and
    $\max_m m/(1+e^m) = W(1/e)$ at $m = 1 + W(1/e)$.
Proof: by hand, symbolic
Check: the maximum symbolically; in 50 digits the attaining problem with n = 1, whose minimizer
    is certified by its derivative, and the mean over the margins for n = 3.
Tested: n = 1 and 3, p = 1, no steps; logistic losses
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy

from proofs_check.statement import Finding, Kind, check


def margin() -> Any:
    """1 + W(1/e)."""
    return 1 + sympy.LambertW(sympy.exp(-1))


@check(
    Kind.SYMBOLIC,
    margin,
    {
        "2 + W(1/e)": lambda: margin() + 1,
        "1 + W(e)": lambda: 1 + sympy.LambertW(sympy.E),
    },
)
def the_margin_is_the_only_stationary_point(point: Any) -> Finding:
    """The derivative has the sign of 1 − (m−1)e^m, at least 1 for m ≤ 0 and falling beyond."""
    m = sympy.symbols("m", real=True)
    derivative = sympy.diff(m / (1 + sympy.exp(m)), m)
    numerator = 1 - (m - 1) * sympy.exp(m)
    form = sympy.simplify(derivative * (1 + sympy.exp(m)) ** 2 - numerator) == 0
    falling = sympy.simplify(sympy.diff(numerator, m) + m * sympy.exp(m)) == 0
    # W(1/e) e^{W(1/e)} = 1/e defines W; in the numerator it leaves 1 − e·(1/e).
    w = sympy.symbols("w", positive=True)
    at = numerator.subs(m, point().subs(sympy.LambertW(sympy.exp(-1)), w))
    root = sympy.simplify(at.subs(sympy.exp(w + 1), 1 / w)) == 0
    return Finding(bool(form and falling and root), f"form {form}, falling {falling}, root {root}")


def radius() -> Any:
    """λ‖β*‖₁ at most: W(1/e)."""
    return mpmath.lambertw(mpmath.exp(-1)).real


@check(
    Kind.DIGITS,
    radius,
    {
        "ln 2, which nothing attains": lambda: mpmath.log(2),
        "W(1)/2": lambda: mpmath.lambertw(1).real / 2,
        "a hundredth less": lambda: radius() * mpmath.mpf("0.99"),
    },
)
def one_sample_attains_the_radius(formula: Any) -> Finding:
    """ln(1+e^{−xβ}) + λ|β| with x = λ(1+e^m), λ = 3/10: stationary at β = m/x."""
    with mpmath.workdps(50):
        strength = mpmath.mpf(3) / 10
        m = 1 + mpmath.lambertw(mpmath.exp(-1)).real
        x = strength * (1 + mpmath.exp(m))
        beta = m / x
        stationary = abs(-x / (1 + mpmath.exp(x * beta)) + strength)
        missing = abs(strength * beta - formula())
        loose = mpmath.log(2) / (strength * beta)
        small = mpmath.mpf(10) ** -45
        return Finding(
            bool(stationary < small and missing < small),
            f"λβ* = {mpmath.nstr(strength * beta, 8)}; ln 2 is {float(loose):.4f} times that",
            1 / loose,
        )


def _minimizer(rows: Any, strength: Any) -> Any:
    """argmin (1/n) Σ ln(1 + e^{−xβ}) + λβ over β ≥ 0, by bisection."""
    low, high = mpmath.mpf(0), mpmath.mpf(100)
    for _ in range(200):
        beta = (low + high) / 2
        slope = strength - sum(x / (1 + mpmath.exp(x * beta)) for x in rows) / len(rows)
        low, high = (low, beta) if slope > 0 else (beta, high)
    return beta


def mean_of_margins(margins: Any) -> Any:
    """(1/n) Σ m/(1 + e^m)."""
    return sum(m / (1 + mpmath.exp(m)) for m in margins) / len(margins)


@check(
    Kind.DIGITS,
    mean_of_margins,
    {
        "the sum for the mean": lambda margins: len(margins) * mean_of_margins(margins),
        "the first margin left out": lambda margins: mean_of_margins(margins[1:]),
    },
)
def the_norm_is_a_mean_over_the_margins(formula: Any) -> Finding:
    """λβ* for rows 2, −1/2 and 1, and three values of λ: the mean, and below W(1/e)."""
    with mpmath.workdps(50):
        rows = [mpmath.mpf(2), mpmath.mpf(-1) / 2, mpmath.mpf(1)]
        norms, missing = [], []
        for strength in (mpmath.mpf(1) / 20, mpmath.mpf(1) / 5, mpmath.mpf(2) / 5):
            beta = _minimizer(rows, strength)
            norms.append(strength * beta)
            missing.append(abs(norms[-1] - formula([x * beta for x in rows])))
        shown = ", ".join(mpmath.nstr(norm, 5) for norm in norms)
        agrees = max(missing) < mpmath.mpf(10) ** -45 and 0 < max(norms) < radius()
        return Finding(bool(agrees), f"λβ* = {shown}")

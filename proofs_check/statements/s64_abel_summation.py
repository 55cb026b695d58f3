r"""The summation by parts drops a term.

Paper: last inequality of the proof of Theorem 3.2 (hello), Section 3.1
Claim: $\mathbb{E}\left[-\sum_{i=1}^kq^iD(w^k)\right] \le \mathbb{E}\left[-\sum_{i=1}^kq^i\,
    \phi(\bar\beta^{k-1},w)\right] + n\sigma D_h(w,w^0)$ with $q = \frac{n\sigma}{n\sigma-1}$,
    "since $D(w^i)$ is non-decreasing".
Hypotheses: (A); (B); b = 1; (S); (M)
Verdict: FALSE
Correction: with $\Delta_m = D(w^m)-D(w^{m-1}) \ge 0$ the summation leaves
    $\sum_m(n\sigma-n(\sigma-1)q^m) \mathbb{E}\Delta_m$ on the right. The coefficient is $(n-1)q >
    0$ at m = 1 and n for every m if $\sigma = 1$; it never exceeds $(n-1)q$, so the inequality
    holds with $(n-1)q\,\mathbb{E}[D(w^k)-D(w^0)]$ more on the right.
Proof: symbolic, exact; by a counterexample
Check: the coefficient symbolically; the inequality broken in fractions by Huber's loss, and at 50
    digits by two logistic losses, n = 2, k = 1, where w and everything else is fixed.
Tested: n = 2, p = 1, b = 1, k = 1; Huber-like and logistic losses
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy

from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import huber, logistic
from proofs_check.statement import Finding, Kind, check


def leftover(n: Any, sigma: Any, m: Any) -> Any:
    """What Δ_m keeps on the right."""
    q = n * sigma / (n * sigma - 1)
    return n * sigma - n * (sigma - 1) * q**m


@check(
    Kind.SYMBOLIC,
    leftover,
    {
        "q^{m+1}": lambda n, sigma, m: leftover(n, sigma, m + 1),
        "nothing left over": lambda n, sigma, m: 0 * n,
        "σ for σ − 1": lambda n, sigma, m: leftover(n, sigma, m) - n * (sigma - 1),
    },
)
def the_coefficient_of_an_ascent(formula: Any) -> Finding:
    """n q^m − Σ_{i=1}^{m} q^i, where q^m gives D(w^m) its n and D(w^{m−1}) its −(n−1)."""
    q, sigma, m = sympy.symbols("q sigma m", positive=True)
    n = q / ((q - 1) * sigma)
    weights = q * (q**m - 1) / (q - 1)
    rests = [
        formula(n, sigma, m) - (n * q**m - weights),
        formula(n, sigma, 1) - (n - 1) * q,
        formula(n, sigma, 1) - formula(n, sigma, m) - n * (sigma - 1) * (q**m - q),
    ]
    found = [sympy.simplify(rest) for rest in rests]
    at_one = sympy.simplify(formula(sympy.Symbol("n"), 1, m) - sympy.Symbol("n"))
    return Finding(all(rest == 0 for rest in [*found, at_one]), f"rests {found}")


def printed_right(one: Strong, gain: Any) -> Any:
    """nσ D_h(w, w⁰), at k = 1 with w the response to β̄⁰."""
    zero = (0 * one.mu,) * one.n
    first = one.problem.predictions(one.levels(1)[0][1][0].beta)
    return one.T * one.problem.bregman(first, zero)


PLANTED = {
    "with the dropped term": lambda one, gain: (
        printed_right(one, gain) + (one.n - 1) * one.q * gain
    ),
    "σ²-fold": lambda one, gain: 100 * printed_right(one, gain),
}


def broken(one: Strong, right: Any) -> Finding:
    """q(φ(β̄⁰, w) − E D(w¹)) against the right side; β̄⁰ is not random."""
    paths = one.levels(1)[0][1]
    gap = sum(path.last_gap() for path in paths) / one.n
    after = sum(one.problem.dual(path.w[-1]) for path in paths) / one.n
    ratio = one.q * gap / right(one, after - one.dual_start)
    return Finding(bool(ratio > 1), f"left/right {float(ratio):.3f}", ratio)


@check(Kind.EXACT, printed_right, PLANTED)
def one_step_of_huber_losses_breaks_it(right: Any) -> Finding:
    """Radius 10, in fractions."""
    return broken(huber(), right)


@check(Kind.DIGITS, printed_right, PLANTED)
def one_step_of_logistic_losses_breaks_it(right: Any) -> Finding:
    """Radius 10, in 50 digits."""
    with mpmath.workdps(50):
        return broken(logistic(), right)

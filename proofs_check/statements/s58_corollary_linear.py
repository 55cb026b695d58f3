r"""The corollary in γ and μ is false with D_max and true with γM².

Paper: Corollary 3.2 (cor:linear), Section 3.1
Claim: with $\sigma = \frac{\gamma\max_j\|x_j\|_2^2}{n\mu}+1$ and $T = n\sigma = n +
    \frac{\gamma\max_j\|x_j\|_2^2}{\mu}$, $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le
    \frac{D_{\max}}{(1+\frac{1}{T-1})^k-1} \le D_{\max}T\left(1-\tfrac{1}{T}\right)^k$.
Hypotheses: (A); (B); b = 1; (S); (M); (P)
Verdict: FALSE
Correction: $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le T\left(1-\tfrac1T\right)^k\gamma M^2$ for
    all losses, n and k. Proof, with $q = \frac{T}{T-1}$ and in units of $\gamma M^2$: if $q^k \ge
    2$, the bound $\frac{T/2}{q^k-1}$ that holds for all losses is at most $Tq^{-k}$. If $q^k < 2$
    and $T \ge 4$, then $Tq^{-k} > 2$, and no run has a gap above 2, as an atom's gap is
    $\frac1n\sum_jD_{l_j}(x_j^T\tilde\beta^i, s_j^i)$ and $D(w^i)$ does not decrease. If $T < 4$
    then $q^3 > 64/27 > 2$, so $k \le 2$: at k = 1 the gap is at most $\frac12 \le T-1$ (for $n
    \ge 2$), at k = 2, where $q < \sqrt2$, at most $\frac{1/2+2q}{1+q} < 1.38 < 1.70 <
    \frac{1}{q(q-1)} = Tq^{-2}$. For n = 1 nothing is random and the printed proof is right.
Proof: by hand, symbolic, exact; false by a counterexample, the correction by hand
Check: the logistic counterexample at 50 digits; the scalar inequalities of the corrected proof
    symbolically; the corrected bound and the two gaps of atoms over all sequences in fractions.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 4; squared, Huber-like and shifted losses,
    and logistic ones with n = 2, k ≤ 8
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath
import sympy

from proofs_check.exact.strong_instances import logistic, zoo
from proofs_check.statement import Finding, Kind, check


def corollary(scale: Any, T: Any, k: int) -> Any:
    """T(1−1/T)^k scale."""
    return scale * T * (1 - 1 / T) ** k


@check(
    Kind.DIGITS,
    corollary,
    {
        "a numerator that a true bound may have": lambda scale, T, k: 20 * corollary(scale, T, k),
        "exponent k − 2": lambda scale, T, k: corollary(scale, T, k - 2),
    },
)
def two_logistic_losses_break_it(bound: Any) -> Finding:
    """At k = 1, …, 8 with D_max = ln 2."""
    with mpmath.workdps(50):
        one = logistic()
        ratios = {k: gap / bound(mpmath.log(2), one.T, k) for k, gap in one.gaps(8)}
        shown = ", ".join(f"k={k}: {float(ratios[k]):.3f}" for k in (1, 2, 4, 8))
        return Finding(bool(min(ratios.values()) > 1), f"gap/bound {shown}", max(ratios.values()))


def caps(q: Any) -> tuple[Any, Any, int]:
    """Gap of the first atom, of any atom, and the T from which any gap is below Tq^{−k}."""
    return sympy.Rational(1, 2), sympy.Integer(2), 4


@check(
    Kind.SYMBOLIC,
    caps,
    {
        "atoms' gap 3": lambda q: (sympy.Rational(1, 2), sympy.Integer(3), 4),
        "threshold T = 3": lambda q: (sympy.Rational(1, 2), sympy.Integer(2), 3),
    },
)
def the_corrected_proof_s_numbers_hold(cap: Any) -> Finding:
    """Each case as a sign that can be read off."""
    q, Q = sympy.symbols("q Q", positive=True)
    first, later, threshold = cap(q)
    T = q / (q - 1)
    large = sympy.simplify(T / Q - T / 2 / (Q - 1) - T * (Q - 2) / (2 * Q * (Q - 1))) == 0
    pathwise = sympy.Rational(threshold, 2) >= later
    short = sympy.Rational(threshold, threshold - 1) ** 3 > 2
    average = (first + later * q) / (1 + q)
    grows = sympy.simplify(sympy.diff(average, q) * (1 + q) ** 2 - (later - first)) == 0
    falls = sympy.simplify(T / q**2 - 1 / (q * (q - 1))) == 0
    two = average.subs(q, sympy.sqrt(2)) < 1 / (sympy.sqrt(2) * (sympy.sqrt(2) - 1))
    parts = [large, pathwise, short, grows, falls, bool(two), first <= 1]
    return Finding(all(map(bool, parts)), f"cases: {[bool(part) for part in parts]}")


@check(
    Kind.EXACT,
    lambda T, k: corollary(1, T, k),
    {
        "exponent 3k": lambda T, k: corollary(1, T, 3 * k),
        "an eighth of the bound": lambda T, k: corollary(Fraction(1, 8), T, k),
    },
)
def the_corrected_corollary_holds(bound: Any) -> Finding:
    """E gap ≤ bound·(1/n)Σγ_jM_j² and every run's gap ≤ 2·(1/n)Σγ_jM_j², k ≤ 4."""
    largest, highest = Fraction(0), Fraction(0)
    for one in zoo():
        for k, paths in one.levels(4 if one.n < 3 else 3):
            gaps = [path.last_gap() for path in paths]
            limit = bound(one.T, k) * one.energy
            largest = max(largest, sum(gaps) / len(gaps) / limit)
            highest = max(highest, max(gaps) / (2 * one.energy))
    return Finding(
        largest <= 1 and highest <= 1,
        f"largest expected ratio {float(largest):.4f}, pathwise {float(highest):.4f}",
        largest,
    )

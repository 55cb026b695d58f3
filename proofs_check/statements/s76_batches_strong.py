r"""The linear theorem for batches is false with the coordinate constant σ.

Paper: Remark 3.4, strongly convex case (wilderness-strong), Section 3.1
Claim: for batches of b rows, with the same $\sigma$ and $\eta = \frac1\sigma$,
    $\mathbb{E}[P(\bar\beta^{k-1})- D(w^k)] \le \frac{D_{\max}}{(1+\frac{1}{\sigma(n/b)-1})^k-1}
    \le \frac{\gamma M^2}{(1+\frac{1} {\sigma(n/b)-1})^k-1}$.
Hypotheses: (A); (B); (M); $\sigma$ of Proposition 3.7 for every b
Verdict: FALSE
Correction: b rows move at once, and $-D$ is less smooth along them: $\sigma_b$ must replace
    $\sigma$, in the step too. With $\sigma$ both bounds fail for squared losses: for x = 1, $l =
    \frac12s^2$, $R = \frac\mu2(\beta-1)^2$ on [0, 1] and b = n the first gap is, for $\mu \ge
    \frac{n-1}{n}$, $\frac{(\sigma-1)(\sigma-1+n)}{2\sigma^2}$, $\frac{\sigma-1+n}{\sigma^2}$
    times the first bound, near n for large $\mu$; for n = b = 3, $\mu = \frac14$ the gap does not
    decrease at all. With b = 2 < n and quadratic losses the dual value still ascends and no
    violation is known; for three logistic losses the first bound fails as it does for b = 1,
    while none of the second is known.
Proof: symbolic, exact; by counterexamples
Check: all sequences in fractions; the formula symbolically, for all n and $\mu$; logistic at 50
    digits.
Tested: n ≤ 10, p = 1, 2 ≤ b ≤ n, k ≤ 12; squared and logistic losses
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy

from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import F, labelled, logistic, pull
from proofs_check.statement import Finding, Kind, check


def ratio(one: Strong, k: int, scale: Any) -> Any:
    """Gap over scale/(q^k−1)."""
    return one.gaps(k)[-1][1] * (one.q**k - 1) / scale


@check(Kind.EXACT, True, {"σ_b for σ": False})
def both_bounds_fail_in_fractions(printed: bool) -> Finding:
    """D_max at all cases, γM² at those with a second ratio."""
    fifth, tenths = F(1, 5), F(3, 10)
    cases = [
        (pull(2, 10, 2, printed=printed), 1, F(41, 882), False),
        (pull(3, 10, 3, printed=printed), 1, F(91, 1922), True),
        (pull(10, 10, 10, printed=printed), 1, F(1001, 20402), True),
        (pull(5, 2, 4, printed=printed), 1, F(57, 242), False),
        (labelled(5, tenths, fifth, 4, printed=printed), 4, None, True),
        (labelled(4, fifth, fifth, 3, printed=printed), 5, None, False),
    ]
    agrees, shown, largest = True, [], F(0)
    for one, k, gap, both in cases:
        first, second = ratio(one, k, one.radius), ratio(one, k, one.printed_energy)
        largest = max(largest, first)
        agrees &= first > 1 and (second > 1 or not both)
        agrees &= gap is None or one.gaps(k)[-1][1] == gap
        shown.append(f"n={one.n}, b={one.b}, k={k}: {float(first):.3f} / {float(second):.3f}")
    return Finding(agrees, "; ".join(shown), largest)


def first_gap(n: Any, sigma: Any) -> Any:
    """(σ−1)(σ−1+n)/(2σ²)."""
    return (sigma - 1) * (sigma - 1 + n) / (2 * sigma**2)


@check(
    Kind.SYMBOLIC,
    first_gap,
    {
        "n − 1 for n": lambda n, sigma: first_gap(n - 1, sigma),
        "σ for σ²": lambda n, sigma: first_gap(n, sigma) * sigma,
    },
)
def the_first_gap_of_a_whole_batch(formula: Any) -> Finding:
    """One step of n equal rows from s = 0 to 1/σ: P(1) − D(w¹), with μ = 1/(n(σ−1))."""
    n, sigma = sympy.symbols("n sigma", positive=True)
    mu = 1 / (n * (sigma - 1))
    w = 1 / sigma
    atom = 1 - w / mu
    inside = w * atom - w**2 / 2 + mu * (atom - 1) ** 2 / 2
    rest = sympy.simplify(sympy.Rational(1, 2) - inside - formula(n, sigma))
    return Finding(rest == 0, f"rest {rest}")


@check(Kind.EXACT, True, {"σ_b for σ": False})
def the_gap_need_not_decrease(printed: bool) -> Finding:
    """n = b = 3, μ = 1/4, y = 3/5 on [−1, 1], up to k = 12."""
    one = labelled(3, F(1, 4), F(3, 5), 3, printed=printed)
    early, late = (ratio(one, k, one.printed_energy) for k in (7, 12))
    stays = one.gaps(12)[-1][1] > one.gaps(4)[-1][1] / 2
    return Finding(
        stays and early > 1 and late > 40,
        f"gap/bound with γM²: {float(early):.2f} at k=7, {float(late):.1f} at k=12",
        late,
    )


@check(
    Kind.DIGITS,
    lambda q, k: 1 / (q**k - 1),
    {
        "ten times the bound": lambda q, k: 10 / (q**k - 1),
        "no decrease": lambda q, k: mpmath.mpf(10),
    },
)
def pairs_of_three_logistic_losses_break_the_first(decrease: Any) -> Finding:
    """n = 3, b = 2, k ≤ 3, with D_max = ln 2; the second stays below 0.11."""
    with mpmath.workdps(50):
        one = logistic(3, b=2)
        first = [gap / (mpmath.log(2) * decrease(one.q, k)) for k, gap in one.gaps(3)]
        second = [gap / (one.printed_energy * decrease(one.q, k)) for k, gap in one.gaps(3)]
        shown = ", ".join(f"{float(x):.3f}" for x in first)
        agrees = min(first) > 3 and max(second) < 0.11
        return Finding(bool(agrees), f"gap/bound {shown} at k = 1, 2, 3", max(first))

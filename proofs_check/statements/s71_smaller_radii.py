r"""Two smaller constants that the linear bound cannot have.

Paper: none; what cannot replace D_max in Theorem 3.2 (ex:strong-smaller)
Claim: for all losses the gap's bound may have in its numerator
    $D_h(w^{*},w^0)+\frac{n-1}{n\sigma-1} (D^{*}-D(w^0))$, as it may for every fixed w and with a
    factor $s_n$; or $D^{*}-D(w^0)$, as it may for quadratic losses.
Hypotheses: (A); (B); b = 1; (S); (M)
Verdict: FALSE
Correction: the first fails for two squared losses with x = y = 1 and $R = \frac\mu2\beta^2$ at k
    = 1, with a ratio near $\frac{1}{2\mu}$; the second for n = 1 and a loss that is flat up to $c
    = 1-2^{-m}$: with $\gamma = \mu$ each of the first m steps halves the way to 1, no step
    ascends, and the ratio grows like $2^m$.
Proof: exact; by counterexamples
Check: both in fractions.
Tested: n ≤ 2, p = 1, b = 1, k ≤ 6; squared and shifted Huber-like losses
"""

from __future__ import annotations

import itertools
from typing import Any

from proofs_check.exact.losses import TiltedHuber
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Parabola
from proofs_check.exact.shifted import Shifted
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import F, free
from proofs_check.statement import Finding, Kind, check


def at_the_optimum(one: Strong) -> Any:
    """D_h(w*, w⁰) + (n−1)/(nσ−1) (D* − D(w⁰))."""
    return one.start_radius + (one.n - 1) / (one.T - 1) * (one.value - one.dual_start)


@check(
    Kind.EXACT,
    at_the_optimum,
    {
        "with the factor s_n": lambda one: one.sigma_full * at_the_optimum(one),
        "with D_max": lambda one: at_the_optimum(one) - one.start_radius + one.radius,
    },
)
def the_optimum_s_distance_is_too_small(numerator: Any) -> Finding:
    """n = 2, k = 1, μ = 1/10, 1/100, 1/1000: the ratio grows like 1/(2μ)."""
    ratios = []
    for mu in (F(1, 10), F(1, 100), F(1, 1000)):
        one = free(2, mu)
        ratios.append((one.q - 1) * one.gaps(1)[0][1] / numerator(one))
    shown = ", ".join(f"{float(ratio):.2f}" for ratio in ratios)
    grows = all(9 * a < b for a, b in itertools.pairwise(ratios))
    return Finding(ratios[0] > 1 and grows, f"ratios {shown}", ratios[-1])


def flat(m: int) -> Strong:
    """l' = 0 up to 1 − 2^{−m}, then slope 1 until 1; γ ≈ μ = 1, R = (β−1)²/2 on [0, 1]."""
    half = F(1, 2 ** (m + 1))
    loss = Shifted(TiltedHuber(half, F(1, 10**12), half), 1 - half)
    return Strong(Small(((F(1),),), [loss], Parabola(F(1), F(1), F(0), F(1))))


@check(
    Kind.EXACT,
    lambda one: one.value - one.dual_start,
    {
        "with D_max": lambda one: one.radius,
        "with σ² and q^m more": lambda one: 4 * one.q**6 * (one.value - one.dual_start),
    },
)
def the_first_dual_gap_is_too_small(numerator: Any) -> Finding:
    """n = 1, m = 2, 4, 6 steps without ascent."""
    ratios = []
    for m in (2, 4, 6):
        one = flat(m)
        ratios.append((one.q**m - 1) * one.gaps(m)[-1][1] / numerator(one))
    shown = ", ".join(f"{float(ratio):.2f}" for ratio in ratios)
    grows = all(3 * a < b for a, b in itertools.pairwise(ratios))
    return Finding(ratios[0] > 1 and grows, f"ratios {shown}", ratios[-1])

r"""Three smaller constants that the linear bound cannot have.

Paper: none; what cannot replace D_max in Theorem 3.2 (ex:strong-smaller)
Claim: for all losses the gap's bound may have in its numerator
    $D_h(w^{*},w^0)+\frac{n-1}{n\sigma-1} (D^{*}-D(w^0))$, as it may for every fixed w and with a
    factor $s_n$; or $D^{*}-D(w^0)$, as it may for quadratic losses; or the first gap
    $P(\tilde\beta^0)-D(w^0)$, as it may for quadratic losses and for the steps of
    (thm:exact-step).
Hypotheses: (A); (B); b = 1; (S); (M)
Verdict: FALSE
Correction: the first fails for two squared losses with x = y = 1 and $R = \frac\mu2\beta^2$ at k
    = 1, with a ratio near $\frac{1}{2\mu}$; the second for n = 1 and a loss that is flat up to $c
    = 1-2^{-m}$: with $\gamma = \mu$ each of the first m steps halves the way to 1, no step
    ascends, and the ratio grows like $2^m$. The third fails for n = 1, x = 1, $R =
    \frac\mu2\beta^2$ and Huber's loss of width $\mu$ at the label $\mu+\frac1\sigma$: it is flat
    up to $\frac1\sigma$, where the first step ends, so that at k = 1 the gap is still
    $\frac12(1-\frac1\sigma)^2$, $\mu$ times the bound.
Proof: exact; by counterexamples
Check: all in fractions.
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


def waiting(mu: Any) -> Strong:
    """Huber's loss of width μ at the label μ + 1/σ, x = 1, R = (μ/2)β², σ = 1 + 1/μ."""
    loss = Shifted(TiltedHuber(F(mu), F(0), F(0)), mu + 1 / (1 + 1 / F(mu)))
    return Strong(Small(((F(1),),), [loss], Parabola(F(mu), F(0), F(-2), F(2))))


@check(
    Kind.EXACT,
    lambda one: one.start_gap,
    {
        "with D_max": lambda one: one.radius,
        "with 1 % more": lambda one: one.start_gap * F(101, 100),
        "with the factor μ": lambda one: one.start_gap * one.mu,
    },
)
def the_first_gap_is_too_small(numerator: Any) -> Finding:
    """n = 1, k = 1, μ = 2, 4, 100: the ratio is μ."""
    ratios = []
    for mu in (2, 4, 100):
        one = waiting(mu)
        found = F(1, 2) * (1 - 1 / one.sigma) ** 2
        assert one.start_gap == found == one.gaps(1)[0][1]
        ratios.append((one.q - 1) * found / numerator(one))
    shown = ", ".join(f"{float(ratio):.2f}" for ratio in ratios)
    return Finding(ratios == [2, 4, 100], f"ratios {shown}", ratios[-1])

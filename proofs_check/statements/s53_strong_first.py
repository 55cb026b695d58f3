r"""The linear bound with D_max is false.

Paper: Theorem 3.2, first inequality (thm:strong), Section 3.1
Claim: $\mathbb{E}[P(\bar\beta^{k-1}) - D(w^k)] \le \frac{D_{\max}}{(1+\frac{1}{n\sigma-1})^k -
    1}$.
Hypotheses: (A); (B); b = 1; (S); (M)
Verdict: FALSE
Correction: true for quadratic losses and for n = 1; for all losses with
    $D_{\max}+\tfrac{n-1}{n\sigma-1}(D^{*}-D(w^0))$ against every fixed w, and with $s_n$ times
    that for the gap. Two logistic losses with $x_j = y_j = 1$ and $R = \tfrac12(\beta+10)^2$ on
    $[-10, 0]$ have an expected gap 2.38 times the bound at k = 1, and the ratio grows without
    limit with the radius: $D_h(\hat w, w^0) \le \ln 2$ while the first gap $D_h(w^0, \hat w)$
    grows like half the radius.
Proof: exact; by a counterexample
Check: all index sequences, at 50 digits for logistic losses and in fractions for Huber losses
    with a curvature.
Tested: n ≤ 4, p = 1, b = 1, k ≤ 8; Huber-like and logistic losses
"""

from __future__ import annotations

import itertools
from typing import Any

import mpmath

from proofs_check.exact.strong_instances import huber, logistic
from proofs_check.statement import Finding, Kind, check


def first_bound(radius: Any, q: Any, k: int) -> Any:
    """D_max/(q^k − 1)."""
    return radius / (q**k - 1)


PLANTED = {
    "a numerator that a true bound may have": lambda radius, q, k: 60 * first_bound(radius, q, k),
    "exponent k − 1, which is no bound at k = 1": lambda radius, q, k: (
        first_bound(radius, q, k - 1) if k > 1 else 60 * radius
    ),
}

EXPECTED = {1: "2.059730", 2: "1.024944", 3: "0.511116", 4: "0.255389", 8: "0.015984"}
"""E[P − D] of two logistic losses after k steps."""


@check(
    Kind.DIGITS,
    (first_bound, 10),
    {"a radius of 10.001": (first_bound, mpmath.mpf("10.001"))}
    | {name: (bound, 10) for name, bound in PLANTED.items()},
)
def two_logistic_losses_break_it(subject: tuple[Any, Any]) -> Finding:
    """k = 1, 2, 3, 4, 8 with D_max = ln 2, the paper's own value."""
    bound, radius = subject
    with mpmath.workdps(50):
        one = logistic(radius=radius)
        gaps = dict(one.gaps(8))
        ratios = {k: gaps[k] / bound(mpmath.log(2), one.q, k) for k in EXPECTED}
        known = all(abs(gaps[k] - mpmath.mpf(EXPECTED[k])) < 1e-6 for k in EXPECTED)
        agrees = known and min(ratios.values()) > 2
        detail = ", ".join(
            f"k={k}: {float(gaps[k]):.6f}, {float(r):.3f} times the bound"
            for k, r in ratios.items()
        )
        return Finding(bool(agrees), detail, max(ratios.values()))


@check(
    Kind.DIGITS,
    first_bound,
    {
        "a numerator that a true bound may have": PLANTED["a numerator that a true bound may have"],
        "exponent 0, no decrease at all": lambda radius, q, k: 60 * radius,
    },
)
def the_ratio_grows_with_the_radius(bound: Any) -> Finding:
    """Radius 10, 40, 160 at k = 2, μ = 10."""
    with mpmath.workdps(50):
        ratios = []
        for radius in (10, 40, 160):
            one = logistic(radius=radius, mu=10)
            ratios.append(dict(one.gaps(2))[2] / bound(mpmath.log(2), one.q, 2))
        agrees = ratios[0] > 1 and all(3 * a < b for a, b in itertools.pairwise(ratios))
        shown = ", ".join(f"{float(r):.2f}" for r in ratios)
        return Finding(bool(agrees), f"ratios {shown}", ratios[-1])


@check(Kind.EXACT, first_bound, PLANTED)
def huber_losses_break_it_in_fractions(bound: Any) -> Finding:
    """n = 2 with k = 1 and 8, radius 10; n = 4 with k = 4, radius 40."""
    cases = [(2, 10, 1000, 1), (2, 10, 1000, 8), (4, 40, 10**5, 4)]
    ratios, texts = [], []
    for n, radius, flatness, k in cases:
        one = huber(n, radius, flatness)
        gap, limit = dict(one.gaps(k))[k], bound(one.radius, one.q, k)
        ratios.append(gap / limit)
        texts.append(f"n={n}, k={k}: {float(gap):.5f} > {float(limit):.5f}")
    return Finding(min(ratios) > 1, "; ".join(texts), max(ratios))

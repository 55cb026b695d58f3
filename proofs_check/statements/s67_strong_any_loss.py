r"""A linear bound of the expected duality gap for all losses.

Paper: none; replaces the first inequality of Theorem 3.2 (thm:strong-any-loss)
Claim: $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le
    \frac{s_n}{q^k-1}\left(D_h(w^{*},w^0)+\frac{n-1}{n\sigma-1} (D^{*}-D(w^0))\right)$ with $s_n =
    1+\frac{\gamma\|X\|_2^2}{n\mu} \le 1+n(\sigma-1)$.
Hypotheses: (A); (B); (S); (M); for the last inequality, (P)
Verdict: REPAIRED
Correction: the maximizing $\hat w$ is random, so the bound for fixed w is used at $w^{*}$:
    $P(\beta)-\phi(\beta,w^{*}) = \frac1n\sum_jD_{l_j}(x_j^T\beta,x_j^T\beta^{*}) \le
    \frac{\gamma}{2n}\|X(\beta-\beta^{*})\|^2 \le (s_n-1)\frac\mu2\|\beta-\beta^{*}\|^2 \le
    (s_n-1)(\phi(\beta,w^{*})-D^{*})$, because $\phi(\cdot,w^{*})$ is $\mu$-strongly convex with
    minimizer $\beta^{*}$ and value $D^{*}$. Hence $P(\beta)-D(w) \le s_n(\phi(\beta,w^{*})-D(w))$
    for all $\beta$ and w.
Proof: by hand
Check: exactly: the inequality between P and $\phi$ at points of dom R, and the bound over all
    sequences; equality at n = 1, k = 1.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 3; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

from proofs_check.exact.problem import mix
from proofs_check.exact.strong import Strong
from proofs_check.exact.strong_instances import free, labelled, zoo
from proofs_check.statement import Finding, Kind, check


def factor(one: Strong) -> Any:
    """s_n."""
    return one.sigma_full


PLANTED = {
    "no factor": lambda one: 1,
    "σ for s_n": lambda one: one.sigma_of(one.row / one.n),
    "half of s_n − 1": lambda one: (1 + factor(one)) / 2,
}


@check(Kind.EXACT, factor, PLANTED)
def the_primal_value_is_paid_by_the_saddle_function(number: Any) -> Finding:
    """P(β) − D* ≤ s_n(φ(β, w*) − D*) at seven points between each pair of extreme points."""
    largest = Fraction(-1)
    for one in [*zoo(), free(2, 2), free(3, 1)]:
        problem = one.problem
        solved = problem.response(problem.predictions(one.optimum))
        for low, high in combinations(one.corners, 2):
            for step in range(7):
                beta = mix(low, high, Fraction(step, 6))
                right = number(one) * (problem.saddle(beta, solved) - one.value)
                largest = max(largest, problem.primal(beta) - one.value - right)
    return Finding(largest == 0, f"largest excess {float(largest):.3g}", 1)


@check(Kind.EXACT, factor, PLANTED)
def the_bound_holds_over_all_sequences(number: Any) -> Finding:
    """k ≤ 3, with equality at n = 1, k = 1."""
    largest = Fraction(0)
    for one in [*zoo(), labelled(2, Fraction(1, 40), Fraction(-1, 40), 1)]:
        share = (one.n - 1) / (one.T - 1)
        right = number(one) * (one.start_radius + share * (one.value - one.dual_start))
        for k, gap in one.gaps(3):
            if right:
                largest = max(largest, (one.q**k - 1) * gap / right)
    return Finding(largest == 1, f"largest ratio {float(largest):.6f}", largest)

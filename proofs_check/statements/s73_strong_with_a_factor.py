r"""The second linear inequality with the factor nσ/2.

Paper: none; replaces the second inequality of Theorem 3.2 (thm:strong-factor)
Claim: for all losses, n and k, $\mathbb{E}[P(\bar\beta^{k-1})-D(w^k)] \le
    \frac{n\sigma}{2}\,\frac{\gamma M^2}{q^k-1}$; the same for $P(\tilde\beta^I)$ with a random
    index I, $P(I=i) \propto q^i$.
Hypotheses: (A); (B); (S); (M); (P)
Verdict: REPAIRED
Correction: in $\frac{s_n}{q^k-1}\left(D_h(w^{*},w^0)+\frac{n-1}{T-1}(D^{*}-D(w^0))\right)$ both
    distances are at most $\frac12\gamma M^2$ and $s_n \le T-n+1$, $T = n\sigma$; and
    $(T-n+1)(T+n-2) = T(T-1)-(n-1)(n-2) \le T(T-1)$. Nothing before used convexity in $\beta$ but
    $\phi(\bar\beta,w^{*}) \le \sum q^i\phi(\tilde\beta^i,w^{*})/\Gamma$, so the random index may
    stay. For batches n is the real number $N = n/b$, and $(N-1)(2-N)/(N\sigma_b-1)$ is added to
    $N\sigma_b$ when $1 < N < 2$.
Proof: by hand, symbolic
Check: the product symbolically, for real N; both bounds over all sequences in fractions; for N =
    3/2 with the added term. Not tight: the runs reach at most .4 of the bound.
Tested: n ≤ 4, p ≤ 2 (rows not parallel where p = 2), k ≤ 3; squared, Huber-like and shifted losses;
    b ≤ 2
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import zoo
from proofs_check.statement import Finding, Kind, check


def doubled_factor(N: Any, T: Any) -> Any:
    """T, and (N−1)(2−N)/(T−1) more."""
    return T + (N - 1) * (2 - N) / (T - 1)


@check(
    Kind.SYMBOLIC,
    doubled_factor,
    {
        "(N−1)(3−N)": lambda N, T: T + (N - 1) * (3 - N) / (T - 1),
        "T − 1 for T": lambda N, T: doubled_factor(N, T) - 1,
    },
)
def the_product_of_the_two_factors(formula: Any) -> Finding:
    """(T−N+1)(1+(N−1)/(T−1)) for all real N and T."""
    N, T = sympy.symbols("N T", positive=True)
    rest = sympy.simplify((T - N + 1) * (1 + (N - 1) / (T - 1)) - formula(N, T))
    return Finding(rest == 0, f"rest {rest}")


def half_factor(one: Strong) -> Any:
    """C with C·γM²/(q^k−1)."""
    return max(one.T, doubled_factor(one.N, one.T)) / 2


@check(
    Kind.EXACT,
    half_factor,
    {
        "T/2 − 1 for T/2": lambda one: half_factor(one) - 1,
        "a tenth": lambda one: half_factor(one) / 10,
    },
)
def both_bounds_hold_over_all_sequences(factor: Any) -> Finding:
    """The averaged iterate and the random one, k ≤ 3, b = 1 and b = 2."""
    largest, at_random = Fraction(0), Fraction(0)
    for one in [*zoo()[::3], *zoo(2)[::3]]:
        problem = one.problem
        for k, paths in one.levels(3):
            limit = factor(one) * one.energy
            largest = max(largest, (one.q**k - 1) * one.gaps(k)[-1][1] / abs(limit))
            weights = [one.q**i for i in range(k)]
            drawn = mean(
                sum(x * problem.primal(atom) for x, atom in zip(weights, path.atoms, strict=True))
                for path in paths
            )
            drawn = drawn / sum(weights) - one.dual_means(k)[k]
            at_random = max(at_random, (one.q**k - 1) * drawn / abs(limit))
    return Finding(
        largest <= 1 and at_random <= 1,
        f"largest ratio {float(largest):.4f}, for the random index {float(at_random):.4f}",
        max(largest, at_random),
    )

r"""The duality gap decreases like n/k in expectation.

Paper: Theorem 3.1 (thm:non-strong), Section 3
Claim: For all $k \ge 0$: $\mathbb E[P(\bar\beta^k)-D(\bar w^k)] \le \frac{8n\gamma M^2}{4n+k} +
    \frac{2n(2n-1)D_{\max}}{(4n+k)(k+1)} \le \frac{8n\gamma M^2}{4n+k} + \frac{2n(2n-1)\gamma
    M^2}{(4n+k)(k+1)}$.
Hypotheses: (A); (U); b = 1; (3.1)
Verdict: PROOF GAP
Correction: Both inequalities are true, with the smallest $D_{\max}$ and with
    $\frac1n\sum_j\gamma_j M_j^2$ for $\gamma M^2$ (thm:A); the printed proof uses at a random
    $\hat w$ what holds for fixed w (chain:random-w). The second inequality is loose: $D_{\max} \le
    \gamma M^2/2$.
Proof: by hand, symbolic, interval; thm:A
Check: That the bound is what the proof's sum leaves, symbolically; and both inequalities against
    the exact expectation over all index sequences of small problems, squared and Huber-like
    losses, polytopes and a strongly convex R.
Tested: n ≤ 5, p ≤ 5, b = 1, k ≤ 5; squared and Huber-like losses
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from proofs_check.exact.energies import energies, printed_bound, sample
from proofs_check.exact.fitted import separable
from proofs_check.statement import Finding, Kind, check


@check(
    Kind.SYMBOLIC,
    printed_bound,
    planted={
        "coefficient 4 for 8": lambda N, k, energy, radius: printed_bound(N, k, energy / 2, radius),
        "k + 1 for k": lambda N, k, energy, radius: printed_bound(N, k + 1, energy, radius),
        "2n + 1 for 2n - 1": lambda N, k, energy, radius: printed_bound(
            N, k, energy, radius * (2 * N + 1) / (2 * N - 1)
        ),
    },
)
def bound_is_the_telescoped_sum(bound: Any) -> Finding:
    """G B_k = 4N(k+1)γM² + c_{−1}D_max, and Σ 4N(2N+i)/(2N+i+1) is at most the first term."""
    N, k, energy, radius = sp.symbols("N k E D", positive=True)
    total = (4 * N + k) * (k + 1) / 2
    summed = 4 * N * (k + 1) * energy + N * (2 * N - 1) * radius
    wrong = sp.simplify(bound(N, k, energy, radius) * total - summed)
    lost = sp.simplify(4 * N - 4 * N * (2 * N + k) / (2 * N + k + 1))
    agrees = wrong == 0 and lost == 4 * N / (2 * N + k + 1)
    return Finding(bool(agrees), f"G B_k minus the sum: {wrong}; a step's rounding up: {lost}")


@check(
    Kind.EXACT,
    printed_bound,
    planted={
        "leading constant 1 for 8": lambda N, k, energy, radius: printed_bound(
            N, k, energy / 8, radius
        ),
        "a rate of 1/k^2": lambda N, k, energy, radius: printed_bound(
            N, k, energy / (k + 1), radius
        ),
    },
)
def both_inequalities_by_enumeration(bound: Any) -> Finding:
    """b = 1, the smallest D_max."""
    runs = [run for run in sample() if run.b == 1]
    runs += [energies(separable(n, 0), 1, k) for n, k in ((2, 5), (3, 3), (5, 1))]
    largest = 0
    for run in runs:
        problem = run.fitted.problem
        printed = max(loss.gamma for loss in problem.losses) * max(run.fitted.bounds) ** 2
        first = bound(run.N, run.k, printed, run.fitted.radius)
        second = bound(run.N, run.k, printed, printed)
        if not run.gap <= first <= second:
            found = f"{float(run.gap):.4f}, {float(first):.4f}, {float(second):.4f}"
            return Finding(False, f"n = {problem.n}, k = {run.k}: not increasing: {found}")
        largest = max(largest, run.gap / first)
    detail = f"{len(runs)} expectations; the largest is {float(largest):.4f} of the first bound"
    return Finding(True, detail, largest)

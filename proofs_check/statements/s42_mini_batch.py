r"""Theorem 3.1 for mini-batches: n/b takes the place of n.

Paper: Remark 3.4 (wilderness non-strong), Section 3.1
Claim: With batches of b rows drawn without replacement and n/b for n in the step sizes, $\mathbb
    E[P(\bar\beta^k)-D(\bar w^k)] \le \frac{8(n/b)\gamma M^2}{4(n/b)+k} +
    \frac{2(n/b)(2(n/b)-1)\gamma M^2}{(4(n/b)+k)(k+1)}$, after noticing that $\|\tilde g^i\|_2 \le
    \frac{2M\sqrt b}{n}$.
Hypotheses: (A); (U); (3.1)
Verdict: PROOF GAP
Correction: True, and with $D_{\max}$ in the second term; the proof is (thm:A), where a batch
    enters only through $P(j\in B_i\mid\mathrm{past}) = b/n$. For fixed w the printed argument
    holds: $\frac nb\cdot\frac{n\gamma\eta}{2}\cdot\frac{4M^2b}{n^2} = 2\gamma M^2\eta$, so the
    remark is right that the third and fourth line keep their n.
Proof: by hand, symbolic, interval; thm:A
Check: That product symbolically; the norm of $\tilde g^i$ and the bound in fractions over all
    sequences of batches, N = 1, 4/3 and 3/2.
Tested: n ≤ 4, p ≤ 3, 2 ≤ b ≤ n, k ≤ 4; squared and Huber-like losses
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp

from proofs_check.exact.energies import Energies, all_energies, printed_bound, sample, step
from proofs_check.exact.fitted import family, separable
from proofs_check.statement import Finding, Kind, check


def squared_norm(n: Any, b: Any, M: Any) -> Any:
    """(2M√b/n)²."""
    return 4 * M**2 * b / n**2


@check(
    Kind.SYMBOLIC,
    squared_norm,
    planted={
        "b squared": lambda n, b, M: squared_norm(n, b**2, M),
        "coefficient 1 for 4": lambda n, b, M: squared_norm(n, b, M) / 4,
        "n - 1 for n": lambda n, b, M: squared_norm(n - 1, b, M),
    },
)
def batch_size_cancels(squared_norm: Any) -> Finding:
    """Where the fourth line becomes the fifth."""
    n, b, M, gamma, eta = sp.symbols("n b M gamma eta", positive=True)
    wrong = sp.simplify(
        n / b * n * gamma * eta / 2 * squared_norm(n, b, M) - 2 * gamma * M**2 * eta
    )
    return Finding(
        wrong == 0, f"(n/b) times the fourth line's term, minus 2 gamma M^2 eta: {wrong}"
    )


@cache
def runs() -> list[Energies]:
    """Proper batches, N = 4/3 among them."""
    drawn = [run for run in sample() if run.b > 1]
    wide = [run for fitted in family(42, 3, (4,)) for run in all_energies(fitted, 3, 3)]
    return [*drawn, *wide, *all_energies(separable(3, 0), 2, 4)]


@check(
    Kind.EXACT,
    squared_norm,
    planted={"without b": lambda n, b, M: squared_norm(n, 1, M) / 4},
)
def norm_of_the_batch_subgradient(squared_norm: Callable[..., Any]) -> Finding:
    """‖g̃‖² = (1/n²)Σ_{j∈B} u_j² at the last step."""
    largest = Fraction(0)
    for run in runs():
        n, M = run.fitted.problem.n, max(run.fitted.bounds)
        for path in run.paths:
            norm = sum(step(path, run.k)[j] ** 2 for j in path.batches[-1]) / n**2
            largest = max(largest, norm / squared_norm(n, run.b, M))
    detail = f"squared norms at most {float(largest):.4f} of the bound"
    return Finding(largest <= 1, detail, largest)


@check(
    Kind.EXACT,
    printed_bound,
    planted={
        "leading constant 1 for 8": lambda N, k, energy, radius: printed_bound(
            N, k, energy / 8, radius
        ),
        "a rate of 1/k^2": lambda N, k, energy, radius: printed_bound(
            N, k, energy / (k + 1), radius / (k + 1)
        ),
    },
)
def bound_by_enumeration(bound: Callable[..., Any]) -> Finding:
    """With D_max in the second term."""
    found, largest = runs(), Fraction(0)
    for run in found:
        gamma = max(loss.gamma for loss in run.fitted.problem.losses)
        right = bound(run.N, run.k, gamma * max(run.fitted.bounds) ** 2, run.fitted.radius)
        if run.gap > right:
            return Finding(False, f"N = {run.N}, k = {run.k}: the gap is larger")
        largest = max(largest, run.gap / right)
    sizes = ", ".join(str(N) for N in sorted({run.N for run in found}))
    detail = f"{len(found)} expectations, N = {sizes}, at most {float(largest):.4f} of the bound"
    return Finding(True, detail, largest)

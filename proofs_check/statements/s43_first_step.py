r"""Theorem 3.1 after the first step.

Paper: Theorem 3.1 at k = 0 (thm:non-strong k-zero), Section 3
Claim: $\alpha_0 = 1$, $\eta_0 = \frac{2n}{2n+1}$, and $\mathbb E[P(\bar\beta^0)-D(\bar w^0)] \le
    2\gamma M^2 + \frac{2n-1}{2}D_{\max}$.
Hypotheses: (A); (3.1)
Verdict: LOOSE
Correction: Nothing is random yet: $P(\tilde\beta^0)-D(w^0) =
    \frac1n\sum_jD_{l_j}(x_j^T\tilde\beta^0, 0) \le \frac1{2n}\sum_j\gamma_jM_j^2 \le \frac12\gamma
    M^2$, attained by the squared loss on a cube. The bound is at least four times that.
Proof: by hand, symbolic
Check: The bound at k = 0 symbolically; the gap's formula and its bound in fractions, with equality
    for X = I, $l_j = s^2/2$ and $\|\beta\|_\infty\le1$.
Tested: n ≤ 3, p ≤ 3, b = 1, k = 0; squared and Huber-like losses
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_check.exact.energies import Energies, energies, printed_bound
from proofs_check.exact.fitted import family, separable
from proofs_check.statement import Finding, Kind, check


@check(
    Kind.SYMBOLIC,
    printed_bound,
    planted={
        "coefficient 4 for 8": lambda N, k, energy, radius: printed_bound(N, k, energy / 2, radius),
        "index shifted": lambda N, k, energy, radius: printed_bound(N, k + 1, energy, radius),
    },
)
def bound_at_zero(bound: Any) -> Finding:
    """The bound and the step sizes."""
    N, energy, radius = sp.symbols("N E D", positive=True)
    wrong = sp.simplify(bound(N, 0, energy, radius) - 2 * energy - (2 * N - 1) * radius / 2)
    alpha, eta = 2 * (2 * N) / ((4 * N) * 1), 2 * N / (2 * N + 1)
    steps = sp.simplify(alpha) == 1 and sp.simplify(1 - eta - 1 / (2 * N + 1)) == 0
    return Finding(wrong == 0 and steps, f"bound minus 2 gamma M^2 + (2n-1)D_max/2: {wrong}")


def truth(run: Energies) -> Any:
    """(1/2n) Σ γ_j M_j²."""
    return run.fitted.energy / 2


@check(
    Kind.EXACT,
    truth,
    planted={
        "a quarter": lambda run: run.fitted.energy / 4,
        "not attained": lambda run: run.fitted.energy,
    },
)
def gap_after_the_first_step(truth: Callable[[Energies], Any]) -> Finding:
    """The same in every path, and equal to the distance."""
    ratios = []
    for fitted in (*family(43, 10, (1, 2, 3)), separable(3, 0)):
        run = energies(fitted, 1, 0)
        problem, path = fitted.problem, run.paths[0]
        predictions = problem.predictions(path.atoms[0])
        formula = problem.bregman(path.s[0], predictions)
        if len({p.gap() for p in run.paths}) > 1 or run.gap != formula:
            return Finding(False, f"n = {problem.n}: the gap is {run.gap}, not {formula}")
        ratios.append(run.gap / truth(run))
    detail = f"{len(ratios)} problems, at most {float(max(ratios)):.4f} of γM̄²/2"
    loosest = printed_bound(Fraction(1), 0, Fraction(1), Fraction(1, 2)) * 2
    return Finding(max(ratios) == 1, f"{detail}, which is attained", 1 / loosest)

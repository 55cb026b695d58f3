r"""Theorem 3.1 with a smoothness constant of its own for every sample.

Paper: none; sharpens Theorem 3.1 (thm:A-per-sample)
Claim: If $l_j$ is $\gamma_j$-smooth, $\gamma\bar M^2$ may be replaced by
    $\frac1n\sum_j\gamma_jM_j^2$ in (thm:A) and in (thm:hand).
Hypotheses: (A); (U); (3.1)
Verdict: REPAIRED
Correction: The rows of U, S and $\nu$ are weighted by $\gamma_j$; (E) holds row by row, (F4) pairs
    $\gamma_j\nu_j^2$, and (II) pairs $|w_j-w_j^*|/\sqrt{\gamma_j}$ with $\sqrt{\gamma_j}|\nu_j|$.
Proof: by hand, interval; as thm:A
Check: Exact expectations of problems whose $\gamma_j$ differ by up to a factor of four, all batch
    sizes. Not tight: the runs reach at most .22 of the bound.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses, each with its own $\gamma_j$
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.exact.energies import Energies, sample
from proofs_check.statement import Finding, Kind, check


def energy(run: Energies) -> Any:
    """(1/n) Σ γ_j M_j²."""
    losses, bounds = run.fitted.problem.losses, run.fitted.bounds
    pairs = zip(losses, bounds, strict=True)
    return sum(loss.gamma * bound**2 for loss, bound in pairs) / run.fitted.problem.n


def smallest(run: Energies) -> Any:
    """min_j γ_j M_j²: not an upper bound."""
    losses, bounds = run.fitted.problem.losses, run.fitted.bounds
    return min(loss.gamma * bound**2 for loss, bound in zip(losses, bounds, strict=True))


@check(
    Kind.EXACT,
    energy,
    planted={"the smallest row": smallest, "an eighth": lambda run: energy(run) / 8},
)
def theorem_by_enumeration(energy: Callable[[Energies], Any]) -> Finding:
    """Only problems whose γ_j differ."""
    runs = [
        run
        for run in sample(equal=False)
        if len({loss.gamma for loss in run.fitted.problem.losses}) > 1
    ]
    largest, gain = Fraction(0), Fraction(0)
    for run in runs:
        bound = 4 * run.N * (run.k + 1) * energy(run) + run.offset
        if run.total * run.gap > bound:
            return Finding(False, f"N = {run.N}, k = {run.k}: the gap is larger")
        largest = max(largest, run.total * run.gap / bound)
        gammas = [loss.gamma for loss in run.fitted.problem.losses]
        gain = max(gain, max(gammas) * max(run.fitted.bounds) ** 2 / run.fitted.energy)
    detail = f"{len(runs)} expectations, at most {float(largest):.4f} of the bound"
    words = f"{detail}; γM² is up to {float(gain):.2f} times the energy"
    return Finding(True, words, largest)

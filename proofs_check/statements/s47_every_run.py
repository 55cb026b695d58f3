r"""A bound of the gap in every single run.

Paper: none; beside Theorem 3.1 (lem:pathwise)
Claim: In every run and for every k, $P(\bar\beta^k)-D(\bar w^k) \le \frac2n\sum_j\gamma_jM_j^2 \le
    2\gamma M^2$, whatever the step sizes $\eta_i \in (0,1]$ and the averaging weights are.
Hypotheses: (A); steps $\eta_i \in (0, 1]$; any averaging weights
Verdict: REPAIRED
Correction: $P(\tilde\beta^i)-D(w^i) = \frac1n\sum_jD_{l_j}(x_j^T\tilde\beta^i,s^i_j) \le
    \frac1{2n}\sum_j\gamma_j(u^i_j)^2$ with $|u^i_j| \le 2M_j$; P is convex and D concave.
Proof: by hand
Check: Every path of drawn problems in fractions, each row its own $\gamma_j$. Not tight: the runs
    reach a quarter of the bound, the atoms all of theirs.
Tested: n ≤ 4, p ≤ 2, b ≤ n, k ≤ 4; squared and Huber-like losses, each with its own $\gamma_j$
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from proofs_check.exact.energies import Energies, sample, step
from proofs_check.statement import Finding, Kind, check


def ceiling(run: Energies) -> Any:
    """(2/n) Σ γ_j M_j²."""
    return 2 * run.fitted.energy


@check(
    Kind.EXACT,
    ceiling,
    planted={"coefficient 1/4 for 2": lambda run: ceiling(run) / 8},
)
def gap_of_every_run(ceiling: Callable[[Energies], Any]) -> Finding:
    """P(β̄^k) − D(w̄^k), path by path."""
    largest, count = Fraction(0), 0
    for run in sample(equal=False):
        for path in run.paths:
            largest = max(largest, path.gap() / ceiling(run))
            count += 1
    detail = f"{count} runs, gaps at most {float(largest):.4f} of the bound"
    return Finding(largest <= 1, detail, largest)


@check(
    Kind.EXACT,
    Fraction(1, 2),
    planted={"coefficient 1/3": Fraction(1, 3), "coefficient 1/4": Fraction(1, 4)},
)
def gap_of_every_atom(coefficient: Fraction) -> Finding:
    """P(β̃^k) − D(w^k) = (1/n) Σ D_{l_j}(x_jᵀβ̃^k, s^k_j) ≤ (1/2n) Σ γ_j u_j² in every path."""
    largest, count = Fraction(0), 0
    for run in sample(equal=False):
        problem = run.fitted.problem
        for path in run.paths:
            predictions = problem.predictions(path.atoms[-1])
            gap = problem.primal(path.atoms[-1]) - problem.dual(path.w[-2])
            if gap != problem.bregman(path.s[-2], predictions):
                return Finding(False, f"N = {run.N}, k = {run.k}: the gap is not the distance")
            steps = zip(problem.losses, step(path, run.k), strict=True)
            most = coefficient * sum(loss.gamma * u * u for loss, u in steps) / problem.n
            if gap > most:
                return Finding(False, f"N = {run.N}, k = {run.k}: an atom's gap is larger")
            largest = max(largest, gap / most if most else Fraction(0))
            count += 1
    return Finding(True, f"{count} atoms, gap equal to the distance and below it", largest)

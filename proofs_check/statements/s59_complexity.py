r"""The number of iterations lacks the square of the rows' norm.

Paper: Remark 3.3 (rem:complexity), Section 3.1
Claim: $O\left((n+\frac{\gamma}{\mu})\log(\frac1\varepsilon)\right)$ iterations give an absolute
    $\varepsilon$-optimal solution.
Hypotheses: (A); (B); b = 1; (S); (M); (P)
Verdict: TYPO
Correction: $\gamma\max_j\|x_j\|_2^2/\mu$ for $\gamma/\mu$, as in Corollary 3.2, or rows with
    $\|x_j\|_2 \le 1$. With the corrected corollary $k \ge T\ln(T\gamma M^2/\varepsilon)$ is
    enough, $T = n+\gamma\max_j\|x_j\|_2^2/\mu$, since $T(1-\frac1T)^k \le Te^{-k/T}$. Without that
    T in the logarithm the remark is proved for quadratic losses, and for all losses with the
    exact step (thm:exact-step), not for the printed one.
Proof: by hand; from the corrected corollary
Check: exactly, n = 2 orthogonal rows of norms 30 and 1, $\gamma = \mu = 1$: after $k =
    T\ln(T\gamma M^2/\varepsilon)$ steps with $T = n+\gamma/\mu$ no run is $\varepsilon$-optimal,
    not even one that spends all steps on the second row; with the corrected T the bound is below
    $\varepsilon$.
Tested: n = 2, p = 2, b = 1, k = 41; squared losses
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import start
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Ridge
from proofs_check.exact.strong import Strong
from proofs_check.statement import Finding, Kind, check

F = Fraction


def orthogonal(length: int) -> Strong:
    """l = s²/2, rows (length, 0) and (0, 1), R = ‖β − (1, 1)‖²/2 on a square."""
    rows = ((F(length), F(0)), (F(0), F(1)))
    return Strong(Small(rows, [Squared(F(0))] * 2, Ridge(F(1), (F(1), F(1)), F(1))))


def remaining(one: Strong, k: int) -> Fraction:
    """The smallest D* − D(w^k) of all runs: D is a sum over the rows here, and never falls."""
    problem, path = one.problem, start(one.problem, one.steps)
    for _ in range(k):
        path = path.extended((1,))
    solved = tuple(dot / (dot**2 / 2 + 1) for dot in (one.problem.rows[0][0], F(1)))
    best = problem.dual(solved)
    assert best == problem.primal(tuple(1 / (row**2 / 2 + 1) for row in (problem.rows[0][0], F(1))))
    return best - problem.dual((solved[0], path.w[-1][1]))


def condition(gamma: Any, mu: Any, row: Any) -> Any:
    """γ max‖x_j‖²/μ."""
    return gamma * row / mu


@check(
    Kind.FLOAT,
    condition,
    {
        "γ/μ as printed": lambda gamma, mu, row: gamma / mu,
        "γ max‖x_j‖/μ": lambda gamma, mu, row: gamma * math.sqrt(row) / mu,
    },
)
def the_count_needs_the_rows(number: Any) -> Finding:
    """ε is a tenth of what the second row has to gain; M = 60."""
    one = orthogonal(30)
    energy, epsilon = 60.0**2, remaining(one, 0) / 10

    def count(T: float) -> int:
        return math.ceil(T * math.log(T * energy / float(epsilon)))

    T, printed = one.n + float(number(1, 1, one.row)), one.n + 1.0
    true = float(one.T)
    enough = true * math.exp(count(T) * math.log1p(-1 / true)) * energy
    left = remaining(one, count(printed)) / epsilon
    return Finding(
        left > 1 and enough <= epsilon,
        f"after {count(printed)} steps no run is closer than {float(left):.2f} ε; "
        f"{count(T)} steps are enough",
    )

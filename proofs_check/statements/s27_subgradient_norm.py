r"""The coordinate subgradient is at most 2M/n long.

Paper: Corollary 3.1 (cor:bound), Section 3
Claim: $\|\tilde g^i\|_2 = \tfrac1n|x_{j_i}^T\tilde\beta^i - \dot l^*_{j_i}(w^i_{j_i})| \le
    \tfrac{2M}{n}$; for batches of b rows $\tfrac{2M\sqrt b}{n}$ (Remark 3.4).
Hypotheses: (A); steps $\eta_i \in (0, 1]$
Verdict: HOLDS
Correction: not attained, as $|s_j^i| < M$; the supremum is 2M/n, approached by an oracle that
    answers M many times and then -M.
Proof: by hand; s-bound and the triangle inequality
Check: all runs of a problem with n = 3, in fractions, for b = 1 and b = 2, where the squared
    norm is compared with $4M^2b/n^2$; and a run that reaches 0.99 of the bound.
Tested: n ≤ 3, p ≤ 2, b ≤ 2, k ≤ 8; squared and Huber-like losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import Path, levels, start
from proofs_check.exact.problem import Small
from proofs_check.exact.regularizers import Cube
from proofs_check.exact.schedules import Steps, sublinear
from proofs_check.statement import Finding, Kind, check


def squared_bound(bound: Any, b: int, n: int) -> Any:
    """4M²b/n²."""
    return 4 * bound**2 * b / Fraction(n * n)


def _squared_norm(path: Path, i: int) -> Any:
    predictions = path.problem.predictions(path.atoms[i])
    parts = ((predictions[j] - path.s[i][j]) ** 2 for j in path.batches[i])
    return sum(parts) / Fraction(path.problem.n**2)


@check(
    Kind.EXACT,
    squared_bound,
    {
        "M²b/n²": lambda bound, b, n: bound**2 * b / Fraction(n * n),
        "another 1/n": lambda bound, b, n: squared_bound(bound, b, n) / n,
    },
)
def no_run_exceeds_the_bound(formula: Any) -> Finding:
    """All runs of four steps."""
    small = problem(default_rng(27), 3, 2, Cube(Fraction(1)), tilted)
    largest_row = max(sum(abs(x) for x in row) for row in small.rows)
    worst = Fraction(0)
    for b in (1, 2):
        paths = list(levels(small, sublinear(Fraction(3, b)), b, 4))[-1]
        norms = (_squared_norm(path, i) for path in paths for i in range(4))
        worst = max(worst, max(norms) / formula(largest_row, b, 3))
    root = float(worst) ** 0.5
    return Finding(worst <= 1, f"largest norm is {root:.4f} of the bound", root)


@check(
    Kind.EXACT,
    squared_bound,
    {"3M instead of 2M": lambda bound, b, n: 9 * bound**2 * b / Fraction(n * n)},
)
def the_bound_is_approached(formula: Any) -> Finding:
    """n = 1, label just below 0.99 M: β̃ is M until s passes the label, then −M."""
    small = Small(((Fraction(1),),), [Squared(Fraction(98, 100))], Cube(Fraction(1)))
    steps = Steps(lambda i: Fraction(1, 2), lambda i: Fraction(1))
    path = start(small, steps)
    for _ in range(8):
        path = path.extended((0,))
    share = max(_squared_norm(path, i) for i in range(8)) / formula(Fraction(1), 1, 1)
    root = float(share) ** 0.5
    return Finding(Fraction(98, 100) < share < 1, f"a norm of {root:.5f} of the bound", root)

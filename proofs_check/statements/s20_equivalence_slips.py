r"""Slips in the proof of the equivalence lemma.

Paper: proof of Lemma 2.1 (lem:equi-proof), Section 2
Claim: $(1-\eta_i)s^i_{j_i} + \eta_i x_{j_i}^T\tilde\beta^i = \dot l(w^{i+1}_{j_i}) = s^{i+1}$;
    for $j \ne i$, $s^{i+1}_j = \dot l^{*}(w^{i+1}_j) = \dot l(w^i_j) = s^i$ "from conjugacy".
Hypotheses: (A); (W)
Verdict: TYPO
Correction: $\dot l^{*}_{j_i}(w^{i+1}_{j_i}) = s^{i+1}_{j_i}$; for $j \ne j_i$,
    $s^{i+1}_j = \dot l^{*}_j(w^{i+1}_j) = \dot l^{*}_j(w^i_j) = s^i_j$, the middle equality being
    $w^{i+1}_j = w^i_j$; "$\beta^i$" is $\tilde\beta^i$; Section 3 calls the lemma a theorem.
Proof: by hand
Check: the corrected equalities hold at every step of exact runs; the printed $\dot l$ for
    $\dot l^{*}$ and the printed $j \ne i$ do not.
Tested: n = 4, p = 3, b = 1, k ≤ 12; Huber-like losses
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.mirror import conjugate_slope
from proofs_check.exact.paths import Path, start
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check


def _run() -> Path:
    generator = default_rng(20)
    small = problem(generator, 4, 3, cross_polytope(3, Fraction(2)), tilted)
    path = start(small, sublinear(Fraction(4)))
    for j in (2, 0, 3, 1, 1, 2, 0, 0, 3, 2, 1, 3):
        path = path.extended((j,))
    return path


def printed_slope(loss: Any, w: Any) -> Any:
    """l'(w) where l*'(w) is meant."""
    return loss.derivative(w)


@check(Kind.EXACT, conjugate_slope, {"the derivative as printed": printed_slope})
def the_conjugates_slope_returns_the_predictions(slope: Any) -> Finding:
    """l*'_j(w^i_j) = s^i_j for all i and j."""
    path = _run()
    wrong = sum(
        slope(loss, w) != s
        for row_w, row_s in zip(path.w, path.s, strict=True)
        for loss, w, s in zip(path.problem.losses, row_w, row_s, strict=True)
    )
    return Finding(wrong == 0, f"{wrong} of {4 * len(path.w)} equalities fail")


def updated_row(path: Path, i: int) -> int:
    """j_i."""
    return path.batches[i][0]


@check(Kind.EXACT, updated_row, {"j ≠ i as printed": lambda path, i: i})
def only_the_drawn_row_changes(row: Any) -> Finding:
    """w^{i+1}_j = w^i_j for every j other than the subject's."""
    path = _run()
    wrong = sum(
        path.w[i + 1][j] != path.w[i][j]
        for i in range(len(path.batches))
        for j in range(4)
        if j != row(path, i)
    )
    return Finding(wrong == 0, f"{wrong} rows changed that were said to stay")

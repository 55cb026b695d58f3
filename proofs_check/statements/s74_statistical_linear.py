r"""The linear bounds hold for rcmd's own runs with up to 10,000 rows.

Paper: Theorem 3.2 (thm:strong-statistical), Section 3.1
Claim: $\mathbb{E}[P(\bar\beta^{k-1}) - D(w^k)]$ is at most $\frac{D_{\max}}{q^k-1}$ for a squared
    loss with n = 200 and n = 10,000, k = n, and at most $\frac{\gamma M^2}{q^k-1}$ for a logistic
    loss with n = 200, k = 2n.
Verdict: HOLDS
Check: the mean gap of independent runs of the compiled engine, with an empirical Bernstein
    bound (Maurer and Pontil) of failure rate $10^{-6}$. No gap exceeds $\frac{\gamma}{2n}\sum_j$
    of the squared length of the interval of 0 and the predictions, which fixes the number of
    runs beforehand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from proofs_check.statement import Finding, Kind, check
from proofs_check.statistical.claims import Claim, Experiment
from proofs_check.statistical.wrong import ConstantSteps
from rcmd import LeastSquares, Logistic, Problem, Ridge, Translated
from rcmd.model.constants import Constants
from rcmd.model.schedules import LinearSchedule


def decay(c: Constants, steps: int) -> float:
    """1/(q^k − 1)."""
    total = c.n * c.sigma
    return 1 / ((total / (total - 1)) ** steps - 1)


def first_bound(c: Constants, steps: int) -> Any:
    """D_max/(q^k − 1)."""
    return c.bregman_radius * decay(c, steps)


def second_bound(c: Constants, steps: int) -> Any:
    """γM²/(q^k − 1)."""
    return c.gamma * c.prediction_bound**2 * decay(c, steps)


def squared(n: int) -> Problem:
    """l = s²/2 with R = 5(β−1)² near 1: σ → 1, where the first inequality is nearly tight."""
    near_one = Translated(Ridge(10.0, 0.1), np.ones(1))
    return Problem(np.ones((n, 1)), np.zeros(n), LeastSquares(), near_one)


def squared_200() -> Problem:
    """With 200 rows."""
    return squared(200)


def squared_10000() -> Problem:
    """With 10,000 rows."""
    return squared(10_000)


def logistic_200() -> Problem:
    """The counterexample to the first inequality, with 200 rows for its two."""
    far_side = Translated(Ridge(1.0, 5.0), np.full(1, -5.0))
    return Problem(np.ones((200, 1)), np.ones(200), Logistic(), far_side)


def linear(c: Constants) -> LinearSchedule:
    """Theorem 3.2's steps and weights."""
    return LinearSchedule(c.blocks, c.sigma)


FIRST, SECOND = Claim(first_bound, linear), Claim(second_bound, linear)
SMALL = Experiment(squared_200, 200, last=True, expected=first_bound, share=0.6)
LARGE = Experiment(squared_10000, 10_000, last=True, expected=first_bound, share=0.6)
FAR = Experiment(logistic_200, 400, last=True, expected=second_bound, share=0.3)
PLANTED = {
    "a third of the radius": replace(FIRST, bound=lambda c, k: first_bound(c, k) / 3),
    "2k for k": replace(FIRST, bound=lambda c, k: first_bound(c, 2 * k)),
    "no steps": replace(FIRST, schedule=lambda c: ConstantSteps(0.0)),
}


@check(Kind.STATISTICAL, subject=FIRST, planted=PLANTED)
def mean_gap_of_a_squared_loss_with_200_rows(claim: Claim) -> Finding:
    """D_max/(q^k − 1) at k = n."""
    return SMALL.finding(claim)


@check(
    Kind.STATISTICAL,
    subject=SECOND,
    planted={
        "D_max for γM², as in the first inequality": replace(SECOND, bound=first_bound),
        "4k for k": replace(SECOND, bound=lambda c, k: second_bound(c, 4 * k)),
    },
    slow=True,
)
def mean_gap_of_a_logistic_loss_with_200_rows(claim: Claim) -> Finding:
    """γM²/(q^k − 1) at k = 2n, where D_max/(q^k − 1) is out of reach."""
    return FAR.finding(claim)


@check(Kind.STATISTICAL, subject=FIRST, planted=PLANTED, slow=True)
def mean_gap_of_a_squared_loss_with_10000_rows(claim: Claim) -> Finding:
    """The same with 50 times the rows."""
    return LARGE.finding(claim)

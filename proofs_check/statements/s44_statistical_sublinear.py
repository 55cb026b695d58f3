r"""The sublinear bound holds for rcmd's own runs with up to 10,000 rows.

Paper: Theorem 3.1 (thm:non-strong-statistical), Section 3
Claim: for the squared loss on a cube, $\mathbb{E}[P(\bar\beta^k) - D(\bar w^k)] \le
    \frac{8n\gamma M^2}{4n+k} + \frac{2n(2n-1)D_{\max}}{(4n+k)(k+1)}$ with n = 200, k + 1 = 10n,
    and with n = 10,000, k + 1 = 20n.
Verdict: HOLDS
Check: the mean gap of independent runs of the compiled engine, with an empirical Bernstein
    bound (Maurer and Pontil) of failure rate $10^{-6}$. Every gap lies in $[0, 2\gamma M^2]$,
    which fixes the number of runs beforehand.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from proofs_check.statement import Finding, Kind, check
from proofs_check.statistical.claims import Claim, Experiment
from proofs_check.statistical.wrong import ConstantSteps
from rcmd import Box, LeastSquares, Problem
from rcmd.model.constants import Constants
from rcmd.model.schedules import SublinearSchedule


def printed_bound(c: Constants, steps: int, *, leading: float = 8, speed: int = 1) -> Any:
    """Theorem 3.1's right-hand side, at the paper's k = steps − 1."""
    k, n = speed * (steps - 1), c.n
    first = leading * n * c.gamma * c.prediction_bound**2 / (4 * n + k)
    return first + 2 * n * (2 * n - 1) * c.bregman_radius / ((4 * n + k) * (k + 1))


def separable() -> Problem:
    """X = I: among the problems tried, the nearest to the bound."""
    n = 200
    return Problem(np.eye(n), np.full(n, 0.9), LeastSquares(), Box(-1.0, 1.0))


def ten_groups() -> Problem:
    """10,000 rows, a thousand of each of ten kinds."""
    rows = np.eye(10)[np.arange(10_000) % 10]
    return Problem(rows, np.full(10_000, 0.3), LeastSquares(), Box(-1.0, 1.0))


RIGHT = Claim(printed_bound, lambda c: SublinearSchedule(c.blocks))
SMALL = Experiment(separable, 10 * 200, last=False, expected=printed_bound, share=0.3)
LARGE = Experiment(ten_groups, 20 * 10_000, last=False, expected=printed_bound, share=0.3)
PLANTED = {
    "leading constant 1/2 for 8": replace(
        RIGHT, bound=lambda c, k: printed_bound(c, k, leading=0.5)
    ),
    "16k for k": replace(RIGHT, bound=lambda c, k: printed_bound(c, k, speed=16)),
}


@check(
    Kind.STATISTICAL,
    subject=RIGHT,
    planted={
        **PLANTED,
        "unit steps, equal weights": replace(RIGHT, schedule=lambda c: ConstantSteps(1.0)),
    },
)
def mean_gap_with_200_rows(claim: Claim) -> Finding:
    """The printed bound at k + 1 = 10n."""
    return SMALL.finding(claim)


@check(
    Kind.STATISTICAL,
    subject=RIGHT,
    planted={
        **PLANTED,
        "the schedule of n = 1": replace(RIGHT, schedule=lambda c: SublinearSchedule(1.0)),
    },
    slow=True,
)
def mean_gap_with_10000_rows(claim: Claim) -> Finding:
    """The printed bound at k + 1 = 20n."""
    return LARGE.finding(claim)

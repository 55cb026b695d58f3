"""When running sums are computed anew, so that rounding cannot pile up."""

from __future__ import annotations

import math

LONGEST = 16
"""Passes over the data between two refreshes, once a run is under way."""


def next_refresh(iteration: int, n: int, batch: int) -> int:
    """The first iteration after ``iteration`` at which sums are computed from scratch.

    After 1, 2, 4, 8, 16 passes over the data and every 16 passes from then on: early sums
    shrink fastest and lose their digits first. It depends on the iteration alone, so that
    runs do not depend on how they are sliced.

    Examples
    --------
    >>> [next_refresh(i, n=10, batch=1) for i in (0, 10, 159, 160)]
    [10, 20, 160, 320]
    """
    for passes in (1, 2, 4, 8):
        if iteration < math.ceil(passes * n / batch):
            return math.ceil(passes * n / batch)
    period = math.ceil(LONGEST * n / batch)
    return (iteration // period + 1) * period

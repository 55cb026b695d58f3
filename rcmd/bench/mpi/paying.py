"""Which batch size pays on a cluster.

Theorem 3.1's bound after k steps is about 8 N E/(4N + k) with N = n/b: the passes over the data
that it asks for, k/N = 8E/gap − 4, do not depend on the batch. So batches may grow until messages
no longer matter; and as small ones do better in practice than their bound, they should not grow
further. The batch that pays is the smallest whose seconds for a pass are near the least there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rcmd.bench.mpi.model import Case, Prices
from rcmd.distributed.exchange import PAIR_BYTES, REDUCED_BYTES

NEAR = 1.1


@dataclass(frozen=True)
class Workload:
    """Data of n rows with z entries in p columns."""

    rows: int
    columns: int
    row_entries: int

    def case(self, ranks: int, batch: int) -> Case:
        """With the exchange that has fewer bytes."""
        sparse = PAIR_BYTES * batch * self.row_entries < REDUCED_BYTES * self.columns
        exchange = "sparse" if sparse else "dense"
        return Case(ranks, self.columns, self.row_entries, batch, exchange)


@dataclass(frozen=True)
class Forecast:
    """Seconds for a step and for a pass, for one number of ranks and one batch size."""

    case: Case
    step_seconds: float
    pass_seconds: float


def forecasts(prices: Prices, work: Workload, ranks: int, batches: Sequence[int]) -> list[Forecast]:
    """One for every batch size, in their order."""
    cases = [work.case(ranks, batch) for batch in batches if batch <= work.rows]
    steps = [(case, prices.seconds(case)) for case in cases]
    return [Forecast(case, step, step * work.rows / case.batch) for case, step in steps]


def the_one_that_pays(every: Sequence[Forecast]) -> Forecast:
    """The first, so the smallest batch, within a tenth of the shortest pass.

    Examples
    --------
    >>> cases = [Case(2, 10, 1, b, "dense") for b in (1, 2, 4)]
    >>> passes = [Forecast(case, 0.0, s) for case, s in zip(cases, (3.0, 1.05, 1.0))]
    >>> the_one_that_pays(passes).case.batch
    2
    """
    least = min(forecast.pass_seconds for forecast in every)
    return next(forecast for forecast in every if forecast.pass_seconds <= NEAR * least)

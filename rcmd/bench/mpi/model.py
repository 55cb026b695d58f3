"""The cost of a step on several ranks, as a sum of terms with one price each.

With R ranks, batches of b rows of z entries each, p columns, and f ranks to a core:

    seconds = step · f + row · f b + sample · f b/R + entry · f b z/R + column · p (+ more, below)
            + message · m ⌈log₂ R⌉ + byte · f B (R−1)/R

| exchange | more                                                               | m | B      |
|----------|--------------------------------------------------------------------|---|--------|
| dense    | add · f p, as every rank adds the sums                             | 2 | 16 p   |
| sparse   | merge · f b z + sort · f b, as every rank adds all terms in order  | 2 | 12 b z |

The m messages of a step are the atom and the change of d. Where ranks share cores (f > 1) a
message waits until the awaited rank gets one, and has a price of its own, ``crowded``. The prices
are fitted to measured times by least squares of relative errors, none below zero. A cluster with a
core for each rank has f = 1, and its network says what a message and a byte cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.distributed.exchange import PAIR_BYTES, REDUCED_BYTES

Array = npt.NDArray[Any]

PRICES = (
    "step", "row", "sample", "entry", "column", "add", "merge", "sort", "message", "crowded",
    "byte",
)  # fmt: skip
MESSAGES = 2

USUAL, ROUNDS = 0.1, 30
"""A relative error that is nothing unusual, and how often weights are made from errors."""


@dataclass(frozen=True)
class Case:
    """One way to run: R ranks, p columns, z entries a row, batches of b, and the exchange."""

    ranks: int
    columns: int
    row_entries: int
    batch: int
    exchange: str

    def amounts(self, cores: float) -> Array:
        """How much of everything in ``PRICES`` a step takes, with so many cores for all ranks."""
        R, p, b = self.ranks, self.columns, self.batch
        terms, crowd = b * self.row_entries, max(1.0, R / cores)
        stages = MESSAGES * math.ceil(math.log2(R))
        dense = self.exchange == "dense"
        size = REDUCED_BYTES * p if dense else PAIR_BYTES * terms
        return np.array(
            [
                crowd,
                crowd * b,
                crowd * b / R,
                crowd * terms / R,
                p,
                crowd * p if dense else 0.0,
                0.0 if dense else crowd * terms,
                0.0 if dense else crowd * b,
                stages if crowd == 1 else 0.0,
                stages if crowd > 1 else 0.0,
                crowd * size * (R - 1) / R,
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Prices:
    """Seconds for one of everything in ``PRICES``, on a machine with so many cores.

    Examples
    --------
    >>> case = Case(ranks=1, columns=10, row_entries=2, batch=5, exchange="dense")
    >>> fit([case], [3e-3], cores=2).seconds(case)
    0.003
    """

    values: tuple[float, ...]
    cores: float

    def seconds(self, case: Case) -> float:
        """The time of a step."""
        return float(self.parts(case).sum())

    def parts(self, case: Case) -> Array:
        """That time by its terms."""
        return case.amounts(self.cores) * np.array(self.values)

    def on_cluster(self, latency: float, bandwidth: float) -> Prices:
        """The same machines, one rank and one core each, on such a network."""
        values = dict(zip(PRICES, self.values, strict=True))
        values |= {"message": latency, "byte": 1 / bandwidth}
        return Prices(tuple(values[name] for name in PRICES), math.inf)


def fit(cases: Sequence[Case], seconds: Sequence[float], cores: float) -> Prices:
    """The prices ≥ 0 with the smallest relative errors, squared up to ``USUAL`` of their size.

    Larger ones, of cases that something else disturbed, count by their absolute values (Huber).
    """
    from scipy.optimize import nnls

    amounts = np.array([case.amounts(cores) for case in cases]) / np.array(seconds)[:, None]
    sizes = np.linalg.norm(amounts, axis=0)
    sizes[sizes == 0] = 1.0  # what no case takes has no price
    amounts /= sizes
    weights = np.ones(len(cases))
    for _ in range(ROUNDS):
        values, _ = nnls(amounts * weights[:, None], weights)
        errors = abs(amounts @ values - 1)
        weights = np.sqrt(USUAL / np.maximum(errors, USUAL))
    return Prices(tuple((values / sizes).tolist()), cores)


def relative_errors(prices: Prices, cases: Sequence[Case], seconds: Sequence[float]) -> Array:
    """|predicted/measured − 1| of every case."""
    return np.array([abs(prices.seconds(c) / s - 1) for c, s in zip(cases, seconds, strict=True)])

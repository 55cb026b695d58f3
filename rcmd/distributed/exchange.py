"""How the ranks' parts of Δd = Σ_t pull_t x_t, the change of d in a step, reach everyone.

*Sparse*: the terms pull_t x_tk travel as (column, value) pairs and are added in the order of the
batch, so that d has the bits that one process would give it, whatever the number of ranks.
*Dense*: each rank adds up its own terms, and the sums, vectors of length p, are added by an
allreduce. With b rows of z entries a rank takes in 12 b z bytes by the one and 16 p by the other
(twice p doubles, once to be summed and once as the sum); the smaller number decides.

Sums over all rows have bits that do not depend on how the rows are spread. Every term, scaled by
the largest one, is cut into two integers of 30 bits, whose sums are exact in any order:

    Σ_j t_j = 2^(e−30) (Σ_j a_j + 2^−30 Σ_j b_j) up to n·2^(e−61),    max_j |t_j| < 2^e.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rcmd.engine.kernels.batch import (
    LIMB,
    add_limbs,
    add_terms,
    cut_terms,
    largest_size,
    raise_peaks,
    scatter_batch,
    write_terms,
)
from rcmd.rows.processes import Group, SharedError
from rcmd.rows.validation import Array

if TYPE_CHECKING:
    from rcmd.distributed.problem import ShardedProblem

ExchangeName = Literal["auto", "sparse", "dense"]

PAIR_BYTES, REDUCED_BYTES = 12, 16

LIMB_BITS = 30
SMALLEST_EXPONENT = -960
"""Below it a scale would overflow; what is cut off lies below 2^−1020."""

NOT_ONCE = (
    "the rows that the ranks took are not those of the batch; expected every row to be on exactly "
    "one rank, and all ranks to draw the same batches"
)


class DenseExchange:
    """Sums of each rank, added by an allreduce; behind them the health and the rows counted."""

    name = "dense"

    def __init__(self, group: Group, p: int) -> None:
        self._group, self._p = group, p
        self._part = np.zeros(p + 2)

    def plan(self, rows: Any, shares: list[Array]) -> None:
        """Prepare these steps; ``shares`` are this rank's rows of each batch."""

    def add(
        self, rows: Any, mine: Array, pulls: Array, health: float, batch: Array, d: Array
    ) -> float:
        """Add everyone's Σ_t pulls_t x_t to d; returns the sum of everyone's ``health``."""
        self._part[:] = 0.0
        scatter_batch(rows, mine, pulls, self._part)
        self._part[self._p :] = health, len(mine)
        total = self._group.sum(self._part)
        if total[-1] != len(batch):
            raise SharedError(NOT_ONCE)
        d += total[: self._p]
        return float(total[-2])


class SparseExchange:
    """Pairs of everyone, added in the order of the batch.

    A rank's message is its health, its values, their columns and the lengths of its rows, in
    doubles and then in unsigned integers, padded to whole doubles.
    """

    name = "sparse"

    def __init__(self, group: Group, starts: Array) -> None:
        self._group, self._starts = group, starts[:-1].copy()
        self._counts: list[Array] = []

    def plan(self, rows: Any, shares: list[Array]) -> None:
        """How many rows and entries every rank will send in each step, in one message."""
        own = [(len(mine), _entries(rows, mine)) for mine in shares]
        parts = self._group.gather(np.array(own, dtype=np.int64).reshape(-1))
        everyone = np.stack([part.reshape(-1, 2) for part in parts], axis=1)
        self._counts = list(everyone[::-1])

    def add(
        self, rows: Any, mine: Array, pulls: Array, health: float, batch: Array, d: Array
    ) -> float:
        counts = self._counts.pop()
        lengths = 1 + counts[:, 1] + (counts.sum(axis=1) + 1) // 2
        entries = counts[self._group.rank, 1]
        message = np.empty(lengths[self._group.rank])
        message[0] = health
        words = message[1 + entries :].view(np.uint32)
        write_terms(rows, mine, pulls, message[1:], words, words[entries:])
        received = self._group.gather(message, lengths)
        begins = np.cumsum(lengths) - lengths
        values = begins + 1
        columns = 2 * (values + counts[:, 1])
        places = np.stack([values, columns, columns + counts[:, 1], counts[:, 0]], axis=1)
        whole = np.concatenate(received)
        words = whole.view(np.uint32)
        if not add_terms(batch, self._starts, whole, words, words, places, d):
            raise RuntimeError(NOT_ONCE)  # which others need not see
        return float(whole[begins].sum())


def _entries(rows: Any, mine: Array) -> int:
    """Stored entries of these rows."""
    if len(rows) == 2:
        return len(mine) * int(rows[1])
    offsets = rows[2]
    return int((offsets[mine + np.uint64(1)] - offsets[mine]).sum())


Exchange = DenseExchange | SparseExchange


def chosen_exchange(
    name: ExchangeName, problem: ShardedProblem, batch: int, row_entries: float
) -> Exchange:
    """The exchange of that name, or the one with fewer bytes."""
    group, p = problem.group, problem.p
    if name not in get_args(ExchangeName):
        known = ", ".join(get_args(ExchangeName))
        raise SharedError(f"exchange is {name!r}; expected one of {known}")
    if name == "auto":
        name = "sparse" if PAIR_BYTES * batch * row_entries < REDUCED_BYTES * p else "dense"
    return SparseExchange(group, problem.starts) if name == "sparse" else DenseExchange(group, p)


def sum_terms(group: Group, terms: Array) -> float:
    """The sum of everyone's ``terms``."""
    scale = _scales(group.largest(np.array([largest_size(terms)])))[0]
    if not np.isfinite(scale):
        return float(group.sum(np.array([terms.sum()]))[0])
    return float(_joined(group.sum(np.array(cut_terms(terms, scale))), scale))


def sum_rows(group: Group, rows: Any, p: int, coefficients: Array) -> tuple[Array, Array]:
    """Σ_j coefficients_j x_j over everyone's rows, and the largest |term| of every column.

    ``rows`` is a rows tuple (see ``rcmd.engine.kernels.layout``). Where a term is not finite,
    every sum is NaN.
    """
    peaks = np.zeros(p)
    raise_peaks(rows, coefficients, peaks)
    peaks = group.largest(peaks)
    scales, limbs = _scales(peaks), np.zeros((2, p), np.int64)
    if not np.isfinite(scales).all():
        return np.full(p, np.nan), peaks
    add_limbs(rows, coefficients, scales, limbs)
    return _joined(group.sum(limbs), scales), peaks


def _scales(peaks: Array) -> Array:
    """2^(30−e) with peak < 2^e; NaN where the peak is infinite."""
    exponents = np.maximum(np.frexp(peaks)[1], SMALLEST_EXPONENT)
    return np.where(np.isfinite(peaks), np.ldexp(1.0, LIMB_BITS - exponents), np.nan)


def _joined(limbs: Array, scales: Any) -> Array:
    return (limbs[0] + limbs[1] / LIMB) / scales

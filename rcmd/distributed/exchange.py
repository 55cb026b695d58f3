"""How the ranks' parts of Δd = Σ_t pull_t x_t, the change of d in a step, reach everyone.

*Sparse*: the terms pull_t x_tk travel as (column, value) pairs and are added in the order of the
batch, so that d has the bits that one process would give it, whatever the number of ranks.
*Dense*: each rank adds up its own terms, and the sums, vectors of length p, are added by an
allreduce. With b rows of z entries a rank takes in 12 b z bytes by the one and 16 p by the other
(twice p doubles, once to be summed and once as the sum); the smaller number decides.

Sums over all n rows have bits that do not depend on how the rows are spread. Every term, scaled
by a bound of the largest one, is cut into two integers of B = 61 − ⌊log₂ n⌋ bits, whose sums are
exact in any order:

    Σ_j t_j = 2^(e−B) (Σ_j a_j + 2^−B Σ_j b_j) up to n·2^(e−2B−1),    max_j |t_j| < 2^e.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rcmd.engine.kernels.batch import (
    add_limbs,
    add_terms,
    cut_terms,
    largest_size,
    scatter_batch,
    write_terms,
)
from rcmd.rows.processes import Group, SharedError
from rcmd.rows.validation import Array

if TYPE_CHECKING:
    from rcmd.distributed.problem import ShardedProblem

ExchangeName = Literal["auto", "sparse", "dense"]

PAIR_BYTES, REDUCED_BYTES = 12, 16

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


def sum_terms(group: Group, terms: Array, n: int) -> float:
    """The sum of everyone's ``terms``, n of them."""
    scale, limb = _scales(group.largest(np.array([largest_size(terms)])), n)
    if not np.isfinite(scale[0]):
        return float(group.sum(np.array([terms.sum()]))[0])
    limbs = group.sum(np.array(cut_terms(terms, scale[0], limb)))
    return float((limbs[0] + limbs[1] / limb) / scale[0])


def sum_rows(
    group: Group, rows: Any, peaks: Array, coefficients: Array, n: int
) -> tuple[Array, Array]:
    """Σ_j coefficients_j x_j over everyone's n rows, and a bound of the terms of every column.

    ``rows`` is a rows tuple (see ``rcmd.engine.kernels.layout``) and ``peaks`` the largest |x_jk|
    of every column k. Where a bound is not finite, every sum is NaN.
    """
    largest = group.largest(np.array([largest_size(coefficients)]))
    with np.errstate(over="ignore", invalid="ignore"):  # 0 · ∞
        bounds = largest * peaks
    scales, limb = _scales(bounds, n)
    if not np.isfinite(scales).all():
        return np.full(len(peaks), np.nan), bounds
    limbs = np.zeros((2, len(peaks)), np.int64)
    add_limbs(rows, coefficients, scales, limb, limbs)
    limbs = group.sum(limbs)
    return (limbs[0] + limbs[1] / limb) / scales, bounds


def _scales(peaks: Array, n: int) -> tuple[Array, float]:
    """2^(B−e) with peak < 2^e, NaN where the peak is infinite; and 2^B."""
    bits = 62 - n.bit_length()
    exponents = np.maximum(np.frexp(peaks)[1], SMALLEST_EXPONENT)
    scales = np.where(np.isfinite(peaks), np.ldexp(1.0, bits - exponents), np.nan)
    return scales, float(2**bits)

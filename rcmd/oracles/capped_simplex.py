"""The capped simplex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import FEASIBILITY, Array, LinearMinOracle
from rcmd.oracles.selection import atom_on, largest
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


@dataclass(frozen=True)
class CappedSimplex(LinearMinOracle):
    """The set {0 ≤ β ≤ cap, Σ_k β_k = total}, which does not hold 0.

    Its vertices have ⌊total/cap⌋ entries ``cap`` and one entry with the rest.

    Examples
    --------
    >>> CappedSimplex(2.5, 1.0).argmin(np.array([0.0, 3.0, -1.0, 2.0]))
    SparseAtom(indices=(0, 2, 3), values=(1.0, 1.0, 0.5))
    """

    total: Any
    cap: Any
    formula = "indicator of 0 ≤ β ≤ {cap}, Σβ = {total}"

    def __post_init__(self) -> None:
        positive("total", self.total, "CappedSimplex")
        positive("cap", self.cap, "CappedSimplex")

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> CappedSimplex:
        most = rows.p * self.cap
        # In floats p·(1/p) may round below 1.
        if self.total > most * (1 if rows.exact else 1 + FEASIBILITY):
            raise ValueError(
                f"total of CappedSimplex is {self.total}, more than p·cap = {rows.p}·{self.cap}, "
                "so the set is empty; expected at most that: lower total or raise cap"
            )
        return self

    def argmin(self, c: Array) -> Atom:
        full, rest = self._split(len(c))
        places = largest(-c, full + (rest > 0))
        values = np.full(len(places), self.cap, dtype=np.result_type(c, float))
        if rest > 0:
            chosen = c[places]
            values[np.flatnonzero(chosen == chosen.max())[-1]] = rest
        return atom_on(places, values, len(c))

    def minimum(self, c: Array) -> Any:
        full, rest = self._split(len(c))
        ordered = np.partition(c, min(full, len(c) - 1))
        # A slice, which is empty where every entry is full.
        return self.cap * ordered[:full].sum() + rest * ordered[full : full + 1].sum()

    def violation(self, beta: Array) -> Any:
        outside = max(-beta.min(), beta.max() - self.cap, 0) / min(self.cap, self.total)
        return max(outside, abs(beta.sum() - self.total) / self.total)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_k (c_k − τ)₊ β_k + (τ − c_k)₊ (cap − β_k), τ the cost of the last entry filled."""
        full, rest = self._split(len(c))
        last = full if rest > 0 else full - 1
        margin = c - np.partition(c, last)[last]
        above = np.maximum(margin, 0) * np.maximum(beta, 0)
        below = np.maximum(-margin, 0) * np.maximum(self.cap - beta, 0)
        return above.sum() + below.sum()

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        full, rest = self._split(rows.p)
        vertex = np.zeros(rows.p, dtype=rows.number_type)
        vertex[:full], vertex[full : full + 1] = self.cap, rest
        lows = rows.reduce(lambda entries, _: _smallest_products(entries, vertex))
        return lows, rows.reduce(lambda entries, _: -_smallest_products(-entries, vertex))

    def _split(self, p: int) -> tuple[int, Any]:
        """How many entries are full, and what the next one gets."""
        full, rest = divmod(self.total, self.cap)
        return (int(full), rest) if full < p else (p, 0)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        return 0, [beta >= 0, beta <= float(self.cap), cp.sum(beta) == float(self.total)]


def _smallest_products(entries: Array, vertex: Array) -> Array:
    """The smallest xᵀβ over the orders of ``vertex``, which decreases, for every row x.

    Zeros that a row leaves out stand between its negative and its positive entries.
    """
    ordered = np.sort(entries, axis=1)
    width = ordered.shape[1]
    below, above = np.minimum(ordered, 0), np.maximum(ordered, 0)
    return below @ vertex[:width] + above @ vertex[len(vertex) - width :]

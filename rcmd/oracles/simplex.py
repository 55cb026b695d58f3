"""The scaled simplex."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom, SparseAtom
from rcmd.oracles.base import Array, LinearMinOracle, VertexRule, first_largest, largest
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.rows import Rows


@dataclass(frozen=True)
class Simplex(LinearMinOracle):
    """The set {β ≥ 0, Σ_k β_k = radius}, which does not hold 0.

    Examples
    --------
    >>> Simplex(2.0).argmin(np.array([0.5, -1.0]))
    SparseAtom(indices=(1,), values=(2.0,))
    """

    radius: Any = 1.0
    formula = "indicator of β ≥ 0, Σβ = {radius}"

    def __post_init__(self) -> None:
        positive("radius", self.radius, "Simplex")

    def argmin(self, c: Array) -> SparseAtom:
        return SparseAtom((first_largest(-c),), (self.radius,))

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        return [SparseAtom((int(k),), (self.radius,)) for k in largest(-c, count)]

    def decompose(self, beta: Array) -> list[tuple[Any, Atom]]:
        places = np.flatnonzero(beta > 0)
        return [(beta[k] / self.radius, SparseAtom((int(k),), (self.radius,))) for k in places]

    def vertex_rule(self) -> VertexRule:
        return VertexRule(self.radius, positive=True)

    def minimum(self, c: Array) -> Any:
        return self.radius * c.min()

    def violation(self, beta: Array) -> Any:
        return max(-beta.min(), abs(beta.sum() - self.radius), 0) / self.radius

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_k β_k (c_k − min c)."""
        return (np.maximum(beta, 0) * (c - c.min())).sum()

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        lows, highs = rows.entry_range()
        return self.radius * lows, self.radius * highs

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        return 0, [beta >= 0, cp.sum(beta) == float(self.radius)]

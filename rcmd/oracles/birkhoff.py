"""The Birkhoff polytope: doubly stochastic matrices, with permutations for vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import SparseAtom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.counts import positive_counts

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


@dataclass(frozen=True)
class Birkhoff(LinearMinOracle):
    """The ``order`` × ``order`` matrices ≥ 0 whose rows and columns sum to 1, read row by row.

    Atoms are permutation matrices, found as optimal assignments.

    Examples
    --------
    >>> Birkhoff(2).argmin(np.array([1.0, 0.0, 0.0, 5.0]))
    SparseAtom(indices=(1, 2), values=(1.0, 1.0))
    """

    order: int
    formula = "indicator of β ≥ 0 with rows and columns summing to 1, {order} × {order}"

    def __post_init__(self) -> None:
        counts = positive_counts(self.order)
        if counts is None or len(counts) != 1:
            raise ValueError(
                f"order of Birkhoff is {self.order!r}; expected a positive whole number, the rows "
                "of the square matrix β"
            )
        object.__setattr__(self, "order", counts[0])

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Birkhoff:
        if rows.p != self.order**2:
            raise ValueError(
                f"order of Birkhoff is {self.order}, {self.order**2} entries; expected "
                f"p = {rows.p} of them"
            )
        if rows.exact:
            raise ValueError(
                "Birkhoff computes with floats while X holds fractions; exact runs need an oracle "
                "in closed form (l1 ball, box, simplex)"
            )
        return self

    def _assigned(self, c: Array) -> tuple[Array, Array]:
        """The costs as a matrix, and the column of each row in a cheapest assignment."""
        from scipy.optimize import linear_sum_assignment

        costs = np.asarray(c, dtype=float).reshape(self.order, self.order)
        return costs, linear_sum_assignment(costs)[1]

    def argmin(self, c: Array) -> SparseAtom:
        columns = self._assigned(c)[1]
        indices = np.arange(self.order) * self.order + columns
        return SparseAtom(tuple(indices.tolist()), (1.0,) * self.order)

    def minimum(self, c: Array) -> float:
        costs, columns = self._assigned(c)
        return float(costs[np.arange(self.order), columns].sum())

    def violation(self, beta: Array) -> Any:
        matrix = beta.reshape(self.order, self.order)
        sums = abs(np.concatenate([matrix.sum(axis=0), matrix.sum(axis=1)]) - 1)
        return np.max([-matrix.min(), sums.max(), 0.0])

    def fenchel_young(self, beta: Array, c: Array) -> float:
        """Σ_ij β_ij (c_ij − u_i − v_j) with prices u, v of the assignment problem."""
        costs, columns = self._assigned(c)
        assigned = costs[np.arange(self.order), columns]
        # v_j ≤ v_k + c_ij − c_ik where k is the column of row i: shortest paths, from 0 everywhere.
        steps = np.empty_like(costs)
        steps[columns] = costs - assigned[:, None]
        v = np.zeros(self.order)
        for _ in range(self.order):
            shorter = np.minimum(v, (v[:, None] + steps).min(axis=0))
            if np.array_equal(shorter, v):
                break
            v = shorter
        u = assigned - v[columns]
        reduced = np.maximum(costs - u[:, None] - v, 0)
        return float((np.maximum(beta, 0) * reduced.ravel()).sum())

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        matrix = cp.reshape(beta, (self.order, self.order), order="C")
        return 0, [beta >= 0, cp.sum(matrix, axis=0) == 1, cp.sum(matrix, axis=1) == 1]

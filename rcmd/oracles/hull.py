"""Convex hulls of given points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.oracles.base import Array, LinearMinOracle, Matrix, cp, first_largest
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.validation import as_array, checked_numbers


@dataclass(frozen=True, eq=False)
class Hull(LinearMinOracle):
    """The convex hull of the rows of ``vertices``, an m × p array.

    Whether a point belongs to it is a linear programme, as is its ``fenchel_young``: both
    find weights λ with Σ_v λ_v v = β.

    Examples
    --------
    >>> triangle = Hull([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> triangle.argmin(np.array([1.0, -2.0])).vector
    array([0., 1.])
    >>> triangle.value(np.array([0.3, 0.3])), triangle.value(np.array([0.6, 0.6]))
    (0, inf)
    """

    vertices: Matrix
    formula = "indicator of the convex hull of {count} points"
    short_formula = "convex hull of m vertices v"
    spec, bound_words, cost = "hull:VERTICES", "max_v |xᵀv|", "O(m·p)"
    section = "files"

    @classmethod
    def example(cls, draw: Any) -> Hull:
        return cls(draw.whole_numbers(-2, 2, draw.whole(1, 7), draw.p) * draw.magnitude())

    def __post_init__(self) -> None:
        vertices = as_array("vertices of Hull", self.vertices)
        if vertices.ndim != 2 or 0 in vertices.shape:
            raise ValueError(
                f"vertices of Hull has shape {vertices.shape}; expected a matrix with one point "
                "in each row"
            )
        # A copy, which does not change with its caller's array.
        object.__setattr__(self, "vertices", checked_numbers("vertices of Hull", vertices).copy())

    @property
    def count(self) -> int:
        """How many points there are."""
        return len(self.vertices)

    def __repr__(self) -> str:
        return f"Hull({self.count} points in {self.vertices.shape[1]} variables)"

    def describe(self) -> str:
        return self.formula.format(count=self.count)

    def declared_size(self) -> tuple[int, str]:
        width = self.vertices.shape[1]
        return width, f"vertices of Hull has {width} columns"

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(self.vertices[first_largest(-(self.vertices @ c))])

    def minimum(self, c: Array) -> Any:
        return (self.vertices @ c).min()

    def violation(self, beta: Array) -> float:
        """The largest entry of |Σ_v λ_v v − β| for the best weights, relative to the vertices."""
        weights, size = self._weights(beta), float(abs(self.vertices).max()) or 1.0
        miss = np.asarray(self.vertices, dtype=float).T @ weights - np.asarray(beta, dtype=float)
        return float(abs(miss).max()) / size

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_v λ_v (cᵀv − min cᵀv) for weights λ of β, and what β misses by Σ_v λ_v v.

        The plain difference for fractions.
        """
        if self.vertices.dtype == object:
            return super().fenchel_young(beta, c)
        values, weights = self.vertices @ c, self._weights(beta)
        missed = abs(beta - weights @ self.vertices)
        return weights @ (values - values.min()) + abs(c) @ missed

    def _weights(self, beta: Array) -> Array:
        """λ ≥ 0 with Σ_v λ_v = 1 that brings Σ_v λ_v v closest to β, entry by entry."""
        from scipy.optimize import linprog

        size = float(abs(self.vertices).max()) or 1.0
        points = np.asarray(self.vertices, dtype=float).T / size
        target = np.asarray(beta, dtype=float) / size
        if not np.isfinite(target).all():
            return np.full(self.count, np.nan)
        miss = -np.ones((len(points), 1))
        near = np.block([[points, miss], [-points, miss]]), np.concatenate([target, -target])
        whole = np.append(np.ones(self.count), 0.0)[None], [1.0]
        tolerances = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
        options = dict.fromkeys(tolerances, 1e-10)
        costs = np.append(np.zeros(self.count), 1.0)
        found = linprog(costs, *near, *whole, method="highs-ds", options=options)
        if found.x is None:
            raise RuntimeError(
                f"the linear programme for a point's weights in Hull failed ({found.message}); "
                "expected vertices of moderate size: scale them"
            )
        weights = np.maximum(found.x[:-1], 0)
        return _polished(points, target, weights / weights.sum())

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """From one product with the rows for each vertex."""
        low = high = rows.matvec(self.vertices[0])
        for vertex in self.vertices[1:]:
            values = rows.matvec(vertex)
            low, high = np.minimum(low, values), np.maximum(high, values)
        return low, high

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        weights = cp.Variable(self.count, nonneg=True)
        points = np.asarray(self.vertices, dtype=float)
        return 0, [points.T @ weights == beta, cp.sum(weights) == 1]


def _polished(points: Array, target: Array, weights: Array) -> Array:
    """The weights solved for once more on the points that have some, where that is closer."""
    used = np.flatnonzero(weights)
    system = np.vstack([points[:, used], np.ones(len(used))])
    solution = np.maximum(np.linalg.lstsq(system, np.append(target, 1.0))[0], 0)
    if not solution.sum() > 0:
        return weights
    better = np.zeros_like(weights)
    better[used] = solution / solution.sum()
    misses = [abs(points @ candidate - target).max() for candidate in (better, weights)]
    return better if misses[0] < misses[1] else weights

"""Linear programmes in the inner products of free vectors and in free numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

TOLERANCE = 1e-6
"""CLARABEL's; first-order solvers understate these programmes by up to two per cent."""


@dataclass(frozen=True)
class Known:
    """What is known of a loss at a point x: its gradient and its value there."""

    point: Array
    gradient: Array
    value: Array


class Gram:
    """max over Gram matrices of ``vectors`` and over ``numbers``, all named.

    A vector is its row of coordinates in the named ones; an expression is a row over all inner
    products, then over all numbers.

    Examples
    --------
    >>> gram = Gram(["x", "y"], [])
    >>> x, y = gram.vector("x"), gram.vector("y")
    >>> gram.at_most(gram.product(x, x), 1.0)
    >>> gram.at_most(gram.product(y, y), 4.0)
    >>> round(gram.maximum(gram.product(x, y)), 4)
    2.0
    """

    def __init__(self, vectors: Iterable[Hashable], numbers: Iterable[Hashable]) -> None:
        self._vectors = {name: place for place, name in enumerate(vectors)}
        self._numbers = {name: place for place, name in enumerate(numbers)}
        self._left: list[Array] = []
        self._right: list[float] = []

    def vector(self, name: Hashable) -> Array:
        """The vector of that name."""
        return np.eye(len(self._vectors))[self._vectors[name]]

    def number(self, name: Hashable) -> Array:
        """The number of that name."""
        row = np.zeros(len(self._vectors) ** 2 + len(self._numbers))
        row[len(self._vectors) ** 2 + self._numbers[name]] = 1
        return row

    def product(self, x: Array, y: Array) -> Array:
        """xᵀy."""
        square = np.outer(x, y)
        return np.concatenate([((square + square.T) / 2).ravel(), np.zeros(len(self._numbers))])

    def at_most(self, expression: Array, bound: float) -> None:
        """Add expression ≤ bound."""
        self._left.append(expression)
        self._right.append(bound)

    def interpolate(self, known: Sequence[Known], gamma: float = 1.0) -> None:
        """Let one convex γ-smooth function take these values and gradients.

        It exists if and only if l(x) ≥ l(y) + ∇l(y)ᵀ(x−y) + ‖∇l(x)−∇l(y)‖²/(2γ) for all pairs:
        necessary because l is co-coercive, and sufficient because ‖·‖²/(2γ) plus the largest of
        the affine functions that it prescribes to l* at the gradients is then such an l*.
        """
        for x in known:
            for y in known:
                if x is not y:
                    change = x.gradient - y.gradient
                    below = self.product(y.gradient, x.point - y.point)
                    bend = self.product(change, change) / (2 * gamma)
                    self.at_most(y.value - x.value + below + bend, 0.0)

    def maximum(self, expression: Array) -> float:
        """The largest value; a ``RuntimeError`` where the solver does not reach its tolerance."""
        import cvxpy as cp
        import scipy.sparse as sp

        matrix: Any = cp.Variable((len(self._vectors),) * 2, PSD=True)
        stacked: Any = cp.vec(matrix, order="C")
        if self._numbers:
            stacked = cp.hstack([stacked, cp.Variable(len(self._numbers))])
        left = sp.csr_array(np.array(self._left))
        problem = cp.Problem(cp.Maximize(expression @ stacked), [left @ stacked <= self._right])
        problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=TOLERANCE, tol_gap_rel=TOLERANCE, tol_feas=TOLERANCE
        )
        if problem.status != cp.OPTIMAL:
            raise RuntimeError(f"the solver ended with {problem.status!r}; expected an optimum")
        return float(problem.value)

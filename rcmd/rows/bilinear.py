"""Rows x_(i,j) = left_i ⊗ right_j for all pairs (i, j), never formed."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.oracles.atoms import Atom, RankOneAtom, SparseAtom
from rcmd.rows.base import Array, Rows
from rcmd.validation import as_array, checked_numbers

LARGEST_MATRIX = 10**7
"""Entries up to which X itself is formed, for solvers that need it."""


class BilinearRows(Rows):
    """All predictions left_iᵀ β right_j of a matrix β, read row by row.

    Row i·n₂ + j belongs to row i of ``left`` (n₁ × d₁) and row j of ``right`` (n₂ × d₂), so
    that n = n₁n₂ and p = d₁d₂. Products with X are products of three small matrices.

    Examples
    --------
    >>> rows = BilinearRows([[1.0, 2.0]], [[3.0], [5.0]])
    >>> rows.matvec(np.array([10.0, 1.0])), rows.row(1)
    (array([36., 60.]), array([ 5., 10.]))
    """

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = _factor("left", left), _factor("right", right)
        if (self.left.dtype == object) != (self.right.dtype == object):
            raise ValueError(
                "one of left and right of BilinearRows holds fractions and the other floats; "
                "expected both exact or neither"
            )
        self.n, self.p = len(self.left) * len(self.right), self.left[0].size * self.right[0].size

    @property
    def number_type(self) -> Any:
        return self.left.dtype

    def _matrix(self, beta: Array) -> Array:
        return beta.reshape(self.left.shape[1], self.right.shape[1])

    def _pairs(self, batch: Array) -> tuple[Array, Array]:
        """The rows of ``left`` and of ``right`` that the rows of the batch belong to."""
        i, j = np.divmod(batch, len(self.right))
        return self.left[i], self.right[j]

    def predict(self, batch: Array, atom: Atom) -> Array:
        left, right = self._pairs(batch)
        if isinstance(atom, RankOneAtom):
            return (left @ atom.left) * (right @ atom.right)
        if isinstance(atom, SparseAtom):
            k, m = np.divmod(np.array(atom.indices, dtype=int), self.right.shape[1])
            return (left[:, k] * right[:, m]) @ np.array(atom.values, dtype=self.number_type)
        beta = self._matrix(atom.dense(self.zero()))
        return ((left @ beta) * right).sum(axis=1)

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        left, right = self._pairs(batch)
        total += ((left * coefficients[:, None]).T @ right).ravel()

    def matvec(self, beta: Array) -> Array:
        return (self.left @ self._matrix(beta) @ self.right.T).ravel()

    def rmatvec(self, w: Array) -> Array:
        return (self.left.T @ w.reshape(len(self.left), len(self.right)) @ self.right).ravel()

    def square_norms(self) -> Array:
        squares = [(factor * factor).sum(axis=1) for factor in (self.left, self.right)]
        return np.outer(*squares).ravel()

    def entry_range(self) -> tuple[Array, Array]:
        ends = [(factor.min(axis=1), factor.max(axis=1)) for factor in (self.left, self.right)]
        products = np.array([np.outer(a, b).ravel() for a in ends[0] for b in ends[1]])
        return products.min(axis=0), products.max(axis=0)

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        up, down = ([np.maximum(sign * f, 0) for f in (self.left, self.right)] for sign in (1, -1))

        def ends(on_positive: Array, on_negative: Array) -> Array:
            positive, negative = self._matrix(on_positive), self._matrix(on_negative)
            same = up[0] @ positive @ up[1].T + down[0] @ positive @ down[1].T
            other = up[0] @ negative @ down[1].T + down[0] @ negative @ up[1].T
            return (same - other).ravel()

        return ends(lower, upper), ends(upper, lower)

    def row(self, j: int) -> Array:
        first, second = divmod(j, len(self.right))
        return np.outer(self.left[first], self.right[second]).ravel()

    def as_matrix(self) -> Array:
        if self.n * self.p > LARGEST_MATRIX:
            raise ValueError(
                f"BilinearRows stand for a matrix of {self.n} × {self.p} entries, which is not "
                f"formed beyond {LARGEST_MATRIX:.0e} of them; expected a smaller problem, or a "
                "method that needs products with X only"
            )
        return np.kron(np.asarray(self.left, dtype=float), np.asarray(self.right, dtype=float))


def _factor(name: str, values: Any) -> Array:
    array = as_array(f"{name} of BilinearRows", values)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} of BilinearRows has shape {array.shape}; expected a matrix with at least one "
            "row and one column"
        )
    array = checked_numbers(f"{name} of BilinearRows", array)
    return array.copy() if array.dtype == object else np.array(array, dtype=float)

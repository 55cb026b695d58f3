"""Rows for a matrix β, never formed: its entries, or all products left_iᵀ β right_j."""

from typing import Any

import numpy as np

from rcmd.rows.atoms import Atom, RankOneAtom, SparseAtom
from rcmd.rows.base import Rows
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array, as_array, checked_numbers, positive_counts, sp

LARGEST_MATRIX = 10**7
"""Entries up to which X itself is formed, for solvers that need it."""


class MatrixEntries(Rows):
    """Sample j is the entry (rows_j, columns_j) of an m × p matrix β, as in matrix completion.

    β is a ``LowRank``, or its m·p entries row by row; Xᵀw is a sparse matrix with w on the
    observed entries. No array of m·p numbers is formed. An entry may be observed several
    times.

    Examples
    --------
    >>> entries = MatrixEntries([0, 1], [2, 0], shape=(2, 3))
    >>> entries.rmatvec(np.array([5.0, 7.0])).toarray()
    array([[0., 0., 5.],
           [7., 0., 0.]])
    """

    number_type = np.dtype(float)

    def __init__(self, rows: Any, columns: Any, shape: tuple[int, int]) -> None:
        sides = "the rows and columns of the matrix"
        self.shape = positive_counts("shape", shape, "MatrixEntries", sides, 2)
        self.rows = _checked_index("rows", rows, self.shape[0])
        self.columns = _checked_index("columns", columns, self.shape[1])
        if len(self.rows) != len(self.columns):
            raise ValueError(
                f"rows has {len(self.rows)} indices and columns {len(self.columns)}; expected one "
                "of each for every observed entry"
            )
        self.n, self.p = len(self.rows), self.shape[0] * self.shape[1]
        self._flat = self.rows * self.shape[1] + self.columns
        # Where each sample lies among the stored entries of Xᵀw.
        stored, self._places = np.unique(self._flat, return_inverse=True)
        self._indices = stored % self.shape[1]
        self._indptr = np.searchsorted(stored, np.arange(self.shape[0] + 1) * self.shape[1])

    def predict(self, batch: Array, atom: Atom) -> Array:
        if isinstance(atom, RankOneAtom):
            return atom.left[self.rows[batch]] * atom.right[self.columns[batch]]
        return atom.gather(self._flat[batch])

    def scatter(self, batch: Array, coefficients: Array, total: Any) -> None:
        np.add.at(total.data, self._places[batch], coefficients)

    def matvec(self, beta: Any) -> Array:
        if isinstance(beta, LowRank):
            if beta.shape != self.shape:
                raise ValueError(
                    f"β has shape {beta.shape}; expected {self.shape}, the shape of these entries"
                )
            return beta.entries(self.rows, self.columns)
        return np.asarray(beta)[self._flat]

    def rmatvec(self, w: Array) -> Any:
        data = np.bincount(self._places, weights=w, minlength=len(self._indices))
        return sp.csr_array((data, self._indices, self._indptr), shape=self.shape)

    def square_norms(self) -> Array:
        return np.ones(self.n)

    def entry_range(self) -> tuple[Array, Array]:
        ones = np.ones(self.n)
        return (0 * ones if self.p > 1 else ones), ones

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        return lower[self._flat], upper[self._flat]

    def row(self, j: int) -> Array:
        dense = np.zeros(self.p)
        dense[self._flat[j]] = 1.0
        return dense

    def as_matrix(self) -> Any:
        ones, ends = np.ones(self.n), np.arange(self.n + 1)
        return sp.csr_array((ones, self._flat, ends), shape=(self.n, self.p))

    def zero(self) -> LowRank:
        return LowRank(self.shape)

    def spectral_energy(self, scales: Array) -> float:
        """The largest sum of scales over the samples of one entry: XᵀX is diagonal."""
        return float(np.bincount(self._places, weights=np.asarray(scales, dtype=float)).max())


class BilinearRows(Rows):
    """All predictions left_iᵀ β right_j of a matrix β, read row by row: x_(i,j) = left_i ⊗ right_j.

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


def _checked_index(name: str, values: Any, length: int) -> Array:
    index = as_array(f"{name} of MatrixEntries", values)
    if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "iu":
        raise ValueError(
            f"{name} of MatrixEntries has shape {index.shape} and dtype {index.dtype}; expected a "
            "vector of whole numbers, one for every observed entry"
        )
    if index.min() < 0 or index.max() >= length:
        raise ValueError(
            f"{name} of MatrixEntries runs from {index.min()} to {index.max()}; expected 0 to "
            f"{length - 1}, as the matrix has {length} {name}"
        )
    return index.astype(np.int64)


def _factor(name: str, values: Any) -> Array:
    array = as_array(f"{name} of BilinearRows", values)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{name} of BilinearRows has shape {array.shape}; expected a matrix with at least one "
            "row and one column"
        )
    array = checked_numbers(f"{name} of BilinearRows", array)
    return array.copy() if array.dtype == object else np.array(array, dtype=float)

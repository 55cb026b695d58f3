"""The rows x_j of the data: what every layout does, and the plainest of them, an array."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from rcmd.rows.atoms import Atom, DenseAtom
from rcmd.rows.processes import check_cancelled
from rcmd.rows.validation import Array

BLOCK_ENTRIES = 2**14
"""Entries widened or multiplied at a time, few enough to cost no memory."""

PRODUCT_ENTRIES = 2**17
"""Entries that stay in a processor's cache between two products with them."""

SMALL_SIDE = 500
"""Up to so many columns XᵀX is formed; one pass then does for what Lanczos takes hundreds for."""


class Rows(ABC):
    """n rows of length p, touched a batch at a time or all at once.

    A layout needs products and rows; it has the other methods anew where it has a faster way.
    """

    n: int
    p: int

    def predict(self, batch: Array, atom: Atom) -> Array:
        """x_jᵀβ̃ for the rows of ``batch``, in time proportional to their nonzeros."""
        return self.matvec(atom.dense(self.zero()))[batch]

    def predict_at(self, atoms: Sequence[Atom]) -> Any:
        """X(a_1 … a_m), a column of predictions for each atom, dense or sparse."""
        zero = self.zero()
        return np.stack([self.matvec(atom.dense(zero)) for atom in atoms], axis=1)

    def thinned(self, stride: int, first: int = 0) -> Self | None:
        """The rows first, first + stride, …, where the layout has a cheap way to them."""
        return None

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        """``total += Σ_j coefficients_j x_j`` over the batch, in place."""
        w = np.zeros(self.n, dtype=self.number_type)
        np.add.at(w, batch, coefficients)
        total += self.rmatvec(w)

    @abstractmethod
    def matvec(self, beta: Array) -> Array:
        """Xβ."""

    @abstractmethod
    def rmatvec(self, w: Array) -> Array:
        """Xᵀw."""

    def square_norms(self) -> Array:
        """‖x_j‖₂² for every row."""
        return np.array([x @ x for x in map(self.row, range(self.n))])

    def entry_range(self) -> tuple[Array, Array]:
        """Smallest and largest entry of every row."""
        ends = np.array([(x.min(), x.max()) for x in map(self.row, range(self.n))])
        return ends[:, 0], ends[:, 1]

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Smallest and largest x_jᵀβ over lower ≤ β ≤ upper, for every row."""
        products = ((x * lower, x * upper) for x in map(self.row, range(self.n)))
        ends = np.array([(np.minimum(*p).sum(), np.maximum(*p).sum()) for p in products])
        return ends[:, 0], ends[:, 1]

    def max_norms(self) -> Array:
        """‖x_j‖_∞ for every row."""
        low, high = self.entry_range()
        return np.maximum(-low, high)

    @property
    def peak(self) -> float:
        """The largest |x_jk|."""
        return float(self.max_norms().max())

    @property
    def peak_row(self) -> int:
        """A row that holds an entry of that size."""
        return int(self.max_norms().argmax())

    def reduce(self, function: Callable[[Array, Array], Array]) -> Array:
        """``function(entries, columns)`` of blocks of rows, one number for every row.

        ``entries`` has a row for every x_j of the block, with all its nonzeros and some of its
        zeros; ``columns``, of that shape or one for all rows, says where the nonzeros stand. The
        function must not mind their order, nor how many zeros there are.
        """
        columns = np.arange(self.p)
        return np.concatenate([function(self.row(j)[None], columns) for j in range(self.n)])

    @abstractmethod
    def row(self, j: int) -> Array:
        """x_j as a dense vector."""

    def as_matrix(self) -> Any:
        """X as a float array or a SciPy sparse matrix, for solvers that need one."""
        return np.array([self.row(j) for j in range(self.n)], dtype=float)

    def zero(self) -> Any:
        """β = 0, in the form in which atoms are added up."""
        return np.zeros(self.p, dtype=self.number_type)

    @property
    @abstractmethod
    def number_type(self) -> Any:
        """The dtype of s, d and w: float64, or object for exact fractions."""

    most_predictions: int = 2**27
    """Predictions at atoms that corrections may keep, a gigabyte; more atoms are not taken up."""

    compilable: bool = False
    """Whether the compiled engine has kernels for this layout."""

    @property
    def exact(self) -> bool:
        """Whether the data are fractions."""
        return self.number_type == np.dtype(object)

    def normal_product(self, weights: Array, v: Array) -> Array:
        """Xᵀ diag(weights) Xv."""
        return self.rmatvec(weights * self.matvec(v))

    def products(self, beta: Any, w: Array) -> tuple[Array, Any]:
        """Xβ and Xᵀw."""
        return self.matvec(beta), self.rmatvec(w)

    def spectral_energy(self, scales: Array) -> float:
        """‖diag(√scales) X‖₂², as ``largest_eigenvalue`` finds it on the shorter side of X."""
        tall, side = self.p <= self.n, min(self.n, self.p)
        factors = np.asarray(scales, dtype=float)
        factors = factors if tall else np.sqrt(factors)

        def gram(v: Array) -> Array:
            if tall:
                product = self.rmatvec(factors * self.matvec(v))
            else:
                product = factors * self.matvec(self.rmatvec(factors * v))
            return np.asarray(product, dtype=float)

        if side > 1 and not self.square_norms().any():
            return 0.0
        return largest_eigenvalue(gram, side)


class DenseRows(Rows):
    """A C-ordered array; float32 data keep their size and are accumulated in float64."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.n, self.p = array.shape
        self.compilable = type(self) is DenseRows and not self.exact

    @property
    def number_type(self) -> Any:
        return np.dtype(object) if self.array.dtype == object else np.dtype(float)

    def predict(self, batch: Array, atom: Atom) -> Array:
        return atom.predict(self.array[batch])

    def predict_at(self, atoms: Sequence[Atom]) -> Array:
        columns = [
            self.matvec(atom.vector) if isinstance(atom, DenseAtom) else atom.predict(self.array)
            for atom in atoms
        ]
        return np.stack(columns, axis=1)

    def thinned(self, stride: int, first: int = 0) -> Self:
        return type(self)(np.ascontiguousarray(self.array[first::stride]))

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        total += coefficients @ self.array[batch]

    def matvec(self, beta: Array) -> Array:
        if self.array.dtype != np.float32:
            return self.array @ beta
        return self.reduce(lambda block, _: block @ beta)

    def rmatvec(self, w: Array) -> Array:
        if self.array.dtype != np.float32:
            return w @ self.array
        total = np.zeros(self.p)
        for rows in self._blocks(BLOCK_ENTRIES):
            total += w[rows] @ self.array[rows]
        return total

    def normal_product(self, weights: Array, v: Array) -> Array:
        if self.array.dtype != float or self.array.size <= PRODUCT_ENTRIES:
            return super().normal_product(weights, v)
        total = np.zeros(self.p)
        for rows in self._blocks(PRODUCT_ENTRIES):
            block = self.array[rows]
            total += (weights[rows] * (block @ v)) @ block
        return total

    def products(self, beta: Array, w: Array) -> tuple[Array, Array]:
        plain = self.compilable and self.array.dtype == float
        if not plain or self.array.size <= PRODUCT_ENTRIES:
            return super().products(beta, w)
        sums, total = np.empty(self.n), np.zeros(self.p)
        for rows in self._blocks(PRODUCT_ENTRIES):
            block = self.array[rows]
            sums[rows] = block @ beta
            total += w[rows] @ block
        return sums, total

    def square_norms(self) -> Array:
        return self._square_norms

    @cached_property
    def _square_norms(self) -> Array:
        if self.exact:
            return read_only(self.reduce(lambda block, _: (block * block).sum(axis=1)))
        if self.array.dtype == float:
            return read_only(np.einsum("jk,jk->j", self.array, self.array))
        return read_only(self.reduce(lambda block, _: np.einsum("jk,jk->j", block, block)))

    def spectral_energy(self, scales: Array) -> float:
        roots = np.sqrt(np.asarray(scales, dtype=float))
        squares_are_numbers = 1e-100 < float(self.peak * roots.max()) < 1e100
        small = 1 < self.p <= min(self.n, SMALL_SIDE)
        if self.exact or not (small and squares_are_numbers):
            return super().spectral_energy(scales)
        from scipy.linalg import eigvalsh

        top = eigvalsh(dense_gram(self.array, roots), subset_by_index=[self.p - 1, self.p - 1])
        return float(top[0]) * (1 + 1e-9)

    @cached_property
    def _ends(self) -> tuple[int, int]:
        """Where the least and the greatest entry stand among all; NaN is both."""
        flat, places = self.array.reshape(-1), []
        if flat.size <= PRODUCT_ENTRIES:
            return int(flat.argmin()), int(flat.argmax())
        for start in range(0, flat.size, PRODUCT_ENTRIES):  # in the cache for the second look
            block = flat[start : start + PRODUCT_ENTRIES]
            places.append((start + int(block.argmin()), start + int(block.argmax())))
        lows, highs = np.array(places).T
        return int(lows[flat[lows].argmin()]), int(highs[flat[highs].argmax()])

    @property
    def span(self) -> tuple[float, float]:
        """The least and the greatest entry; NaN is both."""
        low, high = self._ends
        flat = self.array.reshape(-1)
        return float(flat[low]), float(flat[high])

    @property
    def peak(self) -> float:
        low, high = self.span
        return max(high, -low)

    @property
    def peak_row(self) -> int:
        low, high = self.span
        return self._ends[int(high >= -low)] // self.p

    def entry_range(self) -> tuple[Array, Array]:
        low, high = self.array.min(axis=1), self.array.max(axis=1)
        return low.astype(self.number_type), high.astype(self.number_type)

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        def ends(positive: Array, negative: Array) -> Array:
            return self.reduce(
                lambda block, _: np.maximum(block, 0) @ positive + np.minimum(block, 0) @ negative
            )

        return ends(lower, upper), ends(upper, lower)

    def reduce(self, function: Callable[[Array, Array], Array]) -> Array:
        columns = np.arange(self.p)
        blocks = (
            self.array[rows].astype(self.number_type, copy=False)
            for rows in self._blocks(BLOCK_ENTRIES)
        )
        return np.concatenate([function(block, columns) for block in blocks])

    def _blocks(self, entries: int) -> list[slice]:
        height = max(1, entries // self.p)
        return [slice(start, start + height) for start in range(0, self.n, height)]

    def as_matrix(self) -> Array:
        return np.asarray(self.array, dtype=float)

    def row(self, j: int) -> Array:
        return np.asarray(self.array[j], dtype=self.number_type)


def read_only(array: Array) -> Array:
    """The array itself, which several are given and nobody may change."""
    array.setflags(write=False)
    return array


def dense_gram(columns: Array, roots: Array | None = None) -> Array:
    """Zᵀ diag(roots²) Z, a block of rows at a time, which stays in the cache meanwhile."""
    n, m = columns.shape
    total, height = np.zeros((m, m)), max(1, 16 * BLOCK_ENTRIES // m)
    for start in range(0, n, height):
        check_cancelled()
        block = columns[start : start + height]
        if roots is not None:
            block = block * roots[start : start + height, None]
        total += block.T @ block
    return total


def largest_eigenvalue(gram: Callable[[Array], Array], side: int) -> float:
    """That of a matrix known by its products, to 1e-10 and raised by 1e-9 of itself."""
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    if side == 1:
        return float(gram(np.ones(1))[0])
    # ARPACK's own start differs from call to call; a fixed one keeps σ, and so every iterate,
    # reproducible, and one without structure is in the null space of no data.
    start = np.random.default_rng(0).standard_normal(side)
    operator = LinearOperator((side, side), matvec=gram, dtype=float)
    options = {"k": 1, "which": "LA", "v0": start, "tol": 1e-10, "maxiter": 10_000}
    # Six basis vectors instead of twenty: more restarts, a third of the memory.
    try:
        top = eigsh(operator, ncv=min(side, 6), return_eigenvectors=False, **options)
    except ArpackError:
        raise ValueError(
            "‖diag(√γ) X‖₂², which the constant σ needs, was not found by "
            f"{options['maxiter']} rounds of Lanczos iteration; expected an X on which it "
            "converges: scale the columns of X to the same norm"
        ) from None
    return float(top[0]) * (1 + 1e-9)

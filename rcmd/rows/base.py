"""The rows x_j of the data: layout lives here and nowhere else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.rows.atoms import Atom

Array = npt.NDArray[Any]

BLOCK_ENTRIES = 2**14
"""Entries widened or multiplied at a time, few enough to cost no memory."""


class Rows(ABC):
    """n rows of length p, touched a batch at a time or all at once."""

    n: int
    p: int

    @abstractmethod
    def predict(self, batch: Array, atom: Atom) -> Array:
        """x_jᵀβ̃ for the rows of ``batch``, in time proportional to their nonzeros."""

    def predict_at(self, atoms: Sequence[Atom]) -> Any:
        """X(a_1 … a_m), a column of predictions for each atom, dense or sparse."""
        zero = self.zero()
        return np.stack([self.matvec(atom.dense(zero)) for atom in atoms], axis=1)

    def every(self, stride: int) -> Rows | None:
        """The rows 0, stride, 2·stride, …, where the layout has a cheap way to them."""
        return None

    @abstractmethod
    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        """``total += Σ_j coefficients_j x_j`` over the batch, in place."""

    @abstractmethod
    def matvec(self, beta: Array) -> Array:
        """Xβ."""

    @abstractmethod
    def rmatvec(self, w: Array) -> Array:
        """Xᵀw."""

    @abstractmethod
    def square_norms(self) -> Array:
        """‖x_j‖₂² for every row."""

    @abstractmethod
    def entry_range(self) -> tuple[Array, Array]:
        """Smallest and largest entry of every row."""

    @abstractmethod
    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Smallest and largest x_jᵀβ over lower ≤ β ≤ upper, for every row."""

    def max_norms(self) -> Array:
        """‖x_j‖_∞ for every row."""
        low, high = self.entry_range()
        return np.maximum(-low, high)

    @property
    def peak(self) -> float:
        """The largest |x_jk|."""
        return float(self.max_norms().max())

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

    @abstractmethod
    def as_matrix(self) -> Any:
        """X as a float array or a SciPy sparse matrix, for solvers that need one."""

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

    def spectral_energy(self, scales: Array) -> float:
        """‖diag(√scales) X‖₂² by Lanczos iteration to 1e-10, raised by 1e-9 of itself."""
        from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

        tall, side = self.p <= self.n, min(self.n, self.p)
        factors = np.asarray(scales, dtype=float)
        factors = factors if tall else np.sqrt(factors)

        def gram(v: Array) -> Array:
            if tall:
                product = self.rmatvec(factors * self.matvec(v))
            else:
                product = factors * self.matvec(self.rmatvec(factors * v))
            return np.asarray(product, dtype=float)

        if side == 1:
            return float(gram(np.ones(1))[0])
        if not self.square_norms().any():
            return 0.0
        # ARPACK's own start differs from call to call; a fixed one keeps σ, and so every iterate,
        # reproducible, and one without structure is in the null space of no data.
        start = np.random.default_rng(0).standard_normal(side)
        operator = LinearOperator((side, side), matvec=gram, dtype=float)
        options = {"k": 1, "which": "LA", "v0": start, "tol": 1e-10, "maxiter": 10_000}
        # Six basis vectors instead of twenty: more restarts, a third of the memory.
        try:
            top = eigsh(operator, ncv=min(side, 6), return_eigenvectors=False, **options)
        except ArpackNoConvergence:
            raise ValueError(
                "‖diag(√γ) X‖₂², which the constant σ needs, was not found by "
                f"{options['maxiter']} rounds of Lanczos iteration; expected an X on which it "
                "converges: scale the columns of X to the same norm"
            ) from None
        return float(top[0]) * (1 + 1e-9)


class InnerRows(Rows):
    """``factor``·X. Among other variables (not ``alone``), slopes Xᵀw are unknown.

    A regularizer that chooses its own radius may bound it by the slope at a given
    prediction, which in truth the other variables move. Here that slope is infinite, so that
    it bounds nothing.
    """

    def __init__(self, rows: Rows, factor: Any = 1, *, alone: bool = True) -> None:
        self.rows, self.factor, self.alone = rows, factor, alone
        self.n, self.p = rows.n, rows.p

    @property
    def number_type(self) -> Any:
        return self.rows.number_type

    def matvec(self, beta: Array) -> Array:
        return self.factor * self.rows.matvec(beta)

    def rmatvec(self, w: Array) -> Array:
        return self.factor * self.rows.rmatvec(w) if self.alone else np.full(self.p, np.inf)

    def square_norms(self) -> Array:
        return self.factor * self.factor * self.rows.square_norms()

    def entry_range(self) -> tuple[Array, Array]:
        low, high = self.rows.entry_range()
        return self.factor * low, self.factor * high

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        return self.rows.box_range(self.factor * lower, self.factor * upper)

    def row(self, j: int) -> Array:
        return self.factor * self.rows.row(j)

    def predict(self, batch: Array, atom: Atom) -> Array:
        return self.factor * self.rows.predict(batch, atom)

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        self.rows.scatter(batch, self.factor * coefficients, total)

    def as_matrix(self) -> Any:
        return float(self.factor) * self.rows.as_matrix()

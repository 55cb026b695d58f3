"""Ellipsoids: the l2 ball under a linear map."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import IRRATIONAL, Array, DiagonalOrMatrix, NormBall, cp
from rcmd.oracles.l2 import L2Ball
from rcmd.oracles.vectors import direction, dot, norm, row_norms, write_direction
from rcmd.rows.atoms import DenseAtom


@dataclass(frozen=True, eq=False)
class Ellipsoid(NormBall):
    """The set {βᵀA⁻¹β ≤ radius²}; M_j = radius·√(x_jᵀA x_j).

    ``matrix`` is A, symmetric and positive definite, or its diagonal as a vector; of a full one
    the lower triangle is read. For another centre use ``Translated``.

    The rounded Cholesky factor L of a full A is that of another matrix. Its distance is bounded,
    and enters: ``minimum`` is a lower bound, atoms are feasible, for A itself.

    Examples
    --------
    >>> Ellipsoid([9.0, 4.0]).argmin(np.array([0.0, 1.0])).vector
    array([-0., -2.])
    """

    matrix: DiagonalOrMatrix
    radius: Any = 1.0
    refuses_exact, sized_by = IRRATIONAL, "matrix"
    formula = "indicator of βᵀA⁻¹β ≤ {radius}²"
    short_formula = "βᵀA⁻¹β ≤ radius², A a matrix or its diagonal"
    spec, bound_words = "ellipsoid:MATRIX[:RADIUS]", "radius·√(xᵀAx)"
    cost, numpy_pass = "O(p) or O(p²)", "-2.0 * c, c @ c"

    @classmethod
    def example(cls, draw: Any) -> Self:
        root = draw.numbers(draw.p, draw.p)
        matrix = root @ root.T + 0.1 * np.eye(draw.p)
        return cls(np.diag(matrix) if draw.chance(50) else matrix, draw.magnitude())

    def __post_init__(self) -> None:
        super().__post_init__()
        self.own_array("matrix")
        _ = self.factor, self.distortion  # refuse what is not positive definite, or nearly not

    @cached_property
    def factor(self) -> Array:
        """L with LLᵀ = A, for a diagonal A the vector of its roots."""
        return _factor(self.matrix.astype(float))

    @cached_property
    def rounding(self) -> float:
        """ε with |LLᵀ − A| ≤ ε|L||Lᵀ|, and so for products with L (Higham, Theorem 10.3)."""
        return 0.0 if self.factor.ndim == 1 else (len(self.factor) + 3) * 2.0**-53

    @cached_property
    def distortion(self) -> float:
        """κ < 1/2 with |‖L⁻¹β‖² − βᵀA⁻¹β| ≤ κ βᵀA⁻¹β, the solution of Lz = β rounded."""
        if self.factor.ndim == 1:
            return 0.0
        inverse = self._preimage(np.eye(len(self.factor)))
        size = abs(inverse) @ abs(self.factor)
        kappa = 4 * self.rounding * float(np.linalg.norm(size, 2)) ** 2
        if not kappa < 0.5:
            raise ValueError(
                f"matrix of Ellipsoid has the condition number {np.linalg.cond(self.matrix):.1e}; "
                "expected one whose rounded Cholesky factor still tells the set: add a multiple "
                "of the identity, or scale the columns of the data"
            )
        return kappa

    @property
    def exact_atoms(self) -> bool:  # type: ignore[override]
        """Not where rounding makes the set smaller by more than a little."""
        return self.distortion <= 1e-12

    @cached_property
    def rows(self) -> Array:
        """The rows of L, or one row, the diagonal."""
        return np.atleast_2d(self.factor)

    def write_atom(self, c: Any, out: Any) -> None:
        rows, p = self.rows, len(c)
        full = len(rows) > 1
        for k in range(p):
            out[k] = 0.0 if full else rows[0, k] * c[k]
        if full:  # Lᵀc, row by row
            for i in range(p):
                for k in range(i + 1):
                    out[k] += rows[i, k] * c[i]
        write_direction(out, -self.radius * math.sqrt(1 - self.distortion), out)
        if full:  # L out, from the last row on, as row i reads the entries up to i
            for i in range(p - 1, -1, -1):
                out[i] = dot(rows[i, : i + 1], out[: i + 1])
        else:
            for k in range(p):
                out[k] *= rows[0, k]

    def argmin(self, c: Array) -> DenseAtom:
        """The same by NumPy, whose products are faster for many variables."""
        pulled = self._pull(c)
        z = direction(pulled, -self.radius * math.sqrt(1 - self.distortion), out=pulled)
        if self.factor.ndim == 1:
            z *= self.factor
            return DenseAtom(z)
        return DenseAtom(self.factor @ z)

    def norm(self, beta: Array) -> Any:
        """At least (βᵀA⁻¹β)^½."""
        return norm(self._preimage(beta)) / math.sqrt(1 - self.distortion)

    def dual_norm(self, c: Array) -> Any:
        """At least (cᵀAc)^½."""
        return self._at_least(norm(self._pull(c)), self._size(c))

    def violation(self, beta: Array) -> Any:
        z = self._preimage(beta) / math.sqrt(1 - self.distortion)
        return L2Ball(self.radius).violation(z)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """That of the l2 ball, for L⁻¹β and Lᵀc, and what rounding of the two may hide."""
        z, pulled, size = self._preimage(beta), self._pull(c), self._size(c)
        hidden = self._at_least(norm(pulled), size) - norm(pulled) + 2 * self.rounding * size
        return L2Ball(self.radius).fenchel_young(z, pulled) + self.radius * hidden

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        """The same for every row of a block."""
        if self.factor.ndim == 1:
            return row_norms(entries * self.factor[columns], 2.0)
        factor = self.factor[columns]

        def norms(entries: Array, factor: Array) -> Array:
            images = entries @ factor if columns.ndim == 1 else (entries[:, None] @ factor)[:, 0]
            return row_norms(images, 2.0)

        return self._at_least(norms(entries, factor), norms(abs(entries), abs(factor)))

    def _at_least(self, pulled: Any, size: Any) -> Any:
        """At least (cᵀAc)^½, from ‖Lᵀc‖ as computed and ‖|L|ᵀ|c|‖."""
        return np.hypot(pulled + self.rounding * size, math.sqrt(self.rounding) * size)

    def _size(self, c: Array) -> Any:
        """‖|L|ᵀ|c|‖₂, where it matters."""
        return norm(abs(c) @ abs(self.factor)) if self.rounding else 0.0

    def _pull(self, c: Array) -> Array:
        """Lᵀc."""
        return self.factor * c if self.factor.ndim == 1 else c @ self.factor

    def _preimage(self, beta: Array) -> Array:
        """L⁻¹β."""
        if self.factor.ndim == 1:
            return beta / self.factor
        from scipy.linalg import solve_triangular

        return solve_triangular(self.factor, beta, lower=True)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        z = cp.Variable(len(self.matrix))
        image = cp.multiply(self.factor, z) if self.factor.ndim == 1 else self.factor @ z
        return 0, [beta == image, cp.norm2(z) <= float(self.radius)]


def _factor(matrix: Array) -> Array:
    if matrix.ndim == 1:
        if not (len(matrix) and (matrix > 0).all()):
            raise ValueError(
                f"matrix of Ellipsoid is the diagonal {matrix}; expected positive numbers"
            )
        return np.sqrt(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise ValueError(
            f"matrix of Ellipsoid has shape {matrix.shape}; expected (p, p), or (p,) for a diagonal"
        )
    if abs(matrix - matrix.T).max() > 1e-12 * abs(matrix).max():
        raise ValueError("matrix of Ellipsoid is not symmetric; expected A = Aᵀ: try (A + Aᵀ)/2")
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        raise ValueError(
            f"matrix of Ellipsoid is not positive definite: its smallest eigenvalue is "
            f"{np.linalg.eigvalsh(matrix)[0]:.3g}; expected it to be positive"
        ) from None

"""Ellipsoids: the l2 ball under a linear map."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rcmd.oracles.base import IRRATIONAL, Array, DiagonalOrMatrix, NormBall, cp
from rcmd.oracles.l2 import L2Ball
from rcmd.oracles.vectors import direction, norm, row_norms
from rcmd.rows.atoms import DenseAtom


@dataclass(frozen=True, eq=False)
class Ellipsoid(NormBall):
    """The set {βᵀA⁻¹β ≤ radius²}; M_j = radius·√(x_jᵀA x_j).

    ``matrix`` is A, symmetric and positive definite, or its diagonal as a vector. For another
    centre use ``Translated``.

    Examples
    --------
    >>> Ellipsoid([9.0, 4.0]).argmin(np.array([0.0, 1.0])).vector
    array([-0., -2.])
    """

    matrix: DiagonalOrMatrix
    radius: Any = 1.0
    refuses_exact = IRRATIONAL
    formula = "indicator of βᵀA⁻¹β ≤ {radius}²"
    short_formula = "βᵀA⁻¹β ≤ radius², A a matrix or its diagonal"
    spec, bound_words = "ellipsoid:MATRIX[:RADIUS]", "radius·√(xᵀAx)"
    cost, numpy_pass = "O(p) or O(p²)", "-2.0 * c, c @ c"

    @classmethod
    def example(cls, draw: Any) -> Ellipsoid:
        root = draw.numbers(draw.p, draw.p)
        matrix = root @ root.T + 0.1 * np.eye(draw.p)
        return cls(np.diag(matrix) if draw.chance(50) else matrix, draw.magnitude())

    def __post_init__(self) -> None:
        super().__post_init__()
        self.own_array("matrix")
        _ = self.factor  # refuses what is not positive definite

    def declared_size(self) -> tuple[int, str]:
        return len(self.matrix), f"matrix of Ellipsoid has shape {self.matrix.shape}"

    @cached_property
    def factor(self) -> Array:
        """L with LLᵀ = A, for a diagonal A the vector of its roots."""
        return _factor(self.matrix.astype(float))

    @property
    def ball(self) -> L2Ball:
        """The ball of which this is the image under the Cholesky factor L of A."""
        return L2Ball(self.radius)

    def argmin(self, c: Array) -> DenseAtom:
        pulled = self._pull(c)
        z = direction(pulled, -self.radius, out=pulled)
        if self.factor.ndim == 1:
            z *= self.factor
            return DenseAtom(z)
        return DenseAtom(self.factor @ z)

    def norm(self, beta: Array) -> Any:
        """‖L⁻¹β‖₂."""
        return norm(self._preimage(beta))

    def dual_norm(self, c: Array) -> Any:
        """‖Lᵀc‖₂."""
        return norm(self._pull(c))

    def violation(self, beta: Array) -> Any:
        return self.ball.violation(self._preimage(beta))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """That of the ball, for L⁻¹β and Lᵀc."""
        return self.ball.fenchel_young(self._preimage(beta), self._pull(c))

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        """‖Lᵀx_j‖₂ for every row of a block."""
        if self.factor.ndim == 1:
            images = entries * self.factor[columns]
        elif columns.ndim == 1:
            images = entries @ self.factor
        else:
            images = (entries[:, None] @ self.factor[columns])[:, 0]
        return row_norms(images, 2.0)

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

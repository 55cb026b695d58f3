"""The spectrahedron: positive semidefinite matrices of a given trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom, RankOneAtom
from rcmd.oracles.base import Array
from rcmd.oracles.leading import Spectrum, symmetric
from rcmd.oracles.matrices import OnMatrices, scaled
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.rows import Rows


@dataclass(frozen=True)
class Spectrahedron(OnMatrices):
    """The set {β ⪰ 0, tr β = trace} of symmetric matrices, which does not hold 0.

    Only the symmetric part of c counts. ``minimum`` is −trace times an upper bound of the
    largest eigenvalue of −c, so that dual values are lower bounds.

    Examples
    --------
    >>> round(Spectrahedron(2, 3.0).minimum(np.array([1.0, 0.0, 0.0, -2.0])), 9)
    -6.0
    """

    order: int
    trace: Any = 1.0
    formula = "indicator of β ⪰ 0, tr β = {trace} for matrices of order {order}"

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", (self.order, self.order))
        self.prepare()
        positive("trace", self.trace, "Spectrahedron")

    def argmin(self, c: Any) -> RankOneAtom:
        vector = self.leading_vector(self._opposite(c)[0])
        return RankOneAtom(self.trace * vector, vector)

    def best_atoms(self, c: Any, count: int) -> list[Atom]:
        vectors = self._opposite(c)[0].first(count, self.fresh_rng())
        return [RankOneAtom(self.trace * vector, vector) for vector in vectors]

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        parts = self.decomposed(beta)
        atoms = [RankOneAtom(self.trace * vector, vector) for vector in parts.left.T]
        return list(zip((parts.weights / self.trace).tolist(), atoms, strict=True))

    def minimum(self, c: Any) -> Any:
        return self.trace * self._smallest(c)

    def violation(self, beta: Any) -> Any:
        """|tr β − trace| and a bound of the distance to U S Uᵀ, for β = U S Vᵀ."""
        parts = self.decomposed(beta)
        bent = float(parts.weights @ np.linalg.norm(parts.left - parts.right, axis=0))
        trace = float(np.einsum("ir,ir,r->", parts.left, parts.right, parts.weights))
        return max(bent, abs(trace - self.trace)) / self.trace

    def fenchel_young(self, beta: Any, c: Any) -> Any:
        """Σ_i s_i (u_iᵀ c u_i − λ_min) over β = Σ_i s_i u_i u_iᵀ."""
        parts = self.decomposed(beta)
        along = parts.inner(self.matrix(c)) - self._smallest(c)
        return float(parts.weights @ np.maximum(along, 0))

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        from rcmd.rows.entries import MatrixEntries  # it imports atoms, and so this package

        if not isinstance(rows, MatrixEntries):
            return super().prediction_range(rows)
        # An entry off the diagonal has the eigenvalues ±1/2, one on it 1 and zeros.
        diagonal = rows.rows == rows.columns
        low = np.where(diagonal, 1.0 if self.order == 1 else 0.0, -0.5)
        return self.trace * low, self.trace * np.where(diagonal, 1.0, 0.5)

    def _smallest(self, c: Any) -> float:
        """A lower bound of the smallest eigenvalue of the symmetric part of c."""
        spectrum, scale = self._opposite(c)
        return -scale * spectrum.largest(self.fresh_rng())

    def _opposite(self, c: Any) -> tuple[Spectrum, float]:
        """The symmetric part of −c, scaled, and the scale."""
        matrix, scale = scaled(self.matrix(c))
        return symmetric((matrix + matrix.T) / -2), scale

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        matrix = self.cvxpy_matrix(beta)
        return 0, [matrix == matrix.T, matrix >> 0, cp.trace(matrix) == float(self.trace)]

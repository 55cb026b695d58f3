"""The set of the convex CUR relaxation: few rows and few columns of β are not zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from rcmd.oracles.atoms import DenseAtom
from rcmd.oracles.base import Array
from rcmd.oracles.counts import positive_counts
from rcmd.oracles.programme import OnProgramme
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


@dataclass(frozen=True)
class CurSet(OnProgramme):
    """The matrices with Σ_i ‖β_i·‖_∞ ≤ radius and Σ_j ‖β_·j‖_∞ ≤ radius, read row by row.

    A minimizer has β_ij = −sign(c_ij) z_ij, where z solves the linear programme

        max Σ |c_ij| z_ij   over   0 ≤ z_ij ≤ t_i, z_ij ≤ u_j, Σ_i t_i ≤ radius, Σ_j u_j ≤ radius,

    solved on HiGHS from the vertex of the last call. As in ``Polytope``, ties do not depend on
    earlier calls, and certificates rest on weak duality and not on the solver.

    Examples
    --------
    >>> CurSet((1, 3), 2.0).minimum(np.array([1.0, -3.0, 2.0]))
    -6.0
    """

    shape: tuple[int, int]
    radius: Any
    formula = "indicator of Σ_i ‖β_i·‖_∞ ≤ {radius}, Σ_j ‖β_·j‖_∞ ≤ {radius} for {shape} matrices"

    def __post_init__(self) -> None:
        sizes = positive_counts(self.shape)
        if sizes is None or len(sizes) != 2:
            raise ValueError(
                f"shape of CurSet is {self.shape!r}; expected two positive whole numbers, the rows "
                "and columns of β"
            )
        positive("radius", self.radius, "CurSet")
        object.__setattr__(self, "shape", sizes)
        self.prepare(*_programme(*self.shape, float(self.radius)))

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> CurSet:
        if rows.p != self.shape[0] * self.shape[1]:
            raise ValueError(
                f"shape of CurSet is {self.shape}, {self.shape[0] * self.shape[1]} entries; "
                f"expected p = {rows.p} of them"
            )
        if rows.exact:
            raise ValueError(
                "CurSet computes with floats while X holds fractions; exact runs need an oracle "
                "in closed form (l1 ball, box, simplex)"
            )
        return self

    def argmin(self, c: Array) -> DenseAtom:
        sizes = self._answers.vertex(self._costs(c))[: len(c)]
        return DenseAtom(-np.sign(c) * sizes)

    def minimum(self, c: Array) -> float:
        """The lower bound that the solver's multipliers prove."""
        costs = self._costs(c)
        return self._proofs.bound(costs, self._proofs.solve(costs)[1])

    def fenchel_young(self, beta: Array, c: Array) -> float:
        """Σ_ij (|c_ij β_ij| + c_ij β_ij), plus the slack of the programme at z = |β|."""
        costs, sizes = self._costs(c), abs(beta.reshape(self.shape))
        x = np.concatenate([sizes.ravel(), sizes.max(axis=1), sizes.max(axis=0)])
        misaligned = np.maximum(abs(c * beta) + c * beta, 0).sum()
        return float(misaligned) + self._proofs.slack(costs, self._proofs.solve(costs)[1], x)

    def violation(self, beta: Array) -> Any:
        sizes = abs(beta.reshape(self.shape))
        norms = sizes.max(axis=1).sum(), sizes.max(axis=0).sum()
        return np.max([norms[0] - self.radius, norms[1] - self.radius, 0.0]) / self.radius

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """± radius times the smaller of the largest row and the largest column sum of |x_j|.

        That is safe, and exact where all |x_j| are alike.
        """
        from rcmd.rows.bilinear import BilinearRows

        if isinstance(rows, BilinearRows):
            left, right = abs(rows.left), abs(rows.right)
            by_row = np.outer(left.max(axis=1), right.sum(axis=1))
            by_column = np.outer(left.sum(axis=1), right.max(axis=1))
            sums = np.minimum(by_row, by_column).ravel()
        else:
            sums = np.array([self._largest_sums(rows.row(j)) for j in range(rows.n)])
        return -self.radius * sums, self.radius * sums

    def _largest_sums(self, x: Array) -> Any:
        sizes = abs(x.reshape(self.shape))
        return min(sizes.sum(axis=1).max(), sizes.sum(axis=0).max())

    def _costs(self, c: Array) -> Array:
        return np.concatenate([-abs(c), np.zeros(sum(self.shape))])

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        matrix = cp.reshape(beta, self.shape, order="C")
        norms = (cp.sum(cp.max(cp.abs(matrix), axis=axis)) for axis in (0, 1))
        return 0, [norm <= float(self.radius) for norm in norms]


def _programme(height: int, width: int, radius: float) -> tuple[Any, ...]:
    """The programme in (z, t, u); the ends of the variables follow from its constraints."""
    p = height * width
    entries = sp.eye_array(p)
    of_row = sp.kron(sp.eye_array(height), np.ones((width, 1)))
    of_column = sp.kron(np.ones((height, 1)), sp.eye_array(width))
    A = sp.block_array(
        [
            [entries, -of_row, None],
            [entries, None, -of_column],
            [None, np.ones((1, height)), None],
            [None, None, np.ones((1, width))],
        ],
        format="csr",
    )
    most = np.concatenate([np.zeros(2 * p), [radius, radius]])
    ends = np.zeros(A.shape[1]), np.full(A.shape[1], radius)
    return A, np.full(len(most), -np.inf), most, *ends

"""The set of the convex CUR relaxation: few rows and few columns of β are not zero."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import DenseAtom
from rcmd.oracles.base import Array
from rcmd.oracles.counts import positive_counts
from rcmd.oracles.kept_model import OnProgramme
from rcmd.oracles.splitting import Splitting, bound, slack
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


@dataclass(frozen=True)
class CurSet(OnProgramme[Splitting]):
    """The matrices with Σ_i ‖β_i·‖_∞ ≤ radius and Σ_j ‖β_·j‖_∞ ≤ radius, read row by row.

    A minimizer has β_ij = −sign(c_ij) min(t_i, u_j), where t and u are, but for the radius, the
    multipliers of the rows of the linear programme

        min λ + μ   over   0 ≤ a_ij ≤ |c_ij|, Σ_j a_ij ≤ λ, Σ_i (|c_ij| − a_ij) ≤ μ,

    with one row for each row and each column of β, solved from the vertex of the last call. As
    in ``Polytope``, small programmes go on by pivots of their own and large ones on HiGHS, ties
    do not depend on earlier calls, and certificates do not trust the solver:
    Σ c_ij β_ij ≥ −radius·(λ + μ) for every a within its ends.

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
        self.prepare(Splitting, *self.shape)

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
        levels, height = self._answers.vertex(c), self.shape[0]
        t, u = (part / max(part.sum(), 1.0) for part in (levels[:height], levels[height:]))
        return DenseAtom(-np.sign(c) * (float(self.radius) * np.minimum.outer(t, u)).ravel())

    def minimum(self, c: Array) -> float:
        """The lower bound that the solver's a proves."""
        return float(bound(c.reshape(self.shape), self._share(c), float(self.radius)))

    def fenchel_young(self, beta: Array, c: Array) -> float:
        """The distance of Σ c_ij β_ij from that bound, as a sum of terms ≥ 0."""
        matrices = beta.reshape(self.shape), c.reshape(self.shape), self._share(c)
        return float(slack(*matrices, float(self.radius)))

    def _share(self, c: Array) -> Array:
        return self._proofs.solve(c)[1]

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

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        matrix = cp.reshape(beta, self.shape, order="C")
        norms = (cp.sum(cp.max(cp.abs(matrix), axis=axis)) for axis in (0, 1))
        return 0, [norm <= float(self.radius) for norm in norms]

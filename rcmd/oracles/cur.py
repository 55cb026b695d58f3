"""The set of the convex CUR relaxation: few rows and few columns of β are not zero."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.oracles.base import Array, cp
from rcmd.oracles.linear_programmes import DUAL, PRIMAL, TOLERANCE, HighsModel, OnProgramme
from rcmd.rows import BilinearRows, Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.validation import positive_counts, sp


class Splitting(HighsModel):
    """The linear programme behind ``CurSet``, min λ + μ.

    It is the dual of max Σ |c_ij| z_ij over 0 ≤ z_ij ≤ t_i, z_ij ≤ u_j and Σ_i t_i = Σ_j u_j = 1,
    which z_ij = min(t_i, u_j) solves with t and u the multipliers of its rows. It has one row for
    each of them, where the other form has two for each entry; and only ends change with c, for
    which the dual simplex method continues from the last basis. λ and μ have no sign by themselves,
    so that t and u sum to 1 and not to less, which leaves fewer ties.
    """

    strategies = DUAL, PRIMAL

    def __init__(self, height: int, width: int) -> None:
        self.shape = self._arguments = height, width
        self._entries = np.arange(height * width, dtype=np.int32)
        self._columns = np.arange(height, height + width, dtype=np.int32)
        self._none, self._open = np.zeros(height * width), np.full(width, -np.inf)
        self.load_state(None)

    def _form(self) -> tuple[Any, ...]:
        height, width = self.shape
        of_row = sp.kron(sp.eye_array(height), np.ones((1, width)))
        of_column = sp.kron(np.ones((1, height)), sp.eye_array(width))
        loads = -np.ones((height, 1)), -np.ones((width, 1))
        blocks = [[of_row, loads[0], None], [-of_column, None, loads[1]]]
        columns = np.r_[self._none, -np.inf, -np.inf], np.r_[self._none, np.inf, np.inf]
        rows = np.full(height + width, -np.inf), np.zeros(height + width)
        matrix = sp.block_array(blocks, format="csc")
        return matrix, np.r_[self._none, 1.0, 1.0], columns, rows

    def _pose(self, c: Array) -> None:
        """The model gets |c|, scaled to size 1."""
        self._weights = abs(c)
        self._size = self._weights.max() or 1.0
        self._most = self._weights / self._size
        self._sums = -self._most.reshape(self.shape).sum(axis=0)
        self._model.changeColsBounds(len(c), self._entries, self._none, self._most)
        self._model.changeRowsBounds(len(self._sums), self._columns, self._open, self._sums)

    def _read(self, found: Any) -> tuple[Array, Array]:
        """(t, u) ≥ 0 in one vector, and a share 0 ≤ a ≤ |c| of the shape of β."""
        share = np.array(found.col_value[: len(self._most)])
        rooms = -np.array(found.row_value)
        rooms[self.shape[0] :] += self._sums
        between = np.minimum(share, self._most - share) > TOLERANCE
        self._basic = np.count_nonzero(between) + np.count_nonzero(rooms > TOLERANCE) + 2
        share = np.minimum(np.maximum(share, 0) * self._size, self._weights)
        return np.maximum(-np.array(found.row_dual), 0), share.reshape(self.shape)

    def _tied(self) -> bool:
        """Whether fewer variables and slacks lie between their ends than there are rows."""
        return bool(self._basic < sum(self.shape))


@dataclass(frozen=True)
class CurSet(OnProgramme):
    """The matrices with Σ_i ‖β_i·‖_∞ ≤ radius and Σ_j ‖β_·j‖_∞ ≤ radius, read row by row.

    A minimizer has β_ij = −sign(c_ij) min(t_i, u_j), where t and u are, but for the radius, the
    multipliers of the rows of the linear programme

        min λ + μ   over   0 ≤ a_ij ≤ |c_ij|, Σ_j a_ij ≤ λ, Σ_i (|c_ij| − a_ij) ≤ μ,

    with one row for each row and each column of β, which HiGHS solves from the vertex of the
    last call. As in ``Polytope``, ties do not depend on earlier calls, and certificates do not
    trust the solver: Σ c_ij β_ij ≥ −radius·(λ + μ) for every a within its ends.

    Examples
    --------
    >>> CurSet((1, 3), 2.0).minimum(np.array([1.0, -3.0, 2.0]))
    -6.0
    """

    shape: tuple[int, int]
    radius: Any
    positive_fields = ("radius",)
    formula = "indicator of Σ_i ‖β_i·‖_∞ ≤ {radius}, Σ_j ‖β_·j‖_∞ ≤ {radius} for {shape} matrices"
    short_formula = "Σ_i ‖β_i·‖_∞ ≤ radius, Σ_j ‖β_·j‖_∞ ≤ radius"
    spec, bound_words = "cur:SHAPE:RADIUS", "≤ radius·(row or column sum of |x|)"
    section, sized_by = "matrices", "shape"

    def __post_init__(self) -> None:
        super().__post_init__()
        shape = positive_counts("shape", self.shape, "CurSet", "the rows and columns of β", 2)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "programme", Splitting(*self.shape))

    def argmin(self, c: Array) -> DenseAtom:
        levels, height = self.programme.vertex(c), self.shape[0]
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
        return self.programme.solve(c)[1]

    def violation(self, beta: Array) -> Any:
        sizes = abs(beta.reshape(self.shape))
        norms = sizes.max(axis=1).sum(), sizes.max(axis=0).sum()
        return np.max([norms[0] - self.radius, norms[1] - self.radius, 0.0]) / self.radius

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """± radius times the smaller of the largest row and the largest column sum of |x_j|.

        That is safe, and exact where all |x_j| are alike.
        """
        if isinstance(rows, BilinearRows):
            left, right = abs(rows.left), abs(rows.right)
            by_row = np.outer(left.max(axis=1), right.sum(axis=1))
            by_column = np.outer(left.sum(axis=1), right.max(axis=1))
            sums = np.minimum(by_row, by_column).ravel()
        else:
            sizes = (abs(rows.row(j).reshape(self.shape)) for j in range(rows.n))
            sums = np.array([min(x.sum(axis=1).max(), x.sum(axis=0).max()) for x in sizes])
        return -self.radius * sums, self.radius * sums

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        matrix = cp.reshape(beta, self.shape, order="C")
        norms = (cp.sum(cp.max(cp.abs(matrix), axis=axis)) for axis in (0, 1))
        return 0, [norm <= float(self.radius) for norm in norms]


def loads(c: Array, share: Array) -> tuple[Array, Array]:
    """Σ_j a_ij for every row and Σ_i (|c_ij| − a_ij) for every column of the matrix c."""
    return share.sum(axis=1), (abs(c) - share).sum(axis=0)


def bound(c: Array, share: Array, radius: Any) -> Any:
    """A number that no Σ c_ij β_ij undercuts on ``CurSet``, whatever 0 ≤ share ≤ |c|."""
    by_row, by_column = loads(c, share)
    return -radius * (by_row.max() + by_column.max())


def slack(beta: Array, c: Array, share: Array, radius: Any) -> Any:
    """Σ c_ij β_ij − bound for β in the set, term by term non-negative.

    With z = |β|, t and u the largest z of every row and column, and λ and μ the largest loads:

        Σ (|c_ij β_ij| + c_ij β_ij) + Σ a_ij (t_i − z_ij) + Σ (|c_ij| − a_ij)(u_j − z_ij)
        + Σ_i t_i (λ − Σ_j a_ij) + Σ_j u_j (μ − Σ_i (|c_ij| − a_ij))
        + λ (radius − Σ t_i) + μ (radius − Σ u_j).
    """
    z, values = abs(beta), c * beta
    t, u = z.max(axis=1), z.max(axis=0)
    by_row, by_column = loads(c, share)
    most, most_of_columns = by_row.max(), by_column.max()
    return (
        (abs(values) + values).sum()
        + (share * (t[:, None] - z)).sum()
        + ((abs(c) - share) * (u - z)).sum()
        + t @ (most - by_row)
        + u @ (most_of_columns - by_column)
        + most * np.maximum(radius - t.sum(), 0)
        + most_of_columns * np.maximum(radius - u.sum(), 0)
    )

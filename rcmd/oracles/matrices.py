"""Matrices: the nuclear norm and the spectrahedron, with atoms of rank one."""

import math
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import IRRATIONAL, ZERO, Array, LinearMinOracle, NormBall, NormPenalty, cp
from rcmd.oracles.leading import EPSILON, Spectrum, gram, symmetric
from rcmd.rows import MatrixEntries, Rows
from rcmd.rows.atoms import Atom, RankOneAtom
from rcmd.rows.lowrank import DROPPED, LowRank
from rcmd.rows.validation import is_sparse, positive_counts

SEED = 20200101
"""Of the random starts: the same question gets the same answer."""

STEP_TOLERANCE = 1e-2
"""Residual, relative to ‖A‖, at which a step's leading vector is good enough."""


class OnMatrices(LinearMinOracle):
    """R on m × p matrices. c is a vector (row by row), an array or a sparse matrix.

    β is a vector (row by row) or a ``LowRank``. The leading vector of one ``argmin`` is the
    start of the next, until ``reset``; nothing else reads or writes it. Two interleaved
    runs of one ``Problem`` share it, and differ a little from runs one after the other.
    """

    exact_atoms, refuses_exact, takes_matrices = False, IRRATIONAL, True
    section, cost, sized_by = "matrices", "Lanczos", "shape"
    caches = "_last", "_known"
    shape: tuple[int, int]
    _last: list[Array]
    _known: list[Any]

    def __post_init__(self) -> None:
        sides = "the rows and columns of β"
        shape = positive_counts("shape", self.shape, type(self).__name__, sides, 2)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "_last", [])
        object.__setattr__(self, "_known", [])
        super().__post_init__()

    def bind(self, rows: Rows, losses: Any, offset: Array | None = None) -> Self:
        super().bind(rows, losses, offset)
        return replace(self)  # type: ignore[type-var] # with a warm start of its own

    def state(self) -> Any:
        return list(self._last)

    def load_state(self, state: Any) -> None:
        self._last[:] = state or []

    def leading_vector(self, spectrum: Spectrum) -> Array:
        """A leading vector good enough for a step, from the last one."""
        start = self._last[0] if self._last else None
        self._last[:] = [spectrum.leading(start, STEP_TOLERANCE, self.fresh_rng())]
        return self._last[0]

    def fresh_rng(self) -> np.random.Generator:
        """A generator for random starts, the same one every time."""
        return np.random.default_rng(SEED)

    def matrix(self, c: Any) -> Any:
        """c as a sparse matrix or an array of the right shape."""
        if not is_sparse(c):
            return np.asarray(c, dtype=float).reshape(self.shape)
        self._check_fits("c", c)
        return c

    def decomposed(self, beta: Any, dropped: float = 0.0) -> LowRank:
        """β as a singular value decomposition; of an array, with all of it, as gaps need it."""
        if not isinstance(beta, LowRank):
            return LowRank.of_array(np.asarray(beta, dtype=float).reshape(self.shape), dropped)
        self._check_fits("β", beta)
        beta.decompose()
        return beta

    def _check_fits(self, name: str, matrix: Any) -> None:
        if matrix.shape != self.shape:
            raise ValueError(
                f"{name} has shape {matrix.shape}; expected {self.shape}, the shape of "
                f"{type(self).__name__}"
            )

    def cvxpy_matrix(self, beta: Any) -> Any:
        """A CVXPY vector as the matrix it stands for."""
        return cp.reshape(beta, self.shape, order="C")


def scaled(matrix: Any) -> tuple[Any, float]:
    """The matrix divided by a power of two, and that power: then its squares cannot overflow.

    The largest entry becomes 1 to 2, and no digit is lost.
    """
    data = matrix.data if is_sparse(matrix) else matrix
    scale = 2.0 ** (math.frexp(float(abs(data).max(initial=0.0)))[1] - 1)
    return matrix / scale, scale


def same(one: Any, other: Any) -> bool:
    """Whether two matrices are stored with the same numbers in the same places."""
    if is_sparse(one) and is_sparse(other):
        parts = ((getattr(m, name) for m in (one, other)) for name in ("indptr", "indices", "data"))
        return one.format == other.format and all(np.array_equal(*pair) for pair in parts)
    return not (is_sparse(one) or is_sparse(other)) and np.array_equal(one, other)


class OnNuclearBall(OnMatrices, NormBall):
    """What every R with the domain ‖β‖_* ≤ radius shares."""

    bound_words = "radius·σ₁(x)"

    def norm(self, beta: Any) -> Any:
        return self.decomposed(beta).nuclear_norm()

    def norms_of_rows(self, rows: Rows) -> Array:
        if isinstance(rows, MatrixEntries):
            return np.ones(rows.n)
        return np.array([self.dual_norm(rows.row(j)) for j in range(rows.n)])

    def tall(self, c: Any) -> tuple[Any, float, bool]:
        """c, transposed if it is wide and scaled to the size 1; the scale; whether c is wide."""
        matrix = self.matrix(c)
        wide = matrix.shape[0] < matrix.shape[1]
        return *scaled(matrix.T if wide else matrix), wide

    def pairs(self, c: Any, count: int) -> tuple[Array, Array, Array]:
        """About ``count`` leading singular values of c, with unit vectors u and v as columns."""
        tall, scale, wide = self.tall(c)
        return self._pairs(tall, scale, wide, gram(tall).first(count, self.fresh_rng()))

    def _pairs(
        self, tall: Any, scale: float, wide: bool, vectors: list[Array]
    ) -> tuple[Array, Array, Array]:
        """σ = uᵀcv for unit vectors v of a tall matrix, and u along the images of v."""
        inner = np.stack(vectors, axis=1)
        outer = tall @ inner
        values = np.sqrt((outer * outer).sum(axis=0))
        outer = outer / np.where(values > 0, values, 1.0)
        return (inner, scale * values, outer) if wide else (outer, scale * values, inner)

    def _atoms(self, pairs: tuple[Array, Array, Array]) -> list[Atom]:
        """The atoms −radius·uvᵀ that pay, and 0."""
        triples = zip(pairs[0].T, pairs[1], pairs[2].T, strict=True)
        paying = ((u, v) for u, sigma, v in triples if self.indicator or sigma > self.threshold)
        return [*(RankOneAtom(-self.radius * u, v) for u, v in paying), ZERO]

    def argmin(self, c: Any) -> Atom:
        tall, scale, wide = self.tall(c)
        vector = self.leading_vector(gram(tall))
        return self._atoms(self._pairs(tall, scale, wide, [vector]))[0]

    def best_atoms(self, c: Any, count: int) -> list[Atom]:
        return self._atoms(self.pairs(c, count))

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        parts = self.decomposed(beta, DROPPED)
        shares = parts.weights / self.radius
        pairs = zip(parts.left.T, parts.right.T, strict=True)
        atoms = [RankOneAtom(self.radius * left, right) for left, right in pairs]
        rest = max(1 - float(shares.sum()), 0.0)
        return [*zip(shares.tolist(), atoms, strict=True), (rest, ZERO)]

    def dual_norm(self, c: Any) -> float:
        """An upper bound of σ₁(c): beyond sides of 1500 but for one failure in 10¹²."""
        matrix = self.matrix(c)
        if not (self._known and same(matrix, self._known[0])):  # a certificate asks several times
            tall, scale, _ = self.tall(matrix)
            square = gram(tall).largest(self.fresh_rng()) if abs(tall).max() else 0.0
            self._known[:] = matrix.copy(), scale * math.sqrt(square) * (1 + 4 * EPSILON)
        return float(self._known[1])

    def slack(self, beta: Any, c: Any, level: Any, beyond: Any) -> float:
        """Σ_i s_i (level + u_iᵀ c v_i) + (radius − Σ s_i) beyond, over β = Σ_i s_i u_i v_iᵀ."""
        parts = self.decomposed(beta)
        along = np.maximum(level + parts.inner(self.matrix(c)), 0)
        return float(parts.weights @ along) + max(self.radius - parts.nuclear_norm(), 0) * beyond

    def cvxpy_norm(self, beta: Any) -> Any:
        return cp.normNuc(self.cvxpy_matrix(beta))


@dataclass(frozen=True)
class NuclearBall(OnNuclearBall):
    """The set {‖β‖_* ≤ radius} of matrices of the given shape.

    Steps use a leading singular pair to a few digits, from a warm start; ``minimum`` is
    −radius times an upper bound of σ₁(c), so that dual values are lower bounds.

    Examples
    --------
    >>> ball = NuclearBall((2, 2), 3.0)
    >>> atom = ball.argmin(np.array([0.0, 2.0, 0.0, 0.0]))
    >>> atom.gather(np.arange(4)) + 0.0, round(ball.minimum(np.array([0.0, 2.0, 0.0, 0.0])), 9)
    (array([ 0., -3.,  0.,  0.]), -6.0)
    """

    shape: tuple[int, int]
    radius: Any
    formula = "indicator of ‖β‖_* ≤ {radius} for matrices of shape {shape}"
    spec, short_formula = "nuclear:SHAPE:RADIUS", "‖β‖_* ≤ radius"


@dataclass(frozen=True)
class NuclearPenalty(NormPenalty, OnNuclearBall):
    """R(β) = strength·‖β‖_* on the ball ‖β‖_* ≤ radius of matrices of the given shape.

    For an open radius see ``NormPenalty``.

    Examples
    --------
    >>> round(NuclearPenalty(0.5, (1, 2), 3.0).minimum(np.array([0.6, 0.8])), 9)
    -1.5
    """

    strength: Any
    shape: tuple[int, int]
    radius: Any = None
    formula = "{strength}·‖β‖_* on ‖β‖_* ≤ {radius} for matrices of shape {shape}"
    spec = "nuclear-penalty:SHAPE:STRENGTH[:RADIUS]"
    short_formula = "strength·‖β‖_* on ‖β‖_* ≤ radius"


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
    positive_fields = ("trace",)
    formula = "indicator of β ⪰ 0, tr β = {trace}, {order} × {order}"
    spec, bound_words = "spectrahedron:ORDER[:TRACE]", "trace·max |λ(x)|"
    square = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", (self.order, self.order))
        super().__post_init__()

    def argmin(self, c: Any) -> RankOneAtom:
        vector = self.leading_vector(self._opposite(c)[0])
        return RankOneAtom(self.trace * vector, vector)

    def best_atoms(self, c: Any, count: int) -> list[Atom]:
        vectors = self._opposite(c)[0].first(count, self.fresh_rng())
        return [RankOneAtom(self.trace * vector, vector) for vector in vectors]

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        parts = self.decomposed(beta, DROPPED)
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
        """Σ_i s_i (u_iᵀ c u_i − λ_min) over β = Σ_i s_i u_i u_iᵀ, and what Σ_i s_i misses of trace.

        That is rounding, times λ_min, which may be more than the sum.
        """
        parts, lowest = self.decomposed(beta), self._smallest(c)
        along = parts.inner(self.matrix(c)) - lowest
        missed = abs(lowest * (float(parts.weights.sum()) - self.trace))
        return float(parts.weights @ np.maximum(along, 0)) + missed

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
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
        matrix = self.cvxpy_matrix(beta)
        return 0, [matrix == matrix.T, matrix >> 0, cp.trace(matrix) == float(self.trace)]

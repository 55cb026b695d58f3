"""Matrices: the nuclear norm and the spectrahedron, with atoms of rank one."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from rcmd.oracles.base import ZERO, Array, LinearMinOracle
from rcmd.oracles.leading import EPSILON, Spectrum, gram, symmetric
from rcmd.oracles.norms import NormBall, NormPenalty
from rcmd.rows import MatrixEntries, Rows
from rcmd.rows.atoms import Atom, RankOneAtom
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import checked_shape, positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses


SEED = 20200101
"""Of the random starts: the same question gets the same answer."""

STEP_TOLERANCE = 1e-2
"""Residual, relative to ‖A‖, at which a step's leading vector is good enough."""


class OnMatrices(LinearMinOracle):
    """R on m × p matrices. c is a vector (row by row), an array or a sparse matrix.

    β is a vector (row by row) or a ``LowRank``. The leading vector of one ``argmin`` is the
    start of the next, until ``reset``; nothing else reads or writes it. Two runs of one
    ``Problem`` taken by turns share it, and answer a little differently than one by one.
    """

    exact_atoms = False
    takes_matrices = True
    section = "matrices"
    cost = "Lanczos"
    shape: tuple[int, int]
    _last: list[Array]

    def prepare(self) -> None:
        """Check the shape and make room for the warm start."""
        object.__setattr__(self, "shape", checked_shape(self.shape, type(self).__name__))
        object.__setattr__(self, "_last", [])

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Self:
        super().bind(rows, losses, offset)
        return replace(self)  # type: ignore[type-var] # with a warm start of its own

    def declared_size(self) -> tuple[int, str]:
        size = math.prod(self.shape)
        return size, f"shape of {type(self).__name__} is {self.shape}, {size} entries"

    def reset(self) -> None:
        self._last.clear()

    def state(self) -> Any:
        return list(self._last)

    def load_state(self, state: Any) -> None:
        self._last[:] = state

    def leading_vector(self, spectrum: Spectrum) -> Array:
        """A leading vector good enough for a step, from the last one."""
        start = self._last[0] if self._last else None
        self._last[:] = [spectrum.leading(start, STEP_TOLERANCE, self.fresh_rng())]
        return self._last[0]

    def fresh_rng(self) -> np.random.Generator:
        """The generator of random starts, always at its beginning."""
        return np.random.default_rng(SEED)

    def matrix(self, c: Any) -> Any:
        """c as a sparse matrix or an array of the right shape."""
        if not sp.issparse(c):
            return np.asarray(c, dtype=float).reshape(self.shape)
        self._check_fits("c", c)
        return c

    def decomposed(self, beta: Any) -> LowRank:
        """β as a singular value decomposition."""
        if not isinstance(beta, LowRank):
            return LowRank.of_array(np.asarray(beta, dtype=float).reshape(self.shape))
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
        import cvxpy as cp

        return cp.reshape(beta, self.shape, order="C")


def scaled(matrix: Any) -> tuple[Any, float]:
    """The matrix divided by a power of two, and that power: then its squares cannot overflow.

    The largest entry becomes 1 to 2, and no digit is lost.
    """
    data = matrix.data if sp.issparse(matrix) else matrix
    scale = 2.0 ** (math.frexp(float(abs(data).max(initial=0.0)))[1] - 1)
    return matrix / scale, scale


class OnNuclearBall(OnMatrices, NormBall):
    """What every R with the domain ‖β‖_* ≤ radius shares."""

    bound_words = "radius·σ₁(x)"

    def __post_init__(self) -> None:
        self.prepare()
        super().__post_init__()

    def norm(self, beta: Any) -> Any:
        return self.decomposed(beta).nuclear_norm()

    def norms_of_rows(self, rows: Rows) -> Array:
        if isinstance(rows, MatrixEntries):
            return np.ones(rows.n)
        return np.array([self.dual_norm(rows.row(j)) for j in range(rows.n)])

    def best_atoms(self, c: Any, count: int) -> list[Atom]:
        matrix = self.matrix(c)
        tall, scale = scaled(_tall(matrix))
        pairs = [_pair(tall, v) for v in gram(tall).first(count, self.fresh_rng())]
        turned = matrix.shape[0] < matrix.shape[1]
        atoms = [(inner, outer) if turned else (outer, inner) for _, outer, inner in pairs]
        steep = [scale * value > self.threshold for value, _, _ in pairs]
        found = [RankOneAtom(-self.radius * left, right) for left, right in atoms]
        return [*itertools.compress(found, steep), ZERO]

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        parts = self.decomposed(beta)
        shares = parts.weights / self.radius
        atoms = [
            RankOneAtom(self.radius * u, v)
            for u, v in zip(parts.left.T, parts.right.T, strict=True)
        ]
        rest = max(1 - float(shares.sum()), 0.0)
        return [*zip(shares.tolist(), atoms, strict=True), (rest, ZERO)]

    def dual_norm(self, c: Any) -> float:
        """An upper bound of σ₁(c): beyond sides of 1500 but for one failure in 10¹²."""
        matrix, scale = scaled(_tall(self.matrix(c)))
        return scale * math.sqrt(gram(matrix).largest(self.fresh_rng())) * (1 + 4 * EPSILON)

    def leading_pair(self, c: Any) -> tuple[float, Array, Array]:
        """σ, u and v, approximately the leading ones of c; σ = uᵀcv is not above σ₁."""
        matrix = self.matrix(c)
        tall, scale = scaled(_tall(matrix))
        sigma, outer, inner = _pair(tall, self.leading_vector(gram(tall)))
        left, right = (outer, inner) if matrix.shape[0] >= matrix.shape[1] else (inner, outer)
        return scale * sigma, left, right

    def slack(self, beta: Any, c: Any, level: Any, beyond: Any) -> float:
        """Σ_i s_i (level + u_iᵀ c v_i) + (radius − Σ s_i) beyond, over β = Σ_i s_i u_i v_iᵀ."""
        parts = self.decomposed(beta)
        along = np.maximum(level + parts.inner(self.matrix(c)), 0)
        return float(parts.weights @ along) + max(self.radius - parts.nuclear_norm(), 0) * beyond

    def cvxpy_norm(self, beta: Any) -> Any:
        import cvxpy as cp

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

    def argmin(self, c: Any) -> RankOneAtom:
        _, left, right = self.leading_pair(c)
        return RankOneAtom(-self.radius * left, right)


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

    def argmin(self, c: Any) -> Atom:
        sigma, left, right = self.leading_pair(c)
        if sigma <= self.strength:
            return ZERO
        return RankOneAtom(-self.radius * left, right)


def _pair(matrix: Any, right: Array) -> tuple[float, Array, Array]:
    """‖C·right‖, its direction (0 for 0) and ``right``."""
    left = matrix @ right
    sigma = math.sqrt(left @ left)
    return sigma, left / (sigma or 1.0), right


def _tall(matrix: Any) -> Any:
    """The matrix or its transpose, whichever has no more columns than rows."""
    return matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T


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
    short_formula = "β ⪰ 0, tr β = trace"
    spec, bound_words = "spectrahedron:ORDER[:TRACE]", "trace·max |λ(x)|"
    square = True

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

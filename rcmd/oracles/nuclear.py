"""The nuclear-norm ball and the nuclear-norm penalty: atoms of rank one."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom, RankOneAtom, SparseAtom
from rcmd.oracles.base import ZERO, Array
from rcmd.oracles.leading import EPSILON, gram
from rcmd.oracles.matrices import OnMatrices, scaled
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


class OnNuclearBall(OnMatrices):
    """What every R with the domain ‖β‖_* ≤ radius shares; M_j = radius·‖x_j‖₂."""

    radius: Any

    @property
    def threshold(self) -> Any:
        """Slopes up to this move nothing; the strength of a penalty."""
        return 0

    def violation(self, beta: Any) -> Any:
        return max(self.decomposed(beta).nuclear_norm() - self.radius, 0) / self.radius

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        from rcmd.rows.entries import MatrixEntries  # it imports atoms, and so this package

        if isinstance(rows, MatrixEntries):
            norms = np.ones(rows.n)
        else:
            norms = np.array([self.spectral_norm(rows.row(j)) for j in range(rows.n)])
        return -self.radius * norms, self.radius * norms

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

    def spectral_norm(self, c: Any) -> float:
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

    def fenchel_young_terms(self, beta: Any, c: Any, level: float, beyond: float) -> float:
        """Σ_i s_i (level + u_iᵀ c v_i) + (radius − Σ s_i) beyond, over β = Σ_i s_i u_i v_iᵀ."""
        parts = self.decomposed(beta)
        along = np.maximum(level + parts.inner(self.matrix(c)), 0)
        return float(parts.weights @ along) + max(self.radius - parts.nuclear_norm(), 0) * beyond


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

    def __post_init__(self) -> None:
        self.prepare()
        positive("radius", self.radius, "NuclearBall")

    def argmin(self, c: Any) -> RankOneAtom:
        _, left, right = self.leading_pair(c)
        return RankOneAtom(-self.radius * left, right)

    def minimum(self, c: Any) -> Any:
        return -self.radius * self.spectral_norm(c)

    def fenchel_young(self, beta: Any, c: Any) -> Any:
        level = self.spectral_norm(c)
        return self.fenchel_young_terms(beta, c, level, level)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        return 0, [cp.normNuc(self.cvxpy_matrix(beta)) <= float(self.radius)]


@dataclass(frozen=True)
class NuclearPenalty(OnNuclearBall):
    """R(β) = strength·‖β‖_* on the ball ‖β‖_* ≤ radius of matrices of the given shape.

    Left open, the radius is (1/n)Σ_j sup_s −s·l_j'(s) / strength, which no optimum
    leaves: at one, strength·‖β‖_* = −⟨∇f(β), β⟩.

    Examples
    --------
    >>> round(NuclearPenalty(0.5, (1, 2), 3.0).minimum(np.array([0.6, 0.8])), 9)
    -1.5
    """

    strength: Any
    shape: tuple[int, int]
    radius: Any = None
    indicator = False
    formula = "{strength}·‖β‖_* on ‖β‖_* ≤ {radius} for matrices of shape {shape}"

    def __post_init__(self) -> None:
        self.prepare()
        positive("strength", self.strength, "NuclearPenalty")
        if self.radius is not None:
            positive("radius", self.radius, "NuclearPenalty")

    @property
    def threshold(self) -> Any:
        return self.strength

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> NuclearPenalty:
        bound = super().bind(rows, losses, offset)
        if self.radius is not None:
            return bound
        descent = losses.largest_descent(offset)
        # Rounded up, so that no rounding cuts the optimum off; a zero descent puts it at zero.
        radius = (1 + 1e-12) * descent / self.strength if descent > 0 else 1.0
        return replace(bound, radius=radius)

    def argmin(self, c: Any) -> Atom:
        sigma, left, right = self.leading_pair(c)
        if sigma <= self.strength:
            return SparseAtom((), ())
        return RankOneAtom(-self.radius * left, right)

    def minimum(self, c: Any) -> Any:
        return -self.radius * self._excess(c)

    def penalty(self, beta: Any) -> Any:
        return self.strength * self.decomposed(beta).nuclear_norm()

    def fenchel_young(self, beta: Any, c: Any) -> Any:
        excess = self._excess(c)
        return self.fenchel_young_terms(beta, c, self.strength + excess, excess)

    def _excess(self, c: Any) -> float:
        return max(self.spectral_norm(c) - self.strength, 0.0)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        norm = cp.normNuc(self.cvxpy_matrix(beta))
        return float(self.strength) * norm, [norm <= float(self.radius)]


def _pair(matrix: Any, right: Array) -> tuple[float, Array, Array]:
    """‖C·right‖, its direction (0 for 0) and ``right``."""
    left = matrix @ right
    sigma = math.sqrt(left @ left)
    return sigma, left / (sigma or 1.0), right


def _tall(matrix: Any) -> Any:
    """The matrix or its transpose, whichever has no more columns than rows."""
    return matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T

"""Euclidean balls: the l2 ball, ridge and the elastic net, and ellipsoids, its images."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from rcmd.oracles.base import IRRATIONAL, Array, Coordinatewise, DiagonalOrMatrix, NormBall, cp
from rcmd.oracles.vectors import SMALL, direction, norm, norms_of_rows, row_norms
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses


class OnL2Ball(NormBall, Coordinatewise):
    """What every R with the domain ‖β‖₂ ≤ radius shares."""

    bound_words, numpy_pass = "radius·‖x‖₂", "-2.0 * c, c @ c"

    def shape(self, c: Any) -> Any:
        return -c

    def mass(self, c: Any) -> Any:
        return c * c

    def norm(self, beta: Array) -> Any:
        return norm(beta)

    def dual_norm(self, c: Array) -> Any:
        return norm(c)

    def norms_of_rows(self, rows: Rows) -> Array:
        return norms_of_rows(rows)

    def violation(self, beta: Array) -> Any:
        # By squares, so that fractions need no root.
        scaled = beta / self.radius
        return max(scaled @ scaled - 1, 0) / 2

    def boundary_slack(self, beta: Array, atom: Array) -> Any:
        """1 − atomᵀβ/radius² for an atom on the sphere, as a sum of non-negative terms."""
        # In units of the radius, whose square may overflow or vanish.
        scaled = beta / self.radius
        gap = scaled - atom / self.radius
        return (gap @ gap) / 2 + max(1 - scaled @ scaled, 0) / 2

    def cvxpy_norm(self, beta: Any) -> Any:
        return cp.norm2(beta)


@dataclass(frozen=True)
class L2Ball(OnL2Ball):
    """The set {‖β‖₂ ≤ radius}.

    Examples
    --------
    >>> L2Ball(5.0).argmin(np.array([3.0, -4.0])).vector
    array([-3.,  4.])
    """

    radius: Any
    formula = "indicator of ‖β‖₂ ≤ {radius}"
    spec = "l2:RADIUS"

    def scale(self, total: Any) -> Any:
        return self.radius / math.sqrt(total) if total > 0.0 else 0.0

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(direction(c, -self.radius))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """(‖c‖/radius) (‖β − β̃‖² + radius² − ‖β‖²)/2."""
        return norm(c) * self.radius * self.boundary_slack(beta, self.argmin(c).vector)


class OnRidge(OnL2Ball):
    """(strength/2)·‖β‖₂² on ‖β‖₂ ≤ radius, and what a penalty with a kink at 0 adds to it."""

    strength: Any
    indicator = False

    @property
    def mu(self) -> Any:
        return self.strength

    def thresholded(self, c: Array) -> Array:
        """c less what the kink of R at 0 takes away."""
        return c

    def radius_by_descent(self, descent: Any) -> Any:
        """The largest ‖β‖₂ of an optimum, at which −∇f(β)ᵀβ ≤ descent."""
        return math.sqrt(descent / self.strength)

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Self:
        """An open radius becomes the smaller of two that no optimum leaves.

        Rounded up, so that no rounding cuts the optimum off; a zero slope puts it at zero.
        """
        if self.radius is not None:
            return self
        start = 0 * losses.y if offset is None else offset
        slope = self.thresholded(rows.rmatvec(losses.derivative(start)) / rows.n)
        by_slope = norm(slope.astype(float)) / self.mu
        by_descent = self.radius_by_descent(losses.largest_descent(offset))
        radius = float(min(by_descent, by_slope)) * (1 + 1e-12) or 1.0
        return replace(self, radius=Fraction(radius) if rows.exact else radius)  # type: ignore[type-var]

    def scale(self, total: Any) -> Any:
        # A running sum of squares may round below zero, where the atom is free.
        norm = math.sqrt(total) if total > 0.0 else 0.0
        return 1.0 / self.strength if norm <= self.strength * self.radius else self.radius / norm

    def argmin(self, c: Array) -> DenseAtom:
        return DenseAtom(self.minimizer(c))

    def minimizer(self, c: Array, out: Array | None = None) -> Array:
        """The atom's vector without a kink, in the memory of ``out`` where that may be used."""
        if not self._free(c):
            return direction(c, -self.radius, out)
        # One division is cheaper than p; of fractions and of the smallest numbers p are safer.
        if c.dtype == float and self.strength > SMALL:
            return np.multiply(c, -1 / self.strength, out=out)
        return c / -self.strength

    def minimum(self, c: Array) -> Any:
        if c.dtype == object and self._free(c):
            return -(c / self.strength @ c) / 2
        size = norm(c)
        if size <= self.strength * self.radius:
            return -(size / self.strength * size) / 2
        return self.radius * (self.strength * self.radius / 2 - size)

    def _free(self, c: Array) -> Any:
        """Whether −c/strength lies in the ball."""
        reach = self.strength * self.radius
        # By squares where numbers are exact, so that fractions need no root.
        return c @ c <= reach * reach if c.dtype == object else norm(c) <= reach

    def penalty(self, beta: Array) -> Any:
        # In this order, as squares of β may overflow or vanish where R(β) does not.
        return (self.strength * beta) @ beta / 2

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """(strength/2)‖β − β̃‖², plus the slack of the sphere where β̃ lies on it."""
        atom = self.minimizer(c)
        gap = beta - atom
        curved = (self.strength * gap) @ gap / 2
        if self._free(c):
            return curved
        steeper = (norm(c) - self.strength * self.radius) * self.radius
        return curved + steeper * self.boundary_slack(beta, atom)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        penalty = float(self.strength) / 2 * cp.sum_squares(beta)
        return penalty, super().cvxpy_form(beta)[1]


@dataclass(frozen=True)
class Ridge(OnRidge):
    """R(β) = (strength/2)·‖β‖₂² on the ball ‖β‖₂ ≤ radius; μ = strength.

    Left open, the radius is the smaller of √((1/n)Σ_j sup_s −s·l_j'(s) / strength) and
    ‖∇f(0)‖/strength, neither of which an optimum leaves: at one,
    strength·‖β‖₂² = −∇f(β)ᵀβ ≤ −∇f(0)ᵀβ.

    Examples
    --------
    >>> ridge = Ridge(0.5, radius=2.0)
    >>> ridge.mu, ridge.argmin(np.array([0.25, 0.0])).dense(np.zeros(2))
    (0.5, array([-0.5,  0. ]))
    """

    strength: Any
    radius: Any = None
    positive_fields = "strength", "radius"
    formula = "½·{strength}·‖β‖₂² on ‖β‖₂ ≤ {radius}"
    spec, mu_words = "ridge:STRENGTH[:RADIUS]", "strength"


@dataclass(frozen=True)
class ElasticNet(OnRidge):
    """R(β) = l1_strength·‖β‖₁ + (l2_strength/2)·‖β‖₂² on ‖β‖₂ ≤ radius; μ = l2_strength.

    cᵀβ + l1_strength·‖β‖₁ ≥ tᵀβ for the soft-thresholded t = sign(c)(|c| − l1_strength)₊, with
    equality where β is against t: minimizing is ridge at t.

    Left open, the radius is the smaller of the r with l2_strength·r² + l1_strength·r =
    (1/n)Σ_j sup_s −s·l_j'(s) and ‖soft-thresholded ∇f(0)‖/l2_strength, for the reason that
    ``Ridge`` gives.

    Examples
    --------
    >>> ElasticNet(1.0, 2.0, 10.0).argmin(np.array([3.0, -2.0])).vector
    array([-1. ,  0.5])
    """

    l1_strength: Any
    l2_strength: Any
    radius: Any = None
    positive_fields = "l1_strength", "l2_strength", "radius"
    formula = "{l1_strength}·‖β‖₁ + ½·{l2_strength}·‖β‖₂² on ‖β‖₂ ≤ {radius}"
    spec, mu_words = "elastic-net:L1_STRENGTH:L2_STRENGTH[:RADIUS]", "l2_strength"

    @property
    def strength(self) -> Any:
        """That of the ridge."""
        return self.l2_strength

    def radius_by_descent(self, descent: Any) -> Any:
        # The root of the quadratic without the difference of two like numbers.
        second = 2 * math.sqrt(self.l2_strength) * math.sqrt(descent)
        return 2 * descent / (self.l1_strength + math.hypot(self.l1_strength, second))

    def shape(self, c: Any) -> Any:
        if c > self.l1_strength:
            return self.l1_strength - c
        return -self.l1_strength - c if c < -self.l1_strength else 0.0

    def mass(self, c: Any) -> Any:
        over = abs(c) - self.l1_strength
        return over * over if over > 0.0 else 0.0

    def thresholded(self, c: Array) -> Array:
        clipped = np.clip(c, -self.l1_strength, self.l1_strength)
        return np.subtract(c, clipped, out=clipped)

    def argmin(self, c: Array) -> DenseAtom:
        thresholded = self.thresholded(c)
        return DenseAtom(self.minimizer(thresholded, out=thresholded))

    def minimum(self, c: Array) -> Any:
        return super().minimum(self.thresholded(c))

    def penalty(self, beta: Array) -> Any:
        return self.l1_strength * abs(beta).sum() + super().penalty(beta)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """That of ridge at the soft-thresholded t, plus Σ_j |β_j| l1_strength + (c_j − t_j) β_j."""
        curved = super().fenchel_young(beta, self.thresholded(c))
        clipped = np.clip(c, -self.l1_strength, self.l1_strength)
        return curved + np.maximum(self.l1_strength * abs(beta) + clipped * beta, 0).sum()

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        penalty, inside = super().cvxpy_form(beta)
        return float(self.l1_strength) * cp.norm1(beta) + penalty, inside


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
    def example(cls, draw: Any) -> Ellipsoid:
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
    def ball(self) -> L2Ball:
        """The ball of which this is the image under the Cholesky factor L of A."""
        return L2Ball(self.radius)

    def argmin(self, c: Array) -> DenseAtom:
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
        return self.ball.violation(self._preimage(beta) / math.sqrt(1 - self.distortion))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """That of the ball, for L⁻¹β and Lᵀc, and what rounding of the two may hide."""
        z, pulled, size = self._preimage(beta), self._pull(c), self._size(c)
        hidden = self._at_least(norm(pulled), size) - norm(pulled) + 2 * self.rounding * size
        return self.ball.fenchel_young(z, pulled) + self.radius * hidden

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

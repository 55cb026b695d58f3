"""The l1 ball and the l1 penalty: atoms with one nonzero."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom, SparseAtom
from rcmd.oracles.base import (
    ZERO,
    Array,
    LinearMinOracle,
    VertexRule,
    first_largest,
    largest,
)
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


class OnL1Ball(LinearMinOracle):
    """What every R with the domain ‖β‖₁ ≤ radius shares; M_j = radius·‖x_j‖_∞."""

    radius: Any

    @property
    def threshold(self) -> Any:
        """Slopes up to this move nothing; the strength of a penalty."""
        return 0

    def violation(self, beta: Array) -> Any:
        return max(abs(beta).sum() - self.radius, 0) / self.radius

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        bounds = self.radius * rows.max_norms()
        return -bounds, bounds

    def steepest_vertex(self, c: Array) -> SparseAtom:
        """−radius·sign(c_k) e_k for the k of ``first_largest``."""
        k = first_largest(abs(c))
        return SparseAtom((k,), (-self.radius if c[k] > 0 else self.radius,))

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        """The vertices at the largest |c_k| above the penalty's strength, then 0."""
        ends = np.where(c > 0, -self.radius, self.radius)
        places = largest(abs(c), count)
        steep = places[abs(c[places]) > self.threshold]
        return [*(SparseAtom((int(k),), (ends[k],)) for k in steep), ZERO]

    def decompose(self, beta: Array) -> list[tuple[Any, Atom]]:
        """A vertex for every β_k that is not 0, and 0 for what they leave."""
        signs = np.where(beta > 0, self.radius, -self.radius)
        places = np.flatnonzero(beta)
        parts = [(abs(beta[k]) / self.radius, SparseAtom((int(k),), (signs[k],))) for k in places]
        return [*parts, (self.room(beta) / self.radius, ZERO)]

    def room(self, beta: Array) -> Any:
        """radius − ‖β‖₁, rounding below zero removed."""
        return max(self.radius - abs(beta).sum(), 0)


@dataclass(frozen=True)
class L1Ball(OnL1Ball):
    """The set {‖β‖₁ ≤ radius}.

    Examples
    --------
    >>> L1Ball(5.0).argmin(np.array([0.5, -2.0, 1.0]))
    SparseAtom(indices=(1,), values=(5.0,))
    """

    radius: Any
    formula = "indicator of ‖β‖₁ ≤ {radius}"

    def __post_init__(self) -> None:
        positive("radius", self.radius, "L1Ball")

    def argmin(self, c: Array) -> SparseAtom:
        return self.steepest_vertex(c)

    def vertex_rule(self) -> VertexRule:
        return VertexRule(self.radius)

    def minimum(self, c: Array) -> Any:
        return -self.radius * abs(c).max()

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_j |β_j| (‖c‖_∞ + c_j sign β_j) + (radius − ‖β‖₁) ‖c‖_∞."""
        level = abs(c).max()
        return misalignment(beta, c, level) + self.room(beta) * level

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        return 0, [cp.norm1(beta) <= float(self.radius)]


@dataclass(frozen=True)
class L1Penalty(OnL1Ball):
    """R(β) = strength·‖β‖₁ on the ball ‖β‖₁ ≤ radius.

    Left open, the radius is (1/n)Σ_j sup_s −s·l_j'(s) / strength, which no optimum
    leaves: at one, strength·‖β‖₁ = −∇f(β)ᵀβ.

    Examples
    --------
    >>> penalty = L1Penalty(0.5, radius=4.0)
    >>> penalty.argmin(np.array([0.1, -2.0])), float(penalty.minimum(np.array([0.1, -2.0])))
    (SparseAtom(indices=(1,), values=(4.0,)), -6.0)
    """

    strength: Any
    radius: Any = None
    indicator = False
    formula = "{strength}·‖β‖₁ on ‖β‖₁ ≤ {radius}"

    def __post_init__(self) -> None:
        positive("strength", self.strength, "L1Penalty")
        if self.radius is not None:
            positive("radius", self.radius, "L1Penalty")

    @property
    def threshold(self) -> Any:
        return self.strength

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> L1Penalty:
        if self.radius is not None:
            return self
        descent = losses.largest_descent(offset)
        # Rounded up, so that no rounding cuts the optimum off; a zero descent puts it at zero.
        slack = 1 if rows.exact else 1 + 1e-12
        return replace(self, radius=slack * descent / self.strength if descent > 0 else 1)

    def argmin(self, c: Array) -> SparseAtom:
        vertex = self.steepest_vertex(c)
        return vertex if abs(c[vertex.indices[0]]) > self.strength else ZERO

    def vertex_rule(self) -> VertexRule:
        return VertexRule(self.radius, threshold=self.strength)

    def minimum(self, c: Array) -> Any:
        return -self.radius * self._excess(c)

    def penalty(self, beta: Array) -> Any:
        return self.strength * abs(beta).sum()

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_j |β_j| (strength + e + c_j sign β_j) + (radius − ‖β‖₁) e, e = (‖c‖_∞ − strength)₊."""
        excess = self._excess(c)
        return misalignment(beta, c, self.strength + excess) + self.room(beta) * excess

    def _excess(self, c: Array) -> Any:
        return max(abs(c).max() - self.strength, 0)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        norm = cp.norm1(beta)
        return float(self.strength) * norm, [norm <= float(self.radius)]


def misalignment(beta: Array, c: Array, level: Any) -> Any:
    """Σ_j |β_j| level + c_j β_j for level ≥ ‖c‖_∞, term by term non-negative."""
    return np.maximum(abs(beta) * level + c * beta, 0).sum()

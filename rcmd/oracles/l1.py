"""The l1 ball and the l1 penalty: atoms with one nonzero."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.oracles.base import ZERO, Array, CoordinateRule, NormBall, NormPenalty, VertexRule, cp
from rcmd.oracles.vectors import first_largest, largest_first
from rcmd.rows import Rows
from rcmd.rows.atoms import Atom, SparseAtom


class OnL1Ball(NormBall):
    """What every R with the domain ‖β‖₁ ≤ radius shares."""

    bound_words, numpy_pass = "radius·‖x‖_∞", "abs(c).argmax()"

    def norm(self, beta: Array) -> Any:
        return abs(beta).sum()

    def dual_norm(self, c: Array) -> Any:
        return abs(c).max()

    def slack(self, beta: Array, c: Array, level: Any, beyond: Any) -> Any:
        """Σ_j (|β_j| level + c_j β_j) + (radius − ‖β‖₁) beyond."""
        return np.maximum(abs(beta) * level + c * beta, 0).sum() + self.room(beta) * beyond

    def norms_of_rows(self, rows: Rows) -> Array:
        return rows.max_norms()

    def cvxpy_norm(self, beta: Any) -> Any:
        return cp.norm1(beta)

    def argmin(self, c: Array) -> SparseAtom:
        """−radius·sign(c_k) e_k for the k of ``first_largest``; 0 where a penalty is steeper."""
        k = first_largest(abs(c))
        if self.indicator or abs(c[k]) > self.threshold:
            return SparseAtom((k,), (-self.radius if c[k] > 0 else self.radius,))
        return ZERO

    def vertex_rule(self) -> VertexRule:
        if self.indicator:
            return VertexRule(self.radius)
        return VertexRule(self.radius, threshold=self.threshold)

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        """The vertices at the largest |c_k| above the penalty's strength, then 0."""
        ends = np.where(c > 0, -self.radius, self.radius)
        places = largest_first(abs(c), count)
        steep = places[abs(c[places]) > self.threshold]
        return [*(SparseAtom((int(k),), (ends[k],)) for k in steep), ZERO]

    def decompose(self, beta: Array) -> list[tuple[Any, Atom]]:
        """A vertex for every β_k that is not 0, and 0 for what they leave."""
        signs = np.where(beta > 0, self.radius, -self.radius)
        places = np.flatnonzero(beta)
        parts = [(abs(beta[k]) / self.radius, SparseAtom((int(k),), (signs[k],))) for k in places]
        return [*parts, (self.room(beta) / self.radius, ZERO)]


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
    spec = "l1:RADIUS"

    def coordinate_rule(self, p: int) -> CoordinateRule | None:
        return CoordinateRule(lower=-self.radius, upper=self.radius) if p == 1 else None


@dataclass(frozen=True)
class L1Penalty(NormPenalty, OnL1Ball):
    """R(β) = strength·‖β‖₁ on the ball ‖β‖₁ ≤ radius; for an open radius see ``NormPenalty``.

    Examples
    --------
    >>> penalty = L1Penalty(0.5, radius=4.0)
    >>> penalty.argmin(np.array([0.1, -2.0])), float(penalty.minimum(np.array([0.1, -2.0])))
    (SparseAtom(indices=(1,), values=(4.0,)), -6.0)
    """

    strength: Any
    radius: Any = None
    formula = "{strength}·‖β‖₁ on ‖β‖₁ ≤ {radius}"
    spec = "l1-penalty:STRENGTH[:RADIUS]"

    def coordinate_rule(self, p: int) -> CoordinateRule:
        return CoordinateRule(l1=self.strength)

"""Negative entropy on the simplex: atoms are softmaxes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import DenseAtom
from rcmd.oracles.base import Array
from rcmd.oracles.irrational import Irrational
from rcmd.oracles.simplex import Simplex
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.rows import Rows


@dataclass(frozen=True)
class EntropySimplex(Irrational):
    """R(β) = strength·Σ_k β_k ln(β_k/radius) on {β ≥ 0, Σ_k β_k = radius}, 0 ln 0 = 0.

    μ = 2·strength/radius: along v with Σv = 0, Σ_k v_k²/β_k ≥ ‖v‖₁²/radius ≥ 2‖v‖₂²/radius, the
    latter because the positive and the negative entries of v each add up to ‖v‖₁/2.

    Examples
    --------
    >>> EntropySimplex(0.5).argmin(np.array([0.0, 0.5 * np.log(3.0)])).vector
    array([0.75, 0.25])
    """

    strength: Any
    radius: Any = 1.0
    indicator = False
    formula = "{strength}·Σβ ln(β/{radius}) on β ≥ 0, Σβ = {radius}"

    def __post_init__(self) -> None:
        positive("strength", self.strength, "EntropySimplex", bounded=False)
        positive("radius", self.radius, "EntropySimplex")

    @property
    def mu(self) -> Any:
        return 2 * self.strength / self.radius

    def argmin(self, c: Array) -> DenseAtom:
        odds = self._odds(c)
        odds *= self.radius / odds.sum()
        return DenseAtom(odds)

    def minimum(self, c: Array) -> Any:
        return self.radius * (c.min() - self.strength * np.log(self._odds(c).sum()))

    def _odds(self, c: Array) -> Array:
        """exp(−c/strength), relative to its largest entry."""
        odds = c.min() - c
        odds /= self.strength
        return np.exp(odds, out=odds)

    def violation(self, beta: Array) -> Any:
        return Simplex(self.radius).violation(beta)

    def penalty(self, beta: Array) -> Any:
        inside = beta[beta > 0]
        return self.strength * (inside @ np.log(inside / self.radius))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """strength·Σ_k [β_k ln(β_k/a_k) − β_k + a_k], the divergence of β from the softmax a."""
        logits = (c.min() - c) / self.strength
        logits -= np.log(np.exp(logits).sum())
        atom, beta = self.radius * np.exp(logits), np.maximum(beta, 0)
        gap = beta - atom
        near = abs(gap) < atom / 2
        ratio = np.divide(gap, atom, out=np.zeros(len(gap)), where=near)
        # Far from a, which may vanish, ln(β/a) comes from the logits.
        apart = np.log(np.where(beta > 0, beta / self.radius, 1.0)) - logits
        terms = beta * np.where(near, np.log1p(ratio), apart) - gap
        return self.strength * np.maximum(terms, 0).sum()

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        return Simplex(self.radius).prediction_range(rows)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        radius = float(self.radius)
        entropy = cp.sum(cp.entr(beta / radius))
        inside = [beta >= 0, cp.sum(beta) == radius]
        return -float(self.strength) * radius * entropy, inside

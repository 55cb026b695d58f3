"""The ball of the sorted (ordered weighted) l1 norm."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.selection import atom_on, reaching
from rcmd.validation import as_array, checked_numbers, positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


@dataclass(frozen=True, eq=False)
class OWLBall(LinearMinOracle):
    """The set {Σ_i w_i |β|_(i) ≤ radius}, |β|_(1) ≥ |β|_(2) ≥ … and w_1 ≥ w_2 ≥ … ≥ 0.

    Its dual norm is max_k Σ_{i≤k} |c|_(i) / W_k with W_k = w_1 + … + w_k, and an atom has k
    entries ±radius/W_k for the first best k.

    Examples
    --------
    >>> OWLBall([2.0, 1.0, 1.0], 6.0).argmin(np.array([0.5, -2.0, 1.5]))
    SparseAtom(indices=(1, 2), values=(2.0, -2.0))
    """

    weights: Any
    radius: Any
    formula = "indicator of Σ_i w_i|β|_(i) ≤ {radius}"

    def __post_init__(self) -> None:
        positive("radius", self.radius, "OWLBall")
        weights = checked_numbers("weights of OWLBall", as_array("weights", self.weights)).copy()
        if weights.ndim != 1 or not len(weights):
            raise ValueError(
                f"weights of OWLBall has shape {weights.shape}; expected a vector of length p"
            )
        if (weights[1:] > weights[:-1]).any():
            raise ValueError(
                "weights of OWLBall increase in some place; expected w_1 ≥ w_2 ≥ …, without "
                "which the set is not convex: sort them"
            )
        if not (weights[0] > 0 and weights[-1] >= 0):
            raise ValueError(
                f"weights of OWLBall run from {weights[0]} to {weights[-1]}; expected the first "
                "to be positive and none below zero"
            )
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @cached_property
    def sums(self) -> Array:
        """W_k, the sums of the first weights."""
        return self.weights.cumsum()

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> OWLBall:
        if len(self.weights) != rows.p:
            raise ValueError(
                f"weights of OWLBall has length {len(self.weights)}; expected p = {rows.p}, one "
                "for each column of X"
            )
        return self

    def argmin(self, c: Array) -> Atom:
        keys = abs(c)
        ordered = np.sort(keys)[::-1]
        best = int((ordered.cumsum() / self.sums).argmax())
        places = reaching(keys, ordered[best], best + 1)
        size = self.radius / self.sums[best]
        return atom_on(places, np.where(c[places] > 0, -size, size), len(c))

    def minimum(self, c: Array) -> Any:
        return -self.radius * self._dual_norms(c[None])[0]

    def violation(self, beta: Array) -> Any:
        return max(self._norm(beta) / self.radius - 1, 0)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_k (|β|_(k) − |β|_(k+1)) (δW_k − Σ_{i≤k} |c_σ(i)|) + δ·(radius − norm) + Σ|cβ| + cβ.

        δ is the dual norm of c, and σ the order of the |β|.
        """
        dual = self._dual_norms(c[None])[0]
        order = np.argsort(-abs(beta), kind="stable")
        sizes = abs(beta[order])
        drops = sizes - np.append(sizes[1:], 0)
        below = drops @ np.maximum(dual * self.sums - abs(c[order]).cumsum(), 0)
        against = (abs(c * beta) + c * beta).sum()
        return below + dual * max(self.radius - self._norm(beta), 0) + against

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        bounds = self.radius * rows.reduce(lambda entries, _: self._dual_norms(entries))
        return -bounds, bounds

    def _norm(self, beta: Array) -> Any:
        return self.weights @ np.sort(abs(beta))[::-1]

    def _dual_norms(self, entries: Array) -> Array:
        """Of every row; left out zeros come last, where they raise no quotient."""
        ordered = np.sort(abs(entries), axis=1)[:, ::-1]
        norms: Array = (ordered.cumsum(axis=1) / self.sums[: ordered.shape[1]]).max(axis=1)
        return norms

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        weights = self.weights.astype(float)
        steps = weights - np.append(weights[1:], 0)
        norm = sum(steps[k] * cp.sum_largest(cp.abs(beta), k + 1) for k in np.flatnonzero(steps))
        return 0, [norm <= float(self.radius)]

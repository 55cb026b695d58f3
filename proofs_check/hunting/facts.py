"""The constants that the bounds speak about, of a small problem in any number type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from proofs_check.exact.problem import Small, Vector, dot
from proofs_check.hunting.instance import Instance

HALVINGS = 200
"""Of the interval that holds β*: more than 50 digits."""


@dataclass(frozen=True)
class Facts:
    """γ, M, D_max, σ and the optimum, each computed when first asked for."""

    instance: Instance
    number: Callable[[float], Any]

    @cached_property
    def problem(self) -> Small:
        return self.instance.small(self.number)

    @cached_property
    def corners(self) -> tuple[Vector, ...]:
        return self.instance.domain.corners(self.number)

    @property
    def n(self) -> int:
        """Samples."""
        return self.instance.n

    @property
    def N(self) -> Any:
        """n/b."""
        return self.number(self.n) / self.instance.batch

    @cached_property
    def gamma(self) -> Any:
        """γ = max_j γ_j."""
        return max(loss.gamma for loss in self.problem.losses)

    @cached_property
    def M(self) -> Any:
        """max_j M_j."""
        return max(self._radii)

    @cached_property
    def energy(self) -> Any:
        """(1/n) Σ γ_j M_j²."""
        pairs = zip(self.problem.losses, self._radii, strict=True)
        return sum(loss.gamma * radius**2 for loss, radius in pairs) / self.n

    @cached_property
    def _radii(self) -> list[Any]:
        return [max(abs(dot(row, corner)) for corner in self.corners) for row in self.problem.rows]

    @cached_property
    def D_max(self) -> Any:
        """max D_h(ŵ, w⁰) over responses; for p > 1 and losses not quadratic, an upper bound.

        D_h(ŵ, w⁰) = (1/n) Σ_j D_{l_j}(0, x_jᵀβ) is convex in β for quadratic losses, and grows
        along every ray from β = 0; else each sample's largest term is taken.
        """
        zero = (self.number(0.0),) * self.n
        predictions = [self.problem.predictions(corner) for corner in self.corners]
        if self.instance.loss == "squared" or len(self.corners[0]) == 1:
            return max(self.problem.bregman(s, zero) for s in predictions)
        terms = zip(self.problem.losses, zip(*predictions, strict=True), strict=True)
        return sum(max(_divergence(loss, s) for s in column) for loss, column in terms) / self.n

    @property
    def mu(self) -> Any:
        """Strong convexity of R."""
        return self.problem.regularizer.mu

    @cached_property
    def sigma(self) -> Any:
        """σ = 1 + γ max‖x_j‖²/(nμ), the paper's."""
        return 1 + self.gamma * max(dot(row, row) for row in self.problem.rows) / (self.n * self.mu)

    @cached_property
    def sigma_n(self) -> Any:
        """s_n = 1 + γ‖X‖²/(nμ)."""
        return 1 + self.gamma * self._spectral / (self.n * self.mu)

    @cached_property
    def sigma_b(self) -> Any:
        """σ_b, between σ (b = 1) and s_n (b = n)."""
        if self.n == 1:
            return self.sigma
        share = self.number(self.instance.batch - 1) / (self.n - 1)
        return (1 - share) * self.sigma + share * self.sigma_n

    @cached_property
    def _spectral(self) -> Any:
        """‖X‖₂² for p ≤ 2."""
        columns = list(zip(*self.problem.rows, strict=True))
        first = dot(columns[0], columns[0])
        if len(columns) == 1:
            return first
        second, mixed = dot(columns[1], columns[1]), dot(columns[0], columns[1])
        return (first + second + ((first - second) ** 2 + 4 * mixed**2) ** 0.5) / 2

    @cached_property
    def _optimum(self) -> Any:
        """β* for p = 1, where P' changes sign."""
        (low,), (high,) = min(self.corners), max(self.corners)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if not low < middle < high:
                break
            slope = self.problem.slope(self.problem.response(self.problem.predictions((middle,))))
            regularizer: Any = self.problem.regularizer
            if slope[0] + regularizer.mu * (middle - regularizer.centre) > 0:
                high = middle
            else:
                low = middle
        return ((low + high) / 2,)

    @cached_property
    def distance(self) -> Any:
        """D_h(w*, w⁰)."""
        s = self.problem.predictions(self._optimum)
        return self.problem.bregman(s, (self.number(0.0),) * self.n)

    @cached_property
    def ascent(self) -> Any:
        """D* − D(w⁰)."""
        start = self.problem.response((self.number(0.0),) * self.n)
        return self.problem.primal(self._optimum) - self.problem.dual(start)


def _divergence(loss: Any, s: Any) -> Any:
    """D_l(0, s)."""
    return loss.value(0 * s) - loss.value(s) + loss.derivative(s) * s

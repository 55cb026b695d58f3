"""Balls and penalties of a norm: what follows from the norm and its dual."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.rows import Rows
from rcmd.rows.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses


class NormBall(LinearMinOracle):
    """R(β) = threshold·‖β‖ on ‖β‖ ≤ radius; a set has the threshold 0.

    M_j = radius·‖x_j‖ in the dual norm.
    """

    radius: Any

    def __post_init__(self) -> None:
        if self.indicator or self.radius is not None:
            positive("radius", self.radius, type(self).__name__)

    @property
    def threshold(self) -> Any:
        """Slopes up to this move nothing; the strength of a penalty."""
        return 0

    @abstractmethod
    def norm(self, beta: Any) -> Any:
        """‖β‖."""

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        """The dual norm of every row of a block, whose entries stand in these columns."""
        raise NotImplementedError

    def dual_norm(self, c: Any) -> Any:
        """max cᵀβ over ‖β‖ ≤ 1."""
        return self.dual_norms(c[None], None)[0]

    def slack(self, beta: Any, c: Any, level: Any, beyond: Any) -> Any:
        """level·‖β‖ + cᵀβ + room·beyond for a level of at least the dual norm of c.

        As a sum of non-negative terms.
        """
        raise NotImplementedError

    def cvxpy_norm(self, beta: Any) -> Any:
        """‖β‖ as a CVXPY expression."""
        raise NotImplementedError

    def excess(self, c: Any) -> Any:
        """(dual norm of c − threshold)₊."""
        return max(self.dual_norm(c) - self.threshold, 0)

    def minimum(self, c: Any) -> Any:
        return -self.radius * self.excess(c)

    def violation(self, beta: Any) -> Any:
        return max(self.norm(beta) - self.radius, 0) / self.radius

    def room(self, beta: Any) -> Any:
        """radius − ‖β‖, rounding below zero removed."""
        return max(self.radius - self.norm(beta), 0)

    def fenchel_young(self, beta: Any, c: Any) -> Any:
        excess = self.excess(c)
        return self.slack(beta, c, self.threshold + excess, excess)

    def norms_of_rows(self, rows: Rows) -> Array:
        """The dual norm of every row."""
        return rows.reduce(self.dual_norms)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        bounds = self.radius * self.norms_of_rows(rows)
        return -bounds, bounds

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        norm = self.cvxpy_norm(beta)
        penalty = 0 if self.indicator else float(self.threshold) * norm
        return penalty, [norm <= float(self.radius)]


class NormPenalty(NormBall):
    """R(β) = strength·‖β‖ on the ball ‖β‖ ≤ radius.

    Left open, the radius is (1/n)Σ_j sup_s −s·l_j'(s) / strength, which no optimum leaves: at
    one, strength·‖β‖ = −∇f(β)ᵀβ.
    """

    strength: Any
    indicator = False

    def __post_init__(self) -> None:
        positive("strength", self.strength, type(self).__name__)
        super().__post_init__()

    @property
    def threshold(self) -> Any:
        return self.strength

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Self:
        bound: Any = super().bind(rows, losses, offset)
        if self.radius is not None:
            return bound
        descent = losses.largest_descent(offset)
        # Rounded up, so that no rounding cuts the optimum off; a zero descent puts it at zero.
        slack = 1 if rows.exact else 1 + 1e-12
        return replace(bound, radius=slack * descent / self.strength if descent > 0 else 1)

    def penalty(self, beta: Any) -> Any:
        return self.strength * self.norm(beta)

"""Convex hulls of the vectors with k nonzeros in an l∞ or an l2 ball."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.irrational import Irrational
from rcmd.oracles.l2 import direction
from rcmd.oracles.lp import row_norms
from rcmd.oracles.selection import atom_on, largest, largest_of_rows
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


class OnSparseVectors(LinearMinOracle):
    """What hulls of vectors with at most k nonzeros share."""

    k: Any
    radius: Any

    def __post_init__(self) -> None:
        owner = type(self).__name__
        positive("radius", self.radius, owner)
        # Beside fractions it has become one.
        if isinstance(self.k, bool) or not isinstance(self.k, Rational) or self.k.denominator != 1:
            raise TypeError(f"k of {owner} is {self.k!r}; expected a whole number of nonzeros")
        if self.k < 1:
            raise ValueError(f"k of {owner} is {self.k}; expected at least one nonzero")
        object.__setattr__(self, "k", int(self.k.numerator))

    def bind(
        self, rows: Rows, losses: SampleLosses, offset: Array | None = None
    ) -> LinearMinOracle:
        if self.k > rows.p:
            raise ValueError(
                f"k of {type(self).__name__} is {self.k} while X has p = {rows.p} columns; "
                "expected k ≤ p"
            )
        return super().bind(rows, losses, offset)


@dataclass(frozen=True)
class KSparseBall(OnSparseVectors):
    """The hull of {‖β‖₀ ≤ k, ‖β‖_∞ ≤ radius}, that is {‖β‖₁ ≤ k·radius, ‖β‖_∞ ≤ radius}.

    Examples
    --------
    >>> KSparseBall(2, 1.5).argmin(np.array([0.5, -2.0, 0.0, 1.0]))
    SparseAtom(indices=(1, 3), values=(1.5, -1.5))
    """

    k: int
    radius: Any
    formula = "indicator of ‖β‖₁ ≤ {k}·{radius}, ‖β‖_∞ ≤ {radius}"

    def argmin(self, c: Array) -> Atom:
        places = largest(abs(c), self.k)
        return atom_on(places, np.where(c[places] > 0, -self.radius, self.radius), len(c))

    def minimum(self, c: Array) -> Any:
        return -self.radius * largest_of_rows(c[None], self.k).sum()

    def violation(self, beta: Array) -> Any:
        sizes = abs(beta) / self.radius
        return max(sizes.max() - 1, sizes.sum() / self.k - 1, 0)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_j (|c_j| − τ)₊ (radius − b_j) + (τ − |c_j|)₊ |β_j| + min(|c_j|, τ) (|β_j| − b_j).

        To it comes τ·(k·radius − ‖β‖₁); τ is the k-th largest |c_j|, and b_j = −β_j sign c_j.
        """
        level, along = largest_of_rows(c[None], self.k).min(), np.where(c > 0, -beta, beta)
        margin = abs(c) - level
        above = np.maximum(margin, 0) * np.maximum(self.radius - along, 0)
        below = np.maximum(-margin, 0) * abs(beta)
        against = np.minimum(abs(c), level) * (abs(beta) - along)
        room = max(self.k * self.radius - abs(beta).sum(), 0)
        return above.sum() + below.sum() + against.sum() + level * room

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        bounds = self.radius * rows.reduce(
            lambda entries, _: largest_of_rows(entries, self.k).sum(axis=1)
        )
        return -bounds, bounds

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        radius = float(self.radius)
        return 0, [cp.norm1(beta) <= self.k * radius, cp.norm_inf(beta) <= radius]


@dataclass(frozen=True)
class KSupportBall(OnSparseVectors, Irrational):
    """The hull of {‖β‖₀ ≤ k, ‖β‖₂ ≤ radius}: a ball of the k-support norm.

    Its square is min Σ_j β_j²/θ_j over 0 ≤ θ ≤ 1, Σθ ≤ k (Argyriou, Foygel & Srebro 2012).

    Examples
    --------
    >>> KSupportBall(2, 10.0).argmin(np.array([3.0, -4.0, 2.0]))
    SparseAtom(indices=(0, 1), values=(-6.0, 8.0))
    """

    k: int
    radius: Any
    formula = "indicator of ‖β‖ ≤ {radius} in the {k}-support norm"

    def argmin(self, c: Array) -> Atom:
        places = largest(abs(c), self.k)
        return atom_on(places, direction(c[places], -self.radius), len(c))

    def minimum(self, c: Array) -> Any:
        return -self.radius * row_norms(largest_of_rows(c[None], self.k), 2.0)[0]

    def violation(self, beta: Array) -> Any:
        return max(self._norm_and_shares(beta)[0] - 1, 0)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """‖c‖·radius/2 times Σ_j θ_j (b_j/θ_j + u_j)² + 1 − Σ_j b_j²/θ_j + 1 − Σ_j θ_j u_j².

        Here u = c/‖c‖ in the norm of the k largest, b = β/radius, and θ attains b's norm; the
        last difference is Σ_j (u_j² − τ²)₊ (1 − θ_j) + (τ² − u_j²)₊ θ_j + τ²(k − Σθ) for the
        k-th largest |u_j|, τ.
        """
        dual = -self.minimum(c) / self.radius
        if dual == 0:
            return 0.0
        norm, shares, ratios = self._norm_and_shares(beta)
        u = c / dual
        level = largest_of_rows(u[None], self.k).min()
        margin = u * u - level * level
        above = np.maximum(margin, 0) @ (1 - shares) + np.maximum(-margin, 0) @ shares
        apart = shares @ (ratios + u) ** 2
        slack = max(1 - norm * norm, 0) + level * level * max(self.k - shares.sum(), 0)
        return dual * self.radius / 2 * (apart + above + slack)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        bounds = self.radius * rows.reduce(
            lambda entries, _: row_norms(largest_of_rows(entries, self.k), 2.0)
        )
        return -bounds, bounds

    def _norm_and_shares(self, beta: Array) -> tuple[Any, Array, Array]:
        """The norm of b = β/radius, the θ that attains it, and b_j/θ_j.

        The largest |b_j| get θ_j = 1; the others, once none exceeds their sum divided by what
        is left of k, share that in proportion to |b_j|.
        """
        b = beta / self.radius
        top = np.sort(largest_of_rows(b[None], self.k)[0])[::-1]
        beyond = max(abs(b).sum() - top.sum(), 0)
        means = (beyond + top[::-1].cumsum()[::-1]) / np.arange(self.k, 0, -1)
        whole = int(np.argmax(means >= top))
        mean = means[whole]
        shares = np.where(abs(b) > mean, 1.0, abs(b) / (mean or 1.0))
        ratios = np.sign(b) * np.maximum(abs(b), mean)
        return np.sqrt(abs(b) @ abs(ratios)), shares, ratios

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        import cvxpy as cp

        shares, quotients = cp.Variable(beta.size), cp.Variable(beta.size)
        # β_j² ≤ θ_j q_j as a cone.
        cones = cp.SOC(shares + quotients, cp.vstack([2 * beta, shares - quotients]))
        budget = [shares >= 0, shares <= 1, cp.sum(shares) <= self.k]
        return 0, [cones, *budget, cp.sum(quotients) <= float(self.radius) ** 2]

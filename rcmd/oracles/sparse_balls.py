"""Balls whose atoms are sparse: hulls of vectors with k nonzeros, and the sorted l1 norm."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import IRRATIONAL, Array, NormBall, Vector, cp
from rcmd.oracles.vectors import (
    atom_on,
    direction,
    largest,
    largest_of_rows,
    reaching,
    row_norms,
    write_direction,
    write_largest,
    write_reaching,
)
from rcmd.rows import Rows
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import positive_counts


class OnSparseVectors(NormBall):
    """What hulls of vectors with at most k nonzeros share."""

    numpy_pass = "np.argpartition(c, {k})"
    k: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        (k,) = positive_counts("k", self.k, type(self).__name__, "the nonzeros of an atom")
        object.__setattr__(self, "k", k)

    def check_rows(self, rows: Rows) -> None:
        super().check_rows(rows)
        if self.k > rows.p:
            raise ValueError(
                f"k of {type(self).__name__} is {self.k} while X has p = {rows.p} columns; "
                "expected k ≤ p"
            )


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
    spec, bound_words = "k-sparse:K:RADIUS", "radius·(sum of the k largest |x_i|)"

    def write_entries(self, c: Any, indices: Any, values: Any) -> int:
        found = write_largest(c, True, self.k, indices, values)
        for e in range(found):
            values[e] = -self.radius if c[indices[e]] > 0 else self.radius
        return found

    def argmin(self, c: Array) -> Atom:
        """The same by NumPy, whose selection is faster."""
        places = largest(abs(c), self.k)
        return atom_on(places, np.where(c[places] > 0, -self.radius, self.radius), len(c))

    def norm(self, beta: Array) -> Any:
        return max(abs(beta).max(), abs(beta).sum() / self.k)

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        return largest_of_rows(entries, self.k).sum(axis=1)

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

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        radius = float(self.radius)
        return 0, [cp.norm1(beta) <= self.k * radius, cp.norm_inf(beta) <= radius]


@dataclass(frozen=True)
class KSupportBall(OnSparseVectors):
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
    spec, bound_words = "k-support:K:RADIUS", "radius·(norm of the k largest |x_i|)"
    refuses_exact = IRRATIONAL

    def write_entries(self, c: Any, indices: Any, values: Any) -> int:
        found = write_largest(c, True, self.k, indices, values)
        for e in range(found):
            values[e] = c[indices[e]]
        write_direction(values[:found], -self.radius, values[:found])
        return found

    def argmin(self, c: Array) -> Atom:
        places = largest(abs(c), self.k)
        return atom_on(places, direction(c[places], -self.radius), len(c))

    def norm(self, beta: Array) -> Any:
        return self.radius * self._norm_and_shares(beta)[0]

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        return row_norms(largest_of_rows(entries, self.k), 2.0)

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
        shares, quotients = cp.Variable(beta.size), cp.Variable(beta.size)
        # β_j² ≤ θ_j q_j as a cone.
        cones = cp.SOC(shares + quotients, cp.vstack([2 * beta, shares - quotients]))
        budget = [shares >= 0, shares <= 1, cp.sum(shares) <= self.k]
        return 0, [cones, *budget, cp.sum(quotients) <= float(self.radius) ** 2]


@dataclass(frozen=True, eq=False)
class OWLBall(NormBall):
    """The set {Σ_i w_i |β|_(i) ≤ radius}, |β|_(1) ≥ |β|_(2) ≥ … and w_1 ≥ w_2 ≥ … ≥ 0.

    Its dual norm is max_k Σ_{i≤k} |c|_(i) / W_k with W_k = w_1 + … + w_k, and an atom has k
    entries ±radius/W_k for the first best k.

    Examples
    --------
    >>> OWLBall([2.0, 1.0, 1.0], 6.0).argmin(np.array([0.5, -2.0, 1.5]))
    SparseAtom(indices=(1, 2), values=(2.0, -2.0))
    """

    weights: Vector
    radius: Any
    formula = "indicator of Σ_i w_i|β|_(i) ≤ {radius}"
    spec, bound_words = "owl:WEIGHTS:RADIUS", "radius·max_k Σ_{i≤k}|x|_(i) / Σ_{i≤k}w_i"
    cost, numpy_pass, sized_by = "O(p log p)", "np.sort(c)", "weights"

    @classmethod
    def example(cls, draw: Any) -> Self:
        weights = np.sort(draw.whole_numbers(0, 3, draw.p) * draw.magnitude())[::-1]
        weights[0] = max(weights[0], 1.0)
        return cls(weights, draw.magnitude())

    def __post_init__(self) -> None:
        super().__post_init__()
        weights = self.own_array("weights")
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

    @cached_property
    def sums(self) -> Array:
        """W_k, the sums of the first weights."""
        return self.weights.cumsum()

    def write_entries(self, c: Any, indices: Any, values: Any) -> int:
        for k in range(len(c)):
            indices[k], values[k] = k, abs(c[k])
        values.sort()
        total, steepest, best, p = 0 * c[0], -1.0, 0, len(c)
        for k in range(p):
            total += values[p - 1 - k]
            if total / self.sums[k] > steepest:
                best, steepest = k, total / self.sums[k]
        found = write_reaching(c, True, values, best + 1, indices)
        size = self.radius / self.sums[best]
        for e in range(found):
            values[e] = -size if c[indices[e]] > 0 else size
        return found

    def argmin(self, c: Array) -> Atom:
        keys = abs(c)
        ordered = np.sort(keys)[::-1]
        best = int((ordered.cumsum() / self.sums).argmax())
        places = reaching(keys, ordered[best], best + 1)
        size = self.radius / self.sums[best]
        return atom_on(places, np.where(c[places] > 0, -size, size), len(c))

    def norm(self, beta: Array) -> Any:
        return self.weights @ np.sort(abs(beta))[::-1]

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        """Left out zeros come last, where they raise no quotient."""
        ordered = np.sort(abs(entries), axis=1)[:, ::-1]
        norms: Array = (ordered.cumsum(axis=1) / self.sums[: ordered.shape[1]]).max(axis=1)
        return norms

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_k (|β|_(k) − |β|_(k+1)) (δW_k − Σ_{i≤k} |c_σ(i)|) + δ·(radius − norm) + Σ|cβ| + cβ.

        δ is the dual norm of c, and σ the order of the |β|.
        """
        dual = self.dual_norm(c)
        order = np.argsort(-abs(beta), kind="stable")
        sizes = abs(beta[order])
        drops = sizes - np.append(sizes[1:], 0)
        below = drops @ np.maximum(dual * self.sums - abs(c[order]).cumsum(), 0)
        against = (abs(c * beta) + c * beta).sum()
        return below + dual * self.room(beta) + against

    def cvxpy_norm(self, beta: Any) -> Any:
        weights = self.weights.astype(float)
        steps = weights - np.append(weights[1:], 0)
        return sum(steps[k] * cp.sum_largest(cp.abs(beta), k + 1) for k in np.flatnonzero(steps))

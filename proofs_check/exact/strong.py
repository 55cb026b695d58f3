"""Constants, optimum and runs of a small problem whose R is strongly convex."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import mpmath

from proofs_check.exact.fitted import corners, largest_distance, row_bounds
from proofs_check.exact.losses import Softplus
from proofs_check.exact.paths import Path, all_batches, start
from proofs_check.exact.problem import Small, Vector, dot
from proofs_check.exact.regularizers import Parabola
from proofs_check.exact.schedules import Steps, linear
from proofs_check.exact.shifted import kinks


@dataclass(frozen=True)
class Strong:
    """A small problem with strongly convex R, and batches of b rows.

    ``printed`` runs it with the paper's σ for every b; else with σ_b. For p = 1 the optimum is
    found; for p = 2 whoever asks for it gives it as ``solution``.
    """

    problem: Small
    b: int = 1
    printed: bool = False
    solution: Vector | None = None

    @property
    def n(self) -> int:
        """Samples."""
        return self.problem.n

    @property
    def N(self) -> Any:
        """n/b."""
        return Fraction(self.n, self.b) if self.b > 1 else self.n

    @property
    def mu(self) -> Any:
        """Strong convexity of R."""
        return self.problem.regularizer.mu

    @cached_property
    def gamma(self) -> Any:
        """The largest γ_j."""
        return max(loss.gamma for loss in self.problem.losses)

    @property
    def corners(self) -> tuple[Vector, ...]:
        """The extreme points of dom R."""
        return corners(self.problem.regularizer, len(self.problem.rows[0]))

    @cached_property
    def bounds(self) -> Vector:
        """M_j = max |x_jᵀβ| over dom R."""
        return row_bounds(self.problem, self.corners)

    @cached_property
    def energy(self) -> Any:
        """(1/n) Σ γ_j M_j² ≤ γM²."""
        pairs = zip(self.problem.losses, self.bounds, strict=True)
        return sum(loss.gamma * bound**2 for loss, bound in pairs) / self.n

    @property
    def printed_energy(self) -> Any:
        """γM²."""
        return self.gamma * max(self.bounds) ** 2

    @cached_property
    def radius(self) -> Any:
        """D_max, the largest D_h(ŵ, w⁰), or more where p = 2 and losses are not squared."""
        return largest_distance(self.problem, self.corners)

    @property
    def _zero(self) -> Vector:
        return (0 * self.mu,) * self.n

    @cached_property
    def spectral(self) -> Any:
        """‖X‖₂² for p = 1, a rational number just above it for p = 2."""
        return largest_eigenvalue(self.problem.rows, (1,) * self.n)

    @property
    def row(self) -> Any:
        """max_j ‖x_j‖²."""
        return max(dot(x, x) for x in self.problem.rows)

    def sigma_of(self, square: Any) -> Any:
        """1 + γ square/(nμ)."""
        return 1 + self.gamma * square / (self.n * self.mu)

    @cached_property
    def sigma(self) -> Any:
        """The paper's σ of Proposition 3.7, or σ_b."""
        if self.b == 1 or self.printed:
            return self.sigma_of(self.row)
        share = Fraction(self.b - 1, self.n - 1)
        return self.sigma_of((1 - share) * self.row + share * self.spectral)

    @property
    def sigma_full(self) -> Any:
        """s_n = 1 + γ‖X‖₂²/(nμ)."""
        return self.sigma_of(self.spectral)

    @property
    def T(self) -> Any:
        """Nσ."""
        return self.N * self.sigma

    @property
    def q(self) -> Any:
        """Nσ/(Nσ−1)."""
        return self.T / (self.T - 1)

    @property
    def steps(self) -> Steps:
        """Theorem 3.2's schedule."""
        return linear(self.N, self.sigma)

    def levels(self, k: int) -> list[tuple[int, list[Path]]]:
        """(1, all paths after one step), …, (k, all paths after k steps)."""
        while len(self._grown) < k:
            before = self._grown[-1][1] if self._grown else [start(self.problem, self.steps)]
            batches = all_batches(self.n, self.b)
            paths = [child for path in before for child in path.children(batches)]
            self._grown.append((len(self._grown) + 1, paths))
        return self._grown[:k]

    @cached_property
    def _grown(self) -> list[tuple[int, list[Path]]]:
        return []

    def gaps(self, k: int) -> list[tuple[int, Any]]:
        """(i, E[P(β̄^{i−1}) − D(w^i)]) for i ≤ k."""
        for i, paths in self.levels(k)[len(self._gaps) :]:
            self._gaps.append((i, mean(path.last_gap() for path in paths)))
        return self._gaps[:k]

    @cached_property
    def _gaps(self) -> list[tuple[int, Any]]:
        return []

    def dual_means(self, k: int) -> list[Any]:
        """E D(w^0), …, E D(w^k)."""
        for _, paths in self.levels(k)[len(self._duals) - 1 :]:
            self._duals.append(mean(self.problem.dual(path.w[-1]) for path in paths))
        return self._duals[: k + 1]

    @cached_property
    def _duals(self) -> list[Any]:
        return [self.dual_start]

    @cached_property
    def optimum(self) -> Vector:
        """β*."""
        if self.solution is not None:
            return self.solution
        (low,), (high,) = self.corners
        if self._slope(low) >= 0:
            return (low,)
        if self._slope(high) <= 0:
            return (high,)
        if any(isinstance(loss, Softplus) for loss in self.problem.losses):
            # mpmath compares the squared residual with tol
            tol = mpmath.eps**1.5
            return (mpmath.findroot(self._slope, (low, high), solver="anderson", tol=tol),)
        points = [low, *sorted(t for t in self._kinks() if low < t < high), high]
        right = next(i for i, t in enumerate(points) if self._slope(t) >= 0)
        a, c = points[right - 1], points[right]
        return (a - self._slope(a) * (c - a) / (self._slope(c) - self._slope(a)),)

    def _slope(self, beta: Any) -> Any:
        """P'(β) for p = 1."""
        response = self.problem.response(self.problem.predictions((beta,)))
        regularizer = self.problem.regularizer
        assert isinstance(regularizer, Parabola)
        return self.problem.slope(response)[0] + self.mu * (beta - regularizer.centre)

    def _kinks(self) -> list[Any]:
        """Where P' changes its slope."""
        pairs = zip(self.problem.losses, self.problem.rows, strict=True)
        return [kink / row[0] for loss, row in pairs if row[0] for kink in kinks(loss)]

    @cached_property
    def value(self) -> Any:
        """P* = D*."""
        return self.problem.primal(self.optimum)

    @cached_property
    def dual_start(self) -> Any:
        """D(w⁰)."""
        return self.problem.dual(self.problem.response(self._zero))

    @cached_property
    def start_gap(self) -> Any:
        """P(β̃⁰) − D(w⁰)."""
        atom = self.problem.atom(self.problem.response(self._zero))
        return self.problem.primal(atom) - self.dual_start

    @cached_property
    def start_radius(self) -> Any:
        """D_h(w*, w⁰)."""
        return self.problem.bregman(self.problem.predictions(self.optimum), self._zero)


def largest_eigenvalue(rows: tuple[Vector, ...], weights: Iterable[Any]) -> Any:
    """Of Σ weight·xxᵀ over the rows x, for p = 1; a rational number just above it for p = 2."""
    terms = list(zip(weights, rows, strict=True))
    p = len(rows[0])
    if p == 1:
        return sum(weight * x[0] * x[0] for weight, x in terms)
    a, c, d = (sum(w * x[i] * x[j] for w, x in terms) for i, j in ((0, 0), (0, 1), (1, 1)))
    square = (a - d) ** 2 + 4 * c**2
    root = Fraction(math.isqrt(int(square * 10**24)) + 1, 10**12)
    return (a + d + root) / 2


def mean(values: Iterable[Any]) -> Any:
    """Of equally likely values."""
    numbers = list(values)
    return sum(numbers) / len(numbers)

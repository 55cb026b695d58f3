"""Exact moments of Theorem 3.1's runs: the energies of its repaired proof.

For batches of b rows N = n/b; a^i = Xβ̃^i, u^i = a^i − s^i, g_i = rN+i, G = g_0 + … + g_k,
c_i = g_i(g_i+1)/2, so that c_i − c_{i−1} = g_i, and ρ_i = g_i/(g_i+1); r is 2 in the theorem and 4
in ``HeadStart``. Rows are weighted by γ_j, so that nothing asks for a common γ:

    U_i = E (1/n) Σ_j γ_j (u^i_j)²,   S_i = E (1/n) Σ_j γ_j (s^i_j)²,   ν = G Xβ̄^k − c_k s^{k+1},
    a = N Σ_{i≤k} ρ_i U_i,   y² = (N−1) Σ_{i≤k} g_i² U_i / (2c_k),   d = c_{−1} D_max.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import Any

from proofs_check.exact.fitted import Fitted, family
from proofs_check.exact.paths import Path, expectation, levels
from proofs_check.exact.problem import Vector
from proofs_check.exact.schedules import sublinear


def weight(N: Any, i: int, r: int = 2) -> Any:
    """g_i."""
    return r * N + i


def height(N: Any, i: int, r: int = 2) -> Any:
    """c_i."""
    return weight(N, i, r) * (weight(N, i, r) + 1) / 2


def printed_bound(N: Any, k: Any, energy: Any, radius: Any, r: int = 2) -> Any:
    """Theorem 3.1's first bound, with ``energy`` for γM² and ``radius`` for D_max."""
    last = 2 * r * N + k
    return 8 * N * energy / last + r * N * (r * N - 1) * radius / (last * (k + 1))


@dataclass(frozen=True)
class Energies:
    """The runs of ``fitted`` with batches of b rows after k + 1 steps, all equally likely."""

    fitted: Fitted
    b: int
    k: int
    paths: tuple[Path, ...]
    r: int = 2

    @property
    def N(self) -> Fraction:
        """n/b."""
        return Fraction(self.fitted.problem.n, self.b)

    @property
    def total(self) -> Any:
        """G."""
        return sum(weight(self.N, i, self.r) for i in range(self.k + 1))

    @property
    def last(self) -> Any:
        """c_k."""
        return height(self.N, self.k, self.r)

    @property
    def first(self) -> Any:
        """c_{−1}, N(2N−1) for r = 2."""
        return height(self.N, -1, self.r)

    def mean(self, quantity: Callable[[Path], Any]) -> Any:
        """E of a quantity of the run."""
        return expectation(list(self.paths), quantity)

    def energy(self, vector: Callable[[Path], Vector]) -> Any:
        """E (1/n) Σ_j γ_j v_j²."""
        losses, n = self.fitted.problem.losses, self.fitted.problem.n
        return self.mean(
            lambda path: (
                sum(loss.gamma * v * v for loss, v in zip(losses, vector(path), strict=True)) / n
            )
        )

    @cached_property
    def U(self) -> tuple[Any, ...]:
        """U_0 … U_k."""
        return tuple(self.energy(partial(step, i=i)) for i in range(self.k + 1))

    @cached_property
    def S(self) -> tuple[Any, ...]:
        """S_0 … S_{k+1}."""
        return tuple(self.energy(partial(prediction, i=i)) for i in range(self.k + 2))

    @property
    def drift(self) -> Any:
        """The number called a above."""
        weights = [weight(self.N, i, self.r) for i in range(self.k + 1)]
        return self.N * sum(g / (g + 1) * u for g, u in zip(weights, self.U, strict=True))

    @property
    def noise(self) -> Any:
        """y²."""
        squares = sum(weight(self.N, i, self.r) ** 2 * u for i, u in enumerate(self.U))
        return (self.N - 1) * squares / (2 * self.last)

    @property
    def offset(self) -> Any:
        """The number called d above."""
        return self.first * self.fitted.radius

    @cached_property
    def dual(self) -> Any:
        """E D(w̄^k)."""
        return self.mean(lambda path: path.problem.dual(path.w_average))

    @cached_property
    def gap(self) -> Any:
        """E[P(β̄^k) − D(w̄^k)]."""
        return self.mean(lambda path: path.problem.primal(path.beta)) - self.dual


def step(path: Path, i: int) -> Vector:
    """u^i = Xβ̃^i − s^i."""
    predictions = path.problem.predictions(path.atoms[i])
    return tuple(a - s for a, s in zip(predictions, path.s[i], strict=True))


def prediction(path: Path, i: int) -> Vector:
    """s^i."""
    return path.s[i]


def martingale(path: Path) -> Vector:
    """ν = G Xβ̄^k − c_k s^{k+1}, from its definition."""
    k = len(path.batches) - 1
    N = path.steps.weight(0) / 2
    predictions = path.problem.predictions(path.beta)
    return tuple(
        path.total * a - height(N, k) * s for a, s in zip(predictions, path.s[-1], strict=True)
    )


def energies(fitted: Fitted, b: int, k: int) -> Energies:
    """The moments at k."""
    *_, paths = levels(fitted.problem, sublinear(Fraction(fitted.problem.n, b)), b, k + 1)
    return Energies(fitted, b, k, tuple(paths))


def all_energies(fitted: Fitted, b: int, k: int, r: int = 2) -> list[Energies]:
    """The moments at 0, …, k."""
    runs = levels(fitted.problem, sublinear(Fraction(fitted.problem.n, b), r), b, k + 1)
    return [Energies(fitted, b, at, tuple(paths), r) for at, paths in enumerate(runs)]


@cache
def sample(equal: bool = True, r: int = 2) -> tuple[Energies, ...]:
    """Runs of drawn problems, n ≤ 4, p ≤ 2 and every batch size, at every k up to 2, 3 or 4."""
    return tuple(
        run
        for n, k, count in ((1, 4, 8), (2, 4, 8), (3, 3, 8), (4, 2, 3))
        for fitted in family(39, count, (n,), equal=equal)
        for b in range(1, n + 1)
        for run in all_energies(fitted, b, k, r)
    )


def at_most_with_roots(value: Any, p: Any, q: Any) -> bool:
    """value ≤ (√p + √q)², decided without taking a root."""
    rest = value - p - q
    return bool(rest <= 0 or rest * rest <= 4 * p * q)

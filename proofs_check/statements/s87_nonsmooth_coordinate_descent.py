r"""Randomized coordinate mirror descent on a non-smooth plus a separable function.

Paper: Appendix on non-smooth functions (sec:nonsmooth-cd), Appendix A
Claim: $f = \bar f + \sum_j\tau_j$ with $\bar f$ Lipschitz and $\tau_j$ strongly convex "is in the
    format of the dual problem", so that Theorem 3.1 applies.
Hypotheses: (A); (U); (3.1); $R = \bar f^*$ and $l_j = (n\tau_j)^*$
Verdict: PROOF GAP
Correction: $\bar f$ must be convex, and for Algorithm 2 as printed each $\tau_j$ essentially
    smooth: differentiable inside its domain, with slopes that are unbounded towards its ends.
    Then $X = -nI$, $R = \bar f^*$, $l_j = (n\tau_j)^*$ give $-D = f$ and
    $\mathbb{E}f(\bar w^k) - f^*$ is at most Theorem 3.1's bound; only the fixed $w = w^*$ enters,
    so the flaw in that theorem's proof does not.
Proof: by hand, exact; thm:fixed-w, and counterexamples
Check: in fractions, $f = \kappa|w_1 + w_2 - 1| + \tfrac m2\sum(w_j - c_j)^2$: $-D = f$ up to a
    constant, all runs obey the bound; counterexamples without the added hypotheses: $\bar f$ not
    convex, $\tau$ with a kink, and $\tau = \tfrac12w^2$ on $[0, 1]$, which is differentiable
    inside.
Tested: n ≤ 2, p ≤ 2, b = 1, k ≤ 6; squared losses
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import numbers
from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import expectation, levels
from proofs_check.exact.problem import Small, Vector
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check

KAPPA, MODULUS = Fraction(1, 2), Fraction(2)
CENTRES = (Fraction(-1), Fraction(1, 4))


@dataclass(frozen=True)
class SegmentConjugate:
    """f̄* for f̄(w) = κ|w₁ + w₂ − 1|: the value u at β = (u, u), |u| ≤ κ."""

    mu = 0

    def argmin(self, c: Vector) -> Vector:
        u = -KAPPA if c[0] + c[1] + 1 > 0 else KAPPA
        return (u, u)

    def value(self, beta: Vector) -> Any:
        return beta[0]


def target(w: Vector) -> Any:
    """f(w)."""
    return (
        KAPPA * abs(w[0] + w[1] - 1)
        + MODULUS * sum((v - c) ** 2 for v, c in zip(w, CENTRES, strict=True)) / 2
    )


def as_dual(scale: int, sign: int) -> Small:
    """The problem whose −D is f, with X = sign·scale·I; l_j = (nτ_j)*."""
    gamma = 1 / (2 * MODULUS)
    losses = [Squared(-c / gamma, gamma) for c in CENTRES]
    entry, zero = Fraction(sign * scale), Fraction(0)
    return Small(((entry, zero), (zero, entry)), losses, SegmentConjugate())


@check(
    Kind.EXACT,
    (2, -1),
    {"X = −I": (1, -1), "X = +nI": (2, 1)},
)
def minus_the_dual_is_the_target(form: tuple[int, int]) -> Finding:
    """f(w) + D(w) is one constant over 100 drawn w."""
    small = as_dual(*form)
    generator = default_rng(87)
    points = (numbers(generator, 2) for _ in range(100))
    constants = {target(w) + small.dual(w) for w in points}
    return Finding(len(constants) == 1, f"{len(constants)} different values of f + D")


def bound(k: int, gamma: Any, largest: Any, radius: Any) -> Any:
    """Theorem 3.1 with n = 2."""
    return 16 * gamma * largest**2 / Fraction(8 + k) + 12 * radius / Fraction((8 + k) * (k + 1))


@check(
    Kind.EXACT,
    bound,
    {"a thirtieth of it": lambda *numbers: bound(*numbers) / 30},
)
def the_expected_error_obeys_the_bound(limit: Any) -> Finding:
    """M = nκ, γ = 1/(nm), D_h(w*, w⁰) = Σ τ_j(w*), k ≤ 6."""
    small = as_dual(2, -1)
    shift = min((1 - sum(CENTRES)) / 2, KAPPA / MODULUS)
    best = tuple(c + shift for c in CENTRES)
    radius = MODULUS * shift**2
    worst = Fraction(0)
    for k, paths in enumerate(levels(small, sublinear(Fraction(2)), 1, 7)):
        error = expectation(paths, lambda p: target(p.w_average)) - target(best)
        worst = max(worst, error / limit(k, 1 / (2 * MODULUS), 2 * KAPPA, radius))
    return Finding(0 < worst <= 1, f"largest ratio to the bound {float(worst):.4f}", worst)


def capped(w: Any) -> Any:
    """min(|w|, 1): Lipschitz, not convex, with conjugate-of-conjugate 0."""
    return min(abs(w), Fraction(1))


@check(Kind.EXACT, capped, {"|w|, which is convex": abs})
def without_convexity_the_limit_is_not_the_minimizer(fbar: Any) -> Finding:
    """n = 1, τ = (w − 2)²/16: −D has f̄** for f̄, whose minimizer is found by grid search."""
    grid = [Fraction(k, 8) for k in range(-32, 33)]
    points = [*grid, Fraction(10**6), -Fraction(10**6)]
    conjugate = {u: max(u * v - fbar(v) for v in points) for u in grid}

    def relaxation(w: Any) -> Any:
        return max(u * w - value for u, value in conjugate.items()) + (w - 2) ** 2 / 16

    def objective(w: Any) -> Any:
        return fbar(w) + (w - 2) ** 2 / 16

    relaxed = min(grid, key=relaxation)
    error = objective(relaxed) - min(map(objective, grid))
    return Finding(error > 0, f"f is {error} above its least value at the limit {relaxed}")


def kinked(w: Any) -> Any:
    """τ(w) = w²/2 + |w|."""
    return w * w / 2 + abs(w)


def ended(w: Any) -> Any:
    """τ(w) = w²/2 on [0, 1]."""
    return w * w / 2 if 0 <= w <= 1 else math.inf


PREDICTIONS: Any = (0, Fraction(1, 2), 2), (1, 2, Fraction(1, 2))
"""For each τ two that have the same dual, and a third."""


@check(
    Kind.EXACT,
    (kinked, ended),
    {
        "a smooth τ for the kinked one": (lambda w: w * w / 2, ended),
        "a domain without an end": (kinked, lambda w: w * w / 2),
    },
)
def a_kink_or_an_end_of_tau_hides_the_predictions(taus: Any) -> Finding:
    """w = τ*'(s) maximizes sw − τ(w): the same for two predictions, another for a third."""
    grid = [Fraction(k, 8) for k in range(-32, 33)]
    alike, words = True, []
    for tau, predictions in zip(taus, PREDICTIONS, strict=True):
        duals = [max((s * w - tau(w), w) for w in grid)[1] for s in predictions]
        alike &= duals[0] == duals[1] != duals[2]
        words.append(", ".join(map(str, duals)))
    return Finding(alike, f"duals {'; '.join(words)}")

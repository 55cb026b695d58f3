r"""The dual problem, and its first term as minus the value of the oracle's subproblem.

Paper: (eq:dual), with eq:altered, Section 2
Claim: $D(w) = -R^{*}(-\tfrac{1}{n}X^{T}w) - \tfrac{1}{n}\sum_{j} l_{j}^{*}(w_{j})$, where
    $R^{*}(-\tfrac{1}{n}X^{T}w) = -\min_{\beta}\{\tfrac{1}{n}w^{T}X\beta + R(\beta)\}$.
Hypotheses: R and every $l_j$ are proper and convex
Verdict: HOLDS
Proof: by hand; the definition of $R^*$
Check: for a cube and for a clipped ridge term $R^{*}$ has a closed form: the norm
    $\delta\|c\|_{1}$, and Huber's function of each coordinate plus $c^{T}m$. $-R^{*}(-X^{T}w/n)
    - h(w)$ is compared in fractions with $\phi$ at the oracle's minimizer.
Tested: n = 3, p = 2, no steps; Huber-like losses, a cube and clipped ridge
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import numbers, problem, tilted
from proofs_check.exact.problem import Small, Vector
from proofs_check.exact.regularizers import Cube, Ridge
from proofs_check.statement import Finding, Kind, check

CUBE = Cube(Fraction(3, 2))
RIDGE = Ridge(Fraction(2), (Fraction(1, 3), Fraction(-1, 2)), Fraction(1, 4))


def _cube_conjugate(c: Vector) -> Any:
    return CUBE.radius * sum(abs(x) for x in c)


def _ridge_conjugate(c: Vector) -> Any:
    def huber(x: Any) -> Any:
        step = min(abs(x) / RIDGE.mu, RIDGE.radius)
        return step * abs(x) - RIDGE.mu * step * step / 2

    return sum(huber(x) + m * x for x, m in zip(c, RIDGE.centre, strict=True))


def printed(small: Small, conjugate: Callable[[Vector], Any], w: Vector) -> Any:
    """D(w) by eq:dual, from a closed form of R*."""
    return -conjugate(tuple(-c for c in small.slope(w))) - small.conjugate(w)


def without_the_minus(small: Small, conjugate: Callable[[Vector], Any], w: Vector) -> Any:
    """R* taken at +Xᵀw/n."""
    return -conjugate(small.slope(w)) - small.conjugate(w)


def summed_conjugates(small: Small, conjugate: Callable[[Vector], Any], w: Vector) -> Any:
    """L* where L*/n belongs."""
    return printed(small, conjugate, w) - (small.n - 1) * small.conjugate(w)


@check(
    Kind.EXACT,
    printed,
    {"+Xᵀw/n instead of −Xᵀw/n": without_the_minus, "L* instead of L*/n": summed_conjugates},
)
def closed_conjugates_give_the_value_at_the_oracles_point(formula: Any) -> Finding:
    """200 exact comparisons with min_β φ(β, w)."""
    generator = default_rng(15)
    wrong = 0
    for _ in range(100):
        for regularizer, conjugate in ((CUBE, _cube_conjugate), (RIDGE, _ridge_conjugate)):
            small = problem(generator, 3, 2, regularizer, tilted)
            w = numbers(generator, 3)
            wrong += formula(small, conjugate, w) != small.dual(w)
    return Finding(wrong == 0, f"{wrong} of 200 values differ")

r"""Changing one random coordinate changes a separable distance by 1/n of the whole change.

Paper: Proposition 3.8 (prop:separable-expectation), Section 3.1 and Appendix A
Claim: for separable h, and b equal to a in a uniform random coordinate and to x elsewhere,
    $D_h(y, a) - D_h(y, x) = n\,\mathbb{E}_j(D_h(y, b) - D_h(y, x))$.
Verdict: HOLDS
Correction: for uniform batches of size $b$ the factor is $N = n/b$.
Check: symbolically for n = 3 and undetermined $h_i$ (each coordinate contributes its own term,
    so that n only adds terms); in fractions for batches of 2 out of 4.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.drawn import numbers
from proofs_check.statement import Finding, Kind, check


class Claim:
    """The factor before the expectation, and the coordinate of a that b takes."""

    def factor(self, n: int, b: int) -> Any:
        """n/b."""
        return Fraction(n, b)

    def source(self, j: int, n: int) -> int:
        """b_j = a_j."""
        return j


class OneLess(Claim):
    """n/b − 1 for n/b."""

    def factor(self, n: int, b: int) -> Any:
        return Fraction(n, b) - 1


class NextCoordinate(Claim):
    """b_j = a_{j+1}."""

    def source(self, j: int, n: int) -> int:
        return (j + 1) % n


PLANTED = {"n − 1 for n": OneLess(), "coordinate j + 1 of a": NextCoordinate()}


def _mixed(claim: Claim, a: Any, x: Any, batch: Any) -> list[Any]:
    n = len(x)
    return [a[claim.source(j, n)] if j in batch else x[j] for j in range(n)]


@check(Kind.SYMBOLIC, Claim(), PLANTED)
def the_identity_holds_for_undetermined_functions(claim: Claim) -> Finding:
    """n = 3."""
    n = 3
    y, a, x = (sympy.symbols(f"{name}0:{n}", real=True) for name in "yax")
    t = sympy.Symbol("t")
    parts = [sympy.Function(f"h{j}") for j in range(n)]

    def distance(to: Any, start: Any) -> Any:
        return sum(
            h(p) - h(q) - sympy.diff(h(t), t).subs(t, q).doit() * (p - q)
            for h, p, q in zip(parts, to, start, strict=True)
        )

    mean = sum(distance(y, _mixed(claim, a, x, (j,))) - distance(y, x) for j in range(n)) / n
    factor = sympy.Rational(claim.factor(n, 1).numerator, claim.factor(n, 1).denominator)
    rest = sympy.simplify(sympy.expand(distance(y, a) - distance(y, x) - factor * mean))
    return Finding(rest == 0, f"difference of the two sides: {rest}")


@check(Kind.EXACT, Claim(), PLANTED)
def batches_have_the_factor_n_over_b(claim: Claim) -> Finding:
    """h_j(x) = (j+1)x² + x⁴, n = 4, b = 2, 50 draws."""

    def distance(to: Any, start: Any) -> Any:
        def h(j: int, v: Any) -> Any:
            return (j + 1) * v**2 + v**4

        return sum(
            h(j, p) - h(j, q) - (2 * (j + 1) * q + 4 * q**3) * (p - q)
            for j, (p, q) in enumerate(zip(to, start, strict=True))
        )

    generator = default_rng(84)
    batches = list(combinations(range(4), 2))
    equal = 0
    for _ in range(50):
        y, a, x = (numbers(generator, 4) for _ in range(3))
        changes = [distance(y, _mixed(claim, a, x, b)) - distance(y, x) for b in batches]
        mean = sum(changes) / len(batches)
        equal += distance(y, a) - distance(y, x) == claim.factor(4, 2) * mean
    return Finding(equal == 50, f"{equal} of 50 equalities")

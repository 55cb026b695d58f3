r"""Changing one random coordinate changes a separable distance by 1/n of the whole change.

Paper: Proposition 3.8 (prop:separable-expectation), Section 3.1 and Appendix A
Claim: for separable h, and b equal to a in a uniform random coordinate and to x elsewhere,
    $D_h(y, a) - D_h(y, x) = n\,\mathbb{E}_j(D_h(y, b) - D_h(y, x))$.
Hypotheses: h separable and differentiable; a uniform coordinate or batch
Verdict: HOLDS
Correction: for uniform batches of size $b$ the factor is $N = n/b$.
Proof: by hand, symbolic
Check: symbolically for all n, b and undetermined $h_j$, coordinate by coordinate, with the share of
    the batches that contain one; in fractions for batches of 2 out of 4.
Tested: all n; n = 4, b = 2, no steps, p and losses do not enter
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

    def factor(self, n: Any, b: Any) -> Any:
        """n/b."""
        return n / b

    def source(self, j: Any, n: Any) -> Any:
        """b_j = a_j."""
        return j


class OneLess(Claim):
    """n/b − 1 for n/b."""

    def factor(self, n: Any, b: Any) -> Any:
        return n / b - 1


class NextCoordinate(Claim):
    """b_j = a_{j+1}."""

    def source(self, j: Any, n: Any) -> Any:
        return (j + 1) % n


PLANTED = {"n − 1 for n": OneLess(), "coordinate j + 1 of a": NextCoordinate()}


def _mixed(claim: Claim, a: Any, x: Any, batch: Any) -> list[Any]:
    n = len(x)
    return [a[claim.source(j, n)] if j in batch else x[j] for j in range(n)]


@check(Kind.SYMBOLIC, Claim(), PLANTED)
def the_identity_holds_for_all_n_and_undetermined_functions(claim: Claim) -> Finding:
    """A coordinate's terms d_j(y, a) − d_j(y, x), and how many of the C(n, b) batches have it."""
    n, b, j = sympy.symbols("n b j", integer=True, positive=True)
    y, a, x = (sympy.IndexedBase(name) for name in "yax")
    h, t = sympy.Function("h"), sympy.Symbol("t")

    def part(to: Any, start: Any) -> Any:
        slope = sympy.Subs(sympy.diff(h(j, t), t), t, start)
        return h(j, to) - h(j, start) - slope * (to - start)

    # A batch without j leaves d_j(y, b) = d_j(y, x): only the others count, each the same change.
    taken = a[claim.source(j, n)]
    change = part(y[j], taken) - part(y[j], x[j])
    share = sympy.binomial(n - 1, b - 1) / sympy.binomial(n, b)
    mean = claim.factor(n, b) * share * change
    rest = part(y[j], a[j]) - part(y[j], x[j]) - sympy.combsimp(sympy.gammasimp(mean))
    rest = sympy.simplify(rest)
    return Finding(rest == 0, f"difference of a coordinate's terms: {rest}")


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
        equal += distance(y, a) - distance(y, x) == claim.factor(Fraction(4), 2) * mean
    return Finding(equal == 50, f"{equal} of 50 equalities")

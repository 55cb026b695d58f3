r"""The linear bounds for batches, with the constant that batches need.

Paper: none; replaces Remark 3.4 for strongly convex R (thm:strong-batches)
Claim: with $N = n/b$ and $\sigma_b =
    1+\frac{\gamma}{n\mu}\left[\frac{n-b}{n-1}\max_j\|x_j\|_2^2+\frac{b-1} {n-1}\|X\|_2^2\right]$,
    $\eta = \frac{1}{\sigma_b}$ and weights $q^i$, $q = \frac{N\sigma_b} {N\sigma_b-1}$, the
    linear bounds hold with N for n and $\sigma_b$ for $\sigma$: for fixed w, for quadratic
    losses, and for all losses with $s_n$.
Hypotheses: (A); (B); (M); (S); (P)
Verdict: REPAIRED
Correction: the new values $r_j$ do not depend on the batch, so with $\Delta = r-w^i$,
    $\mathbb{E}_B\|X^T\Delta_B\|^2 = \frac
    bn\left[\frac{n-b}{n-1}\sum_j\|x_j\|^2\Delta_j^2+\frac{b-1}{n-1} \|X^T\Delta\|^2\right]$, and
    $R^{*}$ being $\frac1\mu$-smooth, $\mathbb{E}_i[-D(w^{i+1})] \le -D(w^i)-
    \frac1N(\langle\nabla D(w^i),r-w^i\rangle-\sigma_bD_h(r,w^i))$: the first chain with N. Ascent
    holds in expectation only, which is all that the proofs use. $\sigma_1 = \sigma$, $\sigma_n =
    s_n$, $\sigma_b \le 1+b(\sigma-1)$ and $s_n \le 1+N(\sigma_b-1)$. For n = 1 read $\sigma_b =
    1+\gamma\|x_1\|^2/\mu$; $N\sigma_b = 1$ only if n = b and X = 0, where $q = \infty$ and
    $\frac{N-1}{N\sigma_b-1}$ is 0. For every single batch $\max_B\|X_B\|_2^2$ takes the bracket's
    place.
Proof: by hand, symbolic
Check: the expectation symbolically and by enumeration of batches; the relations between the
    constants; the bounds over all sequences for b = 2 and 3, with equality at k = 1 on equal
    rows.
Tested: n ≤ 5, p ≤ 2, 2 ≤ b ≤ 4, k ≤ 3; squared, Huber-like and shifted losses
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import sympy
from numpy.random import default_rng

from proofs_check.exact.losses import Squared
from proofs_check.exact.problem import Small, dot
from proofs_check.exact.regularizers import Parabola
from proofs_check.exact.strong import Strong, mean
from proofs_check.exact.strong_instances import drawn, eighths, free, squared, zoo
from proofs_check.statement import Finding, Kind, check


def shares(n: Any, b: Any) -> tuple[Any, Any]:
    """Weights of Σ‖x_j‖²Δ_j² and of ‖XᵀΔ‖²."""
    return (n - b) / (n - 1), (b - 1) / (n - 1)


PLANTED = {
    "b for b − 1": lambda n, b: ((n - b) / (n - 1), b / (n - 1)),
    "n for n − 1": lambda n, b: ((n - b) / n, (b - 1) / n),
    "exchanged": lambda n, b: shares(n, b)[::-1],
}


@check(Kind.SYMBOLIC, shares, PLANTED)
def the_expectation_from_inclusion_probabilities(weights: Any) -> Finding:
    """P(j ∈ B) = b/n and P(j, l ∈ B) = b(b−1)/(n(n−1)); constants' relations for all n, b."""
    n, b, diagonal, whole, row = sympy.symbols("n b S Q L", positive=True)
    one, pair = b / n, b * (b - 1) / (n * (n - 1))
    alone, together = weights(n, b)
    average = one * diagonal + pair * (whole - diagonal)
    # With ‖X‖² between max‖x_j‖² = L and nL both differences below are non-negative multiples.
    bracket = alone * row + together * whole
    rests = [
        average - one * (alone * diagonal + together * whole),
        b * row - bracket - together * (n * row - whole),
        (n / b) * bracket - whole - (n - b) / (b * (n - 1)) * (n * row - whole),
    ]
    found = [sympy.simplify(rest) for rest in rests]
    return Finding(all(rest == 0 for rest in found), f"rests {found}")


@check(
    Kind.EXACT,
    shares,
    {f"of {b} rows for all batches": lambda n, _, b=b: shares(n, Fraction(b)) for b in (2, 3, 4)}
    | PLANTED,
)
def the_expectation_by_enumeration(weights: Any) -> Finding:
    """All batches of 2, 3, 4 of 5 rows in the plane."""
    generator, equal = default_rng(77), True
    n = 5
    for _ in range(5):
        rows = [(eighths(generator, -16, 16), eighths(generator, -16, 16)) for _ in range(n)]
        change = [eighths(generator, -16, 16) for _ in range(n)]

        def square(batch: Any, rows: Any = rows, change: Any = change) -> Any:
            total = tuple(sum(change[j] * rows[j][i] for j in batch) for i in range(2))
            return dot(total, total)

        diagonal = sum(d * d * dot(row, row) for d, row in zip(change, rows, strict=True))
        for b in (2, 3, 4):
            average = sum(square(batch) for batch in combinations(range(n), b)) / comb(n, b)
            alone, together = weights(Fraction(n), Fraction(b))
            whole = square(range(n))
            equal &= average == Fraction(b, n) * (alone * diagonal + together * whole)
    return Finding(equal, "15 means over batches, exactly")


def constant(one: Strong) -> Any:
    """σ_b."""
    return one.sigma


def bound_excess(one: Strong, scale: Any) -> tuple[Any, Any]:
    """Largest of (q^k−1)·gap − numerator: for fixed w = w*, and of the gap itself."""
    problem, fixed, whole = one.problem, Fraction(-(10**6)), Fraction(-(10**6))
    solved = problem.response(problem.predictions(one.optimum))
    share = (one.N - 1) / (one.T - 1)
    quadratic = isinstance(problem.losses[0], Squared)
    for k, paths in one.levels(3):
        growth, duals = one.q**k - 1, one.dual_means(k)
        left = mean(problem.saddle(path.beta, solved) for path in paths) - duals[k]
        right = one.start_radius + share * (duals[k] - duals[0])
        fixed = max(fixed, growth * left - scale * right)
        numerator = one.sigma_full * (one.start_radius + share * (one.value - duals[0]))
        if quadratic or one.b == one.n:
            numerator = min(numerator, duals[k] - duals[0] if quadratic else one.radius)
        whole = max(whole, growth * one.gaps(k)[-1][1] - scale * numerator)
    return fixed, whole


@check(
    Kind.EXACT,
    Fraction(1),
    {"numerators at 99/100": Fraction(99, 100), "numerators at 101/100": Fraction(101, 100)},
)
def the_bounds_hold_over_all_batches(scale: Fraction) -> Finding:
    """b = 2 and 3 on drawn problems; equality at k = 1 for squared losses with equal rows."""
    problems = [*zoo(2), *zoo(3)]
    excesses = [bound_excess(one, scale) for one in problems]
    fixed, whole = (max(column) for column in zip(*excesses, strict=True))
    tight = [free(3, 2, 2), free(4, 1, 3), free(4, 1, 4)]
    equal = all(
        (one.q - 1) * one.gaps(1)[0][1] == scale * (one.dual_means(1)[1] - one.dual_start)
        for one in tight
    )
    return Finding(
        fixed <= 0 and whole <= 0 and equal,
        f"{len(problems)} problems, largest excess {float(fixed):.3g} and {float(whole):.3g}",
        1,
    )


@check(
    Kind.EXACT,
    constant,
    {
        "the coordinate constant": lambda one: one.sigma_of(one.row),
        "half of σ_b − 1": lambda one: (1 + one.sigma) / 2,
    },
)
def the_constant_is_enough_in_expectation(sigma: Any) -> Finding:
    """E_i[D(w^{i+1})] − D(w^i) ≥ (1/N)(⟨∇D, r−w⟩ − σ_bD_h(r, w)) at the first step, p = 2."""
    generator, smallest = default_rng(177), Fraction(10**6)
    sizes = [(3, 2), (4, 3), (3, 3), (4, 2)] * 5
    for one in [*(drawn(generator, squared, n, b, 2) for n, b in sizes), free(3, 2, 2)]:
        problem, zero = one.problem, (Fraction(0),) * one.n
        w = problem.response(zero)
        a = problem.predictions(problem.atom(w))
        full = tuple(x / one.sigma for x in a)
        ascent = (
            sum((v - u) * c for v, u, c in zip(problem.response(full), w, a, strict=True)) / one.n
        )
        claimed = (ascent - sigma(one) * problem.bregman(full, zero)) / one.N
        smallest = min(smallest, one.dual_means(1)[1] - one.dual_start - claimed)
    return Finding(smallest == 0, f"smallest excess {float(smallest):.3g}")


def decrease(T: Any, k: int) -> Any:
    """1/(q^k − 1), written so that T = Nσ_b = 1 is allowed."""
    return (T - 1) ** k / (T**k - (T - 1) ** k)


@check(
    Kind.EXACT,
    decrease,
    {
        "k + 1 above": lambda T, k: (T - 1) * decrease(T, k),
        "T above": lambda T, k: T**k / (T**k - (T - 1) ** k),
    },
)
def the_degenerate_cases(formula: Any) -> Finding:
    """n = 1, where both energies agree, and X = 0, where q is infinite and the first gap is 0."""
    same = all(
        formula(T, k) * ((T / (T - 1)) ** k - 1) == 1
        for T in (Fraction(3, 2), Fraction(2), Fraction(7))
        for k in (1, 2, 5)
    )
    vanishes = all(formula(Fraction(1), k) == 0 for k in (1, 2, 5))
    alone = all(one.row == one.spectral for one in zoo() if one.n == 1)
    interval = Parabola(Fraction(1), Fraction(2), Fraction(-1), Fraction(1))
    empty = Small(((Fraction(0),),), [Squared(Fraction(3))], interval)
    w = empty.response((Fraction(0),))
    gap = empty.primal(empty.atom(w)) - empty.dual(w)
    return Finding(same and vanishes and alone and gap == 0, f"first gap with X = 0: {gap}")

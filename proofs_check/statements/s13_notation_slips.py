r"""Slips of notation: the space of unit vectors, and what an expectation is conditional on.

Paper: notation (sec:notation), with eq:xi, Sections 1.3, 1.5 and 3
Claim: "$e_j$ denotes the j-th unit coordinate vector in $\mathbb{R}^p$";
    "$\mathbb{E}_{j_i}$ denotes expectation conditional on the randomly chosen index $j_i$";
    $\mathbb{E}_{j_i}[\tilde g^i] = \tfrac1n g^i$; $f(\beta) = \tfrac1n\sum_{i=1}^n f_j(\beta)$;
    "a differentiable function f is $\mu$-strongly convex" if $f(y) \ge f(x) + \nabla
    f(x)^T(y-x) + \frac\mu2\|y-x\|^2$.
Hypotheses: (A); (W); (U)
Verdict: TYPO
Correction: $e_j \in \mathbb{R}^n$, as Section 1.2 has it. $\mathbb{E}_{j_i}$ is the expectation
    over $j_i$ given $\xi_i = \{j_0, \ldots, j_{i-1}\}$: conditional on $j_i$ nothing is averaged,
    and the equation fails. The sum runs over j. Strong convexity is needed of R, which has a
    bounded domain and is never differentiable at its ends: the inequality is meant for every
    subgradient.
Proof: by hand
Check: in an exact run with n = 3 and p = 2, $w^{i+1} - w^i$ is a multiple of $e_{j_i}$ in the space
    stated; at every prefix of length two the mean of $\tilde g^i$ over the next index is $g^i/n$,
    while $\tilde g^i$ for a given index is not; for $R = \beta^2$ on $[-1, 1]$ the inequality holds
    with every subgradient at the end 1, where there is no derivative.
Tested: n = 3, p = 2, b = 1, k ≤ 5; Huber-like losses
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.mirror import conjugate_slope, mirror_run
from proofs_check.exact.problem import Vector
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check

SMALL = problem(default_rng(14), 3, 2, cross_polytope(2, Fraction(1)), tilted)
STEPS = sublinear(Fraction(3))


def unit(j: int, n: int, p: int) -> Vector:
    """e_j in R^n."""
    return tuple(Fraction(k == j) for k in range(n))


@check(
    Kind.EXACT,
    unit,
    {
        "in R^p, as printed": lambda j, n, p: unit(j, p, p),
        "the next unit vector": lambda j, n, p: unit((j + 1) % n, n, p),
    },
)
def dual_steps_are_multiples_of_unit_vectors(vector: Any) -> Finding:
    """Each step of the indices 0, 1, 2, 2, 0."""
    indices = (0, 1, 2, 2, 0)
    run = mirror_run(SMALL, STEPS, indices)
    right = 0
    for i, j in enumerate(indices):
        change = tuple(a - b for a, b in zip(run.w[i + 1], run.w[i], strict=True))
        size = change[j]
        right += size != 0 and change == tuple(size * e for e in vector(j, 3, 2))
    return Finding(right == len(indices), f"{right} of {len(indices)} steps")


def over_the_index(outcomes: list[Vector]) -> Vector:
    """The mean over the n equally likely indices."""
    return tuple(sum(column) / len(outcomes) for column in zip(*outcomes, strict=True))


@check(
    Kind.EXACT,
    over_the_index,
    {
        "conditional on the index, as printed": lambda outcomes: outcomes[0],
        "one index never drawn": lambda outcomes: over_the_index(outcomes[1:]),
    },
)
def the_mean_subgradient_is_the_subgradient_over_n(
    average: Callable[[list[Vector]], Vector],
) -> Finding:
    """E_{j_i} g̃^i = g^i/n with g^i = (Xβ̃^i − ∇L*(w^i))/n."""
    equal = 0
    for prefix in product(range(3), repeat=2):
        runs = [mirror_run(SMALL, STEPS, (*prefix, j)) for j in range(3)]
        w, atom = runs[0].w[2], runs[0].atoms[2]
        slopes = (conjugate_slope(loss, v) for loss, v in zip(SMALL.losses, w, strict=True))
        full = ((a - s) / 3 for a, s in zip(SMALL.predictions(atom), slopes, strict=True))
        mean = average([run.subgradients[2] for run in runs])
        equal += mean == tuple(g / 3 for g in full)
    return Finding(equal == 9, f"equal after {equal} of 9 prefixes")


def subgradients(mu: Any, beta: Any) -> list[Any]:
    """Of R = (μ/2)β² on [−1, 1]: μβ, and at the end 1 all numbers above it, too."""
    return [mu * beta + t for t in ((0, 1, 7) if beta == 1 else (0,))]


@check(
    Kind.EXACT,
    subgradients,
    {
        "μβ/2": lambda mu, beta: [mu * beta / 2],
        "the other way at the end": lambda mu, beta: [mu * beta - t for t in (0, 1)],
        "the derivative alone": lambda mu, beta: subgradients(mu, beta)[:1],
    },
)
def strong_convexity_is_about_subgradients(of: Any) -> Finding:
    """R(y) ≥ R(x) + g(y−x) + (μ/2)(y−x)² on a grid of [−1, 1], μ = 2; several g at x = 1."""
    mu, grid = Fraction(2), [Fraction(i, 4) for i in range(-4, 5)]
    least = min(
        mu * (y * y - x * x) / 2 - g * (y - x) - mu * (y - x) ** 2 / 2
        for x in grid
        for g in of(mu, x)
        for y in grid
    )
    several = len(of(mu, Fraction(1)))
    return Finding(least == 0 and several > 1, f"least rest {least}; {several} subgradients at 1")

r"""Algorithm 1 on predictions and Algorithm 2 on the dual produce the same iterates.

Paper: Lemma 2.1 (lem:equi), Section 2
Claim: the iterate sequence of either algorithm corresponds to one of the other, by
    $w^i = \nabla L(s^i)$ and $s^i = \nabla L^{*}(w^i)$.
Hypotheses: (A); (W); ties of the oracle broken alike
Verdict: HOLDS
Correction: both must break the oracle's ties alike; the lemma's "an iterate sequence" leaves
    room for that.
Proof: by hand
Check: n = 4, 200 steps in fractions with a loss that is not quadratic: predictions as state,
    duals as state, and the substitute gradient updated incrementally give equal $w^i$ and
    $\tilde\beta^i$ at every step. A tie broken differently separates the two.
Tested: n = 4, p = 3, b = 1, k ≤ 200; Huber-like losses on an ℓ₁ ball
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from numpy.random import default_rng

from proofs_check.exact.drawn import problem, tilted
from proofs_check.exact.losses import Squared
from proofs_check.exact.mirror import conjugate_slope, mirror_run, solved_step
from proofs_check.exact.paths import start
from proofs_check.exact.problem import Small, Vector, dot
from proofs_check.exact.regularizers import Hull, cross_polytope
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import Finding, Kind, check

STEPS = 200


def old_dual_in_the_mix(loss: Any, w: Any, slope: Any, eta: Any, n: int) -> Any:
    """Mixes duals where the lemma mixes slopes."""
    return (1 - eta) * w + eta * loss.derivative(conjugate_slope(loss, w) + n * slope)


@check(
    Kind.EXACT,
    solved_step,
    {
        "duals mixed instead of slopes": old_dual_in_the_mix,
        "n forgotten in the step": lambda loss, w, slope, eta, n: solved_step(
            loss, w, slope, eta, 1
        ),
    },
)
def primal_and_dual_form_agree_step_by_step(update: Any) -> Finding:
    """Algorithm 1's w^i and β̃^i against Algorithm 2's."""
    generator = default_rng(19)
    small = problem(generator, 4, 3, cross_polytope(3, Fraction(2)), tilted)
    steps = sublinear(Fraction(4))
    indices = [int(j) for j in generator.integers(0, 4, STEPS)]
    dual = mirror_run(small, steps, indices, update)
    path = start(small, steps)
    for j in indices:
        path = path.extended((j,))
    atoms = len(set(dual.atoms))
    agrees = path.w == dual.w and path.atoms == dual.atoms
    return Finding(agrees and atoms > 2, f"{STEPS} steps, {atoms} different atoms")


def substitute(small: Small, d: Vector, j: int, s_old: Any, s_new: Any) -> Vector:
    """d + (l'(s_new) − l'(s_old)) x_j/n."""
    loss = small.losses[j]
    change = (loss.derivative(s_new) - loss.derivative(s_old)) / small.n
    return tuple(x + change * y for x, y in zip(d, small.rows[j], strict=True))


def incremental(small: Small, indices: list[int], advance: Callable[..., Vector]) -> list[Vector]:
    """Algorithm 1 as printed, with d as its only link to the oracle: the atoms."""
    eta = sublinear(Fraction(small.n)).eta
    s = [Fraction(0)] * small.n
    d = small.slope(small.response(tuple(s)))
    atoms = []
    for i, j in enumerate(indices):
        atoms.append(small.regularizer.argmin(d))
        new = (1 - eta(i)) * s[j] + eta(i) * dot(small.rows[j], atoms[-1])
        d = advance(small, d, j, s[j], new)
        s[j] = new
    return atoms


@check(
    Kind.EXACT,
    substitute,
    {
        "row of the next index added": lambda small, d, j, old, new: substitute(
            small, d, (j + 1) % small.n, old, new
        ),
        "1/n forgotten": lambda small, d, j, old, new: tuple(
            (1 - small.n) * x + small.n * y
            for x, y in zip(d, substitute(small, d, j, old, new), strict=True)
        ),
    },
)
def the_incremental_form_calls_the_oracle_at_the_same_points(advance: Any) -> Finding:
    """Atoms of the incremental Algorithm 1 against Algorithm 2's."""
    generator = default_rng(119)
    small = problem(generator, 4, 3, cross_polytope(3, Fraction(2)), tilted)
    indices = [int(j) for j in generator.integers(0, 4, STEPS)]
    dual = mirror_run(small, sublinear(Fraction(4)), indices)
    same = sum(
        a == b for a, b in zip(incremental(small, indices, advance), dual.atoms, strict=True)
    )
    return Finding(same == STEPS, f"{same} of {STEPS} atoms agree")


@check(
    Kind.EXACT,
    (Fraction(1), Fraction(1)),
    {"labels without a tie": (Fraction(1), Fraction(1, 2))},
)
def a_tie_broken_differently_separates_the_sequences(labels: tuple[Fraction, Fraction]) -> Finding:
    """X = I, squared loss: with equal labels the first oracle call has two answers."""
    ends = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    identity = ends
    losses = [Squared(y) for y in labels]
    steps = sublinear(Fraction(2))
    one, other = (
        mirror_run(Small(identity, losses, Hull(v)), steps, [0, 1, 0]).w for v in (ends, ends[::-1])
    )
    return Finding(one != other, f"w^3 begins with {one[-1][0]} or {other[-1][0]}")

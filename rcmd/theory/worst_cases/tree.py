"""The worst expected gap of Theorem 3.1 over all losses and all sets, by its tree of runs."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

from rcmd.rows.validation import Array
from rcmd.theory.worst_cases.gram import Gram, Known
from rcmd.theory.worst_cases.histories import History, exchanged, last_hit

Step = Callable[[int, int], Any]
"""A step size or a weight: of n and i."""


def published_step(n: int, i: int) -> Any:
    """η_i."""
    return Fraction(2 * n, 2 * n + i + 1)


def published_weight(n: int, i: int) -> Any:
    """c_i, up to a factor."""
    return Fraction(2 * n + i)


def programme(
    n: int,
    k: int,
    step: Step = published_step,
    weight: Step = published_weight,
    gamma: Any = 1,
    one: Any = 1.0,
) -> tuple[Gram, Array]:
    """The programme of the largest E[P(β̄^k) − D(w̄^k)] for M = 1, predictions being vectors.

    A node is a history j_0 … j_{i−1}, i ≤ k; a leaf one with i = k. Unknown are

    * the prediction a_j of every node's atom at every row, ‖a_j‖ ≤ 1, and R at the atom;
    * the gradient and value of l_j at s_j, a combination of earlier a_j, at the row's average
      ā_j of every leaf, and at the point z_j of every leaf with l_j'(z_j) = w̄_j, for
      l_j*(w̄_j) = w̄_jᵀz_j − l_j(z_j);
    * the atom e of every leaf that w̄ chooses, for D(w̄) = φ(e, w̄).

    Linear terms may be moved between l_j and R, and constants dropped, so l_j(0) = 0 and
    l_j'(0) = 0. Known are the interpolation inequalities of each l_j and that a node's atom is the
    best one at its w. Nothing is lost in the set: with the atoms as vertices of a simplex, R affine
    on it and X mapping vertex to prediction, R(β̄) is the mean of R over the atoms.

    Rows may be relabelled, and the programme is convex: its symmetric solutions are enough, those
    in which row j sees of a history what row 0 sees of it with 0 and j exchanged. One Gram
    matrix, row 0's, is left. ``one`` is of the number type of its coefficients.
    """
    nodes = [v for i in range(k + 1) for v in product(range(n), repeat=i)]
    leaves = [v for v in nodes if len(v) == k]
    weights = [weight(n, i) * one for i in range(k + 1)]
    shares = [each / sum(weights) for each in weights]
    hits = sorted({last_hit(v) for v in nodes} - {()})
    atoms = [("atom", v) for v in nodes] + [("best", v) for v in leaves]
    marks = [("s", v) for v in hits] + [(at, v) for v in leaves for at in ("average", "dual")]
    slopes = [("slope", mark) for mark in marks if mark[0] != "dual"]
    gram = Gram(
        [*atoms, *slopes, *(("z", v) for v in leaves)],
        [*(("loss", mark) for mark in marks), *(("R", atom) for atom in atoms)],
        one,
    )

    def atom(v: History) -> Array:
        return gram.vector(("atom", v))

    nothing = 0 * gram.vector(("atom", ()))

    def w(v: History) -> Array:
        return gram.vector(("slope", ("s", last_hit(v)))) if last_hit(v) else nothing

    def s(v: History) -> Array:
        if not v:
            return 0 * atom(v)
        eta = step(n, len(v) - 1) * one if v[-1] == 0 else 0 * one
        return (1 - eta) * s(v[:-1]) + eta * atom(v[:-1])

    def mean(vector: Callable[[History], Array], leaf: History) -> Array:
        return sum((share * vector(leaf[:i]) for i, share in enumerate(shares)), 0 * atom(leaf))

    known: dict[Any, Known] = {"start": Known(nothing, nothing, gram.product(nothing, nothing))}
    known |= {("s", v): Known(s(v), w(v), gram.number(("loss", ("s", v)))) for v in hits}
    for leaf in leaves:
        mark: Any = ("average", leaf)
        slope, value = gram.vector(("slope", mark)), gram.number(("loss", mark))
        known["average", leaf] = Known(mean(atom, leaf), slope, value)
        value = gram.number(("loss", ("dual", leaf)))
        known["dual", leaf] = Known(gram.vector(("z", leaf)), mean(w, leaf), value)
    gram.interpolate(list(known.values()), gamma)
    for name in atoms:
        gram.at_most(gram.product(gram.vector(name), gram.vector(name)), one)

    for v in nodes:
        for kind, other in atoms:
            better = gram.number(("R", ("atom", v))) - gram.number(("R", (kind, other)))
            for j in range(n):
                seen = exchanged(v, j)
                there = gram.vector((kind, exchanged(other, j)))
                better = better + gram.product(w(seen), atom(seen) - there) / n
            gram.at_most(better, 0 * one)

    gap = gram.product(nothing, nothing)
    for leaf in leaves:
        dual, chosen = known["dual", leaf], ("best", leaf)
        gap = gap + known["average", leaf].value
        gap = gap + sum(
            share * gram.number(("R", ("atom", leaf[:i]))) for i, share in enumerate(shares)
        )
        gap = gap + gram.product(dual.gradient, dual.point) - dual.value
        gap = gap - gram.product(dual.gradient, gram.vector(chosen)) - gram.number(("R", chosen))
    return gram, gap / len(leaves)

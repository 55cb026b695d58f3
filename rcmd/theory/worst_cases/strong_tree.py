"""The worst expected gap of Theorem 3.2 over all losses and strongly convex R, by its tree."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

from rcmd.rows.validation import Array
from rcmd.theory.worst_cases.gram import Gram, Known
from rcmd.theory.worst_cases.histories import History, exchanged, last_hit
from rcmd.theory.worst_cases.tree import Step

SLACK = Fraction(1, 10**5)
"""Of the equalities between inner products: interior-point methods need room. It can only raise
the maximum, which stays an upper bound of the worst case."""


def printed_sigma(n: int, mu: Any) -> Any:
    """σ = 1 + γ max‖x_j‖²/(nμ) for γ = max‖x_j‖ = 1."""
    return 1 + 1 / (n * mu)


def strong_programme(
    n: int,
    k: int,
    mu: Any,
    *,
    step: Step | None = None,
    weight: Step | None = None,
    strength: Any = None,
    one: Any = 1.0,
) -> tuple[Gram, Array]:
    """The programme of the largest E[P(β̄^{k−1}) − D(w^k)], predictions being vectors.

    γ = M = max‖x_j‖ = 1.

    A node is a history j_0 … j_{i−1}, i ≤ k; a leaf one with i = k; a twig one with i = k − 1,
    where β̄^{k−1} is known. Linear terms may be moved between l_j and R, and constants dropped,
    so l_j(0) = 0, l_j'(0) = 0, and R is 0 at the first atom. Unknown are

    * the prediction a_j of every node's atom β at every row, ‖a_j‖ ≤ 1, R at the atom, and the
      inner products of the atoms themselves;
    * the gradient and value of l_j at s_j, a combination of earlier a_j, and at the average ā_j
      of every twig.

    Known are the interpolation inequalities of each l_j, and those of a μ-strongly convex R that
    has the subgradient −Xᵀw/n at the atom of every node:

        R(β') ≥ R(β) − (1/n) Σ_j w_jᵀ(a'_j − a_j) + (μ/2)‖β' − β‖²;

    R(β̄) is at most the mean of R over the twig's atoms less (μ/2) times their variance. A row of
    norm at most 1 takes the atoms to the numbers a_j if and only if their Gram matrix is at least
    a_j a_jᵀ; so the Gram matrix of the atoms is that of the a_j plus that of some remainders, of
    which only distances matter: the first is 0.

    As in ``tree`` the rows may be relabelled: only row 0 is kept, row j sees of a history what
    row 0 sees of it with 0 and j exchanged, and the distances of the atoms do not change under
    such exchanges.

    Steps 1/σ and weights q^i are the theorem's, and the ``strength`` of R is μ, unless they are
    given; ``one`` is of the number type of the coefficients.
    """
    sigma = printed_sigma(n, mu * one)
    modulus = (mu if strength is None else strength) * one
    q = 1 + 1 / (n * sigma - 1)
    weights = [q**i if weight is None else weight(n, i) * one for i in range(k)]
    shares = [weight / sum(weights) for weight in weights]
    nodes = [v for i in range(k + 1) for v in product(range(n), repeat=i)]
    leaves, twigs = nodes[-(n**k) :], [v for v in nodes if len(v) == k - 1]
    hits = sorted({last_hit(v) for v in nodes} - {()})
    marks = [("s", v) for v in hits] + [("average", v) for v in twigs]
    gram = Gram(
        [("atom", v) for v in nodes]
        + [("rest", v) for v in nodes if v]
        + [("slope", m) for m in marks],
        [*(("loss", mark) for mark in marks), *(("R", v) for v in nodes if v)],
        one,
    )
    nothing = 0 * gram.vector(("atom", ()))
    zero = gram.product(nothing, nothing)

    def atom(v: History) -> Array:
        return gram.vector(("atom", v))

    def R(v: History) -> Array:
        return gram.number(("R", v)) if v else zero

    def s(v: History) -> Array:
        if not v:
            return nothing
        eta = 0 * one
        if v[-1] == 0:
            eta = 1 / sigma if step is None else step(n, len(v) - 1) * one
        return (1 - eta) * s(v[:-1]) + eta * atom(v[:-1])

    def seen(v: History) -> Known:
        hit = last_hit(v)
        if not hit:
            return Known(nothing, nothing, zero)
        return Known(s(hit), gram.vector(("slope", ("s", hit))), gram.number(("loss", ("s", hit))))

    def rest(v: History) -> Array:
        return gram.vector(("rest", v)) if v else nothing

    def distance(v: History, u: History) -> Array:
        change, hidden = atom(v) - atom(u), rest(v) - rest(u)
        return gram.product(change, change) + gram.product(hidden, hidden)

    averages = {}
    for twig in twigs:
        point = sum((share * atom(twig[:i]) for i, share in enumerate(shares)), nothing)
        mark = ("average", twig)
        averages[twig] = Known(point, gram.vector(("slope", mark)), gram.number(("loss", mark)))
    gram.interpolate([seen(()), *(seen(v) for v in hits), *averages.values()])

    for v in nodes:
        gram.at_most(gram.product(atom(v), atom(v)), one)
        for u in nodes:
            for j in range(1, n):
                moved = distance(exchanged(v, j), exchanged(u, j)) - distance(v, u)
                if v < u and (exchanged(v, j), exchanged(u, j)) > (v, u):
                    gram.at_most(moved, SLACK * one)
                    gram.at_most(-moved, SLACK * one)
            if u != v:
                fall = R(v) - R(u)
                for j in range(n):
                    here, there = exchanged(v, j), exchanged(u, j)
                    fall = fall + gram.product(seen(here).gradient, atom(here) - atom(there)) / n
                gram.at_most(fall + modulus / 2 * distance(v, u), 0 * one)

    gap = zero
    for leaf in leaves:
        twig, last = leaf[:-1], seen(leaf)
        gap = gap + averages[twig].value
        for i, share in enumerate(shares):
            gap = gap + share * R(twig[:i])
            for m, other in enumerate(shares[:i]):
                gap = gap - modulus / 2 * share * other * distance(twig[:i], twig[:m])
        gap = gap - last.value - gram.product(last.gradient, atom(leaf) - last.point)
        gap = gap - R(leaf)
    return gram, gap / len(leaves)

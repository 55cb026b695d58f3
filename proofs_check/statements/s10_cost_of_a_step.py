r"""What a step costs.

Paper: (rem:cost), Section 1.2
Claim: the initial $d^0$ takes $O(np)$ operations; after the oracle's answer a step changes one
    coordinate of s and of w, adds a multiple of one row to d and moves $\bar\beta$: $O(p)$.
Hypotheses: one product or quotient of numbers is one operation
Verdict: HOLDS
Proof: by hand
Check: multiplications of numbers that count them: np and a few for $d^0$; for a step 4p and a few,
    the same for every n.
Tested: n ≤ 8, p ≤ 6, one step; squared losses
"""

from __future__ import annotations

from typing import Any

from proofs_check.exact.losses import Squared
from proofs_check.exact.problem import Small, Vector, dot, mix
from proofs_check.exact.regularizers import cross_polytope
from proofs_check.statement import Finding, Kind, check
from proofs_check.statements.s10_substitute_gradient import Substitute


class Counted:
    """A number whose products and quotients are counted."""

    products = 0

    def __init__(self, value: Any) -> None:
        self.value: Any = value.value if isinstance(value, Counted) else value

    def __add__(self, other: Any) -> Counted:
        return Counted(self.value + Counted(other).value)

    def __sub__(self, other: Any) -> Counted:
        return Counted(self.value - Counted(other).value)

    def __mul__(self, other: Any) -> Counted:
        Counted.products += 1
        return Counted(self.value * Counted(other).value)

    def __truediv__(self, other: Any) -> Counted:
        Counted.products += 1
        return Counted(self.value / Counted(other).value)

    def __rsub__(self, other: Any) -> Counted:
        return Counted(other) - self

    __radd__, __rmul__ = __add__, __mul__


def first(small: Small) -> Vector:
    """d^0."""
    zero = Counted(0)
    w = tuple(loss.derivative(zero) for loss in small.losses)
    return tuple(dot(column, w) / small.n for column in zip(*small.rows, strict=True))


def step(small: Small, d: Vector) -> Vector:
    """Row 0's prediction, s_0, w_0, d and β̄, once the oracle has said β̃ = (1, …, 1)."""
    atom = (Counted(1),) * len(d)
    s, eta, beta = Counted(0), Counted(0.5), (Counted(0),) * len(d)
    new = (1 - eta) * s + eta * dot(small.rows[0], atom)
    mix(beta, atom, eta)
    return Substitute().next(small, d, 0, s, new)


def whole(small: Small, d: Vector) -> Vector:
    """d as a sum over all rows."""
    return first(small)


@check(Kind.EXACT, step, {"d as the sum over all rows": whole})
def a_step_costs_as_much_for_every_n(one_step: Any) -> Finding:
    """n = 2, 4, 8 and p = 3, 6."""
    start, later = {}, {}
    for n in (2, 4, 8):
        for p in (3, 6):
            rows = tuple(tuple(Counted(j + k) for k in range(p)) for j in range(n))
            small = Small(rows, [Squared(Counted(1), Counted(1))] * n, cross_polytope(p, 1))
            Counted.products = 0
            d = first(small)
            start[n, p] = Counted.products - n - 2 * p
            Counted.products = 0
            one_step(small, d)
            later[n, p] = Counted.products
    wide = all(count == n * p for (n, p), count in start.items())
    short = len(set(later.values())) == 2 and later[2, 6] - later[2, 3] == 4 * 3
    return Finding(wide and short, f"products of a step, by (n, p): {later}")

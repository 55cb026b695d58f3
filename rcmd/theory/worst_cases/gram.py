"""Linear programmes in the inner products of free vectors and in free numbers."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from rcmd.rows.validation import Array

TOLERANCE = 1e-6
"""CLARABEL's; first-order solvers understate these programmes by up to two per cent."""

ROOM = 1e-6
"""Of multipliers and eigenvalues above 0, for what rounding may take."""


@dataclass(frozen=True)
class Known:
    """What is known of a loss at a point x: its gradient and its value there."""

    point: Array
    gradient: Array
    value: Array


class Gram:
    """max over Gram matrices of ``vectors`` and over ``numbers``, all named.

    A vector is its row of coordinates in the named ones; an expression is a row over all inner
    products, then over all numbers. ``one`` is of the number type of all coefficients.

    Examples
    --------
    >>> gram = Gram(["x", "y"], [])
    >>> x, y = gram.vector("x"), gram.vector("y")
    >>> gram.at_most(gram.product(x, x), 1.0)
    >>> gram.at_most(gram.product(y, y), 4.0)
    >>> round(gram.maximum(gram.product(x, y)), 4)
    2.0
    """

    def __init__(
        self, vectors: Iterable[Hashable], numbers: Iterable[Hashable], one: Any = 1.0
    ) -> None:
        self.one = one
        self._vectors = {name: place for place, name in enumerate(vectors)}
        self._numbers = {name: place for place, name in enumerate(numbers)}
        self._left: list[Array] = []
        self._right: list[Any] = []

    def vector(self, name: Hashable) -> Array:
        """The vector of that name."""
        row = self._zeros(len(self._vectors))
        row[self._vectors[name]] = self.one
        return row

    def number(self, name: Hashable) -> Array:
        """The number of that name."""
        row = self._zeros(len(self._vectors) ** 2 + len(self._numbers))
        row[len(self._vectors) ** 2 + self._numbers[name]] = self.one
        return row

    def product(self, x: Array, y: Array) -> Array:
        """xᵀy."""
        row = self._zeros(len(self._vectors) ** 2 + len(self._numbers))
        square = row[: len(self._vectors) ** 2].reshape(len(x), len(y))
        for i in np.flatnonzero(x):
            for j in np.flatnonzero(y):
                half = x[i] * y[j] / 2
                square[i, j] += half
                square[j, i] += half
        return row

    def _zeros(self, size: int) -> Array:
        return np.full(size, 0 * self.one)

    def at_most(self, expression: Array, bound: Any) -> None:
        """Add expression ≤ bound."""
        self._left.append(expression)
        self._right.append(bound)

    def interpolate(self, known: Sequence[Known], gamma: Any = 1) -> None:
        """Let one convex γ-smooth function take these values and gradients.

        It exists if and only if l(x) ≥ l(y) + ∇l(y)ᵀ(x−y) + ‖∇l(x)−∇l(y)‖²/(2γ) for all pairs:
        necessary because l is co-coercive, and sufficient because ‖·‖²/(2γ) plus the largest of
        the affine functions that it prescribes to l* at the gradients is then such an l*.
        """
        for x in known:
            for y in known:
                if x is not y:
                    change = x.gradient - y.gradient
                    below = self.product(y.gradient, x.point - y.point)
                    bend = self.product(change, change) / (2 * gamma)
                    self.at_most(y.value - x.value + below + bend, 0 * self.one)

    def maximum(self, expression: Array) -> float:
        """The largest value; a ``RuntimeError`` where the solver does not reach its tolerance."""
        import cvxpy as cp
        import scipy.sparse as sp

        matrix: Any = cp.Variable((len(self._vectors),) * 2, PSD=True)
        stacked: Any = cp.vec(matrix, order="C")
        if self._numbers:
            stacked = cp.hstack([stacked, cp.Variable(len(self._numbers))])
        left, right = sp.csr_array(np.array(self._left, dtype=float)), np.array(self._right, float)
        aim = cp.Maximize(expression.astype(float) @ stacked)
        problem = cp.Problem(aim, [left @ stacked <= right])
        problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=TOLERANCE, tol_gap_rel=TOLERANCE, tol_feas=TOLERANCE
        )
        if problem.status != cp.OPTIMAL:
            raise RuntimeError(f"the solver ended with {problem.status!r}; expected an optimum")
        return float(problem.value)

    def certified(self, expression: Array) -> Fraction:
        """A rational number that no value exceeds, checked without rounding.

        Multipliers λ ≥ 0 with Lᵀλ − e = (V, 0), V positive semidefinite, give
        e·x = λᵀLx − ⟨V, G⟩ ≤ λᵀr for every feasible x = (G, numbers). A solver finds such λ with
        some room; they are rounded, moved back onto the equalities exactly, and V is factorized in
        fractions. A vector whose square stands in no inequality has a zero row in V, which is an
        equality more.
        """
        import cvxpy as cp

        size, left = len(self._vectors), np.array(self._left)
        squares = left[:, : size * size].reshape(-1, size, size)
        aim = expression[: size * size].reshape(size, size)
        used = [i for i in range(size) if aim[i, i] or squares[:, i, i].any()]
        free = [i for i in range(size) if i not in used]
        equal = np.hstack([squares[:, free].reshape(len(left), -1), left[:, size * size :]]).T
        wanted = np.concatenate([aim[free].ravel(), expression[size * size :]])
        rows, targets = _independent(equal, wanted)
        block = squares[:, used][:, :, used]

        multipliers: Any = cp.Variable(len(left))
        stacked = block.reshape(len(left), -1).T.astype(float)
        goal = aim[np.ix_(used, used)].astype(float)
        slack: Any = cp.reshape(stacked @ multipliers, goal.shape, order="C") - goal
        right = np.array(self._right)
        support = _may_be_positive(rows, targets)
        room = [
            multipliers >= ROOM * support,
            (slack + slack.T) / 2 >> ROOM * np.eye(len(used)),
        ]
        if len(rows):
            room.append(rows.astype(float) @ multipliers == targets.astype(float))
        problem = cp.Problem(cp.Minimize(right.astype(float) @ multipliers), room)
        problem.solve(solver=cp.CLARABEL)
        if problem.status != cp.OPTIMAL:
            raise RuntimeError(f"the solver ended with {problem.status!r}; expected an optimum")
        found = np.array([Fraction(round(float(x) * 2**40), 2**40) for x in multipliers.value])
        found[~support] = Fraction(0)
        if len(rows):
            found[support] += _least_change(*_independent(rows[:, support], targets - rows @ found))
        slack = np.tensordot(found, block, 1) - aim[np.ix_(used, used)]
        if not (equal @ found == wanted).all():
            raise RuntimeError(
                "no multipliers fulfil the equalities, so that nothing bounds the expression; "
                "expected inequalities for every number in it, and for the squares of its vectors"
            )
        if not (found >= 0).all() or not _positive(slack):
            raise RuntimeError("rounding has spoilt the multipliers; expected more room than that")
        return Fraction(right @ found)


def _may_be_positive(rows: Array, targets: Array) -> Array:
    """Which λ_i some λ ≥ 0 with rows λ = targets has above 0, by a linear programme."""
    from scipy.optimize import linprog

    count, size = rows.shape
    if not count:
        return np.full(size, True)
    # λ' = λ s with s ≥ 1, of which the parts u ≤ 1 are as large as can be.
    scaled = np.hstack([rows.astype(float), rows.astype(float), -targets.astype(float)[:, None]])
    cost = np.concatenate([-np.ones(size), np.zeros(size + 1)])
    limits = [(0, 1)] * size + [(0, None)] * size + [(1, None)]
    solved = linprog(cost, A_eq=scaled, b_eq=np.zeros(count), bounds=limits)
    return np.asarray(solved.x[:size] > 0.5)


def _independent(rows: Array, targets: Array) -> tuple[Array, Array]:
    """The equations without those that follow from others, by elimination in fractions."""
    kept: list[int] = []
    reduced: list[tuple[int, Array]] = []
    for place, row in enumerate(rows):
        rest = row.copy()
        for pivot, other in reduced:
            if rest[pivot]:
                rest = rest - rest[pivot] * other
        pivots = np.flatnonzero(rest)
        if len(pivots):
            reduced.append((int(pivots[0]), rest / rest[pivots[0]]))
            kept.append(place)
    return rows[kept], targets[kept]


def _least_change(rows: Array, residual: Array) -> Array:
    """δ with rows δ = residual, exactly: rowsᵀ(rows rowsᵀ)⁻¹ residual."""
    from sympy import QQ
    from sympy.polys.matrices import DomainMatrix

    def exact(matrix: Array) -> Any:
        entries = [[QQ(x.numerator, x.denominator) for x in row] for row in matrix]
        return DomainMatrix(entries, matrix.shape, QQ)

    solved = exact(rows @ rows.T).lu_solve(exact(residual[:, None])).to_Matrix()
    return rows.T @ np.array([Fraction(int(x.p), int(x.q)) for x in solved])


def _positive(matrix: Array) -> bool:
    """Whether a matrix of fractions is positive definite: all pivots are."""
    rest = matrix.copy()
    while len(rest):
        if not rest[0, 0] > 0:
            return False
        rest = rest[1:, 1:] - np.outer(rest[1:, 0], rest[0, 1:]) / rest[0, 0]
    return True

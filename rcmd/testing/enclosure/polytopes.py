"""Polytopes by inequalities: HiGHS proposes multipliers and points, and balls prove what they say.

For multipliers y ≤ 0 of Aβ ≤ b, any of A_equal β = b_equal, and what they leave of c, r = c − Aᵀy,

    cᵀβ ≥ bᵀy + Σ_k min(r_k z : lower_k ≤ z ≤ upper_k),

where a variable with an open end counts −|r_k|·reach, for a proved reach ≥ |β_k|.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import arb, arb_mat, fmpq, fmpq_mat

from rcmd.oracles.linear_programmes import Programme
from rcmd.testing.enclosure.balls import Ball, Vector, ball, balls, greatest, inner, positive, total


class Sides:
    """The rows and ends of a ``Polytope`` as they were given, which are all that is believed."""

    def __init__(self, o: Any) -> None:
        rows, (self.lower, self.upper) = o.programme, o._given
        A, self.oracle = rows.A, o
        self.programme = Programme(A, rows.row_lower, rows.row_upper, self.lower, self.upper)
        columns, entries, ends = A.indices.tolist(), balls(A.data), pairwise(A.indptr.tolist())
        lines = [list(zip(columns[i:j], entries[i:j], strict=True)) for i, j in ends]
        self.rows = list(zip(lines, balls(rows.row_upper), strict=True))
        self.below = self.rows[: o.m]  # Σ entry·β_k ≤ goal
        self.open: list[tuple[int, int]] = []
        for sign, end in ((-1, self.lower), (1, self.upper)):
            self.open += [(k, -sign) for k in np.flatnonzero(np.isinf(end)).tolist()]
            for k in np.flatnonzero(np.isfinite(end) & (self.lower < self.upper)).tolist():
                self.below.append(([(k, arb(sign))], sign * ball(end[k])))

    def conjugate(self, c: Vector) -> Ball:
        """R*(−c) = −min cᵀβ, from a point of the set and from multipliers."""
        x, least, rest = self.bound(c)
        most = rest * self.reach - least if self.open else -least
        return most.union(-inner(c, self.inside(balls(x))))

    def bound(self, c: Vector) -> tuple[Any, Ball, Ball]:
        """A vertex, and a lower bound of cᵀβ + Σ|r_k β_k|, with Σ|r_k|, over open variables."""
        x, y = self.programme.solve(np.array([float(entry.mid()) for entry in c]))
        residual, least, rest = list(c), arb(0), arb(0)
        for price, (line, goal) in zip(balls(y), self.rows, strict=True):
            least += price * goal
            for k, entry in line:
                residual[k] -= price * entry
        for r, low, high in zip(residual, self.lower.tolist(), self.upper.tolist(), strict=True):
            if np.isfinite(low) and np.isfinite(high):
                least += (r * low).min(r * high)
            elif r >= 0 and np.isfinite(low):
                least += r * low
            elif r <= 0 and np.isfinite(high):
                least += r * high
            else:
                rest += abs(r)
        return x, least, rest

    @cached_property
    def reach(self) -> Ball:
        """A bound of |β_k| where an end is open.

        Of ±β_k ≥ a − ρ·max|β| for each such end follows max|β| ≤ max|a|/(1 − ρ).
        """
        sides = self.lower, self.upper
        found = [
            self.bound([arb(sign * (i == k)) for i in range(len(self.lower))])
            for k, sign in self.open
        ]
        known = [ball(end[k]) for k, _ in self.open for end in sides if np.isfinite(end[k])]
        largest = greatest(abs(a) for a in [*known, *(least for _, least, _ in found)])
        return largest / positive(1 - greatest(rest for _, _, rest in found))

    def inside(self, beta: Vector) -> Vector:
        """β projected onto the equations, and moved towards a point with room where it has none."""
        x = self.onto(beta)
        misses = [(i, positive(-room)) for i, room in enumerate(self.rooms(x)) if not room >= 0]
        if not misses:
            return x
        middle = self.onto(balls(self.centre()))
        rooms = self.rooms(middle)
        if not all(room > 0 for room in rooms):
            raise ValueError(
                f"{self.oracle!r} is not proved to have a point that fulfils all inequalities with "
                "room to spare; expected equations as A_equal and b_equal, and no inequalities "
                "that force them"
            )
        share = greatest(miss / (miss + rooms[i]) for i, miss in misses).upper().min(arb(1))
        return [a + share * (b - a) for a, b in zip(x, middle, strict=True)]

    def rooms(self, x: Vector) -> Vector:
        """What x leaves of each inequality."""
        return [goal - total(entry * x[k] for k, entry in line) for line, goal in self.below]

    def onto(self, x: Vector) -> Vector:
        """The point next to x that fulfils the equations, of which independent ones are made."""
        matrix, goal = self.equations
        column = arb_mat(len(x), 1, x)
        step = (matrix * matrix.transpose()).solve(goal - matrix * column)
        return (column + matrix.transpose() * step).entries()

    @cached_property
    def equations(self) -> tuple[Any, Any]:
        """Equations that are independent of each other, found in fractions, and their right side.

        Gauss–Jordan leaves a unit matrix in them, so no product with its transpose is singular.
        """
        o, rows = self.oracle, self.oracle.programme
        fixed = np.flatnonzero(self.lower == self.upper)
        told = sp.vstack([rows.A[o.m :], sp.eye_array(o.p, format="csr")[fixed]]).toarray()
        right = np.concatenate([rows.row_upper[o.m :], self.lower[fixed]])
        numbers = [fmpq(*x.as_integer_ratio()) for x in np.c_[told, right].ravel().tolist()]
        reduced, rank = fmpq_mat(len(right), o.p + 1, numbers).rref()
        table = reduced.table()[:rank]
        if any(not any(row[:-1]) for row in table):
            raise ValueError(
                f"the equations of {o!r} contradict each other by rounding, so that no point "
                "fulfils them exactly; expected none that follows from the others"
            )
        matrix = fmpq_mat(rank, o.p, [x for row in table for x in row[:-1]])
        return arb_mat(matrix), arb_mat(fmpq_mat(rank, 1, [row[-1] for row in table]))

    def centre(self) -> Any:
        """The point with the most room in units of the set's own size, as floats find it."""
        o, rows = self.oracle, self.oracle.programme
        sizes = np.where(rows.row_lower < rows.row_upper, rows.row_reach, 0)
        reach = np.where(o.lower < o.upper, rows.reach, 0)
        unit, nothing = sp.eye_array(o.p), np.full(o.p, np.inf)
        system = sp.vstack([rows.A, unit, unit])
        system = sp.hstack([system, np.concatenate([sizes, reach, -reach])[:, None]])
        low = np.concatenate([rows.row_lower, -nothing, o.lower])
        high = np.concatenate([rows.row_upper, o.upper, nothing])
        wider = Programme(system, low, high, np.append(o.lower, 0), np.append(o.upper, 1))
        return wider.solve(np.append(np.zeros(o.p), -1))[0][:-1]

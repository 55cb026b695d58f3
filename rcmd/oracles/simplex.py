"""The simplex, the capped simplex, and negative entropy on the simplex."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import FEASIBILITY, IRRATIONAL, Array, LinearMinOracle, VertexRule, cp
from rcmd.oracles.vectors import atom_on, first_largest, largest, largest_first, write_largest
from rcmd.rows import Rows
from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.validation import positive


class OnSimplex(LinearMinOracle):
    """What every R with the domain β ≥ 0, Σ_k β_k = radius shares."""

    radius: Any
    positive_fields = ("radius",)
    bound_words = "radius·‖x‖_∞"

    def violation(self, beta: Array) -> Any:
        return max(-beta.min(), abs(beta.sum() - self.radius), 0) / self.radius

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        lows, highs = rows.entry_range()
        return self.radius * lows, self.radius * highs

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return 0, [beta >= 0, cp.sum(beta) == float(self.radius)]


@dataclass(frozen=True)
class Simplex(OnSimplex):
    """The set {β ≥ 0, Σ_k β_k = radius}, which does not hold 0.

    Examples
    --------
    >>> Simplex(2.0).argmin(np.array([0.5, -1.0]))
    SparseAtom(indices=(1,), values=(2.0,))
    """

    radius: Any = 1.0
    formula = "indicator of β ≥ 0, Σβ = {radius}"
    spec, numpy_pass = "simplex[:RADIUS]", "abs(c).argmax()"

    def argmin(self, c: Array) -> SparseAtom:
        return SparseAtom((first_largest(-c),), (self.radius,))

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        return [SparseAtom((int(k),), (self.radius,)) for k in largest_first(-c, count)]

    def decompose(self, beta: Array) -> list[tuple[Any, Atom]]:
        places = np.flatnonzero(beta > 0)
        return [(beta[k] / self.radius, SparseAtom((int(k),), (self.radius,))) for k in places]

    def vertex_rule(self) -> VertexRule:
        return VertexRule(self.radius, positive=True)

    def minimum(self, c: Array) -> Any:
        return self.radius * c.min()

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_k β_k (c_k − min c)."""
        return (np.maximum(beta, 0) * (c - c.min())).sum()


@dataclass(frozen=True)
class CappedSimplex(LinearMinOracle):
    """The set {0 ≤ β ≤ cap, Σ_k β_k = total}, which does not hold 0.

    Its vertices have ⌊total/cap⌋ entries ``cap`` and one entry with the rest.

    Examples
    --------
    >>> CappedSimplex(2.5, 1.0).argmin(np.array([0.0, 3.0, -1.0, 2.0]))
    SparseAtom(indices=(0, 2, 3), values=(1.0, 1.0, 0.5))
    """

    total: Any
    cap: Any
    positive_fields = "total", "cap"
    formula = "indicator of 0 ≤ β ≤ {cap}, Σβ = {total}"
    spec, bound_words = "capped-simplex:TOTAL:CAP", "at a vertex"
    numpy_pass = "np.argpartition(c, {k})"

    @classmethod
    def example(cls, draw: Any) -> Self:
        cap = draw.magnitude()
        return cls(cap * draw.p * draw.whole(5, 100) / 100, cap)

    def check_rows(self, rows: Rows) -> None:
        super().check_rows(rows)
        most = rows.p * self.cap
        # In floats p·(1/p) may round below 1.
        if self.total > most * (1 if rows.exact else 1 + FEASIBILITY):
            raise ValueError(
                f"total of CappedSimplex is {self.total}, more than p·cap = {rows.p}·{self.cap}, "
                "so the set is empty; expected at most that: lower total or raise cap"
            )

    def write_entries(self, c: Any, indices: Any, values: Any) -> int:
        full, rest = self._split(len(c))
        found = write_largest(c, False, full + int(rest > 0), indices, values)
        last, dearest = 0, c[indices[0]]
        for e in range(found):
            values[e] = self.cap
            last = e if c[indices[e]] >= dearest else last
            dearest = max(dearest, c[indices[e]])
        if rest > 0:
            values[last] = rest
        return found

    def argmin(self, c: Array) -> Atom:
        """The same by NumPy, whose selection is faster."""
        full, rest = self._split(len(c))
        places = largest(-c, full + (rest > 0))
        values = np.full(len(places), self.cap, dtype=np.result_type(c, float))
        if rest > 0:
            chosen = c[places]
            values[np.flatnonzero(chosen == chosen.max())[-1]] = rest
        return atom_on(places, values, len(c))

    def minimum(self, c: Array) -> Any:
        full, rest = self._split(len(c))
        ordered = np.partition(c, min(full, len(c) - 1))
        # A slice, which is empty where every entry is full.
        return self.cap * ordered[:full].sum() + rest * ordered[full : full + 1].sum()

    def violation(self, beta: Array) -> Any:
        outside = max(-beta.min(), beta.max() - self.cap, 0) / min(self.cap, self.total)
        return max(outside, abs(beta.sum() - self.total) / self.total)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_k (c_k − τ)₊ β_k + (τ − c_k)₊ (cap − β_k), τ the cost of the last entry filled."""
        full, rest = self._split(len(c))
        last = full if rest > 0 else full - 1
        margin = c - np.partition(c, last)[last]
        above = np.maximum(margin, 0) * np.maximum(beta, 0)
        below = np.maximum(-margin, 0) * np.maximum(self.cap - beta, 0)
        return above.sum() + below.sum()

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        full, rest = self._split(rows.p)
        vertex = np.zeros(rows.p, dtype=rows.number_type)
        vertex[:full], vertex[full : full + 1] = self.cap, rest
        lows = rows.reduce(lambda entries, _: _smallest_products(entries, vertex))
        return lows, rows.reduce(lambda entries, _: -_smallest_products(-entries, vertex))

    def _split(self, p: int) -> tuple[int, Any]:
        """How many entries are full, and what the next one gets."""
        full, rest = divmod(self.total, self.cap)
        return (int(full), rest) if full < p else (p, 0 * rest)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return 0, [beta >= 0, beta <= float(self.cap), cp.sum(beta) == float(self.total)]


def _smallest_products(entries: Array, vertex: Array) -> Array:
    """The smallest xᵀβ over the orders of ``vertex``, which decreases, for every row x.

    Zeros that a row leaves out stand between its negative and its positive entries.
    """
    ordered = np.sort(entries, axis=1)
    width = ordered.shape[1]
    below, above = np.minimum(ordered, 0), np.maximum(ordered, 0)
    return below @ vertex[:width] + above @ vertex[len(vertex) - width :]


@dataclass(frozen=True)
class EntropySimplex(OnSimplex):
    """R(β) = strength·Σ_k β_k ln(β_k/radius) on {β ≥ 0, Σ_k β_k = radius}, 0 ln 0 = 0.

    μ = 2·strength/radius: along v with Σv = 0, Σ_k v_k²/β_k ≥ ‖v‖₁²/radius ≥ 2‖v‖₂²/radius, the
    latter because the positive and the negative entries of v each add up to ‖v‖₁/2.

    Examples
    --------
    >>> EntropySimplex(0.5).argmin(np.array([0.0, 0.5 * np.log(3.0)])).vector
    array([0.75, 0.25])
    """

    strength: Any
    radius: Any = 1.0
    indicator = False
    refuses_exact = IRRATIONAL
    formula = "{strength}·Σβ ln(β/{radius}) on β ≥ 0, Σβ = {radius}"
    spec, mu_words = "entropy:STRENGTH[:RADIUS]", "2·strength/radius"
    numpy_pass = "np.exp(c)"

    def __post_init__(self) -> None:
        positive("strength", self.strength, "EntropySimplex", bounded=False)
        super().__post_init__()

    @property
    def mu(self) -> Any:
        return 2 * self.strength / self.radius

    def write_atom(self, c: Any, out: Any) -> None:
        least, total = c[0], 0.0
        for k in range(len(c)):
            least = min(least, c[k])
        for k in range(len(c)):
            out[k] = math.exp((least - c[k]) / self.strength)
            total += out[k]
        for k in range(len(c)):
            out[k] *= self.radius / total

    def argmin(self, c: Array) -> DenseAtom:
        """The same by NumPy, whose exponentials are faster than one after the other."""
        odds = self._odds(c)
        odds *= self.radius / odds.sum()
        return DenseAtom(odds)

    def minimum(self, c: Array) -> Any:
        return self.radius * (c.min() - self.strength * np.log(self._odds(c).sum()))

    def _odds(self, c: Array) -> Array:
        """exp(−c/strength), relative to its largest entry."""
        odds = c.min() - c
        odds /= self.strength
        return np.exp(odds, out=odds)

    def penalty(self, beta: Array) -> Any:
        shares = beta / self.radius
        some = shares > 0  # which the quotient of the smallest doubles is not
        return self.strength * (beta[some] @ np.log(shares[some]))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """strength·Σ_k [β_k ln(β_k/a_k) − β_k + a_k], the divergence of β from the softmax a."""
        logits = (c.min() - c) / self.strength
        logits -= np.log(np.exp(logits).sum())
        atom, beta = self.radius * np.exp(logits), np.maximum(beta, 0)
        gap = beta - atom
        near = abs(gap) < atom / 2
        ratio = np.divide(gap, atom, out=np.zeros(len(gap)), where=near)
        # Far from a, which may vanish, ln(β/a) comes from the logits.
        apart = np.log(np.where(beta > 0, beta / self.radius, 1.0)) - logits
        terms = beta * np.where(near, np.log1p(ratio), apart) - gap
        return self.strength * np.maximum(terms, 0).sum()

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        radius = float(self.radius)
        entropy = cp.sum(cp.entr(beta / radius))
        return -float(self.strength) * radius * entropy, super().cvxpy_form(beta)[1]

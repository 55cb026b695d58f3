"""Products: independent regularizers on blocks of variables."""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any, Self

import numpy as np

from rcmd.oracles.base import (
    Array,
    Block,
    CoordinateRule,
    LinearMinOracle,
    blocks_of,
    coordinate_rule_of,
)
from rcmd.rows import Rows
from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.layouts import InnerRows, cut
from rcmd.rows.validation import in_number_type, positive_counts


@dataclass(frozen=True, eq=False)
class Product(LinearMinOracle):
    """R(β) = Σ_k R_k(β_k) for blocks β_k of ``sizes[k]`` variables, one after the other.

    A radius left open by a part R_k is chosen so that it cuts off no optimum of the whole:
    with a minimizer a_i of each other R_i, the optimum has
    −∇_k f(β)ᵀβ_k ≤ −Σ_j l_j'(s_j)(s_j − x_jᵀa)/n, which ``largest_descent`` bounds. The
    slope at zero is no bound here, since the other blocks move it.

    Examples
    --------
    >>> from rcmd.oracles.l1 import L1Ball
    >>> from rcmd.oracles.simplex import Simplex
    >>> Product((L1Ball(2.0), Simplex()), (2, 3)).argmin(np.array([1.0, -3.0, 5.0, 4.0, 6.0]))
    SparseAtom(indices=(1, 3), values=(2.0, 1.0))
    """

    oracles: tuple[LinearMinOracle, ...]
    sizes: tuple[int, ...]
    short_formula = "Σ_k R_k(β_k), in blocks"
    spec, section, sized_by = "product:ORACLES", "decorators", "sizes"
    bound_words, mu_words, cost = "Σ_k M_k", "min_k μ_k", "sum of all"

    @classmethod
    def example(cls, draw: Any) -> Self:
        first = draw.whole(1, draw.p)
        sizes = (first, draw.p - first) if first < draw.p else (draw.p,)
        return cls(tuple(draw.inner(size) for size in sizes), sizes)

    def __post_init__(self) -> None:
        oracles = tuple(self.oracles)
        wrong = [oracle for oracle in oracles if not isinstance(oracle, LinearMinOracle)]
        if wrong or not oracles:
            raise TypeError(
                f"oracles of Product is {self.oracles!r}; expected a sequence of "
                "LinearMinOracles, such as (L1Ball(5.0), Box(-1.0, 1.0))"
            )
        each = "the variables of each oracle"
        sizes = positive_counts("sizes", self.sizes, "Product", each, len(oracles))
        object.__setattr__(self, "oracles", oracles)
        object.__setattr__(self, "sizes", sizes)

    @property
    def indicator(self) -> bool:  # type: ignore[override]
        return all(oracle.indicator for oracle in self.oracles)

    @property
    def exact_atoms(self) -> bool:  # type: ignore[override]
        return all(oracle.exact_atoms for oracle in self.oracles)

    @property
    def ends(self) -> list[tuple[int, int]]:
        """First variable of each block, and the one after its last."""
        return list(pairwise(accumulate(self.sizes, initial=0)))

    def parts(self, vector: Any) -> list[Any]:
        """The blocks of a vector."""
        return [vector[start:stop] for start, stop in self.ends]

    def declared_size(self) -> int:
        return sum(self.sizes)

    def bind(self, rows: Rows, losses: Any, offset: Array | None = None) -> Self:
        self.check_rows(rows)
        oracles = [in_number_type(oracle, rows.exact) for oracle in self.oracles]
        blocks = [InnerRows(cut(rows, *ends), alone=False) for ends in self.ends]
        zero = np.zeros(rows.p, dtype=rows.number_type) + 0 * losses.y[0]
        anchors = [
            _minimizer(oracle.bind(block, losses, offset), part)
            for oracle, block, part in zip(oracles, blocks, self.parts(zero), strict=True)
        ]
        bound = []
        for k, (oracle, block) in enumerate(zip(oracles, blocks, strict=True)):
            moved = offset
            for i, anchor in enumerate(anchors):
                if i != k and anchor.any():
                    shift = blocks[i].matvec(anchor)
                    moved = shift if moved is None else moved + shift
            bound.append(oracle.bind(block, losses, moved))
        return replace(self, oracles=tuple(bound))

    def reset(self) -> None:
        self.each("reset")

    def state(self) -> Any:
        return self.each("state")

    def load_state(self, state: Any) -> None:
        for oracle, part in zip(self.oracles, state, strict=True):
            oracle.load_state(part)

    @property
    def mu(self) -> Any:
        return min(oracle.mu for oracle in self.oracles)

    def blocks(self, p: int) -> list[Block]:
        parts = zip(self.oracles, self.ends, strict=True)
        return [
            block._replace(start=first + block.start, stop=first + block.stop)
            for oracle, (first, last) in parts
            for block in blocks_of(oracle, last - first)
        ]

    def coordinate_rule(self, p: int) -> CoordinateRule | None:
        parts = zip(self.oracles, self.sizes, strict=True)
        tables = []
        for oracle, size in parts:
            if (rule := coordinate_rule_of(oracle, size)) is None:
                return None
            tables.append(rule.table(size))
        return CoordinateRule(*np.concatenate(tables).T)

    def each(self, method: str, *vectors: Any) -> list[Any]:
        """What every part answers for its blocks."""
        blocks = zip(self.oracles, *map(self.parts, vectors), strict=True)
        return [getattr(oracle, method)(*parts) for oracle, *parts in blocks]

    def argmin(self, c: Array) -> Atom:
        atoms = self.each("argmin", c)
        if not all(isinstance(atom, SparseAtom) for atom in atoms):
            dense = [atom.dense(part) for atom, part in zip(atoms, self.parts(c), strict=True)]
            return DenseAtom(np.concatenate(dense))
        placed = zip(self.ends, atoms, strict=True)
        indices = tuple(start + k for (start, _), atom in placed for k in atom.indices)
        return SparseAtom(indices, tuple(value for atom in atoms for value in atom.values))

    def minimum(self, c: Array) -> Any:
        return sum(self.each("minimum", c))

    def violation(self, beta: Array) -> Any:
        # Joined by np.max, in which NaN counts as outside.
        return np.max(self.each("violation", beta))

    def penalty(self, beta: Array) -> Any:
        return sum(self.each("penalty", beta))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        return sum(self.each("fenchel_young", beta, c))

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """The sums of the blocks' own ranges."""
        low = high = np.zeros(rows.n, dtype=rows.number_type)
        for oracle, ends in zip(self.oracles, self.ends, strict=True):
            part_low, part_high = oracle.prediction_range(cut(rows, *ends))
            low, high = low + part_low, high + part_high
        return low, high

    def describe(self) -> str:
        parts = zip(self.oracles, self.ends, strict=True)
        return " + ".join(f"[{o.describe()}](β[{start}:{stop}])" for o, (start, stop) in parts)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        forms = self.each("cvxpy_form", beta)
        inside = [constraint for _, constraints in forms for constraint in constraints]
        return sum(penalty for penalty, _ in forms), inside


def _minimizer(oracle: LinearMinOracle, zero: Array) -> Array:
    """A minimizer of R: zero if it is one."""
    if oracle.value(zero) <= oracle.minimum(zero):
        return zero
    return oracle.argmin(zero).dense(zero)

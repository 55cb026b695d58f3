"""Products: independent regularizers on blocks of variables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom, DenseAtom, SparseAtom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.counts import positive_counts
from rcmd.validation import in_number_type

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


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

    def __post_init__(self) -> None:
        oracles = tuple(self.oracles)
        wrong = [oracle for oracle in oracles if not isinstance(oracle, LinearMinOracle)]
        if wrong or not oracles:
            raise TypeError(
                f"oracles of Product is {self.oracles!r}; expected a sequence of "
                "LinearMinOracles, such as (L1Ball(5.0), Box(-1.0, 1.0))"
            )
        sizes = positive_counts(self.sizes)
        if sizes is None or len(sizes) != len(oracles):
            raise ValueError(
                f"sizes of Product is {self.sizes!r}; expected {len(oracles)} positive whole "
                "numbers, the variables of each oracle"
            )
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

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Product:
        from rcmd.rows.columns import cut
        from rcmd.rows.inner import InnerRows

        if sum(self.sizes) != rows.p:
            raise ValueError(
                f"sizes of Product is {self.sizes}, {sum(self.sizes)} variables together; "
                f"expected p = {rows.p} of them"
            )
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

    def restart(self) -> None:
        for oracle in self.oracles:
            oracle.restart()

    def remembered(self) -> Any:
        return [oracle.remembered() for oracle in self.oracles]

    def remember(self, memory: Any) -> None:
        for oracle, part in zip(self.oracles, memory, strict=True):
            oracle.remember(part)

    @property
    def mu(self) -> Any:
        return min(oracle.mu for oracle in self.oracles)

    def argmin(self, c: Array) -> Atom:
        parts = self.parts(c)
        atoms = [oracle.argmin(part) for oracle, part in zip(self.oracles, parts, strict=True)]
        sparse = [atom for atom in atoms if isinstance(atom, SparseAtom)]
        if len(sparse) < len(atoms):
            dense = [atom.dense(part) for atom, part in zip(atoms, parts, strict=True)]
            return DenseAtom(np.concatenate(dense))
        placed = zip(self.ends, sparse, strict=True)
        indices = tuple(start + k for (start, _), atom in placed for k in atom.indices)
        return SparseAtom(indices, tuple(value for atom in sparse for value in atom.values))

    def minimum(self, c: Array) -> Any:
        return sum(o.minimum(part) for o, part in zip(self.oracles, self.parts(c), strict=True))

    def violation(self, beta: Array) -> Any:
        parts = zip(self.oracles, self.parts(beta), strict=True)
        # Joined by np.max, in which NaN counts as outside.
        return np.max([oracle.violation(part) for oracle, part in parts])

    def penalty(self, beta: Array) -> Any:
        return sum(o.penalty(part) for o, part in zip(self.oracles, self.parts(beta), strict=True))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        parts = zip(self.oracles, self.parts(beta), self.parts(c), strict=True)
        return sum(oracle.fenchel_young(block, slope) for oracle, block, slope in parts)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        """The sums of the blocks' own ranges."""
        from rcmd.rows.columns import cut

        low = high = np.zeros(rows.n, dtype=rows.number_type)
        for oracle, ends in zip(self.oracles, self.ends, strict=True):
            part_low, part_high = oracle.prediction_range(cut(rows, *ends))
            low, high = low + part_low, high + part_high
        return low, high

    def describe(self) -> str:
        parts = zip(self.oracles, self.ends, strict=True)
        return " + ".join(f"[{o.describe()}](β[{start}:{stop}])" for o, (start, stop) in parts)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        forms = [o.cvxpy_form(b) for o, b in zip(self.oracles, self.parts(beta), strict=True)]
        inside = [constraint for _, constraints in forms for constraint in constraints]
        return sum(penalty for penalty, _ in forms), inside


def _minimizer(oracle: LinearMinOracle, zero: Array) -> Array:
    """A minimizer of R: zero if it is one."""
    if oracle.value(zero) <= oracle.minimum(zero):
        return zero
    return oracle.argmin(zero).dense(zero)

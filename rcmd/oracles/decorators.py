"""Oracles made of another: counted, scaled, translated, called lazily."""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from rcmd.oracles.base import Array, Block, LinearMinOracle, Vector, blocks_of
from rcmd.rows import Rows, as_rows
from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.layouts import InnerRows
from rcmd.rows.validation import check_kind, positive, positive_counts, sp


class Decorated(LinearMinOracle):
    """An oracle around another one, to which it passes everything on.

    Subclasses are frozen dataclasses whose first field is ``oracle``. Where R is evaluated at
    another point than β, ``inner``, ``inner_costs`` and ``outer`` say at which.
    """

    oracle: LinearMinOracle
    section = "decorators"
    bound_words = mu_words = cost = "as R"

    def __post_init__(self) -> None:
        expected = "a LinearMinOracle, such as L1Ball(5.0)"
        check_kind(f"oracle of {type(self).__name__}", self.oracle, LinearMinOracle, expected)
        super().__post_init__()

    @property
    def indicator(self) -> bool:  # type: ignore[override]
        return self.oracle.indicator

    @property
    def exact_atoms(self) -> bool:  # type: ignore[override]
        return self.oracle.exact_atoms

    @property
    def mu(self) -> Any:
        return self.oracle.mu

    def bind(self, rows: Rows, losses: Any, offset: Array | None = None) -> Self:
        inner = self.oracle.bind(rows, losses, offset)
        return self if inner is self.oracle else replace(self, oracle=inner)  # type: ignore[type-var]

    def state(self) -> Any:
        return self.oracle.state()

    def load_state(self, state: Any) -> None:
        if state is None:
            self.oracle.reset()
        else:
            self.oracle.load_state(state)

    def inner(self, beta: Any) -> Any:
        """The point at which R is evaluated for β; another one where the domain moves."""
        return beta

    def inner_costs(self, c: Array) -> Array:
        """The costs of that point: cᵀβ up to a constant."""
        return c

    def outer(self, atom: Atom, like: Array) -> Atom:
        """The β that belongs to an atom of R; ``like`` is a vector of its length."""
        return atom

    def argmin(self, c: Array) -> Atom:
        return self.outer(self.oracle.argmin(self.inner_costs(c)), c)

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        return [self.outer(a, c) for a in self.oracle.best_atoms(self.inner_costs(c), count)]

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        parts = self.oracle.decompose(self.inner(beta))
        return [(weight, self.outer(atom, beta)) for weight, atom in parts]

    def minimum(self, c: Array) -> Any:
        return self.oracle.minimum(self.inner_costs(c))

    def violation(self, beta: Array) -> Any:
        return self.oracle.violation(self.inner(beta))

    def penalty(self, beta: Array) -> Any:
        return self.oracle.penalty(self.inner(beta))

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        return self.oracle.fenchel_young(self.inner(beta), self.inner_costs(c))

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        return self.oracle.prediction_range(rows)

    def describe(self) -> str:
        return self.oracle.describe()

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return self.oracle.cvxpy_form(beta)


@dataclass(frozen=True, eq=False)
class Counting(Decorated):
    """``oracle``, with ``calls["argmin"]``, ``calls["minimum"]`` and ``calls["fenchel_young"]``.

    A run sets the counts to zero and adds its own; it calls the oracle from Python for that.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem, solve
    >>> counted = Counting(L1Ball(1.0))
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), counted)
    >>> solve(problem, tol=0.0, max_iterations=7).nit, counted.calls["argmin"]
    (7, 7)
    """

    oracle: LinearMinOracle
    calls: Counter[str] = field(default_factory=Counter)
    caches = ("calls",)
    counted: ClassVar[tuple[str, ...]] = ("argmin", "minimum", "fenchel_young")
    spec, short_formula = "counting:ORACLE", "R, counting the calls"

    @property
    def takes_matrices(self) -> bool:  # type: ignore[override]
        return self.oracle.takes_matrices

    def state(self) -> Any:
        return [dict(self.calls), super().state()]

    def load_state(self, state: Any) -> None:
        calls, inner = state or ({}, None)
        self.calls.clear()
        self.calls.update(calls)
        super().load_state(inner)

    def argmin(self, c: Array) -> Atom:
        self.calls["argmin"] += 1
        return super().argmin(c)

    def minimum(self, c: Array) -> Any:
        self.calls["minimum"] += 1
        return super().minimum(c)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        self.calls["fenchel_young"] += 1
        return super().fenchel_young(beta, c)


@dataclass(frozen=True)
class Scaled(Decorated):
    """R(β/factor): the set or regularizer of ``oracle`` made ``factor`` times as large.

    Examples
    --------
    >>> import numpy as np
    >>> from rcmd.oracles.simplex import Simplex
    >>> Scaled(Simplex(1.0), 3.0).argmin(np.array([2.0, -1.0]))
    SparseAtom(indices=(1,), values=(3.0,))
    """

    oracle: LinearMinOracle
    factor: Any
    positive_fields = ("factor",)
    spec, short_formula = "scaled:FACTOR:ORACLE", "R(β/factor)"
    bound_words, mu_words = "factor·M_R", "μ_R/factor²"

    @property
    def mu(self) -> Any:
        return self.oracle.mu / (self.factor * self.factor)

    def bind(self, rows: Rows, losses: Any, offset: Array | None = None) -> Self:
        inner = self.oracle.bind(InnerRows(rows, self.factor), losses, offset)
        return replace(self, oracle=inner)

    def inner(self, beta: Any) -> Any:
        return beta / self.factor

    def outer(self, atom: Atom, like: Array) -> Atom:
        if isinstance(atom, SparseAtom):
            return SparseAtom(atom.indices, tuple(self.factor * v for v in atom.values))
        return DenseAtom(self.factor * atom.dense(like))

    def inner_costs(self, c: Array) -> Array:
        return self.factor * c

    def blocks(self, p: int) -> list[Block]:
        return [
            block._replace(factor=self.factor * block.factor, shift=self.factor * block.shift)
            for block in blocks_of(self.oracle, p)
        ]

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        low, high = self.oracle.prediction_range(rows)
        return self.factor * low, self.factor * high

    def describe(self) -> str:
        return f"R(β/{self.factor}) with R = {self.oracle.describe()}"

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return self.oracle.cvxpy_form(beta / float(self.factor))


@dataclass(frozen=True, eq=False)
class Translated(Decorated):
    """R(β − shift): the set or regularizer of ``oracle`` moved by ``shift``.

    Examples
    --------
    >>> from rcmd.oracles.l1 import L1Ball
    >>> moved = Translated(L1Ball(1.0), np.array([3.0, 0.0]))
    >>> float(moved.minimum(np.array([1.0, -2.0])))
    1.0
    """

    oracle: LinearMinOracle
    shift: Vector
    spec, short_formula = "translated:SHIFT:ORACLE", "R(β − shift)"
    bound_words = "M_R, shifted by xᵀshift"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.own_array("shift")

    def bind(self, rows: Rows, losses: Any, offset: Array | None = None) -> Self:
        if self.shift.shape != (rows.p,):
            raise ValueError(
                f"shift of Translated has shape {self.shift.shape}; expected a vector of length "
                f"p = {rows.p}"
            )
        moved = rows.matvec(self.shift)
        total = moved if offset is None else moved + offset
        return replace(self, oracle=self.oracle.bind(rows, losses, total))

    def inner(self, beta: Any) -> Any:
        return beta - self.shift

    def outer(self, atom: Atom, like: Array) -> Atom:
        return DenseAtom(self.shift + atom.dense(like))

    def blocks(self, p: int) -> list[Block]:
        return [
            block._replace(shift=self.shift[block.start : block.stop] + block.shift)
            for block in blocks_of(self.oracle, p)
        ]

    def minimum(self, c: Array) -> Any:
        return super().minimum(c) + c @ self.shift

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        moved = rows.matvec(self.shift)
        low, high = self.oracle.prediction_range(rows)
        return low + moved, high + moved

    def describe(self) -> str:
        return f"R(β − shift) with R = {self.oracle.describe()}"

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return self.oracle.cvxpy_form(beta - np.asarray(self.shift, dtype=float))


@dataclass(frozen=True, eq=False)
class Caching(Decorated):
    """``oracle``, called only where none of its last ``size`` atoms is within ``tolerance``.

    The idea is the weak separation of Braun, Pokutta & Zink. After a call at c₀, every c has
    min_β cᵀβ + R(β) ≥ m(c₀) + Σ_j min over dom R of (c − c₀)_j β_j; a stored atom with a value
    at most ``tolerance`` above that is returned.

    So every atom is a ``tolerance``-minimizer. An atom of that quality is a
    ``tolerance``-subgradient of D, and the theorems' bounds on the expected gap hold with
    ``tolerance`` added. Certificates lose nothing: ``minimum`` and ``fenchel_young`` are the
    oracle's own. Which atom is returned depends on those stored; a run begins with none.

    Examples
    --------
    >>> from rcmd.oracles.l1 import L1Ball
    >>> counted = Counting(L1Ball(1.0))
    >>> lazy = Caching(counted, tolerance=0.1)
    >>> for c in ([1.0, 0.0], [0.98, 0.03], [0.98, -0.03], [-1.0, 0.0]):
    ...     print(lazy.argmin(np.array(c)).values, counted.calls["argmin"])
    (-1.0,) 1
    (-1.0,) 1
    (-1.0,) 1
    (1.0,) 2
    """

    oracle: LinearMinOracle
    tolerance: Any
    size: int = 32
    spec, short_formula = "caching:TOLERANCE:ORACLE", "R, by atoms of earlier calls"
    cost, exact_atoms = "O(p) or as R", False

    @classmethod
    def example(cls, draw: Any) -> Self:
        return cls(draw.inner(draw.p), draw.magnitude() / 100)

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("tolerance", self.tolerance, "Caching", bounded=False)
        (size,) = positive_counts("size", self.size, "Caching", "the atoms to keep")
        object.__setattr__(self, "size", size)

    @cached_property
    def memory(self) -> list[Any]:
        """The last atoms, their vectors and R there; the last c and its minimum; dom R's ends."""
        return []

    def state(self) -> Any:
        return [list(self.memory), super().state()]

    def load_state(self, state: Any) -> None:
        self.memory[:], inner = state or ([], None)
        super().load_state(inner)

    def argmin(self, c: Array) -> Atom:
        if self.memory:
            stored, last_c, minimum, (low, high) = self.memory
            values = [c @ vector + penalty for _, vector, penalty in stored]
            best, change = int(np.argmin(values)), c - last_c
            bound = minimum + np.minimum(change * low, change * high).sum()
            if values[best] - bound <= self.tolerance:
                return stored[best][0]
        else:
            unit = np.diag(0 * c + 1) if c.dtype == object else sp.eye_array(len(c), format="csr")
            stored, (low, high) = [], self.oracle.prediction_range(as_rows(unit))
        atom = self.oracle.argmin(c)
        vector = atom.dense(c)
        stored = [*stored, (atom, vector, self.oracle.penalty(vector))][-self.size :]
        self.memory[:] = stored, c.copy(), self.oracle.minimum(c), (low, high)
        return atom

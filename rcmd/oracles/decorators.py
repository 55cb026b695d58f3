"""Oracles around one other oracle: counted, scaled, translated."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from rcmd.oracles.base import Array, LinearMinOracle, Vector, VertexRule
from rcmd.rows import Rows
from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.layouts import InnerRows
from rcmd.rows.validation import check_kind, checked_numbers

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses


class Decorated(LinearMinOracle):
    """An oracle around another one, to which it passes all questions on.

    Subclasses are frozen dataclasses whose first field is ``oracle``. Where R is asked at another
    point than β, ``inner``, ``inner_costs`` and ``outer`` say at which.
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

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Self:
        inner = self.oracle.bind(rows, losses, offset)
        return self if inner is self.oracle else replace(self, oracle=inner)  # type: ignore[type-var]

    def reset(self) -> None:
        self.oracle.reset()

    def state(self) -> Any:
        return self.oracle.state()

    def load_state(self, state: Any) -> None:
        self.oracle.load_state(state)

    def inner(self, beta: Any) -> Any:
        """The point at which R is asked for β; others than β itself where the domain moves."""
        return beta

    def inner_costs(self, c: Array) -> Array:
        """The costs of that point: cᵀβ up to a constant."""
        return c

    def outer(self, atom: Atom, like: Array) -> Atom:
        """The β of an atom of R; ``like`` is a vector of its length."""
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
    counted: ClassVar[tuple[str, ...]] = ("argmin", "minimum", "fenchel_young")
    spec, short_formula = "counting:ORACLE", "R, counting the calls"

    @property
    def takes_matrices(self) -> bool:  # type: ignore[override]
        return self.oracle.takes_matrices

    def reset(self) -> None:
        self.calls.clear()
        super().reset()

    def state(self) -> Any:
        return [dict(self.calls), super().state()]

    def load_state(self, state: Any) -> None:
        calls, inner = state
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

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Scaled:
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

    def vertex_rule(self) -> VertexRule | None:
        rule = self.oracle.vertex_rule()
        if rule is None:
            return None
        size, threshold = self.factor * rule.size, rule.threshold / self.factor
        return rule._replace(size=size, threshold=threshold)

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
        shift = checked_numbers("shift of Translated", np.array(self.shift))
        object.__setattr__(self, "shift", shift)

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Translated:
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

"""Scaling: R(β/factor) for any oracle R."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rcmd.oracles.atoms import Atom, DenseAtom, SparseAtom
from rcmd.oracles.base import Array, LinearMinOracle, VertexRule
from rcmd.oracles.decorated import Decorated
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


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

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("factor", self.factor, "Scaled")

    @property
    def mu(self) -> Any:
        return self.oracle.mu / (self.factor * self.factor)

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Scaled:
        from rcmd.rows.inner import InnerRows

        inner = self.oracle.bind(InnerRows(rows, self.factor), losses, offset)
        return replace(self, oracle=inner)

    def argmin(self, c: Array) -> Atom:
        return self._scaled(self.oracle.argmin(self.factor * c), c)

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        return [self._scaled(a, c) for a in self.oracle.best_atoms(self.factor * c, count)]

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        parts = self.oracle.decompose(beta / self.factor)
        return [(weight, self._scaled(atom, beta)) for weight, atom in parts]

    def _scaled(self, atom: Atom, like: Array) -> Atom:
        if isinstance(atom, SparseAtom):
            return SparseAtom(atom.indices, tuple(self.factor * v for v in atom.values))
        return DenseAtom(self.factor * atom.dense(like))

    def vertex_rule(self) -> VertexRule | None:
        rule = self.oracle.vertex_rule()
        if rule is None:
            return None
        size, threshold = self.factor * rule.size, rule.threshold / self.factor
        return rule._replace(size=size, threshold=threshold)

    def minimum(self, c: Array) -> Any:
        return self.oracle.minimum(self.factor * c)

    def violation(self, beta: Array) -> Any:
        return self.oracle.violation(beta / self.factor)

    def penalty(self, beta: Array) -> Any:
        return self.oracle.penalty(beta / self.factor)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        return self.oracle.fenchel_young(beta / self.factor, self.factor * c)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        low, high = self.oracle.prediction_range(rows)
        return self.factor * low, self.factor * high

    def describe(self) -> str:
        return f"R(β/{self.factor}) with R = {self.oracle.describe()}"

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return self.oracle.cvxpy_form(beta / float(self.factor))

"""Translation: R(β − shift) for any oracle R."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rcmd.oracles.atoms import Atom, DenseAtom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.validation import checked_numbers

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


@dataclass(frozen=True, eq=False)
class Translated(LinearMinOracle):
    """R(β − shift): the set or regularizer of ``oracle`` moved by ``shift``.

    Examples
    --------
    >>> from rcmd.oracles.l1 import L1Ball
    >>> moved = Translated(L1Ball(1.0), np.array([3.0, 0.0]))
    >>> float(moved.minimum(np.array([1.0, -2.0])))
    1.0
    """

    oracle: LinearMinOracle
    shift: Any

    def __post_init__(self) -> None:
        if not isinstance(self.oracle, LinearMinOracle):
            raise TypeError(
                f"oracle of Translated is {self.oracle!r}; expected a LinearMinOracle, such as "
                "L1Ball(5.0)"
            )
        shift = checked_numbers("shift of Translated", np.array(self.shift))
        object.__setattr__(self, "shift", shift)

    @property
    def indicator(self) -> bool:  # type: ignore[override]
        return self.oracle.indicator

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Translated:
        if self.shift.shape != (rows.p,):
            raise ValueError(
                f"shift of Translated has shape {self.shift.shape}; expected a vector of length "
                f"p = {rows.p}"
            )
        moved = rows.matvec(self.shift)
        total = moved if offset is None else moved + offset
        return replace(self, oracle=self.oracle.bind(rows, losses, total))

    @property
    def mu(self) -> Any:
        return self.oracle.mu

    def argmin(self, c: Array) -> Atom:
        return DenseAtom(self.shift + self.oracle.argmin(c).dense(c))

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        return [DenseAtom(self.shift + a.dense(c)) for a in self.oracle.best_atoms(c, count)]

    def decompose(self, beta: Array) -> list[tuple[Any, Atom]]:
        parts = self.oracle.decompose(beta - self.shift)
        return [(weight, DenseAtom(self.shift + atom.dense(beta))) for weight, atom in parts]

    def restart(self) -> None:
        self.oracle.restart()

    def remembered(self) -> Any:
        return self.oracle.remembered()

    def remember(self, memory: Any) -> None:
        self.oracle.remember(memory)

    @property
    def exact_atoms(self) -> bool:  # type: ignore[override]
        return self.oracle.exact_atoms

    def minimum(self, c: Array) -> Any:
        return self.oracle.minimum(c) + c @ self.shift

    def violation(self, beta: Array) -> Any:
        return self.oracle.violation(beta - self.shift)

    def penalty(self, beta: Array) -> Any:
        return self.oracle.penalty(beta - self.shift)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        return self.oracle.fenchel_young(beta - self.shift, c)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        moved = rows.matvec(self.shift)
        low, high = self.oracle.prediction_range(rows)
        return low + moved, high + moved

    def describe(self) -> str:
        return f"R(β − shift) with R = {self.oracle.describe()}"

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return self.oracle.cvxpy_form(beta - np.asarray(self.shift, dtype=float))

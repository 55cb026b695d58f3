"""An oracle around another one, which answers for it until a method is overridden."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.validation import refuse_class

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows


class Decorated(LinearMinOracle):
    """What every oracle around one other oracle shares: it passes all questions on.

    Subclasses are frozen dataclasses whose first field is ``oracle``.
    """

    oracle: LinearMinOracle

    def __post_init__(self) -> None:
        if not isinstance(self.oracle, LinearMinOracle):
            refuse_class(f"oracle of {type(self).__name__}", self.oracle)
            raise TypeError(
                f"oracle of {type(self).__name__} is {self.oracle!r}; expected a "
                "LinearMinOracle, such as L1Ball(5.0)"
            )

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

    def restart(self) -> None:
        self.oracle.restart()

    def remembered(self) -> Any:
        return self.oracle.remembered()

    def remember(self, memory: Any) -> None:
        self.oracle.remember(memory)

    def argmin(self, c: Array) -> Atom:
        return self.oracle.argmin(c)

    def best_atoms(self, c: Array, count: int) -> list[Atom]:
        return self.oracle.best_atoms(c, count)

    def decompose(self, beta: Any) -> list[tuple[Any, Atom]]:
        return self.oracle.decompose(beta)

    def minimum(self, c: Array) -> Any:
        return self.oracle.minimum(c)

    def violation(self, beta: Array) -> Any:
        return self.oracle.violation(beta)

    def penalty(self, beta: Array) -> Any:
        return self.oracle.penalty(beta)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        return self.oracle.fenchel_young(beta, c)

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        return self.oracle.prediction_range(rows)

    def describe(self) -> str:
        return self.oracle.describe()

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        return self.oracle.cvxpy_form(beta)

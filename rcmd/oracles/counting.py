"""Counting the calls of an oracle."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.decorated import Decorated


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

    @property
    def takes_matrices(self) -> bool:  # type: ignore[override]
        return self.oracle.takes_matrices

    def restart(self) -> None:
        self.calls.clear()
        super().restart()

    def remembered(self) -> Any:
        return [dict(self.calls), super().remembered()]

    def remember(self, memory: Any) -> None:
        calls, inner = memory
        self.calls.clear()
        self.calls.update(calls)
        super().remember(inner)

    def argmin(self, c: Array) -> Atom:
        self.calls["argmin"] += 1
        return super().argmin(c)

    def minimum(self, c: Array) -> Any:
        self.calls["minimum"] += 1
        return super().minimum(c)

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        self.calls["fenchel_young"] += 1
        return super().fenchel_young(beta, c)

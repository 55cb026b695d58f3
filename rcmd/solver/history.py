"""The records of a run: when they are made and what they hold; and why a run ended."""

from __future__ import annotations

import enum
import math
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from numbers import Integral, Number, Real
from typing import Any

import numpy as np

from rcmd.engine.base import checked_atom
from rcmd.model.certificate import Certificate
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array


class StopReason(enum.Enum):
    """Why a run ended.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> solve(problem, tol=1e-3).stop is StopReason.TOLERANCE
    True
    >>> solve(problem, tol=0.0, max_iterations=5).stop.value
    'the iteration budget is used up'
    """

    TOLERANCE = "the certified gap reached the tolerance"
    ITERATIONS = "the iteration budget is used up"
    GRADIENTS = "the gradient budget is used up"
    SECONDS = "the time budget is used up"
    PRECISION = "the certified gap reached the limit of double precision"
    STALLED = "the method makes no more progress"
    CALLBACK = "the caller asked to stop"
    INTERRUPTED = "interrupted by Ctrl-C or a signal"


@dataclass(frozen=True, eq=False)
class Record:
    """One row of the history.

    Attributes
    ----------
    iteration
        Steps taken.
    gradients, oracle_calls
        Stochastic gradients (rows touched) and linear minimizations of the method itself;
        certificates are not counted.
    seconds
        Wall-clock time since the start, certificates included.
    primal, dual, gap
        The best certified pair so far.
    pair_gap
        P(β̄) − D(w̄) of the averages of this iteration that Theorem 3.1 is about, P(β̄) − D(w) with
        the last w for Theorem 3.2; NaN where no theorem applies: there it is P(β̄) − D(w̄) if a
        bound of your own does.
    bound
        The theorem's bound on the expectation of ``pair_gap``, but at least what rounding leaves
        open of P − D; NaN where none applies.
    phase
        ``"plain"`` for steps of the algorithm, ``"corrective"`` for rounds of corrections.
    own
        Columns of your own by name: the bounds that ``solve`` was given, and the numbers that
        callbacks returned.
    """

    iteration: int
    gradients: int
    oracle_calls: int
    seconds: float
    primal: Any
    dual: Any
    gap: Any
    pair_gap: Any
    bound: float
    phase: str
    own: Mapping[str, Any] = field(default_factory=dict, kw_only=True)


COLUMNS = tuple(part.name for part in fields(Record) if part.name != "own")


@dataclass(frozen=True, eq=False)
class State(Record):
    """What callbacks and ``rcmd.iterate`` see: a record and the iterates behind it.

    Attributes
    ----------
    certificate
        The best certified pair so far.
    s, w, d
        Copies of the mirror variable, dual variable and substitute gradient.
    beta_average, w_average
        β̄ and w̄ of this iteration.
    """

    certificate: Certificate
    s: Array
    w: Array
    d: Any
    beta_average: Any
    w_average: Array
    problem: Problem

    @cached_property
    def atom(self) -> Atom:
        """The oracle's answer at ``d``, towards which a step from here goes; asked when read."""
        oracle = self.problem.oracle
        remembered = oracle.state()
        try:
            return checked_atom(oracle, self.d)
        finally:
            oracle.load_state(remembered)

    def __repr__(self) -> str:
        return f"State({repr(self.record()).removeprefix('Record(')}"

    def record(self) -> Record:
        """The numbers alone."""
        return Record(*(getattr(self, name) for name in COLUMNS), own=self.own)


class History(tuple[Record, ...]):
    """The records of a run, by index or as columns.

    Examples
    --------
    >>> from rcmd import Box, LeastSquares, Problem, solve
    >>> problem = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))
    >>> history = solve(problem, tol=0.0, max_iterations=4, record_at=[1, 2, 4]).history
    >>> len(history), history[-1].iteration, history.column("iteration")
    (3, 4, array([1, 2, 4]))
    """

    def __repr__(self) -> str:
        return f"History({len(self)} records, the last {self[-1] if self else None})"

    @property
    def own(self) -> tuple[str, ...]:
        """The names of your own columns."""
        return tuple(dict.fromkeys(name for row in self for name in row.own))

    def column(self, name: str) -> Array:
        """One column, such as ``history.column("gap")``; NaN where a record lacks your own."""
        columns = self.columns()
        if name not in columns:
            names = ", ".join(columns)
            raise ValueError(f"history has no column {name!r}; expected one of {names}")
        return np.array(columns[name])

    def columns(self) -> dict[str, list[Any]]:
        """All columns, as lists."""
        found = {name: [getattr(row, name) for row in self] for name in COLUMNS}
        for name in self.own:
            found[name] = [row.own.get(name, math.nan) for row in self]
        return found

    @classmethod
    def of_columns(cls, columns: dict[str, list[Any]]) -> History:
        """The history that gave these ``columns``."""
        # Files from before there was such a column have none.
        columns = {"pair_gap": [math.nan] * len(columns["gap"])} | columns
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        return cls(_record_of(row) for row in rows)


def _record_of(row: dict[str, Any]) -> Record:
    """The record with these numbers, read from a file."""
    own = checked_columns({name: value for name, value in row.items() if name not in COLUMNS}, ())
    found: Record = of_kinds(Record, {name: row[name] for name in COLUMNS} | {"own": own})
    return found


def checked_columns(returned: Mapping[Any, Any], taken: Container[Any]) -> dict[str, Any]:
    """What a callback returned, as columns of a record; ``taken`` are other callbacks'."""
    found = {}
    for name, value in returned.items():
        if not (isinstance(name, str) and name and name not in COLUMNS and name not in taken):
            raise ValueError(
                f"a callback returned a column named {name!r}; expected a name that is not empty "
                f"and no other column's: {', '.join(COLUMNS)}, a bound's, another callback's"
            )
        if not isinstance(value, Real):
            raise TypeError(
                f"a callback returned {name} = {repr(value)[:60]}, of type {type(value).__name__}; "
                "expected a number, such as int(…) or float(…)"
            )
        found[name] = value.item() if isinstance(value, np.generic) else value
    return found


KINDS: dict[str, Any] = {
    "int": Integral, "float": float | int, "Any": Number, "str": str, "bool": bool,
}  # fmt: skip


def of_kinds(kind: type[Any], values: dict[str, Any]) -> Any:
    """The dataclass with these values, read from a file, if they are of the kinds it declares."""
    for part in (part for part in fields(kind) if part.name in values):
        expected = KINDS.get(str(part.type), object)
        if not isinstance(values[part.name], expected):
            raise ValueError(f"{part.name} is {values[part.name]!r}; expected {part.type}")
    return kind(**values)


def log_spaced(steps_per_pass: float, passes_apart: float = 0.0) -> Iterator[int]:
    """Iterations from a quarter of a pass on, growing by a quarter: O(log k) certificates.

    They are ``passes_apart`` at least.
    """
    iteration = max(1, math.ceil(steps_per_pass / 4))
    apart = max(1, math.ceil(steps_per_pass * passes_apart))
    while True:
        yield iteration
        iteration = max(iteration + apart, math.ceil(iteration * 1.25))


def checked_iterations(record_at: Iterable[Any]) -> Iterator[int]:
    """The iterations; a sequence is checked before the run, an endless stream during it."""
    if not isinstance(record_at, Iterable):
        raise TypeError(
            f"record_at is {record_at!r}; expected the iterations at which to certify, such as "
            "[10, 100, 1000]"
        )
    if isinstance(record_at, Sequence | np.ndarray):
        iterations = list(_increasing(record_at))
        if not iterations:
            raise ValueError("record_at is empty; expected at least one iteration, such as [1000]")
        return iter(iterations)
    return _increasing(record_at)


def _increasing(record_at: Iterable[Any]) -> Iterator[int]:
    last = 0
    for iteration in record_at:
        if not isinstance(iteration, Integral) or iteration <= last:
            raise ValueError(
                f"record_at holds {iteration!r} after {last}; expected whole numbers of "
                "iterations, each larger than the one before"
            )
        last = int(iteration)
        yield last

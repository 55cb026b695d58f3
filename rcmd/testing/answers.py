"""What an oracle answers: its methods called on copies, what they return, points of dom R."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from rcmd.conjugates import LeastSquares, SampleLosses
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.rows import as_rows
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array
from rcmd.testing.report import Cause, Inspection, shown

RELATIVE = 1e-9
ROWS = 6


class Answers(Inspection):
    """An oracle, bound to a few random rows, with costs to ask it and its answers."""

    def __init__(self, oracle: LinearMinOracle, p: int, rng: np.random.Generator) -> None:
        super().__init__(repr(oracle))
        data = rng.standard_normal((ROWS, p)) * (rng.random((ROWS, p)) < 0.7)
        self.rows = as_rows(data)
        self.oracle = oracle.bind(
            self.rows, SampleLosses(LeastSquares(), rng.standard_normal(ROWS))
        )
        self.rng = rng
        self.written: dict[str, tuple[Array, Array]] = {}
        self.minima: dict[bytes, float] = {}
        dense = rng.standard_normal((12, p))
        scales = np.array([[10.0**k] for k in (-3, -1, 0, 1, 3, 6)])
        self.costs = [*dense, *(scales * rng.standard_normal((6, p))), *np.eye(p), *-np.eye(p)]
        self.costs.append(np.zeros(p))

    def call(self, name: str, *arguments: Any) -> Any:
        """A method's answer to copies of its arguments; what it writes into them is kept."""
        copies = [part.copy() if isinstance(part, np.ndarray) else part for part in arguments]
        found = getattr(self.oracle, name)(*copies)
        for given, copy in zip(arguments, copies, strict=True):
            if isinstance(given, np.ndarray) and not np.array_equal(given, copy):
                self.written.setdefault(name, (given, copy))
        return found

    def dense(self, atom: Atom) -> Array:
        return np.asarray(atom.dense(np.zeros(self.rows.p)), dtype=float)

    def answer(self, c: Array) -> Array:
        return self.dense(self.call("argmin", c))

    def minimum(self, c: Array) -> float:
        """minimum(c), which is asked for once."""
        key = c.tobytes()
        if key not in self.minima:
            self.minima[key] = float(self.call("minimum", c))
        return self.minima[key]

    def penalty(self, beta: Array) -> float:
        return float(self.call("penalty", beta))

    def violation(self, beta: Array) -> float:
        return float(self.call("violation", beta))

    def objective(self, c: Array, beta: Array) -> float:
        """cᵀβ + R(β)."""
        return float(c @ beta) + self.penalty(beta)

    def room(self, c: Array) -> float:
        """Rounding of numbers of the size of the objective at c."""
        sizes = self.sizes @ abs(c) + self.penalties
        return RELATIVE * (float(sizes.max()) + 1e-12)

    @cached_property
    def atoms(self) -> list[Array]:
        return [self.answer(c) for c in self.costs]

    @cached_property
    def answers(self) -> list[tuple[Array, Array]]:
        return list(zip(self.costs, self.atoms, strict=True))

    @cached_property
    def sizes(self) -> Array:
        """|β| of the atoms."""
        return abs(np.array(self.atoms))

    @cached_property
    def penalties(self) -> Array:
        """|R(β)| of the atoms."""
        return abs(np.array([self.penalty(beta) for beta in self.atoms]))

    @cached_property
    def members(self) -> list[Array]:
        """Points of dom R: atoms and random convex combinations of them."""
        weights = self.rng.dirichlet(np.full(len(self.atoms), 0.2), 20)
        return [*self.atoms, *(weights @ np.array(self.atoms))]

    @property
    def pairs(self) -> Iterator[tuple[Array, Array]]:
        return itertools.islice(itertools.combinations(self.members, 2), 300)

    @cached_property
    def ranges(self) -> list[tuple[Array, float, float]]:
        low, high = self.oracle.prediction_range(self.rows)
        rows = [np.asarray(self.rows.row(j), dtype=float) for j in range(self.rows.n)]
        return [(x, float(low[j]), float(high[j])) for j, x in enumerate(rows)]

    def improved(self, c: Array) -> float:
        """The least cᵀβ + R(β) that a search by violation and penalty alone finds.

        From the best member: steps along −c and the axes, and from there, and from the member
        itself, to the edge of dom R on the ray from its middle.
        """
        best = min(self.members, key=lambda beta: self.objective(c, beta))
        least, centre = self.objective(c, best), np.mean(self.atoms, axis=0)
        _, sizes, axes = np.linalg.svd(np.array(self.atoms) - centre)
        hull = axes[: np.count_nonzero(sizes > 1e-9 * (sizes[0] or 1.0))]
        ways = [-c / abs(c).max(), *np.eye(len(c)), *-np.eye(len(c))] @ hull.T @ hull
        steps = np.array([1.0, 0.3, 0.1, 0.03, 0.01]) * abs(np.array(self.atoms) - centre).max()
        for step, way in [(0.0, -c), *itertools.product(steps, ways)]:
            moved = best + step * way - centre
            low, high = 0.0, 2.0
            for _ in range(10):
                middle = (low + high) / 2
                inside = self.violation(centre + middle * moved) <= FEASIBILITY
                low, high = (middle, high) if inside else (low, middle)
            for share in (low, min(low, 1.0)):
                beta = centre + share * moved
                if (found := self.objective(c, beta)) < least:
                    best, least = beta, found
        return least

    @cached_property
    def wrong_returns(self) -> list[tuple[Any, ...]]:
        """The first wrong answer of each method; none is judged that rests on a wrong one."""
        p, oracle = self.rows.p, self.oracle
        atom = f"an Atom such as DenseAtom(values), of {p} finite numbers"
        found = [*self._wrong("argmin", [{"c": c} for c in self.costs], self._atom, atom)]
        if found:
            return found
        betas = [{"β": self.answer(c)} for c in self.costs[:12]]
        costs = [{"c": c} for c in self.costs[:12]]
        both = [point | cost for point, cost in zip(betas, costs[::-1], strict=True)]
        number, n = "a finite number", self.rows.n
        ends = f"(low, high), each an array of {n} numbers"
        parts = "a list of (weight, atom) pairs"
        found += self._wrong("minimum", costs, _number, number)
        found += self._wrong("violation", betas, lambda v: _number(v, math.inf), number)
        found += self._wrong("penalty", betas, _number, number)
        found += self._wrong("fenchel_young", both, _number, number)
        found += self._wrong("prediction_range", [{"rows": self.rows}], self._range, ends)
        counted = [cost | {"count": 3} for cost in costs]
        found += self._wrong("best_atoms", counted, self._atoms, f"a list, each in it {atom}")
        found += self._wrong("decompose", betas, self._parts, parts)
        if told := _number(oracle.mu):
            found.append(({}, f"{told} from mu", number, Cause.WRONG_TYPE))
        return found

    def _wrong(
        self, name: str, points: list[dict[str, Any]], told: Callable[[Any], str], expected: str
    ) -> list[tuple[Any, ...]]:
        """At most one fault: where the answer of a method is not what is expected."""
        for point in points:
            shown_at = {key: value for key, value in point.items() if key != "rows"}
            try:
                found = told(self.call(name, *point.values()))
            except Exception as fault:  # whatever the user's code raises is a finding
                raised = f"{type(fault).__name__}: {fault}, from {name}"
                return [(shown_at, raised, expected, Cause.RAISES)]
            if found:
                return [(shown_at, f"{found} from {name}", expected, Cause.WRONG_TYPE)]
        return []

    def _atom(self, value: Any) -> str:
        """What is wrong with an atom, in words; nothing if it is one."""
        if not isinstance(value, Atom):
            return _kind(value)
        if not value.fits(self.rows.p):
            return f"an atom that does not fit p = {self.rows.p}"
        return "" if np.isfinite(self.dense(value)).all() else f"an atom {shown(self.dense(value))}"

    def _atoms(self, value: Any) -> str:
        if not isinstance(value, list | tuple) or not value:
            return _kind(value) if not isinstance(value, list) else "an empty list"
        return next(filter(None, map(self._atom, value)), "")

    def _parts(self, value: Any) -> str:
        if not isinstance(value, list) or not value:
            return _kind(value) if not isinstance(value, list) else "an empty list"
        for part in value:
            if not (isinstance(part, tuple) and len(part) == 2):
                return f"a list with {_kind(part)} in it"
            if told := _number(part[0]) or self._atom(part[1]):
                return f"a list with {told} in it"
        return ""

    def _range(self, value: Any) -> str:
        if not isinstance(value, Sequence | np.ndarray) or len(value) != 2:
            return _kind(value)
        for end in value:
            if np.shape(end) != (self.rows.n,):
                return f"{_kind(end)} of shape {np.shape(end)}"
            if np.isnan(np.asarray(end, dtype=float)).any():
                return shown(np.asarray(end))
        return ""


def _number(value: Any, also: float = 0.0) -> str:
    """What is wrong with a number, in words; nothing if it is a finite one, or ``also``."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not isinstance(value, Real):
        return _kind(value)
    return "" if math.isfinite(value) or value == also else shown(float(value))


def _kind(value: Any) -> str:
    """The type of a value, with its article."""
    name = type(value).__name__
    article = "an" if name.startswith((*"aeiou", "nd")) else "a"
    return "None" if value is None else f"{article} {name}"

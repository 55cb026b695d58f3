"""Identities of an oracle's domain: what ``violation`` and ``prediction_range`` say of dom R."""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.conjugates import LeastSquares, SampleLosses
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.rows import as_rows
from rcmd.testing import causes
from rcmd.testing.report import Failure, Report, shown

Array = npt.NDArray[Any]

RELATIVE = 1e-9
ROWS = 6
OUTSIDE = "points beyond dom R have a violation and infinite R"
FAR = 1e6
"""Costs of this size see the domain of R and little else of it."""


class DomainInspection:
    """One oracle under inspection; each public method checks one identity and records it."""

    def __init__(self, oracle: LinearMinOracle, p: int, rng: np.random.Generator) -> None:
        self.report = Report(repr(oracle))
        data = rng.standard_normal((ROWS, p)) * (rng.random((ROWS, p)) < 0.7)
        self.rows = as_rows(data)
        self.oracle = oracle.bind(
            self.rows, SampleLosses(LeastSquares(), rng.standard_normal(ROWS))
        )
        self.rng = rng
        dense = rng.standard_normal((12, p))
        scales = np.array([[10.0**k] for k in (-3, -1, 0, 1, 3, 6)])
        self.costs = [*dense, *(scales * rng.standard_normal((6, p))), *np.eye(p), *-np.eye(p)]
        self.costs.append(np.zeros(p))

    @cached_property
    def atoms(self) -> list[Array]:
        """The oracle's answers to the costs, as vectors."""
        return [np.asarray(self.oracle.argmin(c).dense(c), dtype=float) for c in self.costs]

    @cached_property
    def members(self) -> list[Array]:
        """Points of dom R: atoms and random convex combinations of them."""
        weights = self.rng.dirichlet(np.full(len(self.atoms), 0.2), 20)
        return [*self.atoms, *(weights @ np.array(self.atoms))]

    def objective(self, c: Array, beta: Array) -> float:
        """cᵀβ + R(β)."""
        return float(c @ beta + self.oracle.penalty(beta))

    def room(self, c: Array) -> float:
        """Rounding of numbers of the size of the objective at c."""
        sizes = [float(abs(c) @ abs(beta) + abs(self.oracle.penalty(beta))) for beta in self.atoms]
        return RELATIVE * (max(sizes) + 1e-12)

    def _so_far(self, else_cause: str) -> str:
        return self.report.causes[0] if self.report.causes else else_cause

    def feasible_atoms(self) -> None:
        """Atoms lie in dom R, and their three readings are one vector."""
        identity = "argmin returns a point of dom R"
        failures = []
        everything = np.arange(self.rows.p)
        for c, beta in zip(self.costs, self.atoms, strict=True):
            violation = float(self.oracle.violation(beta))
            if not violation <= FEASIBILITY:
                failures.append(
                    Failure(
                        identity,
                        {"c": c},
                        f"violation {shown(violation)} at {shown(beta)}",
                        "0",
                        causes.WRONG_DOMAIN,
                        "argmin leaves the set that violation describes",
                    )
                )
            atom = self.oracle.argmin(c)
            block = np.array([self.rows.row(j) for j in range(self.rows.n)])
            gap = max(
                np.abs(np.asarray(atom.gather(everything), dtype=float) - beta).max(),
                np.abs(np.asarray(atom.predict(block), dtype=float) - block @ beta).max(),
            )
            if not gap <= RELATIVE * (1 + abs(beta).max()):
                failures.append(
                    Failure(
                        identity,
                        {"c": c},
                        gap,
                        0.0,
                        causes.UNKNOWN,
                        "the atom's gather and predict do not give the vector of add_to",
                    )
                )
        self.report.record(identity, failures[:1])

    def convexity(self) -> None:
        """dom R and R are convex."""
        identity = "convex combinations are feasible and R is convex on them"
        for a, b in itertools.islice(itertools.combinations(self.members, 2), 300):
            middle = (a + b) / 2
            violation = float(self.oracle.violation(middle))
            if not violation <= FEASIBILITY:
                failure = Failure(
                    identity, {"β": middle}, f"violation {shown(violation)}", "0",
                    self._so_far(causes.NOT_CONVEX),
                    "violation refuses the middle of two points of dom R",
                )  # fmt: skip
                self.report.record(identity, [failure])
                return
            ends = (self.oracle.penalty(a) + self.oracle.penalty(b)) / 2
            if self.oracle.penalty(middle) > ends + RELATIVE * (1 + abs(ends)):
                failure = Failure(
                    identity, {"β": middle}, self.oracle.penalty(middle), ends,
                    causes.NOT_CONVEX, "penalty lies above its chord",
                )  # fmt: skip
                self.report.record(identity, [failure])
                return
        self.report.record(identity)

    def prediction_range(self) -> None:
        """The range holds every prediction, and for a set its ends are minimum(±x)."""
        identity = "prediction_range holds xᵀβ over dom R, tightly for a set"
        low, high = self._range()
        for j in range(self.rows.n):
            x = np.asarray(self.rows.row(j), dtype=float)
            values = [float(x @ beta) for beta in self.members]
            # Far costs reach the ends of dom R also where R is no indicator.
            for sign in (1.0, -1.0):
                values.append(float(x @ self.oracle.argmin(sign * 1e8 * x).dense(x)))
            room = 1e-7 * (1 + max(abs(v) for v in values))
            smallest, largest = min(values), max(values)
            if float(low[j]) > smallest + room or float(high[j]) < largest - room:
                cause = causes.WRONG_SIGN if float(low[j]) > float(high[j]) else causes.TOO_SMALL
                failure = Failure(
                    identity, {"x": x}, f"[{shown(low[j])}, {shown(high[j])}]",
                    f"at least [{shown(smallest)}, {shown(largest)}]", self._so_far(cause),
                    "M_j would be too small, and the bounds invalid",
                )  # fmt: skip
                self.report.record(identity, [failure])
                return
            if float(high[j] - low[j]) > 1.01 * (largest - smallest) + room:
                self.report.notes.append(
                    f"prediction_range [{shown(low[j])}, {shown(high[j])}] is safe, but only "
                    f"[{shown(smallest)}, {shown(largest)}] was reached"
                )
        self.report.notes = list(dict.fromkeys(self.report.notes))[:2]
        self.report.record(identity)

    def outside_points(self) -> None:
        """Beyond the range of predictions no point is feasible."""
        low, high = self._range()
        for j, beta in itertools.product(range(self.rows.n), self.members[-12:]):
            x = np.asarray(self.rows.row(j), dtype=float)
            size = float(x @ x)
            width = float(high[j] - low[j])
            # A single point has no width but rounding.
            if size == 0 or width <= RELATIVE * max(abs(float(low[j])), abs(float(high[j]))):
                continue
            outside = beta + (float(high[j]) + 0.05 * width - float(x @ beta)) / size * x
            if not (self.oracle.violation(outside) > 0 and self.oracle.value(outside) == math.inf):
                failure = Failure(
                    OUTSIDE, {"β": outside}, f"violation {shown(self.oracle.violation(outside))}",
                    f"> 0, as xᵀβ exceeds its largest value {shown(high[j])}",
                    self._so_far(causes.WRONG_DOMAIN),
                    "violation misses it, or prediction_range is too small",
                )  # fmt: skip
                self.report.record(OUTSIDE, [failure])
                return
        self.report.record(OUTSIDE)

    def leaving_rays(self) -> None:
        """R(β) ≥ minimum(c) − cᵀβ, on rays that leave dom R but not its affine hull."""
        centre = np.mean(self.atoms, axis=0)
        known = self._half_spaces(self.costs)
        for point, sign in itertools.product(self.members, (1.0, -1.0)):
            ray = sign * (point - centre)
            # Of all half-spaces that hold dom R, the one which the ray leaves first.
            exits = [
                (depth / -float(c @ ray), c, minimum, room)
                for c, minimum, room in [*known, *self._half_spaces([-ray, -np.sign(ray)])]
                if c @ ray < 0 and (depth := float(c @ centre) - minimum) > 1e3 * room
            ]
            if not exits:
                continue
            share, c, minimum, room = min(exits, key=lambda found: found[0])
            beta = centre + 1.02 * share * ray
            value, least = self.oracle.value(beta), minimum - float(c @ beta)
            if not value >= least - room:
                failure = Failure(
                    OUTSIDE, {"β": beta}, f"R(β) = {shown(value)}",
                    f"at least minimum(c) − cᵀβ = {shown(least)} for c = {shown(c)}",
                    self._so_far(causes.WRONG_DOMAIN), "violation misses it",
                )  # fmt: skip
                self.report.record(OUTSIDE, [failure])
                return
        self.report.record(OUTSIDE)

    def _half_spaces(self, costs: list[Array]) -> list[tuple[Array, float, float]]:
        """Costs c, far ones where R is no indicator, minimum(c) and its rounding."""
        far = [c if self.oracle.indicator else FAR * c for c in costs]
        return [(c, float(self.oracle.minimum(c)), self.room(c)) for c in far]

    def _range(self) -> tuple[Array, Array]:
        return self.oracle.prediction_range(self.rows)

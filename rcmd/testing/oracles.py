"""The contract of an oracle, identity by identity.

``penalty`` and ``violation`` define R, ``cvxpy_form`` defines it again; ``argmin``,
``minimum`` and ``prediction_range`` must agree with them, and with each other, on random costs.
"""

import itertools
import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np

from rcmd.conjugates import LeastSquares, SampleLosses
from rcmd.model import truth
from rcmd.model.specs import as_oracle, for_columns
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.rows import as_rows
from rcmd.rows.validation import Array
from rcmd.testing.report import (
    Call,
    Cause,
    Faults,
    Inspection,
    Report,
    Sample,
    Skip,
    compared,
    identity,
    shown,
)

RELATIVE = 1e-9
ROWS = 6
FAR = 1e6
"""Costs of this size depend on the domain of R and on little else of it."""

OUTSIDE = "points beyond dom R have a violation and infinite R"


def check_oracle(
    oracle: LinearMinOracle | str, p: int = 5, *, rng: int | np.random.Generator = 0
) -> Report:
    """Check every identity of an oracle in p variables; a ``ContractError`` lists all failures.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> check_oracle(L1Ball(2.0)).ok, check_oracle("l1:2").ok
    (True, True)
    """
    return inspect_oracle(oracle, p, rng=rng).checked()


def inspect_oracle(
    oracle: LinearMinOracle | str, p: int = 5, *, rng: int | np.random.Generator = 0
) -> Report:
    """The report of ``check_oracle``, also where something fails."""
    return OracleInspection(for_columns(as_oracle(oracle), p), p, np.random.default_rng(rng)).run()


class OracleInspection(Inspection):
    """One oracle under inspection, bound to a few random rows."""

    def __init__(self, oracle: LinearMinOracle, p: int, rng: np.random.Generator) -> None:
        super().__init__(repr(oracle))
        data = rng.standard_normal((ROWS, p)) * (rng.random((ROWS, p)) < 0.7)
        self.rows = as_rows(data)
        self.oracle = oracle.bind(
            self.rows, SampleLosses(LeastSquares(), rng.standard_normal(ROWS))
        )
        self.rng = rng
        self.minima: dict[bytes, float] = {}
        dense = rng.standard_normal((12, p))
        scales = np.array([[10.0**k] for k in (-3, -1, 0, 1, 3, 6)])
        self.costs = [*dense, *(scales * rng.standard_normal((6, p))), *np.eye(p), *-np.eye(p)]
        self.costs.append(np.zeros(p))
        self.atoms = [self.answer(c) for c in self.costs]
        self.answers = list(zip(self.costs, self.atoms, strict=True))
        self.sizes = abs(np.array(self.atoms))
        self.penalties = abs(np.array([float(self.oracle.penalty(beta)) for beta in self.atoms]))

    @cached_property
    def members(self) -> list[Array]:
        """Points of dom R: atoms and random convex combinations of them."""
        weights = self.rng.dirichlet(np.full(len(self.atoms), 0.2), 20)
        return [*self.atoms, *(weights @ np.array(self.atoms))]

    @property
    def pairs(self) -> Iterator[tuple[Array, Array]]:
        """Some pairs of members."""
        return itertools.islice(itertools.combinations(self.members, 2), 300)

    def answer(self, c: Array) -> Array:
        """argmin(c) as a vector."""
        return np.asarray(self.oracle.argmin(c).dense(c), dtype=float)

    def minimum(self, c: Array) -> float:
        """minimum(c), which is asked for once."""
        key = c.tobytes()
        if key not in self.minima:
            self.minima[key] = float(self.oracle.minimum(c))
        return self.minima[key]

    def objective(self, c: Array, beta: Array) -> float:
        """cᵀβ + R(β)."""
        return float(c @ beta + self.oracle.penalty(beta))

    def room(self, c: Array) -> float:
        """Rounding of numbers of the size of the objective at c."""
        sizes = self.sizes @ abs(c) + self.penalties
        return RELATIVE * (float(sizes.max()) + 1e-12)

    @identity("argmin returns a point of dom R")
    def feasible_atoms(self) -> Faults:
        everything = np.arange(self.rows.p)
        block = np.array([self.rows.row(j) for j in range(self.rows.n)])
        for c, beta in self.answers:
            violation = float(self.oracle.violation(beta))
            if not violation <= FEASIBILITY:
                found = f"violation {shown(violation)} at {shown(beta)}"
                remedy = "argmin leaves the set that violation describes"
                yield {"c": c}, found, "0", Cause.WRONG_DOMAIN, remedy
            atom = self.oracle.argmin(c)
            gap = max(
                np.abs(np.asarray(atom.gather(everything), dtype=float) - beta).max(),
                np.abs(np.asarray(atom.predict(block), dtype=float) - block @ beta).max(),
            )
            if not gap <= RELATIVE * (1 + abs(beta).max()):
                remedy = "the atom's gather and predict do not give the vector of add_to"
                yield {"c": c}, gap, 0.0, Cause.UNKNOWN, remedy

    @identity("minimum is attained at argmin")
    def attained_minimum(self) -> Faults:
        samples = []
        for c, beta in self.answers:
            found, expected = Call(self.minimum(c)), self.objective(c, beta)
            samples.append(Sample({"c": c}, found, expected, self.room(c)))
        yield from compared(samples)

    @identity("argmin is at least as good as every other point of dom R")
    def optimal_atoms(self) -> Faults:
        worse = []
        cause = Cause.WRONG_SIGN, "argmin(−c) is better: it maximizes instead"
        for c, beta in self.answers:
            mine, best = self.objective(c, beta), min(self.objective(c, v) for v in self.members)
            if best < mine - self.room(c):
                worse.append((c, mine, best))
                if not self.objective(c, self.answer(-c)) < mine:
                    cause = Cause.UNKNOWN, "another point of dom R is better"
        if worse:
            worst = max(worse, key=lambda f: (f[1] - f[2]) / (abs(f[0]).sum() + 1e-12))
            yield {"c": worst[0]}, worst[1], worst[2], *cause

    @identity("minimum is a support function: concave with slope argmin")
    def support_function(self) -> Faults:
        for (c, beta), other in itertools.product(self.answers, self.costs):
            bound = self.minimum(c) + float((other - c) @ beta)
            value = self.minimum(other)
            if value > bound + self.room(c) + self.room(other):
                remedy = "min over β of cᵀβ + R(β) is concave in c"
                yield {"c": other, "from": c}, value, bound, self.first_cause(), remedy
        for c in self.costs if self.oracle.indicator else ():
            found, expected = self.minimum(3 * c), 3 * self.minimum(c)
            if not abs(found - expected) <= 6 * self.room(c):
                remedy = "not homogeneous: R is no indicator; set indicator = False"
                yield {"c": 3 * c}, found, expected, Cause.WRONG_FLAG, remedy

    @identity("convex combinations are feasible and R is convex on them")
    def convexity(self) -> Faults:
        penalty = self.oracle.penalty
        for a, b in self.pairs:
            middle = (a + b) / 2
            violation = float(self.oracle.violation(middle))
            if not violation <= FEASIBILITY:
                found, cause = f"violation {shown(violation)}", self.first_cause(Cause.NOT_CONVEX)
                remedy = "violation refuses the middle of two points of dom R"
                yield {"β": middle}, found, "0", cause, remedy
            ends = (penalty(a) + penalty(b)) / 2
            if penalty(middle) > ends + RELATIVE * (1 + abs(ends)):
                remedy = "penalty lies above its chord"
                yield {"β": middle}, penalty(middle), ends, Cause.NOT_CONVEX, remedy

    @identity("R is μ-strongly convex")
    def strong_convexity(self) -> Faults:
        """R(mid) ≤ mean of the ends − μ‖a − b‖²/8."""
        mu, largest, place = float(self.oracle.mu), math.inf, None
        for a, b in self.pairs:
            square = float((a - b) @ (a - b))
            if square >= 1e-6 * (1 + a @ a + b @ b):
                ends = (self.oracle.penalty(a) + self.oracle.penalty(b)) / 2
                curve = 8 * float(ends - self.oracle.penalty((a + b) / 2)) / square
                if curve < largest:
                    largest, place = curve, (a + b) / 2
        if not 0 <= mu <= largest * (1 + 1e-6) + 1e-9:
            most = shown(max(largest, 0.0))
            yield {"β": place}, mu, f"at most {most}", Cause.TOO_LARGE, f"μ = {most} would do"

    @identity("fenchel_young is R(β) + cᵀβ − minimum(c), ≥ 0 and 0 at argmin")
    def fenchel_young_form(self) -> Faults:
        samples = []
        for c, atom in self.answers:
            for point in (atom, *self.members[-12:]):
                expected = self.objective(c, point) - self.minimum(c)
                found = Call(float(self.oracle.fenchel_young(point, c)))
                samples.append(Sample({"c": c}, found, expected, 4 * self.room(c)))
        yield from self.following(compared(samples))
        for sample in samples:
            if sample.found.number < -sample.tolerance:
                yield sample.point, sample.found.number, "≥ 0", Cause.WRONG_SIGN

    @cached_property
    def ranges(self) -> list[tuple[Array, float, float]]:
        """Each row with its prediction_range."""
        low, high = self.oracle.prediction_range(self.rows)
        rows = [np.asarray(self.rows.row(j), dtype=float) for j in range(self.rows.n)]
        return [(x, float(low[j]), float(high[j])) for j, x in enumerate(rows)]

    @identity("prediction_range holds xᵀβ over dom R, tightly for a set")
    def prediction_range(self) -> Faults:
        notes = []
        for x, low, high in self.ranges:
            # Far costs reach the ends of dom R also where R is no indicator.
            far = [self.oracle.argmin(sign * 1e8 * x).dense(x) for sign in (1.0, -1.0)]
            values = [float(x @ beta) for beta in (*self.members, *far)]
            room = 1e-7 * (1 + max(abs(v) for v in values))
            smallest, largest = min(values), max(values)
            found, reached = (
                f"[{shown(a)}, {shown(b)}]" for a, b in ((low, high), (smallest, largest))
            )
            if low > smallest + room or high < largest - room:
                cause = self.first_cause(Cause.WRONG_SIGN if low > high else Cause.TOO_SMALL)
                remedy = "M_j would be too small, and the bounds invalid"
                yield {"x": x}, found, f"at least {reached}", cause, remedy
            if high - low > 1.01 * (largest - smallest) + room:
                notes.append(f"prediction_range {found} is safe, but only {reached} was reached")
        self.report.notes += list(dict.fromkeys(notes))[:2]

    @identity(OUTSIDE)
    def outside_points(self) -> Faults:
        """Beyond the range of predictions no point is feasible."""
        for (x, low, high), beta in itertools.product(self.ranges, self.members[-12:]):
            width, size = high - low, float(x @ x)
            # A single point has no width but rounding.
            if size == 0 or width <= RELATIVE * max(abs(low), abs(high)):
                continue
            outside = beta + (high + 0.05 * width - float(x @ beta)) / size * x
            violation = self.oracle.violation(outside)
            if not (violation > 0 and self.oracle.value(outside) == math.inf):
                expected = f"> 0, as xᵀβ exceeds its largest value {shown(high)}"
                cause = self.first_cause(Cause.WRONG_DOMAIN)
                remedy = "violation misses it, or prediction_range is too small"
                yield {"β": outside}, f"violation {shown(violation)}", expected, cause, remedy

    @identity(OUTSIDE)
    def leaving_rays(self) -> Faults:
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
                expected = f"at least minimum(c) − cᵀβ = {shown(least)} for c = {shown(c)}"
                cause = self.first_cause(Cause.WRONG_DOMAIN)
                yield {"β": beta}, f"R(β) = {shown(value)}", expected, cause, "violation misses it"

    def _half_spaces(self, costs: list[Array]) -> list[tuple[Array, float, float]]:
        """Costs c, far ones where R is no indicator, minimum(c) and its rounding."""
        far = [c if self.oracle.indicator else FAR * c for c in costs]
        return [(c, self.minimum(c), self.room(c)) for c in far]

    @identity("ties are broken the same way every time")
    def ties(self) -> Faults:
        ones = np.ones(self.rows.p)
        for c in (0 * ones, ones, -ones):
            first, second = (self.oracle.argmin(c.copy()).dense(c) for _ in range(2))
            if not np.array_equal(first, second):
                remedy = "runs could not be repeated: break ties by position"
                yield {"c": c}, second, first, Cause.UNKNOWN, remedy

    @identity("cvxpy_form has the minimum of the oracle")
    def cvxpy_form(self) -> Faults:
        samples = []
        for c in [*self.costs[:3], self.costs[14]]:
            try:
                found = truth.linear_minimum(self.oracle, c)
            except NotImplementedError:
                raise Skip("no cvxpy_form, so rcmd.model.truth cannot solve with this R") from None
            expected = self.minimum(c)
            room = 1e-6 * (1 + abs(expected))
            samples.append(Sample({"c": c}, Call(found), expected, room))
        for *fault, cause, remedy in self.following(compared(samples)):
            if cause == Cause.UNKNOWN:
                remedy = "cvxpy_form describes another R than argmin and minimum do"
            yield *fault, cause, remedy

"""The contract of an oracle, identity by identity.

``penalty`` and ``violation`` define R, ``cvxpy_form`` defines it again; ``argmin``,
``minimum`` and ``prediction_range`` must agree with them, and with each other, on random costs.
"""

import copy
import itertools
import math
from typing import Any

import numpy as np

from rcmd.model import truth
from rcmd.model.specs import as_oracle, for_columns
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.oracles.described import fault_of_atoms, fault_of_rule
from rcmd.rows.validation import Array
from rcmd.testing.answers import RELATIVE, Answers
from rcmd.testing.report import (
    Call,
    Cause,
    Faults,
    Report,
    Sample,
    Skip,
    compared,
    identity,
    shown,
)

FAR = 1e6
"""Costs of this size depend on the domain of R and on little else of it."""

VARIABLES = 5
"""p for oracles of any size."""


def check_oracle(
    oracle: LinearMinOracle | str, p: int | None = None, *, rng: int | np.random.Generator = 0
) -> Report:
    """Check every identity of an oracle; a ``ContractError`` lists all failures.

    Parameters
    ----------
    oracle
        The oracle, an object and not its class; or its name, such as ``"l1:5"``.
    p
        The number of variables: by default its own, or 5 if it takes any.
    rng
        The seed of the costs, or a generator.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> check_oracle(L1Ball(2.0)).ok, check_oracle("l1:2").ok
    (True, True)
    """
    return inspect_oracle(oracle, p, rng=rng).checked()


def inspect_oracle(
    oracle: LinearMinOracle | str, p: int | None = None, *, rng: int | np.random.Generator = 0
) -> Report:
    """The report of ``check_oracle``, also where something fails.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> class Heuristic(L1Ball):
    ...     def minimum(self, c): return 0.99 * super().minimum(c)
    >>> inspect_oracle(Heuristic(1.0), p=3).ok
    False
    """
    made = for_columns(as_oracle(oracle), p or VARIABLES)
    size = p or made.declared_size() or VARIABLES
    return OracleInspection(made, size, np.random.default_rng(rng)).run()


class OracleInspection(Answers):
    """One oracle under inspection."""

    @identity("methods return what they promise", most=None)
    def returns(self) -> Faults:
        if self.wrong_returns:
            self.blocked = "a method does not return what it promises"
        yield from self.wrong_returns

    @identity("c, β and earlier atoms stay as they are", most=None)
    def memory(self) -> Faults:
        held = []
        for c in self.costs[:12]:
            atom = self.call("argmin", c)
            held.append((c, atom, self.dense(atom)))
        for c in self.costs:
            self.call("argmin", c)
        for name, (before, after) in self.written.items():
            remedy = f"{name} writes into what it is given: copy it first"
            yield {"before": before}, after, "the same numbers", Cause.CHANGES, remedy
        for c, atom, before in held:
            if not np.array_equal(after := self.dense(atom), before):
                remedy = "a later call of argmin changed this atom: return a new array every time"
                yield {"c": c}, after, before, Cause.CHANGES, remedy
                break

    @identity("after reset, or with its state loaded, it answers the same again")
    def repeatability(self) -> Faults:
        """Bit for bit, ties included: else runs cannot be repeated or resumed."""
        ones = np.ones(self.rows.p)
        first, second = [0 * ones, ones, -ones, *self.costs[:3]], self.costs[3:8]

        def asked(costs: list[Array]) -> list[Any]:
            return [(self.answer(c).tolist(), float(self.call("minimum", c))) for c in costs]

        self.oracle.reset()
        begun = asked(first)
        state = copy.deepcopy(self.oracle.state())
        onwards = asked(second)
        for name, arguments, costs, expected in (
            ("reset", (), [*first, *second], [*begun, *onwards]),
            ("load_state", (state,), second, onwards),
        ):
            getattr(self.oracle, name)(*arguments)
            for c, found, right in zip(costs, asked(costs), expected, strict=True):
                if found != right:
                    remedy = f"after {name}: break ties by position, and forget or restore the rest"
                    yield {"c": c}, found, right, Cause.UNKNOWN, remedy
        self.oracle.reset()

    @identity("argmin returns a point of dom R")
    def feasible_atoms(self) -> Faults:
        everything = np.arange(self.rows.p)
        block = np.array([self.rows.row(j) for j in range(self.rows.n)])
        for c, beta in self.answers:
            violation = self.violation(beta)
            if not violation <= FEASIBILITY:
                found = f"violation {shown(violation)} at {shown(beta)}"
                remedy = "argmin leaves the set that violation describes"
                yield {"c": c}, found, "0", Cause.WRONG_DOMAIN, remedy
            atom = self.call("argmin", c)
            gap = max(
                np.abs(np.asarray(atom.gather(everything), dtype=float) - self.dense(atom)).max(),
                np.abs(np.asarray(atom.predict(block) - block @ self.dense(atom), float)).max(),
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
        if not self.oracle.exact_atoms:
            gaps = [sample.expected - sample.found.number for sample in samples]
            scales = [float(abs(c).max()) or 1.0 for c in self.costs]
            loosest = max(gap / scale for gap, scale in zip(gaps, scales, strict=True))
            told = f"minimum is up to {loosest:.1e}·max|c| below it"
            raise Skip(f"exact_atoms = False, so that it may lie below; {told}")
        yield from compared(samples)

    @identity("argmin is at least as good as every other point of dom R")
    def optimal_atoms(self) -> Faults:
        if not self.oracle.exact_atoms:
            raise Skip("exact_atoms = False")
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

    @identity("minimum is a lower bound of cᵀβ + R(β) over dom R")
    def lower_bound(self) -> Faults:
        """Also where argmin is a heuristic: a certificate rests on it."""
        for c in self.costs:
            least = min(self.objective(c, beta) for beta in self.members)
            if not self.minimum(c) <= least + self.room(c):
                cause = self.first_cause(Cause.TOO_LARGE)
                remedy = "certificates would be wrong: another point of dom R has less"
                yield {"c": c}, self.minimum(c), f"at most {shown(least)}", cause, remedy

    @identity("R is zero on dom R where indicator says so")
    def indicator(self) -> Faults:
        if not self.oracle.indicator:
            raise Skip("indicator = False")
        for c, beta in self.answers:
            found, expected = self.minimum(3 * c), 3 * self.minimum(c)
            homogeneous = abs(found - expected) <= 6 * self.room(c) or not self.oracle.exact_atoms
            if self.penalty(beta) != 0 or not homogeneous:
                remedy = "not homogeneous: R is no indicator; set indicator = False"
                yield {"c": 3 * c}, found, expected, Cause.WRONG_FLAG, remedy

    @identity("convex combinations are feasible and R is convex on them")
    def convexity(self) -> Faults:
        penalty = self.penalty
        for a, b in self.pairs:
            middle = (a + b) / 2
            violation = self.violation(middle)
            if not violation <= FEASIBILITY:
                found, cause = f"violation {shown(violation)}", self.first_cause(Cause.NOT_CONVEX)
                remedy = "violation refuses the middle of two points of dom R"
                yield {"β": middle}, found, "0", cause, remedy
            ends = (penalty(a) + penalty(b)) / 2
            if not penalty(middle) <= ends + RELATIVE * (1 + abs(ends)):
                remedy = "penalty lies above its chord"
                yield {"β": middle}, penalty(middle), ends, Cause.NOT_CONVEX, remedy

    @identity("a search by violation and penalty finds no less than minimum")
    def search(self) -> Faults:
        for c in self.costs[:2]:
            if not self.minimum(c) <= (least := self.improved(c)) + self.room(c):
                cause = self.first_cause(Cause.WRONG_DOMAIN)
                remedy = "a point with less is not seen by minimum, or violation misses it"
                yield {"c": c}, self.minimum(c), f"at most {shown(least)}", cause, remedy

    @identity("R is μ-strongly convex")
    def strong_convexity(self) -> Faults:
        """R(mid) ≤ mean of the ends − μ‖a − b‖²/8."""
        mu, largest, place = float(self.oracle.mu), math.inf, None
        for a, b in self.pairs:
            square = float((a - b) @ (a - b))
            if square >= 1e-6 * (1 + a @ a + b @ b):
                ends = (self.penalty(a) + self.penalty(b)) / 2
                curve = 8 * (ends - self.penalty((a + b) / 2)) / square
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
                found = Call(float(self.call("fenchel_young", point, c)))
                samples.append(Sample({"c": c}, found, expected, 4 * self.room(c)))
        yield from self.following(compared(samples))
        for sample in samples:
            if sample.found.number < -sample.tolerance:
                yield sample.point, sample.found.number, "≥ 0", Cause.WRONG_SIGN

    @identity("best_atoms are points of dom R, at most as many as asked, the best one first")
    def best_atoms(self) -> Faults:
        for c, count in itertools.product(self.costs[:6], (1, 3)):
            points = [self.dense(atom) for atom in self.call("best_atoms", c, count)]
            place, remedy = {"c": c, "count": count}, ""
            if len(points) > count + 1:
                found, remedy = f"{len(points)} points", f"return at most {count}, and perhaps zero"
            elif (worst := max(map(self.violation, points))) > FEASIBILITY:
                found, remedy = f"violation {shown(worst)}", "one of them is outside dom R"
            else:
                values = [self.objective(c, point) for point in points]
                rivals = [*values, self.objective(c, self.answer(c))]
                least = min(rivals if self.oracle.exact_atoms else values)
                if not values[0] <= least + self.room(c):
                    found, remedy = shown(values[0]), f"another one has {shown(least)}"
            if remedy:
                expected = "good points of dom R, the best first"
                yield place, found, expected, Cause.UNKNOWN, remedy

    @identity("decompose gives β as a convex combination of points of dom R")
    def decompose(self) -> Faults:
        for beta in (*self.members[-6:], *self.members[:2]):
            weights, atoms = zip(*self.call("decompose", beta), strict=True)
            points = np.array([self.dense(atom) for atom in atoms])
            missed = abs(np.array(weights, dtype=float) @ points - beta).max()
            outside = max(map(self.violation, points))
            size = RELATIVE * (1 + abs(beta).max())
            for found, expected, right in (
                (f"the weight {shown(min(weights))}", "weights ≥ 0", min(weights) >= 0),
                (f"weights with the sum {shown(sum(weights))}", "1", abs(sum(weights) - 1) <= size),
                (f"a point with violation {shown(outside)}", "0", outside <= FEASIBILITY),
                (f"a sum that misses β by {shown(missed)}", "β", missed <= size),
            ):
                if not right:
                    yield {"β": beta}, found, expected, Cause.UNKNOWN

    @identity("prediction_range holds xᵀβ over dom R, tightly for a set")
    def prediction_range(self) -> Faults:
        notes = []
        for x, low, high in self.ranges:
            # Far costs reach the ends of dom R also where R is no indicator.
            far = [self.answer(size * x) for size in (1e4, -1e4, 1e8, -1e8, 1e12, -1e12)]
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
                notes.append(f"prediction_range {found} may be too wide: {reached} was reached")
        self.report.notes += list(dict.fromkeys(notes))[:2]

    @identity("points beyond dom R have a violation and infinite R")
    def outside_points(self) -> Faults:
        """Beyond the range of predictions no point is feasible."""
        for (x, low, high), beta in itertools.product(self.ranges, self.members[-12:]):
            width, size = high - low, float(x @ x)
            # A single point has no width but rounding.
            if size == 0 or width <= RELATIVE * max(abs(low), abs(high)):
                continue
            outside = beta + (high + 0.05 * width - float(x @ beta)) / size * x
            violation = self.violation(outside)
            if not (violation > 0 and self.oracle.value(outside) == math.inf):
                expected = f"> 0, as xᵀβ exceeds its largest value {shown(high)}"
                cause = self.first_cause(Cause.WRONG_DOMAIN)
                remedy = "violation misses it, or prediction_range is too small"
                yield {"β": outside}, f"violation {shown(violation)}", expected, cause, remedy

    @identity("R(β) ≥ minimum(c) − cᵀβ on rays that leave dom R")
    def leaving_rays(self) -> Faults:
        """But not its affine hull."""
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

    @identity("cvxpy_form has the minimum of the oracle")
    def cvxpy_form(self) -> Faults:
        samples = []
        for c in [*self.costs[:3], self.costs[14]]:
            try:
                found = truth.linear_minimum(self.oracle, c)
            except NotImplementedError:
                raise Skip("no cvxpy_form, so rcmd.model.truth cannot solve with this R") from None
            expected = self.minimum(c)
            if not self.oracle.exact_atoms:  # between the bound and what argmin reaches
                expected = min(max(found, expected), self.objective(c, self.answer(c)))
            room = 1e-6 * (1 + abs(expected))
            samples.append(Sample({"c": c}, Call(found), expected, room))
        for *fault, cause, remedy in self.following(compared(samples)):
            if cause == Cause.UNKNOWN:
                remedy = "cvxpy_form describes another R than argmin and minimum do"
            yield *fault, cause, remedy

    @identity("what compiled loops and corrections read agrees with argmin and penalty")
    def descriptions(self) -> Faults:
        for c in self.costs:
            if told := fault_of_atoms(self.oracle, c.copy()):
                remedy = "write every entry, inside the arrays, and break ties by position"
                yield {"c": c}, told, "one atom", Cause.UNKNOWN, remedy
        for point in self.members:
            if told := fault_of_rule(self.oracle, point, self.penalty(point)):
                remedy = "correct coordinate_rule, or return None"
                yield {"β": point}, told, "R(β) of penalty", Cause.UNKNOWN, remedy

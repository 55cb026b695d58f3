"""One oracle at the costs and rows of one problem."""

from typing import Any

import numpy as np

from rcmd.model.problem import Problem
from rcmd.model.vetting.subject import OF_SUMS, RELATIVE, Sample, Subject, as_vector, shown
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.oracles.cvxpy_oracle import Unsolved
from rcmd.oracles.described import fault_of_atoms, fault_of_rule
from rcmd.oracles.writing import form_of
from rcmd.rows.atoms import Atom
from rcmd.rows.base import DenseRows
from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array

MOST_ROWS, MOST_ENTRIES = 200, 2**19
"""Rows of which costs are made, and their entries."""

COORDINATES = 6
"""Coordinates along which an atom is compared with better points."""


Seeds = tuple[list[Array], list[Array]]


def seeds_for(problem: Problem, sample: Sample, few: bool) -> Seeds:
    """Slopes w of the losses, and Xᵀw/n for random ones: all that costs are made of, but rows."""
    rng, losses = np.random.default_rng(0), problem.losses.some(sample.places)
    predictions = 0 * losses.y, sample.low, (sample.low + sample.high) / 2
    slopes = [losses.derivative(s) for s in predictions]
    size = max(abs(w).max() for w in slopes) / 1000
    mixtures = []
    count = min(MOST_ROWS, max(MOST_ENTRIES // problem.p, 2))
    batch = np.unique(np.linspace(0, problem.rows.n - 1, count).astype(int))
    for _ in range(1 if few else 3):
        total = problem.rows.zero()
        total = problem.rows.rmatvec(0 * problem.losses.y) if isinstance(total, LowRank) else total
        w = np.asarray(rng.integers(-1000, 1000, len(batch)), dtype=problem.rows.number_type)
        problem.rows.scatter(batch, size * w, total)
        mixtures.append(as_vector(total) / len(batch))
    return slopes, mixtures


def costs_for(oracle: LinearMinOracle, rows: DenseRows, seeds: Seeds, few: bool) -> list[Array]:
    """Costs that runs may meet: Xᵀw/n for slopes w of the losses, such with noise, rows, and 0."""
    (slopes, costs), rng = seeds, np.random.default_rng(0)
    far = 1 if oracle.indicator else 10**8
    costs = [*costs, *(far * x for x in rows.array[: 2 if few else 4])]
    costs = [sign * c for c in costs for sign in (1, -1)]
    costs += [rows.rmatvec(w) / rows.n for w in slopes]
    # Costs nearby, for which a heuristic chooses other atoms.
    costs += [c + c * rng.integers(-3, 4, len(c)) / 10 for c in costs[:2]]
    return [*costs, 0 * costs[0]]


class OracleCheck:
    """One oracle at the costs and rows of one problem."""

    def __init__(
        self, subject: Subject, oracle: LinearMinOracle, sample: Sample, costs: list[Array]
    ) -> None:
        self.subject, self.oracle, self.sample, self.costs = subject, oracle, sample, costs
        self.zero = np.zeros(sample.rows.p, dtype=sample.rows.number_type)
        own_range = type(oracle).prediction_range is not LinearMinOracle.prediction_range
        self.calls = 0 if own_range else 2 * sample.rows.n

    def run(self, few: bool) -> None:
        """Check everything, and leave the oracle as it was before a run."""
        self._described(few)
        atoms, self.points = [], []
        for k in range(len(self.costs)):
            atoms.append(self._atom(k))
            self.points.append(atoms[k].dense(self.zero))
        self.minima = [self._asked("minimum", k) for k in range(len(self.costs))]
        for k, (atom, point) in enumerate(zip(atoms, self.points, strict=True)):
            if not np.array_equal(atom.dense(self.zero), point):
                expected = "one that stays as it is: return an array of its own"
                self.subject.refuse(
                    "argmin", self.at(k), "an atom that later calls change", expected
                )
        self.penalties = [self._member(k, point) for k, point in enumerate(self.points)]
        self._convexity()
        searched = [k for k, c in enumerate(self.costs) if c.any()]
        for k in searched[: 2 if few else 8]:
            self._search(k)
        self.reached = np.array(self.points)
        self.sizes = abs(self.reached)
        costs = np.array(self.costs).T  # one product of matrices, not one for each cost
        values, sizes = self.reached @ costs, self.sizes[: len(self.costs)] @ abs(costs)
        for k in range(len(self.costs)):
            self._lowest(k, values[:, k] + self.penalties, sizes[:, k].max())
        self._range()
        self.oracle.reset()

    def at(self, k: int) -> str:
        """The k-th cost, for sentences."""
        return f"c = {shown(self.costs[k])}"

    def _answer(self, method: str, k: int, *at: Any) -> Any:
        try:
            return getattr(self.oracle, method)(*at)
        except Unsolved:  # by CVXPY's solver, whose word it is; a run would end there too
            raise
        except Exception as fault:  # whatever the user's class raises
            self.subject.refuse(method, self.at(k), f"{type(fault).__name__}: {fault}", "an answer")

    def _asked(self, method: str, k: int, *at: Any) -> Any:
        """An answer of the oracle at the k-th cost, which must stay as it is."""
        self.calls += 1
        c = self.costs[k].copy()
        found = self._answer(method, k, *at, c)
        if not np.array_equal(c, self.costs[k]):
            came = f"an answer that changed c to {shown(c)}"
            self.subject.refuse(method, self.at(k), came, "c as it was: work on a copy of it")
        return found

    def _atom(self, k: int) -> Atom:
        atom = self._asked("argmin", k)
        if not (isinstance(atom, Atom) and atom.fits(len(self.zero))):
            expected = f"an Atom of {len(self.zero)} entries, such as rcmd.DenseAtom(vector)"
            self.subject.refuse("argmin", self.at(k), repr(atom), expected)
        return atom

    def _described(self, few: bool) -> None:
        """What compiled loops read, against ``argmin``: in Python, as it may write anywhere.

        So it takes long where there are many variables: one cost has to do then.
        """
        places = (0,) if few else (0, 1, len(self.costs) - 1)
        for k in () if self.sample.rows.exact else places:
            try:
                told = fault_of_atoms(self.oracle, np.asarray(self.costs[k], dtype=float))
            except Unsolved:
                raise
            except Exception as fault:  # whatever the user's class raises
                told = f"{type(fault).__name__}: {fault}"
            if told:
                expected = "one atom from all, ties broken by position"
                method = form_of(self.oracle) or "what compiled loops read"
                self.subject.refuse(method, self.at(k), told, expected)

    def _member(self, k: int, point: Array) -> Any:
        """R at an atom or between two, which must be in dom R."""
        miss = self._answer("violation", k, point)
        if not miss <= FEASIBILITY:
            expected = f"0 at {shown(point)}, an atom or between two: dom R is convex"
            self.subject.refuse("violation", self.at(k), float(miss), expected)
        penalty, value = self._answer("penalty", k, point), self._answer("value", k, point)
        right = 0 if self.oracle.indicator else penalty
        if not value == penalty == right:
            expected = f"{float(right):.10g} at {shown(point)}, as penalty and indicator have it"
            self.subject.refuse("value", self.at(k), float(value), expected)
        if told := fault_of_rule(self.oracle, np.asarray(point, dtype=float), penalty):
            expected = "R as penalty and violation have it"
            self.subject.refuse("coordinate_rule", f"β = {shown(point)}", told, expected)
        return penalty

    def _convexity(self) -> None:
        """R((a+b)/2) ≤ (R(a) + R(b))/2 − μ‖a − b‖²/8."""
        mu, count = self.oracle.mu, len(self.points)
        values = [abs(float(c @ a)) for c, a in zip(self.costs, self.points, strict=False)]
        size = max(*values, *(abs(float(penalty)) for penalty in self.penalties))
        for k in range(count):
            i = (7 * k + 3) % count
            a, b = self.points[k], self.points[i]
            middle = (a + b) / 2
            found, mean = self._member(k, middle), (self.penalties[k] + self.penalties[i]) / 2
            square, sag = float((a - b) @ (a - b)), float(mean - found)
            room = RELATIVE * (abs(float(mean)) + abs(float(found)))
            if sag < -max(room, RELATIVE * size):  # what R is a difference of may be as large
                expected = f"at most {float(mean):.10g}, half-way between two atoms: R is convex"
                self.subject.refuse("penalty", self.at(k), float(found), expected)
            if not 0 <= mu * square <= 8 * (max(sag, 0.0) + room):
                most = f"at most {8 * sag / square:.10g}, which R is between two atoms"
                self.subject.refuse("mu", self.at(k), float(mu), most)
            self.points.append(middle)
            self.penalties.append(found)

    def _search(self, k: int) -> None:
        """More points of dom R that are good at c: along rays from the middle of the atoms, once
        more from near the best of them, and coordinate by coordinate from the atom.
        """
        c, atom = self.costs[k], self.points[k]
        atoms = np.array(self.points[: len(self.costs)])
        centre = atoms.sum(axis=0) / len(atoms)
        signs, sizes = np.sign(c), abs(c) / abs(c).max()
        scale = abs(atoms - centre).max() or 1
        rays = [-scale * signs * share for share in (sizes, sizes**0, sizes**3)]
        spanned = np.asarray(atoms - centre, dtype=float)
        gram = spanned @ spanned.T  # few atoms of many entries: small, and any shares will do
        shares = np.linalg.lstsq(gram, spanned @ rays[0].astype(float), rcond=1e-12)[0]
        rays.append((shares @ spanned).astype(rays[0].dtype))  # where dom R is flat
        ends = [self._end(k, centre, ray) for ray in rays]
        best = min(ends, key=lambda point: c @ point)
        ends.append(self._end(k, (centre + 3 * best) / 4, rays[0]))
        corner = atom
        for i in np.argsort(-sizes, kind="stable")[:COORDINATES].tolist():
            step = 0 * c
            step[i] = -scale * signs[i]
            corner = self._end(k, corner, step)
        for end in (*ends, corner):
            for point in (end, (end + atom) / 2, (end + 3 * atom) / 4):
                self.points.append(point)
                self.penalties.append(self._answer("penalty", k, point))

    def _end(self, k: int, start: Array, way: Array) -> Array:
        """The last point of dom R from ``start`` on that way."""
        inside, outside = start, start + way
        for _ in range(20):
            if not self._answer("violation", k, outside) <= 0:
                break
            inside, outside = outside, outside + (outside - start)
        for _ in range(7):
            middle = (inside + outside) / 2
            if self._answer("violation", k, middle) <= 0:
                inside = middle
            else:
                outside = middle
        return inside

    def _lowest(self, k: int, values: Array, size: Any) -> None:
        """``minimum`` is at most cᵀβ + R(β) at every point, and equal to it at an exact atom."""
        lowest = self.minima[k]
        room = OF_SUMS * float(size + max(map(abs, self.penalties)))
        best = int(values.argmin())
        if not lowest <= values[best] + room:
            expected = (
                f"at most {float(values[best]):.10g}, which cᵀβ + R(β) is at the point "
                f"{shown(self.points[best])} of dom R: minimum must be a lower bound"
            )
            self.subject.refuse("minimum", self.at(k), float(lowest), expected)
        if self.oracle.exact_atoms and not values[k] <= lowest + room:
            came = f"a point where cᵀβ + R(β) is {float(values[k]):.10g}"
            expected = f"the minimum {float(lowest):.10g}, or exact_atoms = False in the class"
            self.subject.refuse("argmin", self.at(k), came, expected)
        for i in (k, (k + 1) % len(self.costs)):
            found, right = self._asked("fenchel_young", k, self.points[i]), values[i] - lowest
            if not abs(found - right) <= 2 * room:
                expected = f"R(β) + cᵀβ − minimum(c) = {float(right):.10g}"
                place = f"{self.at(k)} and β = {shown(self.points[i])}"
                self.subject.refuse("fenchel_young", place, float(found), expected)

    def _range(self) -> None:
        """``prediction_range`` holds x_jᵀβ for every point."""
        rows = self.sample.rows.array
        reached, sizes = self.reached @ rows.T, self.sizes @ abs(rows.T)
        for k, (x, low, high) in enumerate(
            zip(rows, self.sample.low, self.sample.high, strict=True)
        ):
            room = OF_SUMS * float(sizes[:, k].max())
            least, most = reached[:, k].min(), reached[:, k].max()
            if not (low <= least + room and most - room <= high):
                came = f"[{float(low):.10g}, {float(high):.10g}]"
                expected = f"a range that holds {float(least):.10g} and {float(most):.10g}"
                self.subject.refuse("prediction_range", f"x = {shown(x)}", came, expected)

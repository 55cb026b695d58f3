"""Classes that are not rcmd's own, checked before anything is certified.

A certificate is right where l is convex and γ-smooth on I_j = conv({0} ∪ {x_jᵀβ: β ∈ dom R}), where
(l, l*) are conjugate, and where ``minimum`` is a lower bound over dom R. All of it is checked here
for the problem's own data: at some of its samples, at fixed, irregular points of their I_j and at
costs of the form Xᵀw/n, in some ten milliseconds. What passes is *sampled*, not proved.
``rcmd.testing`` has the full list of identities, with the likely cause of each failure.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from rcmd.conjugates.base import SeparableConjugate, numeric_parts
from rcmd.conjugates.numeric import around, spread_points
from rcmd.model.fingerprint import fingerprint
from rcmd.model.problem import Problem, foreign, names
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.base import DenseRows, Rows
from rcmd.rows.validation import Array

if TYPE_CHECKING:
    from rcmd.model.prox import BregmanProx
    from rcmd.model.schedules import Schedule

PAIRS = 8
"""Dual points per sample at which conjugates are checked."""

RELATIVE, ORACLE_ROOM = 1e-9, 1e-7
"""Rounding allowed in identities of a loss, and of an oracle, relative to their terms."""

COORDINATES = 6
"""Coordinates along which an atom is compared with better points."""

LARGE = 10_000
"""From so many variables on, fewer costs and points are tried."""

MOST_KEPT = 1000
"""Checks that are remembered; beyond, all are forgotten."""

_passed: dict[Any, Any] = {}


@dataclass(frozen=True)
class Subject:
    """What is checked: its name in sentences, and the function with the full list."""

    name: str
    check: str

    def refuse(self, method: str, where: str, came: Any, expected: str) -> NoReturn:
        """Refuse the class, with the place, what came and what was expected."""
        came = f"{came:.10g}" if isinstance(came, float) else came
        raise ValueError(
            f"{method} of {self.name} at {where} is {came}; expected {expected}: correct it "
            f"({self.check} lists all that fails), or go on without this check: "
            "Problem(…, verify=False)"
        )

    def number(self, method: str, where: str, function: Callable[..., Any], *at: Any) -> float:
        """A finite number from the user's function."""
        try:
            found = float(function(*at))
        except Exception as fault:  # whatever the user's class raises
            self.refuse(method, where, f"{type(fault).__name__}: {fault}", "a finite number")
        if not math.isfinite(found):
            self.refuse(method, where, found, "a finite number")
        return found


class Sample:
    """Some rows of the problem, and the ranges of their predictions."""

    def __init__(self, problem: Problem) -> None:
        losses = problem.losses
        keys = [losses.y, problem.rows.max_norms()]
        keys += [] if losses.weights is None else [losses.weights]
        ends = [end for key in keys for end in (int(key.argmin()), int(key.argmax()))]
        self.places = np.unique([*ends, len(losses.y) // 3, 2 * len(losses.y) // 3])
        self.rows = DenseRows(np.array([problem.rows.row(j) for j in self.places.tolist()]))
        self.low, self.high = problem.oracle.prediction_range(self.rows)


def vet(problem: Problem, found: dict[str, list[Any]]) -> dict[str, str]:
    """What each of these parts rests on; a fault is refused with a ``ValueError``.

    ``found`` has the foreign objects in the loss, the oracle and the rows, as far as there are any.
    """
    grounds, sample = {}, Sample(problem)
    if "rows" in found:
        subject = Subject(names(found["rows"]), "its base class Rows says what each method is")
        check_rows(subject, problem.rows, sample)
        grounds["rows"] = f"sampled at {len(sample.places)} rows"
    if "oracle" in found:
        # A function in a class of rcmd's own has been judged by it before, and calls are dear.
        few = problem.p > LARGE or callable(found["oracle"][0])
        costs = _costs(problem, sample, few)
        key = *map(type, found["oracle"]), fingerprint((problem.oracle, sample.rows.array, costs))
        if key not in _passed:
            subject = Subject(names(found["oracle"]), "rcmd.testing.check_oracle")
            check = OracleCheck(subject, problem.oracle, sample, costs)
            check.run(2 if few else 12)
            _remember(key, f"sampled at {len(costs)} costs by {check.calls} oracle calls")
        grounds["oracle"] = _passed[key]
    if "loss" in found:
        grounds["loss"] = _vet_losses(problem, found["loss"], sample)
    return grounds


def _remember(key: Any, value: Any) -> None:
    if len(_passed) >= MOST_KEPT:
        _passed.clear()
    _passed[key] = value


# ---- losses ------------------------------------------------------------------------------------


def _vet_losses(problem: Problem, found: list[Any], sample: Sample) -> str:
    loss, losses = problem.loss, problem.losses.some(sample.places)
    if type(loss).proved_on is not SeparableConjugate.proved_on:
        low, high = problem.prediction_ranges
        if loss.proved_on(low, high, problem.losses.y):
            return "proved"
    low = np.minimum(np.asarray(sample.low, dtype=float), 0.0)
    high = np.maximum(np.asarray(sample.high, dtype=float), 0.0)
    key = *map(type, found), fingerprint((loss, losses.y, losses.weights))
    lowest, highest, ground = _passed.get(key, (low + 1, high, ""))
    if (low >= lowest).all() and (high <= highest).all():
        return str(ground)
    subject, points = Subject(names(found), "rcmd.testing.check_conjugate"), 0
    gammas = np.asarray(losses.gammas, dtype=float)
    weights = np.ones(len(low)) if losses.weights is None else losses.weights.astype(float)
    for k, j in enumerate(sample.places.tolist()):
        y, weight = float(losses.y[k]), float(weights[k])
        check = LossCheck(subject, loss, gammas[k] / weight, y, weight, f"sample {j} (label {y:g})")
        points += check.run(float(low[k]), float(high[k]), k)
    ground = f"sampled at {points} predictions"
    _remember(key, (low, high, ground))
    return ground


@dataclass
class LossCheck:
    """One loss at one sample."""

    subject: Subject
    loss: SeparableConjugate
    gamma: float
    y: float
    weight: float
    sample: str

    def at(self, letter: str, value: float) -> str:
        """The place, for sentences."""
        return f"{self.sample} and {letter} = {value:.10g}"

    def each(self, method: str, letter: str, points: Array) -> Array:
        """A method at every point, which must be finite there."""
        function, y, found = getattr(self.loss, method), self.y, []
        for s in points.tolist():
            try:
                found.append(float(function(s, y)))
            except Exception:  # said by ``number`` below
                found.append(math.nan)
        array = np.array(found)
        if not np.isfinite(array).all():
            s = float(points[int(np.isfinite(array).argmin())])
            self.subject.number(method, self.at(letter, s), function, s, y)
        return array

    def run(self, low: float, high: float, phase: int) -> int:
        """Check everything on [low, high]; returns at how many points."""
        if not (self.gamma > 0 and math.isfinite(self.gamma)):
            self.subject.refuse("gamma", self.sample, self.gamma, "a positive number")
        s = spread_points(low, high, self.y, phase)
        self.value_noise, self.slope_noise = self._rounding(s)
        values, slopes = self._curve(s)
        count = len(s)
        for sign in (1, -1) if len(s) > 2 else ():
            finer, found = s, slopes
            for _ in range(2):  # where l' is steepest, and where it is flattest
                lengths = np.diff(finer)
                short = lengths < 1e-7 * (abs(finer[1:]) + abs(self.y))
                chords = np.where(short, -math.inf, sign * np.diff(found) / lengths)
                finer = around(finer, int(chords.argmax()))
                found = self._curve(finer)[1]
                count += len(finer)
        self._constants(s, values, slopes)
        self._conjugates(s, values, slopes)
        return count

    def _rounding(self, s: Array) -> tuple[float, float]:
        """Rounding in ``value`` and ``derivative``, as far as points next to each other show it."""
        some = s[:: max(1, len(s) // 16)]
        moved = some + 1e-13 * (s[-1] - s[0])
        differences = (
            abs(self.each(method, "s", np.minimum(moved, s[-1])) - self.each(method, "s", some))
            for method in ("value", "derivative")
        )
        first, second = (float(np.sort(change)[-2:][0]) for change in differences)
        return 8 * first, 8 * second

    def _curve(self, s: Array) -> tuple[Array, Array]:
        """l'(a)(b − a) ≤ l(b) − l(a) ≤ l'(b)(b − a) and 0 ≤ l'(b) − l'(a) ≤ γ(b − a)."""
        values, slopes = self.each("value", "s", s), self.each("derivative", "s", s)
        a, b, h = slopes[:-1], slopes[1:], np.diff(s)
        rise = np.diff(values)
        sizes = abs(values) + (abs(s) + abs(self.y)) * abs(slopes)
        room = 1e-11 * (sizes[1:] + sizes[:-1]) + self.value_noise
        steep = 1e-10 * (abs(a) + abs(b)) + 1e-13 * self.gamma * (abs(s[1:]) + abs(self.y))
        steep += self.slope_noise
        if (k := _first(b < a - steep)) is not None:
            place = f"{self.at('s', s[k + 1])}, after {a[k]:.10g} at s = {s[k]:.10g},"
            expected = "at least as much: l must be convex on the range of predictions"
            self.subject.refuse("derivative", place, float(b[k]), expected)
        if (k := _first((rise < a * h - room) | (rise > b * h + room))) is not None:
            expected = (
                f"between {values[k] + a[k] * h[k]:.10g} and {values[k] + b[k] * h[k]:.10g}, by the "
                f"derivatives there and at s = {s[k]:.10g}: a convex function and its slope"
            )
            self.subject.refuse("value", self.at("s", s[k + 1]), float(values[k + 1]), expected)
        if (k := _first(b - a > self.gamma * h * (1 + 1e-6) + 2 * steep)) is not None:
            place = f"{self.at('s', s[k])}, where l' rises by {(b[k] - a[k]) / h[k]:.10g} per unit,"
            self.subject.refuse("gamma", place, self.gamma, "at least that")
        return values, slopes

    def _constants(self, s: Array, values: Array, slopes: Array) -> None:
        """D_l(0, a) ≤ ``bregman_radius`` and −s·l'(s) ≤ ``descent_bound``, from which radii come."""
        start = float(values[int(np.searchsorted(s, 0.0))])
        divergence = float((start - values + s * slopes).max())
        descent = float((-s * slopes).max())
        size = RELATIVE * float((abs(values) + abs(s * slopes)).max()) + 8 * self.value_noise
        reach = float(max(-s[0], s[-1]))
        radius = self.loss.bregman_radius(reach)
        if not divergence <= radius * (1 + RELATIVE) + size:
            expected = f"at least {divergence:.10g}"
            self.subject.refuse("bregman_radius", self.at("bound", reach), float(radius), expected)
        bound = self.loss.descent_bound(self.y)
        if not descent <= bound + size + RELATIVE * abs(bound):
            expected = f"at least {descent:.10g}"
            self.subject.refuse("descent_bound", self.sample, float(bound), expected)

    def _conjugates(self, s: Array, values: Array, slopes: Array) -> None:
        """l(s) + l*(w) − ws ≥ 0, and = 0 with l*'(w) = s at w = l'(s)."""
        loss, y = self.loss, self.y
        numeric = numeric_parts(type(loss))
        low, high = (float(end) for end in loss.conjugate_domain(y))
        some = np.unique(np.linspace(0, len(s) - 1, 2 if "conjugate" in numeric else PAIRS))
        for k in some.round().astype(int).tolist():
            # As weights do it, which may miss an end of the domain by rounding.
            w = self.weight * slopes[k] / self.weight
            place, edge = self.at("w", w), 1e-9 * (1 + abs(w))
            if not low - edge <= w <= high + edge:
                expected = f"an interval that holds l'({s[k]:.10g})"
                self.subject.refuse("conjugate_domain", place, f"[{low:g}, {high:g}]", expected)
            if min(w - low, high - w) <= edge:  # there l* may be infinite, and s is not unique
                continue
            dual = self.subject.number("conjugate", place, loss.conjugate, w, y)
            terms = abs(values) + abs(dual) + abs(w * s)
            gaps = values + dual - w * s
            room = RELATIVE * terms + 8 * self.value_noise + abs(s) * self.slope_noise
            least = int((gaps + room).argmin())
            if gaps[least] < -room[least] or not abs(gaps[k]) <= room[k]:
                right = float((w * s - values).max())
                self.subject.refuse("conjugate", place, dual, f"{right:.10g} = sup_s ws − l(s)")
            self._forms(float(s[k]), w, float(gaps[k]), float(room[k]))
            if "conjugate_derivative" not in numeric:
                back = self.subject.number(
                    "conjugate_derivative", place, loss.conjugate_derivative, w, y
                )
                slope = self.subject.number(
                    "derivative", self.at("s", back), loss.derivative, back, y
                )
                size = abs(w) + self.gamma * (abs(back) + abs(y))
                if not abs(slope - w) <= RELATIVE * size + 8 * self.slope_noise:
                    expected = f"{s[k]:.10g} or another s with l'(s) = w"
                    self.subject.refuse("conjugate_derivative", place, back, expected)
        if "conjugate" not in numeric:
            self._beyond(s, values, slopes, low, high)

    def _beyond(self, s: Array, values: Array, slopes: Array, low: float, high: float) -> None:
        """l*(w) ≥ ws − l(s) also for w that no prediction of this sample has."""
        reach = slopes[-1] - slopes[0] + abs(slopes).max() + 1e-3
        for w in (slopes[0] - reach, slopes[0] - reach / 8, slopes[-1] + reach / 8):
            if low < w < high:
                # Infinity is right, and NaN is not.
                dual, least = float(self.loss.conjugate(w, self.y)), float((w * s - values).max())
                if not dual >= least - RELATIVE * (abs(least) + abs(w)) - 8 * self.value_noise:
                    expected = f"at least {least:.10g}, a value of ws − l(s)"
                    self.subject.refuse("conjugate", self.at("w", float(w)), dual, expected)

    def _forms(self, s: float, w: float, gap: float, room: float) -> None:
        """``fenchel_young``, and array forms, have the values of the methods."""
        loss, y, place = self.loss, self.y, self.at("w", w)
        if type(loss).fenchel_young is not SeparableConjugate.fenchel_young:
            found = self.subject.number("fenchel_young", place, loss.fenchel_young, s, w, y)
            if not abs(found - gap) <= 2 * room:
                self.subject.refuse("fenchel_young", place, found, f"{gap:.10g} at s = {s:.10g}")
        forms = vars(type(loss)).get("arrays")
        single = {"value": (s,), "derivative": (s,), "conjugate": (w,), "fenchel_young": (s, w)}
        right = {name: float(getattr(loss, name)(*at, y)) for name, at in single.items()}
        both = {"expansion": ("value", "derivative"), "duality": ("conjugate", "fenchel_young")}
        for name in filter(lambda name: hasattr(forms, name), (*single, *both)):
            at = single.get(name, (s,) if name == "expansion" else (s, w))
            found = getattr(forms, name)(*(np.array([number]) for number in (*at, y)))
            for one, part in zip(both.get(name, (name,)), found if name in both else (found,)):
                if not abs(float(part[0]) - right[one]) <= room + 1e-12 * abs(right[one]):
                    expected = f"{right[one]:.10g}, as the method {one} has it"
                    self.subject.refuse(f"arrays.{name}", place, float(part[0]), expected)


def _first(wrong: Array) -> int | None:
    return int(wrong.argmax()) if wrong.any() else None


# ---- oracles -----------------------------------------------------------------------------------


def _costs(problem: Problem, sample: Sample, few: bool) -> list[Array]:
    """Costs that runs may meet: Xᵀw/n for slopes w of the losses, such with noise, rows, and 0."""
    rng, rows, losses = np.random.default_rng(0), sample.rows, problem.losses.some(sample.places)
    predictions = 0 * losses.y, sample.low, (sample.low + sample.high) / 2
    slopes = [losses.derivative(s) for s in predictions]
    size = max(abs(w).max() for w in slopes) / 1000
    costs = []
    for _ in range(1 if few else 3):
        w = np.asarray(rng.integers(-1000, 1000, problem.rows.n), dtype=problem.rows.number_type)
        costs.append(_dense(problem.rows.rmatvec(size * w)) / problem.n)
    far = 1 if problem.oracle.indicator else 10**8
    costs += [far * x for x in rows.array[: 2 if few else 4]]
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

    def run(self, searches: int) -> None:
        """Check everything, and leave the oracle as it was before a run."""
        atoms, self.points = [], []
        for k in range(len(self.costs)):
            atoms.append(self._atom(k))
            self.points.append(atoms[k].dense(self.zero))
        self.minima = [self._asked("minimum", k) for k in range(len(self.costs))]
        for k, (atom, point) in enumerate(zip(atoms, self.points, strict=True)):
            if not np.array_equal(atom.dense(self.zero), point):
                expected = "one that stays as it is: return an array of its own"
                self.subject.refuse("argmin", self.at(k), "an atom that later calls change", expected)
        self.penalties = [self._member(k, point) for k, point in enumerate(self.points)]
        self._convexity()
        searched = [k for k, c in enumerate(self.costs) if c.any()]
        for k in searched[:searches]:
            self._search(k)
        for k in range(len(self.costs)):
            self._lowest(k)
        self._range()
        self.oracle.reset()

    def at(self, k: int) -> str:
        """The k-th cost, for sentences."""
        return f"c = {_shown(self.costs[k])}"

    def _answer(self, method: str, k: int, *at: Any) -> Any:
        try:
            return getattr(self.oracle, method)(*at)
        except Exception as fault:  # whatever the user's class raises
            self.subject.refuse(method, self.at(k), f"{type(fault).__name__}: {fault}", "an answer")

    def _asked(self, method: str, k: int, *at: Any) -> Any:
        """An answer of the oracle at the k-th cost, which must stay as it is."""
        self.calls += 1
        c = self.costs[k].copy()
        found = self._answer(method, k, *at, c)
        if not np.array_equal(c, self.costs[k]):
            came = f"an answer that changed c to {_shown(c)}"
            self.subject.refuse(method, self.at(k), came, "c as it was: work on a copy of it")
        return found

    def _atom(self, k: int) -> Atom:
        atom = self._asked("argmin", k)
        if not (isinstance(atom, Atom) and atom.fits(len(self.zero))):
            expected = f"an Atom of {len(self.zero)} entries, such as rcmd.DenseAtom(vector)"
            self.subject.refuse("argmin", self.at(k), repr(atom), expected)
        return atom

    def _member(self, k: int, point: Array) -> Any:
        """R at an atom or between two, which must be in dom R."""
        miss = self._answer("violation", k, point)
        if not miss <= FEASIBILITY:
            expected = f"0 at {_shown(point)}, an atom or between two: dom R is convex"
            self.subject.refuse("violation", self.at(k), float(miss), expected)
        penalty, value = self._answer("penalty", k, point), self._answer("value", k, point)
        right = 0 if self.oracle.indicator else penalty
        if not value == penalty == right:
            expected = f"{float(right):.10g} at {_shown(point)}, as penalty and indicator have it"
            self.subject.refuse("value", self.at(k), float(value), expected)
        return penalty

    def _convexity(self) -> None:
        """R((a+b)/2) ≤ (R(a) + R(b))/2 − μ‖a − b‖²/8."""
        mu, count = self.oracle.mu, len(self.points)
        for k in range(count):
            i = (7 * k + 3) % count
            a, b = self.points[k], self.points[i]
            middle = (a + b) / 2
            found, mean = self._member(k, middle), (self.penalties[k] + self.penalties[i]) / 2
            square, sag = float((a - b) @ (a - b)), float(mean - found)
            room = RELATIVE * (abs(float(mean)) + abs(float(found)))
            if sag < -room:
                expected = f"at most {float(mean):.10g}, half-way between two atoms: R is convex"
                self.subject.refuse("penalty", self.at(k), float(found), expected)
            if not 0 <= mu * square <= 8 * (sag + room):
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
        shares = np.linalg.lstsq(spanned.T, rays[0].astype(float), rcond=1e-10)[0]
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
        for _ in range(8):
            middle = (inside + outside) / 2
            if self._answer("violation", k, middle) <= 0:
                inside = middle
            else:
                outside = middle
        return inside

    def _lowest(self, k: int) -> None:
        """``minimum`` is at most cᵀβ + R(β) at every point, and equal to it at an exact atom."""
        c, lowest = self.costs[k], self.minima[k]
        values = [c @ v + r for v, r in zip(self.points, self.penalties, strict=True)]
        sizes = [abs(c) @ abs(v) for v in self.points[: len(self.costs)]]
        room = ORACLE_ROOM * float(max(sizes) + max(map(abs, self.penalties)))
        best = min(range(len(values)), key=values.__getitem__)
        if not lowest <= values[best] + room:
            expected = (
                f"at most {float(values[best]):.10g}, which cᵀβ + R(β) is at the point "
                f"{_shown(self.points[best])} of dom R: minimum must be a lower bound"
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
                place = f"{self.at(k)} and β = {_shown(self.points[i])}"
                self.subject.refuse("fenchel_young", place, float(found), expected)

    def _range(self) -> None:
        """``prediction_range`` holds x_jᵀβ for every point."""
        points = np.array(self.points)
        for x, low, high in zip(
            self.sample.rows.array, self.sample.low, self.sample.high, strict=True
        ):
            reached = points @ x
            room = ORACLE_ROOM * float((abs(points) @ abs(x)).max())
            least, most = reached.min(), reached.max()
            if not (low <= least + room and most - room <= high):
                came = f"[{float(low):.10g}, {float(high):.10g}]"
                expected = f"a range that holds {float(least):.10g} and {float(most):.10g}"
                self.subject.refuse("prediction_range", f"x = {_shown(x)}", came, expected)


def _shown(vector: Array) -> str:
    return np.array2string(np.asarray(vector, dtype=float), precision=6, threshold=6)


def _dense(vector: Any) -> Any:
    return vector.toarray().ravel() if hasattr(vector, "toarray") else vector


# ---- rows and runs -----------------------------------------------------------------------------


def check_rows(subject: Subject, rows: Rows, sample: Sample) -> None:
    """All products are those of the matrix whose rows are ``row(j)``."""
    rng, places, vectors = np.random.default_rng(0), sample.places, sample.rows.array
    beta = rng.integers(-1000, 1000, rows.p).astype(rows.number_type)
    w = rng.integers(-1000, 1000, rows.n).astype(rows.number_type)
    predictions, slope = rows.matvec(beta), np.asarray(_dense(rows.rmatvec(w)))
    there, back = float(w @ predictions), float(slope @ beta)
    size = float(abs(w) @ abs(predictions) + abs(slope) @ abs(beta))
    if not abs(there - back) <= ORACLE_ROOM * size:
        expected = f"{there:.10g} = wᵀ(Xβ): matvec and rmatvec must belong to the same matrix"
        subject.refuse("rmatvec", "random β and w", back, expected)
    total: Any = rows.rmatvec(0 * w)
    rows.scatter(places, w[places], total)
    lower, upper = -abs(beta), abs(beta) + 1
    products = vectors * lower, vectors * upper
    low, high = rows.box_range(lower, upper)
    smallest, largest = rows.entry_range()
    single = SparseAtom((0, rows.p - 1)[: rows.p], (2, 3)[: rows.p])
    zero = np.zeros(rows.p, dtype=rows.number_type)
    answers = {
        "matvec": (predictions[places], vectors @ beta),
        "predict": (rows.predict(places, DenseAtom(beta)), vectors @ beta),
        "predict at a sparse atom": (rows.predict(places, single), vectors @ single.dense(zero)),
        "scatter": (_dense(total), w[places] @ vectors),
        "square_norms": (rows.square_norms()[places], (vectors * vectors).sum(axis=1)),
        "max_norms": (rows.max_norms()[places], abs(vectors).max(axis=1)),
        "entry_range": (smallest[places] + largest[places], vectors.min(axis=1) + vectors.max(1)),
        "box_range, low": (low[places], np.minimum(*products).sum(axis=1)),
        "box_range, high": (high[places], np.maximum(*products).sum(axis=1)),
    }
    for method, (found, right) in answers.items():
        error = abs(np.asarray(found, dtype=float) - np.asarray(right, dtype=float))
        if not error.max() <= ORACLE_ROOM * (1 + float(abs(right).max())):
            k = int(error.argmax())
            place = f"entry {k}" if method == "scatter" else f"row {places[k]}"
            expected = f"{float(right[k]):.10g}, as row(j) gives it"
            subject.refuse(method, place, float(found[k]), expected)


def vet_run(problem: Problem, prox: BregmanProx, schedule: Schedule) -> None:
    """Refuse a prox or a schedule that is not rcmd's own and breaks its contract."""
    if foreign(prox):
        check_prox(Subject(type(prox).__name__, "rcmd.testing.check_prox"), problem, prox)
    if foreign(schedule):
        check_schedule(Subject(type(schedule).__name__, "rcmd.model.schedules"), schedule)


def check_prox(subject: Subject, problem: Problem, prox: BregmanProx) -> None:
    """The mirror map increases along s, and ``inverse`` inverts it."""
    losses = problem.losses
    for j in Sample(problem).places.tolist():
        y, bound = losses.y[j], problem.prediction_bounds[j]
        weight = 1 if losses.weights is None else losses.weights[j]
        states = [bound * k / 4 for k in range(-4, 5)]
        mirrors = [prox.mirror(losses.loss, s, y, weight) for s in states]
        size = float(max(map(abs, mirrors)))
        for k, (s, m) in enumerate(zip(states, mirrors, strict=True)):
            where = f"sample {j} (label {float(y):g}) and s = {float(s):.10g}"
            if k and not m >= mirrors[k - 1] - ORACLE_ROOM * size:
                expected = f"at least {float(mirrors[k - 1]):.10g}: h' must be increasing"
                subject.refuse("mirror", where, float(m), expected)
            back = prox.inverse(losses.loss, m, 0 * s, y, weight, bound)
            again = prox.mirror(losses.loss, back, y, weight)
            if not abs(again - m) <= ORACLE_ROOM * size:
                expected = "an s with the same mirror(s)"
                subject.refuse("inverse", f"{where}, m = {float(m):.10g},", float(back), expected)


def check_schedule(subject: Subject, schedule: Schedule) -> None:
    """0 < η_i ≤ 1, and positive averaging weights: α_i = c_i/C_i, growth C_i/C_base."""
    for i in (*range(12), 100, 1001, 10**4):
        where = f"i = {i}"
        eta, share = float(schedule.step(i)), float(schedule.mixing(i))
        for method, number in (("step", eta), ("mixing", share)):
            if not 0 < number <= 1 + RELATIVE:
                subject.refuse(method, where, number, "a number in (0, 1]")
        growth = float(schedule.growth(i + 1, i)) * (1 - float(schedule.mixing(i + 1)))
        if not abs(growth - 1) <= ORACLE_ROOM:
            expected = "1/(1 − mixing(i + 1)), which C_{i+1}/C_i is"
            subject.refuse("growth", f"{where} + 1, base {i},", float(schedule.growth(i + 1, i)), expected)

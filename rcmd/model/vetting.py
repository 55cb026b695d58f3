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
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.rows.atoms import Atom, DenseAtom, SparseAtom
from rcmd.rows.base import DenseRows, Rows
from rcmd.rows.validation import Array

if TYPE_CHECKING:
    from rcmd.model.problem import Problem
    from rcmd.model.prox import BregmanProx
    from rcmd.model.schedules import Schedule

PAIRS = 8
"""Dual points per sample at which conjugates are checked."""

RELATIVE, ORACLE_ROOM = 1e-9, 1e-7
"""Rounding allowed in identities of a loss, and of an oracle, relative to their terms."""

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


def vet(problem: Problem, found: dict[str, list[Any]]) -> dict[str, str]:
    """What each of these parts rests on; a fault is refused with a ``ValueError``.

    ``found`` has the foreign objects in the loss, the oracle and the rows, as far as there are any.
    """
    from rcmd.model.problem import names

    grounds = {}
    sample = _sample(problem)
    if "rows" in found:
        subject = Subject(names(found["rows"]), "its base class Rows says what each method is")
        grounds["rows"] = f"sampled at {check_rows(subject, problem.rows, sample)} rows"
    rows = DenseRows(np.array([problem.rows.row(j) for j in sample.tolist()]))
    if "oracle" in found:
        subject = Subject(names(found["oracle"]), "rcmd.testing.check_oracle")
        costs = _costs(problem, rows, sample)
        key = "oracle", *map(type, found["oracle"]), fingerprint((problem.oracle, rows.array, costs))
        if key not in _passed:
            checked = OracleCheck(subject, problem.oracle, rows, costs)
            checked.run()
            _remember(key, f"sampled at {len(checked.costs)} costs, {checked.calls} oracle calls")
        grounds["oracle"] = _passed[key]
    if "loss" in found:
        grounds["loss"] = _losses(problem, found["loss"], sample, rows)
    return grounds


def _remember(key: Any, value: Any) -> None:
    if len(_passed) >= MOST_KEPT:
        _passed.clear()
    _passed[key] = value


def _sample(problem: Problem) -> Array:
    """Up to ten rows: those of the extreme labels, weights and entries, and some between."""
    n, losses = problem.rows.n, problem.losses
    keys = [losses.y, problem.rows.max_norms()]
    if losses.weights is not None:
        keys.append(losses.weights)
    ends = [end for key in keys for end in (int(key.argmin()), int(key.argmax()))]
    return np.unique([*ends, *np.linspace(0, n - 1, 4).astype(int)])


# ---- losses ------------------------------------------------------------------------------------


def _losses(problem: Problem, found: list[Any], sample: Array, rows: Rows) -> str:
    loss, losses = problem.loss, problem.losses
    if type(loss).proved_on is not SeparableConjugate.proved_on and loss.proved_on(
        *problem.prediction_ranges, losses.y
    ):
        return "proved"
    low, high = (np.asarray(end, dtype=float) for end in problem.oracle.prediction_range(rows))
    low, high = np.minimum(low, 0.0), np.maximum(high, 0.0)
    some = losses.some(sample)
    key = "loss", *map(type, found), fingerprint((loss, some.y, some.weights))
    lowest, highest, ground = _passed.get(key, (low + 1, high, ""))
    if (low < lowest).any() or (high > highest).any():
        names = Subject(type(loss).__name__, "rcmd.testing.check_conjugate")
        if not (loss.gamma > 0 and math.isfinite(loss.gamma)):
            names.refuse("gamma", "every label", loss.gamma, "a positive number")
        points = 0
        for k, j in enumerate(sample.tolist()):
            y, weight = float(some.y[k]), 1.0 if some.weights is None else float(some.weights[k])
            gamma = float(loss.gamma if some.unit_gammas is None else some.unit_gammas[k])
            one = LossCheck(names, loss, gamma, y, weight, f"sample {j} (label {y:g})")
            points += one.run(float(low[k]), float(high[k]), k)
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
        s = spread_points(low, high, self.y, phase)
        self.value_noise, self.slope_noise = self._rounding(s)
        values, slopes = self._curve(s)
        count = len(s)
        for sign in (1, -1) if len(s) > 2 else ():
            finer = s
            for _ in range(2):  # where l' is steepest, and where it is flattest
                chords = np.diff(self.each("derivative", "s", finer)) / np.diff(finer)
                chords[np.diff(finer) < 1e-7 * (abs(finer[1:]) + abs(self.y))] = -sign * math.inf
                finer = around(finer, int((sign * chords).argmax()))
                if not finer[-1] > finer[0]:
                    break
                self._curve(finer)
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


def _costs(problem: Problem, rows: Rows, sample: Array) -> list[Array]:
    """Costs that runs may meet: Xᵀw/n for slopes w of the losses, rows, and such with noise."""
    rng, exact = np.random.default_rng(0), problem.exact
    few = problem.p > LARGE
    low, high = problem.oracle.prediction_range(rows)
    some, count = problem.losses.some(sample), rows.n
    mixed = [some.derivative(low + (high - low) * share) for share in (_half(exact), 0)]
    costs = [rows.rmatvec(w) / count for w in (some.derivative(0 * some.y), *mixed)]
    size = max(abs(w).max() for w in mixed)
    for _ in range(1 if few else 3):
        w = rng.integers(-1000, 1000, problem.rows.n) * (size / 1000)
        whole = problem.rows.rmatvec(np.asarray(w, dtype=problem.rows.number_type))
        whole = whole.toarray().ravel() if hasattr(whole, "toarray") else whole
        costs.append(whole / problem.n)
    for c in costs[: 1 if few else 4]:  # costs nearby, for which a heuristic chooses other atoms
        costs.append(c + c * rng.integers(-3, 4, len(c)) / (10 if not exact else _half(exact) * 20))
    far = 1 if problem.oracle.indicator else 10**8
    ends = [far * sign * x for x in rows.array[: 2 if few else 6] for sign in (1, -1)]
    return [*costs, *ends, 0 * costs[0]]


def _half(exact: bool) -> Any:
    from fractions import Fraction

    return Fraction(1, 2) if exact else 0.5


class OracleCheck:
    """One oracle at the costs and rows of one problem."""

    def __init__(
        self, subject: Subject, oracle: LinearMinOracle, rows: DenseRows, costs: list[Array]
    ) -> None:
        self.subject, self.oracle, self.rows, self.costs = subject, oracle, rows, costs
        self.zero = np.zeros(rows.p, dtype=rows.number_type)
        self.calls = 0

    def run(self) -> None:
        """Check everything, and leave the oracle as it was before a run."""
        atoms = [self._answer(k, c) for k, c in enumerate(self.costs)]
        self.minima = [self._ask("minimum", k, c) for k, c in enumerate(self.costs)]
        self.points = [atom.dense(self.zero) for atom in atoms]
        self._unchanged(atoms)
        self.penalties = [self._member(k, v) for k, v in enumerate(self.points)]
        self._convexity()
        nonzero = [k for k, c in enumerate(self.costs) if c.any()]
        for k in nonzero[: 1 if self.rows.p > LARGE else 8]:
            self._search(k)
        for k in range(len(self.costs)):
            self._lowest(k)
        self._range()
        self.oracle.reset()

    def at(self, k: int) -> str:
        """The k-th cost, for sentences."""
        return f"c = {np.array2string(self.costs[k].astype(float), precision=6, threshold=6)}"

    def _ask(self, method: str, k: int, *at: Any) -> Any:
        """A number from the oracle, in the number type of the data; c must stay as it is."""
        self.calls += method in ("argmin", "minimum")
        before = self.costs[k].copy()
        try:
            found = getattr(self.oracle, method)(*at)
        except Exception as fault:  # whatever the user's class raises
            self.subject.refuse(method, self.at(k), f"{type(fault).__name__}: {fault}", "an answer")
        if not np.array_equal(self.costs[k], before):
            came = f"an answer that changed c to {self.costs[k]}"
            self.costs[k][:] = before
            self.subject.refuse(method, self.at(k), came, "c as it was: work on a copy")
        return found

    def _answer(self, k: int, c: Array) -> Atom:
        atom = self._ask("argmin", k, c)
        if not (isinstance(atom, Atom) and atom.fits(self.rows.p)):
            expected = f"an Atom of {self.rows.p} entries, such as rcmd.DenseAtom(vector)"
            self.subject.refuse("argmin", self.at(k), repr(atom), expected)
        if not hasattr(self, "first"):
            self.first = []
        self.first.append(atom.dense(self.zero))
        return atom

    def _unchanged(self, atoms: list[Atom]) -> None:
        for k, (first, later) in enumerate(zip(self.first, self.points, strict=True)):
            if not np.array_equal(first, later):
                came = "an atom that later calls changed"
                expected = "an array of its own: return a copy"
                self.subject.refuse("argmin", self.at(k), came, expected)

    def _member(self, k: int, v: Array) -> Any:
        """R(v) at an atom, which must be in dom R."""
        miss = self._ask("violation", k, v)
        if not miss <= FEASIBILITY:
            expected = f"0 at the atom {v.astype(float)} that argmin gives there"
            self.subject.refuse("violation", self.at(k), float(miss), expected)
        penalty, value = self._ask("penalty", k, v), self._ask("value", k, v)
        if (self.oracle.indicator and penalty != 0) or value != penalty:
            expected = "0 for an indicator; set indicator = False" if value == penalty else "penalty"
            self.subject.refuse("value", self.at(k), float(value), f"{expected} at its atom")
        return penalty

    def room(self, c: Array) -> Any:
        """Rounding of numbers of the size of cᵀβ + R(β)."""
        sizes = [abs(v) @ abs(c) + abs(r) for v, r in zip(self.points, self.penalties, strict=True)]
        return ORACLE_ROOM * float(max(sizes)) + 1e-300

    def _convexity(self) -> None:
        """R((a+b)/2) ≤ (R(a) + R(b))/2 − μ‖a − b‖²/8, and the middle is in dom R."""
        mu, count = self.oracle.mu, len(self.points)
        if not (mu >= 0 and math.isfinite(mu)):
            self.subject.refuse("mu", "every cost", float(mu), "a number ≥ 0")
        for k in range(count):
            i = (7 * k + 3) % count
            a, b = self.points[k], self.points[i]
            middle = (a + b) / 2
            miss = self._ask("violation", k, middle)
            if not miss <= FEASIBILITY:
                expected = "0 in the middle of two atoms: dom R must be convex"
                self.subject.refuse("violation", self.at(k), float(miss), expected)
            mean = (self.penalties[k] + self.penalties[i]) / 2
            found = self._ask("penalty", k, middle)
            square = float((a - b) @ (a - b))
            room = RELATIVE * (abs(float(mean)) + abs(float(found))) + 1e-300
            if found > mean + room:
                expected = f"at most {float(mean):.10g}, between two atoms: R must be convex"
                self.subject.refuse("penalty", self.at(k), float(found), expected)
            if square > 0 and float(mu) * square / 8 > float(mean - found) + room:
                most = f"at most {8 * float(mean - found) / square:.10g}, as penalty has it there"
                self.subject.refuse("mu", f"the atom of {self.at(k)}", float(mu), most)
            self.points.append(middle)
            self.penalties.append(found)

    def _search(self, k: int) -> None:
        """More points of dom R that are good at c, along rays from the middle of the atoms."""
        c = self.costs[k]
        centre = sum(self.points) / len(self.points)
        flat = [v - centre for v in self.points[: len(self.costs)]]
        signs, sizes = np.sign(c), abs(c) / abs(c).max()
        directions = [-c / abs(c).max(), -signs, -signs * sizes**3]
        ends = [self._ray(k, centre, direction, flat) for direction in directions]
        for _ in range(2):
            best = min(ends, key=lambda v: c @ v)
            ends.append(self._ray(k, (centre + 3 * best) / 4, directions[0], flat))
        for v in ends:
            for u in (v, (v + self.points[k]) / 2, (v + 3 * self.points[k]) / 4):
                self.points.append(u)
                self.penalties.append(self._ask("penalty", k, u))

    def _ray(self, k: int, start: Array, direction: Array, flat: list[Array]) -> Array:
        """The last point of dom R from ``start`` in that direction; along dom R if it is flat."""
        for way in (direction, _projected(direction, flat)):
            inside, step = self.zero[0], self.zero[0] + 1
            while step < 2**20 and self._ask("violation", k, start + step * way) <= 0:
                inside, step = step, 2 * step
            for _ in range(12):
                middle = (inside + step) / 2
                if self._ask("violation", k, start + middle * way) <= 0:
                    inside = middle
                else:
                    step = middle
            if inside > 0:
                break
        return start + inside * way

    def _lowest(self, k: int) -> None:
        """``minimum`` is at most cᵀβ + R(β) at every point, and that of its own atom."""
        c, minimum, room = self.costs[k], self.minima[k], self.room(self.costs[k])
        values = [c @ v + r for v, r in zip(self.points, self.penalties, strict=True)]
        best = int(np.argmin([float(value) for value in values]))
        if not minimum <= values[best] + room:
            expected = (
                f"at most {float(values[best]):.10g}, which cᵀβ + R(β) is at the point "
                f"{self.points[best].astype(float)} of dom R: minimum must be a lower bound"
            )
            self.subject.refuse("minimum", self.at(k), float(minimum), expected)
        if self.oracle.exact_atoms and not values[k] <= minimum + room:
            expected = (
                f"{float(minimum):.10g}, the minimum; set exact_atoms = False where it is not one"
            )
            came = f"a point where cᵀβ + R(β) is {float(values[k]):.10g}"
            self.subject.refuse("argmin", self.at(k), came, expected)
        for i in (k, best, (5 * k + 1) % len(self.points)):
            found = self._ask("fenchel_young", k, self.points[i], c)
            right = values[i] - minimum
            if not abs(found - right) <= 2 * room:
                expected = f"{float(right):.10g} = R(β) + cᵀβ − minimum(c) at β = {self.points[i]}"
                self.subject.refuse("fenchel_young", self.at(k), float(found), expected)

    def _range(self) -> None:
        """``prediction_range`` holds x_jᵀβ for every point."""
        low, high = self.oracle.prediction_range(self.rows)
        for x, least, most in zip(self.rows.array, low, high, strict=True):
            for v in self.points:
                room = ORACLE_ROOM * float(abs(x) @ abs(v)) + 1e-300
                if not least - room <= x @ v <= most + room:
                    where = f"x = {np.array2string(x.astype(float), precision=6, threshold=6)}"
                    came = f"[{float(least):.10g}, {float(most):.10g}]"
                    expected = f"an interval that holds {float(x @ v):.10g}, which dom R reaches"
                    self.subject.refuse("prediction_range", where, came, expected)


def _projected(direction: Array, flat: list[Array]) -> Array:
    """``direction``, brought into the span of the differences of atoms."""
    spanned = np.array(flat, dtype=float)
    coefficients = np.linalg.lstsq(spanned.T, direction.astype(float), rcond=1e-10)[0]
    return coefficients.astype(direction.dtype) @ np.array(flat)


# ---- rows and runs -----------------------------------------------------------------------------


def check_rows(subject: Subject, rows: Rows, sample: Array) -> int:
    """All products are those of the matrix whose rows are ``row(j)``; returns how many rows."""
    rng = np.random.default_rng(0)
    beta = rng.integers(-1000, 1000, rows.p).astype(rows.number_type)
    w = rng.integers(-1000, 1000, rows.n).astype(rows.number_type)
    predictions, slope = rows.matvec(beta), np.asarray(_dense(rows.rmatvec(w)))
    there, back = float(w @ predictions), float(slope @ beta)
    size = float(abs(w) @ abs(predictions) + abs(slope) @ abs(beta))
    if not abs(there - back) <= ORACLE_ROOM * size:
        expected = f"{there:.10g} = wᵀ(Xβ): matvec and rmatvec must belong to the same matrix"
        subject.refuse("rmatvec", "random β and w", back, expected)
    vectors = np.array([rows.row(j) for j in sample.tolist()])
    total: Any = rows.rmatvec(0 * w)
    rows.scatter(sample, w[sample], total)
    lower, upper = -abs(beta), abs(beta) + 1
    products = vectors * lower, vectors * upper
    low, high = rows.box_range(lower, upper)
    smallest, largest = rows.entry_range()
    single = SparseAtom((0, rows.p - 1)[: rows.p], (2, 3)[: rows.p])
    zero = np.zeros(rows.p, dtype=rows.number_type)
    answers = {
        "matvec": (predictions[sample], vectors @ beta),
        "predict": (rows.predict(sample, DenseAtom(beta)), vectors @ beta),
        "predict at a sparse atom": (rows.predict(sample, single), vectors @ single.dense(zero)),
        "scatter": (_dense(total), w[sample] @ vectors),
        "square_norms": (rows.square_norms()[sample], (vectors * vectors).sum(axis=1)),
        "max_norms": (rows.max_norms()[sample], abs(vectors).max(axis=1)),
        "entry_range": (smallest[sample] + largest[sample], vectors.min(axis=1) + vectors.max(1)),
        "box_range, low": (low[sample], np.minimum(*products).sum(axis=1)),
        "box_range, high": (high[sample], np.maximum(*products).sum(axis=1)),
    }
    for method, (found, right) in answers.items():
        error = abs(np.asarray(found, dtype=float) - np.asarray(right, dtype=float))
        if not error.max() <= ORACLE_ROOM * (1 + float(abs(right).max())):
            k = int(error.argmax())
            place = f"entry {k}" if method == "scatter" else f"row {sample[k]}"
            expected = f"{float(right[k]):.10g}, as row(j) gives it"
            subject.refuse(method, place, float(found[k]), expected)
    return len(sample)


def _dense(vector: Any) -> Any:
    return vector.toarray().ravel() if hasattr(vector, "toarray") else vector


def vet_run(problem: Problem, prox: BregmanProx, schedule: Schedule) -> None:
    """Refuse a prox or a schedule that is not rcmd's own and breaks its contract."""
    from rcmd.model.problem import foreign

    if foreign(prox):
        check_prox(Subject(type(prox).__name__, "rcmd.testing.check_prox"), problem, prox)
    if foreign(schedule):
        check_schedule(Subject(type(schedule).__name__, "rcmd.model.schedules"), schedule)


def check_prox(subject: Subject, problem: Problem, prox: BregmanProx) -> None:
    """The mirror map increases along s, and ``inverse`` inverts it."""
    sample, losses = _sample(problem), problem.losses
    for j in sample.tolist():
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

"""Whether 0 ≤ f'' ≤ γ on an interval: a proof in interval arithmetic, a counterexample, or neither.

Arrays of intervals with doubles as ends. Sums, products, quotients and square roots are correctly
rounded, so that the next double outwards is a bound; exp, log and their like are widened by 2⁻⁴⁵
of themselves, many times the errors that mathematical libraries admit. Where something is not
defined all over an interval its ends are not numbers, and so is whatever is made of it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from rcmd.conjugates import scalars

Array = np.ndarray[Any, np.dtype[Any]]
_WIDER = 2.0**-45
# Below this, results of functions may be off by more than their share.
_TINY = 1e-290
_MAX_LEVELS = 24
_MAX_BOXES = 4000
# Cells for each group of samples, beside those, how far above a value of f'' a bound may be, and
# the most groups.
_CELLS = 64
_LOOSE = 0.01
_GROUPS = 512
# These points and their negatives cut the line into the boxes that are looked at first.
_GRID = np.concatenate([np.arange(0.0, 16.0, 1 / 8), 2.0 ** np.arange(4.0, 40.5, 0.5), [np.inf]])


class CurvatureFault(ValueError):
    """f'' < 0 at ``at``, or f'' > γ, which is then ``steep``."""

    def __init__(
        self, at: float, bound: float, gamma: float, where: dict[str, float] | None = None
    ) -> None:
        self.at, self.steep = at, bound > gamma
        names = {name.removeprefix("field_"): value for name, value in (where or {}).items()}
        place = "".join(f", {name} = {value:.10g}" for name, value in names.items())
        fault = f"γ = {gamma:.10g} is too small: l'' ≥"
        if not self.steep:
            fault = "the loss is not convex: l'' ≤"
        super().__init__(
            f"{fault} {bound:.6g} at r = {at:.10g}{place}, where r is s, s - y or y*s as in the "
            "formula; correct it, or choose a set whose predictions stay away from there"
        )


# ---- arithmetic --------------------------------------------------------------------------------


def _down(x: Array) -> Array:
    """The next double below; +0 stands for 0 or a positive number that was too small, and stays."""
    return np.where((x == 0) & ~np.signbit(x), 0.0, np.nextafter(x, -np.inf))


def _up(x: Array) -> Array:
    return -_down(-x)


class Interval:
    """All real numbers between ``low`` and ``high``, arrays of doubles."""

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = np.asarray(low), np.asarray(high)

    def __neg__(self) -> Interval:
        return Interval(0.0 - self.high, 0.0 - self.low)

    def __add__(self, other: Any) -> Interval:
        other = as_interval(other)
        low, high = self.low + other.low, self.high + other.high
        # A sum that is 0 is exact.
        return Interval(np.where(low == 0, low, _down(low)), np.where(high == 0, high, _up(high)))

    def __mul__(self, other: Any) -> Interval:
        other = as_interval(other)
        pairs = [(a, b) for a in (self.low, self.high) for b in (other.low, other.high)]
        corners = np.array(np.broadcast_arrays(*(a * b for a, b in pairs)))
        # 0 times a bound is 0, exactly; so is 0·∞, as the numbers themselves are finite.
        zero = np.array(np.broadcast_arrays(*((a == 0) | (b == 0) for a, b in pairs)))
        low, high = (np.where(zero, 0.0, moved(corners)) for moved in (_down, _up))
        found = Interval(low.min(axis=0), high.max(axis=0))
        return found.where(self.defined & other.defined)

    def __truediv__(self, other: Interval) -> Interval:
        away = (other.low > 0) | (other.high < 0)
        return self * Interval(_down(1 / other.high), _up(1 / other.low)).where(away)

    def __pow__(self, n: int) -> Interval:
        if n < 0:
            return constant(1) / self**-n
        return increasing(lambda x: x**n)(self if n % 2 else abs(self))

    def __abs__(self) -> Interval:
        least = np.maximum(np.maximum(self.low, -self.high), 0.0)
        return Interval(least, np.maximum(-self.low, self.high))

    __radd__, __rmul__ = __add__, __mul__

    @property
    def defined(self) -> Array:
        """Whether both ends are numbers."""
        return ~(np.isnan(self.low) | np.isnan(self.high))

    def where(self, condition: Array) -> Interval:
        """The same where ``condition`` holds, and not a number elsewhere."""
        ends = (np.where(condition, end, np.nan) for end in (self.low, self.high))
        return Interval(*ends)

    def common(self, other: Interval) -> Interval:
        """What two enclosures of one number have in common, or the one that is defined."""
        return Interval(np.fmax(self.low, other.low), np.fmin(self.high, other.high))


@cache
def constant(p: int, q: int = 1) -> Interval:
    """p/q."""
    if abs(p) > abs(q) << 1023:
        return Interval(-np.inf, np.inf)
    near = p / q
    if Fraction(near) == Fraction(p, q):
        return Interval(near, near)
    return Interval(np.nextafter(near, -np.inf), np.nextafter(near, np.inf))


def as_interval(x: Any) -> Interval:
    """An interval, or an integer as one."""
    return x if isinstance(x, Interval) else constant(x)


# ---- functions ---------------------------------------------------------------------------------


def increasing(
    function: Callable[[Array], Array], share: float = _WIDER
) -> Callable[[Any], Interval]:
    """A function of intervals from an increasing one of numbers that is right about signs.

    Its results may be off by a ``share`` of themselves.
    """

    def below(value: Array) -> Array:
        sign = np.signbit(value)
        wider = _down(value * np.where(sign, 1 + share, 1 - share))
        return np.where(abs(value) < _TINY, np.where(sign, -_TINY, 0.0), wider)

    def enclosure(x: Any) -> Interval:
        x = as_interval(x)
        return Interval(below(function(x.low)), -below(-function(x.high)))

    return enclosure


exp = increasing(np.exp)
_log = increasing(np.log)
_cosh = increasing(np.cosh)
_tanh = increasing(np.tanh)


def log(x: Any) -> Interval:
    """The logarithm where x > 0."""
    x = as_interval(x)
    return _log(x.where(x.low > 0))


def sqrt(x: Any) -> Interval:
    """The root where x ≥ 0."""
    x = as_interval(x)
    return Interval(_down(np.sqrt(x.low)), _up(np.sqrt(x.high))).where(x.low >= 0)


def power(x: Any, p: int, q: int) -> Interval:
    """x^(p/q) where x ≥ 0 and x is not 0 alone, for p > 0."""
    x = as_interval(x)
    found = exp(log(Interval(np.where(x.low == 0, x.high, x.low), x.high)) * constant(p, q))
    return Interval(np.where(x.low == 0, 0.0, found.low), found.high).where(found.defined)


def cosh(x: Any) -> Interval:
    """cosh |x|."""
    return _cosh(abs(as_interval(x)))


def tanh(x: Any) -> Interval:
    """Between −1 and 1."""
    found = _tanh(x)
    return Interval(np.maximum(found.low, -1.0), np.minimum(found.high, 1.0))


def _rising(scalar: Callable[[float], float], sign: int = 1) -> Callable[[Any], Interval]:
    """A function of intervals from an increasing one of ``scalars``, or with −1 a decreasing one.

    Where these are larger than ``_TINY`` their arguments are below 40², and so are the units in the
    last place by which exponentials of them are off.
    """
    many = np.vectorize(scalar, otypes=[float])

    def values(x: Array) -> Array:
        return np.where(np.isnan(x), np.nan, sign * many(x))

    enclosure = increasing(values, 2.0**-38)
    return enclosure if sign > 0 else lambda x: -enclosure(x)


def where(d: Any, strict: bool, yes: Any, no: Any) -> Interval:
    """``yes`` if d < 0 (or d ≤ 0), else ``no``, and all between both where that is not decided."""
    d, yes, no = map(as_interval, (d, yes, no))
    least, most = np.minimum(yes.low, no.low), np.maximum(yes.high, no.high)
    return _chosen(d, strict, yes, no, Interval(least, most))


def branch(d: Any, strict: bool, yes: Any, no: Any) -> Interval:
    """The same, and not a number where that is not decided: nothing is smooth there."""
    return _chosen(d, strict, as_interval(yes), as_interval(no), NAMES["unknown"])


def _chosen(d: Any, strict: bool, yes: Interval, no: Interval, open_: Interval) -> Interval:
    d = as_interval(d)
    here = d.high < 0 if strict else d.high <= 0
    there = d.low >= 0 if strict else d.low > 0
    ends = zip((yes.low, yes.high), (no.low, no.high), (open_.low, open_.high), strict=True)
    return Interval(*(np.where(here, a, np.where(there, b, c)) for a, b, c in ends))


_softplus_excess = _rising(scalars.softplus_excess)

NAMES: dict[str, Any] = {
    "iv": constant,
    "unknown": Interval(np.nan, np.nan),
    "inf": Interval(np.inf, np.inf),
    "root": Interval(-1e-29, 1e-29),
    "pi": Interval(np.pi, np.nextafter(np.pi, 4.0)),
    "exp": exp,
    "log": log,
    "sqrt": sqrt,
    "power": power,
    "sinh": increasing(np.sinh),
    "cosh": cosh,
    "sech2": lambda x: cosh(x) ** -2,
    "tanh": tanh,
    "atan": increasing(np.arctan),
    "asinh": increasing(np.arcsinh),
    "expit": lambda x: constant(1) / (1 + exp(-x)),
    "where": where,
    "branch": branch,
    "softplus": increasing(lambda x: np.logaddexp(0.0, x)),
    "log_softplus": _rising(scalars.log_softplus),
    "softplus_ratio": _rising(scalars.softplus_ratio, -1),
    "softplus_rest": lambda x: _softplus_excess(x) / NAMES["softplus"](x),
    "normcdf": _rising(scalars.normcdf),
    "log_normcdf": _rising(scalars.log_normcdf),
    "normal_hazard": _rising(scalars.normal_hazard, -1),
    "normal_bend": _rising(scalars.normal_bend, -1),
    "cloglog": _rising(scalars.cloglog),
    "cloglog_slope": _rising(scalars.cloglog_slope, -1),
    "cloglog_rest": _rising(scalars.cloglog_rest),
}
"""What a text may name; ``root`` is by how much a root of a polynomial may be off."""


# ---- the proof ---------------------------------------------------------------------------------


@cache
def function(text: str, parameters: tuple[str, ...] = ()) -> Callable[..., Interval]:
    """r and ``parameters`` ↦ the last line of ``text``, after lines that name parts."""
    *parts, result = text.splitlines()
    names: dict[str, Any] = dict(NAMES)
    body = "".join(f"    {line}\n" for line in [*parts, f"return {result}"])
    exec(f"def function({', '.join(('r', *parameters))}):\n{body}", names)

    def enclosure(x: Interval, *theta: Interval) -> Interval:
        found = as_interval(names["function"](x, *theta))
        return Interval(*(np.broadcast_to(end, x.low.shape) for end in (found.low, found.high)))

    return enclosure


class Curvature:
    """f'' in boxes, from texts of the fourth, the third and forms of the second derivative."""

    def __init__(self, texts: tuple[str, ...], parameters: tuple[str, ...] = ()) -> None:
        self.fourth, self.third, *self.forms = (function(text, parameters) for text in texts)

    def second(self, low: Array, high: Array, *theta: Interval) -> Interval:
        """The enclosure of f'', what all forms of it have in common."""
        found, *others = (form(Interval(low, high), *theta) for form in self.forms)
        for other in others:
            found = found.common(other)
        return found

    def sharper(
        self, a: Array, b: Array, middle: Array, centre: Interval, *theta: Interval
    ) -> Interval:
        """By the values at both ends where f'' is monotone, or by Taylor around the middle."""
        x, m = Interval(a, b), Interval(middle, middle)
        step, slope = x + -m, self.third(x, *theta)
        at_a, at_b = self.second(a, a, *theta), self.second(b, b, *theta)
        rises, falls = slope.low >= 0, slope.high <= 0
        taylor = centre + self.third(m, *theta) * step
        taylor = taylor + self.fourth(x, *theta) * step**2 * constant(1, 2)
        return Interval(
            np.select([rises, falls], [at_a.low, at_b.low], taylor.low),
            np.select([rises, falls], [at_b.high, at_a.high], taylor.high),
        ).where(np.isfinite(a + b))


@cache
def decide(
    texts: tuple[str, ...], ends: tuple[str, str], gamma: float, low: float, high: float
) -> bool:
    """Whether 0 ≤ f'' ≤ γ is proved for low ≤ r ≤ high on a piece; raises ``CurvatureFault``.

    ``texts`` are the fourth, the third and one or more forms of the second derivative, and
    ``ends`` those of the piece. Boxes are cut into four until f'' stays within on each: by its own
    enclosure, by its values at both ends where it is monotone, or by Taylor's formula around the
    middle. After too many boxes the answer is False, and so it is where one cannot be cut.
    """
    if not low <= high:
        return False
    curve = Curvature(texts)
    second = curve.second
    first, last = (function(end)(constant(0)) for end in ends)

    def outside(found: Interval) -> Array:
        return ~((found.low >= 0) & (found.high <= gamma))

    start, end = max(low, float(first.low)), min(high, float(last.high))
    cuts = np.concatenate([-_GRID, _GRID, [start, end]])
    edges = np.unique(cuts[(start <= cuts) & (cuts <= end)])
    a, b = (edges[:-1], edges[1:]) if len(edges) > 1 else (edges, edges)
    proved = True
    with np.errstate(all="ignore"):
        for _ in range(_MAX_LEVELS):
            found = second(a, b)
            left = outside(found)
            a, b, found = a[left], b[left], Interval(found.low[left], found.high[left])
            if not 0 < len(a) <= _MAX_BOXES:
                break
            middle = np.where(np.isfinite(a + b), a + (b - a) / 2, np.where(b < np.inf, b, a))
            centre = second(middle, middle)
            inside = (first.high <= middle) & (middle <= last.low)
            for bound, wrong in ((centre.high, centre.high < 0), (centre.low, centre.low > gamma)):
                for k in np.flatnonzero(wrong & inside)[:1]:
                    raise CurvatureFault(float(middle[k]), float(bound[k]), gamma)
            left = outside(found.common(curve.sharper(a, b, middle, centre)))
            a, b, middle = a[left], b[left], middle[left]
            narrow = ~((a < middle) & (middle < b))
            proved &= not narrow.any()
            a, b = a[~narrow], b[~narrow]
            quarter = (b - a) / 4
            edges = np.array([a, a + quarter, a + 2 * quarter, a + 3 * quarter, b])
            a, b = edges[:-1].ravel(), edges[1:].ravel()
    return proved and len(a) == 0


# ---- per sample --------------------------------------------------------------------------------


def bounds(
    texts: tuple[str, ...],
    parameters: tuple[str, ...],
    low: Array,
    high: Array,
    theta: tuple[Array, ...] = (),
) -> tuple[Array, Array]:
    """Proved bounds of f'' from below and above on each [low_j, high_j], at parameters theta_j.

    Samples are grouped by their parameters, and where these are many by near ones. The line of each
    group is cut into cells until f'' is nearly constant on them, or there are many; a range then
    gets what is found on the cells that it meets. Refused by a ``CurvatureFault`` where f'' < 0.
    """
    curve = Curvature(texts, parameters)
    group = _groups(theta, len(low))
    count = group.max() + 1
    boxes = [_per_group(part, group, count) for part in theta]
    a, b = _per_group(low, group, count).low, _per_group(high, group, count).high
    owner, most = np.arange(count), _MAX_BOXES + _CELLS * count
    done: list[Any] = []
    with np.errstate(all="ignore"):
        for level in range(_MAX_LEVELS):
            at = tuple(Interval(box.low[owner], box.high[owner]) for box in boxes)
            middle = a + (b - a) / 2
            found, centre = curve.second(a, b, *at), curve.second(middle, middle, *at)
            for k in np.flatnonzero(centre.high < 0)[:8]:
                inside = (group == owner[k]) & (low <= middle[k]) & (middle[k] <= high)
                for j in np.flatnonzero(inside)[:1]:
                    at_j = {name: each[j] for name, each in zip(parameters, theta, strict=True)}
                    raise CurvatureFault(float(middle[k]), float(centre.high[k]), np.inf, at_j)
            sharp = found.common(curve.sharper(a, b, middle, centre, *at))
            fine = (sharp.low >= 0) & (sharp.high <= (1 + _LOOSE) * centre.low)
            fine |= ~((a < middle) & (middle < b))
            if level == _MAX_LEVELS - 1 or len(a) + sum(len(cells[0]) for cells in done) > most:
                fine[:] = True
            done.append([part[fine] for part in (owner, a, b, sharp.low, sharp.high)])
            owner, a, b, middle = (part[~fine] for part in (owner, a, b, middle))
            owner, a, b = np.tile(owner, 2), np.append(a, middle), np.append(middle, b)
            if not len(a):
                break
    owner, a, b, least, largest = map(np.concatenate, zip(*done, strict=True))
    # Cells in order of their groups and places, whose ranks make one key of both.
    places, ranks = np.unique(np.concatenate([a, b, low, high]), return_inverse=True)
    starts, stops, firsts, lasts = np.split(ranks.ravel(), np.cumsum([len(a), len(b), len(low)]))
    order = np.lexsort((starts, owner))
    key = owner[order] * len(places)
    begin = np.searchsorted(key + stops[order], group * len(places) + firsts, "left")
    end = np.searchsorted(key + starts[order], group * len(places) + lasts, "right")
    slices = np.stack([begin, np.maximum(end, begin + 1)], axis=1).ravel()
    padded = [np.append(part[order], part[order[-1:]]) for part in (least, largest)]
    lowest = np.minimum.reduceat(padded[0], slices)[::2]
    highest = np.maximum.reduceat(padded[1], slices)[::2]
    # What is not proved for all of a group may be for each of its own.
    open_ = ~((lowest >= 0) & (highest < np.inf))
    if open_.any() and any((box.low < box.high).any() for box in boxes):
        for some in np.array_split(np.flatnonzero(open_), -(-open_.sum() // _GROUPS)):
            own = tuple(each[some] for each in theta)
            lowest[some], highest[some] = bounds(texts, parameters, low[some], high[some], own)
    return lowest, highest


def _groups(theta: tuple[Array, ...], n: int) -> Array:
    """The group of each sample: one for each combination of parameters, or of bins of them."""
    if not theta:
        return np.zeros(n, dtype=int)
    columns = np.stack(theta, axis=1)
    found, group = np.unique(columns, axis=0, return_inverse=True)
    if len(found) > _GROUPS:
        shares = np.linspace(0, 1, int(_GROUPS ** (1 / len(theta))) + 1)[1:-1]
        bins = [np.searchsorted(np.quantile(each, shares), each) for each in theta]
        group = np.unique(np.stack(bins, axis=1), axis=0, return_inverse=True)[1]
    return group.ravel()


def _per_group(values: Array, group: Array, count: int) -> Interval:
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return Interval(low, high)


def positive_somewhere(texts: tuple[str, ...], named: dict[str, Array]) -> bool:
    """Whether one of these functions is proved to be positive, at the parameters of each sample."""
    found = np.zeros(len(next(iter(named.values()))), dtype=bool)
    boxes = [Interval(values, values) for values in named.values()]
    with np.errstate(all="ignore"):
        for text in texts:
            zero = Interval(np.zeros(len(found)), np.zeros(len(found)))
            found |= function(text, tuple(named))(zero, *boxes).low > 0
    return bool(found.all())

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

Array = np.ndarray[Any, np.dtype[Any]]
_WIDER = 2.0**-45
# Below this, results of functions may be off by more than their share.
_TINY = 1e-290
_MAX_LEVELS = 24
_MAX_BOXES = 4000
# These points and their negatives cut the line into the boxes that are looked at first.
_GRID = np.concatenate([np.arange(0.0, 16.0, 1 / 8), 2.0 ** np.arange(4.0, 40.5, 0.5), [np.inf]])


class Counterexample(ValueError):
    """f'' < 0 at ``at``, or f'' > γ, which is then ``steep``."""

    def __init__(self, at: float, bound: float, gamma: float) -> None:
        self.at, self.steep = at, bound > gamma
        fault = f"γ = {gamma:.10g} is too small: l'' ≥"
        if not self.steep:
            fault = "the loss is not convex: l'' ≤"
        super().__init__(
            f"{fault} {bound:.6g} at r = {at:.10g}, where r is s, s - y or y*s as in the formula; "
            "correct the formula, or choose a set whose predictions stay away from there"
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
        return Interval(_down(self.low + other.low), _up(self.high + other.high))

    def __mul__(self, other: Any) -> Interval:
        other = as_interval(other)
        products = [a * b for a in (self.low, self.high) for b in (other.low, other.high)]
        corners = np.array(np.broadcast_arrays(*products))
        corners[np.isnan(corners)] = 0.0  # 0·∞: the numbers themselves are finite
        found = Interval(_down(corners).min(axis=0), _up(corners).max(axis=0))
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


def increasing(function: Callable[[Array], Array]) -> Callable[[Any], Interval]:
    """A function of intervals from an increasing one of numbers that is right about signs."""

    def below(value: Array) -> Array:
        sign = np.signbit(value)
        wider = _down(value * np.where(sign, 1 + _WIDER, 1 - _WIDER))
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


NAMES = {
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
    "softplus": increasing(lambda x: np.logaddexp(0.0, x)),
}
"""What a text may name; ``root`` is by how much a root of a polynomial may be off."""


# ---- the proof ---------------------------------------------------------------------------------


@cache
def function(text: str) -> Callable[[Interval], Interval]:
    """r ↦ the last line of ``text``, after lines that name parts."""
    *parts, result = text.splitlines()
    names: dict[str, Any] = dict(NAMES)
    body = "".join(f"    {line}\n" for line in [*parts, f"return {result}"])
    exec(f"def function(r):\n{body}", names)

    def enclosure(x: Interval) -> Interval:
        found = as_interval(names["function"](x))
        return Interval(*(np.broadcast_to(end, x.low.shape) for end in (found.low, found.high)))

    return enclosure


@cache
def decide(
    texts: tuple[str, ...], ends: tuple[str, str], gamma: float, low: float, high: float
) -> bool:
    """Whether 0 ≤ f'' ≤ γ is proved for low ≤ r ≤ high on a piece; raises ``Counterexample``.

    ``texts`` are the fourth, the third and one or more forms of the second derivative, and
    ``ends`` those of the piece. Boxes are cut into four until f'' stays within on each: by its own
    enclosure, by its values at both ends where it is monotone, or by Taylor's formula around the
    middle. After too many boxes the answer is False, and so it is where one cannot be cut.
    """
    if not low <= high:
        return False
    fourth, third, *forms = map(function, texts)
    first, last = (function(end)(constant(0)) for end in ends)

    def second(low: Array, high: Array) -> Interval:
        found, *others = (form(Interval(low, high)) for form in forms)
        for other in others:
            found = found.common(other)
        return found

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
                    raise Counterexample(float(middle[k]), float(bound[k]), gamma)
            x, m = Interval(a, b), Interval(middle, middle)
            step, slope, at_a, at_b = x + -m, third(x), second(a, a), second(b, b)
            rises, falls = slope.low >= 0, slope.high <= 0
            taylor = centre + third(m) * step + fourth(x) * step**2 * constant(1, 2)
            best = Interval(
                np.select([rises, falls], [at_a.low, at_b.low], taylor.low),
                np.select([rises, falls], [at_b.high, at_a.high], taylor.high),
            ).where(np.isfinite(a + b))
            left = outside(found.common(best))
            a, b, middle = a[left], b[left], middle[left]
            narrow = ~((a < middle) & (middle < b))
            proved &= not narrow.any()
            a, b = a[~narrow], b[~narrow]
            quarter = (b - a) / 4
            edges = np.array([a, a + quarter, a + 2 * quarter, a + 3 * quarter, b])
            a, b = edges[:-1].ravel(), edges[1:].ravel()
    return proved and len(a) == 0

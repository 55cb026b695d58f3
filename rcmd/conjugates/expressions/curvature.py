"""Convexity and γ: the range of f'' over a core, proved where algebra can, measured elsewhere."""

import math
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp

from rcmd.conjugates.expressions import intervals
from rcmd.conjugates.expressions.algebra import (
    Piece,
    exact_limit,
    factored,
    power_factors,
    quotient_of,
    roots,
)
from rcmd.conjugates.expressions.language import Counterexample, ExpressionError
from rcmd.conjugates.expressions.symbolic import (
    R,
    in_many_digits,
    interval_text,
    normcdf,
    number,
    stabilised,
)

DIGITS = 50
_MOST_DIGITS = 500
# What is left of a difference of terms near 1 is rounding below this, in 400 digits too.
_RESOLVED = mpmath.mpf(10) ** -350
# What a measured supremum is enlarged by.
_MARGIN = 1e-9
# Curvature beyond this counts as unbounded, except far out.
_UNBOUNDED = 1e30
# Doubles end there.
_BEYOND = 1e300
# Of what is finite at a point, none is larger at a distance of 10⁻³⁰.
_POLE = 1e20
# Up to there, ``_MOST_DIGITS`` leave no doubt of a sign.
_NEAR = 50
# How often intervals may show a place that was overlooked.
_TRIES = 8
Function = Callable[..., Any]
Doubt = tuple[tuple[str, ...], tuple[str, str]]
"""What ``intervals.decide`` is asked about a piece that is not proved: f'' and the piece's ends."""
_STEPS = [mpmath.mpf(10) ** k for k in range(-12, 9)]


def smoothness(pieces: list[Piece]) -> tuple[Any, list[Doubt] | None]:
    """γ = sup f'', and where that and convexity are not proved; refused where one is wrong.

    γ is infinite where f'' grows far out, but is finite on bounded sets. The doubts are None where
    two pieces meet in a way that is not proved to be smooth.
    """
    exact = [_check_joint(left, right) for left, right in pairwise(pieces)]
    suprema = [_supremum(piece) for piece in pieces]
    gamma = max((supremum for supremum, _ in suprema), key=number)
    if number(gamma) == 0:
        raise ExpressionError(
            "l'' is 0 everywhere: the expression is linear in s, so γ = 0 and its conjugate lives "
            "on a single point; expected a loss with curvature somewhere"
        )
    return gamma, [doubt for _, doubt in suprema if doubt] if all(exact) else None


def _check_joint(left: Piece, right: Piece) -> bool:
    """Whether value and slope are proved to be continuous; refused where they are not."""
    at, exact = left.high, True
    for name, what in (("value", "jumps"), ("slope", "has a kink")):
        before, after = left.limit(getattr(left, name), at), right.limit(getattr(right, name), at)
        if before is None or after is None or not (before.is_finite and after.is_finite):
            raise Counterexample(f"the loss has no finite {name} at {{at}}", number(at))
        first, second = number(before), number(after)
        if abs(first - second) > 1e-25 * (1 + abs(first)):
            raise Counterexample(
                f"the loss {what} at {{at}}: its {name} is {float(first):.6g} from the left and "
                f"{float(second):.6g} from the right; expected a γ-smooth loss: smooth the corner "
                "first",
                number(at),
            )
        exact &= not before.has(sp.Float) and not after.has(sp.Float)
        exact = exact and bool((before - after).equals(0))
    return exact


def _supremum(piece: Piece) -> tuple[Any, Doubt | None]:
    """sup f'' on a piece, and what is not proved; refused where f is not convex or smooth."""
    value, second = finite(piece.value, "the loss"), finite(piece.curvature, "l''")
    near = sorted(probes(piece), key=abs)  # a refusal is shown at the least of its places
    points = sorted(at for at in near if max(abs(value(at)), abs(second(at))) < _BEYOND)
    tails = _tails(piece, second, points)
    for at in sorted(points, key=abs):
        if second(at) > _UNBOUNDED and at not in tails:
            raise _not_smooth(second, [at])
    extremes = _rational_extremes(piece) or _power_extremes(piece)
    if extremes is None:
        return _measured(piece, second, points)
    least, most = extremes
    if number(least) < -1e-30:
        _refuse_if_negative(second, points)
        raise ExpressionError(
            f"the loss is not convex: the least l'' is {float(number(least)):.4g}; expected a "
            "convex function of s"
        )
    return most, None if least.is_nonnegative else doubt_of(piece)


# ---- by algebra --------------------------------------------------------------------------------


def _rational_extremes(piece: Piece) -> tuple[Any, Any] | None:
    """(inf f'', sup f'') where f'' is rational in r or exp(r): critical points are roots."""
    if piece.curvature.is_number:
        return piece.curvature, piece.curvature
    quotient = quotient_of(piece.curvature)
    if quotient is None:
        return None
    top, bottom = quotient.numerator, quotient.denominator
    low, high = sorted((quotient.inner.subs(R, end) for end in (piece.low, piece.high)), key=number)
    if any(number(low) <= number(root) <= number(high) for root in roots(bottom)):
        return None
    critical = roots(top.diff() * bottom - top * bottom.diff())
    inside = [root for root in critical if number(low) < number(root) < number(high)]
    values = [_tidy(quotient.at(root)) for root in inside]
    values += [quotient.at(end) for end in (low, high)]
    return min(values, key=number), max(values, key=number)


def _power_extremes(piece: Piece) -> tuple[Any, Any] | None:
    """For f''' a product of powers of polynomials, which changes sign at their roots only."""
    factors = power_factors(piece.curvature.diff(R))
    if factors is None:
        return None
    low, high = number(piece.low), number(piece.high)
    inside: list[Any] = []
    for polynomial, exponent in factors[1]:
        at = [root for root in roots(polynomial) if low <= number(root) <= high]
        if at and exponent.is_negative:
            return None
        inside += at
    values = [_tidy(piece.curvature.subs(R, root)) for root in inside]
    values += [exact_limit(piece.curvature, end) for end in (piece.low, piece.high)]
    if any(value is None or not value.is_finite for value in values):
        return None
    return min(values, key=number), max(values, key=number)


def _tidy(value: Any) -> Any:
    return value if value.has(sp.CRootOf) else sp.radsimp(value)


# ---- by numbers --------------------------------------------------------------------------------


def finite(expression: Any, what: str) -> Function:
    """A function of r, and of digits, that refuses what is not a real number; ∞ if too large."""
    function = in_many_digits(R, expression)

    @cache
    def evaluated(at: Any, digits: int = DIGITS) -> Any:
        with mpmath.workdps(digits):
            try:
                value = function(mpmath.mpf(at))
            except OverflowError:
                return mpmath.inf
            except (ArithmeticError, ValueError):
                value = mpmath.nan
            if isinstance(value, mpmath.mpc):
                value = value.real if value.imag == 0 else mpmath.nan
            value = mpmath.mpf(value)
        if mpmath.isfinite(value):
            return value
        if digits < _MOST_DIGITS:  # a difference may have vanished
            return evaluated(at, _MOST_DIGITS)
        raise Counterexample(
            f"{what} is not a finite real number at {{at}}, in {digits} digits; expected a loss "
            f"that is finite and smooth for every s: {_remedy(function, expression, at)}",
            at,
        )

    return evaluated


def _remedy(function: Any, expression: Any, at: Any) -> str:
    """What to do about a function that is no number at a point."""
    try:
        with mpmath.workdps(_MOST_DIGITS):
            values = [function(mpmath.mpf(at) + side * mpmath.mpf(10) ** -30) for side in (-1, 1)]
    except (ArithmeticError, ValueError):
        values = [mpmath.nan]
    if all(isinstance(value, mpmath.mpf) and mpmath.isfinite(value) for value in values):
        if max(map(abs, values)) > _POLE:
            return "there it has a pole"
        return "formulas take no limits, so that a gap such as 0/0 needs a class that fills it"
    if abs(at) <= _NEAR and any(isinstance(value, mpmath.mpc) for value in values):
        return "a logarithm or a root of a number below 0 needs where(…), or a class"
    if expression.has(normcdf):
        return "of differences of normcdf no digits are left far out: write a class that keeps them"
    return "where terms cancel far out, write it in words such as softplus, log1p or expm1"


def probes(piece: Piece) -> list[Any]:
    """Points inside a piece, from left to right, dense near its ends and near 0, and far out."""
    low, high = number(piece.low, DIGITS), number(piece.high, DIGITS)
    points = [mpmath.mpf(k) / 4 for k in range(-160, 161)]
    for centre in (mpmath.mpf(0), low, high, *_suspects(piece)):
        points += _near(centre)
    if mpmath.isfinite(high - low):
        points += [low + (high - low) * k / 64 for k in range(1, 64)]
    return sorted({point for point in points if low < point < high})


def _tails(piece: Piece, second: Function, points: list[Any]) -> set[Any]:
    """The points from which on f'' only grows up to an end of the piece at infinity."""
    found: set[Any] = set()
    for end, outwards in ((piece.low, points), (piece.high, points[::-1])):
        falls = (a for a, b in pairwise(outwards) if second(a) < second(b))
        last = next(falls, outwards[-1])
        found |= set(outwards[: outwards.index(last)]) if not end.is_finite else set()
    return found


def _near(centre: Any) -> list[Any]:
    return [centre + sign * step for step in _STEPS for sign in (-1, 1)]


def _suspects(piece: Piece) -> list[Any]:
    """Zeros of what is divided by, and of what roots and logarithms are taken of."""
    powers = piece.value.atoms(sp.Pow)
    bases = {p.base for p in powers if not (p.exp.is_Integer and p.exp.is_positive)}
    bases |= {part.args[0] for part in piece.value.atoms(sp.log)}
    found: list[Any] = []
    for base in bases:
        if base.is_polynomial(R) and sp.Poly(base, R).domain in (sp.ZZ, sp.QQ):
            found += map(number, roots(sp.Poly(base, R)))
    return found


def _peak(function: Function, points: list[Any]) -> tuple[Any, Any]:
    """Where ``function`` is largest near the best of ``points``, and its value there."""
    best = max(range(len(points)), key=lambda k: function(points[k]))
    low, high = points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)]
    ratio = (mpmath.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (left, high) if function(left) < function(right) else (low, right)
    at = max((points[best], low, high), key=function)
    return at, function(at)


def doubt_of(piece: Piece) -> Doubt:
    """For interval arithmetic: the fourth, third and second derivative, that in two forms."""
    parts = sp.Add.make_args(stabilised(piece.value))
    form = sp.Add(*(factored(part.diff(R, 2)) for part in parts))
    forms = (form.diff(R, 2), form.diff(R), form, piece.curvature)
    return tuple(map(interval_text, forms)), (interval_text(piece.low), interval_text(piece.high))


def _measured(piece: Piece, second: Function, points: list[Any]) -> tuple[Any, Doubt | None]:
    """sup f'' from many points, its limits and what intervals find, and a doubt if there is one."""
    _refuse_if_negative(second, points)
    ends = (piece.low, piece.high)
    limits = [piece.limit(piece.curvature, end) for end in ends]
    infinite = {end.is_finite for end, limit in zip(ends, limits, strict=True) if limit == sp.oo}
    growing = None in limits and _still_growing(second, points)
    if True in infinite or (growing and not _tails(piece, second, points)):
        raise _not_smooth(second, points)
    known = [number(limit) for limit in limits if limit is not None]
    known += [mpmath.inf] if growing else []
    doubt = doubt_of(piece)
    for _ in range(_TRIES):
        high = max([_peak(second, points)[1], *known]) * (1 + mpmath.mpf(_MARGIN))
        try:
            proved = intervals.decide(*doubt, float(high), -math.inf, math.inf)
        except intervals.CurvatureFault as found:
            shown = mpmath.mpf(found.at)
            ends = number(piece.low), number(piece.high)
            points = sorted(
                {*points, *(p for p in (shown, *_near(shown)) if ends[0] < p < ends[1])}
            )
            _refuse_if_negative(second, points)
        else:
            gamma = sp.Float(high, 30) if mpmath.isfinite(high) else sp.oo
            return gamma, None if proved else doubt
    raise _not_smooth(second, points)


def _still_growing(second: Function, points: list[Any]) -> bool:
    """Whether f'' grows by a tenth over the last decades before an end of the piece."""
    ends = [[second(at) for at in last] for last in (points[:3], points[-3:])]
    largest = max(map(second, points))
    return any(max(end) > 1.1 * min(end) and max(end) >= largest for end in ends)


def _refuse_if_negative(second: Function, points: list[Any]) -> None:
    """A refusal at the point where f'' is most negative, if it certainly is."""
    deepest = _peak(lambda at: -second(at), points)[0]
    for at in sorted({deepest, *points}, key=second):
        if second(at) >= 0:
            return
        # Rounding is excluded by more digits, where terms near 1 leave any: 1 + δ − 1 − δ² is −δ².
        more, most = second(at, 400), second(at, _MOST_DIGITS)
        if more < -_RESOLVED and abs(more - most) <= 1e-3 * abs(most):
            raise Counterexample(
                f"the loss is not convex: l'' = {mpmath.nstr(second(at), 4)} < 0 at {{at}}; "
                "expected a convex function of s",
                at,
            )


def _not_smooth(second: Function, points: list[Any]) -> Counterexample:
    """A refusal at the point nearest to 0 where f'' is large already, or largest."""
    typical = sorted(map(second, points))[len(points) // 2]
    large = [at for at in points if second(at) > 1e6 * (1 + typical)]
    at = min(large, key=abs) if large else max(points, key=second)
    return Counterexample(
        f"the loss is not smooth: l'' has no upper bound near {{at}}, where it is "
        f"{mpmath.nstr(second(at), 4)} already; expected a finite l'' for every s",
        at,
    )

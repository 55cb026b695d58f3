"""Functions of one number in high precision: values, suspicious points, maxima."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import mpmath
import sympy as sp

from rcmd.expressions.pieces import Piece, number
from rcmd.expressions.symbolic import R
from rcmd.expressions.words import Counterexample

DIGITS = 50
_STEPS = [mpmath.mpf(10) ** k for k in range(-12, 9)]


class Evaluation:
    """A function of r in ``DIGITS`` digits, refused where it is not a finite real number."""

    def __init__(self, expression: Any, what: str) -> None:
        self.function: Callable[[Any], Any] = sp.lambdify(R, expression, "mpmath")
        self.what = what
        self._known: dict[tuple[Any, int], Any] = {}

    def __call__(self, at: Any, digits: int = DIGITS) -> Any:
        if (at, digits) not in self._known:
            self._known[at, digits] = self._evaluated(at, digits)
        return self._known[at, digits]

    def _evaluated(self, at: Any, digits: int) -> Any:
        with mpmath.workdps(digits):
            try:
                value = self.function(mpmath.mpf(at))
            except (ArithmeticError, ValueError):
                value = mpmath.nan
            if isinstance(value, mpmath.mpc):
                value = value.real if value.imag == 0 else mpmath.nan
            value = mpmath.mpf(value)
        if not mpmath.isfinite(value):
            raise Counterexample(
                f"{self.what} is not a finite real number at {{at}}; expected a loss that is "
                "finite and smooth for every s",
                at,
            )
        return value

    def certainly_negative(self, at: Any) -> bool:
        """Whether the value is below zero, rounding excluded by more digits."""
        if self(at) >= 0:
            return False
        more, most = self(at, 400), self(at, 500)
        return bool(more < 0 and abs(more - most) <= 1e-3 * abs(most))


def probes(piece: Piece) -> list[Any]:
    """Points inside a piece, from left to right, dense near its ends and near 0, and far out."""
    low = None if piece.low == -sp.oo else number(piece.low, DIGITS)
    high = None if piece.high == sp.oo else number(piece.high, DIGITS)
    return sorted({at for at in _points(low, high, _suspects(piece)) if _within(at, low, high)})


def _points(low: Any, high: Any, suspects: list[Any]) -> Iterator[Any]:
    yield from (mpmath.mpf(k) / 4 for k in range(-160, 161))
    for centre in (mpmath.mpf(0), low, high, *suspects):
        if centre is not None:
            yield from (centre + sign * step for step in _STEPS for sign in (-1, 1))
    if low is not None and high is not None:
        yield from (low + (high - low) * k / 64 for k in range(1, 64))


def _within(at: Any, low: Any, high: Any) -> bool:
    return (low is None or at > low) and (high is None or at < high)


def _suspects(piece: Piece) -> list[Any]:
    """Zeros of what is divided by, and of what roots and logarithms are taken of."""
    bases = {p.base for p in piece.value.atoms(sp.Pow) if not _harmless(p.exp)}
    bases |= {part.args[0] for part in piece.value.atoms(sp.log)}
    found: list[Any] = []
    for base in bases:
        if base.is_polynomial(R) and sp.Poly(base, R).domain in (sp.ZZ, sp.QQ):
            found += map(number, sp.real_roots(sp.Poly(base, R)))
    return found


def _harmless(exponent: Any) -> bool:
    return bool(exponent.is_Integer and exponent > 0)


def peak(function: Callable[[Any], Any], points: list[Any]) -> tuple[Any, Any]:
    """Where ``function`` is largest near the best of ``points``, and its value there."""
    best = max(range(len(points)), key=lambda k: function(points[k]))
    low, high = points[max(best - 1, 0)], points[min(best + 1, len(points) - 1)]
    ratio = (mpmath.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (left, high) if function(left) < function(right) else (low, right)
    at = max((points[best], low, high), key=function)
    return at, function(at)

"""Generated code against many digits of the expression as it was written.

Nothing here knows how the code came about: values come from the user's own expression, slopes
from differences of it in 500 digits, conjugates from the definition.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import mpmath
import sympy as sp

from rcmd.expressions.frames import SIGNS
from rcmd.expressions.symbolic import S, Y

DIGITS = 500
TOLERANCE = 1e-11
_EPS = 2.0**-52
_PLACES = (1e-6, 1e-3, 0.1, 0.25, 0.6, 1.0, 1.7, 3.0, 5.5, 9.0, 20.0, 37.0, 50.0, 120.0, 310.0, 1e3)


class Disagreement(Exception):
    """Generated code that is not what the expression says, at a point."""


class Reference:
    """l and l' in ``DIGITS`` digits, from the expression as it was written."""

    def __init__(self, expression: Any) -> None:
        self.function = sp.lambdify((S, Y), expression, "mpmath")

    def value(self, s: Any, y: Any) -> Any:
        """l(s; y)."""
        with mpmath.workdps(DIGITS):
            return mpmath.mpf(self.function(mpmath.mpf(s), mpmath.mpf(y)))

    def slope(self, s: Any, y: Any) -> Any:
        """l'(s; y), by a difference over 2·10⁻¹⁰⁰."""
        with mpmath.workdps(DIGITS):
            step = mpmath.mpf(10) ** -100
            right, left = self.value(s + step, y), self.value(s - step, y)
            return (right - left) / (2 * step)


class Verification:
    """The functions of a generated module, checked one after the other."""

    def __init__(
        self, code: Mapping[str, Any], expression: Any, labels: str, joints: list[float]
    ) -> None:
        self.code = code
        self.exact = Reference(expression)
        self.labels = (1.0, -1.0) if labels == SIGNS else (0.0, 1.5, -3.25)
        self.joints = joints
        self.lost: str = ""

    def run(self) -> str:
        """What is to be said about lost digits, empty if nothing; raises ``Disagreement``."""
        for s, y in self.points():
            w = self._primal(s, y)
            self._dual(s, w, y)
        for y in self.labels:
            self._ends(y)
        return self.lost

    def points(self) -> Iterator[tuple[float, float]]:
        """Predictions up to ±1000 for each label."""
        for y in self.labels:
            yield 0.0, y
            for place in _PLACES:
                yield place, y
                yield -place, y
            for joint in self.joints:
                yield from ((joint + y, y), (joint + y + 1e-3, y), (joint + y - 1e-3, y))

    def _primal(self, s: float, y: float) -> float:
        gamma = self.code["gamma"](None)
        spread = 8 * _EPS * (abs(s) + abs(y))
        exact = self.exact.slope(s, y)
        w = self._compare("derivative", exact, (s, y), gamma * spread)
        self._compare("value", self.exact.value(s, y), (s, y), abs(float(exact)) * spread)
        return w

    def _dual(self, s: float, w: float, y: float) -> None:
        # At w = l'(s) up to rounding, ws − l(s) is l*(w) up to the square of the rounding.
        value = self.exact.value(s, y)
        with mpmath.workdps(DIGITS):
            wanted = mpmath.mpf(w) * s - value
        slack = 8 * _EPS * (abs(w * s) + abs(float(value)) + abs(w * y))
        self._compare("conjugate", wanted, (w, y), slack, strict=False)
        back = self._call("conjugate_derivative", (w, y))
        if math.isinf(back) and w in self._call("conjugate_domain", (y,)):
            return
        gamma = self.code["gamma"](None)
        slack = TOLERANCE * max(1.0, abs(w)) + 8 * _EPS * gamma * (abs(back) + abs(y))
        found = self.exact.slope(back, y) if math.isfinite(back) else math.nan
        if not abs(found - w) <= slack:
            raise Disagreement(
                f"conjugate_derivative({w!r}, {y!r}) is {back!r}, where l' is {float(found)!r}"
            )

    def _ends(self, y: float) -> None:
        """Next to a finite end of dom l* everything is a number, and l* is continuous."""
        for end, inwards in zip(self._call("conjugate_domain", (y,)), (1, -1), strict=True):
            if math.isinf(end):
                continue
            for w in (end, end + inwards * 1e-9, math.nextafter(end, inwards * math.inf)):
                found = self._call("conjugate", (w, y))
                back = self._call("conjugate_derivative", (w, y))
                if math.isnan(found) or math.isnan(back) or found == -math.inf:
                    raise Disagreement(f"conjugate({w!r}, {y!r}) is {found!r}, near an end {end!r}")
            last = self._call("conjugate", (end, y))
            if math.isfinite(last) and abs(found - last) > 1e-6 * max(1.0, abs(last)):
                raise Disagreement(f"conjugate jumps from {found!r} to {last!r} at {end!r}")

    def _compare(
        self, name: str, wanted: Any, at: tuple[float, float], slack: float, strict: bool = True
    ) -> float:
        found = self._call(name, at)
        error = abs(found - wanted)
        if not error <= TOLERANCE * max(1.0, abs(wanted)) + slack:
            raise Disagreement(f"{name}{at!r} is {found!r}, and {float(wanted)!r} is expected")
        if strict and not error <= 1e-10 * abs(wanted) + slack / 4 + 1e-200 and not self.lost:
            self.lost = f"{name}{at!r} keeps few digits of {float(wanted):.6g}"
        return found

    def _call(self, name: str, at: tuple[float, ...]) -> Any:
        try:
            return self.code[name](None, *at)
        except (ArithmeticError, ValueError) as fault:
            raise Disagreement(f"{name}{at!r} fails: {fault}") from None


def gap_is_accurate(code: Mapping[str, Any], expression: Any, y: float, reach: float) -> bool:
    """Whether fenchel_young keeps ten digits for pairs at distance ``reach``."""
    exact = Reference(expression)
    for s in (-8.0, -2.5, -1.0, -0.3, 0.0, 0.2, 0.7, 1.3, 4.0, 9.0):
        for h in (reach, -reach, reach / 8):
            q, w = s + y + h, code["derivative"](None, s + y + h, y)
            with mpmath.workdps(60):
                wanted = exact.value(s + y, y) - exact.value(q, y) - mpmath.mpf(w) * (s + y - q)
            found = code["fenchel_young"](None, s + y, w, y)
            if wanted > 1e-9 and abs(found - wanted) > 1e-10 * wanted + 1e-16:
                return False
    return True

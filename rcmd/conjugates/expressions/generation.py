"""From a parsed formula to a verified module and a record of what is known about the loss.

The verification knows nothing of how the code came about: values come from the user's own
expression, slopes from differences of it in 500 digits, conjugates from the definition.
"""

import ast
import math
from collections.abc import Mapping
from typing import Any

import mpmath
import sympy as sp

from rcmd.conjugates.base import SIGNS
from rcmd.conjugates.expressions.derivation import Core, derive, frames_of
from rcmd.conjugates.expressions.language import ExpressionError
from rcmd.conjugates.expressions.recipes import checked_recipe
from rcmd.conjugates.expressions.source import Unusable, module_text
from rcmd.conjugates.expressions.symbolic import S, Y, expression_of, in_many_digits, number

# Distances up to which l'' is integrated for the Fenchel–Young gap, tried in turn.
_REACHES = (1.0, 1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 4096)
DIGITS = 500
TOLERANCE = 1e-11
_EPS = 2.0**-52
_PLACES = (1e-6, 1e-3, 0.1, 0.25, 0.6, 1.0, 1.7, 3.0, 5.5, 9.0, 20.0, 37.0, 50.0, 120.0, 310.0, 1e3)


def generate(text: str, tree: ast.expr, numbers: Mapping[str, float], labels: str | None) -> str:
    """The module: functions, what is known about the loss, its CVXPY form; or a refusal."""
    expression = expression_of(text, tree, numbers)
    try:
        frames, kind = frames_of(expression, labels)
        cores = [derive(frame) for frame in frames]
    except ExpressionError:
        raise
    except Exception as fault:  # computer algebra fails in many ways, none of use to a reader
        raise ExpressionError(
            f"computer algebra could not work with the expression ({type(fault).__name__}); "
            "expected a simpler one"
        ) from fault
    gamma = max(_rounded_up(core.gamma) for core in cores)
    cores, source, lost = _verified(expression, kind, text, cores, gamma)
    pieces = [piece for core in cores for piece in core.pieces]
    parabolas = len(pieces) == len(cores) and all(piece.curvature.is_number for piece in pieces)
    uncertain = any(core.doubts is None for core in cores)
    doubts = [(core.frame.side, *doubt) for core in cores for doubt in core.doubts or ()]
    known = {
        "labels": kind,
        "gamma_origin": "proved" if not doubts and not uncertain else "numerical",
        "conjugate_origin": "closed form" if all(core.closed for core in cores) else "newton",
        "strictly_convex": all(piece.curvature != 0 for piece in pieces),
        "quadratic": parabolas,
        "lost_digits": lost,
    }
    recipes = [checked_recipe(core) for core in cores]
    return (
        f"{source}\n\nKNOWN = {known!r}\nBY_LABEL = {cores[0].frame.by_label!r}\n"
        f"DOUBTS = {None if uncertain else doubts!r}\n"
        f"RECIPES = {None if None in recipes else recipes!r}\n"
    )


def _verified(
    expression: Any, labels: str, title: str, cores: list[Core], gamma: float
) -> tuple[list[Core], str, str]:
    """The most explicit of three versions of the code that passes, and where digits are lost.

    Its gaps have the longest reach that keeps digits.
    """
    fault: Exception = Unusable()
    joints = [float(number(piece.high)) for core in cores for piece in core.pieces[:-1]]
    quadratic = all(piece.curvature.is_number for core in cores for piece in core.pieces)
    for version in (cores, [c.by_definition() for c in cores], [c.by_newton() for c in cores]):
        try:
            text = module_text(title, version, gamma, 0.0)
            lost = Verification(text, expression, labels).lost_digits(joints)
        except Unusable as found:
            fault = found
            continue
        for reach in (math.inf,) if quadratic else _REACHES:
            better = module_text(title, version, gamma, reach)
            if Verification(better, expression, labels).gap_is_accurate(min(reach, 2.0)):
                return version, better, lost
        return version, text, lost
    raise ExpressionError(
        f"the code generated for this loss failed its verification: {fault}; write the "
        "expression in stable words such as softplus, expit, logcosh, log1p or expm1"
    )


def _rounded_up(gamma: Any) -> float:
    near = float(number(gamma))
    return near if sp.Rational(near) >= gamma else math.nextafter(near, math.inf)


# ---- verification ------------------------------------------------------------------------------


class Verification:
    """A generated module beside l and l' in ``DIGITS`` digits, from the formula as written."""

    def __init__(self, text: str, expression: Any, labels: str) -> None:
        self.code: dict[str, Any] = {"__name__": "generated_loss"}
        exec(compile(text, "<generated loss>", "exec"), self.code)
        self.function = in_many_digits((S, Y), expression)
        self.labels = (1.0, -1.0) if labels == SIGNS else (0.0, 1.5, -3.25)
        self.lost = ""

    def value(self, s: Any, y: Any) -> Any:
        """l(s; y)."""
        with mpmath.workdps(DIGITS):
            return mpmath.mpf(self.function(mpmath.mpf(s), mpmath.mpf(y)))

    def slope(self, s: Any, y: Any) -> Any:
        """l'(s; y), by a difference over 2·10⁻¹⁰⁰."""
        with mpmath.workdps(DIGITS):
            step = mpmath.mpf(10) ** -100
            return (self.value(s + step, y) - self.value(s - step, y)) / (2 * step)

    def lost_digits(self, joints: list[float]) -> str:
        """Where digits are lost, empty if nowhere; raises ``Unusable``."""
        for y in self.labels:
            for s in (0.0, *(sign * place for place in _PLACES for sign in (1, -1))):
                self._check_at(s, y)
            for joint in joints:
                for step in (0.0, 1e-3, -1e-3):
                    self._check_at(joint + y + step, y)
            self._check_ends(y)
        return self.lost

    def _check_at(self, s: float, y: float) -> None:
        value, slope, gamma = self.value(s, y), self.slope(s, y), self.code["gamma"](None)
        spread = 8 * _EPS * (abs(s) + abs(y))
        w = self._compare("derivative", slope, (s, y), gamma * spread)
        self._compare("value", value, (s, y), abs(float(slope)) * spread)
        # At w = l'(s) up to rounding, ws − l(s) is l*(w) up to the square of the rounding.
        with mpmath.workdps(DIGITS):
            wanted = mpmath.mpf(w) * s - value
        slack = 8 * _EPS * (abs(w * s) + abs(float(value)) + abs(w * y))
        self._compare("conjugate", wanted, (w, y), slack, strict=False)
        back = self._call("conjugate_derivative", (w, y))
        if math.isinf(back) and w in self._call("conjugate_domain", (y,)):
            return
        slack = 8 * _EPS * gamma * (abs(back) + abs(y))
        found = self.slope(back, y) if math.isfinite(back) else math.nan
        if not abs(found - w) <= TOLERANCE * max(1.0, abs(w)) + slack:
            raise Unusable(
                f"conjugate_derivative({w!r}, {y!r}) is {back!r}, where l' is {float(found)!r}"
            )

    def _check_ends(self, y: float) -> None:
        """Next to a finite end of dom l* everything is a number, and l* is continuous."""
        for end, inwards in zip(self._call("conjugate_domain", (y,)), (1, -1), strict=True):
            if math.isinf(end):
                continue
            for w in (end, end + inwards * 1e-9, math.nextafter(end, inwards * math.inf)):
                found = self._call("conjugate", (w, y))
                back = self._call("conjugate_derivative", (w, y))
                if math.isnan(found) or math.isnan(back) or found == -math.inf:
                    raise Unusable(f"conjugate({w!r}, {y!r}) is {found!r}, near an end {end!r}")
            last = self._call("conjugate", (end, y))
            if math.isfinite(last) and abs(found - last) > 1e-6 * max(1.0, abs(last)):
                raise Unusable(f"conjugate jumps from {found!r} to {last!r} at {end!r}")

    def _compare(
        self, name: str, wanted: Any, at: tuple[float, float], slack: float, strict: bool = True
    ) -> float:
        found = self._call(name, at)
        error = abs(found - wanted)
        if not error <= TOLERANCE * max(1.0, abs(wanted)) + slack:
            raise Unusable(f"{name}{at!r} is {found!r}, and {float(wanted)!r} is expected")
        if strict and not error <= 1e-10 * abs(wanted) + slack / 4 + 1e-200 and not self.lost:
            self.lost = f"{name}{at!r} keeps few digits of {float(wanted):.6g}"
        return found

    def _call(self, name: str, at: tuple[float, ...]) -> Any:
        try:
            return self.code[name](None, *at)
        except (ArithmeticError, ValueError) as fault:
            raise Unusable(f"{name}{at!r} fails: {fault}") from None

    def gap_is_accurate(self, reach: float) -> bool:
        """Whether fenchel_young keeps ten digits for pairs at distance ``reach``."""
        y = self.labels[0]
        for s in (-8.0, -2.5, -1.0, -0.3, 0.0, 0.2, 0.7, 1.3, 4.0, 9.0):
            for h in (reach, -reach, reach / 8):
                q, w = s + y + h, self.code["derivative"](None, s + y + h, y)
                with mpmath.workdps(60):
                    wanted = self.value(s + y, y) - self.value(q, y) - mpmath.mpf(w) * (s + y - q)
                found = self.code["fenchel_young"](None, s + y, w, y)
                if wanted > 1e-9 and abs(found - wanted) > 1e-10 * wanted + 1e-16:
                    return False
        return True

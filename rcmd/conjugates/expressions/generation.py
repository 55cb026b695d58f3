"""From a parsed formula to a verified module and a record of what is known about the loss.

The verification knows nothing of how the code came about: values come from the user's own
expression, slopes from differences of it in 500 digits, conjugates from the definition.
"""

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import mpmath
import sympy as sp

from rcmd.conjugates.base import SIGNS
from rcmd.conjugates.expressions.branches import derivative, joints, leaves
from rcmd.conjugates.expressions.derivation import (
    AnyCore,
    Core,
    Frame,
    OpenCore,
    derive,
    frames_of,
    is_real,
    trials,
)
from rcmd.conjugates.expressions.language import ExpressionError, parse
from rcmd.conjugates.expressions.recipes import checked_recipe, recipe_code
from rcmd.conjugates.expressions.source import Unusable, module_text
from rcmd.conjugates.expressions.symbolic import (
    S,
    Y,
    expression_of,
    field_symbols,
    in_many_digits,
    number,
    scales,
)

# Distances up to which l'' is integrated for the Fenchel–Young gap, tried in turn.
_REACHES = (1.0, 1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 4096)
DIGITS = 500
TOLERANCE = 1e-11
_EPS = 2.0**-52
# What differences miss of l' where two pieces meet, in units of l''.
_MISSED = 1e-38
# Beyond, rounding of other sizes than l's own may leave the doubles.
_LARGEST = 1e200
# Where exp(s) is far from the largest double.
_NEAR = 310.0
_PLACES = (1e-6, 1e-3, 0.1, 0.25, 0.6, 1.0, 1.7, 3.0, 5.5, 9.0, 20.0, 37.0, 50.0, 120.0, 310.0, 1e3)


def generate(
    text: str, numbers: Mapping[str, float], labels: str | None, fields: Sequence[str] = ()
) -> str:
    """The module: functions, what is known about the loss, its CVXPY form; or a refusal."""
    tree = parse(text, numbers, fields)
    attempt = partial(_generate, text, tree, numbers, labels, cache(derive))
    plain = field_symbols(fields)
    try:
        return attempt(plain, _PLACES[-1], False)
    except Unverified as fault:
        refusal = fault
    if not refusal.kept:
        raise refusal
    # More can be rewritten where fields are positive; far out, 0·exp(s) is not a number; and terms
    # may be numbers where a square overflows.
    written = expression_of(text, tree, numbers, plain)
    positive = field_symbols(fields, positive=scales(written))
    attempts = [
        (symbols, farthest, expand)
        for expand in (False, True)
        for farthest in (_PLACES[-1], _NEAR)
        for symbols in (plain, positive)
        if (symbols is plain or positive != plain)
        and not (expand and sp.expand(written) == written)
    ]
    for symbols, farthest, expand in attempts[1:]:
        with suppress(ExpressionError):
            return attempt(symbols, farthest, expand)
    raise refusal


def _generate(
    text: str,
    tree: ast.expr,
    numbers: Mapping[str, float],
    labels: str | None,
    derived: Callable[[Frame], AnyCore],
    fields: Mapping[str, Any],
    farthest: float,
    expand: bool,
) -> str:
    try:
        expression = expression_of(text, tree, numbers, fields)
        frames, kind = frames_of(sp.expand(expression) if expand else expression, labels)
        cores = [derived(frame) for frame in frames]
        curves = [(core.frame.side, *curve) for core in cores for curve in core.curves]
        meetings = [joints(core.tree) for core in cores if isinstance(core, OpenCore)]
    except ExpressionError:
        raise
    except Exception as fault:  # computer algebra fails in many ways, none of use to a reader
        raise ExpressionError(
            f"computer algebra could not work with the expression ({type(fault).__name__}); "
            "expected a simpler one"
        ) from fault
    gamma = max(_rounded_up(core.gamma) for core in cores)
    symbols = list(fields.values())
    subject = Subject(text, expression, kind, cores, symbols, gamma, farthest)
    cores, source, lost = _verified(subject)
    if farthest < _PLACES[-1]:
        lost = lost or f"beyond |s| = {farthest:g} it may not be a number"
    closed = [core for core in cores if isinstance(core, Core)]
    pieces = [piece for core in closed for piece in core.pieces]
    parabolas = len(pieces) == len(cores) and all(piece.curvature.is_number for piece in pieces)
    uncertain = any(core.doubts is None for core in closed) or None in meetings
    doubts = [(core.frame.side, *doubt) for core in closed for doubt in core.doubts or ()]
    bends = [piece.curvature for piece in pieces]
    for core in cores:
        if isinstance(core, OpenCore):
            bends += [leaf for leaf, _ in leaves(derivative(core.tree, 2))]
    origin = "proved" if not doubts and not uncertain else "numerical"
    known = {
        "labels": kind,
        "reads": tuple(fields),
        "gamma_origin": "local" if curves else origin,
        "conjugate_origin": "closed form" if all(core.closed for core in cores) else "newton",
        "strictly_convex": 0 not in bends,
        "quadratic": parabolas,
        "lost_digits": lost,
    }
    recipes = [checked_recipe(core) for core in cores]
    known_forms = [[term[0] for term in each] for each in recipes if each is not None]
    found = zip(cores, recipes, strict=True)
    source += "".join(recipe_code(core, each, symbols) for core, each in found if each is not None)
    positive = tuple(name for name, symbol in fields.items() if symbol.is_positive)
    return (
        f"{source}\n\nKNOWN = {known!r}\nBY_LABEL = {cores[0].frame.by_label!r}\n"
        f"DOUBTS = {None if uncertain else doubts!r}\nCURVES = {curves!r}\n"
        f"JOINTS = {[joint for joints in meetings for joint in joints or ()]!r}\n"
        f"POSITIVE = {positive!r}\n"
        f"RECIPES = {None if None in recipes else known_forms!r}\n"
    )


class Unverified(ExpressionError):
    """No version of the code does what the formula says; ``kept``: a core has parameters."""

    kept = False


@dataclass(frozen=True)
class Subject:
    """What is generated and verified: a formula with its cores."""

    title: str
    expression: Any
    labels: str
    cores: list[AnyCore]
    fields: list[Any]
    gamma: float
    farthest: float
    """The largest |s| that it is verified at."""

    def code(self, cores: list[AnyCore], reach: float) -> str:
        """The module, from one version of its cores."""
        return module_text(self.title, cores, self.fields, self.gamma, reach)

    def holds_at(self, sample: dict[Any, Any]) -> bool:
        """Whether a label and fields make real numbers of what they are outside the cores."""
        frames = [core.frame for core in self.cores]
        parts = [part for each in frames for part in (each.offset, each.tilt, each.constant)]
        return all(is_real(part.xreplace(sample)) for part in parts)

    @property
    def samples(self) -> list[tuple[float, ...]]:
        """Labels and fields to verify it at, of which a core may have told some."""
        labels = (1.0, -1.0) if self.labels == SIGNS else (0.0, 1.5, -3.25)
        told = [sample for core in self.cores for sample in getattr(core, "samples", [])]
        kept = {each for core in self.cores for each in core.frame.parameters}
        found = []
        for k, trial in enumerate(told or trials(self.fields)[: len(labels)]):
            turned = (*labels[k % len(labels) :], *labels)
            tried = [trial[Y]] if Y in kept else map(sp.Rational, turned)
            own = {each: trial.get(each, sp.Rational(1, 2)) for each in self.fields}
            y = next((y for y in tried if self.holds_at({**own, Y: y})), labels[0])
            found.append(tuple(map(float, (y, *own.values()))))
        return found


def _verified(subject: Subject) -> tuple[list[AnyCore], str, str]:
    """The most explicit of three versions of the code that passes, and where digits are lost.

    Its gaps have the longest reach that keeps digits.
    """
    fault: Exception = Unusable()
    cores = subject.cores
    pieces = [piece for core in cores for piece in core.pieces]
    joints = [float(number(piece.high)) for piece in pieces if piece.high.is_finite]
    quadratic = all(core.pieces for core in cores) and all(p.curvature.is_number for p in pieces)
    for version in (cores, [c.by_definition() for c in cores], [c.by_newton() for c in cores]):
        try:
            text = subject.code(version, 0.0)
            lost = Verification(text, subject).lost_digits(joints, subject.farthest)
        except Unusable as found:
            fault = found
            continue
        for reach in (math.inf,) if quadratic else _REACHES:
            better = subject.code(version, reach)
            if Verification(better, subject).gap_is_accurate(min(reach, 2.0)):
                return version, better, lost
        return version, text, lost
    refusal = Unverified(
        f"the code generated for this loss failed its verification: {fault}; write the "
        "expression in stable words such as softplus, expit, logcosh, log1p or expm1"
    )
    refusal.kept = any(isinstance(core, OpenCore) for core in cores)
    raise refusal


def _rounded_up(gamma: Any) -> float:
    near = float(number(gamma))
    if math.isinf(near):
        return near
    return near if sp.Rational(near) >= gamma else math.nextafter(near, math.inf)


# ---- verification ------------------------------------------------------------------------------


Sample = tuple[float, ...]
"""A label with fields, or an argument before them."""


class Verification:
    """A generated module beside l and l' in ``DIGITS`` digits, from the formula as written."""

    def __init__(self, text: str, subject: Subject) -> None:
        self.code: dict[str, Any] = {"__name__": "generated_loss"}
        exec(compile(text, "<generated loss>", "exec"), self.code)
        self.function = in_many_digits((S, Y, *subject.fields), subject.expression)
        self.gamma, self.samples = subject.gamma, subject.samples
        self.lost = ""

    def value(self, s: Any, at: Sample) -> Any:
        found = self.function(mpmath.mpf(s), *map(mpmath.mpf, at))
        if isinstance(found, mpmath.mpc):
            raise Unusable(f"the formula is no real number at s = {float(s):g} with {at}")
        return mpmath.mpf(found)

    def jet(self, s: float, at: Sample) -> tuple[Any, Any, float]:
        """l(s), l'(s) and γ, by differences; for γ twice l''(s) where it has no bound."""
        digits = DIGITS if abs(s) > 50 else DIGITS * 2 // 5
        with mpmath.workdps(digits):
            step = mpmath.mpf(10) ** -(digits // 5)
            below, value, above = (self.value(s + k * step, at) for k in (-1, 0, 1))
            bend = self.gamma
            if math.isinf(bend):
                bend = float(2 * abs(above - 2 * value + below) / step**2)
            return value, (above - below) / (2 * step), bend

    def lost_digits(self, joints: list[float], farthest: float) -> str:
        """Where digits are lost, empty if nowhere; raises ``Unusable``."""
        places = [place for place in _PLACES if place <= farthest]
        for at in self.samples:
            for s in (0.0, *(sign * place for place in places for sign in (1, -1))):
                self._check_at(s, at)
            for joint in joints:
                for step in (0.0, 1e-3, -1e-3):
                    self._check_at(joint + at[0] + step, at)
            self._check_ends(at)
        return self.lost

    def _check_at(self, s: float, at: Sample) -> None:
        try:
            value, slope, bend = self.jet(s, at)
        except OverflowError:
            return
        if max(abs(value), abs(slope), bend) > _LARGEST:
            return
        spread = 8 * _EPS * (abs(s) + abs(at[0]))
        w = self._compare("derivative", slope, (s, *at), bend * spread, missed=bend * _MISSED)
        self._compare("value", value, (s, *at), abs(float(slope)) * spread)
        # At w = l'(s) up to rounding, ws − l(s) is l*(w) up to the square of the rounding.
        with mpmath.workdps(DIGITS):
            wanted = mpmath.mpf(w) * s - value
        slack = 8 * _EPS * (abs(w * s) + abs(float(value)) + abs(w * at[0]))
        self._compare("conjugate", wanted, (w, *at), slack, strict=False)
        back = self._call("conjugate_derivative", (w, *at))
        if math.isinf(back) and w in self._call("conjugate_domain", at):
            return
        found, slack = math.nan, 0.0
        if math.isfinite(back):
            _, found, bend = self.jet(back, at)
            slack = 8 * _EPS * bend * (abs(back) + abs(at[0]))
        if not abs(found - w) <= TOLERANCE * max(1.0, abs(w)) + slack:
            raise Unusable(
                f"conjugate_derivative{(w, *at)!r} is {back!r}, where l' is {float(found)!r}"
            )

    def _check_ends(self, at: Sample) -> None:
        """Next to a finite end of dom l* everything is a number, and l* is continuous."""
        for end, inwards in zip(self._call("conjugate_domain", at), (1, -1), strict=True):
            if math.isinf(end):
                continue
            for w in (end, end + inwards * 1e-9, math.nextafter(end, inwards * math.inf)):
                found = self._call("conjugate", (w, *at))
                back = self._call("conjugate_derivative", (w, *at))
                if math.isnan(found) or math.isnan(back) or found == -math.inf:
                    raise Unusable(f"conjugate{(w, *at)!r} is {found!r}, near an end {end!r}")
            last = self._call("conjugate", (end, *at))
            room = 1e-6 * max(1.0, abs(last)) + 8 * _EPS * abs(end * back)
            if math.isfinite(last) and abs(found - last) > room:
                raise Unusable(f"conjugate jumps from {found!r} to {last!r} at {end!r}")

    def _compare(
        self,
        name: str,
        wanted: Any,
        at: Sample,
        slack: float,
        strict: bool = True,
        missed: float = 0.0,
    ) -> float:
        found = self._call(name, at)
        error = abs(found - wanted)
        if not error <= TOLERANCE * max(1.0, abs(wanted)) + slack:
            raise Unusable(f"{name}{at!r} is {found!r}, and {float(wanted)!r} is expected")
        if (
            strict
            and not error <= 1e-10 * abs(wanted) + slack / 4 + missed + 1e-200
            and not self.lost
        ):
            self.lost = f"{name}{at!r} keeps few digits of {float(wanted):.6g}"
        return float(found)

    def _call(self, name: str, at: Sample) -> Any:
        try:
            return self.code[name](None, *at)
        except (ArithmeticError, ValueError) as fault:
            raise Unusable(f"{name}{at!r} fails: {fault}") from None

    def gap_is_accurate(self, reach: float) -> bool:
        """Whether fenchel_young keeps ten digits for pairs at distance ``reach``."""
        at = self.samples[0]
        for s in (-8.0, -2.5, -1.0, -0.3, 0.0, 0.2, 0.7, 1.3, 4.0, 9.0):
            for h in (reach, -reach, reach / 8):
                s0 = s + at[0]
                q, w = s0 + h, self.code["derivative"](None, s0 + h, *at)
                with mpmath.workdps(60):
                    wanted = self.value(s0, at) - self.value(q, at) - mpmath.mpf(w) * (s0 - q)
                found = self.code["fenchel_young"](None, s0, w, *at)
                if wanted > 1e-9 and abs(found - wanted) > 1e-10 * wanted + 1e-16:
                    return False
        return True

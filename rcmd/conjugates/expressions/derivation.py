"""A loss in parts: the label, a core of one number, its γ, dom f*, f*' and f*.

l(s; y) = f(m·s − o) + t·(m·s − o) + c, with f free of y: m is 1, or the label itself where labels
are ±1; o, t and c are functions of y and of fields. Then l*(w) = w·o/m + f*(w/m − t) − c, so that
only the *core* f needs to be analysed. Where no such form exists and labels are ±1, each label has
its own core; else the core keeps what cannot be separated as its parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import mpmath
import sympy as sp

from rcmd.conjugates.base import REAL, SIGNS
from rcmd.conjugates.expressions.algebra import Piece, far_limit, pieces_of, quotient_of, solutions
from rcmd.conjugates.expressions.branches import (
    Tree,
    derivative,
    interval_form,
    mapped,
    tree_of,
)
from rcmd.conjugates.expressions.curvature import Doubt, doubt_of, finite, probes, smoothness
from rcmd.conjugates.expressions.language import FUNCTIONS, Counterexample, ExpressionError
from rcmd.conjugates.expressions.symbolic import (
    SWITCHES,
    R,
    S,
    W,
    Y,
    in_many_digits,
    name_of,
    number,
    stabilised,
    stable,
)

# Digits: at r = 20 the slope of a saturating loss may differ from its limit in the 100th.
_ROUND_TRIP = 200


# ---- the label ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Frame:
    """How one core enters the loss; ``by_label`` says m = y, ``side`` which labels it is for."""

    core: Any
    by_label: bool = False
    offset: Any = sp.S.Zero
    tilt: Any = sp.S.Zero
    constant: Any = sp.S.Zero
    side: int = 0

    @property
    def parameters(self) -> list[Any]:
        """The label and the fields that the core keeps."""
        return sorted(self.core.free_symbols - {R}, key=lambda symbol: (symbol != Y, symbol.name))


def frames_of(expression: Any, labels: str | None) -> tuple[list[Frame], str]:
    """The frames of a loss, and the labels it is for."""
    if S not in expression.free_symbols:
        raise ExpressionError(
            f"the loss {expression} does not depend on s, the prediction; expected a function of s"
        )
    for form in dict.fromkeys((expression, _one_sided(expression))):
        moved = {offset: form.subs(S, R + offset) for offset in _offsets(form)}
        plain = (Frame(core, offset=offset) for offset, core in moved.items())
        # A plain offset before a tilt: f(s − y) rounds once, f(s) + t·s + c may cancel.
        tilted = (_tilted(core, offset) for offset, core in moved.items())
        for frame in (*(frame for frame in plain if not frame.parameters), *filter(None, tilted)):
            return [frame], labels or REAL
    frames = [Frame(expression.subs(S, R + g), offset=g) for g in _offsets(expression)]
    best = min(frames, key=lambda frame: (Y in frame.parameters, len(frame.parameters)))
    if Y not in best.parameters:
        return [best], labels or REAL
    # A label that only tilts the loss may be any number.
    if labels == SIGNS or (labels is None and Y in sp.expand(expression.diff(S, 2)).free_symbols):
        positive = expression.subs({S: R, Y: 1}, simultaneous=True)
        mirrored = expression.subs({S: -R, Y: -1}, simultaneous=True)
        if positive == mirrored or sp.expand(positive - mirrored) == 0:
            return [Frame(positive, by_label=True)], SIGNS
    if labels == SIGNS:
        negative = expression.subs({S: R, Y: -1}, simultaneous=True)
        return [Frame(positive, side=1), Frame(negative, side=-1)], SIGNS
    return [best], REAL


def _one_sided(expression: Any) -> Any:
    """log(1 + exp(−x)) as log(1 + exp x) − x, so that both are seen to be one function."""

    def turned(argument: Any) -> Any:
        power = argument - 1
        if isinstance(power, sp.exp) and power.args[0].could_extract_minus_sign():
            return sp.log(1 + 1 / power) + power.args[0]
        return sp.log(argument)

    return sp.expand(expression.replace(sp.log, turned))


def _offsets(expression: Any) -> list[Any]:
    """0, and every g of labels and fields for which s − g occurs up to a factor."""
    found = [sp.S.Zero]
    for part in sp.preorder_traversal(expression):
        if isinstance(part, sp.Add) and S in part.free_symbols and len(part.free_symbols) > 1:
            slope = part.diff(S)
            known = slope.is_number and slope != 0
            offset = S - part / slope if known else S  # as it is written, it cancels in ``part``
            offset = sp.expand(offset) if S in offset.free_symbols else offset
            if S not in offset.free_symbols:
                constant = offset.subs(dict.fromkeys(offset.free_symbols, 0))
                found += [offset, offset - constant if constant.is_finite else offset]
    return sorted(dict.fromkeys(found), key=sp.count_ops)[:6]


def _tilted(moved: Any, offset: Any) -> Frame | None:
    """The frame of ``moved`` = f(r) + t·r + c, with t and c of labels and fields; or None."""
    own = moved.free_symbols - {R}
    if any(own & part.free_symbols for part in moved.atoms(*SWITCHES)):
        return None
    curvature = moved.diff(R, 2)
    if any(sp.expand(curvature.diff(each)) != 0 for each in own):
        return None
    core = moved.subs(dict.fromkeys(own, 0))
    if core.has(sp.zoo, sp.nan, sp.oo):
        return None
    rest = sp.expand(moved - core)
    tilt = sp.expand(rest.diff(R))
    constant = rest.subs(R, 0)
    if R in tilt.free_symbols or sp.expand(rest - tilt * R - constant) != 0:
        return None
    return Frame(core, offset=offset, tilt=tilt, constant=constant)


# ---- the core ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class End:
    """One end of dom f*: the slope there, f* there, and the r that attains it, if one does."""

    slope: Any
    conjugate: float
    attained: Any = None


@dataclass(frozen=True)
class Core:
    """A function of one number with all that was derived.

    ``doubts`` are the pieces where convexity and γ are not proved; None: nor how pieces meet.
    """

    frame: Frame
    pieces: list[Piece]
    gamma: Any
    doubts: list[Doubt] | None
    low: End
    high: End

    @property
    def closed(self) -> bool:
        """Whether f*' has a closed form."""
        return all(p.inverse is not None or p.curvature == 0 for p in self.pieces)

    @property
    def curves(self) -> list[Any]:
        """(texts of f'', parameters, ends) for every piece, where γ depends on the predictions."""
        pieces = self.pieces if self.gamma == sp.oo else []
        return [(texts, (), ends) for texts, ends in map(doubt_of, pieces)]

    def by_definition(self) -> Core:
        """The same core with l* = w·r − l(r) at r = l*'(w), parabolas excepted."""
        pieces = [p if p.curvature.is_number else replace(p, conjugate=None) for p in self.pieces]
        return replace(self, pieces=pieces)

    def by_newton(self) -> Core:
        """The same core with every closed form that is not a polynomial given up."""
        pieces = [
            p if p.inverse is None or p.inverse.is_polynomial() else replace(p, inverse=None)
            for p in self.by_definition().pieces
        ]
        return replace(self, pieces=pieces)


@dataclass(frozen=True)
class OpenCore:
    """A core that keeps parameters: all but l, l' and l'' is found number by number.

    ``samples`` are values of the parameters at which it is a loss.
    """

    frame: Frame
    tree: Tree
    samples: list[dict[Any, Any]]
    gamma: Any = sp.oo
    closed: bool = False
    pieces: tuple[Piece, ...] = ()

    def by_definition(self) -> OpenCore:
        """Itself: it is."""
        return self

    by_newton = by_definition

    @property
    def curves(self) -> list[Any]:
        """(texts of f'', parameters, ends), for ``intervals``."""
        forms = [derivative(self.tree, order) for order in (4, 3, 2)]
        texts = tuple(map(interval_form, forms, ("branch", "branch", "where")))
        return [(texts, tuple(each.name for each in self.frame.parameters), ("(-inf)", "inf"))]


AnyCore = Core | OpenCore


# Fields that are tried, in (0, 1) before others, with labels.
_FIELDS = tuple(map(sp.Rational, ("1/2", "1/4", "3/4", "1/3", "1", "3", "-3/2")))
_LABELS = tuple(map(sp.Rational, ("1/2", "3", "0", "1", "3/4", "-3/2", "1")))
_ENOUGH = 3


def trials(parameters: list[Any]) -> list[dict[Any, Any]]:
    """Some values of labels and fields, not the same for any two of them."""
    fields = [each for each in parameters if each != Y]
    return [
        {Y: label, **{each: _FIELDS[k if k > 4 else (k + i) % 5] for i, each in enumerate(fields)}}
        for k, label in enumerate(_LABELS)
    ]


def derive(frame: Frame) -> Core | OpenCore:
    """The core of a frame, or a refusal at a point of the loss's own s and y."""
    return _derive_open(frame) if frame.parameters else _derive(frame)


def _derive_open(frame: Frame) -> OpenCore:
    good, faults = [], []
    for trial in trials(frame.parameters):
        own = {name_of(each): float(trial[each]) for each in frame.parameters}
        core = frame.core.subs(trial)
        if core.has(sp.zoo, sp.nan, sp.oo):
            faults.append((0.0, f"the loss is not a finite real number at {own}"))
            continue
        try:
            smoothness(pieces_of(core))
        except Counterexample as fault:
            y = frame.side or (1 if frame.by_label else trial[Y])
            at = {"s": fault.point + float(frame.offset.subs(trial)), "y": y} | own
            place = ", ".join(f"{name} = {float(value):.6g}" for name, value in at.items())
            told = str(fault).format(at=f"{place}, values that were tried")
            # Where fields make no sense together, as ends in the wrong order, it is none at 0 too.
            broken = "not a finite" in told and is_real(core.subs(R, 0))
            faults.append((math.inf if broken else abs(fault.point), told))
        except ExpressionError as fault:
            faults.append((0.0, f"{fault} (at {own})"))
        else:
            good.append(trial)
            if len(good) == _ENOUGH:
                break
    far, farthest = max(faults, key=itemgetter(0), default=(0.0, ""))
    if not good or far == math.inf:
        shown = (each for _, each in faults if "not convex" in each or "not smooth" in each)
        raise ExpressionError(next(shown, farthest))
    return OpenCore(frame, mapped(tree_of(frame.core), stabilised), good)


def is_real(constant: Any) -> bool:
    """Whether a constant is a finite real number."""
    broken = constant.is_finite is False or constant is sp.nan
    value = mpmath.inf if broken else number(constant)
    return isinstance(value, mpmath.mpf) and bool(mpmath.isfinite(value))


def _derive(frame: Frame) -> Core:
    try:
        pieces = pieces_of(frame.core)
        gamma, doubts = smoothness(pieces)
        low, high = _end(pieces[0], pieces[0].low), _end(pieces[-1], pieces[-1].high)
        return Core(frame, [_with_forms(piece) for piece in pieces], gamma, doubts, low, high)
    except Counterexample as refusal:
        start = frame.offset.subs(dict.fromkeys(frame.offset.free_symbols, 0))
        s, y = refusal.point + float(start), float(frame.side or frame.by_label)
        raise ExpressionError(str(refusal).format(at=f"s = {s:.6g}, y = {y:g}")) from None


def _with_forms(piece: Piece) -> Piece:
    inverse = closed_inverse(piece) if piece.curvature != 0 else None
    piece = replace(piece, stable=stabilised(piece.value), inverse=inverse)
    return replace(piece, conjugate=closed_conjugate(piece))


def _end(piece: Piece, infinity: Any) -> End:
    if piece.curvature == 0:
        at = piece.high if infinity == -sp.oo else piece.low
        slope = sp.expand(piece.slope)
        return End(slope, float(number(slope * at - piece.value.subs(R, at))), at)
    quotient = quotient_of(piece.slope)
    if quotient is not None:
        slope = quotient.at(quotient.inner.subs(R, infinity))
    else:
        slope = piece.limit(piece.slope, infinity)
    if slope is None or not slope.is_finite:
        return End(infinity, float("inf"))
    # f* there is the limit of slope·r − f(r), infinite if it still moves far out.
    far = far_limit(slope * R - piece.value, infinity, 1 if infinity == -sp.oo else -1)
    if far is None:
        return End(slope, float("inf"))
    return End(slope, 0.0 if abs(far) < 1e-25 else float(far))


# ---- the inverse of f' and the conjugate -------------------------------------------------------


def closed_inverse(piece: Piece) -> Any:
    """r as an expression in w with f'(r) = w on the piece, or None."""
    if piece.curvature.is_number:
        slope = sp.expand(piece.slope)
        return sp.expand((W - slope.subs(R, 0)) / piece.curvature)
    right = [form for form in solutions(piece.slope, W) if is_inverse(form, piece)]
    return min(right, key=sp.count_ops) if right else None


def is_inverse(candidate: Any, piece: Piece) -> bool:
    """The round trip r → f'(r) → r in many digits, at points all over the piece."""
    if candidate.free_symbols - {W} or candidate.has(sp.I, sp.zoo, sp.nan):
        return False
    back = in_many_digits(W, candidate)
    slope = finite(piece.slope, "l'")
    points = [at for at in probes(piece) if 1e-3 <= abs(at) <= 20] or probes(piece)
    for at in points[:: max(1, len(points) // 24)]:
        with mpmath.workdps(_ROUND_TRIP):
            try:
                error = abs(back(slope(at, _ROUND_TRIP)) - at)
            except (ArithmeticError, ValueError):
                return False
            if not error <= mpmath.mpf(10) ** -12 * (1 + abs(at)):
                return False
    return True


def closed_conjugate(piece: Piece) -> Any:
    """f* in a form of its own, or None where w·r − f(r) at r = f*'(w) must do.

    A parabola has a parabola. k·g(a·r + b) + c·r + d has k·g*(v) − k·b·v − d with
    v = (w − c)/(k·a), where g* is an entropy for g = softplus and for g = log cosh.
    """
    if piece.curvature == 0:
        return None
    if piece.curvature.is_number:
        return sp.expand(W * piece.inverse - piece.value.subs(R, piece.inverse))
    found = piece.stable.atoms(stable.softplus, stable.logcosh)
    if len(found) != 1:
        return None
    (curve,) = found
    slope = curve.args[0].diff(R)
    factor = piece.stable.coeff(curve)
    line = sp.expand(piece.stable - factor * curve)
    if not (slope.is_number and factor.is_number and line.diff(R).is_number):
        return None
    shift = curve.args[0].subs(R, 0)
    v = (W - line.diff(R)) / (factor * slope)
    entropy = getattr(stable, FUNCTIONS[curve.func.__name__].conjugate)
    return factor * entropy(v) - factor * shift * v - line.subs(R, 0)

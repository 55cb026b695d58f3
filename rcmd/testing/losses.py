"""The contract of a loss, identity by identity.

``value`` is taken as the definition. The slope it implies is compared with ``derivative``; the
conjugate at w = l'(s) must be ws − l(s), attained at s; everything else follows from those.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from rcmd.conjugates import numeric
from rcmd.conjugates.base import SeparableConjugate
from rcmd.model import truth
from rcmd.model.specs import as_loss
from rcmd.testing.evidence import Evidence
from rcmd.testing.report import (
    Call,
    Cause,
    Faults,
    Report,
    Sample,
    Skip,
    attempt,
    compared,
    identity,
    shown,
)

LABELS = (1.0, -1.0, 0.0, 2.5, -0.75)
"""Labels tried where none are given, as far as the loss accepts them."""

FAR = [sign * size for size in (1e3, 1.7e4, 1e6) for sign in (1, -1)]
"""Where a loss must still be finite."""

FAR_LABEL = 1048576.3
"""A label, if the loss takes it, around which s − y is exact and s² is not."""

EVENLY = np.linspace(-200.3, 200.7, 2006).tolist()
"""Points 0.2 apart, for bumps that a grid of all scales steps over."""

RELATIVE = 1e-9
"""Accuracy asked of l, l* and l*' where the truth is known to rounding."""

ROUNDING = 2.0**-48

ARRAY_ROUNDING = 1e-14
"""Difference of an array form and its method, relative to numbers above one."""

ARRAY_FORMS = "array forms have the values of the scalar methods"


def check_conjugate(
    loss: SeparableConjugate | str,
    labels: Sequence[float] | None = None,
    fields: Mapping[str, float] | None = None,
) -> Report:
    """Check every identity of a loss; a ``ContractError`` lists all that fail.

    Parameters
    ----------
    loss
        The loss, an object and not its class; or its name, such as ``"huber:0.5"``.
    labels
        Labels to check at; by default −1, 1 and a few others, as far as the loss takes them.
    fields
        A number for each field that the loss ``reads``, such as ``{"tau": 0.3}``.

    Examples
    --------
    >>> from rcmd import Logistic
    >>> check_conjugate(Logistic()).ok
    True
    """
    return inspect_conjugate(loss, labels, fields).checked()


def inspect_conjugate(
    loss: SeparableConjugate | str,
    labels: Sequence[float] | None = None,
    fields: Mapping[str, float] | None = None,
) -> Report:
    """The report of ``check_conjugate``, also where something fails.

    Examples
    --------
    >>> from rcmd import LeastSquares
    >>> class Wrong(LeastSquares):
    ...     def conjugate(self, w, y): return w * w / 2 - w * y
    >>> inspect_conjugate(Wrong()).ok
    False
    """
    loss = with_fixed_fields(as_loss(loss), {} if fields is None else fields)
    return LossInspection(loss, accepted_labels(loss, labels)).run()


def with_fixed_fields(loss: SeparableConjugate, fields: Mapping[str, float]) -> SeparableConjugate:
    """The loss at these fields, as one that reads none."""
    if set(fields) != set(loss.reads):
        example = ", ".join(f"{name!r}: 0.5" for name in loss.reads)
        raise ValueError(
            f"fields holds {', '.join(fields) or 'none'} and {loss!r} reads "
            f"{', '.join(loss.reads) or 'none'}; expected a number for each: fields={{{example}}}, "
            "or --field on the command line"
        )
    if not loss.reads:
        return loss
    values = [float(fields[name]) for name in loss.reads]

    def fixed(name: str) -> Any:
        return lambda self, *at: getattr(loss, name)(*at, *values)

    def cvxpy_form(self: Any, predictions: Any, y: Any) -> Any:  # all samples at once
        return loss.cvxpy_form(predictions, y, *(np.full(len(y), value) for value in values))

    kind, base = type(loss), vars(SeparableConjugate)
    taking = [name for name, method in base.items() if hasattr(method, "takes_fields")]
    members = {name: fixed(name) for name in taking if getattr(kind, name) is not base[name]}
    if "cvxpy_form" in members:
        members["cvxpy_form"] = cvxpy_form
    bound = copy(loss)
    object.__setattr__(bound, "__class__", type(kind.__name__, (kind,), {**members, "reads": ()}))
    return bound


def accepted_labels(loss: SeparableConjugate, given: Sequence[float] | None) -> list[float]:
    """The labels to check at: those given, or some that the loss takes."""
    if given is not None and (fault := loss.label_fault(np.asarray(given, dtype=float))):
        raise ValueError(fault)
    tried = LABELS if given is None else [float(y) for y in given]
    accepted = [y for y in tried if not loss.label_fault(np.array([y]))]
    if not accepted:
        raise ValueError(
            f"{type(loss).__name__} accepts none of the labels {tuple(tried)}; give some: "
            "labels=[…]"
        )
    return accepted


class LossInspection(Evidence):
    """One loss under inspection."""

    @identity("value and derivative are finite and consistent at |s| up to 10⁶")
    def stability(self) -> Faults:
        for name, y in itertools.product(("value", "derivative"), self.labels):
            for s in (*(() if self.local else FAR), *self.fine(y)):
                call = attempt(getattr(self.loss, name), s, y)
                if not call.finite:
                    remedy = f"{name} overflows; rewrite it, e.g. log(1 + exp) by log1p(exp(−|·|))"
                    yield {"s": s, "y": y}, str(call), "a finite number", Cause.UNSTABLE, remedy
        if self.local:
            return
        yield from self._noise()
        self.need_derivative()
        yield from self._far_chords()

    def _noise(self) -> Faults:
        """Near a far label a value that comes from larger numbers is not even convex."""
        if self.loss.label_fault(np.array([FAR_LABEL])) or any(self._bumps(self.labels[0])):
            return
        remedy = "value loses digits to cancellation: subtract s − y first"
        for s, here, chord in self._bumps(FAR_LABEL):
            point = {"s": s, "y": FAR_LABEL}
            yield point, here, f"at most {shown(chord)}", Cause.UNSTABLE, remedy

    def _bumps(self, y: float) -> Iterator[tuple[float, float, float]]:
        """The s near y at which value lies above a short chord, with both numbers."""
        step = 0.0041
        for s in (y + k * step for k in range(-16, 17)):
            before, here, after = (self.value(s + d, y) for d in (-step, 0.0, step))
            chord = (before + after) / 2
            if here > chord + 1e-7 * (abs(before) + abs(here) + abs(after)) + 1e-300:
                yield s, here, chord

    def _far_chords(self) -> Faults:
        for y, a in itertools.product(self.labels, FAR):
            b = 2 * a
            low, high = self.value(a, y), self.value(b, y)
            ends = sorted(self.loss.derivative(t, y) * (b - a) for t in (a, b))
            # One rounding of each value, not of the larger numbers it may come from.
            room = 1e-12 * (abs(low) + abs(high)) + RELATIVE * abs(ends[1] - ends[0]) + 1e-15
            if not ends[0] - room <= high - low <= ends[1] + room:
                expected = f"between {shown(ends[0])} and {shown(ends[1])}, by the slopes"
                remedy = "value loses digits to cancellation there"
                yield {"s": b, "y": y, "from": a}, high - low, expected, Cause.UNSTABLE, remedy

    @identity("value is convex")
    def convexity(self) -> Faults:
        for y in self.labels:
            far = min(self.reach, 1e3)
            states = sorted({s for s in (*EVENLY, *self.fine(y)) if abs(s) <= far})
            values = [self.value(s, y) for s in states]
            points = list(zip(states, values, strict=True))
            for (a, l_a), (s, l_s), (b, l_b) in zip(points, points[1:], points[2:], strict=False):
                if not math.isfinite(l_s):
                    self.gaps["value"] = s, y
                    continue
                chord = ((b - s) * l_a + (s - a) * l_b) / (b - a)
                room = 1e-12 * (abs(l_a) + abs(l_s) + abs(l_b)) + 1e-15
                if l_s > chord + room and l_s > chord + room + 2 * self.rounding(s, y):
                    cause = Cause.NOT_CONVEX, f"between s = {shown(a)} and {shown(b)}"
                    if all(v <= 0 for v in values):
                        cause = Cause.WRONG_SIGN, "value is concave"
                    yield {"s": s, "y": y}, l_s, f"at most {shown(chord)}, on its chord", *cause
        self.refuse_gaps("value")

    @identity("derivative is the slope of value")
    def slopes(self) -> Faults:
        yield from self.slope_faults
        self.refuse_gaps("value")

    @identity("derivative is γ-Lipschitz")
    def smoothness(self) -> Faults:
        if self.local:
            yield from self._local_smoothness()
            return
        gamma, (steepest, s, y) = attempt(lambda: self.loss.gamma), self.steepest
        if not (gamma.finite and gamma.number > 0):
            remedy = f"{shown(steepest)} would do"
            yield {}, str(gamma), "a positive number", Cause.GAMMA_TOO_SMALL, remedy
        self.need_derivative()
        if gamma.number < steepest * (1 - 1e-9):
            remedy = f"γ = {shown(steepest * (1 + 1e-9))} would do"
            yield {"s": s, "y": y}, gamma.number, steepest, Cause.GAMMA_TOO_SMALL, remedy
        self.refuse_gaps("derivative")
        if gamma.number > 1.01 * steepest:
            found = f"no slope of derivative above {shown(steepest)} was found"
            self.report.notes.append(f"γ = {shown(gamma.number)} may be too large: {found}")

    def _local_smoothness(self) -> Faults:
        """Chords of l' against ``curvature_bound`` between their ends, short ones and long ones."""
        self.need_derivative()
        for y, stride in itertools.product(self.labels, (1, 7, 50)):
            grid = self.fine(y)[::stride]
            for a, b in itertools.pairwise(grid):
                low, high = self.slope(a, y), self.slope(b, y)
                rise = (high - low - 2.0**-50 * (abs(low) + abs(high))) / (b - a)
                found = attempt(self.loss.curvature_bound, a, b, y)
                if not found.number >= rise * (1 - 1e-9):
                    point, remedy = {"low": a, "high": b, "y": y}, "l' rises by that per unit"
                    yield point, str(found), rise, Cause.GAMMA_TOO_SMALL, remedy

    @identity("conjugate_domain holds the limits of derivative")
    def domain(self) -> Faults:
        self.need_derivative()
        for y, end, direction in self._ends():
            limit = numeric.slope_limit(self.loss, direction, y)
            if limit != end and not abs(limit - end) <= 1e-6 * (1 + abs(limit)):
                name = "upper" if direction > 0 else "lower"
                remedy = f"the {name} end of conjugate_domain should be {shown(limit)}"
                yield {"y": y}, end, limit, Cause.WRONG_DOMAIN, remedy

    def _ends(self) -> Iterator[tuple[float, float, float]]:
        """Both ends of dom l* for each label: (y, end, the direction out of it)."""
        for y in self.labels:
            low, high = self.loss.conjugate_domain(y)
            yield from ((y, float(low), -1.0), (y, float(high), 1.0))

    @identity("conjugate is the supremum of ws − value(s)")
    def conjugate_values(self) -> Faults:
        self.need_origin("conjugate")
        samples = []
        for s, w, y, expected in self.pairs:
            scale = abs(w * s) + abs(expected) + 1e-6
            rough = RELATIVE if self.derivative_is_right else 1e-6
            found = attempt(self.loss.conjugate, w, y)
            if not self._at_an_end(found.number, w, y):
                room = rough * scale + 4 * self.rounding(s, y)
                samples.append(Sample({"w": w, "y": y}, found, expected, room))
        return compared(samples, "w", lambda w, y: self.loss.conjugate(y, w))

    def _at_an_end(self, found: float, w: float, y: float) -> bool:
        """An end of dom l* may be reached by rounding alone; there infinity is right too."""
        return math.isinf(found) and w in self.loss.conjugate_domain(y)

    @identity("conjugate_derivative inverts derivative")
    def conjugate_slopes(self) -> Faults:
        """Where l' is steep enough to have an inverse."""
        self.need_origin("conjugate_derivative")
        samples, flat = [], []
        for s, w, y, _ in self.pairs:
            step = 0.01 * max(min(abs(s - y), abs(s)), 1e-3)
            around = [self.slope(s - step, y), self.slope(s + step, y)]
            rise = min(w - around[0], around[1] - w)
            found = attempt(self.loss.conjugate_derivative, w, y)
            if rise > 1e-6 * step * self.steepest[0] and rise > 1e-9 * abs(w):
                # A rounding of w moves s by as much as the slope is flat.
                curvature = (around[1] - around[0]) / (2 * step)
                room = RELATIVE * (abs(s) + abs(y)) + 4 * ROUNDING * (abs(w) + 1e-3) / curvature
                room += 0.0 if self.derivative_is_right else 1e-5 * (1 + abs(s))
                samples.append(Sample({"w": w, "y": y}, found, s, room))
            elif max(around) == min(around):
                flat.append((w, y, found))
        yield from compared(samples, "w", lambda w, y: self.loss.conjugate_derivative(y, w))
        for w, y, found in flat:
            there = self.slope(found.number, y)
            right = abs(there - w) <= RELATIVE * (1 + abs(w))
            if not right and not self._at_an_end(found.number, w, y):
                said = f"s = {found} with slope {shown(there)}"
                remedy = "several s have this slope, and it is none of them"
                expected = f"an s with slope {shown(w)}"
                yield {"w": w, "y": y}, said, expected, Cause.WRONG_BRANCH, remedy

    @identity("value + conjugate − ws ≥ 0, and = 0 at w = derivative(s)")
    def fenchel_young_pairs(self) -> Faults:
        self.need_derivative()
        for y in self.labels:
            states = self.states(y)
            slopes = sorted({attempt(self.loss.derivative, s, y).number for s in states})
            values = {s: self.value(s, y) for s in states}
            for w in filter(math.isfinite, slopes):
                conjugate = self.conjugate(w, y)
                for s in states:
                    terms = (values[s], conjugate, -w * s)
                    if not sum(terms) >= -self._balance(s, y, terms):
                        remedy = "value or conjugate is too small" if self.report.ok else ""
                        point = {"s": s, "w": w, "y": y}
                        yield point, sum(terms), "≥ 0", self.first_cause(), remedy
        for s, y in self.points():
            w = attempt(self.loss.derivative, s, y).number
            terms = (self.value(s, y), self.conjugate(w, y), -w * s)
            equal = abs(sum(terms)) <= self._balance(s, y, terms)
            if not equal and not self._at_an_end(terms[1], w, y):
                yield {"s": s, "w": w, "y": y}, sum(terms), 0.0, self.first_cause()

    def _balance(self, s: float, y: float, terms: tuple[float, ...]) -> float:
        """Rounding of value(s) + conjugate − ws."""
        return RELATIVE * (1e-6 + sum(map(abs, terms))) + 4 * self.rounding(s, y)

    @identity("fenchel_young is value + conjugate − ws")
    def fenchel_young_form(self) -> Faults:
        if type(self.loss).fenchel_young is SeparableConjugate.fenchel_young:
            raise Skip(
                "fenchel_young is the default, whose digits cancel where l(s) and ws are large"
            )
        right = {(w, y): expected for _, w, y, expected in self.pairs}
        samples = []
        for (w, y), conjugate in itertools.islice(right.items(), 0, None, 3):
            for s in self.states(y, reach=10.0)[::5]:
                value = self.value(s, y)
                room = 1e-10 * (abs(value) + abs(conjugate) + abs(w * s) + 1e-6)
                found = attempt(self.loss.fenchel_young, s, w, y)
                if not self._at_an_end(found.number, w, y):
                    point, expected = {"s": s, "w": w, "y": y}, value + conjugate - w * s
                    samples.append(Sample(point, found, expected, room))
        yield from compared(samples, swapped=lambda s, w, y: self.loss.fenchel_young(w, s, y))
        yield from self._cancelling()

    def _cancelling(self) -> Faults:
        """Where l is steep, the form must vanish at w = l'(s) to the digits of l*, not of ws."""
        pairs = list(self.pairs)
        far = not self.local and not self.loss.label_fault(np.array([FAR_LABEL]))
        if self.derivative_is_right and far:
            y = FAR_LABEL
            for s in (y + d for d in (-0.377, -0.0301, 0.0513, 0.291)):
                w = self.slope(s, y)
                pairs.append((s, w, y, self.conjugate(w, y)))
        for s, w, y, conjugate in pairs:
            step = 1e-3 * max(abs(s - y), 1e-3)
            curvature = (self.slope(s + step, y) - self.slope(s - step, y)) / (2 * step)
            if not curvature > 1e-3 * self.steepest[0]:
                continue
            # s and w are rounded, which costs the square of the rounding of either.
            moved = ROUNDING * (abs(w) + abs(y) * curvature + 1e-3)
            size = abs(conjugate - w * y) + w * w / curvature
            found = attempt(self.loss.fenchel_young, s, w, y)
            if not abs(found.number) <= moved * moved / curvature + ROUNDING * size + 1e-15:
                remedy = "it cancels; write it as a square or a sum of non-negative terms"
                yield {"s": s, "w": w, "y": y}, str(found), 0.0, Cause.UNSTABLE, remedy

    @identity("conjugate and fenchel_young are +inf outside conjugate_domain")
    def beyond_the_domain(self) -> Faults:
        ends = [(y, end, direction) for y, end, direction in self._ends() if math.isfinite(end)]
        if not ends:
            raise Skip("it has no finite end")
        for y, end, direction in ends:
            w = end + direction * 1e-6 * (1 + abs(end))
            for name, call in (
                ("conjugate", attempt(self.loss.conjugate, w, y)),
                ("fenchel_young", attempt(self.loss.fenchel_young, y, w, y)),
            ):
                if call.number != math.inf:
                    cause = self.first_cause(Cause.WRONG_DOMAIN)
                    remedy = f"{name} must be +inf outside [low, high]"
                    yield {"w": w, "y": y}, str(call), math.inf, cause, remedy

    @identity("conjugate is 1/γ-strongly convex")
    def strong_convexity(self) -> Faults:
        self.need_origin("conjugate")
        gamma = attempt(lambda: self.loss.gamma).number
        for y in self.labels:
            slopes = sorted(w for _, w, label, _ in self.pairs if label == y)
            for a, b in zip(slopes, slopes[3:], strict=False):
                low, middle, high = (self.conjugate(w, y) for w in (a, (a + b) / 2, b))
                excess = (low + high) / 2 - middle - (b - a) ** 2 / (8 * gamma)
                room = RELATIVE * (1e-9 + abs(low) + abs(high) + abs(middle))
                if not excess >= -room - 1e-8 * (b - a) ** 2 / gamma:
                    remedy = "or conjugate is too flat" if self.report.ok else ""
                    cause = self.first_cause(Cause.GAMMA_TOO_SMALL)
                    yield {"w": (a + b) / 2, "y": y}, excess, "≥ 0", cause, remedy

    @identity("bregman_radius bounds D_l(0, a) over |a| ≤ bound")
    def bregman_radius(self) -> Faults:
        self.need_derivative()

        def divergence(a: float, y: float) -> float:
            start, value, linear = self.value(0.0, y), self.value(a, y), a * self.slope(a, y)
            # Less what rounding may add.
            return start - value + linear - ROUNDING * (abs(start) + abs(value) + abs(linear))

        for bound in (0.03, 0.3, 1.0, 3.0, 30.0):
            points = [(divergence(a, y), y) for y in self.labels for a in (bound, -bound)]
            largest, y = largest_number(points)
            found = attempt(self.loss.bregman_radius, bound)
            if not found.number >= largest * (1 - 1e-7) - 1e-12:
                remedy = f"{shown(largest)} would do here"
                yield {"bound": bound, "y": y}, str(found), largest, Cause.TOO_SMALL, remedy

    @identity("descent_bound bounds −s·derivative(s)")
    def descent_bound(self) -> Faults:
        self.need_derivative()
        for y in self.labels:
            largest, s = largest_number([(-s * self.slope(s, y), s) for s in self.fine(y)[::2]])
            found = attempt(self.loss.descent_bound, y)
            if not found.number >= largest * (1 - 1e-9) - 1e-12:
                cause, remedy = Cause.TOO_SMALL, f"at least {shown(largest)} is needed"
                yield {"y": y, "s": s}, str(found), largest, self.first_cause(cause), remedy

    @identity("strictly_convex and quadratic are as derivative shows")
    def flags(self) -> Faults:
        self.need_derivative()
        if not (self.loss.strictly_convex or self.loss.quadratic):
            raise Skip("neither is claimed")
        for y in self.labels if self.loss.strictly_convex else ():
            grid = [s for s in self.fine(y) if abs(s) <= 100]
            slopes = [self.slope(s, y) for s in grid]
            lines = zip(grid[1:], slopes, slopes[1:], slopes[2:], slopes[3:], strict=False)
            for s, before, a, b, after in lines:
                # A slope that saturates by rounding comes there gently, a kink does not.
                jump = max(abs(a - before), abs(after - b))
                if a == b and jump > 1e-6 * (1 + abs(a)):
                    expected = f"False, as derivative stays at {shown(a)}"
                    flag, remedy = "strictly_convex = True", "set strictly_convex = False"
                    yield {"s": s, "y": y}, flag, expected, Cause.WRONG_FLAG, remedy
        for y in self.labels if self.loss.quadratic else ():
            a, b, c = (self.slope(s, y) for s in (y - 7.0, y + 1.0, y + 9.0))
            if abs(a - 2 * b + c) > RELATIVE * (abs(a) + abs(b) + abs(c)):
                expected, remedy = "False, as derivative bends", "set quadratic = False"
                yield {"y": y}, "quadratic = True", expected, Cause.WRONG_FLAG, remedy

    @identity(ARRAY_FORMS, most=None)
    def array_forms(self) -> Faults:
        forms = vars(type(self.loss)).get("arrays")
        if forms is None:
            raise Skip("the class has none")
        loss, primal, dual, both = self.loss, [], [], []
        for y in self.labels:
            states = self.states(y)
            ends = [end for end in loss.conjugate_domain(y) if np.isfinite(end)]
            slopes = [*(loss.derivative(s, y) for s in states), *ends]
            primal += [{"s": s, "y": y} for s in states]
            dual += [{"w": w, "y": y} for w in slopes]
            pairs = itertools.product(states[::3], slopes[::3])
            both += [{"s": s, "w": w, "y": y} for s, w in pairs]
        bounds = [{"bound": abs(point["s"])} for point in primal]
        methods: dict[str, tuple[list[dict[str, float]], list[Callable[..., Any]]]] = {
            "value": (primal, [loss.value]),
            "derivative": (primal, [loss.derivative]),
            "second_derivative": (primal, [loss.second_derivative]),
            "conjugate": (dual, [loss.conjugate]),
            "fenchel_young": (both, [loss.fenchel_young]),
            "bregman_radius": (bounds, [loss.bregman_radius]),
            "expansion": (primal, [loss.value, loss.derivative, loss.second_derivative]),
            "duality": (
                both,
                [
                    lambda s, w, y: loss.value(s, y),
                    lambda s, w, y: loss.conjugate(w, y),
                    loss.fenchel_young,
                ],
            ),
        }
        for name, (points, parts) in methods.items():
            form = getattr(forms, name, None)
            if form is not None:
                found = form(*(np.array([point[key] for point in points]) for key in points[0]))
                for method, array in zip(parts, np.atleast_2d(found), strict=True):
                    samples = []
                    for point, number in zip(points, array, strict=True):
                        expected = method(*point.values())
                        room = ARRAY_ROUNDING * max(1, abs(expected))
                        samples.append(Sample(point, Call(float(number)), expected, room))
                    yield from compared(samples, axis=next(iter(points[0])))

    @identity("cvxpy_form has the values of value")
    def cvxpy_form(self) -> Faults:
        pairs = [(y + offset, y) for y in self.labels for offset in (-6.1, -0.61, 0.29, 2.9)]
        try:
            values, convex, accuracy = truth.loss_values(self.loss, *np.array(pairs).T)
        except NotImplementedError:
            raise Skip("no cvxpy_form, so rcmd.model.truth cannot solve with this loss") from None
        if not convex:
            found, remedy = "an expression that is not DCP convex", "rewrite it by CVXPY's rules"
            yield {}, found, "a convex one", Cause.NOT_CONVEX, remedy
        samples = []
        for (s, y), found in zip(pairs, values, strict=True):
            expected = self.value(s, y)
            room = accuracy * (1 + abs(expected))
            samples.append(Sample({"s": s, "y": y}, Call(float(found)), expected, room))
        yield from compared(samples)


def largest_number(points: list[tuple[float, float]]) -> tuple[float, float]:
    """The largest pair of those that begin with a number."""
    numbers = [point for point in points if not math.isnan(point[0])]
    if not numbers:
        raise Skip("derivative is not finite there")
    return max(numbers)

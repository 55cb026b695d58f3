"""The contract of a loss, identity by identity.

``value`` is taken as the definition. The slope it implies is compared with ``derivative``; the
conjugate at w = l'(s) must be ws − l(s), attained at s; everything else follows from those.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np

from rcmd.conjugates import numeric
from rcmd.conjugates.base import SeparableConjugate
from rcmd.testing import causes
from rcmd.testing.array_forms import IDENTITY, array_form_failures
from rcmd.testing.causes import Comparison, Sample
from rcmd.testing.evidence import Evidence
from rcmd.testing.report import Call, Failure, Report, attempt, shown
from rcmd.validation import refuse_class

LABELS = (1.0, -1.0, 0.0, 2.5, -0.75)
"""Labels tried where none are given, as far as the loss accepts them."""

FAR = (1e3, 1.7e4, 1e6)
"""Where a loss must still be finite."""

FAR_LABEL = 1048576.3
"""A label, if the loss takes it, around which s − y is exact and s² is not."""

RELATIVE = 1e-9
"""Accuracy asked of l, l* and l*' where the truth is known to rounding."""

ROUNDING = 2.0**-48


def check_conjugate(loss: SeparableConjugate, labels: Sequence[float] | None = None) -> Report:
    """Check every identity of a loss; a ``ContractError`` lists all that fail.

    Parameters
    ----------
    loss
        The loss, an object and not its class.
    labels
        Labels to check at; by default −1, 1 and a few others, as far as the loss takes them.

    Examples
    --------
    >>> from rcmd import Logistic
    >>> check_conjugate(Logistic()).ok
    True
    """
    return inspect_conjugate(loss, labels).checked()


def inspect_conjugate(loss: SeparableConjugate, labels: Sequence[float] | None = None) -> Report:
    """The report of ``check_conjugate``, also where something fails.

    Examples
    --------
    >>> from rcmd import LeastSquares
    >>> class Wrong(LeastSquares):
    ...     def conjugate(self, w, y): return w * w / 2 - w * y
    >>> inspect_conjugate(Wrong()).ok
    False
    """
    if not isinstance(loss, SeparableConjugate):
        refuse_class("loss", loss)
        raise TypeError(
            f"loss is {loss!r}; expected an object of a class derived from SeparableConjugate"
        )
    inspection = Inspection(loss, _labels(loss, labels))
    for identity in (
        inspection.stability,
        inspection.convexity,
        inspection.slopes,
        inspection.smoothness,
        inspection.domain,
        inspection.conjugate_values,
        inspection.conjugate_slopes,
        inspection.fenchel_young_pairs,
        inspection.fenchel_young_form,
        inspection.beyond_the_domain,
        inspection.strong_convexity,
        inspection.bregman_radius,
        inspection.descent_bound,
        inspection.flags,
        inspection.array_forms,
        inspection.cvxpy_form,
    ):
        identity()
    return inspection.report


def _labels(loss: SeparableConjugate, given: Sequence[float] | None) -> list[float]:
    if given is not None:
        fault = loss.label_fault(np.asarray(given, dtype=float))
        if fault:
            raise ValueError(fault)
        return [float(y) for y in given]
    accepted = [y for y in LABELS if not loss.label_fault(np.array([y]))]
    if not accepted:
        raise ValueError(
            f"{type(loss).__name__} accepts none of the labels {LABELS}; give some: "
            "check_conjugate(loss, labels=[…])"
        )
    return accepted


class Inspection(Evidence):
    """One loss under inspection; each public method checks one identity and records it."""

    def stability(self) -> None:
        """Finite at |s| up to 10⁶, accurate at far labels, and between the tangents there."""
        identity = "value and derivative are finite and consistent at |s| up to 10⁶"
        for name in ("value", "derivative"):
            function = getattr(self.loss, name)
            for s, y in itertools.product([x for d in FAR for x in (d, -d)], self.labels):
                call = attempt(function, s, y)
                if not call.finite:
                    remedy = f"{name} overflows; rewrite it, e.g. log(1 + exp) by log1p(exp(−|·|))"
                    failure = Failure(
                        identity, {"s": s, "y": y}, str(call), "a finite number",
                        causes.UNSTABLE, remedy,
                    )  # fmt: skip
                    self.report.record(identity, [failure])
                    return
        self.report.record(identity, [*self._noise(identity), *self._far_chords(identity)][:1])

    def _noise(self, identity: str) -> Iterator[Failure]:
        """Near a far label a value that comes from larger numbers is not even convex."""
        if self.loss.label_fault(np.array([FAR_LABEL])) or self._bump(self.labels[0]):
            return
        bump = self._bump(FAR_LABEL)
        if bump:
            s, here, chord = bump
            yield Failure(
                identity, {"s": s, "y": FAR_LABEL}, here, f"at most {shown(chord)}",
                causes.UNSTABLE, "value loses digits to cancellation: subtract s − y first",
            )  # fmt: skip

    def _bump(self, y: float) -> tuple[float, float, float] | None:
        """An s near y at which value lies above a short chord, with both numbers."""
        step = 0.0041
        for s in (y + k * step for k in range(-16, 17)):
            before, here, after = (
                attempt(self.loss.value, s + d, y).number for d in (-step, 0.0, step)
            )
            chord = (before + after) / 2
            if here > chord + 1e-7 * (abs(before) + abs(here) + abs(after)) + 1e-300:
                return s, here, chord
        return None

    def _far_chords(self, identity: str) -> Iterator[Failure]:
        if not self.derivative_is_right:
            return
        lines = [(y, s, 2 * s) for y in self.labels for d in FAR for s in (d, -d)]
        for y, a, b in lines:
            rise = self.loss.value(b, y) - self.loss.value(a, y)
            ends = sorted(self.loss.derivative(t, y) * (b - a) for t in (a, b))
            # One rounding of each value, not of the larger numbers it may come from.
            room = 1e-12 * (abs(self.loss.value(a, y)) + abs(self.loss.value(b, y)))
            room += RELATIVE * abs(ends[1] - ends[0]) + 1e-15
            if not ends[0] - room <= rise <= ends[1] + room:
                yield Failure(
                    identity, {"s": b, "y": y, "from": a}, rise,
                    f"between {shown(ends[0])} and {shown(ends[1])}, by the slopes",
                    causes.UNSTABLE, "value loses digits to cancellation there",
                )  # fmt: skip

    def convexity(self) -> None:
        """The slope of value never falls."""
        identity = "value is convex"
        for y in self.labels:
            states = [s for s in self.states(y) if abs(s) <= 100]
            values = [attempt(self.loss.value, s, y).number for s in states]
            lines = zip(
                states, states[1:], states[2:], values, values[1:], values[2:], strict=False
            )
            for a, s, b, l_a, l_s, l_b in lines:
                chord = ((b - s) * l_a + (s - a) * l_b) / (b - a)
                if l_s > chord + 1e-12 * (abs(l_a) + abs(l_s) + abs(l_b)) + 1e-15:
                    sign = all(v <= 0 for v in values)
                    failure = Failure(
                        identity, {"s": s, "y": y}, l_s, f"at most {shown(chord)}, on its chord",
                        causes.WRONG_SIGN if sign else causes.NOT_CONVEX,
                        "value is concave" if sign else f"between s = {shown(a)} and {shown(b)}",
                    )  # fmt: skip
                    self.report.record(identity, [failure])
                    return
        self.report.record(identity)

    def slopes(self) -> None:
        """Derivative against differences of value."""
        self.report.record("derivative is the slope of value", self._slope_failures)

    def smoothness(self) -> None:
        """No chord of l' is steeper than γ."""
        identity = "derivative is γ-Lipschitz"
        gamma = attempt(lambda: self.loss.gamma)
        if not (gamma.finite and gamma.number > 0):
            failure = Failure(
                identity, {}, str(gamma), "a positive number", causes.GAMMA_TOO_SMALL,
                f"{shown(self.steepest[0])} would do",
            )  # fmt: skip
            self.report.record(identity, [failure])
            return
        if not self.derivative_is_right:
            self.report.notes.append("constants are not checked, as derivative is wrong")
            return
        steepest, s, y = self.steepest
        failures = []
        if gamma.number < steepest * (1 - 1e-9):
            failures = [
                Failure(
                    identity,
                    {"s": s, "y": y},
                    gamma.number,
                    steepest,
                    causes.GAMMA_TOO_SMALL,
                    f"γ = {shown(steepest * (1 + 1e-9))} would do",
                )
            ]
        elif gamma.number > 1.01 * steepest:
            self.report.notes.append(
                f"γ = {shown(gamma.number)} is safe, but no slope above {shown(steepest)} was found"
            )
        self.report.record(identity, failures)

    def domain(self) -> None:
        """The ends of dom l* are the limits of l'."""
        identity = "conjugate_domain holds the limits of derivative"
        failures = []
        for y in self.labels:
            low, high = (float(end) for end in self.loss.conjugate_domain(y))
            for end, direction in ((low, -1.0), (high, 1.0)):
                failures += [*self._end(identity, y, end, direction)]
        self.report.record(identity, failures[:1])

    def _end(self, identity: str, y: float, end: float, direction: float) -> Iterator[Failure]:
        if self.derivative_is_right:
            slope = numeric.guarded(type(self.loss).derivative)
            limit = numeric.slope_limit(slope, self.loss, y, direction)
            if limit != end and not abs(limit - end) <= 1e-6 * (1 + abs(limit)):
                name = "upper" if direction > 0 else "lower"
                yield Failure(
                    identity, {"y": y}, end, limit, causes.WRONG_DOMAIN,
                    f"the {name} end of conjugate_domain should be {shown(limit)}",
                )  # fmt: skip
                return

    def beyond_the_domain(self) -> None:
        """l* and the Fenchel–Young gap are infinite outside dom l*."""
        identity = "conjugate and fenchel_young are +inf outside conjugate_domain"
        failures = []
        for y in self.labels:
            low, high = (float(end) for end in self.loss.conjugate_domain(y))
            for end, direction in ((low, -1.0), (high, 1.0)):
                if math.isfinite(end):
                    failures += [
                        *self._beyond(identity, y, end + direction * 1e-6 * (1 + abs(end)))
                    ]
        self.report.record(identity, failures[:1])

    def _beyond(self, identity: str, y: float, w: float) -> Iterator[Failure]:
        for name, call in (
            ("conjugate", attempt(self.loss.conjugate, w, y)),
            ("fenchel_young", attempt(self.loss.fenchel_young, y, w, y)),
        ):
            if call.number != math.inf:
                cause = causes.WRONG_DOMAIN if self.report.ok else self._so_far()
                remedy = f"{name} must be +inf outside [low, high]"
                yield Failure(identity, {"w": w, "y": y}, str(call), math.inf, cause, remedy)

    def conjugate_values(self) -> None:
        """l*(w) = ws − l(s) at w = l'(s)."""
        samples = []
        for s, w, y, expected in self.pairs:
            scale = abs(w * s) + abs(expected) + 1e-6
            rough = RELATIVE if self.derivative_is_right else 1e-6
            found = attempt(self.loss.conjugate, w, y)
            # At an end that is reached by rounding alone, either side of it is right.
            if math.isinf(found.number) and w in self.loss.conjugate_domain(y):
                continue
            samples.append(Sample({"w": w, "y": y}, found, expected, rough * scale))
        comparison = Comparison(
            "conjugate is the supremum of ws − value(s)",
            samples,
            swapped=lambda w, y: self.loss.conjugate(y, w),
            others={name: other.conjugate for name, other in self.others.items()},
            axis="w",
        )
        self.report.record(comparison.identity, comparison.failures())

    def conjugate_slopes(self) -> None:
        """l*' = (l')⁻¹, where l' is steep enough to tell."""
        samples, flat = [], []
        for s, w, y, _ in self.pairs:
            step = 0.01 * max(min(abs(s - y), abs(s)), 1e-3)
            around = [self.slope(s - step, y), self.slope(s + step, y)]
            steep = min(w - around[0], around[1] - w) > 1e-6 * step * self.steepest[0]
            steep = steep and min(w - around[0], around[1] - w) > 1e-9 * abs(w)
            found = attempt(self.loss.conjugate_derivative, w, y)
            curvature = (around[1] - around[0]) / (2 * step)
            if steep:
                # A rounding of w moves s by as much as the slope is flat.
                room = RELATIVE * (abs(s) + abs(y)) + 4 * ROUNDING * (abs(w) + 1e-3) / curvature
                room += 0.0 if self.derivative_is_right else 1e-5 * (1 + abs(s))
                samples.append(Sample({"w": w, "y": y}, found, s, room))
            elif max(around) == min(around):
                flat.append((w, y, found))
        comparison = Comparison(
            "conjugate_derivative inverts derivative",
            samples,
            swapped=lambda w, y: self.loss.conjugate_derivative(y, w),
            others={name: other.conjugate_derivative for name, other in self.others.items()},
            axis="w",
        )
        failures = comparison.failures()
        if not failures:
            failures = [*self._flat_slopes(comparison.identity, flat)][:1]
        self.report.record(comparison.identity, failures)

    def _flat_slopes(
        self, identity: str, flat: list[tuple[float, float, Call]]
    ) -> Iterator[Failure]:
        for w, y, found in flat:
            if math.isinf(found.number) and w in self.loss.conjugate_domain(y):
                continue
            there = self.slope(found.number, y)
            if not abs(there - w) <= RELATIVE * (1 + abs(w)):
                yield Failure(
                    identity, {"w": w, "y": y}, f"s = {found} with slope {shown(there)}",
                    f"an s with slope {shown(w)}", causes.WRONG_BRANCH,
                    "several s have this slope, and it is none of them",
                )  # fmt: skip

    def fenchel_young_pairs(self) -> None:
        """l(s) + l*(w) ≥ ws for all pairs, with equality at w = l'(s)."""
        identity = "value + conjugate − ws ≥ 0, and = 0 at w = derivative(s)"
        for y in self.labels:
            states = self.states(y)
            slopes = sorted({attempt(self.loss.derivative, s, y).number for s in states})
            values = {s: attempt(self.loss.value, s, y).number for s in states}
            for w in [w for w in slopes if math.isfinite(w)]:
                conjugate = attempt(self.loss.conjugate, w, y).number
                for s in states:
                    terms = (values[s], conjugate, -w * s)
                    room = RELATIVE * (1e-6 + sum(map(abs, terms)))
                    if sum(terms) < -room:
                        failure = Failure(
                            identity, {"s": s, "w": w, "y": y}, sum(terms), "≥ 0", self._so_far(),
                            "value or conjugate is too small" if self.report.ok else "",
                        )  # fmt: skip
                        self.report.record(identity, [failure])
                        return
        self.report.record(identity, [*self._equality(identity)][:1])

    def _equality(self, identity: str) -> Iterator[Failure]:
        for s, y in self.points():
            w = attempt(self.loss.derivative, s, y).number
            conjugate = attempt(self.loss.conjugate, w, y).number
            if w in self.loss.conjugate_domain(y) and math.isinf(conjugate):
                continue
            terms = (attempt(self.loss.value, s, y).number, conjugate, -w * s)
            if not abs(sum(terms)) <= RELATIVE * (1e-6 + sum(map(abs, terms))):
                point = {"s": s, "w": w, "y": y}
                yield Failure(identity, point, sum(terms), 0.0, self._so_far())

    def fenchel_young_form(self) -> None:
        """The override, if any, is the definition, and loses no digits at equality."""
        identity = "fenchel_young is value + conjugate − ws"
        if type(self.loss).fenchel_young is SeparableConjugate.fenchel_young:
            self.report.notes.append(
                "fenchel_young is the default, whose digits cancel where l(s) and ws are large"
            )
            return
        right = {(w, y): expected for _, w, y, expected in self.pairs}
        samples = []
        for (w, y), conjugate in itertools.islice(right.items(), 0, None, 3):
            for s in self.states(y, reach=10.0)[::5]:
                value = attempt(self.loss.value, s, y).number
                expected = value + conjugate - w * s
                room = 1e-10 * (abs(value) + abs(conjugate) + abs(w * s) + 1e-6)
                found = attempt(self.loss.fenchel_young, s, w, y)
                if math.isinf(found.number) and w in self.loss.conjugate_domain(y):
                    continue
                samples.append(Sample({"s": s, "w": w, "y": y}, found, expected, room))
        comparison = Comparison(
            identity, samples, swapped=lambda s, w, y: self.loss.fenchel_young(w, s, y)
        )
        self.report.record(identity, comparison.failures() or [*self._cancelling(identity)][:1])

    def _cancelling(self, identity: str) -> Iterator[Failure]:
        """Where l is steep, the form must vanish at w = l'(s) to the digits of l*, not of ws."""
        pairs = self.pairs
        if self.derivative_is_right and not self.loss.label_fault(np.array([FAR_LABEL])):
            far = [(FAR_LABEL + d, FAR_LABEL) for d in (-0.377, -0.0301, 0.0513, 0.291)]
            slopes = [(s, self.slope(s, y), y) for s, y in far]
            pairs = pairs + [
                (s, w, y, attempt(self.loss.conjugate, w, y).number) for s, w, y in slopes
            ]
        for s, w, y, conjugate in pairs:
            step = 1e-3 * max(abs(s - y), 1e-3)
            curvature = (self.slope(s + step, y) - self.slope(s - step, y)) / (2 * step)
            if not curvature > 1e-3 * self.steepest[0]:
                continue
            # s and w are rounded, which costs the square of the rounding of either.
            moved = ROUNDING * (abs(w) + abs(y) * curvature + 1e-3)
            room = moved * moved / curvature + ROUNDING * (
                abs(conjugate - w * y) + w * w / curvature
            )
            found = attempt(self.loss.fenchel_young, s, w, y)
            if not abs(found.number) <= room + 1e-15:
                yield Failure(
                    identity, {"s": s, "w": w, "y": y}, str(found), 0.0, causes.UNSTABLE,
                    "it cancels; write it as a square or a sum of non-negative terms",
                )  # fmt: skip

    def strong_convexity(self) -> None:
        """l* minus w²/(2γ) is convex."""
        identity = "conjugate is 1/γ-strongly convex"
        gamma = attempt(lambda: self.loss.gamma).number
        for y in self.labels:
            slopes = sorted(w for _, w, label, _ in self.pairs if label == y)
            for a, b in zip(slopes, slopes[3:], strict=False):
                ends = [attempt(self.loss.conjugate, w, y).number for w in (a, b)]
                middle = attempt(self.loss.conjugate, (a + b) / 2, y).number
                excess = (ends[0] + ends[1]) / 2 - middle - (b - a) ** 2 / (8 * gamma)
                room = RELATIVE * (1e-9 + abs(ends[0]) + abs(ends[1]) + abs(middle))
                if excess < -room - 1e-8 * (b - a) ** 2 / gamma:
                    cause = self._so_far() if not self.report.ok else causes.GAMMA_TOO_SMALL
                    failure = Failure(
                        identity, {"w": (a + b) / 2, "y": y}, excess, "≥ 0", cause,
                        "" if not self.report.ok else "or conjugate is too flat",
                    )  # fmt: skip
                    self.report.record(identity, [failure])
                    return
        self.report.record(identity)

    def bregman_radius(self) -> None:
        """bregman_radius(b) is at least every D_l(0, a) with |a| ≤ b."""
        identity = "bregman_radius bounds D_l(0, a) over |a| ≤ bound"
        if not self.derivative_is_right:
            return

        def divergence(a: float, y: float) -> float:
            start, value = (attempt(self.loss.value, s, y).number for s in (0.0, a))
            linear = a * self.slope(a, y)
            # Less what rounding may add.
            return start - value + linear - ROUNDING * (abs(start) + abs(value) + abs(linear))

        failures = []
        for bound in (0.03, 0.3, 1.0, 3.0, 30.0):
            points = [(divergence(a, y), y) for y in self.labels for a in (bound, -bound)]
            largest, y = max(point for point in points if not math.isnan(point[0]))
            found = attempt(self.loss.bregman_radius, bound)
            if not found.number >= largest * (1 - 1e-7) - 1e-12:
                failures.append(
                    Failure(
                        identity,
                        {"bound": bound, "y": y},
                        str(found),
                        largest,
                        causes.TOO_SMALL,
                        f"{shown(largest)} would do here",
                    )
                )
        self.report.record(identity, failures[:1])

    def descent_bound(self) -> None:
        """descent_bound(y) is at least every −s·l'(s)."""
        identity = "descent_bound bounds −s·derivative(s)"
        if not self.derivative_is_right:
            return
        failures = []
        for y in self.labels:
            points = [(-s * self.slope(s, y), s) for s in self.fine(y)[::2]]
            largest, s = max(point for point in points if not math.isnan(point[0]))
            found = attempt(self.loss.descent_bound, y)
            if not found.number >= largest * (1 - 1e-9) - 1e-12:
                cause = causes.TOO_SMALL if self.report.ok else self._so_far()
                failures.append(
                    Failure(
                        identity,
                        {"y": y, "s": s},
                        str(found),
                        largest,
                        cause,
                        f"at least {shown(largest)} is needed",
                    )
                )
        self.report.record(identity, failures[:1])

    def flags(self) -> None:
        """``strictly_convex`` and ``quadratic`` say what the slope does."""
        identity = "strictly_convex and quadratic are as derivative shows"
        failures = []
        if self.derivative_is_right:
            failures = [*self._flat_stretch(identity), *self._bent(identity)]
        self.report.record(identity, failures[:1])

    def _flat_stretch(self, identity: str) -> Iterator[Failure]:
        if not self.loss.strictly_convex:
            return
        for y in self.labels:
            grid = [s for s in self.fine(y) if abs(s) <= 100]
            slopes = [self.slope(s, y) for s in grid]
            lines = zip(grid, grid[1:], slopes, slopes[1:], slopes[2:], slopes[3:], strict=False)
            for _, s, before, a, b, after in lines:
                jump = max(abs(a - before), abs(after - b))
                # A slope that saturates by rounding comes there gently, a kink does not.
                if a == b and jump > 1e-6 * (1 + abs(a)):
                    yield Failure(
                        identity, {"s": s, "y": y}, "strictly_convex = True",
                        f"False, as derivative stays at {shown(a)}", causes.WRONG_FLAG,
                        "set strictly_convex = False",
                    )  # fmt: skip
                    return

    def _bent(self, identity: str) -> Iterator[Failure]:
        if not self.loss.quadratic:
            return
        for y in self.labels:
            a, b, c = (self.slope(s, y) for s in (y - 7.0, y + 1.0, y + 9.0))
            if abs(a - 2 * b + c) > RELATIVE * (abs(a) + abs(b) + abs(c)):
                yield Failure(
                    identity, {"y": y}, "quadratic = True", "False, as derivative bends",
                    causes.WRONG_FLAG, "set quadratic = False",
                )  # fmt: skip
                return

    def array_forms(self) -> None:
        """Where a class has them, they are its methods."""
        if vars(type(self.loss)).get("arrays") is not None:
            failures = array_form_failures(self.loss, self.states, self.labels)
            self.report.record(IDENTITY, list(failures))

    def cvxpy_form(self) -> None:
        """The CVXPY expression is convex and has the values of the loss."""
        from rcmd import truth

        identity = "cvxpy_form has the values of value"
        pairs = [(y + offset, y) for y in self.labels for offset in (-6.1, -0.61, 0.29, 2.9)]
        states, labels = np.array(pairs).T
        try:
            values, convex, accuracy = truth.loss_values(self.loss, states, labels)
        except NotImplementedError:
            self.report.notes.append("no cvxpy_form, so rcmd.truth cannot solve with this loss")
            return
        if not convex:
            failure = Failure(
                identity, {}, "an expression that is not DCP convex", "a convex one",
                causes.NOT_CONVEX, "rewrite it by CVXPY's rules",
            )  # fmt: skip
            self.report.record(identity, [failure])
            return
        samples = []
        for (a, b), found in zip(pairs, values, strict=True):
            expected = attempt(self.loss.value, a, b).number
            room = accuracy * (1 + abs(expected))
            samples.append(Sample({"s": a, "y": b}, Call(float(found)), expected, room))
        comparison = Comparison(
            identity, samples, others={name: other.value for name, other in self.others.items()}
        )
        self.report.record(identity, comparison.failures())

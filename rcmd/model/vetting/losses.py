"""One loss at one sample: finite, convex, γ-smooth, and the conjugate of its conjugate."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate, has_curvature_bound, numeric_parts
from rcmd.conjugates.numeric import around, spread_points
from rcmd.model.vetting.subject import RELATIVE, Subject
from rcmd.rows.validation import Array

OF_PAIRS = 1e-12
"""Rounding allowed in l(s) + l*(w) − ws, relative to its terms, beside that of l itself."""

PAIRS = 8
"""Dual points per sample at which conjugates are checked."""


@dataclass
class LossCheck:
    """One loss at one sample."""

    subject: Subject
    loss: SeparableConjugate
    pair: Any
    """The loss, or a ``SampleLoss`` with the sample's own offset and fields."""

    gamma: float
    y: float
    weight: float
    sample: str
    estimated: bool = False
    """Whether γ is rcmd's own estimate, which is raised where l' turns out to be steeper."""

    @property
    def gamma_name(self) -> str:
        """The method that γ comes from."""
        return "curvature_bound" if has_curvature_bound(type(self.loss)) else "gamma"

    @property
    def centre(self) -> float:
        """Where x_jᵀβ + o_j is y_j."""
        return self.y - float(getattr(self.pair, "offset", 0))

    def at(self, letter: str, value: float) -> str:
        """The place, for sentences."""
        return f"{self.sample} and {letter} = {value:.10g}"

    def each(self, method: str, letter: str, points: Array) -> Array:
        """A method at every point, which must be finite there."""
        function, y = getattr(self.pair, method), self.y
        array = np.full(len(points), math.nan)
        try:
            for k, s in enumerate(points.tolist()):
                array[k] = function(s, y)
        except Exception:  # named below
            pass
        if not np.isfinite(array).all():
            s = float(points[int(np.isfinite(array).argmin())])
            self.subject.number(method, self.at(letter, s), function, s, y)
            expected = "the same number as when it is asked again"
            self.subject.refuse(method, self.at(letter, s), "none, or not finite", expected)
        return array

    def run(self, low: float, high: float, phase: int) -> int:
        """Check everything on [low, high]; returns at how many points."""
        if not (self.gamma > 0 and math.isfinite(self.gamma)):
            self.subject.refuse(self.gamma_name, self.sample, self.gamma, "a positive number")
        s = spread_points(low, high, self.centre, phase)
        self.value_noise, self.slope_noise = self._rounding(s)
        values, slopes = self._curve(s)
        count = len(s)
        for sign in (1, -1) if len(s) > 2 else ():
            finer, found = s, slopes
            for _ in range(2):  # where l' is steepest, and where it is flattest
                lengths = np.diff(finer)
                short = lengths < 1e-7 * (abs(finer[1:]) + abs(self.centre))
                chords = np.where(short, -math.inf, sign * np.diff(found) / lengths)
                finer = around(finer, int(chords.argmax()))
                found = self._curve(finer)[1]
                count += len(finer)
        self._constants(s, values, slopes)
        self._conjugates(s, values, slopes)
        return count

    def _rounding(self, s: Array) -> tuple[float, float]:
        """Rounding in ``value`` and ``derivative``, as far as points next to each other show it."""
        some = s[:: max(1, len(s) // 16)]
        moved = some + 1e-13 * (s[-1] - s[0])
        differences = (
            abs(self.each(method, "s", np.minimum(moved, s[-1])) - self.each(method, "s", some))
            for method in ("value", "derivative")
        )
        first, second = (float(np.sort(change)[-2:][0]) for change in differences)
        # Formulas such as cosh(s) − 1 round by more near 0 than a few points may show.
        return 8 * first + 1e-15 * hasattr(self.loss, "expression"), 8 * second

    def _curve(self, s: Array) -> tuple[Array, Array]:
        """l'(a)(b − a) ≤ l(b) − l(a) ≤ l'(b)(b − a) and 0 ≤ l'(b) − l'(a) ≤ γ(b − a)."""
        values, slopes = self.each("value", "s", s), self.each("derivative", "s", s)
        a, b, h = slopes[:-1], slopes[1:], np.diff(s)
        rise = np.diff(values)
        sizes = abs(values) + (abs(s) + abs(self.centre)) * abs(slopes)
        room = 1e-11 * (sizes[1:] + sizes[:-1]) + self.value_noise
        steep = 1e-10 * (abs(a) + abs(b)) + 1e-13 * self.gamma * (abs(s[1:]) + abs(self.centre))
        steep += self.slope_noise
        if (k := _first(b < a - steep)) is not None:
            place = f"{self.at('s', s[k + 1])}, after {a[k]:.10g} at s = {s[k]:.10g},"
            expected = "at least as much: l must be convex on the range of predictions"
            self.subject.refuse("derivative", place, float(b[k]), expected)
        if (k := _first((rise < a * h - room) | (rise > b * h + room))) is not None:
            ends = values[k] + a[k] * h[k], values[k] + b[k] * h[k]
            expected = (
                f"between {ends[0]:.10g} and {ends[1]:.10g}, by the derivatives there and at s = "
                f"{s[k]:.10g}: a convex function and its slope"
            )
            self.subject.refuse("value", self.at("s", s[k + 1]), float(values[k + 1]), expected)
        steeper = b - a > self.gamma * h * (1 + 1e-6) + 2 * steep
        if self.estimated and steeper.any():
            self.gamma = (1 + 1e-4) * float(((b - a)[steeper] / h[steeper]).max())
            vars(self.loss)["_gamma"] = max(self.loss.gamma, self.gamma)
        elif (k := _first(steeper)) is not None:
            place = f"{self.at('s', s[k])}, where l' rises by {(b[k] - a[k]) / h[k]:.10g} per unit,"
            self.subject.refuse(self.gamma_name, place, self.gamma, "at least that")
        if self.loss.quadratic and len(h):
            line = a[0] + (b[-1] - a[0]) * ((s[1:] - s[0]) / (s[-1] - s[0]))
            if (k := _first(abs(b - line) > 2 * (steep + steep.max()))) is not None:
                expected = f"False: there l' is {b[k]:.10g}, and {line[k]:.10g} if l is quadratic"
                self.subject.refuse("quadratic", self.at("s", s[k + 1]), True, expected)
        return values, slopes

    def _constants(self, s: Array, values: Array, slopes: Array) -> None:
        """D_l(0, a) ≤ ``bregman_radius`` and −s·l'(s) ≤ ``descent_bound``, for radii."""
        start = float(values[int(np.searchsorted(s, 0.0))])
        divergence = float((start - values + s * slopes).max())
        descent = float((-s * slopes).max())
        size = RELATIVE * float((abs(values) + abs(s * slopes)).max()) + 8 * self.value_noise
        if self.pair is not self.loss:  # ``SampleLosses`` finds both from value and conjugate
            return
        reach = float(max(-s[0], s[-1]))
        radius = self.loss.bregman_radius(reach)
        if not divergence <= radius * (1 + RELATIVE) + size:
            expected = f"at least {divergence:.10g}"
            self.subject.refuse("bregman_radius", self.at("bound", reach), float(radius), expected)
        bound = self.loss.descent_bound(self.y)
        if not descent <= bound + size + RELATIVE * abs(bound):
            expected = f"at least {descent:.10g}"
            self.subject.refuse("descent_bound", self.sample, float(bound), expected)

    def _conjugates(self, s: Array, values: Array, slopes: Array) -> None:
        """l(s) + l*(w) − ws ≥ 0, and = 0 with l*'(w) = s at w = l'(s)."""
        loss, y, number = self.pair, self.y, self.subject.number
        numeric = numeric_parts(type(self.loss))
        low, high = (float(end) for end in loss.conjugate_domain(y))
        some = np.unique(np.linspace(0, len(s) - 1, 2 if "conjugate" in numeric else PAIRS))
        for k in some.round().astype(int).tolist():
            # As weights do it, which may miss an end of the domain by rounding.
            w = self.weight * slopes[k] / self.weight
            place, edge = self.at("w", w), 1e-9 * (1 + abs(w))
            if not low - edge <= w <= high + edge:
                expected = f"an interval that holds l'({s[k]:.10g})"
                self.subject.refuse("conjugate_domain", place, f"[{low:g}, {high:g}]", expected)
            if min(w - low, high - w) <= edge:  # there l* may be infinite, and s is not unique
                continue
            dual = number("conjugate", place, loss.conjugate, w, y)
            terms = abs(values) + abs(dual) + abs(w * s)
            gaps = values + dual - w * s
            room = OF_PAIRS * terms + 8 * self.value_noise + abs(s) * self.slope_noise
            least = int((gaps + room).argmin())
            if gaps[least] < -room[least] or not abs(gaps[k]) <= room[k]:
                right = float((w * s - values).max())
                self.subject.refuse("conjugate", place, dual, f"{right:.10g} = sup_s ws − l(s)")
            for i in (k, -1 - k):  # where w = l'(s), and elsewhere
                self._forms(float(s[i]), w, float(gaps[i]), float(room[i]))
            if "conjugate_derivative" not in numeric:
                back = number("conjugate_derivative", place, loss.conjugate_derivative, w, y)
                slope = number("derivative", self.at("s", back), loss.derivative, back, y)
                size = abs(w) + self.gamma * (abs(back) + abs(self.centre))
                if not abs(slope - w) <= RELATIVE * size + 8 * self.slope_noise:
                    expected = f"{s[k]:.10g} or another s with l'(s) = w"
                    self.subject.refuse("conjugate_derivative", place, back, expected)
        if "conjugate" not in numeric:
            self._beyond(s, values, slopes, low, high)

    def _beyond(self, s: Array, values: Array, slopes: Array, low: float, high: float) -> None:
        """l*(w) ≥ ws − l(s) also for w that no prediction of this sample has."""
        reach = slopes[-1] - slopes[0] + abs(slopes).max() + 1e-3
        for w in (slopes[0] - reach, slopes[0] - reach / 8, slopes[-1] + reach / 8):
            if low < w < high:
                # Infinity is right, and NaN is not.
                dual, least = float(self.pair.conjugate(w, self.y)), float((w * s - values).max())
                if not dual >= least - RELATIVE * (abs(least) + abs(w)) - 8 * self.value_noise:
                    expected = f"at least {least:.10g}, a value of ws − l(s)"
                    self.subject.refuse("conjugate", self.at("w", float(w)), dual, expected)

    def _forms(self, s: float, w: float, gap: float, room: float) -> None:
        """``fenchel_young``, and array forms, have the values of the methods."""
        loss, y, place = self.pair, self.y, self.at("w", w)
        if type(self.loss).fenchel_young is not SeparableConjugate.fenchel_young:
            found = self.subject.number("fenchel_young", place, loss.fenchel_young, s, w, y)
            if not abs(found - gap) <= 2 * room:
                self.subject.refuse("fenchel_young", place, found, f"{gap:.10g} at s = {s:.10g}")
        forms = vars(type(self.loss)).get("arrays")
        calls = {"value": (s,), "derivative": (s,), "conjugate": (w,), "fenchel_young": (s, w)}
        right = {name: [float(getattr(loss, name)(*at, y))] for name, at in calls.items()}
        calls |= {"expansion": (s,), "duality": (s, w)}
        right["expansion"] = right["value"] + right["derivative"]
        right["duality"] = [*right["value"], *right["conjugate"], *right["fenchel_young"]]
        given = [name for name in calls if hasattr(forms, name)]
        forms = forms if loss is self.loss else loss._replace(loss=forms)
        for name in given:
            at = (np.array([number]) for number in (*calls[name], y))
            several = np.ravel(getattr(forms, name)(*at))[: len(right[name])]
            same = len(several) == len(right[name])
            if not (same and np.allclose(several, right[name], rtol=1e-12, atol=room)):
                expected = f"{right[name]}, as the methods have it"
                self.subject.refuse(f"arrays.{name}", place, several.tolist(), expected)


def _first(wrong: Array) -> int | None:
    return int(wrong.argmax()) if wrong.any() else None

"""From wrong numbers to their likely cause."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rcmd.testing.report import Call, Failure, attempt, shown

WRONG_SIGN = "wrong sign"
MISSING_FACTOR = "missing factor"
WRONG_BRANCH = "wrong branch"
WRONG_DOMAIN = "wrong domain"
SWAPPED = "swapped arguments"
UNSTABLE = "unstable form"
OTHER_LOSS = "function of another loss"
CONSTANT = "missing constant"
TOO_SMALL = "constant too small"
TOO_LARGE = "constant too large"
GAMMA_TOO_SMALL = "γ too small"
NOT_CONVEX = "not convex"
WRONG_FLAG = "wrong flag"
UNKNOWN = "a different function"


@dataclass(frozen=True)
class Sample:
    """A function's number at one point beside the number that should be there."""

    point: dict[str, Any]
    found: Call
    expected: float
    tolerance: float

    @property
    def right(self) -> bool:
        if math.isinf(self.expected) or math.isinf(self.found.number):
            return self.found.number == self.expected
        return abs(self.found.number - self.expected) <= self.tolerance

    def explained_by(self, number: float) -> bool:
        """Whether ``number`` is what was found, as closely as the truth is known."""
        if math.isinf(number) or math.isinf(self.found.number):
            return self.found.number == number
        return abs(self.found.number - number) <= 8 * self.tolerance + 1e-9 * abs(number)

    @property
    def telling(self) -> bool:
        """Whether the expected number is away from zero, so that a factor would show."""
        return math.isfinite(self.expected) and abs(self.expected) > 1e3 * self.tolerance


@dataclass(frozen=True)
class Comparison:
    """A function compared with the truth at many points, and ways in which it may be wrong.

    Attributes
    ----------
    identity
        What is checked.
    samples
        The points, sorted along ``axis`` for each label.
    swapped
        The user's function with two arguments exchanged, at the names of the points.
    others
        The same function of other losses, by the name of the loss.
    axis
        The name of the argument along which branches lie.
    """

    identity: str
    samples: Sequence[Sample]
    swapped: Callable[..., Any] | None = None
    others: dict[str, Callable[..., Any]] = field(default_factory=dict)
    axis: str = "s"

    def failures(self) -> list[Failure]:
        """At most one failure, at the most telling point, with the cause that explains all."""
        wrong = [sample for sample in self.samples if not sample.right]
        if not wrong:
            return []
        cause, remedy = self._cause(wrong)
        worst = max(wrong, key=_badness)
        found = worst.found.fault or worst.found.number
        return [Failure(self.identity, worst.point, found, worst.expected, cause, remedy)]

    def _cause(self, wrong: list[Sample]) -> tuple[str, str]:
        return next(
            found
            for found in (
                self._constant_ratio(wrong),
                self._argument_order(wrong),
                self._sign_of_label(wrong),
                self._other_loss(wrong),
                self._not_finite(wrong),
                self._branch(wrong),
                self._offset(wrong),
                (UNKNOWN, "no simple change explains every wrong point"),
            )
            if found is not None
        )

    def _not_finite(self, wrong: list[Sample]) -> tuple[str, str] | None:
        faults = [s for s in wrong if not s.found.finite and math.isfinite(s.expected)]
        if faults:
            said = {str(sample.found) for sample in faults}
            if self.axis == "w" and said <= {"inf"}:
                return WRONG_DOMAIN, "it is infinite inside the domain"
            worst = max(faults, key=lambda s: abs(s.point.get(self.axis, 0.0)))
            return UNSTABLE, f"{worst.found} there; rewrite it so that nothing overflows"
        if any(math.isinf(s.expected) for s in wrong):
            return WRONG_DOMAIN, "it is finite outside the domain, where l* is +inf"
        return None

    def _constant_ratio(self, wrong: list[Sample]) -> tuple[str, str] | None:
        telling = [sample for sample in self.samples if sample.telling]
        if not telling or any(sample.right for sample in telling):
            return None
        largest = max(telling, key=lambda sample: abs(sample.expected))
        ratio = largest.found.number / largest.expected
        if not math.isfinite(ratio):
            return None
        if not all(sample.explained_by(ratio * sample.expected) for sample in self.samples):
            return None
        if abs(ratio + 1) < 1e-6:
            return WRONG_SIGN, "its negative is right everywhere"
        if abs(ratio) < 1e-12:
            return UNKNOWN, "it is zero everywhere"
        return MISSING_FACTOR, f"it is {shown(round(ratio, 8))} times what it should be"

    def _argument_order(self, wrong: list[Sample]) -> tuple[str, str] | None:
        if self.swapped is None:
            return None
        exchanged = self.swapped
        there = [attempt(lambda s=s: exchanged(**s.point)) for s in wrong]
        pairs = list(zip(wrong, there, strict=True))
        if all(abs(call.number - s.expected) <= s.tolerance for s, call in pairs):
            return SWAPPED, "with two arguments exchanged it is right"
        return None

    def _sign_of_label(self, wrong: list[Sample]) -> tuple[str, str] | None:
        """A mirrored label explains everything where the truth at −y is known too."""
        truth = {tuple(s.point.values()): s.expected for s in self.samples}
        mirrored = [
            truth.get(tuple(-v if k == "y" else v for k, v in s.point.items()), math.nan)
            for s in wrong
        ]
        known = [(s, m) for s, m in zip(wrong, mirrored, strict=True) if not math.isnan(m)]
        if len(known) >= 3 and all(s.explained_by(m) for s, m in known):
            return WRONG_SIGN, "it is right with −y in place of y"
        return None

    def _other_loss(self, wrong: list[Sample]) -> tuple[str, str] | None:
        if sum(sample.found.finite for sample in wrong) < 3:
            return None
        for name, function in self.others.items():
            calls = [attempt(lambda s=s, f=function: f(**s.point)) for s in wrong]
            if all(s.explained_by(c.number) for s, c in zip(wrong, calls, strict=True)):
                return OTHER_LOSS, f"it is that of {name}"
        return None

    def _branch(self, wrong: list[Sample]) -> tuple[str, str] | None:
        """Wrong on stretches of the axis and right on others, label by label."""
        telling = [sample for sample in self.samples if sample.telling]
        right = sum(sample.right for sample in telling)
        if right < max(2, len(telling) / 10):
            return None
        changes = 0
        for line in _by_label(telling):
            verdicts = [sample.right for sample in sorted(line, key=lambda s: s.point[self.axis])]
            changes = max(changes, sum(a != b for a, b in itertools.pairwise(verdicts)))
        if changes > 4:
            return None
        places = sorted(sample.point[self.axis] for sample in wrong)
        return WRONG_BRANCH, (
            f"wrong for {self.axis} between {shown(places[0])} and {shown(places[-1])}, "
            "right elsewhere"
        )

    def _offset(self, wrong: list[Sample]) -> tuple[str, str] | None:
        offsets = [sample.found.number - sample.expected for sample in wrong]
        spread = max(offsets) - min(offsets)
        if len(wrong) >= 3 and spread <= 10 * max(sample.tolerance for sample in wrong):
            return CONSTANT, f"it is {shown(offsets[0])} too large everywhere"
        return None


def _badness(sample: Sample) -> float:
    if not sample.found.finite or not math.isfinite(sample.expected):
        return math.inf
    return abs(sample.found.number - sample.expected) / (1 + abs(sample.expected))


def _by_label(samples: Sequence[Sample]) -> Iterator[list[Sample]]:
    for label in dict.fromkeys(sample.point.get("y") for sample in samples):
        yield [sample for sample in samples if sample.point.get("y") == label]

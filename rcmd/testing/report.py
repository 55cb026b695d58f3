"""What a contract check found: identities that hold, and failures with their likely cause.

A checker is an ``Inspection`` with one method for each identity; a ``Comparison`` goes from wrong
numbers to their likely cause.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

Faults = Iterator[tuple[Any, ...]]
"""What is wrong with an identity: point, found, expected, cause and perhaps a remedy of each."""


class Cause(StrEnum):
    """The likely causes of a failure."""

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
class Failure:
    """One identity that does not hold.

    Attributes
    ----------
    identity
        What was checked, in a line.
    point
        Where, by the names of the arguments.
    found, expected
        Both numbers.
    cause
        The likely cause, one of a few names such as ``"wrong sign"``.
    remedy
        What would do, or what the name means here; may be empty.
    """

    identity: str
    point: dict[str, Any]
    found: Any
    expected: Any
    cause: str
    remedy: str = ""

    def __str__(self) -> str:
        where = ", ".join(f"{name} = {shown(value)}" for name, value in self.point.items())
        advice = f": {self.remedy}" if self.remedy else ""
        return (
            f"{self.identity} at {where or 'every point'}: found {shown(self.found)}, expected "
            f"{shown(self.expected)}; likely cause: {self.cause}{advice}"
        )


class ContractError(AssertionError):
    """A class breaks its contract; the message lists every failure."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(str(report))


@dataclass
class Report:
    """The outcome of a check, identity by identity, in the order in which they ran."""

    subject: str
    identities: dict[str, list[Failure]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[Failure]:
        """All failures."""
        return [failure for failures in self.identities.values() for failure in failures]

    @property
    def causes(self) -> list[str]:
        """The likely causes, the first one first, each once."""
        return list(dict.fromkeys(failure.cause for failure in self.failures))

    @property
    def ok(self) -> bool:
        """Whether everything held."""
        return not self.failures

    def record(self, identity: str, failures: Sequence[Failure] = ()) -> None:
        """Add an identity with its failures, if any."""
        self.identities.setdefault(identity, []).extend(failures)

    def lines(self) -> list[str]:
        """One line for each identity, the failures below it, then the notes."""
        text = []
        for identity, failures in self.identities.items():
            text.append(f"{'FAIL' if failures else 'ok  '}  {identity}")
            text.extend(f"      {failure}" for failure in failures)
        return [*text, *(f"note  {note}" for note in self.notes)]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "subject": self.subject,
            "ok": self.ok,
            "identities": [
                {"identity": name, "failures": [str(failure) for failure in failures]}
                for name, failures in self.identities.items()
            ],
            "causes": self.causes,
            "notes": self.notes,
        }

    def checked(self) -> Report:
        """This report, or a ``ContractError`` if anything failed."""
        if not self.ok:
            raise ContractError(self)
        return self

    def __str__(self) -> str:
        count = len(self.failures)
        head = f"{self.subject} breaks its contract, {count} failure{'s' if count > 1 else ''}:"
        return "\n".join([head if count else f"{self.subject} keeps its contract", *self.lines()])


class Skip(Exception):
    """Raised where an identity says nothing of this object; what it is given becomes a note."""


def identity(name: str, most: int | None = 1) -> Callable[[Any], Any]:
    """Mark a method of an ``Inspection`` that yields faults, of which ``most`` are reported."""

    def marked(check: Any) -> Any:
        check.identity = name, most
        return check

    return marked


class Inspection:
    """One object under inspection, by the methods marked with ``identity``, as they are written."""

    def __init__(self, subject: str) -> None:
        self.report = Report(subject)

    def first_cause(self, otherwise: str = Cause.UNKNOWN) -> str:
        """The cause of the first failure: where there is one, others follow from it."""
        return self.report.causes[0] if self.report.causes else otherwise

    def run(self) -> Report:
        """Check all identities."""
        for check in list(vars(type(self)).values()):
            if hasattr(check, "identity"):
                name, most = check.identity
                try:
                    faults = list(itertools.islice(check(self), most))
                except Skip as skipped:
                    self.report.notes += skipped.args
                else:
                    self.report.record(name, [Failure(name, *fault) for fault in faults])
        return self.report


def shown(value: Any) -> str:
    """A number with all the digits that matter, anything else as it prints."""
    if isinstance(value, (float, int, np.floating)) and not isinstance(value, bool):
        return f"{float(value):.10g}"
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=4, threshold=8)
    return str(value)


@dataclass(frozen=True)
class Call:
    """The outcome of a user's function: a number, or the fault it raised."""

    number: float
    fault: str = ""

    @property
    def finite(self) -> bool:
        return math.isfinite(self.number)

    def __str__(self) -> str:
        return self.fault or shown(self.number)


def attempt(function: Callable[..., Any], *arguments: Any) -> Call:
    """Call a user's function; what it raises becomes part of the report."""
    try:
        return Call(float(function(*arguments)))
    except (ArithmeticError, ValueError, TypeError) as fault:
        return Call(math.nan, f"{type(fault).__name__}: {fault}")


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
    def large(self) -> bool:
        """Whether the expected number is away from zero, so that a factor would show."""
        return math.isfinite(self.expected) and abs(self.expected) > 1e3 * self.tolerance


@dataclass(frozen=True)
class Comparison:
    """A function compared with the truth at many points, and ways in which it may be wrong.

    Attributes
    ----------
    samples
        The points.
    swapped
        The user's function with its first two arguments exchanged.
    others
        The same function of other losses, by the name of the loss.
    axis
        The name of the argument along which branches lie.
    """

    samples: Sequence[Sample]
    swapped: Callable[..., Any] | None = None
    others: dict[str, Callable[..., Any]] = field(default_factory=dict)
    axis: str = "s"

    def faults(self) -> Faults:
        """At most one, at the point that is most wrong, with the cause that explains all."""
        wrong = [sample for sample in self.samples if not sample.right]
        if wrong:
            worst = max(wrong, key=_error)
            found = worst.found.fault or worst.found.number
            yield worst.point, found, worst.expected, *self._cause(wrong)

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
                (Cause.UNKNOWN, "no simple change explains every wrong point"),
            )
            if found is not None
        )

    def _not_finite(self, wrong: list[Sample]) -> tuple[str, str] | None:
        faults = [s for s in wrong if not s.found.finite and math.isfinite(s.expected)]
        if faults:
            said = {str(sample.found) for sample in faults}
            if self.axis == "w" and said <= {"inf"}:
                return Cause.WRONG_DOMAIN, "it is infinite inside the domain"
            worst = max(faults, key=lambda s: abs(s.point.get(self.axis, 0.0)))
            return Cause.UNSTABLE, f"{worst.found} there; rewrite it so that nothing overflows"
        if any(math.isinf(s.expected) for s in wrong):
            return Cause.WRONG_DOMAIN, "it is finite outside the domain, where l* is +inf"
        return None

    def _constant_ratio(self, wrong: list[Sample]) -> tuple[str, str] | None:
        large = [sample for sample in self.samples if sample.large]
        if not large or any(sample.right for sample in large):
            return None
        largest = max(large, key=lambda sample: abs(sample.expected))
        ratio = largest.found.number / largest.expected
        if not math.isfinite(ratio):
            return None
        if not all(sample.explained_by(ratio * sample.expected) for sample in self.samples):
            return None
        if abs(ratio + 1) < 1e-6:
            return Cause.WRONG_SIGN, "its negative is right everywhere"
        if abs(ratio) < 1e-12:
            return Cause.UNKNOWN, "it is zero everywhere"
        return Cause.MISSING_FACTOR, f"it is {shown(round(ratio, 8))} times what it should be"

    def _argument_order(self, wrong: list[Sample]) -> tuple[str, str] | None:
        if self.swapped is None:
            return None
        calls = [attempt(self.swapped, *s.point.values()) for s in wrong]
        pairs = zip(wrong, calls, strict=True)
        if all(abs(call.number - s.expected) <= s.tolerance for s, call in pairs):
            return Cause.SWAPPED, "with two arguments exchanged it is right"
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
            return Cause.WRONG_SIGN, "it is right with −y in place of y"
        return None

    def _other_loss(self, wrong: list[Sample]) -> tuple[str, str] | None:
        if sum(sample.found.finite for sample in wrong) < 3:
            return None
        for name, function in self.others.items():
            calls = [attempt(function, *s.point.values()) for s in wrong]
            if all(s.explained_by(c.number) for s, c in zip(wrong, calls, strict=True)):
                return Cause.OTHER_LOSS, f"it is that of {name}"
        return None

    def _branch(self, wrong: list[Sample]) -> tuple[str, str] | None:
        """Wrong on stretches of the axis and right on others, label by label."""
        large = [sample for sample in self.samples if sample.large]
        right = sum(sample.right for sample in large)
        if right < max(2, len(large) / 10):
            return None
        changes = 0
        for line in _by_label(large):
            verdicts = [sample.right for sample in sorted(line, key=lambda s: s.point[self.axis])]
            changes = max(changes, sum(a != b for a, b in itertools.pairwise(verdicts)))
        if changes > 4:
            return None
        places = sorted(sample.point[self.axis] for sample in wrong)
        return Cause.WRONG_BRANCH, (
            f"wrong for {self.axis} between {shown(places[0])} and {shown(places[-1])}, "
            "right elsewhere"
        )

    def _offset(self, wrong: list[Sample]) -> tuple[str, str] | None:
        offsets = [sample.found.number - sample.expected for sample in wrong]
        spread = max(offsets) - min(offsets)
        if len(wrong) >= 3 and spread <= 10 * max(sample.tolerance for sample in wrong):
            return Cause.CONSTANT, f"it is {shown(offsets[0])} too large everywhere"
        return None


def _error(sample: Sample) -> float:
    if not sample.found.finite or not math.isfinite(sample.expected):
        return math.inf
    return abs(sample.found.number - sample.expected) / (1 + abs(sample.expected))


def _by_label(samples: Sequence[Sample]) -> Iterator[list[Sample]]:
    for label in dict.fromkeys(sample.point.get("y") for sample in samples):
        yield [sample for sample in samples if sample.point.get("y") == label]

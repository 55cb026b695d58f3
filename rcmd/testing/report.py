"""What a contract check found: identities that hold, failures with their likely cause, gaps.

A checker is an ``Inspection`` with one method for each identity; ``compared`` goes from wrong
numbers to their likely cause and a remedy, or what the cause means here.
"""

from __future__ import annotations

import itertools
import math
import traceback
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
    CONSTANT = "missing constant"
    TOO_SMALL = "constant too small"
    TOO_LARGE = "constant too large"
    GAMMA_TOO_SMALL = "γ too small"
    NOT_CONVEX = "not convex"
    WRONG_FLAG = "wrong flag"
    WRONG_TYPE = "wrong type"
    CHANGES = "changed memory"
    RAISES = "an exception"
    BIASED = "not uniform"
    UNKNOWN = "a different function"


@dataclass(frozen=True)
class Failure:
    """One identity that does not hold.

    Attributes
    ----------
    identity, point
        What was checked, in a line, and where, by the names of the arguments.
    found, expected
        Both numbers.
    cause, remedy
        The likely cause, a name such as ``"wrong sign"``, and what would do, if that is known.
    """

    identity: str
    point: dict[str, Any]
    found: Any
    expected: Any
    cause: str
    remedy: str = ""

    def __str__(self) -> str:
        return f"{self.identity} {self.told}"

    @property
    def told(self) -> str:
        """All but the identity."""
        where = ", ".join(f"{name} = {shown(value)}" for name, value in self.point.items())
        advice = f": {self.remedy}" if self.remedy else ""
        place = f"at {where}: " if where else ""
        return (
            f"{place}found {shown(self.found)}, expected {shown(self.expected)}; "
            f"likely cause: {self.cause}{advice}"
        )


class ContractError(AssertionError):
    """A class breaks its contract; the message lists every failure."""

    def __init__(self, report: Report) -> None:
        self.report = report
        super().__init__(str(report))


@dataclass
class Report:
    """The outcome of a check, identity by identity, in the order in which they ran.

    Attributes
    ----------
    subject
        What was checked.
    identities
        Those that were checked, each with its failures.
    unchecked
        Those that were not, or not everywhere, each with the reason.
    notes
        What is no fault, but worth knowing.
    """

    subject: str
    identities: dict[str, list[Failure]] = field(default_factory=dict)
    unchecked: dict[str, str] = field(default_factory=dict)
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
        """Whether nothing failed; what was not checked is in ``unchecked``."""
        return not self.failures

    @property
    def verdict(self) -> str:
        """The last line: points are sampled, and some identities may be left out."""
        if count := len(self.failures):
            return f"{count} failure{'s' if count > 1 else ''}"
        left = f"; {len(self.unchecked)} not checked" if self.unchecked else ""
        return f"the contract is kept at all points tried{left}"

    def lines(self) -> list[str]:
        """One line for each identity, the failures below it, then the notes."""
        text = []
        for identity, failures in self.identities.items():
            text += [f"{'FAIL' if failures else 'ok  '}  {identity}"]
            text += [f"      {failure.told}" for failure in failures]
        reasons: dict[str, list[str]] = {}
        for identity, why in self.unchecked.items():
            reasons.setdefault(why, []).append(identity)
        for why, group in reasons.items():
            left = group if len(group) < 4 else [f"{len(group)} other identities"]
            text += [f"--    {identity}: not checked: {why}" for identity in left]
        return text + [f"note  {note}" for note in self.notes]

    def as_dict(self) -> dict[str, Any]:
        return {
            "subject": self.subject,
            "ok": self.ok,
            "identities": [
                {"identity": name, "failures": [str(failure) for failure in failures]}
                for name, failures in self.identities.items()
            ],
            "not checked": self.unchecked,
            "causes": self.causes,
            "notes": self.notes,
        }

    def checked(self) -> Report:
        """This report, or a ``ContractError`` if anything failed."""
        if not self.ok:
            raise ContractError(self)
        return self

    def __str__(self) -> str:
        broken = "" if self.ok else " breaks its contract,"
        return "\n".join([f"{self.subject}{broken or ':'} {self.verdict}", *self.lines()])


class Skip(Exception):
    """Raised where an identity cannot be checked, or not at all points, with the reason."""


def identity(name: str, most: int | None = 1) -> Callable[[Any], Any]:
    """Mark a method of an ``Inspection`` that yields faults, of which ``most`` are reported."""

    def marked(check: Any) -> Any:
        check.identity = name, most
        return check

    return marked


class Inspection:
    """One object under inspection, by the methods marked with ``identity``, as they are written."""

    blocked = ""
    """Why no further identity is checked, once that is so."""

    def __init__(self, subject: str) -> None:
        self.report = Report(subject)

    def first_cause(self, otherwise: str = Cause.UNKNOWN) -> str:
        """The cause of the first failure: where there is one, others follow from it."""
        return self.report.causes[0] if self.report.causes else otherwise

    def following(self, faults: Faults) -> Faults:
        """The faults, attributed to the first failure where there is one."""
        for *fault, cause, remedy in faults:
            yield *fault, self.first_cause(cause), remedy if self.report.ok else ""

    def run(self) -> Report:
        """Check all identities; numbers that overflow are judged, and need no warning."""
        with np.errstate(all="ignore"):
            for check in list(vars(type(self)).values()):
                if hasattr(check, "identity"):
                    self._run(check, *check.identity)
        return self.report

    def _run(self, check: Any, name: str, most: int | None) -> None:
        found: list[Failure] = []
        try:
            if self.blocked:
                raise Skip(self.blocked)
            for fault in itertools.islice(check(self), most):
                found.append(Failure(name, *fault))
        except Skip as skipped:
            if not found:
                self.report.unchecked[name] = str(skipped)
                return
        except Exception as fault:  # whatever the user's code raises is a finding
            where = traceback.extract_tb(fault.__traceback__)[-1]
            place = f"{where.name}, {where.filename}:{where.lineno}"
            told = f"{type(fault).__name__}: {fault}"
            found.append(Failure(name, {}, told, "no exception", Cause.RAISES, f"in {place}"))
        self.report.identities[name] = found


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
    """Call a user's function; an exception becomes part of the report."""
    try:
        return Call(float(function(*arguments)))
    except Exception as fault:  # whatever the user's code raises is a finding
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
        return self._near(self.expected, self.tolerance)

    def explained_by(self, number: float) -> bool:
        """Whether ``number`` is what was found, as closely as the truth is known."""
        return self._near(number, 8 * self.tolerance + 1e-9 * abs(number))

    def _near(self, number: float, room: float) -> bool:
        found = self.found.number
        return found == number or (abs(found - number) <= room and math.isfinite(found - number))

    @property
    def large(self) -> bool:
        """Whether the expected number is far enough from zero to show a wrong factor."""
        return math.isfinite(self.expected) and abs(self.expected) > 1e3 * self.tolerance


def compared(
    samples: Sequence[Sample],
    axis: str = "s",
    swapped: Callable[..., Any] | None = None,
) -> Faults:
    """At most one fault, at the sample that is most wrong, with the cause that explains all.

    ``axis`` is the argument along which branches lie, ``swapped`` the user's function with two
    arguments exchanged.
    """
    if not samples:
        raise Skip("there was no point to check it at")
    wrong = [sample for sample in samples if not sample.right]
    if wrong:
        worst = max(wrong, key=_error)
        cause = (
            constant_ratio(samples)
            or _argument_order(wrong, swapped)
            or _sign_of_label(samples, wrong)
            or _not_finite(wrong, axis)
            or _branch(samples, wrong, axis)
            or _offset(wrong)
            or (Cause.UNKNOWN, "no simple change explains every wrong point")
        )
        yield worst.point, worst.found.fault or worst.found.number, worst.expected, *cause


def _error(sample: Sample) -> float:
    if not sample.found.finite or not math.isfinite(sample.expected):
        return math.inf
    return abs(sample.found.number - sample.expected) / (1 + abs(sample.expected))


def constant_ratio(samples: Sequence[Sample]) -> tuple[str, str] | None:
    """One factor turns every expected number into the one found."""
    large = [sample for sample in samples if sample.large]
    if not large or any(sample.right for sample in large):
        return None
    largest = max(large, key=lambda sample: abs(sample.expected))
    ratio = largest.found.number / largest.expected
    if not math.isfinite(ratio):
        return None
    if not all(sample.explained_by(ratio * sample.expected) for sample in samples):
        return None
    if abs(ratio + 1) < 1e-6:
        return Cause.WRONG_SIGN, "its negative is right everywhere"
    if abs(ratio) < 1e-12:
        return Cause.UNKNOWN, "it is zero everywhere"
    return Cause.MISSING_FACTOR, f"it is {shown(round(ratio, 8))} times what it should be"


def _argument_order(
    wrong: list[Sample], swapped: Callable[..., Any] | None
) -> tuple[str, str] | None:
    if swapped is None:
        return None
    calls = [attempt(swapped, *s.point.values()) for s in wrong]
    pairs = zip(wrong, calls, strict=True)
    if all(abs(call.number - s.expected) <= s.tolerance for s, call in pairs):
        return Cause.SWAPPED, "with two arguments exchanged it is right"
    return None


def _sign_of_label(samples: Sequence[Sample], wrong: list[Sample]) -> tuple[str, str] | None:
    """A mirrored label explains everything where the truth at −y is known too."""
    if "y" not in wrong[0].point:
        return None
    truth = {tuple(s.point.values()): s.expected for s in samples}
    mirrored = [tuple(-v if k == "y" else v for k, v in s.point.items()) for s in wrong]
    known = [(s, truth[m]) for s, m in zip(wrong, mirrored, strict=True) if m in truth]
    if len(known) >= 3 and all(s.explained_by(number) for s, number in known):
        return Cause.WRONG_SIGN, "it is right with −y in place of y"
    return None


def _not_finite(wrong: list[Sample], axis: str) -> tuple[str, str] | None:
    faults = [s for s in wrong if not s.found.finite and math.isfinite(s.expected)]
    if faults:
        if axis == "w" and all(s.found.number == math.inf for s in faults):
            return Cause.WRONG_DOMAIN, "it is infinite inside the domain"
        worst = max(faults, key=lambda s: abs(s.point.get(axis, 0.0)))
        return Cause.UNSTABLE, f"{worst.found} there; rewrite it so that nothing overflows"
    if any(math.isinf(s.expected) for s in wrong):
        return Cause.WRONG_DOMAIN, "it is finite outside the domain, where l* is +inf"
    return None


def _branch(samples: Sequence[Sample], wrong: list[Sample], axis: str) -> tuple[str, str] | None:
    """Wrong on stretches of the axis and right on others, label by label."""
    if axis not in wrong[0].point:
        return None
    large = sorted((s for s in samples if s.large), key=lambda s: s.point[axis])
    if sum(sample.right for sample in large) < max(2, len(large) / 10):
        return None
    for label in {sample.point.get("y") for sample in large}:
        verdicts = [sample.right for sample in large if sample.point.get("y") == label]
        if sum(a != b for a, b in itertools.pairwise(verdicts)) > 4:
            return None
    places = [sample.point[axis] for sample in wrong]
    stretch = f"{axis} between {shown(min(places))} and {shown(max(places))}"
    return Cause.WRONG_BRANCH, f"wrong for {stretch}, right elsewhere"


def _offset(wrong: list[Sample]) -> tuple[str, str] | None:
    offsets = [sample.found.number - sample.expected for sample in wrong]
    spread = max(offsets) - min(offsets)
    room = min(abs(offsets[0]), 10 * max(sample.tolerance for sample in wrong))
    if len(wrong) >= 3 and spread <= room:
        return Cause.CONSTANT, f"it is {shown(offsets[0])} too large everywhere"
    return None

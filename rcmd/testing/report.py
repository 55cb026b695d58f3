"""What a contract check found: identities that hold, and failures that say why."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


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

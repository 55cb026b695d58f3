"""The words of the language of loss expressions: plain ASCII, few and short."""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LENGTH = 2000
MAX_TOKENS = 400

END = "the end of the expression"

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z_0-9]*)|(?P<mark>\*\*|<=|>=|[-+*/(),<>]))"
)


class ExpressionError(ValueError):
    """An expression that is not a loss, or not in the language; the message says where."""


class Counterexample(ExpressionError):
    """A refusal with the point that shows why; ``{at}`` in ``message`` stands for it."""

    def __init__(self, message: str, at: float, place: str = "s = {:.6g}") -> None:
        self.message = message
        self.point = float(at)
        super().__init__(message.format(at=place.format(self.point)))

    def moved(self, by: float, label: float) -> Counterexample:
        """The same refusal in the loss's own s, at a label."""
        return Counterexample(self.message, self.point + by, f"s = {{:.6g}}, y = {label:g}")


@dataclass(frozen=True)
class Token:
    """One word, and where it stands, counted from 1."""

    kind: str
    text: str
    position: int

    def __str__(self) -> str:
        return END if self.kind == "end" else f"{self.text!r} at position {self.position}"


def tokens(text: str) -> list[Token]:
    """The words of ``text``, an end mark last."""
    if not isinstance(text, str):
        raise TypeError(f"expression is a {type(text).__name__}; expected a string")
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"the expression has {len(text)} characters; expected at most {MAX_LENGTH}"
        )
    for position, character in enumerate(text, 1):
        if not (" " <= character <= "~" or character in "\t\n"):
            raise ExpressionError(
                f"{character!a} at position {position} is not a plain ASCII character; "
                "expected letters a-z, digits and + - * / ( ) , . < > ="
            )
    found: list[Token] = []
    at = 0
    while text[at:].strip():
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unknown_mark(text, at)
        kind = match.lastgroup or ""
        found.append(Token(kind, match[kind], match.start(kind) + 1))
        at = match.end()
    if len(found) > MAX_TOKENS:
        raise ExpressionError(
            f"the expression has {len(found)} parts; expected at most {MAX_TOKENS}"
        )
    return [*found, Token("end", "", len(text) + 1)]


def _unknown_mark(text: str, at: int) -> ExpressionError:
    at += len(text[at:]) - len(text[at:].lstrip())
    hint = "write ** for a power" if text[at] == "^" else "expected a number, a name or an operator"
    return ExpressionError(f"{text[at]!r} at position {at + 1} has no meaning here; {hint}")

"""The language of loss expressions: a tokenizer and a parser of our own.

    condition  :=  sum ("<" | "<=" | ">" | ">=") sum          only as the first part of where
    sum        :=  product (("+" | "-") product)*
    product    :=  factor (("*" | "/") factor)*
    factor     :=  ("+" | "-") factor  |  atom ["**" factor]
    atom       :=  number | name | function "(" sum ("," sum)* ")" | "(" sum ")"

A text becomes a tree of tuples. Nothing is evaluated, and every bound on length, depth and
size is checked before anything expensive sees the tree.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from rcmd.expressions.words import END, ExpressionError, Token, tokens

MAX_DEPTH = 40
MAX_EXPONENT = 64
MAX_SIZE = 4000

# The number of arguments each function takes, at least and at most.
FUNCTIONS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("exp", "expm1", "log", "log1p", "sqrt", "square"), (1, 1)),
    **dict.fromkeys(("sinh", "cosh", "tanh", "atan", "asinh", "abs", "sign"), (1, 1)),
    **dict.fromkeys(("softplus", "expit", "logcosh"), (1, 1)),
    "logaddexp": (2, 2),
    "where": (3, 3),
    "max": (2, 8),
    "min": (2, 8),
}
CONSTANTS = ("pi",)
VARIABLES = ("s", "y")
COMPARISONS = ("<", "<=", ">", ">=")

Tree = tuple[Any, ...]


def parse(text: str, parameters: Mapping[str, float] | None = None) -> Tree:
    """The tree of ``text``, whose names are s, y, pi and the ``parameters``.

    Examples
    --------
    >>> parse("a*(s - y)**2", {"a": 3.0})
    ('*', ('name', 'a'), ('**', ('-', ('name', 's'), ('name', 'y')), ('number', '2')))
    """
    numbers = parameters or {}
    parser = _Parser(tokens(text), {*VARIABLES, *CONSTANTS, *numbers})
    tree = parser.sum(0)
    parser.expect("end", f"an operator or {END}")
    if _size(tree, numbers) > MAX_SIZE:
        raise ExpressionError(
            "the powers in this expression multiply out to numbers or polynomials too large to "
            "work with; expected a loss, which grows at most like s**2"
        )
    return tree


def write(tree: Tree) -> str:
    """The tree as text again, every operation in parentheses: a key, and valid input."""
    kind, *parts = tree
    if kind in ("number", "name"):
        return str(parts[0])
    if kind == "call":
        return f"{parts[0]}({', '.join(map(write, parts[1]))})"
    if kind == "negative":
        return f"(-{write(parts[0])})"
    infix = f"{write(parts[0])} {kind} {write(parts[1])}"
    return infix if kind in COMPARISONS else f"({infix})"


def names(tree: Tree) -> set[str]:
    """The names that occur in a tree, functions left out."""
    kind, *parts = tree
    if kind == "number":
        return set()
    if kind == "name":
        return {parts[0]}
    return set().union(*map(names, parts[1] if kind == "call" else parts))


def _size(tree: Tree, numbers: Mapping[str, float]) -> float:
    """An upper bound of the digits and terms that multiplying everything out would give."""
    kind, *parts = tree
    if kind == "number":
        mantissa, _, exponent = parts[0].lower().partition("e")
        return len(mantissa) + abs(int(exponent or 0))
    if kind == "name":
        return 1 if parts[0] in VARIABLES else 8
    if kind == "call":
        return 1 + sum(_size(part, numbers) for part in parts[1])
    if kind == "**":
        return _size(parts[0], numbers) * max(1.0, abs(_exponent(parts[1], numbers)))
    return sum(_size(part, numbers) for part in parts)


def _exponent(tree: Tree, numbers: Mapping[str, float]) -> float:
    """The number an exponent stands for, from numbers, signs and quotients alone."""
    kind, *parts = tree
    if kind == "number" or parts[0] in numbers:
        value = float(numbers.get(parts[0], parts[0]))
    elif kind == "negative":
        value = -_exponent(parts[0], numbers)
    elif kind == "/":
        divisor = _exponent(parts[1], numbers)
        value = _exponent(parts[0], numbers) / divisor if divisor else float("inf")
    else:
        raise ExpressionError(
            f"the exponent {write(tree)[:40]} is not a plain number; expected one such as 2, -1 "
            "or 3/2: use exp and log for other powers"
        )
    if not abs(value) <= MAX_EXPONENT:
        raise ExpressionError(
            f"the exponent {write(tree)[:40]} is too large; expected at most {MAX_EXPONENT}"
        )
    return value


class _Parser:
    """Recursive descent with a bound on the depth."""

    def __init__(self, tokens: list[Token], known: set[str]) -> None:
        self.tokens = tokens
        self.at = 0
        self.known = known

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self, *marks: str) -> str | None:
        """The next token if it is one of ``marks``."""
        token = self.next
        if token.kind != "mark" or token.text not in marks:
            return None
        self.at += 1
        return token.text

    def expect(self, what: str, words: str) -> None:
        if what == "end" and self.next.kind == "end":
            return
        if what == "end" or not self.take(what):
            raise ExpressionError(f"{self.next} was not expected; expected {words}")

    def sum(self, depth: int) -> Tree:
        left = self.product(depth)
        while mark := self.take("+", "-"):
            left = (mark, left, self.product(depth))
        return left

    def product(self, depth: int) -> Tree:
        left = self.factor(depth)
        while mark := self.take("*", "/"):
            left = (mark, left, self.factor(depth))
        return left

    def factor(self, depth: int) -> Tree:
        if depth > MAX_DEPTH:
            raise ExpressionError(
                f"the expression is nested more than {MAX_DEPTH} deep at position "
                f"{self.next.position}; expected a simpler one"
            )
        if mark := self.take("+", "-"):
            inner = self.factor(depth + 1)
            return ("negative", inner) if mark == "-" else inner
        base = self.atom(depth + 1)
        return ("**", base, self.factor(depth + 1)) if self.take("**") else base

    def atom(self, depth: int) -> Tree:
        token = self.next
        if self.take("("):
            inner = self.sum(depth)
            self.expect(")", "')' or an operator")
            return inner
        if token.kind not in ("number", "name"):
            raise ExpressionError(f"{token} was not expected; expected a number, a name or '('")
        self.at += 1
        if token.kind == "number":
            return ("number", _checked_number(token, self.next))
        if self.take("("):
            return self.call(token, depth)
        if token.text not in self.known:
            raise ExpressionError(_unknown_name(token, self.known))
        return ("name", token.text)

    def call(self, token: Token, depth: int) -> Tree:
        if token.text not in FUNCTIONS:
            raise ExpressionError(_unknown_function(token))
        arguments = [self.condition(depth) if token.text == "where" else self.sum(depth)]
        while self.take(","):
            arguments.append(self.sum(depth))
        self.expect(")", "',', ')' or an operator")
        least, most = FUNCTIONS[token.text]
        if not least <= len(arguments) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise ExpressionError(f"{token} got {len(arguments)} arguments; expected {wanted}")
        return ("call", token.text, tuple(arguments))

    def condition(self, depth: int) -> Tree:
        left = self.sum(depth)
        mark = self.take(*COMPARISONS)
        if mark is None:
            raise ExpressionError(f"{self.next} was not expected; where expects a comparison first")
        return (mark, left, self.sum(depth))


def _checked_number(token: Token, following: Token) -> str:
    adjacent = following.position == token.position + len(token.text)
    if following.kind in ("name", "number") and adjacent:
        raise ExpressionError(f"{following} follows a number; write * between them")
    value = float(token.text)
    if len(token.text) > 40 or not (value == 0 or 1e-100 <= value <= 1e100):
        raise ExpressionError(
            f"the number at position {token.position} is out of range; expected at most 40 "
            "characters and a size between 1e-100 and 1e100"
        )
    return token.text


def _unknown_name(token: Token, known: set[str]) -> str:
    if token.text in FUNCTIONS:
        return f"the function {token} has no argument; expected {token.text}(...)"
    return (
        f"the name {token.text[:40]!r} at position {token.position} is unknown; expected one of "
        f"{', '.join(sorted(known))}: give a parameter its number, as in "
        "from_expression(..., delta=1.0)"
    )


def _unknown_function(token: Token) -> str:
    close = difflib.get_close_matches(token.text.lower()[:40], FUNCTIONS, 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return (
        f"the function {token.text[:40]!r} at position {token.position} is not in the list; "
        f"expected one of {', '.join(sorted(FUNCTIONS))}{hint}"
    )

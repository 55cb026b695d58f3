"""What a formula may say: the table of functions, and a reader on Python's own syntax trees.

A text becomes an ``ast`` node whose every part is on a list of allowed ones; nothing is ever run.
Length, depth, powers and what they multiply out to are bounded before computer algebra begins.
"""

from __future__ import annotations

import ast
import difflib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

MAX_LENGTH = 2000
MAX_PARTS = 400
MAX_DEPTH = 40
MAX_EXPONENT = 64
MAX_DIGITS = 4000
MAX_TERMS = 3000

VARIABLES = ("s", "y")


class ExpressionError(ValueError):
    """An expression that is not a loss, or cannot be read; the message says where."""


class Counterexample(Exception):
    """A refusal, and the point of a core that shows why; ``{at}`` in its text stands for that."""

    def __init__(self, message: str, at: float) -> None:
        super().__init__(message)
        self.point = float(at)


# ---- the functions -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Function:
    """One row of the table; formulas are texts for SymPy, so that it can be read without SymPy.

    ``form`` is the definition in the ``parameters``, ``code`` the scalar function of generated code
    (in ``math`` or ``rcmd.conjugates.scalars``). Functions that keep their digits have a ``slope``
    in such functions, the derivative in the first parameter, and some have a ``conjugate``.
    """

    form: str
    code: str = ""
    slope: str = ""
    conjugate: str = ""
    parameters: str = "x"
    arguments: tuple[int, int] = (1, 1)


FUNCTIONS: dict[str, Function] = {
    "exp": Function("exp(x)", "bounded_exp"),
    "log": Function("log(x)", "math.log"),
    "sqrt": Function("sqrt(x)"),
    "square": Function("x**2"),
    "sinh": Function("sinh(x)", "bounded_sinh"),
    "cosh": Function("cosh(x)", "bounded_cosh"),
    "atan": Function("atan(x)", "math.atan"),
    "asinh": Function("asinh(x)", "math.asinh"),
    "abs": Function("Abs(x)"),
    "sign": Function("sign(x)"),
    "max": Function("Max(*x)", parameters="*x", arguments=(2, 8)),
    "min": Function("Min(*x)", parameters="*x", arguments=(2, 8)),
    "where": Function("Piecewise((a, c), (b, True))", parameters="c, a, b", arguments=(3, 3)),
    "logaddexp": Function("log(exp(a) + exp(b))", parameters="a, b", arguments=(2, 2)),
    "expm1": Function("exp(x) - 1", "math.expm1", "exp(x)"),
    "log1p": Function("log(1 + x)", "math.log1p", "1/(1 + x)"),
    "tanh": Function("tanh(x)", "math.tanh", "sech2(x)"),
    "softplus": Function("log(1 + exp(x))", "softplus", "expit(x)", "negative_entropy"),
    "expit": Function("1/(1 + exp(-x))", "expit", "expit(x)*expit(-x)"),
    "logcosh": Function("log(cosh(x))", "log_cosh", "tanh(x)", "cosh_entropy"),
    "sech2": Function("1 - tanh(x)**2", "sech2", "-2*sech2(x)*tanh(x)"),
    "negative_entropy": Function(
        "x*log(x) + (1 - x)*log(1 - x)", "negative_entropy", "log(x) - log(1 - x)"
    ),
    "cosh_entropy": Function(
        "((1 + x)*log(1 + x) + (1 - x)*log(1 - x))/2", "cosh_entropy", "atanh(x)"
    ),
    "log1p_gap": Function("x - log(1 + x)", "log1p_gap", "x/(1 + x)"),
    "sqrt_gap": Function(
        "sqrt(c + x) - sqrt(c)", "sqrt_gap", "1/(2*sqrt(c + x))", parameters="x, c"
    ),
    "erf": Function("1 - 2*normcdf(-sqrt(2)*x)"),
    "erfc": Function("2*normcdf(-sqrt(2)*x)"),
    "normcdf": Function("normcdf(x)", "normcdf"),
    "log_normcdf": Function("log(normcdf(x))", "log_normcdf", "normal_hazard(x)"),
    "normal_hazard": Function("normcdf(x).diff(x)/normcdf(x)", "normal_hazard", "-normal_bend(x)"),
    "normal_bend": Function(
        "-(normcdf(x).diff(x)/normcdf(x)).diff(x)",
        "normal_bend",
        "normal_hazard(x) - normal_bend(x)*(x + 2*normal_hazard(x))",
    ),
    "log_softplus": Function("log(log(1 + exp(x)))", "log_softplus", "softplus_ratio(x)"),
    "softplus_ratio": Function(
        "1/((1 + exp(-x))*log(1 + exp(x)))", "softplus_ratio", "-softplus_ratio(x)*softplus_rest(x)"
    ),
    "softplus_rest": Function(
        "1/((1 + exp(-x))*log(1 + exp(x))) - 1/(1 + exp(x))",
        "softplus_rest",
        "expit(x)*expit(-x) - softplus_ratio(x)*softplus_rest(x)",
    ),
    "cloglog": Function("log(1 - exp(-exp(x)))", "cloglog", "cloglog_slope(x)"),
    "cloglog_slope": Function(
        "exp(x)/(exp(exp(x)) - 1)", "cloglog_slope", "-cloglog_slope(x)*cloglog_rest(x)"
    ),
    "cloglog_rest": Function(
        "exp(x) + exp(x)/(exp(exp(x)) - 1) - 1",
        "cloglog_rest",
        "exp(x) - cloglog_slope(x)*cloglog_rest(x)",
    ),
    "tan": Function("tan(x)", "math.tan"),
    "atanh": Function("atanh(x)", "math.atanh"),
}
# Derivatives, conjugates and inverses are made of these; they are not for formulas.
_INTERNAL = {
    "sech2", "negative_entropy", "cosh_entropy", "log1p_gap", "sqrt_gap", "tan", "atanh",
    "log_softplus", "softplus_ratio", "softplus_rest",
    "log_normcdf", "normal_hazard", "normal_bend", "cloglog", "cloglog_slope", "cloglog_rest",
}  # fmt: skip
RESERVED = {*VARIABLES, *FUNCTIONS, "pi", "w", "self"}
NAMES = sorted(FUNCTIONS.keys() - _INTERNAL)
# Functions that become sums of two exponentials when logarithms are rewritten.
_TWO_TERMS = ("cosh", "sinh", "tanh", "softplus", "expit", "logcosh", "logaddexp", "expm1")


# ---- reading -----------------------------------------------------------------------------------

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_UNKNOWN = re.compile(r"[^A-Za-z0-9_ +\-*/(),.<>=]")
_OPERATORS = ast.Add | ast.Sub | ast.Mult | ast.Div
_COMPARISONS = ast.Lt | ast.LtE | ast.Gt | ast.GtE


def parse(
    text: str, parameters: Mapping[str, float] | None = None, fields: Sequence[str] = ()
) -> ast.expr:
    """The syntax tree of ``text``, whose names are s, y, pi, the ``parameters`` and ``fields``.

    Examples
    --------
    >>> ast.unparse(parse("a*(s - y)**2", {"a": 3.0}))
    'a * (s - y) ** 2'
    """
    _check_text(text)
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError as fault:
        at = (fault.offset or 0) - 1
        if "too many nested" in fault.msg:
            raise _too_deep(at + 1) from None
        word = re.match(r"\w+|.", text[at:]) if at >= 0 else None
        place = f"{word[0][:40]!r} at position {at + 1}" if word else "the end of the expression"
        what = "was never closed" if "never closed" in fault.msg else "was not expected"
        raise ExpressionError(
            f"{place} {what}; expected a formula such as 2*(s - y)**2, with an operator or a comma "
            "between any two parts and ')' for each '('"
        ) from None
    except (MemoryError, RecursionError):
        raise _too_deep(1) from None
    count = sum(isinstance(node, ast.expr) for node in ast.walk(tree))
    if count > MAX_PARTS:
        raise ExpressionError(f"the expression has {count} parts; expected at most {MAX_PARTS}")
    _Reader(text, parameters or {}, fields).read(tree, 0)
    return tree


def written(text: str, node: ast.expr) -> str:
    """A node as it stands in the text; numbers are read from there, exactly."""
    return text[node.col_offset : node.end_col_offset]


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"the expression has {len(text)} characters; expected at most {MAX_LENGTH}"
        )
    if not text:
        raise ExpressionError("the expression is empty; expected a formula such as (s - y)**2/2")
    unknown = _UNKNOWN.search(text)
    if unknown:
        hint = "expected letters a-z, digits and + - * / ( ) , . < > ="
        raise ExpressionError(
            f"{unknown[0]!a} at position {unknown.start() + 1} has no meaning here; "
            + ("write ** for a power" if unknown[0] == "^" else hint)
        )


def _too_deep(position: int) -> ExpressionError:
    return ExpressionError(
        f"the expression is nested more than {MAX_DEPTH} deep at position {position}; expected a "
        "simpler one"
    )


Size = tuple[int, float]
"""Bounds of the terms and of the digits that multiplying everything out would give."""


def _checked(terms: int, digits: float) -> Size:
    if terms > MAX_TERMS or digits > MAX_DIGITS:
        raise ExpressionError(
            "the powers in this expression multiply out to numbers or polynomials too large to "
            "work with; expected a loss, which grows at most like s**2"
        )
    return terms, digits


class _Reader:
    """A walk over a syntax tree that refuses every part that is not allowed."""

    def __init__(self, text: str, numbers: Mapping[str, float], fields: Sequence[str]) -> None:
        self.text = text
        self.numbers = numbers
        self.known = sorted({*VARIABLES, "pi", *numbers, *fields})

    def place(self, node: ast.expr) -> str:
        return f"{written(self.text, node)[:40]!r} at position {node.col_offset + 1}"

    def read(self, node: ast.expr, depth: int) -> Size:
        """The size of what ``node`` stands for."""
        if depth > MAX_DEPTH:
            raise _too_deep(node.col_offset + 1)
        match node:
            case ast.Constant() if _NUMBER.fullmatch(written(self.text, node)):
                return self.number(node)
            case ast.Name():
                return self.name(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                return self.read(node.operand, depth + 1)
            case ast.BinOp(op=ast.Pow()):
                terms, digits = self.read(node.left, depth + 1)
                self.read(node.right, depth + 1)
                power = max(1, math.ceil(abs(self.exponent(node.right))))
                return _checked(math.comb(terms + power - 1, power), digits * power)
            case ast.BinOp() if isinstance(node.op, _OPERATORS):
                # Sums and products nest to the left without getting deep.
                left, right = self.read(node.left, depth), self.read(node.right, depth + 1)
                times = isinstance(node.op, ast.Mult | ast.Div)
                terms = left[0] * right[0] if times else left[0] + right[0]
                return _checked(terms, left[1] + right[1])
            case ast.Compare() if all(isinstance(sign, _COMPARISONS) for sign in node.ops):
                sizes = [self.read(part, depth + 1) for part in (node.left, *node.comparators)]
                return _checked(1, sum(size[1] for size in sizes))
            case ast.Call(func=ast.Name(id=name), keywords=[]):
                return self.call(node, name, depth)
        raise ExpressionError(
            f"{self.place(node)} has no meaning here; expected numbers, names, + - * / **, "
            "comparisons by < <= > >=, parentheses and functions of the list"
        )

    def number(self, node: ast.Constant) -> Size:
        digits = written(self.text, node)
        mantissa, _, exponent = digits.lower().partition("e")
        zero = not mantissa.strip("0.")
        if len(digits) > 40 or not (zero or 1e-100 <= float(digits) <= 1e100):
            raise ExpressionError(
                f"the number at position {node.col_offset + 1} is out of range; expected at most "
                "40 characters and a size between 1e-100 and 1e100"
            )
        return 1, len(mantissa) + abs(int(exponent or 0))

    def name(self, node: ast.Name) -> Size:
        if node.id in NAMES:
            raise ExpressionError(
                f"the function {self.place(node)} has no argument; expected {node.id}(...)"
            )
        if node.id not in self.known:
            raise ExpressionError(
                f"the name {self.place(node)} is unknown; expected one of "
                f"{', '.join(self.known)}: give a parameter its number, as in "
                "from_expression(..., delta=1.0), or name what each sample has of its own, as in "
                "from_expression(..., fields=['tau'])"
            )
        return 1, 1 if node.id in VARIABLES else 8

    def call(self, node: ast.Call, name: str, depth: int) -> Size:
        if name not in NAMES:
            close = difflib.get_close_matches(name.lower()[:40], NAMES, 1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ExpressionError(
                f"the function {self.place(node.func)} is not in the list; expected one of "
                f"{', '.join(NAMES)}{hint}"
            )
        least, most = FUNCTIONS[name].arguments
        if not least <= len(node.args) <= most:
            wanted = str(least) if least == most else f"{least} to {most}"
            raise ExpressionError(
                f"{self.place(node.func)} got {len(node.args)} arguments; expected {wanted}"
            )
        if name == "where" and not isinstance(node.args[0], ast.Compare):
            raise ExpressionError(
                f"{self.place(node.args[0])} was not expected; where expects a comparison such as "
                "s < y first"
            )
        sizes = [self.read(argument, depth + 1) for argument in node.args]
        digits = 1 + sum(size[1] for size in sizes)
        if name == "square":
            return _checked(math.comb(sizes[0][0] + 1, 2), 2 * digits)
        return _checked(2 if name in _TWO_TERMS else 1, digits)

    def exponent(self, node: ast.expr) -> float:
        """The number an exponent stands for, from numbers, signs and quotients alone."""
        match node:
            case ast.Constant():
                value = float(written(self.text, node))
            case ast.Name() if node.id in self.numbers:
                value = float(self.numbers[node.id])
            case ast.UnaryOp(op=ast.USub()):
                value = -self.exponent(node.operand)
            case ast.BinOp(op=ast.Div()):
                divisor = self.exponent(node.right)
                value = self.exponent(node.left) / divisor if divisor else math.inf
            case _:
                raise ExpressionError(
                    f"the exponent {self.place(node)} is not a plain number; expected one such as "
                    "2, -1 or 3/2: use exp and log for other powers"
                )
        if not abs(value) <= MAX_EXPONENT:
            raise ExpressionError(
                f"the exponent {self.place(node)} is too large; expected at most {MAX_EXPONENT}"
            )
        return value

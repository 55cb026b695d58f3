"""Expressions as scalar Python in ``math`` style, which numba compiles as it stands."""

from __future__ import annotations

import re
from typing import Any

import sympy as sp

from rcmd.expressions.rewriting import Stable

_MATH = {
    sp.exp: "bounded_exp",
    sp.log: "math.log",
    sp.sinh: "math.sinh",
    sp.cosh: "math.cosh",
    sp.tanh: "math.tanh",
    sp.atan: "math.atan",
    sp.asinh: "math.asinh",
    sp.tan: "math.tan",
    sp.atanh: "math.atanh",
    sp.asin: "math.asin",
    sp.sin: "math.sin",
    sp.cos: "math.cos",
}
_STABLE = {"tanh": "math.tanh", "log1p": "math.log1p", "expm1": "math.expm1"}
HELPERS = (
    "bounded_exp",
    "cosh_entropy",
    "expit",
    "log1p_gap",
    "logcosh",
    "sech2",
    "negative_entropy",
    "nudged",
    "softplus",
    "sqrt_gap",
    "square",
)


class Unprintable(Exception):
    """An expression with a part that scalar code has no word for."""


def statements(expression: Any, names: dict[Any, str]) -> list[str]:
    """Lines that compute ``expression``, common parts once, the last one returning it."""
    shared, (result,) = sp.cse([expression], symbols=sp.numbered_symbols("part"))
    local = dict(names)
    lines = []
    for symbol, part in shared:
        lines.append(f"{symbol} = {code(part, local)}")
        local[symbol] = str(symbol)
    return [*lines, f"return {code(result, local)}"]


def code(expression: Any, names: dict[Any, str]) -> str:
    """``expression`` as one Python expression of floats."""
    if expression.is_number:
        return literal(expression)
    if expression in names:
        return names[expression]
    if isinstance(expression, sp.Add):
        return _sum(expression, names)
    if isinstance(expression, sp.Mul):
        return _product(expression, names)
    if isinstance(expression, sp.Pow):
        return _power(expression, names)
    arguments = ", ".join(code(part, names) for part in expression.args)
    if isinstance(expression, Stable):
        name = type(expression).__name__
        return f"{_STABLE.get(name, name)}({arguments})"
    if expression.func not in _MATH:
        raise Unprintable(str(expression.func))
    return f"{_MATH[expression.func]}({arguments})"


def literal(value: Any) -> str:
    """A constant as a float literal."""
    number = sp.N(value, 30)
    if not number.is_real:
        raise Unprintable(str(value))
    return repr(float(number))


def helpers_in(source: str) -> list[str]:
    """The stable functions that ``source`` calls."""
    return [name for name in HELPERS if re.search(rf"(?<![\w.]){name}\(", source)]


def _sum(expression: Any, names: dict[Any, str]) -> str:
    text = ""
    # Constants last: the leading part then never starts with a sign of its own.
    for part in sorted(expression.args, key=lambda part: (part.is_number, str(part))):
        factor, rest = part.as_coeff_Mul()
        if factor.is_negative and text:
            opposite = code(-factor * rest, names)
            text += f" - ({opposite})" if isinstance(rest, sp.Add) else f" - {opposite}"
        else:
            text += f" + {code(part, names)}" if text else code(part, names)
    return text


def _product(expression: Any, names: dict[Any, str]) -> str:
    factor, rest = expression.as_coeff_Mul()
    over, under = [], []
    for part in sp.Mul.make_args(rest):
        if isinstance(part, sp.Pow) and part.exp.is_number and part.exp.is_negative:
            under.append(_wrapped(part.base**-part.exp, names))
        else:
            over.append(_wrapped(part, names))
    size = abs(factor)
    if size.is_Rational and size.p == 1 and size.q != 1:
        under.append(literal(sp.Integer(size.q)))
    elif size != 1:
        over.insert(0, literal(size))
    top = ("-" if factor.is_negative else "") + (" * ".join(over) or "1.0")
    if not under:
        return top
    return f"{top} / {under[0]}" if len(under) == 1 else f"{top} / ({' * '.join(under)})"


def _power(expression: Any, names: dict[Any, str]) -> str:
    base, exponent = expression.args
    if not exponent.is_number:
        raise Unprintable(str(expression))
    if exponent.is_negative:
        return f"1.0 / {_wrapped(base**-exponent, names)}"
    if exponent == 2:
        return f"square({code(base, names)})"
    if exponent == sp.Rational(1, 2):
        return f"math.sqrt({code(base, names)})"
    if exponent.is_Rational and exponent.q == 2:
        root = f"math.sqrt({code(base, names)})"
        return f"{_wrapped(base, names)} ** {int(exponent.p // 2)} * {root}"
    shown = str(int(exponent)) if exponent.is_Integer else literal(exponent)
    return f"{_wrapped(base, names)} ** {shown}"


def _wrapped(expression: Any, names: dict[Any, str]) -> str:
    text = code(expression, names)
    plain = re.fullmatch(r"[\w.]+(\((?:[^()]|\([^()]*\))*\))?", text)
    return text if plain else f"({text})"

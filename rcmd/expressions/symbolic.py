"""Between trees of the language and SymPy's expressions, both ways."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import sympy as sp
from sympy.printing.str import StrPrinter

from rcmd.expressions.grammar import Tree
from rcmd.expressions.words import ExpressionError

S = sp.Symbol("s", real=True)
Y = sp.Symbol("y", real=True)
R = sp.Symbol("r", real=True)
"""The argument of a core: a function of one number, without label and parameters."""

_OPERATIONS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "negative": operator.neg,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_CALLS: dict[str, Callable[..., Any]] = {
    "exp": sp.exp,
    "expm1": lambda x: sp.exp(x) - 1,
    "log": sp.log,
    "log1p": lambda x: sp.log(1 + x),
    "sqrt": sp.sqrt,
    "square": lambda x: x**2,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "atan": sp.atan,
    "asinh": sp.asinh,
    "abs": sp.Abs,
    "sign": sp.sign,
    "softplus": lambda x: sp.log(1 + sp.exp(x)),
    "expit": lambda x: 1 / (1 + sp.exp(-x)),
    "logcosh": lambda x: sp.log(sp.cosh(x)),
    "logaddexp": lambda a, b: sp.log(sp.exp(a) + sp.exp(b)),
    "where": lambda condition, a, b: sp.Piecewise((a, condition), (b, True)),
    "max": sp.Max,
    "min": sp.Min,
}


def expression_of(tree: Tree, numbers: Mapping[str, float]) -> Any:
    """The SymPy expression of a tree, parameters replaced by exact numbers."""
    expression = _convert(tree, {name: exact(value) for name, value in numbers.items()})
    if expression.has(sp.I, sp.zoo, sp.nan, sp.oo):
        raise ExpressionError(
            f"the expression is {expression} for every s; expected a finite real number"
        )
    return expression


def exact(value: float) -> Any:
    """The decimal number that ``value`` is written as, exactly."""
    return sp.Rational(repr(float(value)))


def text_of(expression: Any) -> str:
    """A SymPy expression in the language, refused where it has no word for a part."""
    return str(_LanguagePrinter({"full_prec": True}).doprint(expression))


def _convert(tree: Tree, numbers: Mapping[str, Any]) -> Any:
    kind, *parts = tree
    if kind == "number":
        return sp.Rational(parts[0])
    if kind == "name":
        return {"s": S, "y": Y, "pi": sp.pi, **numbers}[parts[0]]
    if kind == "call":
        return _CALLS[parts[0]](*(_convert(part, numbers) for part in parts[1]))
    return _OPERATIONS[kind](*(_convert(part, numbers) for part in parts))


_PLAIN = (sp.Add, sp.Mul, sp.Pow, sp.Symbol, sp.Rational, sp.Float, type(sp.pi))
_FUNCTIONS = {sp.exp, sp.log, sp.sinh, sp.cosh, sp.tanh, sp.atan, sp.asinh, sp.sign}
_RENAMED = {sp.Abs: "abs", sp.Max: "max", sp.Min: "min"}
_RELATIONS = {sp.Lt: "<", sp.Le: "<=", sp.Gt: ">", sp.Ge: ">="}


class _LanguagePrinter(StrPrinter):  # type: ignore[misc]
    """SymPy's own text for sums and products, ours for the rest."""

    def _print(self, expr: Any, **options: Any) -> str:
        kind = type(expr)
        if isinstance(expr, _PLAIN) or kind in _FUNCTIONS:
            return str(super()._print(expr, **options))
        if kind in _RENAMED:
            return f"{_RENAMED[kind]}({', '.join(map(self._print, expr.args))})"
        if kind is sp.Piecewise:
            return self._where(expr)
        if expr is sp.E:
            return "exp(1)"
        raise ExpressionError(
            f"{kind.__name__} has no word in the language of losses: {expr}; expected sums, "
            "products, numeric powers, exp, log, hyperbolic functions, atan, Abs, Max, Min or "
            "Piecewise with simple comparisons"
        )

    def _where(self, expr: Any) -> str:
        *cases, last = expr.args
        if last[1] != sp.true:
            raise ExpressionError(f"{expr} is undefined for some s; expected a case with True last")

        def nest(rest: str, case: Any) -> str:
            value, condition = case
            if type(condition) not in _RELATIONS:
                raise ExpressionError(f"the condition {condition} is not a comparison like s < 1")
            left, right = map(self._print, condition.args)
            mark = _RELATIONS[type(condition)]
            return f"where({left} {mark} {right}, {self._print(value)}, {rest})"

        return reduce(nest, reversed(cases), self._print(last[0]))

"""Losses from expressions, read from their text, for balls and for power series of balls."""

import ast
import operator
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from flint import arb, arb_series

from rcmd.testing.enclosure.balls import Ball


def part(x: Any, k: int) -> Ball:
    """The coefficient k of a series; of a plain number, itself and then 0."""
    return x[k] if isinstance(x, arb_series) else x if k == 0 else arb(0)


def either(x: Any, y: Any) -> Any:
    """A series that holds both."""
    return arb_series([part(x, k).union(part(y, k)) for k in range(3)], 3)


def where(condition: tuple[Any, Any], yes: Any, no: Any) -> Any:
    """``yes`` if left ≥ right, ``no`` if left < right, both where that is open."""
    left, right = (part(side, 0) for side in condition)
    return yes if left >= right else no if left < right else either(yes, no)


def greater(x: Any, *others: Any) -> Any:
    """The largest argument."""
    return where((x, greater(*others)), x, greater(*others)) if others else x


def softplus(x: Any) -> Any:
    """log(1 + exp x), by exponentials of negative numbers alone."""
    return where((x, arb(0)), x + (1 + (-x).exp()).log(), (1 + x.exp()).log())


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": lambda x: x.exp(),
    "log": lambda x: x.log(),
    "sqrt": lambda x: x.sqrt(),
    "square": lambda x: x * x,
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2,
    "atan": lambda x: x.atan(),
    "asinh": lambda x: (x + (1 + x * x).sqrt()).log(),
    "abs": lambda x: greater(x, -x),
    "sign": lambda x: where((x, arb(0)), arb(1), arb(-1)),
    "max": greater,
    "min": lambda *x: -greater(*(-each for each in x)),
    "where": where,
    "logaddexp": lambda a, b: b + softplus(a - b),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "normcdf": lambda x: (-x / arb(2).sqrt()).erfc() / 2,
    "expm1": lambda x: x.exp() - 1,
    "log1p": lambda x: (1 + x).log(),
    "tanh": lambda x: 1 - 2 / (1 + (2 * x).exp()),
    "softplus": softplus,
    "expit": lambda x: 1 / (1 + (-x).exp()),
    "logcosh": lambda x: x + softplus(-2 * x) - arb(2).log(),
}

OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.GtE: lambda a, b: (a, b),
    ast.Gt: lambda a, b: (a, b),
    ast.LtE: lambda a, b: (b, a),
    ast.Lt: lambda a, b: (b, a),
}
"""Of the comparisons, the sides in falling order; which one counts at equality is no matter."""


def formula_of(loss: Any) -> Callable[..., Any]:
    """l(s; y, …) of an expression, as it is written; of fields, those that l reads."""
    tree, text = ast.parse(loss.expression, mode="eval").body, loss.expression

    def value(s: Any, y: Ball, *fields: Ball) -> Any:
        names = {"s": s, "y": y, "pi": arb.pi()} | dict(zip(loss.reads, fields, strict=True))
        # Numbers are the decimals that they are written as.
        names |= {name: arb(repr(number)) for name, number in loss._numbers.items()}

        def evaluate(node: Any) -> Any:
            match node:
                case ast.Constant():
                    return arb(text[node.col_offset : node.end_col_offset])
                case ast.Name(name):
                    return names[name]
                case ast.UnaryOp(operation, operand):
                    return OPERATIONS[type(operation)](evaluate(operand))
                case ast.BinOp(left, ast.Pow(), right):
                    exponent = evaluate(right)
                    whole = exponent.unique_fmpz() if exponent.is_integer() else None
                    return evaluate(left) ** (exponent if whole is None else int(whole))
                case ast.BinOp(left, operation, right):
                    return OPERATIONS[type(operation)](evaluate(left), evaluate(right))
                case ast.Compare():
                    return chosen(node, arb(1), arb(0))
                case ast.Call(ast.Name("where"), [compared, yes, no]):
                    return chosen(compared, evaluate(yes), evaluate(no))
            return FUNCTIONS[node.func.id](*map(evaluate, node.args))

        def chosen(compared: Any, yes: Any, no: Any) -> Any:
            sides = [evaluate(side) for side in (compared.left, *compared.comparators)]
            for operation, (left, right) in zip(compared.ops, pairwise(sides), strict=True):
                yes = where(OPERATIONS[type(operation)](left, right), yes, no)
            return yes

        return evaluate(tree)

    return value

"""From an expression to a loss: what was asked for is checked, found or derived, and built."""

from __future__ import annotations

import keyword
import linecache
import math
import sys
from collections.abc import Mapping
from dataclasses import make_dataclass
from numbers import Real
from types import ModuleType
from typing import Any

from rcmd.expressions import cache, generated
from rcmd.expressions.grammar import CONSTANTS, FUNCTIONS, VARIABLES, names, parse, write
from rcmd.expressions.loss import REAL, SIGNS, ExpressionLoss, numbers_in_words
from rcmd.expressions.templates import METHODS
from rcmd.expressions.words import ExpressionError

_LABELS = {None: None, SIGNS: SIGNS, "+-1": SIGNS, REAL: REAL}


def loss_from_expression(
    expression: Any,
    *,
    labels: str | None = None,
    parameters: Mapping[str, float] | None = None,
    **numbers: float,
) -> ExpressionLoss:
    """A loss from its formula in s, the prediction, and y, the label.

    Parameters
    ----------
    expression
        A text such as ``"log(1 + exp(-y*s))"``, or a SymPy expression in symbols named s and
        y. A text is read by a small grammar; nothing in it is ever run.
    labels
        ``"±1"`` (or ``"+-1"``), ``"real"``, or None to find out from how y enters.
    parameters, numbers
        Values of the other names in the expression, as a mapping or by keyword.

    Examples
    --------
    >>> loss = loss_from_expression("delta**2*(sqrt(1 + ((s - y)/delta)**2) - 1)", delta=2.0)
    >>> loss.gamma, loss.gamma_origin, loss.conjugate_origin, loss.conjugate_domain(0.0)
    (1.0, 'proved', 'closed form', (-2.0, 2.0))
    >>> loss_from_expression("exp(s)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    rcmd.expressions.words.Counterexample: the loss is not γ-smooth: l'' has no upper bound, ...
    """
    if labels not in _LABELS:
        raise ExpressionError(f"labels is {labels!r}; expected '±1', 'real' or None")
    values = _checked_numbers({**(parameters or {}), **numbers})
    text = " ".join(_as_text(expression).split())
    tree = parse(text, values)
    unused = sorted(values.keys() - names(tree))
    if unused:
        raise ExpressionError(
            f"the parameter {unused[0]!r} does not occur in {text!r}; expected only parameters "
            "that do"
        )
    asked = _LABELS[labels]
    name = cache.key(write(tree), sorted(values.items()), asked, text)
    if name not in _KNOWN:
        _KNOWN[name] = _class(name, tree, text, asked, values)
    return _KNOWN[name]()


_TAKEN = {*VARIABLES, *CONSTANTS, *FUNCTIONS, "w", "self"}
_KNOWN: dict[str, type[ExpressionLoss]] = {}


def _class(
    name: str, tree: Any, text: str, asked: str | None, values: dict[str, float]
) -> type[ExpressionLoss]:
    found = cache.load(name)
    if found is None:
        # Computer algebra is imported here, so that a known loss starts without it.
        from rcmd.expressions.generation import generate

        found = generate(tree, values, asked, text)
        cache.store(name, *found)
    source, record = found
    module = _module(source)
    members: dict[str, Any] = {method: getattr(module, method) for method in METHODS}
    members |= {
        "gamma": property(module.gamma),
        "formula": text + numbers_in_words(values),
        "expression": text,
        "source": source,
        "_numbers": values,
        "_asked": asked,
        "_module": module,
        "_by_label": record["by_label"],
        "_recipes": record["recipes"],
    }
    for known in ("labels", "gamma_origin", "conjugate_origin", "lost_digits"):
        members[known] = record[known]
    for flag in ("strictly_convex", "quadratic"):
        members[flag] = record[flag]
    made = make_dataclass(
        "Loss",
        [(field, float, value) for field, value in values.items()],
        bases=(ExpressionLoss,),
        namespace=members,
        frozen=True,
        repr=False,
    )
    made.__module__ = module.__name__
    return made


def _module(source: str) -> ModuleType:
    """The generated module, with its file where there is one."""
    name = cache.module_name(source)
    path = cache.module_path(name)
    try:
        kept = path.read_text("utf-8") == source
    except (OSError, ValueError):
        kept = False
    module = ModuleType(generated.__name__)
    module.__file__ = str(path) if kept else f"<{name}>"
    if not kept:
        linecache.cache[module.__file__] = (
            len(source),
            None,
            source.splitlines(keepends=True),
            module.__file__,
        )
    exec(compile(source, module.__file__, "exec"), module.__dict__)
    return module


def _as_text(expression: Any) -> str:
    if isinstance(expression, str):
        return expression
    sympy = sys.modules.get("sympy")
    if sympy is None or not isinstance(expression, sympy.Expr):
        raise TypeError(
            f"expression is a {type(expression).__name__}; expected a text or a SymPy expression"
        )
    from rcmd.expressions.symbolic import text_of

    return text_of(expression)


def _checked_numbers(given: Mapping[str, Any]) -> dict[str, float]:
    values = {}
    for name, value in given.items():
        if name in _TAKEN or hasattr(ExpressionLoss, name):
            raise ExpressionError(
                f"the parameter name {name!r} is taken; expected another, such as {name}_0"
            )
        if (
            not (name.isascii() and name.isidentifier())
            or keyword.iskeyword(name)
            or name[0] == "_"
        ):
            raise ExpressionError(f"{name!r} cannot name a parameter; expected letters and digits")
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ExpressionError(f"the parameter {name} is {value!r}; expected a number")
        number = float(value)
        if not (number == 0 or 1e-100 <= abs(number) <= 1e100) or math.isnan(number):
            raise ExpressionError(
                f"the parameter {name} is {number!r}; expected 0 or a size from 1e-100 to 1e100"
            )
        values[name] = number
    return values

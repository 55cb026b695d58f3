"""The class that an expression becomes: its arguments checked, its module loaded or generated."""

import ast
import keyword
import math
import sys
from collections.abc import Mapping
from dataclasses import fields, make_dataclass
from functools import partial
from numbers import Real
from types import FunctionType, ModuleType
from typing import Any, ClassVar

import numpy as np

from rcmd.conjugates.base import REAL, SIGNS, SeparableConjugate
from rcmd.conjugates.expressions import cache
from rcmd.conjugates.expressions.language import RESERVED, ExpressionError, parse

# The names of a core's functions end like this: one core for all labels, or one for each sign.
SUFFIXES = {0: "", 1: "_plus", -1: "_minus"}
_LABELS = {None: None, SIGNS: SIGNS, "+-1": SIGNS, REAL: REAL}


class ExpressionLoss(SeparableConjugate):
    """A loss from an expression, with what is known about it and how it was found."""

    expression: ClassVar[str]
    """The expression, as it was written."""

    gamma_origin: ClassVar[str]
    """``"proved"`` for all s by algebra or intervals, as is convexity, or ``"numerical"``: the
    largest l'' at many points, where ``proved_on`` may still prove both between two predictions.
    """

    conjugate_origin: ClassVar[str]
    """``"closed form"``, or ``"newton"``: l'(s) = w is solved number by number."""

    lost_digits: ClassVar[str]
    """Where the generated code loses relative accuracy; empty if nowhere that was tried."""

    source: ClassVar[str]
    """The generated module."""

    _numbers: ClassVar[dict[str, float]]
    _asked: ClassVar[str | None]
    _module: ClassVar[ModuleType]

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            if getattr(self, field.name) != self._numbers[field.name]:
                raise ValueError(
                    f"{field.name} is {self._numbers[field.name]!r} in this loss, whose conjugate "
                    "was derived for it; call from_expression again for another value"
                )

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self._numbers.items())
        asked = "" if self._asked is None else f", labels={self._asked!r}"
        return f"from_expression({self.expression!r}{asked}{given})"

    def __reduce__(self) -> Any:
        rebuild = partial(loss_from_expression, labels=self._asked, parameters=self._numbers)
        return rebuild, (self.expression,)

    def describe(self) -> str:
        """What was found out about the loss, in a few lines."""
        strict = "strictly convex" if self.strictly_convex else "convex, not strictly"
        origin = "proved" if self.gamma_origin == "proved" else "measured at many points"
        lines = [
            f"l(s; y) = {self.formula}",
            f"labels: {self.labels}; {strict}{', quadratic' if self.quadratic else ''}",
            f"γ = {self.gamma:.10g} ({origin}); l*: {self.conjugate_origin}",
        ]
        if self.lost_digits:
            lines.append(f"accurate in absolute terms only: {self.lost_digits}")
        return "\n".join(lines)

    def proved_on(self, low: Any, high: Any, y: Any) -> bool:
        doubts = self._module.DOUBTS
        if not doubts:
            return doubts is not None
        # Imported here, so that a plain solve starts without it.
        from rcmd.conjugates.expressions.intervals import decide

        low, high, y = (np.asarray(each, dtype=float) for each in (low, high, y))
        ranges = [self._core_range(side, low, high, y) for side, _, _ in doubts]
        return all(
            decide(texts, ends, self.gamma, *each)
            for (_, texts, ends), each in zip(doubts, ranges, strict=True)
        )

    def _core_range(self, side: int, low: Any, high: Any, y: Any) -> tuple[float, float]:
        """The range of r in one core, its ends moved outwards to powers of two."""
        own = (y > 0) == (side > 0) if side else np.full(y.shape, True)
        labels, which = np.unique(y[own], return_inverse=True)
        frame = getattr(self._module, f"core_frame{SUFFIXES[side]}")
        offsets = np.array([frame(label)[0] for label in labels.tolist()])[which]
        times = y[own] if self._module.BY_LABEL else 1.0
        ends = np.array([times * low[own] - offsets, times * high[own] - offsets])
        return -_rounded_up(-float(ends.min())), _rounded_up(float(ends.max()))

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        if self._module.RECIPES is None:
            raise NotImplementedError(
                f"no CVXPY form was found for {self.expression}; subclass "
                "SeparableConjugate and define cvxpy_form(predictions, y) to compare it with "
                "ground truth"
            )
        from rcmd.conjugates.expressions.recipes import loss_form

        return loss_form(self._module, predictions, y)


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
        y. A text may use a list of functions and operations; nothing in it is ever run.
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
    rcmd.conjugates.expressions.language.ExpressionError: the loss is not γ-smooth: l'' has no ...
    """
    if labels not in _LABELS:
        raise ExpressionError(f"labels is {labels!r}; expected '±1', 'real' or None")
    asked = _LABELS[labels]
    values = _checked_numbers({**(parameters or {}), **numbers})
    text = " ".join(_as_text(expression).split())
    tree = parse(text, values)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    unused = sorted(values.keys() - names)
    if unused:
        raise ExpressionError(
            f"the parameter {unused[0]!r} does not occur in {text!r}; expected only parameters "
            "that do"
        )
    name = cache.name_for(text, sorted(values.items()), asked)
    if name not in _KNOWN:
        source = cache.load(name)
        if source is None:
            # Imported here, so that a cached loss starts without it.
            from rcmd.conjugates.expressions import worker

            source = cache.store(name, worker.derive(text, values, asked))
        _KNOWN[name] = _class(name, source, text, asked, values)
    return _KNOWN[name]()


def _rounded_up(x: float) -> float:
    """The least of 0 and all ±2ᵏ that is not below x, so that near ranges are one range."""
    mantissa, exponent = math.frexp(x)
    if mantissa in (0.0, 0.5, -0.5) or not math.isfinite(x):
        return x
    return math.ldexp(1.0, exponent) if x > 0 else -math.ldexp(0.5, exponent)


_KNOWN: dict[str, type[ExpressionLoss]] = {}


def _class(
    name: str, source: str, text: str, asked: str | None, values: dict[str, float]
) -> type[ExpressionLoss]:
    # The functions name this module as theirs: compiled code that numba keeps on disk asks for the
    # module its functions came from, and the file of a generated one may be gone by then.
    module = ModuleType(__name__)
    module.__file__ = str(cache.path(name)) if cache.load(name) == source else f"<{name}>"
    exec(compile(source, module.__file__, "exec"), module.__dict__)
    given = ", ".join(f"{name} = {value:g}" for name, value in values.items())
    functions = {key: f for key, f in vars(module).items() if isinstance(f, FunctionType)}
    members = {key: f for key, f in functions.items() if hasattr(ExpressionLoss, key)}
    members |= module.KNOWN | {
        "__module__": __name__,
        "gamma": property(module.gamma),
        "formula": text + (f" with {given}" if given else ""),
        "expression": text,
        "source": source,
        "_numbers": values,
        "_asked": asked,
        "_module": module,
    }
    return make_dataclass(
        "Loss",
        [(field, float, value) for field, value in values.items()],
        bases=(ExpressionLoss,),
        namespace=members,
        frozen=True,
        repr=False,
    )


def _as_text(expression: Any) -> str:
    if isinstance(expression, str):
        return expression
    sympy = sys.modules.get("sympy")
    if sympy is None or not isinstance(expression, sympy.Expr):
        raise TypeError(
            f"expression is a {type(expression).__name__}; expected a text or a SymPy expression"
        )
    from rcmd.conjugates.expressions.symbolic import text_of

    return text_of(expression)


def _checked_numbers(given: Mapping[str, Any]) -> dict[str, float]:
    values = {}
    for name, value in given.items():
        if name in RESERVED or hasattr(ExpressionLoss, name):
            raise ExpressionError(
                f"the parameter name {name!r} is taken; expected another, such as {name}_0"
            )
        plain = name.isascii() and name.isidentifier() and name[0] != "_"
        if not plain or keyword.iskeyword(name):
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

"""The class that an expression becomes: its arguments checked, its module loaded or generated."""

import ast
import keyword
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, make_dataclass
from functools import partial
from numbers import Real
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np

from rcmd.conjugates.base import REAL, SIGNS, SeparableConjugate
from rcmd.conjugates.expressions import cache
from rcmd.conjugates.expressions.language import RESERVED, ExpressionError, parse
from rcmd.conjugates.samples import defined

# The names of a core's functions end like this: one core for all labels, or one for each sign.
SUFFIXES = {0: "", 1: "_plus", -1: "_minus"}
_LABELS = {None: None, SIGNS: SIGNS, "+-1": SIGNS, REAL: REAL}


class ExpressionLoss(SeparableConjugate):
    """A loss from an expression, with what is known about it and how it was found."""

    expression: ClassVar[str]
    """The expression, as it was written."""

    gamma_origin: ClassVar[str]
    """``"proved"`` for all s by algebra or intervals, as is convexity; ``"numerical"``: the
    largest l'' at many points, where ``proved_on`` may still prove both between two predictions;
    or ``"local"``: there is none for all s, labels and fields, and ``curvature_bound`` proves one
    for each sample of a problem.
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

    def label_fault(self, y: Any) -> str | None:
        fault = super().label_fault(y)
        found = fault is not None and self._asked is None
        return f"{fault}; or, if other labels are meant, give labels='real'" if found else fault

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
        read = f", fields={self.reads!r}" if self.reads else ""
        return f"from_expression({self.expression!r}{asked}{read}{given})"

    def __reduce__(self) -> Any:
        rebuild = partial(
            loss_from_expression,
            labels=self._asked,
            fields=self.reads,
            parameters=self._numbers,
        )
        return rebuild, (self.expression,)

    def describe(self) -> str:
        """What was found out about the loss, in a few lines."""
        strict = "strictly convex" if self.strictly_convex else "convex, not strictly"
        origin = "proved" if self.gamma_origin == "proved" else "measured at many points"
        gamma = f"γ = {self.gamma:.10g} ({origin})"
        if self.gamma_origin == "local":
            gamma = "γ depends on the predictions, and is proved for each sample of a problem"
        fields = f"; fields: {', '.join(self.reads)}" if self.reads else ""
        lines = [
            f"l(s; y) = {self.formula}",
            f"labels: {self.labels}{fields}; {strict}{', quadratic' if self.quadratic else ''}",
            f"{gamma}; l*: {self.conjugate_origin}",
        ]
        if self.lost_digits:
            lines.append(f"accurate in absolute terms only: {self.lost_digits}")
        return "\n".join(lines)

    def proved_on(self, low: Any, high: Any, y: Any, *fields: Any) -> bool:
        doubts = self._module.DOUBTS
        if doubts is None:
            return False
        # Imported here, so that a plain solve starts without it.
        from rcmd.conjugates.expressions.intervals import decide, positive_somewhere

        labels = tuple(np.asarray(each, dtype=float) for each in (y, *fields))
        low, high = (np.asarray(each, dtype=float) for each in (low, high))
        gamma = math.inf if self.gamma_origin == "local" else self.gamma
        for side, texts, ends in doubts:
            _, first, last = self._core_ranges(side, low, high, labels)
            # The widest range, at powers of two: what is decided once serves for near ones.
            widest = -_rounded_up(-float(first.min())), _rounded_up(float(last.max()))
            if not decide(texts, ends, gamma, *widest):
                return False
        named = self._named(labels)
        met = all(positive_somewhere(joint, named) for joint in self._module.JOINTS)
        kept = any(parameters for _, _, parameters, _ in self._module.CURVES)
        return met and (not kept or bool((self._bounds(low, high, *labels)[0] >= 0).all()))

    def _core_ranges(
        self, side: int, low: Any, high: Any, labels: tuple[Any, ...]
    ) -> tuple[Any, Any, Any]:
        """The samples of one core, and the ends of their r."""
        y = labels[0]
        own = np.flatnonzero((y > 0) == (side > 0)) if side else np.arange(len(y))
        each, which = np.unique(np.stack(labels, axis=1)[own], axis=0, return_inverse=True)
        frame = getattr(self._module, f"core_frame{SUFFIXES[side]}")
        found = [defined(partial(frame, *at), str(self), at)[0] for at in each.tolist()]
        offsets = np.array(found)[which.ravel()]
        times = y[own] if self._module.BY_LABEL else 1.0
        ends = np.sort([times * low[own] - offsets, times * high[own] - offsets], axis=0)
        # A rounding of an offset and one of a difference lie between these and the formula's.
        room = np.where(offsets != 0, 2.0**-51 * (abs(ends) + abs(offsets)), 0.0)
        return own, ends[0] - room[0], ends[1] + room[1]

    def _named(self, labels: tuple[Any, ...]) -> dict[str, Any]:
        """The labels and the fields by the names that they have in texts for ``intervals``."""
        return dict(zip(("y", *(f"field_{name}" for name in self.reads)), labels, strict=True))

    def _bounds(self, low: Any, high: Any, *labels: Any) -> tuple[Any, Any]:
        """Proved bounds of l'' from below and above, for each sample between its ends."""
        from rcmd.conjugates.expressions.intervals import bounds, constant, function

        for name, values in zip(self.reads, labels[1:], strict=True):
            if name in self._module.POSITIVE and not (values > 0).all():
                raise ValueError(
                    f"fields[{name!r}] holds {values.min():g}; the loss {self.formula} expects "
                    "positive numbers there"
                )
        least, most = np.full(len(low), np.inf), np.zeros(len(low))
        for side, texts, parameters, ends in self._module.CURVES:
            own, first, last = self._core_ranges(side, low, high, labels)
            if not parameters:
                start, stop = (function(end)(constant(0)) for end in ends)
                first, last = np.maximum(first, start.low), np.minimum(last, stop.high)
                meets = first <= last
                own, first, last = own[meets], first[meets], last[meets]
            if not len(own):
                continue
            theta = tuple(self._named(labels)[name][own] for name in parameters)
            below, above = bounds(texts, parameters, first, last, theta)
            least[own], most[own] = np.minimum(least[own], below), np.maximum(most[own], above)
        return least, most

    def cvxpy_form(self, predictions: Any, y: Any, *fields: Any) -> Any:
        if self._module.RECIPES is None:
            raise NotImplementedError(
                f"no CVXPY form was found for {self.expression}; subclass "
                "SeparableConjugate and define cvxpy_form(predictions, y) to compare it with "
                "ground truth"
            )
        from rcmd.conjugates.expressions.recipes import loss_form

        return loss_form(self._module, predictions, y, *fields)


def _curvature_bound(self: Any, low: Any, high: Any, y: Any, *fields: Any) -> float:
    """A proved upper bound of l'' between two predictions."""
    parts = (np.array([each], dtype=float) for each in (low, high, y, *fields))
    return float(self.arrays.curvature_bound(*parts)[0])


def loss_from_expression(
    expression: Any,
    *,
    labels: str | None = None,
    fields: Sequence[str] = (),
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
    fields
        Names in the expression for what each sample has of its own, given as
        ``Problem(…, fields={"tau": …})``.
    parameters, numbers
        Values of the other names in the expression, as a mapping or by keyword.

    Examples
    --------
    >>> loss = loss_from_expression("delta**2*(sqrt(1 + ((s - y)/delta)**2) - 1)", delta=2.0)
    >>> loss.gamma, loss.gamma_origin, loss.conjugate_origin, loss.conjugate_domain(0.0)
    (1.0, 'proved', 'closed form', (-2.0, 2.0))
    >>> poisson = loss_from_expression("exp(s) - y*s")  # smooth on bounded sets
    >>> 1 < poisson.curvature_bound(-1.0, 0.0, 2.0) < 1 + 1e-12
    True
    >>> loss_from_expression("log(1 + s**2)")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    rcmd.conjugates.expressions.language.ExpressionError: the loss is not convex: l'' = -0.25 ...
    """
    if labels not in _LABELS:
        raise ExpressionError(f"labels is {labels!r}; expected '±1', 'real' or None")
    asked = _LABELS[labels]
    values = _checked_numbers({**(parameters or {}), **numbers})
    reads = _checked_fields(fields, values)
    text = " ".join(_as_text(expression).split())
    tree = parse(text, values, reads)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    unused = sorted({*values, *reads} - names)
    if unused:
        raise ExpressionError(
            f"the parameter {unused[0]!r} does not occur in {text!r}; expected only parameters "
            "that do"
        )
    name = cache.name_for(text, sorted(values.items()), asked, reads)
    if name not in _KNOWN:
        source = cache.load(name)
        if source is None:
            # Imported here, so that a cached loss starts without it.
            from rcmd.conjugates.expressions import worker

            source = cache.store(name, worker.derive(text, values, asked, reads))
        _KNOWN[name] = _class(name, source, text, asked, values)
    return _KNOWN[name]()


def _rounded_up(x: float) -> float:
    """The least of 0 and all ±2ᵏ that is not below x."""
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
    members: dict[str, Any] = {k: f for k, f in functions.items() if hasattr(ExpressionLoss, k)}
    members |= module.KNOWN | {
        "__module__": __name__,
        "formula": text + (f" with {given}" if given else ""),
        "expression": text,
        "source": source,
        "_numbers": values,
        "_asked": asked,
        "_module": module,
    }
    if module.CURVES:
        members["curvature_bound"] = _curvature_bound
    else:
        members["gamma"] = property(module.gamma)
    made: type[Any] = make_dataclass(
        "Loss",
        [(field, float, value) for field, value in values.items()],
        bases=(ExpressionLoss,),
        namespace=members,
        frozen=True,
        repr=False,
    )
    if module.CURVES:
        bounds = made()._bounds
        made.arrays = SimpleNamespace(curvature_bound=lambda *at: bounds(*at)[1])
    return made


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


def _checked_fields(given: Any, numbers: Mapping[str, float]) -> tuple[str, ...]:
    if isinstance(given, str) or not all(isinstance(name, str) for name in given):
        raise ExpressionError(f"fields is {given!r}; expected a list of names, such as ['tau']")
    for name in given:
        _check_name(name)
        if name in numbers or list(given).count(name) > 1:
            raise ExpressionError(
                f"{name!r} is named twice; expected a field of the samples or a parameter"
            )
    return tuple(given)


def _check_name(name: str) -> None:
    if name in RESERVED or hasattr(ExpressionLoss, name):
        raise ExpressionError(
            f"the name {name!r} is taken, as losses have something of that name; expected another "
            f"for a field or a parameter, such as {name}_0"
        )
    if keyword.iskeyword(name):
        raise ExpressionError(f"{name!r} is a word of Python; expected another, such as {name}_0")
    if not (name.isascii() and name.isidentifier() and name[0] != "_"):
        raise ExpressionError(
            f"{name!r} cannot name a field or a parameter; expected a letter, then letters, digits "
            "and underscores"
        )


def _checked_numbers(given: Mapping[str, Any]) -> dict[str, float]:
    values = {}
    for name, value in given.items():
        _check_name(name)
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ExpressionError(f"the parameter {name} is {value!r}; expected a number")
        number = float(value)
        if not (number == 0 or 1e-100 <= abs(number) <= 1e100) or math.isnan(number):
            raise ExpressionError(
                f"the parameter {name} is {number!r}; expected 0 or a size from 1e-100 to 1e100"
            )
        values[name] = number
    return values

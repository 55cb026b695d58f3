"""The class that an expression becomes."""

from __future__ import annotations

from dataclasses import fields
from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from rcmd.conjugates.base import SeparableConjugate

SIGNS = "±1"
REAL = "real"


class ExpressionLoss(SeparableConjugate):
    """A loss made from an expression; what is known about it, and from where, is below."""

    expression: ClassVar[str]
    """The expression, as it was written."""

    labels: ClassVar[str]
    """The labels the loss is for: ``"±1"`` or ``"real"``."""

    gamma_origin: ClassVar[str]
    """``"proved"`` by algebra, or ``"numerical"``: the largest l'' at many points."""

    conjugate_origin: ClassVar[str]
    """``"closed form"``, or ``"newton"``: l'(s) = w is solved number by number."""

    lost_digits: ClassVar[str]
    """Where the generated code loses relative accuracy; empty if nowhere that was tried."""

    source: ClassVar[str]
    """The generated module."""

    _numbers: ClassVar[dict[str, float]]
    _asked: ClassVar[str | None]
    _module: ClassVar[ModuleType]
    _by_label: ClassVar[bool]
    _recipes: ClassVar[list[Any] | None]

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
        return rebuilt, (self.expression, self._asked, self._numbers)

    def describe(self) -> str:
        """What was found out about the loss, in a few lines."""
        strict = "strictly convex" if self.strictly_convex else "convex, not strictly"
        lines = [
            f"l(s; y) = {self.expression}" + numbers_in_words(self._numbers),
            f"labels: {self.labels}; {strict}{', quadratic' if self.quadratic else ''}",
            f"γ = {self.gamma:.10g} ({self.gamma_origin}); l*: {self.conjugate_origin}",
        ]
        if self.lost_digits:
            lines.append(f"accurate in absolute terms only: {self.lost_digits}")
        return "\n".join(lines)

    def label_fault(self, y: Any) -> str | None:
        values = np.unique(np.asarray(y, dtype=float))
        if self.labels != SIGNS or np.isin(values, (-1.0, 1.0)).all():
            return None
        shown = ", ".join(f"{value:g}" for value in values[:5])
        return (
            f"y holds the labels {shown}{', …' if len(values) > 5 else ''}; the loss "
            f"{self.expression} expects -1 and +1: map two classes with "
            "numpy.where(y == y.max(), 1.0, -1.0)"
        )

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        if self._recipes is None:
            raise NotImplementedError(
                f"no CVXPY form was found for {self.expression}; subclass "
                "SeparableConjugate and define cvxpy_form(predictions, y) to compare it with "
                "ground truth"
            )
        from rcmd.expressions.cvxpy_forms import loss_form

        return loss_form(self._recipes, self._module, self._by_label, predictions, y)


def rebuilt(text: str, labels: str | None, numbers: dict[str, float]) -> ExpressionLoss:
    """The loss again, as a pickle asks for it."""
    from rcmd.expressions.making import loss_from_expression

    return loss_from_expression(text, labels=labels, parameters=numbers)


def numbers_in_words(values: dict[str, float]) -> str:
    """The parameters, to stand behind a formula."""
    given = ", ".join(f"{name} = {value:g}" for name, value in values.items())
    return f" with {given}" if given else ""

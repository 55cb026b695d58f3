"""The contract of a loss: one pair (l, l*) of conjugate functions of one number."""

from __future__ import annotations

import math
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np

from rcmd.conjugates import numeric
from rcmd.rows.validation import Array, as_array

SIGNS, REAL = "±1", "real"
COUNTS, POSITIVE, SHARES = "≥ 0", "> 0", "in [0, 1]"
ENDS = {COUNTS: (0.0, math.inf), POSITIVE: (5e-324, math.inf), SHARES: (0.0, 1.0)}
"""Between what labels of a kind are, ends included."""


class NumericConjugateWarning(UserWarning):
    """A class of losses leaves some of its functions to root finding."""


_warned: WeakSet[type] = WeakSet()


def with_fields(method: Any) -> Any:
    """``method``, marked; to type checkers Any, as a class that reads fields has more arguments."""
    method.takes_fields = True
    return method


class SeparableConjugate(ABC):
    """A convex, γ-smooth loss l(s; y) of a prediction s at a label y, with its conjugate.

    Subclasses are frozen dataclasses whose fields are numbers. The methods below are
    *scalar code*: they take and return single numbers, use ``math`` functions, and call
    module-level functions but no other method of ``self``. Whole arrays, per-sample
    weights, offsets and the engines are built from them.

    A class that ``reads`` fields, numbers of each sample beside its label, gets them in that order
    as further arguments behind the label: ``value(self, s, y, tau)``.

    ``value`` and ``derivative`` must be given. A class without ``gamma``, ``conjugate``,
    ``conjugate_derivative`` or ``conjugate_domain`` works with numeric ones, which one
    ``NumericConjugateWarning`` per class says; ``curvature_bound`` takes the place of ``gamma``
    where l'' is finite on bounded sets only. ``rcmd.testing.check_conjugate`` checks them all.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class HalfSquare(SeparableConjugate):
    ...     quadratic = True
    ...     @property
    ...     def gamma(self): return 1.0
    ...     def value(self, s, y): return (s - y) ** 2 / 2
    ...     def derivative(self, s, y): return s - y
    ...     def conjugate(self, w, y): return w * w / 2 + w * y
    ...     def conjugate_derivative(self, w, y): return w + y
    >>> HalfSquare().derivative(3.0, 1.0)
    2.0
    """

    @classmethod
    def from_expression(cls, expression: Any, **options: Any) -> SeparableConjugate:
        """A loss from its formula in s and y, such as ``"log(1 + exp(-y*s))"``.

        See ``rcmd.conjugates.expressions.loss_from_expression`` for the options.
        """
        from rcmd.conjugates.expressions import loss_from_expression  # which makes such classes

        return loss_from_expression(expression, **options)

    reads: ClassVar[tuple[str, ...]] = ()
    """The fields of ``Problem(…, fields={"tau": …})`` that the methods get behind the label."""

    quadratic: ClassVar[bool] = False
    """Whether l is a quadratic function of s; some theorems hold only then."""

    strictly_convex: ClassVar[bool] = True
    """Whether l is strictly convex, which Assumption 1.1 (1) asks for."""

    labels: ClassVar[str] = REAL
    """The labels the loss is for: ``"±1"``, ``"real"``, ``"≥ 0"``, ``"> 0"`` or ``"in [0, 1]"``."""

    formula: ClassVar[str] = "l(s; y)"
    """The loss in one line, for people."""

    spec: ClassVar[str] = ""
    """How the loss is written, its fields in capitals: ``quantile:LEVEL[:WIDTH]``.

    With ``gamma_words``, and ``example`` where fields are not any positive numbers, this is the
    entry of a loss that ``rcmd.conjugates`` exports: commands, lists and random tests find it
    there.
    """

    gamma_words: ClassVar[str] = "1"
    """γ in the fields."""

    @classmethod
    def example(cls, draw: Any) -> SeparableConjugate:
        """A random loss of this class; see ``rcmd.testing.fuzzing.cases.Draw``."""
        loss: SeparableConjugate = draw.fields(cls, 1.0)
        return loss

    arrays: ClassVar[Any] = None
    """A class or a module with faster array forms of some of the methods, under the same names.

    Two more may be there: ``expansion(s, y)`` for value, derivative and second derivative at once,
    and ``duality(s, w, y)`` for the value at s, the conjugate at w and the Fenchel–Young term.

    Certificates and corrections use them; steps never do. Subclasses do not inherit them.
    """

    caches: ClassVar[tuple[str, ...]] = ("_gamma",)
    """Attributes that rcmd keeps in a loss, and that do not say which one it is."""

    note: ClassVar[str] = ""
    """What a user must know about this loss, such as what it does not support."""

    def __new__(cls, *arguments: Any, **named: Any) -> Any:
        """Refuse a class without l or l', and warn once of what is found numerically."""
        required = ("value", "derivative")
        at = ", ".join(("self", "s", "y", *cls.reads))
        missing = [f"{name}({at})" for name in required if name in cls.__abstractmethods__]
        if missing:
            raise TypeError(
                f"{cls.__name__} does not define {' and '.join(missing)}; a SeparableConjugate "
                "needs its value and its derivative, the rest can follow from them"
            )
        left = numeric_parts(cls) if cls not in _warned else []
        _warned.add(cls)
        if left:
            estimate = " (γ is an estimate, for which no bound is shown)"
            warnings.warn(
                f"{cls.__name__} does not define {', '.join(left)}: found numerically from value "
                f"and derivative{estimate if 'gamma' in left else ''}, which is slower; "
                "rcmd.testing.check_conjugate checks what you add",
                NumericConjugateWarning,
                stacklevel=2,
            )
        return super().__new__(cls)

    @property
    def gamma(self) -> Any:
        """γ, the Lipschitz constant of l'.

        Where a class does not give it, the largest γ_j of a ``Problem``, on its own predictions.
        Outside of one it is infinite for a class with ``curvature_bound``, else the steepest chord
        of l' found near the labels −1, 0 and 1, an estimate.
        """
        found = vars(self).get("_gamma")
        if found is not None:
            return found
        if self.reads or has_curvature_bound(type(self)):
            return math.inf
        labels = [y for y in (-1.0, 0.0, 1.0) if not self.label_fault([y])] or [1.0]
        found = max(self.steepest(y - 64.0, y + 64.0, y) for y in labels)
        vars(self)["_gamma"] = found
        return found

    @with_fields
    def curvature_bound(self, low: Any, high: Any, y: Any, *fields: Any) -> Any:
        """An upper bound of l''(s; y) over low ≤ s ≤ high; γ where a class does not say it.

        For a class without ``gamma`` it gives γ_j on I_j, where the predictions x_jᵀβ of the sample
        live: outside, tangents could take the place of l and no run would change.
        """
        return self.gamma

    def steepest(self, low: float, high: float, y: float) -> float:
        """The steepest chord of l'(·; y) found on [low, high], an estimate of γ there."""
        return numeric.largest_slope(numeric.guarded(self.derivative, y), low, high, y)

    @with_fields
    def proved_on(self, low: Any, high: Any, y: Any, *fields: Any) -> bool:
        """Whether convexity and γ are proved for predictions from low_j to high_j at labels y_j.

        Arrays, an entry for each sample; a counterexample raises a ``ValueError``. Where nothing
        is proved, a problem samples the loss before it certifies anything.
        """
        return False

    @with_fields
    @abstractmethod
    def value(self, s: Any, y: Any) -> Any:
        """l(s; y)."""

    @with_fields
    @abstractmethod
    def derivative(self, s: Any, y: Any) -> Any:
        """l'(s; y)."""

    @with_fields
    def second_derivative(self, s: Any, y: Any, *fields: Any) -> Any:
        """l''(s; y), or where l' has a kink a number between its slopes.

        Where a class does not give it: a central difference of l'.
        """
        step = 6e-6 * (1.0 + abs(s))
        rise = self.derivative(s + step, y, *fields) - self.derivative(s - step, y, *fields)
        return rise / (2.0 * step)

    @with_fields
    def conjugate(self, w: Any, y: Any, *fields: Any) -> Any:
        """l*(w; y) = sup_s ws − l(s; y); infinite outside its domain."""
        return numeric.conjugate(self, w, y, *fields)

    @with_fields
    def conjugate_derivative(self, w: Any, y: Any, *fields: Any) -> Any:
        """l*'(w; y), the s with l'(s; y) = w; ±inf at a finite end of the domain.

        Where l is not strictly convex several s may have that slope; a class says in its
        ``note`` which one this returns.
        """
        return numeric.inverse_slope(self, w, y, *fields)

    @with_fields
    def conjugate_domain(self, y: Any, *fields: Any) -> tuple[Any, Any]:
        """The ends of dom l*(·; y), the limits of l'.

        Where a class gives ``conjugate`` but not this, all numbers; else found numerically.
        """
        if type(self).conjugate is not SeparableConjugate.conjugate:
            return (-math.inf, math.inf)
        return self.slope_limit(-1.0, y, *fields), self.slope_limit(1.0, y, *fields)

    @with_fields
    def slope_limit(self, direction: Any, y: Any, *fields: Any) -> Any:
        """The limit of l' as s → ±inf, ``direction`` being 1 or −1, as far as it can be seen."""
        return numeric.slope_limit(self, direction, y, *fields)

    @with_fields
    def fenchel_young(self, s: Any, w: Any, y: Any, *fields: Any) -> Any:
        """l(s) + l*(w) − ws ≥ 0, zero exactly at w = l'(s).

        Override it with a form that does not cancel; this one loses digits when l(s)
        and ws are large.
        """
        return self.value(s, y, *fields) + self.conjugate(w, y, *fields) - w * s

    def bregman_radius(self, bound: Any) -> Any:
        """sup of D_l(0, a) over |a| ≤ ``bound``: one sample's share of D_max.

        γ·bound²/2 by smoothness, which is tight for the squared loss and half of
        Prop. 3.1's γM².
        """
        return self.gamma * bound * bound / 2

    @with_fields
    def descent_bound(self, y: Any, *fields: Any) -> Any:
        """An upper bound of sup_s −s·l'(s; y), from which penalties get their radius.

        l(0) − inf l = l(0) + l*(0) by convexity; infinite when l is unbounded below.
        """
        return self.value(0 * y, y, *fields) + self.conjugate(0 * y, y, *fields)

    def label_fault(self, y: Any) -> str | None:
        """What is wrong with the labels ``y``, as a sentence, or ``None``."""
        if self.labels == REAL or (self.labels == SIGNS and (np.abs(y) == 1.0).all()):
            return None
        values = np.unique(np.asarray(y, dtype=float))
        name = re.split(r"[:\[]", self.spec)[0].replace("-", " ")
        who = f"{name} loss" if name else f"loss {self.formula}"
        if self.labels in ENDS:
            low, high = ENDS[self.labels]
            wrong = values[~((values >= low) & (values <= high))]
            told = (f"y holds {label:g}; the {who} expects labels {self.labels}" for label in wrong)
            return next(told, None)
        shown = ", ".join(f"{value:g}" for value in values[:5])
        way = f"labels=({shown}) says which is which"
        if len(values) != 2:
            way = "keep the rows of two classes, and name them by labels=(first, second)"
        return (
            f"y holds the labels {shown}{', …' if len(values) > 5 else ''}; the {who} "
            f"expects -1 and +1: {way}"
        )

    @with_fields
    def cvxpy_form(self, predictions: Any, y: Any, *fields: Any) -> Any:
        """The vector of values l(s_j; y_j) as a CVXPY expression in ``predictions``."""
        at = ", ".join(("predictions", "y", *self.reads))
        raise NotImplementedError(
            f"{type(self).__name__} has no CVXPY form; define cvxpy_form({at}) "
            "to compare it with ground truth"
        )


def as_labels(y: Any, labels: Sequence[Any] | None, loss: SeparableConjugate) -> Any:
    """``y`` with the first of ``labels`` as −1 and the second as +1, or as the loss expects them.

    For losses of shares between 0 and 1 they are 0 and 1. Without ``labels`` it is ``y`` as it is,
    and text is refused.

    >>> from rcmd import CrossEntropy, Logistic
    >>> as_labels(["spam", "ham"], ("ham", "spam"), Logistic())
    array([ 1., -1.])
    >>> as_labels([True, False], (False, True), CrossEntropy())
    array([1., 0.])
    """
    array = as_array("y", y)
    if labels is None:
        if array.dtype.kind in "US" or (
            array.dtype == object and any(isinstance(value, str) for value in array.flat)
        ):
            raise ValueError(f"y holds {_texts(array)}")
        return y
    classes = list(labels) if isinstance(labels, Sequence | np.ndarray) else []
    if isinstance(labels, str) or len(classes) != 2 or classes[0] == classes[1]:
        raise ValueError(
            f"labels is {labels!r}; expected the two classes of y, such as ('ham', 'spam'), the "
            "second of which is +1"
        )
    low, high = ENDS[SHARES] if loss.labels == SHARES else (-1.0, 1.0)
    first, second = (
        np.array([value == one for value in array.flat]).reshape(array.shape) for one in classes
    )
    if not (first | second).all():
        odd = array[~(first | second)].tolist()[0]
        raise ValueError(
            f"y holds {odd!r}, which is neither of labels = {tuple(classes)!r}; expected one of "
            "the two for each sample: keep the rows of two classes"
        )
    return np.where(second, high, low)


def _texts(array: Array) -> str:
    found = sorted({str(value) for value in array.flat})
    shown = ", ".join(map(repr, found[:5])) + ", …" * (len(found) > 5)
    if len(found) == 2:
        return (
            f"the labels {shown}; expected numbers: labels=({shown}) takes the first as -1 and the "
            "second as +1"
        )
    return (
        f"{len(found)} different texts ({shown}); expected numbers, or two classes, which "
        "labels=(first, second) names"
    )


def has_curvature_bound(cls: type[SeparableConjugate]) -> bool:
    """Whether ``cls`` says how large l'' is between two predictions."""
    return bool(cls.curvature_bound is not SeparableConjugate.curvature_bound)


def numeric_parts(cls: type[SeparableConjugate]) -> list[str]:
    """The names of what ``cls`` leaves to numerics."""
    names = ("gamma", "conjugate", "conjugate_derivative", "conjugate_domain")
    left = [name for name in names if getattr(cls, name) is getattr(SeparableConjugate, name)]
    if has_curvature_bound(cls):
        left = [name for name in left if name != "gamma"]
    # A conjugate given without its domain is taken to be finite everywhere, as is common.
    return [name for name in left if name != "conjugate_domain" or "conjugate" in left]

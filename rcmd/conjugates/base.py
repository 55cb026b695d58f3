"""The contract of a loss: one pair (l, l*) of conjugate functions of one number."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar


class SeparableConjugate(ABC):
    """A convex, γ-smooth loss l(s; y) of a prediction s at a label y, with its conjugate.

    Subclasses are frozen dataclasses whose fields are numbers. The methods below are
    *scalar code*: they take and return single numbers, use ``math`` functions, and call
    module-level functions but no other method of ``self``. Whole arrays, per-sample
    weights and the engines are built from them.

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

    quadratic: ClassVar[bool] = False
    """Whether l is a quadratic function of s; some theorems hold only then."""

    strictly_convex: ClassVar[bool] = True
    """Whether l is strictly convex, which Assumption 1.1 (1) asks for."""

    formula: ClassVar[str] = "l(s; y)"
    """The loss in one line, for people."""

    @property
    @abstractmethod
    def gamma(self) -> Any:
        """γ, the Lipschitz constant of l'."""

    @abstractmethod
    def value(self, s: Any, y: Any) -> Any:
        """l(s; y)."""

    @abstractmethod
    def derivative(self, s: Any, y: Any) -> Any:
        """l'(s; y)."""

    @abstractmethod
    def conjugate(self, w: Any, y: Any) -> Any:
        """l*(w; y) = sup_s ws − l(s; y); infinite outside its domain."""

    @abstractmethod
    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        """l*'(w; y), the s with l'(s; y) = w; ±inf at a finite end of the domain."""

    def conjugate_domain(self, y: Any) -> tuple[Any, Any]:
        """The ends of dom l*(·; y)."""
        return (-float("inf"), float("inf"))

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """l(s) + l*(w) − ws ≥ 0, zero exactly at w = l'(s).

        Override it with a form that does not cancel; this one loses digits when l(s)
        and ws are large.
        """
        return self.value(s, y) + self.conjugate(w, y) - w * s

    def bregman_radius(self, bound: Any) -> Any:
        """sup of D_l(0, a) over |a| ≤ ``bound``: one sample's share of D_max.

        γ·bound²/2 by smoothness, which is tight for the squared loss and half of
        Prop. 3.2's γM².
        """
        return self.gamma * bound * bound / 2

    def descent_bound(self, y: Any) -> Any:
        """An upper bound of sup_s −s·l'(s; y), from which penalties get their radius.

        l(0) − inf l = l(0) + l*(0) by convexity; infinite when l is unbounded below.
        """
        return self.value(0 * y, y) + self.conjugate(0 * y, y)

    def label_fault(self, y: Any) -> str | None:
        """What is wrong with the labels ``y``, as a sentence, or ``None``."""
        return None

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        """The vector of values l(s_j; y_j) as a CVXPY expression in ``predictions``."""
        raise NotImplementedError(
            f"{type(self).__name__} has no CVXPY form; define cvxpy_form(predictions, y) "
            "to compare it with ground truth"
        )

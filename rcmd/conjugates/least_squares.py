"""The squared loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rcmd.conjugates.base import SeparableConjugate


@dataclass(frozen=True)
class LeastSquares(SeparableConjugate):
    """l(s) = (s − y)²/2 with l*(w) = w²/2 + wy and γ = 1; runs in any number type.

    Examples
    --------
    >>> from fractions import Fraction
    >>> LeastSquares().conjugate(Fraction(1, 3), Fraction(2))
    Fraction(13, 18)
    """

    quadratic = True
    gamma = 1
    formula = "½(s − y)²"
    spec = "least-squares"

    def value(self, s: Any, y: Any) -> Any:
        return (s - y) * (s - y) / 2

    def derivative(self, s: Any, y: Any) -> Any:
        return s - y

    def second_derivative(self, s: Any, y: Any) -> Any:
        return 1 + 0 * s

    def conjugate(self, w: Any, y: Any) -> Any:
        return w * w / 2 + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return w + y

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        """(s − y − w)²/2, a square, so that nothing cancels."""
        return (s - y - w) * (s - y - w) / 2

    def descent_bound(self, y: Any) -> Any:
        """sup_s −s(s − y) = y²/4."""
        return y * y / 4

    def cvxpy_form(self, predictions: Any, y: Any) -> Any:
        import cvxpy as cp

        return cp.square(predictions - y) / 2

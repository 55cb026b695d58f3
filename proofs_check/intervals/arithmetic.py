"""Two implementations of interval arithmetic that share no code: mpmath's, in Python, Arb's, in C.

Numbers of both have + − · / and whole powers, every operation rounded outwards; what they spell
differently is asked of a ``Numbers``. An end of an interval is an interval too, a point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache
from typing import Any

from mpmath.ctx_iv import MPIntervalContext

PRECISION = 80
"""Bits."""


class Numbers(ABC):
    """What intervals are asked for beyond arithmetic."""

    name: str

    @abstractmethod
    def rational(self, numerator: int, denominator: int = 1) -> Any:
        """An interval that holds the fraction."""

    @abstractmethod
    def above(self, x: Any) -> Any:
        """The upper end."""

    @abstractmethod
    def below(self, x: Any) -> Any:
        """The lower end."""

    @abstractmethod
    def hull(self, x: Any, y: Any) -> Any:
        """An interval that holds both."""

    @abstractmethod
    def sqrt(self, x: Any) -> Any:
        """√x."""

    @abstractmethod
    def exp(self, x: Any) -> Any:
        """e^x."""

    @abstractmethod
    def log(self, x: Any) -> Any:
        """ln x."""

    def largest(self, *xs: Any) -> Any:
        """The largest of the upper ends."""
        return max(map(self.above, xs))


class Mpmath(Numbers):
    """mpmath's ``iv``."""

    name = "mpmath"

    def __init__(self) -> None:
        self._context: Any = MPIntervalContext()
        self._context.prec = PRECISION

    def rational(self, numerator: int, denominator: int = 1) -> Any:
        return self._context.mpf(numerator) / denominator

    def above(self, x: Any) -> Any:
        return self._context.mpf(x.b)

    def below(self, x: Any) -> Any:
        return self._context.mpf(x.a)

    def hull(self, x: Any, y: Any) -> Any:
        return self._context.mpf([min(x.a, y.a), max(x.b, y.b)])

    def sqrt(self, x: Any) -> Any:
        return self._context.sqrt(x)

    def exp(self, x: Any) -> Any:
        return self._context.exp(x)

    def log(self, x: Any) -> Any:
        return self._context.log(x)


class Arb(Numbers):
    """python-flint's ``arb``."""

    name = "Arb"

    def __init__(self) -> None:
        from flint import arb, ctx

        self._arb, self._context = arb, ctx

    def rational(self, numerator: int, denominator: int = 1) -> Any:
        self._context.prec = PRECISION
        return self._arb(numerator) / denominator

    def above(self, x: Any) -> Any:
        return x.upper()

    def below(self, x: Any) -> Any:
        return x.lower()

    def hull(self, x: Any, y: Any) -> Any:
        return x.union(y)

    def sqrt(self, x: Any) -> Any:
        return x.sqrt()

    def exp(self, x: Any) -> Any:
        return x.exp()

    def log(self, x: Any) -> Any:
        return x.log()


@cache
def both() -> tuple[Numbers, Numbers]:
    """One of each; a certificate is good only if both give it."""
    return Mpmath(), Arb()

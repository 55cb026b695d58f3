"""Small rational problems drawn from a generator, for checks that want many of them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from numpy.random import Generator

from proofs_check.exact.losses import TiltedHuber
from proofs_check.exact.problem import Loss, Regularizer, Small, Vector


def numbers(generator: Generator, count: int) -> Vector:
    """Multiples of 1/8 between −2 and 2."""
    return tuple(Fraction(int(k), 8) for k in generator.integers(-16, 17, count))


def tilted(y: Any) -> TiltedHuber:
    """A loss that is not quadratic, with γ = 5/4."""
    return TiltedHuber(Fraction(1, 2), Fraction(1, 4), y)


def problem(
    generator: Generator, n: int, p: int, regularizer: Regularizer, loss: Callable[[Any], Loss]
) -> Small:
    """Rows and labels from ``numbers``, one ``loss`` of each label."""
    rows = tuple(numbers(generator, p) for _ in range(n))
    return Small(rows, [loss(y) for y in numbers(generator, n)], regularizer)

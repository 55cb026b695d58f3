"""Strongly convex problems: the counterexamples by name, and drawn ones."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath
from numpy.random import Generator, default_rng

from proofs_check.exact.losses import Softplus, Squared, TiltedHuber
from proofs_check.exact.problem import Loss, Small, Vector
from proofs_check.exact.regularizers import Parabola, Ridge
from proofs_check.exact.shifted import Shifted
from proofs_check.exact.strong import Strong

F = Fraction


def logistic(n: int = 2, radius: Any = 10, mu: Any = 1, b: int = 1, *, printed: bool = True) -> Any:
    """x_j = y_j = 1, R = (μ/2)(β + radius)² on [−radius, 0], in mpmath's working precision."""
    one = mpmath.mpf(1)
    parabola = Parabola(mu * one, -radius * one, -radius * one, 0 * one)
    return Strong(Small(((one,),) * n, [Softplus(1)] * n, parabola), b, printed)


def huber(n: int = 2, radius: int = 10, flatness: int = 1000, b: int = 1) -> Strong:
    """x_j = 1, Huber of width 1 plus s²/(2 flatness) − radius·s; R = β²/2 on |β| ≤ radius."""
    loss = TiltedHuber(F(1), F(1, flatness), F(-radius))
    parabola = Parabola(F(1), F(0), F(-radius), F(radius))
    return Strong(Small(((F(1),),) * n, [loss] * n, parabola), b)


def pull(n: int, mu: Any, b: int, *, printed: bool = True) -> Strong:
    """x_j = 1, l = s²/2, R = (μ/2)(β − 1)² on [0, 1]."""
    parabola = Parabola(F(mu), F(1), F(0), F(1))
    return Strong(Small(((F(1),),) * n, [Squared(F(0))] * n, parabola), b, printed)


def labelled(n: int, mu: Any, y: Any, b: int, *, printed: bool = True) -> Strong:
    """x_j = 1, l = (s − y)²/2, R = (μ/2)β² on [−1, 1]."""
    parabola = Parabola(F(mu), F(0), F(-1), F(1))
    return Strong(Small(((F(1),),) * n, [Squared(F(y))] * n, parabola), b, printed)


def eighths(generator: Generator, low: int, high: int) -> Fraction:
    """A multiple of 1/8, from ``low`` eighths to ``high`` eighths."""
    return F(int(generator.integers(low, high + 1)), 8)


def squared(generator: Generator) -> Squared:
    """A squared loss of curvature 1/2, 1 or 2."""
    return Squared(eighths(generator, -16, 16), F(2) ** int(generator.integers(-1, 2)))


def kinked(generator: Generator) -> TiltedHuber:
    """A tilted Huber loss, often nearly flat outside its middle."""
    width = eighths(generator, 1, 12)
    curvature = F(1, 10 ** int(generator.integers(1, 4)))
    return TiltedHuber(width, curvature, eighths(generator, -16, 16))


def moved(generator: Generator) -> Shifted:
    """A kinked loss whose middle is not at 0."""
    return Shifted(kinked(generator), eighths(generator, -12, 12))


MODULI = (F(1, 20), F(1, 4), F(1), F(3), F(10))


def drawn(
    generator: Generator, loss: Callable[[Generator], Loss], n: int, b: int = 1, p: int = 1
) -> Strong:
    """Rows, losses and R drawn; p = 1 on an interval, or p = 2 on a square."""
    mu = MODULI[int(generator.integers(len(MODULI)))]
    rows: list[Vector] = []
    while len(rows) < n:
        row = tuple(eighths(generator, -12, 12) for _ in range(p))
        if any(row):
            rows.append(row)
    losses = [loss(generator) for _ in range(n)]
    regularizer: Parabola | Ridge
    if p == 1:
        low, high = eighths(generator, -24, 0), eighths(generator, 1, 24)
        regularizer = Parabola(mu, eighths(generator, -24, 24), low, high)
    else:
        centre = tuple(eighths(generator, -12, 12) for _ in range(p))
        regularizer = Ridge(mu, centre, eighths(generator, 2, 24))
    return Strong(Small(tuple(rows), losses, regularizer), b)


def free(n: int, mu: Any, b: int = 1) -> Strong:
    """x_j = 1, l = (s − 1)²/2, R = (μ/2)β² on so large an interval that no atom meets its ends."""
    reach = 4 * (1 + 1 / F(mu))
    parabola = Parabola(F(mu), F(0), -reach, reach)
    return Strong(Small(((F(1),),) * n, [Squared(F(1))] * n, parabola), b)


@cache
def zoo(b: int = 1) -> list[Strong]:
    """Named and drawn problems in fractions; n from b to 3, p = 1."""
    generator = default_rng(32 + b)
    sizes = [n for n in (1, 2, 3) if n >= b]
    named = [one for n in sizes for one in (huber(n, b=b), free(n, 2, b))]
    return named + [
        drawn(generator, loss, n, b)
        for n in sizes
        for loss in (squared, kinked, moved)
        for _ in range(14)
    ]


@cache
def planar() -> list[Strong]:
    """Drawn problems with two variables, n = 2, 3, 4."""
    generator = default_rng(75)
    return [
        drawn(generator, loss, n, p=2)
        for n in (2, 3, 4)
        for loss in (squared, kinked, moved)
        for _ in range(4)
    ]

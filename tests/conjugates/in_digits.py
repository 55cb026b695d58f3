"""Shipped losses in many digits, from the table that ``rcmd.verify`` has of them."""

from typing import Any

from flint import arb, ctx

from rcmd import SeparableConjugate
from rcmd.testing.enclosure.losses import pair_of

BITS = 4000
"""So that 1 + exp(−|s|/width) differs from 1 by many digits for |s| ≤ 800."""


def exact(loss: SeparableConjugate, s: float, y: float) -> tuple[Any, Any]:
    """l and l' at (s, y)."""
    return _with_slope(pair_of(loss).value, s, y)


def exact_conjugate(loss: SeparableConjugate, w: float, y: float) -> tuple[Any, Any]:
    """l* and l*' at (w, y), w inside dom l*."""
    return _with_slope(pair_of(loss).conjugate, w, y)


def _with_slope(function: Any, x: float, y: float) -> tuple[Any, Any]:
    """A function, and its difference quotient over 2⁻¹³⁰⁰."""
    step = arb(2) ** -1300
    below, value, above = (function(arb(x) + k * step, arb(y)) for k in (-1, 0, 1))
    assert ctx.prec == BITS
    return value, (above - below) / (2 * step)

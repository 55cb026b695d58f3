"""Shipped losses in many digits, from the table that ``rcmd.verify`` has of them."""

from typing import Any

from flint import arb, ctx

from rcmd import SeparableConjugate
from rcmd.testing.enclosure.expressions import part
from rcmd.testing.enclosure.losses import pair_of

BITS = 4000
"""So that 1 + exp(−|s|/width) differs from 1 by many digits for |s| ≤ 800."""


def exact(loss: SeparableConjugate, s: float, y: float) -> tuple[Any, Any]:
    """l and l' at (s, y)."""
    assert ctx.prec == BITS
    step, value = arb(2) ** -1300, pair_of(loss).value
    below, found, above = (value(arb(s) + k * step, arb(y)) for k in (-1, 0, 1))
    return found, (above - below) / (2 * step)


def exact_conjugate(loss: SeparableConjugate, w: float, y: float) -> tuple[Any, Any]:
    """l* and l*' at (w, y), w inside dom l*: l* = ws − l(s) and l*' = s where l'(s) = w."""
    assert ctx.prec == BITS
    s, jet, missed = pair_of(loss).nearest(arb(w), arb(y))
    assert abs(missed) <= 2.0**-50 * abs(w) + 1e-200  # squared, it is what l* misses
    return w * s - part(jet, 0), s

"""Sizes that oracles are given: positive whole numbers."""

from __future__ import annotations

from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np


def positive_counts(values: Any) -> tuple[int, ...] | None:
    """One number or several as positive integers, or ``None`` if they are something else.

    Fractions without a denominator are among them: exact problems turn whole numbers into
    fractions.
    """
    counts: list[Any] = np.atleast_1d(np.asarray(values, dtype=object)).ravel().tolist()
    for count in counts:
        number = isinstance(count, Rational) and not isinstance(count, bool)
        if not number or Fraction(count).denominator != 1 or count < 1:
            return None
    return tuple(int(count) for count in counts)

"""Input is checked once, where it enters; faults are sentences."""

from __future__ import annotations

import math
from numbers import Rational, Real
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def checked_numbers(name: str, array: Array) -> Array:
    """``array`` if it holds finite real numbers (or fractions), else a ``ValueError``."""
    if array.dtype == object:
        if all(isinstance(entry, Rational) for entry in array.flat):
            return array
        odd = next(entry for entry in array.flat if not isinstance(entry, Rational))
        raise ValueError(
            f"{name} has dtype object and holds {odd!r} of type {type(odd).__name__}; expected "
            f"real numbers (or fractions.Fraction throughout, for exact runs): convert it with "
            f"{name}.astype(float)"
        )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} has dtype {array.dtype}; expected real numbers")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(
            f"{name} holds {array[where]} at position {where}; expected finite numbers: "
            "drop or impute the missing values first"
        )
    return array


def positive(name: str, value: Any, owner: str) -> None:
    """Refuse a parameter that is not a positive finite number."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} of {owner} is {value!r}; expected a positive number")
    if math.isnan(value) or value <= 0:
        raise ValueError(f"{name} of {owner} is {value!r}; expected a positive number")
    if math.isinf(value):
        raise ValueError(
            f"{name} of {owner} is infinite, so dom R would be unbounded; expected a finite "
            "number (Assumption 1.1 needs a bounded domain)"
        )

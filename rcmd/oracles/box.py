"""Boxes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rcmd.oracles.base import Array, Coordinatewise, LinearMinOracle, NumberOrVector
from rcmd.rows import Rows
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.validation import checked_numbers


@dataclass(frozen=True, eq=False)
class Box(LinearMinOracle, Coordinatewise):
    """The set {lower ≤ β ≤ upper}; each end is a number or a vector of length p.

    Examples
    --------
    >>> float(Box(0.0, 1.0).minimum(np.array([2.0, -3.0])))
    -3.0
    """

    lower: NumberOrVector
    upper: NumberOrVector
    formula = "indicator of {lower} ≤ β ≤ {upper}"
    spec, bound_words = "box:LOWER:UPPER", "at a corner"
    numpy_pass = "abs(c).argmax()"

    @classmethod
    def example(cls, draw: Any) -> Box:
        reach = draw.magnitude()
        if draw.chance(50):
            return cls(-reach, reach * draw.magnitude())
        lower = draw.numbers(draw.p) * draw.magnitude()
        return cls(lower, lower + reach * draw.whole_numbers(0, 3, draw.p) / 3)

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            end = np.asarray(getattr(self, name))
            if end.dtype.kind == "f" and np.isinf(end).any():
                raise ValueError(
                    f"{name} of Box is infinite, so dom R would be unbounded; expected finite "
                    "numbers (Assumption 1.1 needs a bounded domain)"
                )
            end = checked_numbers(f"{name} of Box", end)
            # A copy, which does not change with its caller's array.
            object.__setattr__(self, name, end.copy() if end.ndim else end.item())
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        if lower.ndim and upper.ndim and lower.shape != upper.shape:
            raise ValueError(
                f"lower of Box has shape {lower.shape} and upper {upper.shape}; expected numbers "
                "or vectors of the same length"
            )
        if not np.all(lower <= upper):
            raise ValueError("lower of Box exceeds upper in some place; expected lower ≤ upper")

    def check_rows(self, rows: Rows) -> None:
        super().check_rows(rows)
        for name in ("lower", "upper"):
            end = np.asarray(getattr(self, name))
            if end.ndim and end.shape != (rows.p,):
                raise ValueError(
                    f"{name} of Box has shape {end.shape}; expected a number or a vector of "
                    f"length p = {rows.p}"
                )

    def shape(self, c: Any) -> Any:
        return self.lower if c > 0 else self.upper

    def argmin(self, c: Array) -> DenseAtom:
        if c.dtype == object or self._bits is None:
            ends: Any = self.lower, self.upper
            return DenseAtom(np.where(c > 0, *ends))
        _, upper, difference = self._bits
        # Five times as fast as np.where, whose branches random signs defeat.
        chosen = (c > 0).astype(np.int64)
        chosen *= difference
        chosen ^= upper
        return DenseAtom(chosen.view(float))

    @cached_property
    def _bits(self) -> tuple[Any, Any, Any] | None:
        """The bits of both ends, and those in which they differ, if they are doubles."""
        ends = [np.asarray(end) for end in (self.lower, self.upper)]
        if any(end.dtype == object for end in ends):
            return None
        lower, upper = (np.ascontiguousarray(end, dtype=float).view(np.int64) for end in ends)
        return lower, upper, lower ^ upper

    def minimum(self, c: Array) -> Any:
        if c.dtype != float or self._bits is None:
            return c @ self.argmin(c).vector
        lower, _, difference = self._bits
        # The sign bit is enough: where c is 0, either end gives 0.
        chosen = c.view(np.int64) >> 63
        chosen &= difference
        chosen ^= lower
        return c @ chosen.view(float)

    def violation(self, beta: Array) -> Any:
        outside = max(np.max(self.lower - beta), np.max(beta - self.upper), 0)
        size = max(np.max(abs(self.lower + 0 * beta)), np.max(abs(self.upper + 0 * beta)))
        return outside / size if size > 0 else outside

    def fenchel_young(self, beta: Array, c: Array) -> Any:
        """Σ_j |c_j| times the distance of β_j from the end that c_j prefers."""
        distance = np.where(c > 0, beta - self.lower, self.upper - beta)
        return (abs(c) * np.maximum(distance, 0)).sum()

    def prediction_range(self, rows: Rows) -> tuple[Array, Array]:
        spread = np.zeros(rows.p, dtype=rows.number_type)
        return rows.box_range(spread + self.lower, spread + self.upper)

    def cvxpy_form(self, beta: Any) -> tuple[Any, list[Any]]:
        lower, upper = (np.asarray(end, dtype=float) for end in (self.lower, self.upper))
        return 0, [beta >= lower, beta <= upper]

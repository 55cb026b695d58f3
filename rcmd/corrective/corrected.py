"""What every kind of correction tells after a round."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Corrected:
    """Where a round ends: a primal point, its predictions and its response."""

    beta: Any
    s: Array
    w: Array


class Correction(Protocol):
    """Rounds that bring P down by second-order steps.

    Attributes
    ----------
    oracle_calls
        Linear minimizations so far.
    moved
        Whether the last round changed anything.
    slope
        Xᵀw/n of the response w to the last point. Who certifies a round computes it anyway, and
        sets it before the next one.
    """

    oracle_calls: int
    moved: bool
    slope: Any

    @property
    def gradients(self) -> int:
        """Passes over all rows, times n."""

    def round(self, passes: float) -> Corrected:
        """Go on for one round, in about so many passes where it would take more."""

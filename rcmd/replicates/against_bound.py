"""A mean gap over independent runs beside the theorem's bound, with confidence intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class AgainstBound:
    """Student's intervals for E[gap], simultaneous over the checkpoints (Bonferroni).

    With m runs, k checkpoints and t the (1 − (1 − confidence)/2k)-quantile of Student's law with
    m − 1 degrees of freedom, the interval is mean ± t·deviation/√m. It is exact for normal gaps
    and an approximation for others; the runs must be independent, as those of different seeds
    are.

    Attributes
    ----------
    iterations
        The checkpoints.
    mean, lower, upper
        The mean gap of the theorem's own pair of points, and the interval around it.
    bound
        The theorem's bound of its expectation.
    confidence
        That of all intervals together.
    """

    iterations: Array
    mean: Array
    lower: Array
    upper: Array
    bound: Array
    confidence: float

    @property
    def verdicts(self) -> list[str]:
        """``"below"``, ``"above"`` or, where the interval contains the bound, ``"open"``."""
        below, above = self.upper <= self.bound, self.lower > self.bound
        return [
            "below" if b else "above" if a else "open" for b, a in zip(below, above, strict=True)
        ]

    @property
    def holds(self) -> bool:
        """Whether the expected gap is below the bound everywhere, at this confidence."""
        return set(self.verdicts) == {"below"}

    @property
    def violated(self) -> bool:
        """Whether it is above the bound somewhere, at this confidence."""
        return "above" in self.verdicts

    def __str__(self) -> str:
        lines = [f"{'steps':>10} {'mean gap':>11} {'interval':>23} {'bound':>11}"]
        columns = (self.iterations, self.mean, self.lower, self.upper, self.bound, self.verdicts)
        for steps, mean, lower, upper, bound, verdict in zip(*columns, strict=True):
            interval = f"{lower:.3e}…{upper:.3e}"
            lines.append(f"{steps:>10,} {mean:>11.3e} {interval:>23} {bound:>11.3e} {verdict}")
        return "\n".join([*lines, f"(all intervals together: {self.confidence:.0%})"])


def compared(iterations: Array, gaps: Array, bound: Array, confidence: float) -> AgainstBound:
    """The intervals of ``gaps``, a row for each run and a column for each checkpoint."""
    from scipy.special import stdtrit

    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence!r}; expected a number between 0 and 1")
    runs, checkpoints = gaps.shape
    if runs < 2:
        raise ValueError(f"there is {runs} run; expected at least 2 to tell how far they spread")
    level = 1 - (1 - confidence) / (2 * checkpoints)
    mean = gaps.mean(axis=0)
    reach = stdtrit(runs - 1, level) * gaps.std(axis=0, ddof=1) / math.sqrt(runs)
    return AgainstBound(
        iterations, mean, np.maximum(mean - reach, 0), mean + reach, bound, confidence
    )

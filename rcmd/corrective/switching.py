"""When plain steps are no longer the shortest way: a forecast from the certificates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rcmd.result import Checkpoint

CORRECTION_PASSES = 10.0
"""What corrections cost at most, in passes of plain steps over the data (measured: 4 to 10)."""

SLOWEST_PACE = 0.25
"""The least power of 1/k at which a gap is taken to fall."""


def worth_correcting(history: Sequence[Checkpoint], n: int, tol: float) -> bool:
    """Whether plain steps would need longer than corrections to reach ``tol``.

    The gap is taken to go on falling as the power of 1/k that the last two certificates show:
    the theorem's first power before there are two, a high one where convergence is linear.
    """
    last = history[-1]
    if not last.gap > tol > 0:
        return False
    # By logarithms: a slow pace and a small tolerance overflow.
    farther = math.log(float(last.gap) / tol) / _pace(history)
    passes = last.gradients / n
    return farther > 300 or passes * math.expm1(farther) > CORRECTION_PASSES


def _pace(history: Sequence[Checkpoint]) -> float:
    if len(history) < 2:
        return 1.0
    before, last = history[-2], history[-1]
    if math.isinf(before.gap) or not last.gradients > before.gradients > 0:
        return 1.0
    fall = math.log(float(before.gap) / float(last.gap))
    return max(fall / math.log(last.gradients / before.gradients), SLOWEST_PACE)

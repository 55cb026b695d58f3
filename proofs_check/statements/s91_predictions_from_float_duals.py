r"""In double precision the dual does not determine the prediction.

Paper: none; Algorithm 2 in floating point (num:recover)
Claim: s must be the state, and $w = \dot l(s)$ follow from it. For the logistic loss $v = -yw$
    rounds to 1 at margins below about -37, and $\dot l^*(w)$ is infinite there; the other side
    is harmless. Averages need the sums of v and of 1 - v.
Hypotheses: IEEE double precision, exp and log within a few units
Verdict: HOLDS
Proof: none; digits are compared
Check: double precision against 50 digits at margins -20, -30, -36, -40 and +700; the mean of
    1 - v from either sum.
Tested: n = 1, p = 1, no steps; logistic losses, 13 margins
"""

from __future__ import annotations

import math
from collections.abc import Callable

import mpmath

from proofs_check.statement import Finding, Kind, check


def _weight(margin: float) -> float:
    """v = 1/(1 + e^m), the nearest double up to a few units."""
    tail = math.exp(-abs(margin))
    return 1 / (1 + tail) if margin < 0 else tail / (1 + tail)


def through_the_dual(margin: float) -> float:
    """The margin after a round trip through w: ln((1 − v)/v)."""
    v = _weight(margin)
    return math.log((1 - v) / v) if v < 1 else -math.inf


def kept(margin: float) -> float:
    """The margin when s is the state."""
    return margin


@check(
    Kind.FLOAT,
    through_the_dual,
    {"s as the state": kept, "off by 1e-13": lambda m: through_the_dual(m) * (1 + 1e-13)},
)
def digits_are_lost_on_one_side(recovered: Callable[[float], float]) -> Finding:
    """Relative errors at four negative margins and at +700."""
    errors = [abs(recovered(m) / m - 1) for m in (-20.0, -30.0, -36.0, -40.0, 700.0)]
    text = ", ".join(f"{error:.1e}" for error in errors)
    lost = errors[0] > 1e-10 and errors[1] > 1e-7 and errors[2] > 1e-4 and errors[3] == math.inf
    return Finding(lost and errors[4] < 1e-15, f"relative errors {text}")


def complement_kept(margins: list[float]) -> float:
    """Mean of 1 − v, summed as such."""
    return math.fsum(_weight(-m) for m in margins) / len(margins)


@check(
    Kind.FLOAT,
    complement_kept,
    {
        "one minus the mean of v": lambda margins: (
            1 - math.fsum(map(_weight, margins)) / len(margins)
        ),
        "the last margin left out": lambda margins: complement_kept(margins[:-1]),
        "off by 1e-12": lambda margins: complement_kept(margins) * (1 + 1e-12),
    },
)
def averages_need_both_sums(mean: Callable[[list[float]], float]) -> Finding:
    """Margins −38, −39, …, −45 against 50 digits."""
    margins = [-38.0 - k for k in range(8)]
    with mpmath.workdps(50):
        true = sum(1 / (1 + mpmath.exp(-mpmath.mpf(m))) for m in margins) / len(margins)
        error = float(abs(mean(margins) / true - 1))
    return Finding(error < 1e-14, f"relative error {error:.1e} of {float(true):.3e}")

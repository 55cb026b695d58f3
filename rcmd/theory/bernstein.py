"""The empirical Bernstein bound, and how many samples it will need.

A. Maurer and M. Pontil, *Empirical Bernstein bounds and sample variance penalization*,
COLT 2009, Theorem 4: for m independent samples in [0, span] with sample mean Z and sample
variance V, with probability at least 1 − δ,

    E Z ≤ Z + √(2 V ln(2/δ)/m) + 7 span ln(2/δ)/(3(m−1)).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

FAILURE_RATE = 1e-6
"""δ: how often a certificate may be wrong, where nothing else is said."""


def certified_mean(
    samples: npt.NDArray[np.float64], span: float, failure_rate: float = FAILURE_RATE
) -> float:
    """An upper bound of the expectation that is too small with probability at most δ.

    By symmetry span − certified_mean(span − samples, span) is a lower bound in the same sense.

    Examples
    --------
    >>> round(certified_mean(np.full(1000, 0.25), 1.0), 4)
    0.2839
    """
    outside = samples[(samples < 0) | (samples > span)]
    if len(outside):
        raise ValueError(
            f"samples contain {outside[0]:.6g}, outside [0, {span:.6g}]; expected the span to be a "
            "proved range of every sample, for the bound says nothing else"
        )
    variance = float(samples.var(ddof=1))
    return float(samples.mean()) + _deviation(variance, span, len(samples), failure_rate)


def samples_needed(
    bound: float, span: float, share: float, failure_rate: float = FAILURE_RATE
) -> int:
    """The smallest m at which a sample mean of at most share·bound certifies ``bound``.

    No pilot run is needed: numbers in [0, span] with mean Z have a sample variance of at most
    Z(span − Z)m/(m−1), which is used in place of the unknown one.

    Examples
    --------
    >>> samples_needed(0.5, 1.0, share=0.5)
    297
    """
    if not (0 < share < 1 and 0 < bound < span):
        raise ValueError(
            f"bound is {bound:.6g}, span {span:.6g} and share {share:.6g}; expected 0 < share < 1 "
            "and 0 < bound < span, for a bound above the span needs no sample"
        )

    def enough(m: int) -> bool:
        mean = min(share * bound, span / 2)
        variance = mean * (span - mean) * m / (m - 1)
        return share * bound + _deviation(variance, span, m, failure_rate) <= bound

    low, high = 1, 2
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _deviation(variance: float, span: float, m: int, failure_rate: float) -> float:
    log = math.log(2 / failure_rate)
    return math.sqrt(2 * variance * log / m) + 7 * span * log / (3 * (m - 1))

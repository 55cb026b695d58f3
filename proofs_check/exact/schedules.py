"""Step sizes η_i and averaging weights c_i of the two theorems, for real N = n/b."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Steps:
    """η_i and c_i, each a function of i; α_i = c_i/(c_0 + … + c_i)."""

    eta: Callable[[int], Any]
    weight: Callable[[int], Any]


def sublinear(N: Any, r: int = 2) -> Steps:
    """η_i = 2N/(rN+i+1), c_i = rN+i: Theorem 3.1's for r = 2, ``HeadStart`` for r = 4."""
    return Steps(lambda i: 2 * N / (r * N + i + 1), lambda i: r * N + i)


def linear(N: Any, sigma: Any) -> Steps:
    """Theorem 3.2: η_i = 1/σ, c_i = q^i with q = Nσ/(Nσ−1)."""
    q = N * sigma / (N * sigma - 1)
    return Steps(lambda i: 1 / sigma, lambda i: q**i)

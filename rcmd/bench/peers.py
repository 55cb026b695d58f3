"""Other people's code of the same method: the LF variant of COPT, where it is installed."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class NotInstalled(RuntimeError):
    """The peer is not there; the text says why."""


@functools.cache
def copt() -> Any:
    """The package COPT."""
    try:
        return importlib.import_module("copt")
    except Exception as error:  # an old package may fail in any way beside new ones
        reason = "it is not installed" if isinstance(error, ModuleNotFoundError) else repr(error)
        raise NotInstalled(f"COPT cannot be imported: {reason}") from error


def copt_lf(
    X: Any, y: Array, batch: int, radius: float, *, part: bool = False
) -> tuple[Callable[[int], int], int]:
    """COPT's LF on the l1 ball with the logistic loss, as the work of a contender, and its limit.

    COPT runs whole passes only, and the amount of work is their number. With ``part``, for
    batch 1 and p so large that a pass takes minutes, it is the number of rows that one pass
    sees: a step does no work that grows with n, and finds fewer rows sooner in the cache.
    """
    package = copt()
    ball = package.constraint.L1Ball(radius)
    n, p = X.shape

    def run(rows: int, passes: int) -> int:
        package.randomized.minimize_sfw(
            _derivative,
            X[:rows] if part else X,
            y[:rows],
            np.zeros(p),
            ball.lmo,
            batch_size=batch,
            max_iter=passes,
            tol=0,
            variant="LF",
        )
        return passes * (rows // batch) * batch

    if part:
        return lambda rows: run(rows, 1), n
    return lambda passes: run(n, passes), 1000


def _derivative(s: Any, y: Any) -> Any:
    return -y / (1 + np.exp(y * s))

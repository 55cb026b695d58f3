"""Other people's packages, where they are installed; COPT's code of the same method."""

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


def imported(module: str, name: str) -> Any:
    """The module of the package that people call ``name``.

    Examples
    --------
    >>> imported("no_such_module", "Nobody")
    Traceback (most recent call last):
    rcmd.bench.peers.NotInstalled: Nobody cannot be imported: it is not installed
    """
    try:
        return importlib.import_module(module)
    except Exception as error:  # an old package may fail in any way beside new ones
        reason = "it is not installed" if isinstance(error, ModuleNotFoundError) else repr(error)
        raise NotInstalled(f"{name} cannot be imported: {reason}") from error


@functools.cache
def copt() -> Any:
    """The package COPT."""
    return imported("copt", "COPT")


def copt_lf(
    X: Any, y: Array, batch: int, radius: float, *, part: bool = False
) -> tuple[Callable[[int], int], int]:
    """COPT's LF on the l1 ball with the logistic loss, as the work of a contender, and its limit.

    COPT runs whole passes only, and the amount of work is their number. With ``part``, for
    batch 1 and p so large that a pass takes minutes, it is the number of rows that one pass
    sees: a step does no work that grows with n, and finds fewer rows sooner in the cache.
    """

    def run(rows: int, passes: int) -> int:
        minimize_stochastic(X[:rows] if part else X, y[:rows], batch, radius, "LF", passes)
        return passes * (rows // batch) * batch

    copt()
    if part:
        return lambda rows: run(rows, 1), len(y)
    return lambda passes: run(len(y), passes), 1000


def minimize_stochastic(
    X: Any, y: Array, batch: int, radius: float, variant: str, passes: int
) -> Array:
    """β after ``passes`` of a variant of COPT's stochastic Frank-Wolfe: logistic loss, l1 ball."""
    package = copt()
    found = package.randomized.minimize_sfw(
        _derivative,
        X,
        y,
        np.zeros(X.shape[1]),
        package.constraint.L1Ball(radius).lmo,
        batch_size=batch,
        max_iter=passes,
        tol=0,
        variant=variant,
    )
    return found.x


def _derivative(s: Any, y: Any) -> Any:
    return -y / (1 + np.exp(y * s))

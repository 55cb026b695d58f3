"""A finding's smallest case: rows, columns and options that it does not need are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from rcmd.fuzzing.cases import Case

PLAIN: dict[str, Any] = {
    "warm": False,
    "weights": None,
    "intercept": None,
    "layout": "dense",
    "corrective": False,
    "engine": "reference",
    "batch": 1,
    "seed": 0,
}
"""The simplest that each option can be."""


def shrink(case: Case, still: Callable[[Case], bool], most: int = 200) -> Case:
    """The simplest case found within ``most`` trials that ``still`` shows the finding."""
    trials = 0
    tried = True
    while tried:
        tried = False
        for simpler in _simpler(case):
            trials += 1
            if trials > most:
                return case
            if still(simpler):
                case, tried = simpler, True
                break
    return case


def _simpler(case: Case) -> Iterator[Case]:
    """Cases one step simpler, the largest steps first."""
    n, p = case.X.shape
    for rows in _parts(n):
        kept = None if case.weights is None else case.weights[rows]
        batch = min(case.batch, len(rows))
        yield replace(case, X=case.X[rows], y=case.y[rows], weights=kept, batch=batch)
    for columns in _parts(p):
        yield replace(case, X=case.X[:, columns])
    for name, plain in PLAIN.items():
        now = getattr(case, name)
        if now is not plain and (plain is None or now != plain):
            yield replace(case, **{name: plain})
    rounded = {"X": _rounded(case.X), "y": _rounded(case.y)}
    for name, numbers in rounded.items():
        if not np.array_equal(numbers, getattr(case, name)):
            yield replace(case, **{name: numbers})


def _parts(count: int) -> Iterator[list[int]]:
    """Halves of ``range(count)``, then all but one."""
    whole = list(range(count))
    if count > 3:
        yield from (whole[: count // 2], whole[count // 2 :])
    if count > 1:
        yield from (whole[:k] + whole[k + 1 :] for k in whole)


def _rounded(numbers: Any) -> Any:
    """To one significant digit."""
    return np.array([float(f"{x:.0e}") for x in numbers.ravel()]).reshape(numbers.shape)

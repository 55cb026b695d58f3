"""What all checks share: whom they speak of, and where they look."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from rcmd.conjugates.samples import label_places
from rcmd.model.problem import Problem
from rcmd.rows.base import DenseRows, Rows
from rcmd.rows.validation import Array

RELATIVE = 1e-9
"""Rounding allowed in identities of numbers, relative to their terms."""

OF_SUMS = 1e-7
"""The same for sums over many entries."""

LABELS = 6
"""Different labels that are looked at; the smallest and the largest are among them."""


@dataclass(frozen=True)
class Subject:
    """What is checked: its name in sentences, and the function with the full list."""

    name: str
    check: str

    def refuse(self, method: str, where: str, came: Any, expected: str) -> NoReturn:
        """Refuse the class, with the place, what came and what was expected."""
        came = f"{came:.10g}" if isinstance(came, float) else came
        raise ValueError(
            f"{method} of {self.name} at {where} is {came}; expected {expected}: correct it "
            f"({self.check} lists all that fails), or go on without this check: "
            "Problem(…, verify=False)"
        )

    def number(self, method: str, where: str, function: Callable[..., Any], *at: Any) -> float:
        """A finite number from the user's function."""
        try:
            found = float(function(*at))
        except Exception as fault:  # whatever the user's class raises
            self.refuse(method, where, f"{type(fault).__name__}: {fault}", "a finite number")
        if not math.isfinite(found):
            self.refuse(method, where, found, "a finite number")
        return found


FEW = 8
"""Up to so many rows, all are looked at."""

MEASURED = 2**15
"""Of rows with so many entries the one with the smallest is looked at."""


class Sample:
    """Some rows of the problem, and the ranges of their predictions."""

    def __init__(self, problem: Problem) -> None:
        rows, losses, n = problem.rows, problem.losses, len(problem.losses.y)
        if n <= FEW:
            self.places = np.arange(n)
        else:
            keys = (losses.weights, losses.offset, *losses.fields)
            own = [key for key in keys if key is not None]
            ends = [end for key in own for end in (int(key.argmin()), int(key.argmax()))]
            labels = label_places(losses.y)
            ends += labels[np.linspace(0, len(labels) - 1, LABELS).astype(int)].tolist()
            self.places = np.unique([*ends, *_extreme_rows(rows), n // 3, 2 * n // 3])
        self.rows = DenseRows(np.array([rows.row(j) for j in self.places.tolist()]))
        self.low, self.high = ends = problem.oracle.prediction_range(self.rows)
        if {np.shape(end) for end in ends} != {(self.rows.n,)}:
            raise ValueError(
                f"prediction_range of {type(problem.oracle).__name__} returned shapes "
                f"{' and '.join(str(np.shape(end)) for end in ends)} for {self.rows.n} rows; "
                "expected two numbers for each of the rows given"
            )


def _extreme_rows(rows: Rows) -> tuple[int, int]:
    """The row with the largest entry, and one of small entries."""
    stride = -(-rows.n // max(FEW, MEASURED // rows.p))
    some = rows.thinned(stride)
    small = int((rows if some is None else some).max_norms().argmin())
    return rows.peak_row, small if some is None else stride * small


def shown(vector: Array) -> str:
    """A vector in sentences."""
    return np.array2string(np.asarray(vector, dtype=float), precision=6, threshold=6)


def as_vector(slope: Any) -> Any:
    """Xᵀw as a vector also where it is a sparse matrix."""
    return slope.toarray().ravel() if hasattr(slope, "toarray") else slope

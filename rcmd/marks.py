"""The iterations at which a run certifies."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from typing import Any

import numpy as np


def log_spaced(blocks: Any, ratio: float = 1.25) -> Iterator[int]:
    """Iterations from a quarter of a pass on, growing by ``ratio``: O(log k) certificates."""
    mark = max(1, math.ceil(blocks / 4))
    while True:
        yield mark
        mark = max(mark + 1, math.ceil(mark * ratio))


def checked_marks(checkpoints: Iterable[Any]) -> Iterator[int]:
    """The marks, a sequence of them checked before the run, an endless stream on the way."""
    if not isinstance(checkpoints, Iterable):
        raise TypeError(
            f"checkpoints is {checkpoints!r}; expected the iterations at which to certify, such as "
            "[10, 100, 1000]"
        )
    if isinstance(checkpoints, Sequence | np.ndarray):
        marks = list(_increasing(checkpoints))
        if not marks:
            raise ValueError(
                "checkpoints is empty; expected at least one iteration, such as [1000]"
            )
        return iter(marks)
    return _increasing(checkpoints)


def _increasing(checkpoints: Iterable[Any]) -> Iterator[int]:
    last = 0
    for mark in checkpoints:
        if not isinstance(mark, Integral) or mark <= last:
            raise ValueError(
                f"checkpoints holds {mark!r} after {last}; expected whole numbers of iterations, "
                "each larger than the one before"
            )
        last = int(mark)
        yield last

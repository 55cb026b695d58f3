"""Generated rows on disk, of any size, in constant memory."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from rcmd.bench.workloads import zipf_columns
from rcmd.datasets import RowsWriter

Array = npt.NDArray[Any]

FEATURES, NONZEROS, BLOCK_ROWS = 20_000, 416, 2_000
SUPPORT, COMMONEST, RAREST = 20, 100, 1000
"""Columns of the truth, and the ranks by frequency between which they are."""


def row_bytes(dtype: Any) -> int:
    """Of a row on disk: its values and columns."""
    return NONZEROS * (np.dtype(dtype).itemsize + 4)


def generate(
    path: str | os.PathLike[str],
    rows: int,
    rng: np.random.Generator,
    dtype: Any = np.float64,
    tell: Callable[[str], None] = lambda text: None,
) -> None:
    """Write ``rows`` sparse rows with labels ±1 of a logistic model, as text data look.

    Each has ``NONZEROS`` different columns, the k-th commonest with a frequency ∝ 1/k, and
    values uniform in [−√3, √3]. The truth is ±1 on some columns neither common nor rare.
    """
    shuffled = rng.permutation(FEATURES).astype(np.int32)
    truth = np.zeros(FEATURES)
    chosen = shuffled[rng.choice(np.arange(COMMONEST, RAREST), size=SUPPORT, replace=False)]
    truth[chosen] = rng.choice([-1.0, 1.0], size=SUPPORT)
    with RowsWriter(path, features=FEATURES, dtype=dtype) as writer:
        for start in range(0, rows, BLOCK_ROWS):
            height = min(BLOCK_ROWS, rows - start)
            columns = zipf_columns(height, shuffled, rng, NONZEROS)
            values = rng.uniform(-math.sqrt(3), math.sqrt(3), columns.size)
            offsets = np.arange(0, columns.size + 1, NONZEROS, dtype=np.int32)
            X = sp.csr_array((values, columns.ravel(), offsets), shape=(height, FEATURES))
            writer.append(X, np.where(rng.logistic(size=height) < X @ truth, 1.0, -1.0))
            tell(f"generating: {start / rows:.0%}")
    tell("")

"""What is worth saying about a solution beyond its certificate."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd import cur
from rcmd.lowrank import LowRank
from rcmd.oracles import Counting, LinearMinOracle
from rcmd.result import Result

Array = npt.NDArray[Any]

SHOWN = 6
"""Singular values, columns and rows that are written out."""


def about_oracle(oracle: LinearMinOracle, result: Result) -> Iterator[str]:
    """A matrix β by its rank and singular values, and how often the oracle was called."""
    if isinstance(oracle, Counting):
        counted = (f"{name} {oracle.calls[name]}" for name in Counting.counted)
        yield "calls of the oracle: " + ", ".join(counted)
    shape, matrix = getattr(oracle, "shape", None), result.beta
    if isinstance(shape, tuple) and not isinstance(matrix, LowRank):
        matrix = LowRank.of_array(np.asarray(matrix[: shape[0] * shape[1]]).reshape(shape))
    if isinstance(matrix, LowRank):
        values = matrix.singular_values()
        rank = int((values > 1e-12 * values.max(initial=0)).sum())
        yield (
            f"β is {matrix.shape[0]} × {matrix.shape[1]} of rank {rank} and nuclear norm "
            f"{values.sum():.6g}, with singular values {_first(f'{value:.4g}' for value in values)}"
        )


def chosen_columns_and_rows(
    M: Array, keep: tuple[int, int] | None, result: Result
) -> Iterator[str]:
    """The columns and rows of M by their weights in β, and how well those kept predict M."""
    sizes = abs(result.beta.reshape(M.T.shape))
    counts = []
    for what, axis in (("columns", 1), ("rows", 0)):
        weights = sizes.max(axis=axis)
        order = np.argsort(-weights, kind="stable")
        if keep is None:
            count = int((weights[order].cumsum() < 0.9 * weights.sum()).sum()) + 1
        else:
            count = keep[1 - axis]
        counts.append(count)
        yield f"{what} of M by weight: " + _first(f"{j} ({weights[j]:.4g})" for j in order)
    found = cur.factorization(M, result, *counts)
    yield (
        f"M ≈ CUR with columns {', '.join(map(str, found.columns))} and rows "
        f"{', '.join(map(str, found.rows))}: relative error {found.error:.4f}"
    )


def _first(words: Iterator[str]) -> str:
    """Some words and dots for the others."""
    every = list(words)
    return ", ".join(every[:SHOWN] + ["…"] * (len(every) > SHOWN))

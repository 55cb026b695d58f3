"""The problems to measure on: files of the user's, and generated ones."""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rcmd import datasets
from rcmd.datasets import map_labels
from rcmd.rows.validation import Array

BLOCK = 20_000


class Data(NamedTuple):
    """Rows and labels ±1."""

    X: Any
    y: Array


def load(name: str, folder: str | None) -> Data:
    """The LIBSVM file ``name``, found as ``rcmd.datasets.locate`` says."""
    X, y = datasets.load(name, folder)
    return Data(X, map_labels(y)[0])


def zipf(n: int, p: int, nonzeros: int, rng: np.random.Generator) -> Data:
    """Sparse rows with ``nonzeros`` different columns each, the k-th commonest ∝ 1/k.

    The columns are shuffled, so that common ones do not share cache lines.

    >>> X, y = zipf(4, 1000, 50, np.random.default_rng(0))
    >>> X.shape, set(np.diff(X.indptr).tolist()), X.has_canonical_format
    ((4, 1000), {50}, True)
    """
    if p < 2 * nonzeros:
        raise ValueError(f"p is {p}; expected at least twice the {nonzeros} nonzeros of a row")
    shuffled = rng.permutation(p).astype(np.int32)
    columns = np.zeros((n, nonzeros), np.int32)
    for block in np.split(columns, range(BLOCK, n, BLOCK)):
        repeated = np.ones(block.shape, np.bool_)
        while repeated.any():  # a repeated column is drawn again
            rank = np.exp(rng.random(np.count_nonzero(repeated)) * math.log(p + 1)) - 1
            block[repeated] = shuffled[np.minimum(rank.astype(np.int64), p - 1)]
            block.sort(axis=1)
            repeated[:, 1:] = block[:, 1:] == block[:, :-1]
            repeated[:, 0] = False
    values = rng.standard_normal(n * nonzeros) / math.sqrt(nonzeros)
    offsets = np.arange(0, n * nonzeros + 1, nonzeros, dtype=np.int32)
    X = sp.csr_array((values, columns.reshape(-1), offsets), shape=(n, p))
    return Data(X, np.where(rng.random(n) < 0.5, 1.0, -1.0))

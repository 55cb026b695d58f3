"""The problems to measure on: files of the user's, and generated ones."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rcmd.datasets import map_labels, read_libsvm
from rcmd.datasets.fetching import SUFFIXES
from rcmd.lab.bench.timing import Absent
from rcmd.rows.validation import Array

NAMED = ("a9a", "w8a", "mushrooms")
BLOCK = 20_000


class Data(NamedTuple):
    """Rows and labels ±1."""

    X: Any
    y: Array


def load(name: str, folder: str | os.PathLike[str] | None) -> Data:
    """The LIBSVM file ``name`` (or name.bz2, …) of ``folder`` or of the folder RCMD_DATA."""
    folders = [Path(f) for f in (folder, os.environ.get("RCMD_DATA")) if f]
    if not folders:
        raise Absent(f"{name} needs --data DIR or the variable RCMD_DATA")
    for path in (folder / (name + suffix) for folder in folders for suffix in SUFFIXES):
        if path.is_file():
            X, y = read_libsvm(path)
            return Data(X, map_labels(y)[0])
    raise Absent(f"{name} (plain, .bz2, .xz or .gz) is not in {' or '.join(map(str, folders))}")


def zipf(n: int, p: int, nonzeros: int, rng: np.random.Generator) -> Data:
    """Sparse rows with ``nonzeros`` different columns each, the k-th commonest ∝ 1/k.

    The columns are shuffled, so that common ones do not share cache lines.

    >>> X, y = zipf(4, 1000, 50, np.random.default_rng(0))
    >>> X.shape, set(np.diff(X.indptr).tolist()), X.has_canonical_format
    ((4, 1000), {50}, True)
    """
    shuffled = rng.permutation(p).astype(np.int32)
    columns = np.empty((n, nonzeros), np.int32)
    for start in range(0, n, BLOCK):
        columns[start : start + BLOCK] = zipf_columns(
            min(BLOCK, n - start), shuffled, rng, nonzeros
        )
    values = rng.standard_normal(n * nonzeros) / math.sqrt(nonzeros)
    offsets = np.arange(0, n * nonzeros + 1, nonzeros, dtype=np.int32)
    X = sp.csr_array((values, columns.reshape(-1), offsets), shape=(n, p))
    return Data(X, np.where(rng.random(n) < 0.5, 1.0, -1.0))


def zipf_columns(rows: int, shuffled: Array, rng: np.random.Generator, nonzeros: int) -> Array:
    """Columns drawn one after the other, a repeated one drawn again; sorted."""
    p = len(shuffled)
    if p < 2 * nonzeros:
        raise ValueError(f"p is {p}; expected at least twice the {nonzeros} nonzeros of a row")
    columns = np.zeros((rows, nonzeros), np.int32)
    repeated = np.ones((rows, nonzeros), np.bool_)
    while repeated.any():
        rank = np.exp(rng.random(np.count_nonzero(repeated)) * math.log(p + 1)) - 1
        columns[repeated] = shuffled[np.minimum(rank.astype(np.int64), p - 1)]
        columns.sort(axis=1)
        repeated[:, 1:] = columns[:, 1:] == columns[:, :-1]
        repeated[:, 0] = False
    return columns


def dense(n: int, p: int, rng: np.random.Generator) -> Data:
    """Rows like gisette's, scaled to [−1, 1]."""
    return Data(rng.uniform(-1.0, 1.0, (n, p)), np.where(rng.random(n) < 0.5, 1.0, -1.0))


def with_empty_features(X: Any, count: int) -> Any:
    """X with ``count`` columns of zeros appended, sharing its arrays."""
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], X.shape[1] + count))


def available(
    names: Sequence[str], folder: str | os.PathLike[str] | None
) -> tuple[dict[str, Data], list[str]]:
    """The data sets that are there, and a sentence for each that is not."""
    found: dict[str, Data] = {}
    missing = []
    for name in names:
        try:
            found[name] = load(name, folder)
        except Absent as reason:
            missing.append(f"{name} is left out: {reason}")
    return found, missing

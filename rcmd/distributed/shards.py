"""Each rank's share of the rows: a contiguous block, read without the others where that can be."""

import os
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.datasets import open_rows
from rcmd.datasets.libsvm import libsvm_parts
from rcmd.rows.processes import Group, SharedError, shared_errors
from rcmd.rows.validation import Array


def block(group: Group, n: int) -> tuple[int, int]:
    """The first row of this rank and the one behind its last, for n rows in even shares.

    Examples
    --------
    >>> from rcmd.distributed import rehearse
    >>> rehearse(3, lambda group: block(group, 10))
    [(0, 3), (3, 6), (6, 10)]
    """
    if n < group.size:
        raise SharedError(
            f"there are {n} rows for {group.size} ranks; expected at least one row for each: start "
            "fewer processes"
        )
    ends = [n * rank // group.size for rank in range(group.size + 1)]
    return list(pairwise(ends))[group.rank]


def shard(group: Group, X: Any, y: Any) -> tuple[Any, Any]:
    """This rank's rows of a dense array or a CSR matrix, without a copy, and their labels.

    Examples
    --------
    >>> from rcmd.distributed import rehearse
    >>> X, y = np.eye(3), np.arange(3.0)
    >>> [labels.tolist() for _, labels in rehearse(2, lambda group: shard(group, X, y))]
    [[0.0], [1.0, 2.0]]
    """
    first, last = block(group, X.shape[0])
    if not sp.issparse(X):
        return X[first:last], y[first:last]
    X = X.tocsr()
    begin, end = X.indptr[first], X.indptr[last]
    parts = (X.data[begin:end], X.indices[begin:end], X.indptr[first : last + 1] - begin)
    return sp.csr_array(parts, shape=(last - first, X.shape[1])), y[first:last]


def read_shard(group: Group, path: str | os.PathLike[str]) -> tuple[Any, Array]:
    r"""This rank's rows and labels of a LIBSVM file or of a folder that ``rcmd convert`` made.

    Of a folder a rank maps its own rows into memory and touches no others. A LIBSVM file is
    parsed twice, to count its rows and to keep those of this rank.

    Examples
    --------
    >>> import tempfile
    >>> from rcmd.distributed import rehearse
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/rows.txt", "w") as file:
    ...         _ = file.write("+1 1:1\n-1 3:1\n+1 2:1\n")
    ...     parts = rehearse(2, lambda group: read_shard(group, f"{folder}/rows.txt"))
    >>> [(X.shape, y.tolist()) for X, y in parts]
    [((1, 3), [1.0]), ((2, 3), [-1.0, 1.0])]
    """
    if os.path.isdir(path):
        with shared_errors(group):
            stored = open_rows(path)
            X, y = stored.X.mapped(), stored.y
        return shard(group, X, y)
    with shared_errors(group):
        n = sum(part.y.size for part in libsvm_parts(path))
    first, last = block(group, n)
    with shared_errors(group):
        X, y = _kept(path, first, last)
    width = int(group.largest(np.array([X.indices.max(initial=-1) + 1]))[0])
    X.resize(X.shape[0], width)
    return X, y


def _kept(path: str | os.PathLike[str], first: int, last: int) -> tuple[Any, Array]:
    rows, labels, seen = [], [], 0
    for part in libsvm_parts(path):
        mine = slice(max(first - seen, 0), max(last - seen, 0))
        rows.append(part.X[mine])
        labels.append(part.y[mine])
        seen += part.y.size
    return sp.vstack(rows, format="csr"), np.concatenate(labels)

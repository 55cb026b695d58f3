"""LIBSVM text turned into rows on disk, in constant memory."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from rcmd.datasets.libsvm import libsvm_parts
from rcmd.datasets.writing import RowsWriter


def convert_libsvm(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    features: int | None = None,
    dtype: Any = np.float64,
    tell: Callable[[str], None] = lambda text: None,
) -> None:
    r"""Turn a LIBSVM file, plain or compressed, into a folder for ``rcmd.datasets.open_rows``.

    The rows and labels are those of ``read_libsvm``, bit for bit (rounded where ``dtype`` is
    ``numpy.float32``), a few megabytes of them in memory at a time. ``tell`` hears how far it is.
    Where it fails or is interrupted, there is no folder.

    Examples
    --------
    >>> import tempfile
    >>> from rcmd.datasets import open_rows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/two.txt", "w") as file:
    ...         _ = file.write("+1 1:0.5 3:2\n-1 2:1\n")
    ...     convert_libsvm(f"{folder}/two.txt", f"{folder}/two.rows")
    ...     print(open_rows(f"{folder}/two.rows").X)
    DiskRows(n=2, p=3)
    """
    with RowsWriter(target, features=features, dtype=dtype) as writer:
        for part in libsvm_parts(source, features=features):
            writer.append(part.X, part.y)
            share = "" if math.isnan(part.share) else f", {part.share:.0%}"
            tell(f"{writer.rows:,} rows{share}")
    tell("")

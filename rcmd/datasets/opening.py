"""Rows on disk, opened and checked but not loaded."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rcmd.datasets.faults import DataError
from rcmd.datasets.folder import AGAIN, NAMES, Meta, read_meta
from rcmd.datasets.libsvm import LibsvmData, read_libsvm
from rcmd.rows.array_files import ArrayFile
from rcmd.rows.disk import DiskRows
from rcmd.rows.disk_files import DenseFiles, RowFiles, SparseFiles

Array = NDArray[Any]

CHECK_BYTES = 2**20
"""Read at a time to compare checksums."""


class StoredData(NamedTuple):
    """Rows on disk, and their labels in memory."""

    X: DiskRows
    y: Array


def open_rows(path: str | os.PathLike[str]) -> StoredData:
    """Open a folder of rows that ``rcmd convert`` or ``RowsWriter`` made.

    Labels and offsets are loaded, 16 bytes for each row; of the entries, only the blocks and
    batches at hand are ever in memory. All files are read once and their checksums compared:
    a damaged, shortened or newer folder raises :class:`DataError`.

    Beside some vectors of length n, a run may keep a quarter of a gigabyte of predictions at
    atoms for its corrections, twice that while it adds some; ``corrective=False`` keeps none.

    Examples
    --------
    >>> import tempfile
    >>> from rcmd import L1Ball, Logistic, Problem, solve
    >>> from rcmd.datasets import RowsWriter, make_classification
    >>> folder = tempfile.TemporaryDirectory()
    >>> with RowsWriter(f"{folder.name}/small.rows") as writer:
    ...     for seed in range(3):
    ...         writer.append(*make_classification(40, 5, density=0.5, rng=seed))
    >>> X, y = open_rows(f"{folder.name}/small.rows")
    >>> X
    DiskRows(n=120, p=5)
    >>> solve(Problem(X, y, Logistic(), L1Ball(5.0)), batch=12, tol=1e-2).success
    True
    >>> folder.cleanup()
    """
    folder = Path(path)
    meta = read_meta(folder)
    files = {name: _opened(folder, name, meta) for name in NAMES[meta.layout]}
    labels = _checked(files["labels"], meta, "labels", keep=True)
    rows: RowFiles
    if meta.layout == "dense":
        rows = DenseFiles(files["data"])
    else:
        indptr = _checked(files["indptr"], meta, "indptr", keep=True)
        _checked(files["indices"], meta, "indices")
        rows = SparseFiles(files["data"], files["indices"], indptr, meta.features)
    _checked(files["data"], meta, "data")
    return StoredData(DiskRows(rows), labels)


def read(path: str | os.PathLike[str]) -> LibsvmData | StoredData:
    r"""Open ``path`` if it is a folder of rows; read it as a LIBSVM file if it is not.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/one.txt", "w") as file:
    ...         _ = file.write("+1 2:3\n")
    ...     print(read(f"{folder}/one.txt").X.toarray())
    [[0. 3.]]
    """
    return open_rows(path) if os.path.isdir(path) else read_libsvm(path)


def _opened(folder: Path, name: str, meta: Meta) -> ArrayFile:
    path = folder / f"{name}.npy"
    try:
        found, expected = path.stat().st_size, meta.files[name]["bytes"]
        if found != expected:
            raise ValueError(f"{path} has {found:,} bytes; expected {expected:,}")
        return ArrayFile(path)
    except FileNotFoundError:
        raise DataError(f"{path} is missing; {AGAIN}") from None
    except OSError as fault:
        raise DataError(f"{path} cannot be read: {fault.strerror or fault}") from fault
    except ValueError as fault:
        raise DataError(f"{fault}: it is damaged; {AGAIN}") from None


def _checked(file: ArrayFile, meta: Meta, name: str, keep: bool = False) -> Array:
    """Compare the checksum; the entries are returned where they are to be kept."""
    step = max(CHECK_BYTES // file.dtype.itemsize, 1)
    found, kept = 0, np.empty(file.size if keep else 0, dtype=file.dtype)
    for start in range(0, file.size, step):
        stop = min(start + step, file.size)
        block = file.read(start, stop)
        found = zlib.crc32(block.data, found)
        if keep:
            kept[start:stop] = block
    if found != meta.files[name]["crc32"]:
        raise DataError(f"{file.path} does not have its checksum: it is damaged; {AGAIN}")
    return kept

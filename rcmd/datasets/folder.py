"""The folder that holds rows and labels on disk, opened and checked but not loaded.

meta.json says what the others are, with their lengths and CRC-32; data.npy, indices.npy and
indptr.npy are a CSR matrix by SciPy's names, data.npy alone is a dense one; labels.npy. Any
program that reads .npy files can read them.
"""

import json
import os
import zlib
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from rcmd.datasets.libsvm import Array, LibsvmData, read_libsvm
from rcmd.rows.disk import ArrayFile, DenseFiles, DiskRows, RowFiles, SparseFiles
from rcmd.rows.matrix_files import DataError

FORMAT, VERSION = "rcmd rows", 1
META = "meta.json"
AGAIN = "make it again with rcmd convert, or with rcmd.datasets.RowsWriter"

CHECK_BYTES = 2**20
"""Read at a time to compare checksums."""

Layout = Literal["sparse", "dense"]
NAMES: dict[Layout, tuple[str, ...]] = {
    "sparse": ("data", "indices", "indptr", "labels"),
    "dense": ("data", "labels"),
}
LOADED = ("indptr", "labels")
"""Those that are kept in memory."""


class Meta(NamedTuple):
    """What meta.json says; ``files`` gives bytes and CRC-32 by name."""

    layout: Layout
    rows: int
    features: int
    entries: int
    files: dict[str, dict[str, int]]

    def text(self) -> str:
        """The file, with a checksum of its own."""
        body = {"format": FORMAT, "version": VERSION, **self._asdict()}
        return json.dumps(body | {"crc32": _checksum(body)}, indent=1) + "\n"


def read_meta(folder: Path) -> Meta:
    """What ``folder`` holds, or a :class:`DataError` that says why it cannot be told."""
    try:
        text = (folder / META).read_text()
    except (FileNotFoundError, NotADirectoryError):
        what = f"has no {META}" if folder.is_dir() else "is not there, or is no folder"
        raise DataError(
            f"{folder} {what}; expected a folder made by rcmd convert or by RowsWriter"
        ) from None
    except (OSError, UnicodeDecodeError) as fault:
        raise DataError(f"{folder / META} cannot be read: {fault}") from fault
    try:
        body = json.loads(text)
    except json.JSONDecodeError:
        body = None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise DataError(f"{folder / META} is damaged, or not about rows; {AGAIN}")
    if body.get("version") != VERSION:
        raise DataError(
            f"{folder} is in version {body.get('version')} of its format, while this rcmd reads "
            f"version {VERSION}; update rcmd, or {AGAIN}"
        )
    if body.pop("crc32", None) != _checksum(body):
        raise DataError(f"{folder / META} was changed since it was written; {AGAIN}")
    return Meta(**{name: body[name] for name in Meta._fields})


def _checksum(body: dict[str, Any]) -> int:
    return zlib.crc32(json.dumps(body, sort_keys=True).encode())


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
    atoms for its corrections, twice that while it adds some; ``method="rcmd"`` keeps none.

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
    kept = {name: _checked(file, meta, name) for name, file in files.items()}
    rows: RowFiles
    if meta.layout == "dense":
        rows = DenseFiles(files["data"])
    else:
        rows = SparseFiles(files["data"], files["indices"], kept["indptr"], meta.features)
    return StoredData(DiskRows(rows), kept["labels"])


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


def _checked(file: ArrayFile, meta: Meta, name: str) -> Array:
    """Compare the checksum, a block at a time or, where the entries are to be kept, at once."""
    step = file.size if name in LOADED else CHECK_BYTES // file.dtype.itemsize
    found, block = 0, np.empty(0)
    for start in range(0, file.size, step):
        block = file.read(start, min(start + step, file.size))
        found = zlib.crc32(block.data, found)
    if found != meta.files[name]["crc32"]:
        raise DataError(f"{file.path} does not have its checksum: it is damaged; {AGAIN}")
    return block

"""The folder that holds rows and labels on disk: opened and checked but not loaded.

It is written a block at a time, and has its name only once it is whole.

meta.json says what the others are, with their lengths and CRC-32; data.npy, indices.npy and
indptr.npy are a CSR matrix by SciPy's names, data.npy alone is a dense one; labels.npy. Any
program that reads .npy files can read them.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rcmd.datasets.libsvm import MOST_FEATURES, LibsvmData, libsvm_parts, read_libsvm
from rcmd.rows.base import DenseRows
from rcmd.rows.disk import ArrayFile, DenseFiles, DiskRows, RowFiles, SparseFiles
from rcmd.rows.layouts import as_rows
from rcmd.rows.sparse import SparseRows
from rcmd.rows.validation import Array, FileError, as_array, checked_numbers, one_line, visible

FORMAT, VERSION = "rcmd rows", 1
META = "meta.json"
AGAIN = "make it again with rcmd convert, or with rcmd.datasets.RowsWriter"

CHECK_BYTES = 2**20
"""Read at a time to compare checksums."""

DTYPES: dict[str, tuple[Any, ...]] = {
    "data": (np.float32, np.float64),
    "indices": (np.int32,),
    "indptr": (np.int64,),
    "labels": (np.float64,),
}

Layout = Literal["sparse", "dense"]
NAMES: dict[Layout, tuple[str, ...]] = {
    "sparse": ("data", "indices", "indptr", "labels"),
    "dense": ("data", "labels"),
}


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
    """What ``folder`` holds, or a :class:`rcmd.FileError` that says why it cannot be told."""
    try:
        text = (folder / META).read_text()
    except (FileNotFoundError, NotADirectoryError):
        what = f"has no {META}" if folder.is_dir() else "is not there, or is no folder"
        raise FileError(
            f"{visible(folder)} {what}; expected a folder made by rcmd convert or by RowsWriter"
        ) from None
    except (OSError, ValueError) as fault:  # no name of a file, or no text
        raise FileError(f"{visible(folder / META)} cannot be read: {fault}") from fault
    try:
        body = json.loads(text)
    except json.JSONDecodeError:
        body = None
    if not isinstance(body, dict) or body.get("format") != FORMAT:
        raise FileError(f"{folder / META} is damaged, or not about rows; {AGAIN}")
    if body.get("version") != VERSION:
        raise FileError(
            f"{folder} is in version {one_line(body.get('version'))} of its format, while this "
            f"rcmd reads version {VERSION}; update rcmd, or {AGAIN}"
        )
    if body.pop("crc32", None) != _checksum(body):
        raise FileError(f"{folder / META} was changed since it was written; {AGAIN}")
    try:
        meta = Meta(*(body[name] for name in Meta._fields))
        files = [meta.files[name] for name in NAMES[meta.layout]]
        counts = [*meta[1:4], *(file[count] for file in files for count in ("bytes", "crc32"))]
        if all(type(count) is int and 0 <= count < 2**62 for count in counts):
            return meta
    except (LookupError, TypeError):
        pass
    raise FileError(f"{folder / META} does not say what the files hold; {AGAIN}")


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
    a damaged, shortened or newer folder raises :class:`rcmd.FileError`.

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
    labels = _checked(files["labels"], meta, "labels", _all_finite)
    _checked(files["data"], meta, "data", _all_finite)
    rows: RowFiles
    if meta.layout == "dense":
        rows = DenseFiles(files["data"])
    else:
        starts = _checked(files["indptr"], meta, "indptr", partial(_row_starts, meta))
        columns = _Columns(starts, meta.features)
        _checked(files["indices"], meta, "indices", columns)
        _refuse_wide(folder, meta.features, columns.widest)
        rows = SparseFiles(files["data"], files["indices"], starts, meta.features)
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
        file = ArrayFile(path)
        shapes = {"indptr": (meta.rows + 1,), "labels": (meta.rows,)}
        entries = (meta.rows, meta.features) if meta.layout == "dense" else (meta.entries,)
        if file.dtype not in DTYPES[name] or file.shape != shapes.get(name, entries):
            raise ValueError(f"{path} holds {file.dtype} of shape {file.shape}")
        return file
    except FileNotFoundError:
        raise FileError(f"{path} is missing; {AGAIN}") from None
    except OSError as fault:
        raise FileError(f"{path} cannot be read: {fault.strerror or fault}") from fault
    except ValueError as fault:
        raise FileError(f"{fault}: it is damaged; {AGAIN}") from None


def _checked(file: ArrayFile, meta: Meta, name: str, right: Callable[[int, Array], bool]) -> Array:
    """Compare the checksum, a block at a time or, where the entries are to be kept, at once.

    ``right`` is told where every block begins, and says whether kernels may see it.
    """
    step = file.size if name in ("indptr", "labels") else CHECK_BYTES // file.dtype.itemsize
    found, block, fine = 0, np.empty(0), True
    for start in range(0, file.size, max(step, 1)):
        block = file.read(start, min(start + step, file.size))
        found = zlib.crc32(block.data, found)
        fine = fine and right(start, block)
    if found != meta.files[name]["crc32"]:
        raise FileError(f"{file.path} does not have its checksum: it is damaged; {AGAIN}")
    if not fine:
        raise FileError(f"{file.path} holds what is no {name} of rows: it is damaged; {AGAIN}")
    return block


def _all_finite(start: int, block: Array) -> bool:
    return bool(np.isfinite(block).all())


def _row_starts(meta: Meta, _: int, starts: Array) -> bool:
    """Whether rows begin at 0, one behind the other, and end with the entries."""
    return bool(starts[0] == 0 and starts[-1] == meta.entries and (np.diff(starts) >= 0).all())


class _Columns:
    """Whether columns are below ``features`` and increase in every row, block after block."""

    def __init__(self, starts: Array, features: int) -> None:
        self._starts, self._features, self._last = starts, features, 0
        self.widest = 0

    def __call__(self, start: int, block: Array) -> bool:
        rises = np.diff(block, prepend=self._last) > 0
        first, last = np.searchsorted(self._starts, (start, start + len(block)))
        rises[self._starts[first:last] - start] = True  # a row begins with any column
        self._last = block[-1]
        self.widest = max(self.widest, int(block.max()) + 1)
        return bool(rises.all() and block.min() >= 0 and self.widest <= self._features)


def _refuse_wide(folder: Path, features: int, widest: int) -> None:
    """One wrong number must not ask for all of memory."""
    if features > max(MOST_FEATURES, widest):
        raise FileError(
            f"{folder} says that it has {features} features, while its entries need {widest}; "
            f"expected no more than they need, or than {MOST_FEATURES}"
        )


class RowsWriter:
    """Writes blocks of rows and labels into a new folder, which ``rcmd.datasets.open_rows`` opens.

    Use it in a ``with``: at its end the folder gets its name, all at once. Where the ``with`` is
    left by an exception, Ctrl-C included, nothing is left.

    Parameters
    ----------
    path
        The folder to make; it must not be there yet.
    features
        The number of columns; by default that of dense blocks, and the largest column that
        occurs in sparse ones.
    dtype
        ``numpy.float64``, or ``numpy.float32`` for two thirds of the space.
    """

    def __init__(
        self, path: str | os.PathLike[str], *, features: int | None = None, dtype: Any = np.float64
    ) -> None:
        self.path = Path(os.path.abspath(path))
        self.dtype = np.dtype(dtype)
        if self.dtype not in DTYPES["data"]:
            raise ValueError(f"dtype is {self.dtype}; expected float32 or float64")
        self.rows = self.entries = 0
        self.features = features
        self._widest = 0
        self._layout: Layout | None = None
        self._files: dict[str, _Growing] = {}

    def __enter__(self) -> RowsWriter:
        if self.path.exists():
            raise FileError(f"{self.path} is there already; remove it first, or choose a new name")
        if not self.path.parent.is_dir():
            raise FileError(f"{self.path} cannot be made: there is no folder {self.path.parent}")
        unique = f"{os.getpid()}-{time.time_ns()}"
        self._part = self.path.with_name(f".{self.path.name}.{unique}.part")
        with self._saying_why():
            self._part.mkdir()
        return self

    def append(self, X: Any, y: ArrayLike) -> None:
        """Write the rows of ``X``, sparse or dense as those before, and their labels."""
        labels = np.asarray(checked_numbers("y", as_array("y", y)), dtype=float)
        height = np.shape(X)[0]
        if labels.shape != (height,):
            raise ValueError(
                f"y has shape {labels.shape}; expected ({height},), one label for each row of X"
            )
        if not height:
            return
        rows = as_rows(X)
        if isinstance(rows, DenseRows):
            self._begin("dense", rows.p)
            self._put(data=self._narrowed(rows.array))
            self.entries += rows.array.size
        elif isinstance(rows, SparseRows):
            matrix = rows.matrix
            self._begin("sparse", int(matrix.indices.max(initial=-1)) + 1)
            ends = matrix.indptr[1:].astype(np.int64) + self.entries
            self._put(data=self._narrowed(matrix.data), indices=matrix.indices, indptr=ends)
            self.entries += matrix.nnz
        else:
            raise ValueError(f"X is {type(rows).__name__}; expected an array or a sparse matrix")
        self._put(labels=labels)
        self.rows += height

    def _begin(self, layout: Layout, width: int) -> None:
        """Refuse a block that does not fit the others; make the files before the first one."""
        if self._layout is None:
            self._layout = layout
            self._make_files(layout, width)
        if layout != self._layout:
            raise ValueError(f"X is {layout} after {self._layout} blocks; expected all of one kind")
        self._widest = max(self._widest, width)
        if layout == "dense" and width != self._files["data"].columns[0]:
            raise ValueError(f"X has {width} columns; expected {self._files['data'].columns[0]}")
        most = 2**31 - 1 if self.features is None else self.features  # indices have 32 bits
        if width > most:
            raise ValueError(f"X has an entry in column {width - 1}; expected columns below {most}")

    def _make_files(self, layout: Layout, width: int) -> None:
        if layout == "dense" and self.features is not None:
            width = self.features
        with self._saying_why():
            for name in NAMES[layout]:
                columns = (width,) if layout == "dense" and name == "data" else ()
                kind = self.dtype if name == "data" else DTYPES[name][0]
                self._files[name] = _Growing(self._part / f"{name}.npy", kind, columns)
        if layout == "sparse":
            self._put(indptr=np.zeros(1))

    def _put(self, **arrays: Array) -> None:
        with self._saying_why():
            for name, array in arrays.items():
                self._files[name].append(array)

    @contextmanager
    def _saying_why(self) -> Iterator[None]:
        try:
            yield
        except OSError as fault:
            reason = fault.strerror or fault
            raise FileError(f"{self.path} cannot be written: {reason}") from fault

    def _narrowed(self, values: Array) -> Array:
        with np.errstate(over="ignore"):
            narrow = values.astype(self.dtype, copy=False)
        if narrow is not values and not np.isfinite(narrow).all():
            raise ValueError(f"X holds {abs(values).max():.3g}, too large for {self.dtype}")
        return narrow

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._finish()
        finally:
            for growing in self._files.values():
                growing.file.close()
            shutil.rmtree(self._part, ignore_errors=True)

    def _finish(self) -> None:
        """Complete the headers, write meta.json, and give the folder its name."""
        if self._layout is None:
            raise FileError(f"no rows were written into {self.path}; expected at least one")
        features = self._widest if self.features is None else self.features
        if not features:
            raise FileError(f"{self.path} would have no column; expected at least one entry")
        _refuse_wide(self.path, features, self._widest)
        with self._saying_why():
            ends = {name: file.finish() for name, file in self._files.items()}
            meta = Meta(self._layout, self.rows, features, self.entries, ends)
            with open(self._part / META, "w") as file:
                file.write(meta.text())
                file.flush()
                os.fsync(file.fileno())
            os.rename(self._part, self.path)


class _Growing:
    """A .npy file whose first axis grows; its header is completed at the end."""

    def __init__(self, path: Path, dtype: Any, columns: tuple[int, ...]) -> None:
        self.file = open(path, "wb")  # noqa: SIM115 (closed by the writer)
        self._dtype, self.columns = np.dtype(dtype), columns
        self._length = self._crc = 0
        self._write_header()

    def append(self, array: Array) -> None:
        block = np.ascontiguousarray(array, dtype=self._dtype)
        self._crc = zlib.crc32(block.data, self._crc)
        self.file.write(block.data)
        self._length += len(block)

    def finish(self) -> dict[str, int]:
        """The file's length and checksum, once it is on the disk."""
        size = self.file.tell()
        self.file.seek(0)
        self._write_header()  # NumPy left room in it for the first axis to grow to any length
        self.file.flush()
        os.fsync(self.file.fileno())
        return {"bytes": size, "crc32": self._crc}

    def _write_header(self) -> None:
        descr = np.lib.format.dtype_to_descr(self._dtype)
        shape = (self._length, *self.columns)
        header = {"descr": descr, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self.file, header)


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
    ``numpy.float32``), a few megabytes of them in memory at a time. ``tell`` is given the progress.
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

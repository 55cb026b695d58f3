"""Tables with a column for each feature and one for the label: CSV, TSV, Parquet and NPY files.

The label is the last column unless another is named; it may be text, the features must be numbers.
"""

import csv
import math
import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rcmd.rows.matrix_files import is_number, read_numbers
from rcmd.rows.validation import Array, FileError, one_line, pip_install, visible

NAMED = 4
"""Features that a remark names."""


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Numbers whose columns have names: what ``Problem`` takes for a data frame."""

    columns: tuple[str, ...]
    numbers: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numbers.shape

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self.numbers, dtype)

    def __repr__(self) -> str:
        return visible(f"Table({len(self.numbers)} rows, columns {', '.join(self.columns)})")


class TableData(NamedTuple):
    """Features and labels, numbers or text, and a sentence on which column is what."""

    X: Table
    y: Array
    remark: str


def is_table(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a file says that it holds a table.

    >>> is_table("people.csv"), is_table("a9a.bz2")
    (True, False)
    """
    return Path(path).suffix.lower() in READERS


def read_table(path: str | os.PathLike[str], label: str | int | None = None) -> TableData:
    r"""Read a table, whose ``label`` is a column by its name or its number, from 1 on.

    Text files have a line for each sample; a first line that is not all numbers names the columns.
    Parquet files need pyarrow.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/people.csv", "w") as file:
    ...         _ = file.write("age,ill,weight\n50,yes,70\n20,no,80\n")
    ...     X, y, remark = read_table(f"{folder}/people.csv", label="ill")
    >>> X, y.tolist()
    (Table(2 rows, columns age, weight), ['yes', 'no'])
    """
    name = os.fspath(path)
    try:
        names, columns = READERS[Path(name).suffix.lower()](name)
    except OSError as fault:
        raise FileError(f"{name} cannot be read: {fault.strerror or fault}") from fault
    except (ValueError, EOFError, csv.Error) as fault:
        if isinstance(fault, FileError):
            raise
        raise FileError(f"{name} cannot be read as a table ({one_line(fault)})") from fault
    if len(names) < 2 or not len(columns[0]):
        raise FileError(
            f"{name} has {len(names)} column(s) and {len(columns[0]) if columns else 0} row(s); "
            "expected a column for each feature, one for the label, and a row for each sample"
        )
    at = _place(name, names, None if label is None else str(label))
    features = [i for i in range(len(names)) if i != at]
    X = np.stack([_as_numbers(name, names[i], columns[i]) for i in features], axis=1)
    kept = tuple(names[i] for i in features)
    shown = ", ".join(kept[:NAMED]) + ", …" * (len(kept) > NAMED)
    which = "the last column (--label NAME takes another)" if label is None else "as --label says"
    remark = (
        f"{Path(name).name}: {len(X):,} rows, {len(kept)} features ({shown}); the label is "
        f"{names[at]!r}, {which}"
    )
    return TableData(Table(kept, X), _numbers_or_text(columns[at]), remark)


def _place(file: str, names: list[str], label: str | None) -> int:
    if label is None:
        return len(names) - 1
    if label in names:
        return names.index(label)
    if label.isdecimal() and 1 <= int(label) <= len(names):
        return int(label) - 1
    raise FileError(
        f"{file} has no column {label!r}; expected --label to be one of {', '.join(names[:20])}"
        f"{', …' * (len(names) > 20)}, or a number from 1 to {len(names)}"
    )


def _text_table(name: str) -> tuple[list[str], list[Any]]:
    with open(name, encoding="utf-8-sig", newline="") as file:
        lines = [
            line
            for line in csv.reader(file, delimiter="\t" if name.endswith("tsv") else ",")
            if line
        ]
    if not lines:
        return [], []
    header = not all(is_number(word) for word in lines[0])
    words = lines[0] if header else [""] * len(lines[0])
    names = [word.strip() or f"x{i}" for i, word in enumerate(words, start=1)]
    rows = lines[header:]
    for place, row in enumerate(rows):
        if len(row) != len(names):
            raise FileError(
                f"{name}, row {place + 1} has {len(row)} entries; expected {len(names)}, as the "
                "first line"
            )
    return names, [list(column) for column in zip(*rows, strict=True)] or [[] for _ in names]


def _array_table(name: str) -> tuple[list[str], list[Any]]:
    array = read_numbers(name)
    return [f"x{i + 1}" for i in range(array.shape[1])], list(array.T)


def _parquet_table(name: str) -> tuple[list[str], list[Any]]:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise FileError(
            f"{name} is a Parquet file, which pyarrow reads: {pip_install('parquet')}, or save the "
            "table as CSV"
        ) from None
    table = parquet.read_table(name)
    names = list(table.column_names)
    return names, [table.column(one).to_numpy() for one in names]


READERS = {
    ".csv": _text_table, ".tsv": _text_table, ".npy": _array_table, ".parquet": _parquet_table,
}  # fmt: skip
"""By the ending of a file's name; others are LIBSVM's."""


def _as_numbers(file: str, name: str, column: Any) -> Array:
    try:
        numbers = np.asarray(column, dtype=float)
        if np.isfinite(numbers).all():
            return numbers
    except (TypeError, ValueError):
        pass
    odd = next(
        i for i, word in enumerate(column) if not (is_number(word) and math.isfinite(float(word)))
    )
    raise FileError(
        f"{file}, row {odd + 1} holds {column[odd]!r} in its column {name!r}; expected numbers: "
        "drop the column or the row, or encode it, with a column of 0 and 1 for each of its values"
    )


def _numbers_or_text(column: Any) -> Array:
    if all(map(is_number, column)):
        return np.asarray(column, dtype=float)
    return np.array([str(word) for word in column])

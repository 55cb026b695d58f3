"""Files of numbers: matrices, and some entries of a matrix."""

import os
from itertools import chain
from tokenize import TokenError
from typing import Any, NamedTuple

import numpy as np

from rcmd.rows.validation import Array, FileError


class Entries(NamedTuple):
    """Rows and columns, counted from 0, and values; what was done to the counts, if anything."""

    rows: Array
    columns: Array
    values: Array
    remark: str | None

    @property
    def shape(self) -> tuple[int, int]:
        """The smallest matrix that holds them all."""
        return int(self.rows.max()) + 1, int(self.columns.max()) + 1


def is_number(word: Any) -> bool:
    """Whether Python reads ``word`` as a number.

    >>> is_number("1e3"), is_number("a"), is_number(None)
    (True, False, False)
    """
    try:
        float(word)
    except (TypeError, ValueError):
        return False
    return True


def read_numbers(path: str | os.PathLike[str]) -> Array:
    """The numbers of a text file as a matrix, one row a line, or those of a .npy file.

    Numbers are separated by commas or by white space; what follows # is a comment. A vector
    in a .npy file is one column.
    """
    name = os.fspath(path)
    try:
        array = np.load(name, allow_pickle=False) if name.endswith(".npy") else _text(name)
    except OSError as fault:
        raise FileError(f"{name} cannot be read: {fault.strerror or fault}") from fault
    except (ValueError, EOFError, MemoryError, TokenError) as fault:  # a header may say anything
        reason = str(fault).partition("\n")[0].rstrip(".;")
        raise FileError(
            f"{name} cannot be read as numbers ({reason}); expected lines of "
            "numbers with commas or spaces between them and no header, or an .npy file"
        ) from fault
    if array.ndim not in (1, 2) or array.dtype.kind not in "biuf" or not array.size:
        raise FileError(
            f"{name} holds an array of shape {array.shape} and dtype {array.dtype}; expected a "
            "matrix or a vector of real numbers"
        )
    return np.asarray(array.reshape(len(array), -1), dtype=float)


def read_entries(path: str | os.PathLike[str]) -> Entries:
    """The lines ``row column value`` of a file; counts begin at 0, or at 1 if no 0 occurs."""
    name, table = os.fspath(path), read_numbers(path)
    if table.shape[1] != 3:
        raise FileError(
            f"{name} has {table.shape[1]} column(s); expected three: row, column, value"
        )
    places = table[:, :2]
    wrong = ~((places >= 0) & (places == np.floor(places)) & (places < 2**31)).all(axis=1)
    if wrong.any():
        first = int(wrong.argmax())
        raise FileError(
            f"{name}, entry {first + 1}: row {places[first, 0]:g}, column {places[first, 1]:g}; "
            "expected whole numbers from 0 or from 1 on"
        )
    rows, columns = places.astype(np.int64).T
    start = int(min(rows.min(), columns.min()) > 0)
    remark = f"rows and columns of {name} are counted from 1, as no 0 occurs" if start else None
    return Entries(rows - start, columns - start, table[:, 2], remark)


def _text(name: str) -> Array:
    with open(name, encoding="utf-8") as lines:
        first = next((line for line in lines if line.partition("#")[0].strip()), None)
        if first is None:
            raise ValueError("it holds no numbers")
        between = "," if "," in first else None
        return np.loadtxt(chain([first], lines), delimiter=between, ndmin=2)

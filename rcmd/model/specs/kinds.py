"""The kinds of words that parameters are: numbers, shapes, files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.model.user_code import load
from rcmd.oracles import base
from rcmd.rows.matrix_files import DataError, read_numbers

Array = npt.NDArray[Any]
Shape = tuple[int, int]


@dataclass(frozen=True)
class Waiting:
    """What can be made only when the number of variables is known.

    ``finish(p, shape)`` makes it; the shape is that of the matrix β, ``None`` for vectors.
    """

    finish: Callable[[int, Shape | None], Any]


@dataclass(frozen=True)
class Kind:
    """What a word may be: a function that reads it, and what it expects, for faults.

    ``shown`` stands for the word where specs are listed, instead of the parameter's name; one
    that ``takes_rest`` goes on over colons. A reader may return several arguments, in a dict.
    """

    reader: Callable[[str], Any]
    expected: str
    shown: str = ""
    takes_rest: bool = False

    def read(self, word: str, owner: str, name: str) -> Any:
        """What ``word`` stands for, the parameter ``name`` of ``owner``."""
        try:
            return self.reader(word)
        except Unread:
            raise ValueError(
                f"{owner} holds {word!r}; expected {self.expected} (its {name})"
            ) from None
        except DataError as fault:
            raise ValueError(f"{name} of {owner}: {fault}") from fault


class Unread(Exception):
    """The word is of another kind."""


def _number(word: str) -> float:
    if not _looks_like_a_number(word):
        raise Unread
    return float(word)


def _whole(word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise Unread from None


def _shape(word: str) -> Shape | Waiting:
    if word == "auto":
        return Waiting(_shape_of_data)
    sides = re.fullmatch(r"(\d+)[x×](\d+)", word)
    if sides is None:
        raise Unread
    return int(sides[1]), int(sides[2])


def _shape_of_data(p: int, shape: Shape | None) -> Shape:
    if shape is None:
        raise ValueError(
            f"SHAPE is auto, but the data are {p} features and not a matrix; expected a shape "
            "such as 50x40, or --rows entries"
        )
    return shape


def _matrix(word: str) -> Array:
    """The numbers of a file; a number in its place is no missing file."""
    if not Path(word).is_file() and _looks_like_a_number(word):
        raise Unread
    return read_numbers(word)


def _vector(word: str) -> Array:
    array = _matrix(word)
    if 1 not in array.shape:
        raise DataError(
            f"{word} holds {array.shape[0]} × {array.shape[1]} numbers; expected one column of them"
        )
    return array.ravel()


def _diagonal_or_matrix(word: str) -> Array:
    array = _matrix(word)
    return array.ravel() if 1 in array.shape else array


def _number_or_vector(word: str) -> float | Array:
    return float(word) if _looks_like_a_number(word) else _vector(word)


def _pairs(word: str) -> Array:
    array = _matrix(word)
    # What is not whole or no pair is left as it is, for the oracle to refuse.
    whole = np.isfinite(array).all() and (array == np.round(array)).all()
    return array.astype(int) if whole else array


def _groups(word: str) -> Any:
    if not _looks_like_a_number(word):
        return _labels(word)
    size = _whole(word)
    if size < 1:
        raise Unread
    return Waiting(lambda p, shape: np.arange(p) // size)


def _labels(word: str) -> list[str]:
    """One label per variable, between white space or commas."""
    if word.endswith(".npy"):
        return [str(label) for label in _vector(word)]
    try:
        text = Path(word).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as fault:
        reason = getattr(fault, "strerror", None) or fault
        raise DataError(f"{word} cannot be read: {reason}") from None
    return re.findall(r"[^\s,]+", text)


def _function(word: str) -> Any:
    if not re.fullmatch(r".+\.py:\w+", word):
        raise Unread
    function = load(word)
    if not callable(function):
        raise Unread

    def form(beta: Any) -> Any:
        try:
            return function(beta)
        except Exception as fault:  # the function is the user's, and so is the fault
            name = getattr(function, "__name__", "the function")
            raise ValueError(f"{name} raises {type(fault).__name__}: {fault}") from fault

    return form


def _looks_like_a_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


NUMBER = Kind(_number, "a number")
WHOLE = Kind(_whole, "a whole number")
SHAPE = Kind(_shape, "rows x columns, such as 50x40, or auto for those of the data")
VECTOR = Kind(_vector, "a file of numbers")
GROUPS = Kind(_groups, "a file with a label for each variable, or the size of all groups")

KINDS: dict[Any, Kind] = {
    int: WHOLE,
    tuple[int, int]: SHAPE,
    base.Vector: VECTOR,
    base.Matrix: Kind(_matrix, "a file of numbers"),
    base.DiagonalOrMatrix: Kind(_diagonal_or_matrix, "a file of numbers"),
    base.NumberOrVector: Kind(_number_or_vector, "a number or a file of numbers"),
    base.Pairs: Kind(_pairs, "a file of pairs"),
    base.Groups: GROUPS,
    Callable: Kind(_function, "a function of a Python file", "FILE.py:NAME", takes_rest=True),
}
"""What stands for a field, by its type; a number for all others."""

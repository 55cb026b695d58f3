"""LIBSVM text files, plain or compressed, read in blocks; labels -1 and +1 from theirs."""

import bz2
import gzip
import lzma
import math
import os
import re
import zlib
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import ArrayLike

from rcmd.rows.validation import Array, FileError, visible

_BLOCK = 1 << 20  # bytes of text parsed at a time; much larger blocks fall out of the cache
_LONGEST_LINE = 1 << 25  # bytes, some two million entries: no more is ever taken into memory
_OPENERS: dict[bytes, Any] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\0": lzma.open}
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_POWERS = np.array([float(10**k) for k in range(16)])

# Every byte as a small code: a digit is its own value, what separates tokens comes last.
_DOT, _MINUS, _PLUS, _EXPONENT, _ODD, _COLON, _SPACE, _FEED = range(10, 18)
_CODES = np.full(256, _ODD, np.uint8)
_CODES[list(b"0123456789.-+eE")] = [*range(10), _DOT, _MINUS, _PLUS, _EXPONENT, _EXPONENT]
_CODES[list(b": \t\r\v\f\n")] = [_COLON, *[_SPACE] * 5, _FEED]


MOST_FEATURES = 2**28
"""The largest index, unless more ``features`` are asked for: a vector of as many takes 2 GB."""


class LibsvmData(NamedTuple):
    """The ``csr_array`` X (float64, sorted int32 indices) and the labels y (float64)."""

    X: Any
    y: Array


def read_libsvm(path: str | os.PathLike[str], *, features: int | None = None) -> LibsvmData:
    r"""Read a LIBSVM text file; its first bytes, not its name, tell gzip, bzip2 and xz.

    A line is ``label index:value index:value ... # comment``. Indices count from 1, as in
    LIBSVM, and 0 is refused: shifting the columns of a file in which a 0 happens to occur
    would misalign it with a sibling in which none does. Indices may come in any order, but
    once per line; blank lines are skipped, zeros written out stay stored, ``qid:`` is refused.

    ``features`` is the number of columns of X; by default the largest index that occurs, which
    may be ``MOST_FEATURES``: one wrong digit must not ask for all of memory. A line may have 32 MB.
    Whatever makes the file unreadable or malformed raises :class:`rcmd.FileError`.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "two.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write("+1 1:0.5 3:2\n-1 2:1\n")
    ...     X, y = read_libsvm(path)
    >>> X.toarray(), y
    (array([[0.5, 0. , 2. ],
           [0. , 1. , 0. ]]), array([ 1., -1.]))
    """
    rows, labels, _ = zip(*libsvm_parts(path, features=features), strict=True)
    x = sp.vstack(rows, format="csr")
    x.resize(x.shape[0], x.indices.max(initial=-1) + 1 if features is None else features)
    return LibsvmData(x, np.concatenate(labels))


def map_labels(y: ArrayLike) -> tuple[Array, str | None]:
    """Return labels -1 and +1, and a sentence saying what was mapped if anything was.

    Examples
    --------
    >>> map_labels([1, 2, 2])
    (array([-1.,  1.,  1.]), 'labels 1 and 2 were mapped to -1 and +1 (the larger to +1)')
    """
    labels = np.asarray(y, np.float64)
    distinct = np.unique(labels)
    if distinct.size and np.all(np.abs(distinct) == 1):
        return labels, None
    shown = [repr(value).removesuffix(".0") for value in distinct[:4].tolist()]
    if distinct.size == 2 and np.all(np.isfinite(distinct)):
        mapped = f"labels {' and '.join(shown)} were mapped to -1 and +1 (the larger to +1)"
        return np.where(labels == distinct[1], 1.0, -1.0), mapped
    values = ", ".join(shown + ["..."] * (distinct.size > 4)) or "it is empty"
    wanted = "expected two finite ones: keep the rows of two classes only"
    raise ValueError(f"y has {distinct.size} distinct values ({values}); {wanted}")


class LibsvmPart(NamedTuple):
    """Some rows, and the share of the file read so far.

    They are ``MOST_FEATURES`` columns wide where no number was asked for.
    """

    X: Any
    y: Array
    share: float


def libsvm_parts(
    path: str | os.PathLike[str], *, features: int | None = None
) -> Generator[LibsvmPart, None, None]:
    """Yield a file in parts of some megabytes; options and errors are those of read_libsvm."""
    limit = MOST_FEATURES if features is None else features
    if not 0 <= limit < 2**31:
        raise ValueError(f"features is {limit}; expected an integer from 0 to {2**31 - 1}")
    name, line, found = os.fspath(path), 1, False
    with closing(_blocks(name)) as blocks:
        for block, share in blocks:
            if len(block) >= _LONGEST_LINE and not block.endswith(b"\n"):
                line += block.count(b"\n")
                raise FileError(
                    f"{name}, line {line}: has more than {_LONGEST_LINE >> 20} MB; expected lines "
                    "'label index:value ...', each a row"
                )
            text = re.sub(rb"#[^\n]*", b"", block) if b"#" in block else block
            try:
                x, y = _parse(b"\n" + text + b"\n", limit)
            except ValueError:
                raise _culprit(name, line, text, limit) from None
            line += block.count(b"\n")
            found = found or y.size > 0
            yield LibsvmPart(x, y, share)
    if not found:
        raise FileError(f"{name} holds no rows; expected lines 'label index:value ...'")


def _blocks(name: str) -> Generator[tuple[bytes, float], None, None]:
    """Yield blocks of whole lines and the share of the file read, itself reading ahead."""
    try:
        with open(name, "rb") as raw, ThreadPoolExecutor(1) as pool:
            head = raw.peek(6)
            stream = next((o(raw) for magic, o in _OPENERS.items() if head.startswith(magic)), raw)
            length = os.fstat(raw.fileno()).st_size if raw.seekable() else 0  # 0 for a pipe

            def read() -> tuple[bytes, float]:
                block = stream.read(_BLOCK) + stream.readline(_LONGEST_LINE)
                return block, raw.tell() / length if length else math.nan

            ahead = pool.submit(read)
            while (block := ahead.result())[0]:
                ahead = pool.submit(read)
                yield block
    except (OSError, ValueError, EOFError, zlib.error, lzma.LZMAError) as error:
        reason = getattr(error, "strerror", None) or error
        missing = isinstance(error, FileNotFoundError)
        way = "; expected the path of a LIBSVM file" if missing else ""
        raise FileError(f"{visible(name)} cannot be read: {reason}{way}") from error


def _parse(text: bytes, limit: int) -> tuple[Any, Array]:
    """Parse lines enclosed in line feeds all at once; ValueError when one is malformed."""
    code = _CODES[np.frombuffer(text, np.uint8)]
    edges = np.flatnonzero(np.diff(code < _COLON)) + 1
    start, stop = edges[::2], edges[1::2]
    # The first token of each line that has any, and the end.
    bounds = np.unique(np.searchsorted(start, np.flatnonzero(code == _FEED)))
    paired = np.ones(start.size, np.bool_)
    paired[bounds[:-1]] = False
    left, right = stop[paired][::2], start[paired][1::2]
    matched = left.size == right.size == np.count_nonzero(code == _COLON)
    joined = matched and np.all(code[left] == _COLON) and np.all(right == left + 1)
    if not joined or np.any(code == _ODD):
        raise ValueError("tokens that are no pairs, or bytes that occur in no number")
    numbers, natural = _numbers(text, code, start, stop)
    indices, values = numbers[paired].reshape(-1, 2).T
    within = indices.min(initial=1) >= 1 and indices.max(initial=0) <= limit
    if not (within and np.all(natural[paired][::2]) and np.all(np.isfinite(numbers))):
        raise ValueError("an index or a number out of range")
    indptr = (bounds - np.arange(bounds.size)) // 2
    arrays = values.copy(), (indices - 1).astype(np.int32), indptr.astype(np.int32)
    x = sp.csr_array(arrays, shape=(bounds.size - 1, limit))
    x.sort_indices()
    if not x.has_canonical_format:
        raise ValueError("an index that occurs twice")
    return x, numbers[bounds[:-1]]


def _numbers(text: bytes, code: Array, start: Array, stop: Array) -> tuple[Array, Array]:
    """Return the tokens as correctly rounded numbers, and which consist of digits only.

    Up to 15 digits make an integer that float64 holds, and its quotient by a power of ten
    is rounded once: all tokens of one shape (length, place of the dot) are one product of
    their digits with powers of ten. The others, with exponents or long, go to ``float``.
    """
    negative = code[start] == _MINUS
    signed = negative | (code[start] == _PLUS)
    code[start[signed]] = 0
    begin, width = start + signed, stop - start - signed
    dots = np.flatnonzero(code == _DOT)
    owner = np.searchsorted(start, dots, "right") - 1
    tail = np.zeros_like(width)  # characters from the dot on
    tail[owner] = stop[owner] - dots
    strange = np.flatnonzero((code > _DOT) & (code < _COLON))
    digits = width - (tail > 0)
    hard = (digits == 0) | (digits > 15)
    hard[np.searchsorted(start, strange, "right") - 1] = True
    hard[owner[1:][np.diff(owner) == 0]] = True  # two dots
    numbers = np.zeros(start.size)
    shape = np.where(hard, 0, 32 * width + tail).astype(np.uint16)
    for key in np.flatnonzero(np.bincount(shape)[1:]) + 1:
        chosen, (length, places) = np.flatnonzero(shape == key), divmod(int(key), 32)
        powers = _POWERS[: length - (places > 0)][::-1]
        powers = np.insert(powers, length - places, 0.0)[:length]  # 0 takes out the dot
        mantissa = sliding_window_view(code, length)[begin[chosen]] @ powers
        numbers[chosen] = mantissa / _POWERS[max(places - 1, 0)]
    numbers *= np.where(negative, -1.0, 1.0)
    ends = np.stack((start[hard], stop[hard]), axis=1).tolist()
    numbers[hard] = [float(text[first:last]) for first, last in ends]
    return numbers, ~(signed | hard | (tail > 0))


def _culprit(name: str, line: int, text: bytes, limit: int) -> FileError:
    """Name the first wrong token of a text whose first line has the number ``line``."""
    for number, row in enumerate(text.split(b"\n"), line):
        seen: set[int] = set()
        for place, token in enumerate(row.split()):
            index, colon, value = token.partition(b":") if place else (b"0", b":", token)
            if not re.fullmatch(rb"[!-~]+", token):
                expected = "text, but this is binary"
            elif index == b"qid":
                expected = "index:value, as ranking groups are not supported"
            elif not colon:
                expected = "index:value"
            elif place and not (index.isdigit() and len(index) < 16 and 0 < int(index) <= limit):
                expected = f"an index from 1 to {limit} before the colon, or features= for more"
            elif int(index) in seen:
                expected = "every index once per line"
            elif not (_NUMBER.fullmatch(value) and math.isfinite(float(value))):
                expected = "a finite number as the " + ("value" if place else "label")
            else:
                seen.add(int(index))
                continue
            found = ascii(token[:40].decode("latin-1"))
            return FileError(f"{name}, line {number}: found {found}; expected {expected}")
    return FileError(f"{name}, line {line} or below: expected lines 'label index:value ...'")

r"""The file format: a line that names it, sizes, a checksum, JSON, then the arrays as they are.

    rcmd checkpoint 1\n
    <20 digits: bytes after the checksum> <20 digits: bytes of the JSON>\n
    <64 hexadecimal digits: SHA-256 of the lines above and of all that follows>\n
    <JSON><array><array>…

The JSON ends with the dtype, the shape and the order of every array. Nothing in a file is ever
executed. All sizes are known in advance, so that a file cut short is told from a damaged one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.saving.faults import BadCheckpoint

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Kind:
    """A kind of file: its word, the format that this rcmd writes, who writes it, its fault."""

    word: str
    version: int
    writer: str
    fault: type[ValueError]

    @property
    def name(self) -> str:
        """What its first line begins with."""
        return f"rcmd {self.word}"


CHECKPOINT = Kind("checkpoint", 1, "solve(…, checkpoint=…)", BadCheckpoint)

ALIGNMENT = 64
"""Arrays are read to the beginning of a cache line, where kernels want them."""

_SIZES, _DIGEST = 42, 65


def packed(tree: Any, arrays: Sequence[Array], kind: Kind = CHECKPOINT) -> list[Any]:
    """The file as a list of buffers, those of the arrays without a copy where they have one."""
    plain = [_contiguous(array) for array in arrays]
    layout = [[a.dtype.str, list(a.shape), _order(a), not a.flags.writeable] for a in arrays]
    text = json.dumps([tree, layout], ensure_ascii=False, separators=(",", ":")).encode()
    body = [text, *(a.reshape(-1, order="A").view(np.uint8).data for a in plain if a.size)]
    length = sum(len(part) for part in body)
    head = f"{kind.name} {kind.version}\n{length:020d} {len(text):020d}\n".encode()
    return [head, _checksum(head, body).encode() + b"\n", *body]


def unpacked(path: Path, kind: Kind = CHECKPOINT) -> tuple[Any, list[Array]]:
    """The tree and the arrays of a file that is whole; else a sentence."""
    body, length = _read(path, kind)
    tree, layout = json.loads(bytes(body[:length]))
    arrays, position = [], length
    for dtype, shape, order, frozen in layout:
        array = _aligned(np.dtype(dtype), tuple(shape), order)
        array.reshape(-1, order="A").view(np.uint8)[:] = body[position : position + array.nbytes]
        array.setflags(write=not frozen)
        arrays.append(array)
        position += array.nbytes
    return tree, arrays


def _read(path: Path, kind: Kind) -> tuple[Array, int]:
    """All bytes behind the checksum, and how many of them are JSON."""
    with open(path, "rb") as file:
        first = file.readline(len(kind.name) + 11)
        version = _version(path, first, kind)
        if version != kind.version:
            raise kind.fault(
                f"{path} is a {kind.word} of format {version}, of a newer rcmd; expected format "
                f"{kind.version}, which this one reads: use the rcmd that wrote it. The file was "
                "left as it is"
            )
        sizes, digest = file.read(_SIZES), file.read(_DIGEST)
        try:
            length, text = (int(word) for word in sizes.decode().split())
        except ValueError:
            raise _damaged(path, kind, "its sizes cannot be read") from None
        body = np.fromfile(file, np.uint8)
    if len(digest) < _DIGEST or len(body) < length:
        raise _damaged(path, kind, "it is cut short: it ends before its last number")
    if len(body) > length or digest != _checksum(first + sizes, [body]).encode() + b"\n":
        raise _damaged(path, kind, "its contents do not have its checksum")
    return body, text


def _version(path: Path, first: bytes, kind: Kind) -> int:
    """The number in the first line."""
    words = first.decode("latin-1")
    number = words[len(kind.name) + 1 : -1]
    if not words.startswith(f"{kind.name} ") or not number.isdecimal():
        raise kind.fault(
            f"{path} is not a {kind.word} of rcmd; expected the name of a file that {kind.writer} "
            "wrote. The file was left as it is"
        )
    return int(number)


def _damaged(path: Path, kind: Kind, how: str) -> ValueError:
    return kind.fault(
        f"{path} is a damaged {kind.word}: {how}. Expected the whole file, as it was written: take "
        "a copy of it, or start anew under another name. The file was left as it is"
    )


def _checksum(head: bytes, body: Sequence[Any]) -> str:
    digest = hashlib.sha256(head)
    for part in body:
        digest.update(part)
    return digest.hexdigest()


def _contiguous(array: Array) -> Array:
    """In the order of C or of Fortran, whichever it has already."""
    return array if array.flags.forc else np.ascontiguousarray(array)


def _order(array: Array) -> str:
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"


def _aligned(dtype: np.dtype[Any], shape: tuple[int, ...], order: Any) -> Array:
    size = int(np.prod(shape)) * dtype.itemsize
    raw = np.empty(size + ALIGNMENT, np.uint8)
    skip = -raw.ctypes.data % ALIGNMENT
    return raw[skip : skip + size].view(dtype).reshape(shape, order=order)

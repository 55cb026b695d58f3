"""The folder that holds rows and labels on disk.

meta.json says what the others are, with their lengths and CRC-32; data.npy, indices.npy and
indptr.npy are a CSR matrix by SciPy's names, data.npy alone is a dense one; labels.npy. Any
program that reads .npy files can read them.
"""

from __future__ import annotations

import json
import zlib
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rcmd.datasets.faults import DataError

FORMAT, VERSION = "rcmd rows", 1
META = "meta.json"
AGAIN = "make it again with rcmd convert, or with rcmd.datasets.RowsWriter"

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

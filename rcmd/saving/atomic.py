"""Files that are always whole: what was there before, or all of the new."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def replace_file(path: Path, buffers: Iterable[Any]) -> None:
    """Write ``path`` through ``path.part`` in the same folder, which then takes its place.

    File and folder reach the disk before this returns. Whatever fails, ``path`` stays what it
    was and the part is removed.
    """
    part = part_of(path)
    try:
        with open(part, "wb", buffering=0) as file:
            for buffer in buffers:
                _write_all(file, memoryview(buffer))
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    _sync_folder(path.parent)


def part_of(path: Path) -> Path:
    """The name under which a file is written before it is whole."""
    return path.with_name(path.name + ".part")


def _write_all(file: Any, buffer: memoryview) -> None:
    """A raw file may take less than it is given, such as 2 GB at a time."""
    while len(buffer):
        buffer = buffer[file.write(buffer) :]


def _sync_folder(folder: Path) -> None:
    """Make the new name last, on systems that can; the file is there all the same."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

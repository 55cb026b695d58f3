"""Arrays in .npy files, read by position.

Nothing is mapped into memory. A map would count every page it touches as resident, 64 KB
around each row even where a row has 3 KB, and a file cut short under it would end the process;
a read costs the same, takes what it needs and fails with a sentence.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class ArrayFile:
    """A C-ordered array on disk; entries count through all its axes.

    Raises
    ------
    ValueError
        Where the file is no .npy file of numbers, or does not have the length that it says.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.path.abspath(path)
        with open(self.path, "rb") as file:
            version = np.lib.format.read_magic(file)
            read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                version, np.lib.format.read_array_header_2_0
            )
            self.shape, fortran, self.dtype = read(file)
            self._start = file.tell()
        if fortran or self.dtype.kind not in "iuf":
            raise ValueError(f"{self.path} is no C-ordered array of numbers")
        self.size = int(np.prod(self.shape, dtype=object))
        self.bytes = self._start + self.size * self.dtype.itemsize
        found = os.path.getsize(self.path)
        if found != self.bytes:
            raise ValueError(f"{self.path} has {found:,} bytes; expected {self.bytes:,}")
        self._descriptor = os.open(self.path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._descriptor)

    def __reduce__(self) -> Any:
        return ArrayFile, (self.path,)

    def read(self, start: int, stop: int) -> Array:
        """The entries from ``start`` up to ``stop``."""
        entries = np.empty(stop - start, dtype=self.dtype)
        self.fill(entries, start)
        return entries

    def fill(self, target: Array, start: int) -> None:
        """Read as many entries as ``target`` has, from ``start`` on."""
        if not target.size:
            return
        left = target.data.cast("B")
        place = self._start + start * self.dtype.itemsize
        while left:
            count = os.preadv(self._descriptor, [left], place)
            if count == 0:
                raise OSError(
                    f"{self.path} ends at byte {place:,}; expected {self.bytes:,} bytes, which it "
                    "had when it was opened: it was cut short since"
                )
            left, place = left[count:], place + count

    def mapped(self) -> Array:
        """The array, mapped into memory."""
        mapped: Array = np.load(self.path, mmap_mode="r")
        return mapped

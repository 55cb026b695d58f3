"""Rows on disk, read a block at a time: data larger than memory.

Files are read by position, and nothing is mapped into memory. A map would count every page it
touches as resident, 64 KB around each row even where a row has 3 KB, and a file cut short under
it would end the process; a read costs the same, takes what it needs and fails with a sentence.
"""

import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from tokenize import TokenError
from typing import Any, Self

import numpy as np

from rcmd.rows.atoms import Atom
from rcmd.rows.base import DenseRows, Rows
from rcmd.rows.sparse import SparseRows
from rcmd.rows.validation import Array, is_sparse, sp

BLOCK = 2**20
"""Entries read at a time, 8 to 12 MB; a longer row is a block of its own."""

HELD_ENTRIES = 4 * BLOCK
"""Entries of a batch that stay in memory from its prediction to its scattering."""

LARGEST_MAPPED = 2**31 - 1
"""Entries beyond which SciPy would copy the columns into longer integers."""

NOTHING_HELD: tuple[Array, list[Rows]] = (np.zeros(0, dtype=int), [])


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
            np.lib.format.read_magic(file)
            try:
                self.shape, fortran, self.dtype = np.lib.format.read_array_header_1_0(file)
            except TokenError as fault:  # NumPy's second attempt at a header, for Python 2
                raise ValueError(f"{self.path} has no header of an array ({fault})") from None
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

    def mapped(self) -> Any:
        """The array, mapped into memory."""
        return np.load(self.path, mmap_mode="r")


class SparseFiles:
    """CSR rows: values and columns on disk, the n + 1 offsets in memory."""

    def __init__(self, data: ArrayFile, indices: ArrayFile, indptr: Array, p: int) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.n, self.p = len(indptr) - 1, p

    def lengths(self, batch: Array) -> Array:
        """Stored entries of each of these rows."""
        return self.indptr[batch + 1] - self.indptr[batch]

    def block_end(self, start: int) -> int:
        """Where the block that begins with row ``start`` ends."""
        end = int(np.searchsorted(self.indptr, self.indptr[start] + BLOCK, side="right")) - 1
        return max(end, start + 1)

    def read(self, start: int, stop: int) -> SparseRows:
        """The rows from ``start`` up to ``stop``."""
        first, last = self.indptr[start], self.indptr[stop]
        entries = self.data.read(first, last), self.indices.read(first, last)
        return self._rows(*entries, self.indptr[start : stop + 1] - first)

    def gather(self, batch: Array) -> SparseRows:
        """Those rows, in that order."""
        ordered, back = _in_order(batch)
        offsets = np.concatenate([[0], np.cumsum(self.lengths(ordered))])
        data = np.empty(offsets[-1], dtype=self.data.dtype)
        indices = np.empty(offsets[-1], dtype=self.indices.dtype)
        for first, last in _runs(ordered):
            here, start = slice(offsets[first], offsets[last]), int(self.indptr[ordered[first]])
            self.data.fill(data[here], start)
            self.indices.fill(indices[here], start)
        rows = self._rows(data, indices, offsets)
        return rows if len(batch) == 1 else SparseRows(rows.matrix[back])

    def mapped(self) -> SparseRows:
        """All rows, mapped into memory."""
        if self.data.size > LARGEST_MAPPED:
            raise ValueError(
                f"{self.data.path} holds {self.data.size:,} entries; expected at most "
                f"{LARGEST_MAPPED:,} to be mapped as one SciPy matrix: use the rows as they are"
            )
        return self._rows(self.data.mapped(), self.indices.mapped(), self.indptr)

    def _rows(self, data: Array, indices: Array, indptr: Array) -> SparseRows:
        offsets = indptr.astype(indices.dtype)  # else SciPy would copy the columns to match
        matrix = sp.csr_array((data, indices, offsets), shape=(len(indptr) - 1, self.p))
        matrix.has_canonical_format = True  # as it was written
        return SparseRows(matrix)


class DenseFiles:
    """An n × p array on disk, with the methods of ``SparseFiles``."""

    def __init__(self, data: ArrayFile) -> None:
        self.data = data
        self.n, self.p = data.shape

    def lengths(self, batch: Array) -> Array:
        return np.full(len(batch), self.p)

    def block_end(self, start: int) -> int:
        return min(start + max(BLOCK // self.p, 1), self.n)

    def read(self, start: int, stop: int) -> DenseRows:
        return DenseRows(self.data.read(start * self.p, stop * self.p).reshape(-1, self.p))

    def gather(self, batch: Array) -> DenseRows:
        ordered, back = _in_order(batch)
        array = np.empty((len(batch), self.p), dtype=self.data.dtype)
        for first, last in _runs(ordered):
            self.data.fill(array[first:last], int(ordered[first]) * self.p)
        return DenseRows(array[back])

    def mapped(self) -> DenseRows:
        return DenseRows(self.data.mapped())


RowFiles = SparseFiles | DenseFiles


def _in_order(batch: Array) -> tuple[Array, Array]:
    """The batch sorted, and where its rows are then."""
    order = np.argsort(batch, kind="stable")
    return batch[order], np.argsort(order)


def _runs(ordered: Array) -> Iterator[tuple[int, int]]:
    """Beginnings and ends of rows that follow each other on disk, among sorted ones."""
    breaks = np.flatnonzero(np.diff(ordered) != 1) + 1
    return pairwise([0, *breaks.tolist(), len(ordered)])


class DiskRows(Rows):
    """The rows of files, of which only a block or a batch is ever in memory.

    Every block is handed to the layout that it would have in memory, and the next one is read
    meanwhile. The files must not change while they are in use. Another process gets their
    names, not their data.

    Parameters
    ----------
    files
        ``SparseFiles`` or ``DenseFiles``; ``rcmd.datasets.open_rows`` makes them.
    """

    number_type = np.dtype(float)
    most_predictions = 2**25

    def __init__(self, files: RowFiles) -> None:
        self.files = files
        self.n, self.p = files.n, files.p
        self._changes: tuple[Callable[[Rows], Rows], ...] = ()
        self._held = NOTHING_HELD

    def changed(self, change: Callable[[Rows], Rows], p: int) -> Self:
        """The same files, every block changed into one of p columns as it is read."""
        other = type(self)(self.files)
        other.p, other._changes = p, (*self._changes, change)
        return other

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p)."""
        return self.n, self.p

    def mapped(self) -> Any:
        """X as a SciPy matrix or an array that is mapped into memory, not read.

        For data that memory holds: the compiled engine takes it as it is, and processes share
        it. What is touched stays resident until the system needs the room.
        """
        return self._change(self.files.mapped()).as_matrix()

    as_matrix = mapped

    def predict(self, batch: Array, atom: Atom) -> Array:
        every: Any = slice(None)
        return np.concatenate([rows.predict(every, atom) for rows in self._batch(batch)])

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        every: Any = slice(None)
        first = 0
        for rows in self._batch(batch):
            rows.scatter(every, coefficients[first : first + rows.n], total)
            first += rows.n

    def predict_at(self, atoms: Sequence[Atom]) -> Any:
        parts = [block.predict_at(atoms) for _, block in self._blocks()]
        sparse = all(is_sparse(part) for part in parts)
        return sp.csr_array(sp.vstack(parts, format="csr")) if sparse else np.concatenate(parts)

    def matvec(self, beta: Array) -> Array:
        return self._by_row(lambda block: block.matvec(beta))

    def rmatvec(self, w: Array) -> Array:
        total = np.zeros(self.p)
        for rows, block in self._blocks():
            total += block.rmatvec(w[rows])
        return total

    def square_norms(self) -> Array:
        return self._by_row(lambda block: block.square_norms())

    def entry_range(self) -> tuple[Array, Array]:
        low, high = self._by_row(lambda block: block.entry_range(), 2)
        return low, high

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        low, high = self._by_row(lambda block: block.box_range(lower, upper), 2)
        return low, high

    def reduce(self, function: Callable[[Array, Array], Array]) -> Array:
        return self._by_row(lambda block: block.reduce(function))

    def row(self, j: int) -> Array:
        return self._change(self.files.gather(np.array([j]))).row(0)

    def _by_row(self, function: Callable[[Rows], Any], *several: int) -> Array:
        """``function`` of every block: one number for each row, or several of them."""
        numbers = np.empty((*several, self.n))
        for rows, block in self._blocks():
            numbers[..., rows] = function(block)
        return numbers

    def _blocks(self) -> Iterator[tuple[slice, Rows]]:
        """All rows in order; the next block is read while one is in use."""
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(1) as pool:
            start, stop = 0, self.files.block_end(0)
            ahead = pool.submit(self.files.read, start, stop)
            while start < self.n:
                rows, block = slice(start, stop), ahead.result()
                start = stop
                if start < self.n:
                    stop = self.files.block_end(start)
                    ahead = pool.submit(self.files.read, start, stop)
                yield rows, self._change(block)

    def _batch(self, batch: Array) -> Iterator[Rows]:
        """The rows of a batch in portions; one that is not too long is read once."""
        known, portions = self._held
        if portions and np.array_equal(known, batch):
            yield from portions
            return
        self._held = NOTHING_HELD
        ends = np.cumsum(self.files.lengths(batch))
        kept: list[Rows] = []
        for part in np.split(batch, np.flatnonzero(np.diff(ends // BLOCK)) + 1):
            rows = self._change(self.files.gather(part))
            if ends[-1] <= HELD_ENTRIES:
                kept.append(rows)
            yield rows
        self._held = batch.copy(), kept

    def _change(self, rows: Rows) -> Rows:
        for change in self._changes:
            rows = change(rows)
        return rows

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_held": NOTHING_HELD}

    def __repr__(self) -> str:
        return f"DiskRows(n={self.n}, p={self.p})"

"""Rows on disk, read a block at a time: data larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.rows.atoms import Atom
from rcmd.rows.base import Array, Rows
from rcmd.rows.files import BLOCK, RowFiles

HELD_ENTRIES = 4 * BLOCK
"""Entries of a batch that stay in memory from its prediction to its scattering."""

NOTHING_HELD: tuple[Array, list[Rows]] = (np.zeros(0, dtype=int), [])


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

    def changed(self, change: Callable[[Rows], Rows], p: int) -> DiskRows:
        """The same files, every block changed into one of p columns as it is read."""
        other = DiskRows(self.files)
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
        sparse = all(sp.issparse(part) for part in parts)
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

    def as_matrix(self) -> Any:
        return self.mapped()

    def _by_row(self, function: Callable[[Rows], Any], *several: int) -> Array:
        """``function`` of every block: one number for each row, or several of them."""
        numbers = np.empty((*several, self.n))
        for rows, block in self._blocks():
            numbers[..., rows] = function(block)
        return numbers

    def _blocks(self) -> Iterator[tuple[slice, Rows]]:
        """All rows in order; the next block is read while one is in use."""
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

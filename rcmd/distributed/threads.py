"""Ranks that are threads of one process: a rehearsal without MPI."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from rcmd.rows.processes import Array, Group

T = TypeVar("T")


def rehearse(size: int, work: Callable[[Group], T]) -> list[T]:
    """``work(group)`` on ``size`` threads that are the ranks of one group; what each returned.

    An exception on one rank ends the others, as it would with MPI, and is raised here.

    Examples
    --------
    >>> rehearse(3, lambda group: int(group.sum(np.array([group.rank]))[0]))
    [3, 3, 3]
    """
    table = _Table(size)
    answers: list[Any] = [None] * size
    faults: list[tuple[int, BaseException]] = []

    def run(rank: int) -> None:
        try:
            answers[rank] = work(ThreadGroup(rank, table))
        except threading.BrokenBarrierError:  # another rank failed, and says why
            pass
        except BaseException as error:
            faults.append((rank, error))
            table.barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise min(faults, key=lambda fault: fault[0])[1]
    return answers


class _Table:
    """Where the threads lay down what they say, a place for each rank."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.places: list[Any] = [None] * size
        self.barrier = threading.Barrier(size)


class ThreadGroup:
    """One thread's view of the group."""

    def __init__(self, rank: int, table: _Table) -> None:
        self.rank, self.size = rank, table.size
        self._table = table

    def sum(self, array: Array) -> Array:
        return reduce(np.add, self._exchange(array))

    def largest(self, array: Array) -> Array:
        return reduce(np.maximum, self._exchange(array))

    def gather(self, array: Array, lengths: Array | None = None) -> list[Array]:
        return self._exchange(array)

    def broadcast(self, array: Array) -> Array:
        array[:] = self._exchange(array)[0]
        return array

    def collect(self, array: Array) -> list[Array] | None:
        parts = self._exchange(array)
        return parts if self.rank == 0 else None

    def abort(self, sentence: str, status: int) -> None:
        self._table.barrier.abort()

    def _exchange(self, word: Any) -> list[Any]:
        """What every rank lays down; copies, as all go on at once."""
        self._table.places[self.rank] = word
        self._table.barrier.wait()
        words = [w.copy() if isinstance(w, np.ndarray) else w for w in self._table.places]
        self._table.barrier.wait()
        return words

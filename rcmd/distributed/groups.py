"""The groups of ranks: all processes that ``mpirun`` started, or threads as a rehearsal."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import Any, TypeVar

import numpy as np

from rcmd.reporting.progress import launched_ranks
from rcmd.rows.processes import Group
from rcmd.rows.validation import Array, pip_install

T = TypeVar("T")

NAP = 2e-5
"""Seconds that a waiting rank sleeps at a time."""

CROWDED, ROOMY = 2e-5, 1e-3
"""Seconds of polling before it sleeps, with more ranks on this machine than cores, and without."""

LAST_WORDS = 0.5
"""Seconds in which the launcher may pass on why a rank aborts: with the rank it drops the rest."""


def world() -> MpiGroup:
    """The group of all processes."""
    started = launched_ranks()
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as fault:  # no package, or no MPI library under it
        raise ImportError(
            f"mpirun started {started} processes, and mpi4py cannot be imported ({fault}); "
            f"expected it: {pip_install('mpi')}, and an MPI library"
        ) from None
    group = MpiGroup(MPI)
    if group.size != started and started > 1:
        raise ImportError(
            f"mpirun started {started} processes while mpi4py sees {group.size}; expected both to "
            "be of one MPI: use the mpirun of the library that mpi4py loads"
        )
    return group


class MpiGroup(Group):
    """MPI's world, by the methods of ``Group``.

    MPI waits by polling, which on a machine with fewer cores than ranks keeps the awaited ones
    from working. Here a rank polls for ``patience`` seconds and then sleeps in between.
    """

    def __init__(self, MPI: Any) -> None:
        self._mpi, self._comm = MPI, MPI.COMM_WORLD
        self.rank, self.size = self._comm.Get_rank(), self._comm.Get_size()
        here = self._comm.Split_type(MPI.COMM_TYPE_SHARED)
        self.patience = CROWDED if here.Get_size() > (os.cpu_count() or 1) else ROOMY
        here.Free()

    def sum(self, array: Array) -> Array:
        return self._reduce(array, self._mpi.SUM)

    def largest(self, array: Array) -> Array:
        return self._reduce(array, self._mpi.MAX)

    def gather(self, array: Array, lengths: Array | None = None) -> list[Array]:
        lengths = self._lengths(array) if lengths is None else lengths
        return self._joined(self._comm.Iallgatherv, array, lengths, lengths.sum())

    def broadcast(self, array: Array) -> Array:
        self._finish(self._comm.Ibcast(array))
        return array

    def collect(self, array: Array) -> list[Array] | None:
        lengths, first = self._lengths(array), self.rank == 0
        parts = self._joined(self._comm.Igatherv, array, lengths, lengths.sum() if first else 0)
        return parts if first else None

    def abort(self, sentence: str, status: int) -> None:
        print(f"rcmd: rank {self.rank}: {sentence}", file=sys.stderr, flush=True)
        time.sleep(LAST_WORDS)
        self._comm.Abort(status)

    def _lengths(self, array: Array) -> Array:
        lengths = np.empty(self.size, np.int64)
        self._finish(self._comm.Iallgather(np.array([len(array)]), lengths))
        return lengths

    def _joined(self, ask: Any, array: Array, lengths: Array, room: int) -> list[Array]:
        out = np.empty(room, array.dtype)
        self._finish(ask(np.ascontiguousarray(array), (out, lengths)))
        return np.split(out, lengths.cumsum()[:-1])

    def _reduce(self, array: Array, operation: Any) -> Array:
        out = np.empty_like(array)
        self._finish(self._comm.Iallreduce(np.ascontiguousarray(array), out, operation))
        return out

    def _finish(self, request: Any) -> None:
        if request.Test():
            return
        asleep_from = time.perf_counter() + self.patience
        while not request.Test():
            if time.perf_counter() > asleep_from:
                time.sleep(NAP)


def rehearse(size: int, work: Callable[[Group], T]) -> list[T]:
    """``work(group)`` on ``size`` threads that are the ranks of one group; what each returned.

    An exception on one rank ends the others, as it would with MPI, and is raised here.

    Examples
    --------
    >>> rehearse(3, lambda group: int(group.sum(np.array([group.rank]))[0]))
    [3, 3, 3]
    """
    places: list[Any] = [None] * size
    barrier = threading.Barrier(size)

    def run(rank: int) -> T:
        try:
            return work(ThreadGroup(rank, places, barrier))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(run, rank) for rank in range(size)]
    # A broken barrier says that another rank failed, which says why.
    broken = threading.BrokenBarrierError
    return [f.result() for f in sorted(futures, key=lambda f: isinstance(f.exception(), broken))]


class ThreadGroup(Group):
    """One thread's view of the group; what the ranks say has a place for each of them."""

    def __init__(self, rank: int, places: list[Any], barrier: threading.Barrier) -> None:
        self.rank, self.size = rank, len(places)
        self._places, self._barrier = places, barrier

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
        self._barrier.abort()

    def _exchange(self, array: Array) -> list[Array]:
        """What every rank says; copies, as all go on at once."""
        self._places[self.rank] = array
        self._barrier.wait()
        arrays = [place.copy() for place in self._places]
        self._barrier.wait()
        return arrays

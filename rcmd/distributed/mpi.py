"""The group of all processes that ``mpirun`` started."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import numpy as np

from rcmd.reporting.process import launched_ranks
from rcmd.rows.processes import Array
from rcmd.rows.validation import pip_install

NAP = 2e-5
"""Seconds that a waiting rank sleeps at a time."""

CROWDED, ROOMY = 2e-5, 1e-3
"""Seconds that it asks before, with more ranks on this machine than cores, and without."""


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


class MpiGroup:
    """MPI's world, by the methods of ``Group``.

    MPI waits by asking over and over, which on a machine with fewer cores than ranks keeps the
    awaited ones from working. Here a rank asks for ``patience`` seconds and then sleeps between
    its questions.
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
        out = np.empty(lengths.sum(), array.dtype)
        self._finish(self._comm.Iallgatherv(np.ascontiguousarray(array), (out, lengths)))
        return np.split(out, lengths.cumsum()[:-1])

    def broadcast(self, array: Array) -> Array:
        self._finish(self._comm.Ibcast(array))
        return array

    def collect(self, array: Array) -> list[Array] | None:
        lengths = self._lengths(array)
        out = np.empty(lengths.sum() if self.rank == 0 else 0, array.dtype)
        self._finish(self._comm.Igatherv(np.ascontiguousarray(array), (out, lengths)))
        return np.split(out, lengths.cumsum()[:-1]) if self.rank == 0 else None

    def abort(self, sentence: str, status: int) -> None:
        print(f"rcmd: rank {self.rank}: {sentence}", file=sys.stderr, flush=True)
        self._comm.Abort(status)

    def _lengths(self, array: Array) -> Array:
        lengths = np.empty(self.size, np.int64)
        self._finish(self._comm.Iallgather(np.array([len(array)]), lengths))
        return lengths

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

"""This process: how many of it were launched, on how many threads it runs, how it exits."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from importlib import import_module

from rcmd.solver.history import StopReason
from rcmd.solver.result import Result

EXIT_BUDGET, EXIT_BAD_INPUT, EXIT_INTERRUPTED = 1, 2, 130

SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE")
"""Where launchers say how many processes they started: Open MPI, MPICH and Intel, MVAPICH."""


def exit_status(result: Result) -> int:
    """0 where the tolerance was reached, 1 where a budget ended first, 130 after Ctrl-C."""
    if result.stop is StopReason.INTERRUPTED:
        return EXIT_INTERRUPTED
    return 0 if result.success else EXIT_BUDGET


def launched_ranks(environment: Mapping[str, str] = os.environ) -> int:
    """How many processes a launcher such as ``mpirun`` started; 1 without one.

    Examples
    --------
    >>> launched_ranks({"PMI_SIZE": "4"}), launched_ranks({})
    (4, 1)
    """
    return max(int(environment.get(name, "1")) for name in SIZES)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Hold the linear algebra of all packages, and numba's loops, to one thread."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):
            stack.enter_context(import_module("threadpoolctl").threadpool_limits(1))
        try:
            yield
        finally:
            numba.set_num_threads(before)

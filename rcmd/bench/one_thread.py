"""Comparisons on one core."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rcmd.bench.peers import NotInstalled, imported


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Hold the linear algebra of all packages, and numba's loops, to one thread."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(NotInstalled):
            limits = imported("threadpoolctl", "threadpoolctl").threadpool_limits
            stack.enter_context(limits(1))
        try:
            yield
        finally:
            numba.set_num_threads(before)

"""A time limit for a block of code."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator


class TooSlow(BaseException):
    """Not an ``Exception``, so that no handler inside the code on trial swallows it."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise ``TooSlow`` in a block that takes longer, between two steps of the interpreter.

    Only in the main thread, and where the system has an alarm clock; else there is no limit.
    """
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(*_: object) -> None:
        raise TooSlow

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

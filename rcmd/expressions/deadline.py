"""A time limit for computer algebra, without threads, signals or processes."""

from __future__ import annotations

import inspect
import sys
import threading
import time
from types import TracebackType
from typing import Any


class OutOfTime(BaseException):
    """Not an ``Exception``, so that no handler inside the library on trial swallows it."""

    def __init__(self, level: int) -> None:
        self.level = level


class _Ends(threading.local):
    """When each open deadline of this thread ends, by both clocks, the outermost first."""

    def __init__(self) -> None:
        self.times: list[tuple[float, float]] = []


_ENDS = _Ends()


class deadline:
    """Leave a block quietly after some seconds of computing; what it did not set stays unset.

    The clock is read at every call of a Python function, through the interpreter's profiling
    hook. It counts the thread's own computing, so that a busy machine changes no answer. Where
    a profiler of someone else is running, the block runs to its end. Deadlines may be nested.

    Examples
    --------
    >>> def forever():
    ...     while len([step() for step in [lambda: 0]]):
    ...         pass
    >>> with deadline(0.01):
    ...     forever()
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.level = -1

    def __enter__(self) -> None:
        if sys.getprofile() in (None, _watch):
            self.level = len(_ENDS.times)
            _ENDS.times.append(
                (time.perf_counter() + self.seconds, time.thread_time() + self.seconds)
            )
            sys.setprofile(_watch)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> bool:
        if self.level < 0:
            return False
        # An exception raised by the hook has removed it.
        sys.setprofile(None)
        del _ENDS.times[self.level :]
        if _ENDS.times:
            sys.setprofile(_watch)
        return isinstance(error, OutOfTime) and error.level == self.level


_EXIT = deadline.__exit__.__code__


def _watch(frame: Any, event: str, _argument: Any) -> None:
    code = frame.f_code
    # Not inside a generator: one that is being thrown away cannot pass the signal on.
    if event != "call" or code is _EXIT or code.co_flags & inspect.CO_GENERATOR:
        return
    now = time.perf_counter()
    for level, (end, computed) in enumerate(_ENDS.times):
        if now > end and time.thread_time() > computed:
            raise OutOfTime(level)

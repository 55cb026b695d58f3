"""Long pieces of work that end early where the run they belong to is to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Cancelled(Exception):
    """The work was given up; nobody but the run that asked for it sees this."""


_asked: ContextVar[Callable[[], bool] | None] = ContextVar("asked", default=None)


@contextmanager
def cancellable(asked: Callable[[], bool]) -> Iterator[None]:
    """Within it, in this thread, ``check_cancelled`` raises once ``asked()`` is true."""
    token = _asked.set(asked)
    try:
        yield
    finally:
        _asked.reset(token)


def check_cancelled() -> None:
    """Raise ``Cancelled`` where the run is to end; long work calls it every few milliseconds.

    Examples
    --------
    >>> check_cancelled()  # nobody asks
    >>> with cancellable(lambda: True):
    ...     check_cancelled()
    Traceback (most recent call last):
    rcmd.rows.cancellation.Cancelled
    """
    asked = _asked.get()
    if asked is not None and asked():
        raise Cancelled

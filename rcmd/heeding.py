"""Long pieces of work that end early where the run they belong to is to end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class Halted(Exception):
    """The work was given up; nobody but the run that asked for it sees this."""


_asked: ContextVar[Callable[[], bool] | None] = ContextVar("asked", default=None)


@contextmanager
def heeding(asked: Callable[[], bool]) -> Iterator[None]:
    """Within it, in this thread, ``heed`` raises once ``asked()`` is true."""
    token = _asked.set(asked)
    try:
        yield
    finally:
        _asked.reset(token)


def heed() -> None:
    """Raise ``Halted`` where the run is to end; long work calls it every few milliseconds.

    Examples
    --------
    >>> heed()  # nobody asks
    >>> with heeding(lambda: True):
    ...     heed()
    Traceback (most recent call last):
    rcmd.heeding.Halted
    """
    asked = _asked.get()
    if asked is not None and asked():
        raise Halted

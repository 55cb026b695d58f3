"""Ranks that share the work, and work that ends early: by an error on one rank, or cancelled.

Every method of a group is *collective*: all ranks call it, in the same order. Sums and maxima are
the same to the last bit on every rank.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from rcmd.rows.validation import Array

BAD_INPUT = 2
"""The exit status of a rank that ends all others."""

FIRST_PART = 256
"""Bytes of the first message: how many there are, in 8 of them, and those that fit."""


class Group:
    """Ranks 0, …, size − 1, processes with a share of the rows each; here, one rank alone."""

    rank: int = 0
    size: int = 1

    def sum(self, array: Array) -> Array:
        """The sum of everyone's arrays."""
        return array.copy()

    def largest(self, array: Array) -> Array:
        """The largest of everyone's entries, place by place."""
        return array.copy()

    def gather(self, array: Array, lengths: Array | None = None) -> list[Array]:
        """Everyone's vectors in order of the ranks; one message less where lengths are known."""
        return [array]

    def broadcast(self, array: Array) -> Array:
        """Rank 0's array, copied into everyone's, which has the same shape."""
        return array

    def collect(self, array: Array) -> list[Array] | None:
        """Everyone's vectors on rank 0; ``None`` on the others."""
        return [array]

    def abort(self, sentence: str, status: int) -> None:
        """End every rank with this exit status; the sentence says why."""


class Alone(Group):
    """The group of one rank: what runs on many runs on one.

    Examples
    --------
    >>> float(Alone().sum(np.ones(3)).sum()), Alone().gather(np.arange(2))
    (3.0, [array([0, 1])])
    """


class SharedError(ValueError):
    """An error that every rank raises at the same place: none is left waiting for the others."""


@contextmanager
def shared_errors(group: Group) -> Iterator[None]:
    """Local work without communication; if a rank fails, all raise the lowest one's error.

    Whatever fails: a class of the user's may raise anything, on one rank alone.
    """
    if group.size == 1:
        yield
        return
    fault = ""
    try:
        yield
    except BaseException as error:
        fault = _sentence(error)
    parts = group.gather(np.frombuffer(fault.encode(), np.uint8))
    faults = [part.tobytes().decode() for part in parts]
    failed = next((rank for rank, words in enumerate(faults) if words), None)
    if failed is not None:
        whose = "" if len(set(faults)) == 1 else f"rank {failed}: "
        raise SharedError(whose + faults[failed])


class abort_on_error:
    """Work that communicates: an error on one rank ends all, which would wait for it otherwise."""

    def __init__(self, group: Group) -> None:
        self._group = group

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        # SystemExit too: the others wait for a rank that leaves
        if error is not None and not isinstance(error, SharedError):
            self._group.abort(_sentence(error), BAD_INPUT)


def _sentence(error: BaseException) -> str:
    """What an error says; of one that is no refusal, which may say little, also its kind."""
    kind, said = type(error).__name__, str(error)
    return said if said and isinstance(error, ValueError | TypeError) else f"{kind}: {said}"


def refuse_differences(group: Group, own: dict[str, str], what: str) -> None:
    """Refuse what is not the same on all ranks: hashes of one length, by their names."""
    parts = group.gather(np.frombuffer("".join(own.values()).encode(), np.uint8))
    hashes = [np.split(part, len(own)) for part in parts]
    for name, each in zip(own, zip(*hashes, strict=True), strict=True):
        if any((other != each[0]).any() for other in each):
            raise SharedError(
                f"{name} of the {what} is not the same on all ranks; expected one program with "
                "the same values everywhere, and only rows of each rank's own"
            )


def same_bytes(group: Group, data: bytes) -> bytes:
    """What rank 0 has, on every rank; a few bytes in one message."""
    first = np.zeros(FIRST_PART, np.uint8)
    if group.rank == 0:
        begin = len(data).to_bytes(8, "little") + data[: FIRST_PART - 8]
        first[: len(begin)] = np.frombuffer(begin, np.uint8)
    received = group.broadcast(first).tobytes()
    length = int.from_bytes(received[:8], "little")
    if length <= FIRST_PART - 8:
        return received[8 : 8 + length]
    whole = np.frombuffer(data, np.uint8).copy() if group.rank == 0 else np.zeros(length, np.uint8)
    return group.broadcast(whole).tobytes()


class Cancelled(Exception):
    """The work was cancelled; only the run that asked for it sees this."""


_cancelled: ContextVar[Callable[[], bool]] = ContextVar("cancelled", default=lambda: False)


class cancellable:
    """Within it, in this thread, ``check_cancelled`` raises once ``cancelled()`` is true."""

    def __init__(self, cancelled: Callable[[], bool]) -> None:
        self._asked = cancelled

    def __enter__(self) -> None:
        self._outer = _cancelled.set(self._asked)

    def __exit__(self, *fault: object) -> None:
        _cancelled.reset(self._outer)


def counted(count: Callable[[], None]) -> cancellable:
    """Within it, ``check_cancelled`` calls ``count`` whenever the work goes on.

    Examples
    --------
    >>> with counted(lambda: print("one more")):
    ...     check_cancelled()
    one more
    """
    outer = _cancelled.get()

    def cancelled() -> bool:
        late = outer()
        if not late:
            count()
        return late

    return cancellable(cancelled)


def check_cancelled() -> None:
    """Raise ``Cancelled`` where the run is to end; long work calls it every few milliseconds.

    Examples
    --------
    >>> check_cancelled()  # outside of a run
    >>> with cancellable(lambda: True):
    ...     check_cancelled()
    Traceback (most recent call last):
    rcmd.rows.processes.Cancelled
    """
    if _cancelled.get()():
        raise Cancelled

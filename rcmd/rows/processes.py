"""A group of ranks: the few things that processes with a share of the rows each say to each other.

Every method is *collective*: all ranks call it, in the same order. Sums and maxima are the same
to the last bit on every rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

BAD_INPUT = 2
"""The exit status of a rank that ends all others."""


class Group(Protocol):
    """Ranks 0, …, size − 1."""

    rank: int
    size: int

    def sum(self, array: Array) -> Array:
        """The sum of everyone's arrays."""

    def largest(self, array: Array) -> Array:
        """The largest of everyone's entries, place by place."""

    def gather(self, array: Array, lengths: Array | None = None) -> list[Array]:
        """Everyone's vectors in order of the ranks; one message less where lengths are known."""

    def broadcast(self, array: Array) -> Array:
        """Rank 0's array, copied into everyone's, which has the same shape."""

    def collect(self, array: Array) -> list[Array] | None:
        """Everyone's vectors on rank 0; ``None`` on the others."""

    def abort(self, sentence: str, status: int) -> None:
        """End every rank with this exit status, where an exception here would not end the others.

        The sentence says why.
        """


class SharedError(ValueError):
    """An error that every rank raises at the same place: none is left waiting for the others."""


class Alone:
    """The group of one rank: what runs on many runs on one.

    Examples
    --------
    >>> float(Alone().sum(np.ones(3)).sum()), Alone().gather(np.arange(2))
    (3.0, [array([0, 1])])
    """

    rank, size = 0, 1

    def sum(self, array: Array) -> Array:
        return array.copy()

    def largest(self, array: Array) -> Array:
        return array.copy()

    def gather(self, array: Array, lengths: Array | None = None) -> list[Array]:
        return [array]

    def broadcast(self, array: Array) -> Array:
        return array

    def collect(self, array: Array) -> list[Array]:
        return [array]

    def abort(self, sentence: str, status: int) -> None:
        return


@contextmanager
def shared_errors(group: Group) -> Iterator[None]:
    """Local work, without a word to others, at whose end all ranks fail if one did.

    What the lowest such rank has to say is raised everywhere.
    """
    if group.size == 1:
        yield
        return
    fault = ""
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError) as error:
        fault = str(error) or type(error).__name__
    faults = [_text(part) for part in group.gather(_letters(fault))]
    worst = next((rank for rank, words in enumerate(faults) if words), None)
    if worst is not None:
        whose = "" if len(set(faults)) == 1 else f"rank {worst}: "
        raise SharedError(whose + faults[worst])


@contextmanager
def abort_on_error(group: Group) -> Iterator[None]:
    """Work with words to others: an error that this rank has alone would leave them waiting."""
    try:
        yield
    except SharedError:
        raise
    except Exception as error:
        group.abort(str(error) or type(error).__name__, BAD_INPUT)
        raise


def same_bytes(group: Group, data: bytes) -> bytes:
    """What rank 0 has, on every rank."""
    letters = np.frombuffer(data, np.uint8)
    length = int(group.broadcast(np.array([len(letters)]))[0])
    heard = letters.copy() if group.rank == 0 else np.zeros(length, np.uint8)
    return group.broadcast(heard).tobytes()


def same_text(group: Group, text: str) -> str:
    """What rank 0 says, on every rank."""
    return same_bytes(group, text.encode()).decode()


def _letters(words: str) -> Array:
    return np.frombuffer(words.encode(), np.uint8)


def _text(letters: Array) -> str:
    return letters.tobytes().decode()

"""A group of ranks: the few things that processes with a share of the rows each say to each other.

Every method is *collective*: all ranks call it, in the same order. Sums and maxima are the same
to the last bit on every rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from rcmd.exit_status import EXIT_BAD_INPUT

Array = npt.NDArray[Any]


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

    def deal(self, parts: Sequence[Array] | None, out: Array) -> Array:
        """The part of this rank among those that rank 0 has, copied into ``out``."""

    def abort(self, sentence: str, status: int) -> None:
        """End every rank with this exit status, where an exception here would not end the others.

        The sentence says why.
        """


class SharedFault(ValueError):
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

    def deal(self, parts: Sequence[Array] | None, out: Array) -> Array:
        out[:] = parts[0] if parts else out
        return out

    def abort(self, sentence: str, status: int) -> None:
        return


@contextmanager
def together(group: Group) -> Iterator[None]:
    """Local work, without a word to others, at whose end all ranks fail if one did.

    What the lowest such rank has to say is raised everywhere.
    """
    fault = ""
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError) as error:
        fault = str(error) or type(error).__name__
    faults = [_text(part) for part in group.gather(_letters(fault))]
    worst = next((rank for rank, words in enumerate(faults) if words), None)
    if worst is not None:
        whose = "" if len(set(faults)) == 1 else f"rank {worst}: "
        raise SharedFault(whose + faults[worst])


@contextmanager
def one_for_all(group: Group) -> Iterator[None]:
    """Work with words to others: an error that this rank has alone would leave them waiting."""
    try:
        yield
    except SharedFault:
        raise
    except Exception as error:
        group.abort(str(error) or type(error).__name__, EXIT_BAD_INPUT)
        raise


def same_words(group: Group, words: str) -> str:
    """What rank 0 says, on every rank."""
    letters = _letters(words)
    length = int(group.broadcast(np.array([len(letters)]))[0])
    heard = letters.copy() if group.rank == 0 else np.zeros(length, np.uint8)
    return _text(group.broadcast(heard))


def _letters(words: str) -> Array:
    return np.frombuffer(words.encode(), np.uint8)


def _text(letters: Array) -> str:
    return letters.tobytes().decode()

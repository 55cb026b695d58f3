"""The oracle lives on rank 0, and what it answers is broadcast.

So all ranks go on with the same atom, whatever the oracle remembers from call to call and
whatever the last digits on another machine would have been; and nothing expensive is done twice.
An atom travels as indices and values: for a vertex, one message of 64 bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.engine.base import checked_atom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.decorators import Decorated
from rcmd.rows.atoms import Atom, DenseAtom, RankOneAtom, SparseAtom
from rcmd.rows.processes import Group, SharedError, same_text

FIRST_PART = 8
"""Doubles in the first message: how many numbers there are, and the first seven of them."""

FAULT = -1.0
"""Instead of the number of numbers: the oracle raised an error, whose sentence follows."""

PAIRS, VECTOR, RANK_ONE = 0.0, 1.0, 2.0
"""The kinds of atom, the first number of one that travels."""


@dataclass(frozen=True, eq=False)
class AtFirst(Decorated):
    """``oracle``, asked on rank 0 of ``group`` and answering everywhere.

    Examples
    --------
    >>> from rcmd import L1Ball
    >>> from rcmd.distributed import rehearse
    >>> rehearse(2, lambda group: AtFirst(L1Ball(3.0), group).argmin(np.array([1.0, -2.0])))
    [SparseAtom(indices=(1,), values=(3.0,)), SparseAtom(indices=(1,), values=(3.0,))]
    """

    oracle: LinearMinOracle
    group: Group

    def argmin(self, c: Array) -> Atom:
        return _unpacked(self._ask(lambda: _packed(checked_atom(self.oracle, c))))

    def minimum(self, c: Array) -> float:
        return self._ask_number(lambda: self.oracle.minimum(c))

    def violation(self, beta: Array) -> float:
        return self._ask_number(lambda: self.oracle.violation(beta))

    def penalty(self, beta: Array) -> float:
        return self._ask_number(lambda: self.oracle.penalty(beta))

    def value(self, beta: Array) -> float:
        return self._ask_number(lambda: self.oracle.value(beta))

    def fenchel_young(self, beta: Array, c: Array) -> float:
        return self._ask_number(lambda: self.oracle.fenchel_young(beta, c))

    def _ask_number(self, question: Callable[[], Any]) -> float:
        return float(self._ask(lambda: np.array([question()], dtype=float))[0])

    def _ask(self, question: Callable[[], Array]) -> Array:
        """The numbers that rank 0 answers; its error, raised everywhere, where it has one."""
        first, numbers, fault = np.zeros(FIRST_PART), np.zeros(0), None
        if self.group.rank == 0:
            try:
                numbers = question()
                first[0] = len(numbers)
                first[1 : 1 + len(numbers)] = numbers[: FIRST_PART - 1]
            except Exception as error:
                first[0], fault = FAULT, error
        self.group.broadcast(first)
        if first[0] == FAULT:
            raise SharedError(same_text(self.group, f"{type(fault).__name__}: {fault}")) from fault
        count = int(first[0])
        if count < FIRST_PART:
            return first[1 : 1 + count]
        rest = numbers[FIRST_PART - 1 :].copy() if self.group.rank == 0 else None
        if rest is None:
            rest = np.empty(count - FIRST_PART + 1)
        return np.concatenate([first[1:], self.group.broadcast(rest)])


def _packed(atom: Atom) -> Array:
    """An atom as one vector of doubles, which hold indices below 2⁵³ exactly."""
    if isinstance(atom, SparseAtom):
        return np.array([PAIRS, *atom.indices, *atom.values], dtype=float)
    if isinstance(atom, DenseAtom):
        return np.append(VECTOR, np.asarray(atom.vector, dtype=float))
    if isinstance(atom, RankOneAtom):
        return np.concatenate([[RANK_ONE, len(atom.left)], atom.left, atom.right])
    raise TypeError(
        f"argmin returned a {type(atom).__name__}; expected a SparseAtom, a DenseAtom or a "
        "RankOneAtom: others cannot travel between ranks"
    )


def _unpacked(numbers: Array) -> Atom:
    kind, rest = numbers[0], numbers[1:]
    if kind == PAIRS:
        half = len(rest) // 2
        return SparseAtom(tuple(rest[:half].astype(int).tolist()), tuple(rest[half:].tolist()))
    if kind == VECTOR:
        return DenseAtom(rest)
    left = int(rest[0])
    return RankOneAtom(rest[1 : 1 + left], rest[1 + left :])

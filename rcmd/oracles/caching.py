"""Lazy oracles: a stored atom where it is provably good enough."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from rcmd.oracles.atoms import Atom
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.counts import positive_counts
from rcmd.oracles.decorated import Decorated
from rcmd.validation import positive

if TYPE_CHECKING:
    from rcmd.rows import Rows


@dataclass(frozen=True, eq=False)
class Caching(Decorated):
    """``oracle``, asked only where none of its last ``size`` atoms is within ``tolerance``.

    The idea is the weak separation of Braun, Pokutta & Zink. After the oracle was asked at
    c₀, every c has min_β cᵀβ + R(β) ≥ m(c₀) + Σ_j min over dom R of (c − c₀)_j β_j; a stored
    atom with a value at most ``tolerance`` above that is returned.

    So every atom is a ``tolerance``-minimizer. An atom of that quality is a
    ``tolerance``-subgradient of D, and the theorems' bounds on the expected gap hold with
    ``tolerance`` added. Certificates lose nothing: ``minimum`` and ``fenchel_young`` are the
    oracle's own. Which atom answers depends on those stored; a run begins with none.

    Examples
    --------
    >>> from rcmd.oracles.counting import Counting
    >>> from rcmd.oracles.l1 import L1Ball
    >>> counted = Counting(L1Ball(1.0))
    >>> lazy = Caching(counted, tolerance=0.1)
    >>> for c in ([1.0, 0.0], [0.98, 0.03], [0.98, -0.03], [-1.0, 0.0]):
    ...     print(lazy.argmin(np.array(c)).values, counted.calls["argmin"])
    (-1.0,) 1
    (-1.0,) 1
    (-1.0,) 1
    (1.0,) 2
    """

    oracle: LinearMinOracle
    tolerance: Any
    size: int = 32

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("tolerance", self.tolerance, "Caching", bounded=False)
        counts = positive_counts(self.size)
        if counts is None or len(counts) != 1:
            raise ValueError(
                f"size of Caching is {self.size!r}; expected a positive whole number, the atoms to "
                "keep"
            )
        object.__setattr__(self, "size", counts[0])
        object.__setattr__(self, "_memory", _Memory(counts[0]))

    @property
    def exact_atoms(self) -> bool:  # type: ignore[override]
        return False

    def restart(self) -> None:
        object.__setattr__(self, "_memory", _Memory(self.size))
        super().restart()

    def remembered(self) -> Any:
        memory = vars(self)["_memory"]
        stored = [tuple(kept) for kept in memory.stored]
        return [stored, memory.asked_at, memory.answer, memory.box, super().remembered()]

    def remember(self, memory: Any) -> None:
        stored, asked_at, answer, box, inner = memory
        own = _Memory(self.size)
        own.stored.extend(_Stored(*kept) for kept in stored)
        own.asked_at, own.answer, own.box = asked_at, answer, box
        object.__setattr__(self, "_memory", own)
        super().remember(inner)

    def argmin(self, c: Array) -> Atom:
        memory = vars(self)["_memory"]
        if memory.stored:
            values = [c @ kept.vector + kept.penalty for kept in memory.stored]
            best = int(np.argmin(values))
            if values[best] - memory.lower_bound(c) <= self.tolerance:
                return memory.stored[best].atom
        else:
            memory.box = self.oracle.prediction_range(_coordinates(c))
        atom = self.oracle.argmin(c)
        vector = atom.dense(c)
        kept = _Stored(atom, vector, self.oracle.penalty(vector))
        memory.stored.append(kept)
        memory.asked_at, memory.answer = c.copy(), self.oracle.minimum(c)
        return atom


class _Stored(NamedTuple):
    """An atom, the vector it stands for, and R there."""

    atom: Atom
    vector: Array
    penalty: Any


class _Memory:
    """The last atoms, where the oracle was asked last and its answer, the ends of dom R."""

    def __init__(self, size: int) -> None:
        self.stored: deque[_Stored] = deque(maxlen=size)
        self.asked_at: Any = None
        self.answer: Any = None
        self.box: Any = None

    def lower_bound(self, c: Array) -> Any:
        """What no cᵀβ + R(β) undercuts."""
        change, (low, high) = c - self.asked_at, self.box
        return self.answer + np.minimum(change * low, change * high).sum()


def _coordinates(like: Array) -> Rows:
    """Rows that are the unit vectors, whose range of predictions is the box around dom R."""
    from rcmd.rows import as_rows

    if like.dtype != object:
        return as_rows(sp.eye_array(len(like), format="csr"))
    return as_rows(np.diag(0 * like + 1))

"""Lazy oracles: a stored atom where it is provably good enough."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.oracles.base import Array, LinearMinOracle, positive_counts
from rcmd.oracles.decorators import Decorated
from rcmd.rows import Rows, as_rows
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import positive


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
    >>> from rcmd.oracles.decorators import Counting
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
    spec, short_formula = "caching:TOLERANCE:ORACLE", "R, by atoms of earlier calls"
    cost, exact_atoms = "O(p) or as R", False

    @classmethod
    def example(cls, draw: Any) -> Caching:
        return cls(draw.inner(draw.p), draw.magnitude() / 100)

    def __post_init__(self) -> None:
        super().__post_init__()
        positive("tolerance", self.tolerance, "Caching", bounded=False)
        (size,) = positive_counts("size", self.size, "Caching", "the atoms to keep")
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "_memory", _Memory(deque(maxlen=size)))

    def reset(self) -> None:
        object.__setattr__(self, "_memory", _Memory(deque(maxlen=self.size)))
        super().reset()

    def state(self) -> Any:
        memory = vars(self)["_memory"]
        return [list(memory.stored), memory.asked_at, memory.answer, memory.box, super().state()]

    def load_state(self, state: Any) -> None:
        stored, *rest, inner = state
        own = _Memory(deque(map(tuple, stored), maxlen=self.size), *rest)
        object.__setattr__(self, "_memory", own)
        super().load_state(inner)

    def argmin(self, c: Array) -> Atom:
        memory = vars(self)["_memory"]
        if memory.stored:
            values = [c @ vector + penalty for _, vector, penalty in memory.stored]
            best = int(np.argmin(values))
            if values[best] - memory.lower_bound(c) <= self.tolerance:
                return memory.stored[best][0]
        else:
            memory.box = self.oracle.prediction_range(_coordinates(c))
        atom = self.oracle.argmin(c)
        vector = atom.dense(c)
        memory.stored.append((atom, vector, self.oracle.penalty(vector)))
        memory.asked_at, memory.answer = c.copy(), self.oracle.minimum(c)
        return atom


@dataclass
class _Memory:
    """The last atoms, the vectors they stand for and R there; the last question and its answer.

    ``box`` are the ends of dom R.
    """

    stored: deque[tuple[Atom, Array, Any]]
    asked_at: Any = None
    answer: Any = None
    box: Any = None

    def lower_bound(self, c: Array) -> Any:
        """What no cᵀβ + R(β) undercuts."""
        change, (low, high) = c - self.asked_at, self.box
        return self.answer + np.minimum(change * low, change * high).sum()


def _coordinates(like: Array) -> Rows:
    """Rows that are the unit vectors, whose range of predictions is the box around dom R."""
    if like.dtype != object:
        return as_rows(sp.eye_array(len(like), format="csr"))
    return as_rows(np.diag(0 * like + 1))

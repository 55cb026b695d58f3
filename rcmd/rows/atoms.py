"""Atoms: what an oracle returns, in the cheapest form."""

from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rcmd.rows.lowrank import LowRank
from rcmd.rows.validation import Array


class Atom(ABC):
    """A minimizer β̃ of cᵀβ + R(β). Rows predict at it, averages add it up."""

    @abstractmethod
    def gather(self, indices: Array) -> Array:
        """The entries β̃[indices], without forming β̃."""

    @abstractmethod
    def predict(self, block: Array) -> Array:
        """``block @ β̃`` for a dense block of rows."""

    @abstractmethod
    def add_to(self, total: Any, weight: Any) -> None:
        """``total += weight · β̃`` in place, for a vector or a ``LowRank``."""

    def fits(self, p: int) -> bool:
        """Whether β̃ has p entries; kernels would crash at one beyond the end."""
        return True

    def dense(self, like: Any) -> Any:
        """β̃ as a vector of the length and number type of ``like``, or a ``LowRank`` like it."""
        total = LowRank(like.shape) if isinstance(like, LowRank) else np.zeros_like(like)
        self.add_to(total, 1)
        return total


@dataclass(frozen=True)
class SparseAtom(Atom):
    """A few (index, value) pairs with distinct indices; none at all means β̃ = 0.

    Examples
    --------
    >>> atom = SparseAtom((1,), (4.0,))
    >>> atom.dense(np.zeros(3)), atom.predict(np.eye(3))
    (array([0., 4., 0.]), array([0., 4., 0.]))
    """

    indices: tuple[int, ...]
    values: tuple[Any, ...]

    def __reduce__(self) -> Any:  # vertices travel between ranks in every step: half the time
        return type(self), (self.indices, self.values)

    def gather(self, indices: Array) -> Array:
        entries = np.zeros(len(indices), dtype=np.asarray(self.values).dtype)
        for index, value in zip(self.indices, self.values, strict=True):
            entries[indices == index] = value
        return entries

    def fits(self, p: int) -> bool:
        places = self.indices
        return len(places) == len(self.values) and all(0 <= k < p for k in places)

    def predict(self, block: Array) -> Array:
        if not self.indices:
            return 0 * block[:, 0]
        return block[:, list(self.indices)] @ np.asarray(self.values)

    def add_to(self, total: Array, weight: Any) -> None:
        for index, value in zip(self.indices, self.values, strict=True):
            total[index] += weight * value


@dataclass(frozen=True)
class DenseAtom(Atom):
    """A vector.

    Examples
    --------
    >>> DenseAtom(np.array([1.0, 2.0])).predict(np.array([[3.0, 4.0]]))
    array([11.])
    """

    vector: Array

    def gather(self, indices: Array) -> Array:
        return self.vector[indices]

    def fits(self, p: int) -> bool:
        return self.vector.shape == (p,)

    def predict(self, block: Array) -> Array:
        return block @ self.vector

    def add_to(self, total: Array, weight: Any) -> None:
        total += weight * self.vector

    def dense(self, like: Array) -> Array:
        return self.vector.astype(like.dtype)


@dataclass(frozen=True)
class RankOneAtom(Atom):
    """The matrix ``left rightᵀ``, read row by row as a vector.

    Examples
    --------
    >>> RankOneAtom(np.array([1.0, 2.0]), np.array([3.0, 5.0])).dense(np.zeros(4))
    array([ 3.,  5.,  6., 10.])
    """

    left: Array
    right: Array

    def gather(self, indices: Array) -> Array:
        row, column = np.divmod(indices, len(self.right))
        return self.left[row] * self.right[column]

    def fits(self, p: int) -> bool:
        return self.left.size * self.right.size == p

    def predict(self, block: Array) -> Array:
        matrices = block.reshape(len(block), len(self.left), len(self.right))
        return (matrices @ self.right) @ self.left

    def add_to(self, total: Any, weight: Any) -> None:
        if isinstance(total, LowRank):
            total.add(weight, self.left, self.right)
        else:
            total += weight * np.outer(self.left, self.right).ravel()


def atom_key(atom: Atom) -> Hashable:
    """The same for two atoms if they are the same point in the same form."""
    if isinstance(atom, SparseAtom):
        return atom
    parts = [np.asarray(part) + 0 for part in vars(atom).values()]  # which makes −0 a 0
    return type(atom), *(tuple(p) if p.dtype == object else p.tobytes() for p in parts)

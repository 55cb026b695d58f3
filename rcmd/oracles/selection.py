"""The largest entries of a vector, of equals the first, and the atom that stands on them."""

from __future__ import annotations

import numpy as np

from rcmd.oracles.atoms import Atom, DenseAtom, SparseAtom
from rcmd.oracles.base import Array

FEW = 32
"""Entries up to which a list of pairs is cheaper than a vector: its loops are Python's."""


def largest(keys: Array, count: int) -> Array:
    """The places of the ``count`` largest keys, in increasing order; of equals the first."""
    if count >= len(keys):
        return np.arange(len(keys))
    return reaching(keys, np.partition(keys, -count)[-count], count)


def reaching(keys: Array, level: object, count: int) -> Array:
    """The first ``count`` places whose keys reach ``level``; keys above it go first."""
    places = np.flatnonzero(keys >= level)
    if len(places) > count:
        equal = np.flatnonzero(keys[places] == level)
        places = np.delete(places, equal[count - len(places) :])
    return places


def largest_of_rows(entries: Array, count: int) -> Array:
    """The ``count`` largest |entries| of every row, or all where there are fewer."""
    sizes = abs(entries)
    if count >= sizes.shape[1]:
        return sizes
    return np.partition(sizes, -count, axis=1)[:, -count:]


def atom_on(places: Array, values: Array, p: int) -> Atom:
    """The vector of length p with these values at these places, and zeros."""
    if len(places) <= FEW:
        return SparseAtom(tuple(places.tolist()), tuple(values.tolist()))
    vector = np.zeros(p, dtype=values.dtype)
    vector[places] = values
    return DenseAtom(vector)

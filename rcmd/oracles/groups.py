"""Balls and penalties of group norms: atoms on one group of variables."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rcmd.oracles.base import IRRATIONAL, ZERO, Array, Groups, NormBall, NormPenalty, cp
from rcmd.oracles.vectors import (
    LARGE,
    SMALL,
    atom_on,
    direction,
    largest_size,
    write_direction,
)
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import as_array, checked_numbers


class OnGroupBall(NormBall):
    """What every R with the domain Σ_g v_g ‖β_g‖₂ ≤ radius shares, v the weights of the groups."""

    groups: Groups
    weights: Any
    refuses_exact, sized_by = IRRATIONAL, "groups"
    bound_words, numpy_pass = "radius·max_g ‖x_g‖₂", "-2.0 * c, c @ c"

    def __post_init__(self) -> None:
        """Turn the groups into one number per variable; refuse what is no partition."""
        super().__post_init__()
        owner = type(self).__name__
        labels = _labels(self.groups, owner)
        labels.setflags(write=False)
        object.__setattr__(self, "groups", labels)
        if self.weights is None:
            return
        weights = self.own_array("weights")
        if weights.shape != (labels.max() + 1,):
            raise ValueError(
                f"weights of {owner} has shape {weights.shape}; expected ({labels.max() + 1},), "
                "one number for each group"
            )
        if not (weights > 0).all():
            raise ValueError(f"weights of {owner} holds {weights.min()}; expected positive numbers")

    @cached_property
    def members(self) -> Array:
        """The variables group by group."""
        return np.argsort(self.groups, kind="stable")

    @cached_property
    def order(self) -> Array | None:
        """The same; nothing where they stand so already."""
        return None if (self.groups[1:] >= self.groups[:-1]).all() else self.members

    @cached_property
    def in_order(self) -> bool:
        """Whether they stand so already."""
        return self.order is None

    @cached_property
    def bounds(self) -> Array:
        """Where in that order each group begins, and the last one ends."""
        return np.append(0, np.bincount(self.groups).cumsum())

    @cached_property
    def ones(self) -> Array | None:
        """As many ones as every group has variables; nothing where some have more."""
        sizes = np.diff(self.bounds)
        return np.ones(sizes[0]) if (sizes == sizes[0]).all() else None

    def square_sums(self, vector: Array) -> Array:
        """‖·‖₂² of every group."""
        squares = vector * vector if self.order is None else vector[self.order] ** 2
        if self.ones is None:
            return np.add.reduceat(squares, self.bounds[:-1])
        # A product with a vector, which is four times as fast.
        sums: Array = squares.reshape(-1, len(self.ones)) @ self.ones
        return sums

    def group_norms(self, vector: Array) -> Array:
        """‖·‖₂ of every group, scaled where squares would overflow or all vanish."""
        with np.errstate(over="ignore", under="ignore"):
            squares = self.square_sums(vector)
        if SMALL < squares.max() < LARGE:
            return np.sqrt(squares, out=squares)
        scale = float(abs(vector).max()) or 1.0
        return scale * np.sqrt(self.square_sums(vector / scale))

    def dual_group_norms(self, c: Array) -> Array:
        """‖c_g‖₂/v_g of every group."""
        return self.group_norms(c) / self.scales

    def dual_norm(self, c: Array) -> Any:
        return self.dual_group_norms(c).max()

    def norm(self, beta: Array) -> Any:
        """Σ_g v_g ‖β_g‖₂."""
        norms = self.group_norms(beta)
        return norms.sum() if self.weights is None else self.weights @ norms

    @cached_property
    def scales(self) -> Array:
        """v_g of every group."""
        return np.ones(len(self.bounds) - 1) if self.weights is None else self.weights

    @cached_property
    def shares(self) -> Array:
        """1/v_g² of every group."""
        return 1 / self.scales**2

    def steepest(self, ordered: Any) -> Any:
        """The first group g with the largest (‖c_g‖/v_g)², that number, and the largest ‖c_g‖².

        ``ordered`` is c group by group.
        """
        best, largest, most = 0, -1.0, 0.0
        for g in range(len(self.shares)):
            square = 0.0
            for i in range(self.bounds[g], self.bounds[g + 1]):
                square += ordered[i] * ordered[i]
            size = square * self.shares[g]
            best = g if size > largest else best
            largest, most = max(size, largest), max(square, most)
        return best, largest, most

    def write_entries(self, c: Any, indices: Any, values: Any) -> int:
        """−(radius/v_g)·c_g/‖c_g‖ on the first steepest group; 0 where a penalty is steeper."""
        factor, ordered = 1.0, c
        if not self.in_order:
            ordered = values
            for i in range(len(c)):
                values[i] = c[self.members[i]]
        group, size, square = self.steepest(ordered)
        if not SMALL < square < LARGE:
            factor = 1 / max(largest_size(c), 1e-300)
            for i in range(len(c)):
                values[i] = ordered[i] * factor
            group, size, square = self.steepest(values)
        if not (self.indicator or math.sqrt(size) / factor > self.threshold):
            return 0
        start, count = self.bounds[group], self.bounds[group + 1] - self.bounds[group]
        for e in range(count):
            indices[e] = self.members[start + e]
            values[e] = c[indices[e]]
        write_direction(values[:count], -self.radius / self.scales[group], values[:count])
        return count

    def argmin(self, c: Array) -> Atom:
        """The same by NumPy, whose sums are faster for many variables."""
        sizes = self.dual_group_norms(c)
        group = int(sizes.argmax())
        if not (self.indicator or sizes[group] > self.threshold):
            return ZERO
        start, stop = self.bounds[group : group + 2]
        places = self.members[start:stop]
        return atom_on(places, direction(c[places], -self.radius / self.scales[group]), len(c))

    def slack(self, beta: Array, c: Array, level: Any, beyond: Any) -> Any:
        """The terms of Σ_g level·v_g‖β_g‖ + c_gᵀβ_g, and room·beyond.

        They are ‖β_g‖(level·v_g − ‖c_g‖) and ½‖β_g‖‖c_g‖·‖β_g/‖β_g‖ + c_g/‖c_g‖‖².
        """
        of_beta, of_c = self.group_norms(beta), self.group_norms(c)
        below = of_beta @ np.maximum(level * self.scales - of_c, 0)
        here, there = (np.where(n > 0, n, 1.0)[self.groups] for n in (of_beta, of_c))
        apart = self.square_sums(beta / here + c / there)
        return below + (of_beta * of_c) @ apart / 2 + self.room(beta) * beyond

    def dual_norms(self, entries: Array, columns: Any) -> Array:
        """max_g ‖x_jg‖₂/v_g for every row of a block."""
        groups = self.groups[columns]
        scales = abs(entries).max(axis=1)  # so that squares neither overflow nor vanish
        scaled = entries / np.where(scales > 0, scales, 1.0)[:, None]
        if self.weights is not None:
            scaled /= self.weights[groups]
        count = self.groups.max() + 1
        keys = (np.arange(len(entries))[:, None] * count + groups).ravel()
        # Only the groups that a row touches, of which there may be few.
        touched, places = np.unique(keys, return_inverse=True)
        squares = np.bincount(places, (scaled * scaled).ravel())
        starts = np.searchsorted(touched, np.arange(len(entries)) * count)
        largest: Array = scales * np.sqrt(np.maximum.reduceat(squares, starts))
        return largest

    def cvxpy_norm(self, beta: Any) -> Any:
        """Σ_g v_g ‖β_g‖₂ as a CVXPY expression."""
        members = np.split(self.members, self.bounds[1:-1])
        return sum(float(v) * cp.norm2(beta[g]) for v, g in zip(self.scales, members, strict=True))


@dataclass(frozen=True, eq=False)
class GroupL2Ball(OnGroupBall):
    """The set {Σ_g v_g ‖β_g‖₂ ≤ radius}, v = 1 unless ``weights`` says otherwise.

    ``groups`` lists the variables of each group, or gives one label per variable; groups in
    the order of their labels.

    Examples
    --------
    >>> GroupL2Ball([[0, 1], [2]], 10.0).argmin(np.array([3.0, -4.0, 4.5]))
    SparseAtom(indices=(0, 1), values=(-6.0, 8.0))
    """

    groups: Groups
    radius: Any
    weights: Any = None
    formula = "indicator of Σ_g v_g‖β_g‖₂ ≤ {radius}"
    spec, short_formula = "group-l2:GROUPS:RADIUS", "Σ_g ‖β_g‖₂ ≤ radius"


@dataclass(frozen=True, eq=False)
class GroupLasso(NormPenalty, OnGroupBall):
    """R(β) = strength·Σ_g v_g ‖β_g‖₂ on the ball Σ_g v_g ‖β_g‖₂ ≤ radius; v = 1 by default.

    For an open radius see ``NormPenalty``.

    Examples
    --------
    >>> float(GroupLasso(["a", "a", "b"], 2.0, 10.0).minimum(np.array([3.0, -4.0, 4.5])))
    -30.0
    """

    groups: Groups
    strength: Any
    radius: Any = None
    weights: Any = None
    formula = "{strength}·Σ_g v_g‖β_g‖₂ on Σ_g v_g‖β_g‖₂ ≤ {radius}"
    spec = "group-lasso:GROUPS:STRENGTH[:RADIUS]"


def _labels(groups: Any, owner: str) -> Array:
    """The number of its group for every variable."""
    parts = list(groups) if np.iterable(groups) else []
    listed = {np.ndim(part) for part in parts}
    if listed not in ({0}, {1}):
        raise ValueError(
            f"groups of {owner} is {groups!r}; expected one list of variables for each group, or "
            "one label for each variable"
        )
    if listed == {1}:
        return _labels_of_lists(parts, owner)
    labels = as_array(f"groups of {owner}", parts)
    if labels.dtype.kind != "U":
        labels = checked_numbers(f"groups of {owner}", labels)
    return np.unique(labels, return_inverse=True)[1]


def _labels_of_lists(parts: list[Any], owner: str) -> Array:
    for number, part in enumerate(parts):
        if len(part) == 0:
            raise ValueError(f"group {number} of {owner} is empty; expected a variable in each")
        if np.asarray(part).dtype.kind not in "iu" or min(part) < 0:
            raise ValueError(
                f"group {number} of {owner} is {part!r}; expected indices of variables, whole "
                "numbers from 0 on"
            )
    variables = np.concatenate([np.asarray(part) for part in parts])
    numbers = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    found, counts = np.unique(variables, return_counts=True)
    if (counts > 1).any():
        twice = found[counts > 1][0]
        raise ValueError(
            f"groups of {owner} hold variable {twice} more than once, in groups "
            f"{numbers[variables == twice].tolist()}; expected groups that do not overlap"
        )
    missing = np.setdiff1d(np.arange(found[-1] + 1), found)
    if len(missing):
        raise ValueError(
            f"groups of {owner} leave out variable {missing[0]}; expected every variable in one "
            "group: give it a group of its own"
        )
    return numbers[np.argsort(variables)]

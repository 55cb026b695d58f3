"""P over the convex hull of a few atoms, by Newton's method on their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.corrective.columns import beside
from rcmd.corrective.damping import Damping, falls
from rcmd.corrective.gram import gram
from rcmd.corrective.simplex_qp import minimize_on_simplex
from rcmd.heeding import heed
from rcmd.oracles.atoms import Atom, SparseAtom
from rcmd.problem import Problem

Array = npt.NDArray[Any]

SUFFICIENT = 1e-4
"""The share of the promised decrease to be had."""

CURVED = 1e-12
"""How much R may lie below its chords, relatively, before the hull is said to miss P."""


class AtomWeights:
    """min over λ in the simplex of (1/n) Σ_j l_j((Zλ)_j) + Σ_i λ_i R(a_i), with Z = X(a_1 … a_m).

    By convexity that is at least P(Σ λ_i a_i), with equality for the indicator of a set and
    wherever R is linear between the atoms, as for the l1 norm; where it is not, the point
    reached is taken apart anew. ``passes`` counts how often all losses, or all rows at new
    atoms, were looked at.
    """

    def __init__(self, problem: Problem, atoms: Sequence[Atom], weights: Array) -> None:
        self.problem = problem
        self.atoms: list[Atom] = []
        self.weights: Array = np.zeros(0)
        self.passes = 0
        self._columns: Any = None
        self._kept: Array = np.zeros(0, dtype=int)
        self._penalties: Array = np.zeros(0)
        self._idle: Array = np.zeros(0, dtype=bool)
        self._damping = Damping()
        self._level: float | None = None
        self._append(list(atoms))
        self.weights = np.asarray(weights, dtype=float) / np.sum(weights)

    def add(self, atoms: Sequence[Atom]) -> None:
        """Widen the hull by atoms that it does not hold, and forget those that are idle."""
        self._append([a for a in atoms if not any(_same(a, known) for known in self.atoms)])

    def _append(self, atoms: list[Atom]) -> None:
        """New atoms, without weight, in the place of those that the last step left without.

        Their columns are made all at once, when they are needed.
        """
        if not atoms:
            return
        held = np.flatnonzero(~self._idle)
        if len(held) < len(self.atoms):
            self._kept = held
        self.atoms = [*(self.atoms[i] for i in held), *atoms]
        penalties = np.zeros(len(atoms))
        if not self.problem.oracle.indicator:
            zero = self.problem.rows.zero()
            penalties[:] = [self.problem.oracle.penalty(atom.dense(zero)) for atom in atoms]
        self._penalties = np.concatenate([self._penalties[held], penalties])
        self.weights = np.concatenate([self.weights[held], np.zeros(len(atoms))])
        self._idle = np.zeros(len(self.atoms), dtype=bool)

    def _complete(self) -> None:
        """A column of predictions for every atom."""
        new = self.atoms[len(self._kept) :]
        if new:
            self.passes += 1
            columns = self.problem.rows.predict_at(new)
            first = self._columns is None
            self._columns = columns if first else beside(self._columns, self._kept, columns)
            self._kept = np.arange(len(self.atoms))

    def point(self) -> Any:
        """β = Σ_i λ_i a_i."""
        total = self.problem.rows.zero()
        for atom, weight in zip(self.atoms, self.weights, strict=True):
            if weight > 0:
                atom.add_to(total, weight)
        return total

    def improve(self, s: Array, w: Array, d: Any) -> Array:
        """One Newton step on the weights, shortened where it must be; returns Zλ after it.

        At s = Zλ, w is l'(s) and d is Xᵀw/n.
        """
        losses, n = self.problem.losses, self.problem.n
        self._complete()
        self.passes += 1
        slope = self._slopes(w, d) + self._penalties
        curved = gram(self._columns, losses.second_derivative(s) / n)
        mean_curvature = np.trace(curved) / len(slope)
        curved[np.diag_indices_from(curved)] += self._damping.now * (mean_curvature or 1.0)
        target = minimize_on_simplex(curved, slope - curved @ self.weights, self.weights)
        step = target - self.weights
        here = self._value(s, self.weights) if self._level is None else self._level
        self._level, along = here, self._columns @ step
        promised = SUFFICIENT * min(slope @ step, 0.0)

        def fallen(share: float) -> bool:
            value = self._value(s + share * along, self.weights + share * step)
            if fallen_enough := falls(value, here, share * promised):
                self._level = value
            return fallen_enough

        share = self._damping.longest(fallen)
        self.weights = target if share == 1.0 else self.weights + share * step
        self._idle = self.weights <= 0
        if not self.problem.oracle.indicator and self._straighten():
            self._complete()
            return self._columns @ self.weights
        return s + share * along

    def _slopes(self, w: Array, d: Any) -> Array:
        """Zᵀw/n: dᵀa for every atom a, where all have few entries."""
        sparse = [atom for atom in self.atoms if isinstance(atom, SparseAtom)]
        if len(sparse) < len(self.atoms):
            return self._columns.T @ w / self.problem.n
        owners = np.repeat(np.arange(len(sparse)), [len(atom.indices) for atom in sparse])
        places = np.array([k for atom in sparse for k in atom.indices], dtype=int)
        values = np.array([v for atom in sparse for v in atom.values], dtype=float)
        return np.bincount(owners, d[places] * values, minlength=len(sparse))

    def _straighten(self) -> bool:
        """Take the point reached apart anew where R lies below the chords between its atoms."""
        point = self.point()
        chord, penalty = self._penalties @ self.weights, self.problem.oracle.penalty(point)
        curved: bool = penalty < chord - CURVED * abs(chord)
        if curved:
            parts = [(w, a) for w, a in self.problem.oracle.decompose(point) if w > 0]
            self._append([atom for _, atom in parts])
            self.weights = np.zeros(len(self.atoms))
            self.weights[-len(parts) :] = [weight for weight, _ in parts]
            self._level = None
        return curved

    def _value(self, s: Array, weights: Array) -> float:
        heed()
        self.passes += 1
        return float(self.problem.mean(self.problem.losses.value(s)) + self._penalties @ weights)


def _same(a: Atom, b: Atom) -> bool:
    """Whether two atoms are the same point, said the same way."""
    if type(a) is not type(b):
        return False
    if isinstance(a, SparseAtom):
        return a == b
    return all(np.array_equal(vars(a)[name], vars(b)[name]) for name in vars(a))

"""P over the convex hull of a few atoms, by Newton's method on their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.corrective.gram import gram
from rcmd.corrective.simplex_qp import minimize_on_simplex
from rcmd.oracles.atoms import Atom
from rcmd.problem import Problem

Array = npt.NDArray[Any]

DAMPING = (1e-13, 1.0)
"""Least and largest damping, relative to the mean curvature."""

SUFFICIENT, ROUNDING = 1e-4, 1e-15
"""The share of the promised decrease to be had, and what rounding may hide of it."""


class Hull:
    """min over λ in the simplex of (1/n) Σ_j l_j((Zλ)_j) + Σ_i λ_i R(a_i), with Z = X(a_1 … a_m).

    By convexity that is at least P(Σ λ_i a_i), with equality for the indicator of a set and
    wherever R is linear between the atoms, as for the l1 norm. ``passes`` counts how often all
    losses were looked at.
    """

    def __init__(self, problem: Problem, atoms: Sequence[Atom], weights: Array) -> None:
        self.problem = problem
        self.atoms: list[Atom] = []
        self.weights = np.zeros(0)
        self.passes = 0
        self._damping = DAMPING[0]
        self._take(list(atoms), np.asarray(weights, dtype=float))

    def add(self, atoms: Sequence[Atom]) -> None:
        """Widen the hull, and drop the atoms that carry no weight."""
        kept = [(a, w) for a, w in zip(self.atoms, self.weights, strict=True) if w > 0]
        known = [atom for atom, _ in kept]
        new = [atom for atom in atoms if not any(_same(atom, other) for other in known)]
        weights = np.array([w for _, w in kept] + [0.0] * len(new))
        self._take(known + new, weights)

    def _take(self, atoms: list[Atom], weights: Array) -> None:
        zero = self.problem.rows.zero()
        self.atoms, self.weights = atoms, weights / weights.sum()
        self._columns = self.problem.rows.predict_at(atoms)
        penalties = [self.problem.oracle.penalty(atom.dense(zero)) for atom in atoms]
        self._penalties = np.array(penalties, dtype=float)

    def predictions(self) -> Array:
        """Zλ."""
        return self._columns @ self.weights

    def point(self) -> Any:
        """β = Σ_i λ_i a_i."""
        total = self.problem.rows.zero()
        for atom, weight in zip(self.atoms, self.weights, strict=True):
            if weight > 0:
                atom.add_to(total, weight)
        return total

    def improve(self) -> None:
        """One Newton step on the weights, shortened where it must be."""
        losses, n = self.problem.losses, self.problem.n
        s = self.predictions()
        self.passes += 1
        slope = self._columns.T @ losses.derivative(s) / n + self._penalties
        curved = gram(self._columns, losses.second_derivative(s) / n)
        curved[np.diag_indices_from(curved)] += self._damping * (np.trace(curved) or 1) / len(slope)
        target = minimize_on_simplex(curved, slope - curved @ self.weights, self.weights)
        step = target - self.weights
        here, along, share = self._value(s, self.weights), self._columns @ step, 1.0
        promised, allowed = min(slope @ step, 0.0), ROUNDING * abs(here)
        # Where rounding hides what a step is worth, Newton's is taken at its word.
        while self._value(s + share * along, self.weights + share * step) > (
            here + SUFFICIENT * share * promised + allowed
        ):
            share /= 2
        self.weights = target if share == 1.0 else self.weights + share * step
        self._damping = float(np.clip(self._damping * (0.1 if share > 0.1 else 100), *DAMPING))

    def _value(self, s: Array, weights: Array) -> float:
        self.passes += 1
        return float(self.problem.mean(self.problem.losses.value(s)) + self._penalties @ weights)


def _same(a: Atom, b: Atom) -> bool:
    """Whether two atoms are the same point, said the same way."""
    if type(a) is not type(b):
        return False
    return all(np.array_equal(vars(a)[name], vars(b)[name]) for name in vars(a))

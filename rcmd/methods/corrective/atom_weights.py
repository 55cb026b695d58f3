"""P over the convex hull of a few atoms, by Newton's method on their weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.methods.corrective.columns import EntryColumns, PredictedColumns, single_entries
from rcmd.methods.corrective.newton import Damping, falls
from rcmd.methods.corrective.point import Point
from rcmd.methods.corrective.simplex_qp import minimize_on_simplex
from rcmd.model.problem import Problem
from rcmd.rows.atoms import Atom, SparseAtom
from rcmd.rows.cancellation import check_cancelled
from rcmd.rows.sparse import SparseRows

Array = npt.NDArray[Any]

SUFFICIENT = 1e-4
"""The share of the promised decrease to be had."""

CURVED = 1e-12
"""How much R may lie below its chords, relatively, before the hull is said to miss P."""


class AtomWeights:
    """min over λ in the simplex of (1/n) Σ_j l_j((Zλ)_j) + Σ_i λ_i R(a_i), with Z = X(a_1 … a_m).

    By convexity that is at least P(Σ λ_i a_i), with equality for the indicator of a set and
    wherever R is linear between the atoms, as for the l1 norm; where it is not, the point
    reached is taken apart anew. ``passes`` counts how often all losses were looked at, or all
    rows for the sake of the atoms.
    """

    def __init__(self, problem: Problem, atoms: Sequence[Atom], weights: Array) -> None:
        self.problem = problem
        self.atoms: list[Atom] = []
        self.weights: Array = np.zeros(0)
        self.passes = 0
        self._columns: EntryColumns | PredictedColumns = EntryColumns([])
        self._penalties: Array = np.zeros(0)
        self._idle: Array = np.zeros(0, dtype=bool)
        self._damping = Damping()
        self._append(list(atoms))
        self.weights = np.asarray(weights, dtype=float) / np.sum(weights)
        self.here = self._look(self.weights)

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps: predictions are not the same bits when made again by others."""
        columns = self._columns
        return {
            "atoms": self.atoms,
            "weights": self.weights,
            "passes": self.passes,
            "predictions": getattr(columns, "predictions", None),
            "penalties": self._penalties,
            "idle": self._idle,
            "damping": self._damping.state(),
            "here": self.here.state(),
        }

    @classmethod
    def from_state(cls, problem: Problem, state: dict[str, Any]) -> AtomWeights:
        """The weights that gave ``state``."""
        hull = cls.__new__(cls)
        hull.problem, hull.atoms, hull.weights = problem, state["atoms"], state["weights"]
        hull.passes, hull._penalties, hull._idle = (
            state[name] for name in ("passes", "penalties", "idle")
        )
        predictions, single = state["predictions"], single_entries(hull.atoms)
        if predictions is not None:
            hull._columns = PredictedColumns(hull.atoms, predictions)
        elif single is not None:
            hull._columns = EntryColumns(single)
        hull._damping = Damping()
        hull._damping.load_state(state["damping"])
        hull.here = Point.from_state(problem, state["here"])
        return hull

    def add(self, atoms: Sequence[Atom]) -> int:
        """Widen the hull by atoms that it does not hold, and forget those that are idle.

        Returns how many stand before the new ones.
        """
        known = {atom for atom in self.atoms if isinstance(atom, SparseAtom)}
        others = [atom for atom in self.atoms if not isinstance(atom, SparseAtom)]

        def held(atom: Atom) -> bool:
            if isinstance(atom, SparseAtom):
                return atom in known
            return any(_same(atom, other) for other in others)

        new = [atom for atom in atoms if not held(atom)]
        self._append(new)
        return len(self.atoms) - len(new)

    def _append(self, atoms: list[Atom]) -> None:
        """New atoms, without weight, in the place of those that the last step left without."""
        if not atoms:
            return
        held = np.flatnonzero(~self._idle)
        self.atoms = [*(self.atoms[i] for i in held), *atoms]
        penalties = np.zeros(len(atoms))
        if not self.problem.oracle.indicator:
            zero = self.problem.rows.zero()
            penalties[:] = [self.problem.oracle.penalty(atom.dense(zero)) for atom in atoms]
        self._penalties = np.concatenate([self._penalties[held], penalties])
        self.weights = np.concatenate([self.weights[held], np.zeros(len(atoms))])
        self._idle = np.zeros(len(self.atoms), dtype=bool)
        self._columns = self._columns_with(held, atoms)

    def _columns_with(self, held: Array, new: list[Atom]) -> EntryColumns | PredictedColumns:
        rows = self.problem.rows
        single = single_entries(self.atoms)
        if single is not None and isinstance(rows, SparseRows):
            before = self._columns
            return EntryColumns(single, before.known if isinstance(before, EntryColumns) else None)
        self.passes += 1
        if isinstance(self._columns, PredictedColumns):
            return self._columns.changed(rows, held, new)
        return PredictedColumns(self.atoms, rows.predict_at(self.atoms))

    def slopes(self, d: Any = None) -> Array:
        """What P rises by with the weight of every atom: a_iᵀd + R(a_i), where d is Xᵀw/n."""
        columns = self._columns
        if d is not None and isinstance(columns, EntryColumns):
            return columns.slopes(d) + self._penalties
        self.passes += 1
        return columns.own_slopes(self.problem.rows, self.here.w) + self._penalties

    def improve(self, slope: Array) -> None:
        """One Newton step on the weights, shortened where it must be, from the ``slopes``."""
        before, n = self.here, self.problem.n
        self.passes += 1
        curved = self._columns.gram(self.problem.rows, before.curvatures / n)
        mean_curvature = np.trace(curved) / len(slope)
        curved.flat[:: len(slope) + 1] += self._damping.now * (mean_curvature or 1.0)
        target = minimize_on_simplex(curved, slope - curved @ self.weights, self.weights)
        step, level = target - self.weights, before.loss + float(self._penalties @ self.weights)
        promised = SUFFICIENT * min(float(slope @ step), 0.0)
        whole = self._look(target)

        def fallen(share: float) -> bool:
            loss = whole.loss if share == 1.0 else self._between(before.s, whole.s, share)
            value = loss + float(self._penalties @ (self.weights + share * step))
            return falls(value, level, share * promised)

        share = self._damping.longest(fallen)
        self.weights = target if share == 1.0 else self.weights + share * step
        self.here = whole if share == 1.0 else self._look(self.weights) if share > 0 else before
        self._idle = self.weights <= 0
        if not self.problem.oracle.indicator:
            self._straighten()

    def _look(self, weights: Array) -> Point:
        self.passes += 1
        rows = self.problem.rows
        beta = self._columns.point(rows.zero(), weights)
        return Point.at(self.problem, beta, self._columns.predict(rows, beta))

    def _between(self, s: Array, end: Array, share: float) -> float:
        """The mean loss on the way from s to ``end``."""
        check_cancelled()
        self.passes += 1
        return float(self.problem.mean(self.problem.losses.value(s + share * (end - s))))

    def _straighten(self) -> None:
        """Take the point reached apart anew where R lies below the chords between its atoms."""
        point = self.here.beta
        chord, penalty = self._penalties @ self.weights, self.problem.oracle.penalty(point)
        if penalty < chord - CURVED * abs(chord):
            parts = [(w, a) for w, a in self.problem.oracle.decompose(point) if w > 0]
            self._append([atom for _, atom in parts])
            self.weights = np.zeros(len(self.atoms))
            self.weights[-len(parts) :] = [weight for weight, _ in parts]
            self.here = self._look(self.weights)


def _same(a: Atom, b: Atom) -> bool:
    """Whether two atoms are the same point, said the same way."""
    if type(a) is not type(b):
        return False
    return all(np.array_equal(vars(a)[name], vars(b)[name]) for name in vars(a))

"""Corrections for any oracle: Newton steps on the atoms found, then the atoms that are missing."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rcmd.methods.corrections.ball import BallCorrection, ball_of
from rcmd.methods.corrections.columns import EntryColumns, PredictedColumns, single_entries
from rcmd.methods.corrections.coordinates import CoordinateCorrection, rule_of
from rcmd.methods.corrections.factors import FactorCorrection
from rcmd.methods.corrections.newton import Correction, Point, falls
from rcmd.methods.corrections.simplex_qp import minimize_on_simplex
from rcmd.model.problem import Problem
from rcmd.oracles.matrices import OnNuclearBall
from rcmd.rows.atoms import Atom, atom_key
from rcmd.rows.processes import check_cancelled
from rcmd.rows.sparse import SparseRows
from rcmd.rows.validation import Array

SUFFICIENT = 1e-4
"""The share of the predicted decrease that a step must achieve."""

CURVED = 1e-12
"""How much R may lie below its chords, relatively, before a point is decomposed again."""

FEWEST_NEW = 16
"""Atoms asked of the oracle in a round, at least."""

MOST_STEPS, STEP_PASSES = 4, 3
"""Steps of a round, and passes over the data that one takes."""

STRIDE, FEWEST_SAMPLES = 8, 2000
"""The problem of every eighth sample is solved first, where at least so many are left."""

SHARE_OF_ERROR, MOST_ROUNDS = 0.5, 8
"""It is solved until its gap is this share of a standard error of P, in at most so many rounds."""


class HullCorrection(Correction):
    """Fully corrective Frank–Wolfe with second-order steps, from a point β of dom R on.

    The steps are for min over λ in the simplex of (1/n) Σ_j l_j((Zλ)_j) + Σ_i λ_i R(a_i), with
    Z = X(a_1 … a_m). By convexity that is at least P(Σ λ_i a_i), with equality for the indicator
    of a set and wherever R is linear between the atoms, as for the l1 norm; where it is not, the
    point reached is decomposed again.

    The atoms of another point, ``average``, are there from the beginning; ``costs`` are the
    gradients and oracle calls of finding both.
    """

    changing = (*Correction.changing, "atoms", "weights", "_penalties", "_idle")
    needs_atoms = True

    def __init__(self, problem: Problem, beta: Any, average: Any, *costs: int) -> None:
        super().__init__(problem, *costs)
        parts, others = (_parts(problem, point) for point in (beta, average))
        self.atoms: list[Atom] = []
        self.weights: Array = np.zeros(0)
        self._columns: EntryColumns | PredictedColumns = EntryColumns([])
        self._penalties: Array = np.zeros(0)
        self._idle: Array = np.zeros(0, dtype=bool)
        self._append([atom for _, atom in parts])
        weights = np.array([float(weight) for weight, _ in parts])
        self.weights = weights / np.sum(weights)
        self.here = self._point_at(self.weights)
        self.add([atom for _, atom in others[: _most_atoms(problem) - len(parts)]])

    def state(self) -> dict[str, Any]:
        """With the predictions, whose last bits would differ if computed again."""
        predictions = getattr(self._columns, "predictions", None)
        if predictions is not None:
            predictions = self.problem.gathered(predictions)
        return {**super().state(), "predictions": predictions}

    def load_state(self, state: dict[str, Any]) -> None:
        super().load_state(state)
        predictions, single = state["predictions"], single_entries(self.atoms)
        if predictions is not None:
            self._columns = PredictedColumns(self.atoms, self.problem.own_part(predictions))
        elif single is not None:
            self._columns = EntryColumns(single)

    def add(self, atoms: Sequence[Atom]) -> int:
        """Add atoms that the hull does not hold, and drop those that are idle.

        Returns the number of atoms before the new ones.
        """
        held = {atom_key(atom) for atom in self.atoms}
        new = [atom for atom in atoms if atom_key(atom) not in held]
        self._append(new)
        return len(self.atoms) - len(new)

    def _append(self, atoms: list[Atom]) -> None:
        """Add atoms with weight 0, and drop those that the last step left without weight."""
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
        """The derivative of P in the weight of every atom: a_iᵀd + R(a_i), where d is Xᵀw/n."""
        columns = self._columns
        if d is not None and isinstance(columns, EntryColumns):
            return columns.slopes(d) + self._penalties
        self.passes += 1
        problem = self.problem
        slopes = problem.total(lambda: columns.own_slopes(problem.rows, self.here.w))
        return slopes / problem.n + self._penalties

    def improve(self, slope: Array) -> None:
        """One Newton step on the weights, shortened if necessary, from the ``slopes``."""
        before, columns, problem = self.here, self._columns, self.problem
        self.passes += 1
        curved = problem.total(lambda: columns.gram(problem.rows, before.curvatures / problem.n))
        mean_curvature = np.trace(curved) / len(slope)
        curved.flat[:: len(slope) + 1] += self.damping * (mean_curvature or 1.0)
        target = minimize_on_simplex(curved, slope - curved @ self.weights, self.weights)
        step, level = target - self.weights, before.loss + float(self._penalties @ self.weights)
        promised = SUFFICIENT * min(float(slope @ step), 0.0)
        whole = self._point_at(target)

        def fallen(share: float) -> bool:
            loss = whole.loss if share == 1.0 else self._between(before.s, whole.s, share)
            value = loss + float(self._penalties @ (self.weights + share * step))
            return falls(value, level, share * promised)

        share = self.longest(fallen)
        self.weights = target if share == 1.0 else self.weights + share * step
        self.here = whole if share == 1.0 else self._point_at(self.weights) if share > 0 else before
        self._idle = self.weights <= 0
        if not self.problem.oracle.indicator:
            self._straighten()

    def _point_at(self, weights: Array) -> Point:
        self.passes += 1
        rows = self.problem.rows
        beta = self._columns.point(rows.zero(), weights)
        return Point(self.problem, beta, self._columns.predict(rows, beta))

    def _between(self, s: Array, end: Array, share: float) -> float:
        """The mean loss on the way from s to ``end``."""
        check_cancelled()
        self.passes += 1
        return float(self.problem.mean(self.problem.losses.value(s + share * (end - s))))

    def _straighten(self) -> None:
        """Decompose the point reached again where R lies below the chords between its atoms."""
        point = self.here.beta
        chord, penalty = self._penalties @ self.weights, self.problem.oracle.penalty(point)
        if penalty < chord - CURVED * abs(chord):
            parts = [(w, a) for w, a in self.problem.oracle.decompose(point) if w > 0]
            self._append([atom for _, atom in parts])
            self.weights = np.zeros(len(self.atoms))
            self.weights[-len(parts) :] = [weight for weight, _ in parts]
            self.here = self._point_at(self.weights)

    def round(self, passes: float, enough: float) -> None:
        """Add the atoms that the oracle offers at this point, take a Newton step, and repeat.

        Where no new atom gained weight, further steps come first: the oracle is of no help before
        P is small on the hull.
        """
        before, earlier, steps, gap = self.here, self.passes, 0, math.inf
        while gap > enough and steps < MOST_STEPS:
            held, start = self.add(self._worthwhile()), self.here
            slopes = self.slopes(self.here.slope)
            while steps < MOST_STEPS:
                self.improve(slopes)
                steps += 1
                if self.weights[held:].any() or self.here is start:
                    break
                slopes = self.slopes()
                if self.weights @ slopes - slopes.min() <= enough:
                    break
            gap = self.here.gap
            if self.here is start or self.passes - earlier + STEP_PASSES > passes:
                break
        changed = self.problem.total(lambda: np.count_nonzero(before.s != self.here.s))
        self.moved = bool(changed)

    def _worthwhile(self) -> list[Atom]:
        """The oracle's best atoms that are better at d than the present point."""
        oracle, here, held = self.problem.oracle, self.here, len(self.atoms)
        self.oracle_calls += 1
        count = min(max(FEWEST_NEW, held // 2), _most_atoms(self.problem) - held)
        if count <= 0:
            return []
        level = here.slope @ here.beta + oracle.penalty(here.beta)
        offered = oracle.best_atoms(here.slope, count)
        single = single_entries(offered) if oracle.indicator else None
        if single is not None:
            promised = EntryColumns(single).slopes(here.slope)
        else:
            points = [atom.dense(self.problem.rows.zero()) for atom in offered]
            promised = np.array([here.slope @ x + oracle.penalty(x) for x in points])
        return [atom for atom, value in zip(offered, promised, strict=True) if value < level]


def _most_atoms(problem: Problem) -> int:
    return max(problem.rows.most_predictions // problem.n, 2)


def _parts(problem: Problem, point: Any) -> list[tuple[Any, Atom]]:
    """The atoms of ``point`` with the largest weights."""
    parts = sorted(problem.oracle.decompose(point), key=lambda part: -float(part[0]))
    return [(weight, atom) for weight, atom in parts[: _most_atoms(problem)] if weight > 0]


def kind_for(problem: Problem) -> type[Any] | None:
    """The corrections made for the problem's oracle and rows, if there are any."""
    if ball_of(problem) is not None:
        return BallCorrection
    if isinstance(problem.oracle, OnNuclearBall):
        return FactorCorrection
    return None if rule_of(problem) is None else CoordinateCorrection


def correction_to_load(problem: Problem, state: dict[str, Any]) -> Correction:
    """A correction of the kind that gave ``state``, ready to load it."""
    kind = None if "atoms" in state else kind_for(problem)
    if kind is not None:
        return kind(problem, state["beta"])
    correction = HullCorrection.__new__(HullCorrection)
    correction.problem = problem
    return correction


def correction_for(
    problem: Problem,
    beta: Any,
    average: Any,
    *,
    sampled: bool = True,
    earlier: Correction | None = None,
) -> Correction:
    """The kind of correction that fits the oracle, from about ``beta`` on.

    Where there are enough samples, every eighth of them is solved first, unless ``sampled`` is
    false, to about its sampling error: those rounds cost an eighth, and most of the atoms that they
    find stay. What ``earlier`` corrections of another R know of the data is taken over.
    """
    many = sampled and problem.n >= STRIDE * FEWEST_SAMPLES
    fewer = problem.thinned(STRIDE) if many else None
    costs = (0, 0)
    if fewer is not None:
        first = correction_for(fewer, beta, average)
        beta = average = _solved(fewer, first)
        costs = first.gradients, first.oracle_calls
    kind = kind_for(problem)
    if kind is None:
        return HullCorrection(problem, beta, average, *costs)
    return kind(problem, beta, *costs, earlier=earlier)


def continued(correction: Correction) -> Correction:
    """The same, or a hull from its point on where it met a border that it cannot follow."""
    if not (isinstance(correction, CoordinateCorrection) and correction.outside):
        return correction
    beta, costs = correction.here.beta, (correction.gradients, correction.oracle_calls)
    return HullCorrection(correction.problem, beta, beta, *costs)


def _solved(problem: Problem, correction: Correction) -> Any:
    """The β of rounds that end where the gap is small beside the sampling error of P."""
    for _ in range(MOST_ROUNDS):
        # The root of the mean square, which unlike the deviation is not 0 for equal losses.
        losses = problem.losses.value(correction.here.s)
        enough = SHARE_OF_ERROR * math.sqrt(problem.mean(losses * losses) / problem.n)
        correction.round(math.inf, enough)
        if not correction.moved or correction.here.gap <= enough:
            break
    return correction.here.beta

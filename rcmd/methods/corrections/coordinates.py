"""Corrections where R is a sum over coordinates: Newton steps by coordinate descent."""

import math
from typing import Any

import numpy as np

from rcmd.methods.corrections.columns import (
    KeptGram,
    entries_in,
    gram_among,
    part_of,
    some_columns,
)
from rcmd.methods.corrections.newton import EXACT, Correction, falls, solve_definite
from rcmd.model.problem import Problem
from rcmd.oracles.base import CoordinateRule, coordinate_rule_of
from rcmd.oracles.vectors import largest
from rcmd.rows.base import DenseRows
from rcmd.rows.processes import check_cancelled
from rcmd.rows.sparse import SparseRows
from rcmd.rows.validation import Array, sp

FEWEST_COLUMNS = 200
"""Columns that a step takes up, at least; all that are not at rest where these are fewer."""

MOST_STEPS, STEP_PASSES = 10, 3
"""Steps of a round, and passes over the data that one takes, at least."""

SPARE = 1.5
"""Columns that an exact step takes up, at least, for each coordinate that is not at rest; where
all are, for each that should not be."""

SWEEPS, MOST_SWEEPS = 10, 1000
"""Sweeps of a step between looks at the clock, and at most."""

SUFFICIENT = 1e-4
"""The share of the predicted decrease that a step must achieve."""

LARGEST_FACE, MOST_FACES = 300, 10
"""Free coordinates whose linear system is solved, and faces followed between sweeps, at most."""

SHARES = 2.0 ** -np.arange(6)
"""Shares of the way along a face that are tried, beside that to the first border."""


def rule_of(problem: Problem) -> CoordinateRule | None:
    """R as a sum over coordinates, where it is one and X has columns."""
    if not isinstance(problem.rows, DenseRows | SparseRows):
        return None
    return coordinate_rule_of(problem.bound_oracle, problem.p)


class CoordinateCorrection(Correction):
    """Proximal Newton steps with R(β) = Σ_k r_k(β_k), r_k as a ``CoordinateRule`` says.

    A step minimizes the quadratic model of f plus R over a working set, the coordinates that are
    not at rest and those farthest from stationary, by coordinate descent: with the matrix of the
    model where that is smaller than the columns, to the end on the face found; else with the
    columns. P falls along the way. Of a sparse X and a quadratic loss the matrix is kept.

    Where the domain of R is smaller than that of the rule, a ball, a step may lead out of it:
    ``outside`` then says that another kind of correction has to continue.
    """

    outside = False

    def __init__(
        self, problem: Problem, beta: Array, *costs: int, earlier: Correction | None = None
    ) -> None:
        super().__init__(problem, *costs, earlier=earlier)
        self._taken: tuple[Array, Any] | None = None
        self._kept: KeptGram | None = None
        if problem.loss.quadratic and isinstance(problem.rows, SparseRows):
            self._kept = getattr(earlier, "_kept", None) or KeptGram(problem)
        self._last = math.inf  # the pass that a round must not go beyond
        rule = rule_of(problem)
        assert rule is not None
        self._rules = rule.table(problem.p)
        lower, upper = self._rules.T[2:]  # which averages may miss by rounding
        self.here = self.point_at(np.minimum(np.maximum(beta, lower), upper))

    def round(self, passes: float, enough: float) -> None:
        before, self._last = self.here, self.passes + passes
        for _ in range(MOST_STEPS):
            start = self.here
            done = start.beta.any() and not start.gap > enough  # not asked at 0, where runs begin
            if done or self.passes + STEP_PASSES > self._last:
                break
            self._step(enough)
            if self.here is start:
                break
        self.moved = self.here is not before

    def accuracy(self, enough: float, power: float) -> float:
        """Exact steps where the model is P itself and small: the first one is then the last."""
        problem = self.problem
        small = isinstance(problem.rows, DenseRows) and problem.p <= min(problem.n, LARGEST_FACE)
        exactly = small and problem.loss.quadratic
        return EXACT if exactly else super().accuracy(enough, power)

    def _step(self, enough: float) -> None:
        """One step, shortened until P falls, or none."""
        here, oracle = self.here, self.problem.oracle
        lacks = stationarity(here.beta, here.slope, self._rules)
        (chosen, wanted), beta = self._working_set(lacks), here.beta.copy()
        accuracy = max(float(lacks.max()), 0.0) * self.accuracy(enough, 1.0)
        beta[chosen] = self._minimizer(chosen, wanted, accuracy)
        if oracle.violation(beta) > 0:
            self.outside = True
            return
        step, level = beta - here.beta, float(oracle.penalty(here.beta))
        promised = SUFFICIENT * min(float(here.slope @ step + oracle.penalty(beta)) - level, 0.0)
        target = here

        def fallen(share: float) -> bool:
            nonlocal target
            there = beta if share == 1.0 else here.beta + share * step
            target = self.point_at(there, self._predicted(there))
            value = target.loss + float(oracle.penalty(target.beta))
            return falls(value, here.loss + level, share * promised)

        if step.any() and self.longest(fallen) > 0:
            self.here = target

    def _working_set(self, lacks: Array) -> tuple[Array, Array]:
        """The coordinates not at rest, at most as many that should not be, and some nearly so.

        And how much each coordinate is wanted there.
        """
        (kink, _, lower, upper), beta = self._rules.T, self.here.beta
        moving = (lower < beta) & (beta < upper) & ((kink == 0) | (beta != 0))
        wanted, active = np.where(moving, np.inf, lacks), int(np.count_nonzero(moving))
        spare = SPARE if self.problem.loss.quadratic else 1.0
        lacking = int(np.count_nonzero(wanted > 0))
        count = max(lacking, math.ceil(spare * (active or lacking)), 1)
        taken = largest(wanted, min(count, max(FEWEST_COLUMNS, 2 * active)))
        few = 2 * len(taken) < len(beta)  # else all of them, without a copy
        return taken if few else np.arange(len(beta)), wanted

    def _minimizer(self, chosen: Array, wanted: Array, accuracy: float) -> Array:
        """The model's minimizer in the coordinates ``chosen``, to an accuracy of its slope."""
        beta, slopes = self.here.beta[chosen], self.here.slope[chosen]
        rules, weights = self._rules[chosen], self.here.curvatures / self.problem.n
        self.passes += 1  # known or not, as a resumed run knows nothing to begin with
        matrix = self._matrix(chosen, wanted, weights)
        if matrix is None:
            return self._by_columns(chosen, weights, slopes, beta, rules, accuracy)
        self.passes += 1
        matrix.flat[:: len(beta) + 1] += self.damping * (matrix.trace() / len(beta) or 1.0)
        return _by_matrix(matrix, slopes, beta, rules, accuracy)

    def _matrix(self, chosen: Array, wanted: Array, weights: Array) -> Array | None:
        """That of the model, unless it is larger than the columns, or than X where it is kept."""
        problem, rows, m = self.problem, self.problem.rows, len(chosen)
        if self._kept is not None:
            return self._kept.among(chosen, wanted, weights) if m <= self._kept.most else None
        if m * m > problem.total(lambda: entries_in(rows, chosen)):
            return None
        matrix: Array = problem.total(lambda: gram_among(rows, chosen, weights))
        return matrix

    def _columns(self, chosen: Array) -> Any:
        """Those of X on all processes, kept for the next step."""
        if self._taken is None or not np.array_equal(self._taken[0], chosen):
            self._taken = None  # which may be as large as X
            columns = some_columns(self.problem.rows, chosen)
            self._taken = chosen, sp.csc_array(self.problem.shared(columns))
        return self._taken[1]

    def _predicted(self, beta: Array) -> Array | None:
        """Xβ by the columns that were taken, where β is 0 in all others."""
        if self._taken is None:
            return None
        chosen, columns = self._taken
        if np.count_nonzero(beta) > np.count_nonzero(beta[chosen]):
            return None
        s: Array = self.problem.own_part(columns @ beta[chosen])
        return s

    def _by_columns(self, chosen: Array, weights: Array, *model: Any) -> Array:
        from rcmd.methods.corrections.coordinate_kernels import descend_by_columns

        slopes, beta, rules, accuracy = model
        columns, weights = self._columns(chosen), self.problem.shared(weights)
        diagonal = (columns * columns).T @ weights
        damped = self.damping * (diagonal.mean() or 1.0), beta.copy()
        entries = columns.data, columns.indices, columns.indptr
        data = entries, weights, slopes, diagonal + damped[0]
        moved = np.zeros(len(weights))
        for _ in range(MOST_SWEEPS // SWEEPS):
            check_cancelled()
            self.passes += math.ceil(SWEEPS * len(beta) / self.problem.p)
            left = descend_by_columns(*data, damped, beta, rules, moved, (SWEEPS, accuracy))
            if left <= accuracy or self.passes >= self._last:
                break
        return beta


def _by_matrix(matrix: Array, slopes: Array, beta: Array, rules: Array, accuracy: float) -> Array:
    """Sweeps, and after some of them a step to the minimizer on the face reached.

    Where it ends at a border, the next one is for the face there: sweeps would only lead off it.
    """
    from rcmd.methods.corrections.coordinate_kernels import descend_by_matrix

    for _ in range(MOST_SWEEPS // SWEEPS):
        check_cancelled()
        descend_by_matrix(matrix, slopes, beta, rules, (SWEEPS, accuracy))
        for _ in range(MOST_FACES):
            step, blocked = _along_face(matrix, slopes, beta, rules)
            slopes += matrix @ step
            beta = np.clip(beta + step, *rules.T[2:])  # rounding may lead beyond a border
            enough = stationarity(beta, slopes, rules).max() <= accuracy
            if enough or not blocked:
                break
        if enough:
            break
    return beta


def _along_face(matrix: Array, slopes: Array, beta: Array, rules: Array) -> tuple[Array, bool]:
    """The way to the model's minimizer where coordinates at rest stay there.

    All go a share of the way, each at most to its own border: with the first, or a larger share
    where that is better. Returns whether any is stopped.
    """
    kink, _, lower, upper = rules.T
    free = np.flatnonzero((lower < beta) & (beta < upper) & ((kink == 0) | (beta != 0)))
    step = np.zeros(len(beta))
    if not 0 < len(free) <= LARGEST_FACE:
        return step, False
    (kink, curved, lower, upper), here = rules[free].T, beta[free]
    block = part_of(matrix, free)
    block.flat[:: len(free) + 1] += curved
    slope = slopes[free] + kink * np.sign(here) + curved * here
    way = -solve_definite(block, slope)
    end = here + way
    if not ((end < lower) | (end > upper) | (kink * here * end < 0)).any():
        step[free] = way
        return step, False
    border = np.where(way > 0, upper, lower)
    border = np.where((kink > 0) & (here * way < 0), np.clip(0.0, lower, upper), border)
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(way != 0, (border - here) / way, np.inf)
    first = min(float(room.min()), 1.0)
    shares = np.array([first, *SHARES] if first < 1 else [1.0])[:, None]
    ends = np.where(room <= shares, border - here, shares * way)
    step[free] = ends[(ends @ slope + ((ends @ block) * ends).sum(axis=1) / 2).argmin()]
    return step, first < 1


def stationarity(beta: Array, slope: Array, rules: Array) -> Array:
    """How steeply slopeᵀβ + R(β) falls along each coordinate, to one side or the other.

    It is negative where β_k rests: by how much the slope may change until it does not.
    """
    from rcmd.methods.corrections.coordinate_kernels import steepest_falls

    falls: Array = steepest_falls(beta, slope, rules)
    return falls

"""Linear programmes on HiGHS: one model an oracle, of which each call changes only numbers."""

import threading
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rcmd.oracles.base import IN_FLOATS, Array, LinearMinOracle
from rcmd.rows.validation import Late, sp

highs = Late("highspy")

TOLERANCE = 1e-10
"""The tightest feasibility tolerance HiGHS takes, relative here: models are scaled to size 1."""

PRIMAL, DUAL = 4, 1
"""HiGHS's numbers of its simplex methods."""

BASIC = 1
"""HiGHS's status of a basic variable."""

ARGMIN, CERTIFICATE = "argmin", "certificate"
"""The two callers. Each has a last basis of its own: certificates do not change the iterates."""


class HighsModel(threading.local, ABC):
    """A linear programme of which every call changes numbers, but never the structure.

    HiGHS is not made for threads. As a ``threading.local``, each thread has all of this for itself,
    made anew by its constructor: threads may share an oracle, and none sees another's bases.

    A call starts from the last basis of its caller, and from nothing else of earlier calls: the
    model is cleared and given that basis, which HiGHS factors anew. So bases are all that a
    checkpoint has to keep, and another model continues from them with the same bits.
    """

    strategies: ClassVar[tuple[int, int]]
    """The method for which the last basis stays feasible, and the one tried if it fails."""

    _arguments: tuple[Any, ...]
    """What the class was called with."""

    def state(self) -> dict[str, list[list[int]]]:
        """The last bases, in HiGHS's numbers."""
        return {caller: _statuses(basis) for caller, basis in self._bases.items()}

    def load_state(self, state: dict[str, list[list[int]]] | None) -> None:
        """Continue from the bases of ``state``, or from none."""
        self._bases: dict[str, Any] = {}
        for caller, statuses in (state or {}).items():
            basis = self._bases[caller] = highs.HighsBasis()
            columns, rows = ([highs.HighsBasisStatus(s) for s in side] for side in statuses)
            basis.col_status, basis.row_status, basis.valid = columns, rows, True

    def solve(self, c: Array, caller: str = CERTIFICATE) -> tuple[Array, Array]:
        """A best vertex for the costs c, and what proves that it is one."""
        self._pose(np.array(c, dtype=float))
        status = self._run(self._bases.pop(caller, None))
        if status != highs.HighsModelStatus.kOptimal:
            raise RuntimeError(
                f"HiGHS ended with status {self._model.modelStatusToString(status)!r} instead of "
                "an optimum; expected a linear programme with entries of moderate size: scale the "
                "constraints"
            )
        self._bases[caller] = self._model.getBasis()
        return self._read(self._model.getSolution())

    def vertex(self, c: Array) -> Array:
        """A best vertex for the costs c; of several, the same one whatever came before."""
        warm = ARGMIN in self._bases
        x, _ = self.solve(c, ARGMIN)
        if warm and self._tied():
            del self._bases[ARGMIN]
            x, _ = self.solve(c, ARGMIN)
        return x

    @abstractmethod
    def _form(self) -> tuple[Any, ...]:
        """The matrix by columns, costs, ends of the columns and ends of the rows, of size 1."""

    @abstractmethod
    def _pose(self, c: Array) -> None:
        """Change the numbers in the model to those for c."""

    @abstractmethod
    def _read(self, found: Any) -> tuple[Array, Array]:
        """What ``solve`` returns, from a solution; HiGHS copies each attribute that is read."""

    @abstractmethod
    def _tied(self) -> bool:
        """Whether other vertices may be as good as the one read last."""

    def _run(self, start: Any) -> Any:
        """The status of a run from the basis ``start``; from none, by either method, if that fails.

        After pivots it is run once more from where they led, with fresh factors: so the numbers
        depend on the last basis alone, to the bit, and not on the path to it.
        """
        usual, other = self.strategies
        self._iterations = 0
        for strategy, basis in ((usual, start), (usual, None), (other, None)):
            found = self._attempt(strategy, basis)
            if found and self._iterations:
                found = self._attempt(strategy, self._model.getBasis())
            if found:
                break
        return self._model.getModelStatus()

    def _attempt(self, strategy: int, basis: Any) -> bool:
        """Whether a run from ``basis`` and from nothing else leads to an optimum."""
        self._model.clearSolver()
        self._model.setOptionValue("simplex_strategy", strategy)
        if basis is not None:
            self._model.setBasis(basis)
        self._model.run()
        self._iterations += int(self._model.getInfo().simplex_iteration_count)
        return bool(self._model.getModelStatus() == highs.HighsModelStatus.kOptimal)

    @cached_property
    def _model(self) -> Any:
        """The one model of HiGHS."""
        model = highs.Highs()
        model.silent()
        options = {
            "solver": "simplex",
            "presolve": "off",
            "simplex_scale_strategy": 0,
            "threads": 1,
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
        }
        for name, value in options.items():
            model.setOptionValue(name, value)
        programme = highs.HighsLp()
        matrix, programme.col_cost_, columns, rows = self._form()
        programme.num_row_, programme.num_col_ = matrix.shape
        programme.col_lower_, programme.col_upper_ = columns
        programme.row_lower_, programme.row_upper_ = rows
        programme.a_matrix_.format_ = highs.MatrixFormat.kColwise
        programme.a_matrix_.start_ = matrix.indptr
        programme.a_matrix_.index_ = matrix.indices
        programme.a_matrix_.value_ = matrix.data
        if model.passModel(programme) == highs.HighsStatus.kError:
            raise ValueError(
                "HiGHS refuses the constraints as numbers it cannot work with; expected entries "
                "of moderate size: scale the constraints"
            )
        return model

    def __reduce__(self) -> Any:
        """Copies begin without a basis, and with a model of their own."""
        return type(self), self._arguments


def _statuses(basis: Any) -> list[list[int]]:
    """The status of every column and every row, in HiGHS's numbers."""
    return [[int(s) for s in side] for side in (basis.col_status, basis.row_status)]


class Programme(HighsModel):
    """min cᵀx over row_lower ≤ Ax ≤ row_upper and lower ≤ x ≤ upper.

    Only its costs change, which leaves the last basis feasible: the primal simplex method continues
    from there. ``solve`` gives a vertex x and multipliers y. What is proved never rests on the
    solver: for any multipliers y with the signs that infinite ends leave them, and r = c − Aᵀy,

        cᵀx ≥ Σ_i min(y_i z : row_lower_i ≤ z ≤ row_upper_i)
              + Σ_j min(r_j z : lower_j ≤ z ≤ upper_j),

    which is ``bound``; ``slack`` is the difference of the two sides as a sum of terms ≥ 0.
    """

    strategies = PRIMAL, DUAL

    def __init__(
        self, A: Any, row_lower: Array, row_upper: Array, lower: Array, upper: Array
    ) -> None:
        self._arguments = A, row_lower, row_upper, lower, upper
        self.A = sp.csr_array(A)
        self._transposed = self.A.T.tocsr()
        self.row_lower, self.row_upper = row_lower, row_upper
        self.lower, self.upper = lower, upper
        self._equal = np.r_[lower == upper, row_lower == row_upper]
        self._places = np.arange(len(lower), dtype=np.int32)
        self.reach = _or_one(np.maximum(_finite(abs(lower)), _finite(abs(upper))))
        sides = np.maximum(_finite(abs(row_lower)), _finite(abs(row_upper)))
        self.row_reach = _or_one(sides + abs(self.A) @ self.reach)
        self.load_state(None)

    def empty(self) -> bool:
        """Whether the constraints contradict each other."""
        return bool(self._run(None) == highs.HighsModelStatus.kInfeasible)

    def _form(self) -> tuple[Any, ...]:
        """The programme in x/reach, each row divided by its own size."""
        scaled = sp.csc_array(self.A * self.reach / self.row_reach[:, None])
        columns = self.lower / self.reach, self.upper / self.reach
        rows = self.row_lower / self.row_reach, self.row_upper / self.row_reach
        return scaled, np.zeros(len(self.lower)), columns, rows

    def _pose(self, c: Array) -> None:
        costs = c * self.reach
        self._size = float(abs(costs).max()) or 1.0
        self._model.changeColsCost(len(costs), self._places, costs / self._size)

    def _read(self, found: Any) -> tuple[Array, Array]:
        self._prices = np.asarray(found.col_dual), np.asarray(found.row_dual)
        x = np.clip(np.asarray(found.col_value) * self.reach, self.lower, self.upper)
        y = self._prices[1] * self._size / self.row_reach
        # Without the signs for which an end is missing.
        y = np.where(np.isinf(self.row_lower), np.minimum(y, 0), y)
        return x, np.where(np.isinf(self.row_upper), np.maximum(y, 0), y)

    def _tied(self) -> bool:
        """Whether too few prices and multipliers differ from 0.

        Those of equal ends may be 0, if their variables are outside the basis.
        """
        settled = abs(np.concatenate(self._prices)) > TOLERANCE
        if self._equal.any():
            settled |= self._equal & (np.concatenate(_statuses(self._model.getBasis())) != BASIC)
        return bool(settled.sum() < len(self.lower))

    def bound(self, c: Array, y: Array) -> float:
        """A number that no cᵀx undercuts, whatever the quality of y; −inf for an open end."""
        residual = c - self._transposed @ y
        rows = _least(y, self.row_lower, self.row_upper)
        return float(rows.sum() + _least(residual, self.lower, self.upper).sum())

    def slack(self, c: Array, y: Array, x: Array) -> float:
        """cᵀx − bound(c, y) for a feasible x, term by term non-negative."""
        residual, values = c - self._transposed @ y, self.A @ x
        above = np.where(y > 0, values - _finite(self.row_lower), _finite(self.row_upper) - values)
        aside = np.where(residual > 0, x - self.lower, self.upper - x)
        aside = np.where(residual == 0, 0.0, np.maximum(aside, 0))
        return float(abs(y) @ np.maximum(above, 0) + abs(residual) @ aside)

    def violation(self, x: Array) -> float:
        """The largest amount by which x misses a row or its box, relative to their sizes."""
        values = self.A @ x
        misses = (
            (self.row_lower - values) / self.row_reach,
            (values - self.row_upper) / self.row_reach,
            (self.lower - x) / self.reach,
            (x - self.upper) / self.reach,
        )
        # Joined by np.max, in which NaN counts as outside.
        return float(np.max(np.concatenate([*misses, np.zeros(1)])))


class OnProgramme(LinearMinOracle):
    """What every oracle that solves linear programmes shares."""

    refuses_exact = IN_FLOATS
    cost = "LP on HiGHS"
    programme: Any
    """A ``HighsModel``."""

    def state(self) -> Any:
        return self.programme.state()

    def load_state(self, state: Any) -> None:
        self.programme.load_state(state)


def _least(slopes: Array, lower: Array, upper: Array) -> Array:
    """min(slope·x) over lower ≤ x ≤ upper, place by place; 0 for a slope of 0."""
    ends = np.where(slopes > 0, lower, upper)
    return slopes * np.where(slopes == 0, 0.0, ends)


def _finite(ends: Array) -> Array:
    return np.where(np.isfinite(ends), ends, 0.0)


def _or_one(sizes: Array) -> Array:
    return np.where(sizes > 0, sizes, 1.0)

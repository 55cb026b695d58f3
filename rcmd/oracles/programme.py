"""A linear programme that is solved again and again with other costs, on HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from rcmd.oracles.base import Array, LinearMinOracle

TOLERANCE = 1e-10
"""The tightest feasibility tolerance HiGHS takes, relative here: the model is scaled to size 1."""

FRESH_AFTER = 32
"""Calls after which the basis is factorized anew; a model is made again by as many at most."""

PRIMAL, DUAL = 4, 1
"""HiGHS's names of its simplex methods; other costs leave a basis primal feasible."""


class Programme:
    """min cᵀx over row_lower ≤ Ax ≤ row_upper and lower ≤ x ≤ upper.

    One model is kept and only its costs change, so that each call starts from the basis of
    the last one. Its factors are made anew after ``FRESH_AFTER`` calls; what was asked since is
    ``memory``, from which another model comes to the same state to the bit. What is proved never
    rests on the solver: for any multipliers y with the signs that infinite ends leave them, and
    r = c − Aᵀy,

        cᵀx ≥ Σ_i min(y_i z : row_lower_i ≤ z ≤ row_upper_i)
              + Σ_j min(r_j z : lower_j ≤ z ≤ upper_j),

    which is ``bound``; ``slack`` is the difference of the two sides as a sum of terms ≥ 0.
    """

    def __init__(
        self, A: Any, row_lower: Array, row_upper: Array, lower: Array, upper: Array
    ) -> None:
        self.A = sp.csr_array(A)
        self._transposed = self.A.T.tocsr()
        self.row_lower, self.row_upper = row_lower, row_upper
        self.lower, self.upper = lower, upper
        self._places = np.arange(len(lower), dtype=np.int32)
        self.reach = _or_one(np.maximum(_finite(abs(lower)), _finite(abs(upper))))
        sides = np.maximum(_finite(abs(row_lower)), _finite(abs(row_upper)))
        self.row_reach = _or_one(sides + abs(self.A) @ self.reach)
        self.forget()

    def forget(self) -> None:
        """Start the next call cold, from a new model."""
        self._model: Any = None
        self._basis: list[list[int]] | None = None
        self._asked: list[Array] = []

    @property
    def memory(self) -> list[Any]:
        """All that the next answer depends on: the last basis made fresh, and the costs since."""
        return [self._basis, list(self._asked)]

    def recall(self, memory: list[Any]) -> None:
        """Come to the state of ``memory`` in a new model."""
        self.forget()
        self._basis, asked = memory
        if self._basis is not None:
            highs = _import_highspy()
            self._model = self._make(highs)
            known = highs.HighsBasis()
            columns, rows = ([highs.HighsBasisStatus(s) for s in side] for side in self._basis)
            known.col_status, known.row_status, known.valid = columns, rows, True
            self._model.setBasis(known)
        for c in asked:
            self.solve(c)

    def solve(self, c: Array) -> tuple[Array, Array]:
        """A vertex that minimizes cᵀx, and multipliers y that prove it."""
        highs = _import_highspy()
        if self._model is None:
            self._model = self._make(highs)
        elif len(self._asked) >= FRESH_AFTER:
            self._refactor()
        self._asked.append(np.array(c, dtype=float))
        costs = self._asked[-1] * self.reach
        size = float(abs(costs).max()) or 1.0
        self._model.changeColsCost(len(costs), self._places, costs / size)
        status = self._run(highs)
        if status != highs.HighsModelStatus.kOptimal:
            raise RuntimeError(
                f"HiGHS ended with status {self._model.modelStatusToString(status)!r} instead of "
                "an optimum; expected a linear programme with entries of moderate size: scale the "
                "constraints"
            )
        return self._read(size)

    def vertex(self, c: Array) -> Array:
        """A vertex that minimizes cᵀx; of several, the same one whatever was asked before."""
        warm = self._model is not None
        x, _ = self.solve(c)
        if warm and self._tied():
            self.forget()
            x, _ = self.solve(c)
        return x

    @property
    def pivots(self) -> int:
        """Simplex iterations of the last ``solve``; 0 before the first."""
        return int(self._model.getInfo().simplex_iteration_count) if self._asked else 0

    def _tied(self) -> bool:
        """Whether other vertices may be as good: too few prices and multipliers differ from 0."""
        columns, rows = self._prices
        settled = (abs(columns) > TOLERANCE) | (self.lower == self.upper)
        active = (abs(rows) > TOLERANCE) | (self.row_lower == self.row_upper)
        return bool(settled.sum() + active.sum() < len(columns))

    def empty(self) -> bool:
        """Whether the constraints contradict each other."""
        highs = _import_highspy()
        self.forget()
        self._model = self._make(highs)
        return bool(self._run(highs) == highs.HighsModelStatus.kInfeasible)

    def _refactor(self) -> None:
        """Go on from the basis at hand, and from nothing else of the calls so far."""
        basis = self._model.getBasis()
        self._model.clearSolver()
        self._model.setBasis(basis)
        self._basis = [[int(s) for s in side] for side in (basis.col_status, basis.row_status)]
        self._asked = []

    def _run(self, highs: Any) -> Any:
        """The status, from the basis at hand; from none, and by the dual method, if that fails."""
        model, optimal = self._model, highs.HighsModelStatus.kOptimal
        model.run()
        if model.getModelStatus() == optimal:
            return optimal
        for strategy in (PRIMAL, DUAL):
            model.clearSolver()
            model.setOptionValue("simplex_strategy", strategy)
            model.run()
            if model.getModelStatus() == optimal:
                break
        model.setOptionValue("simplex_strategy", PRIMAL)
        return model.getModelStatus()

    def _read(self, size: float) -> tuple[Array, Array]:
        found = self._model.getSolution()
        self._prices = np.asarray(found.col_dual), np.asarray(found.row_dual)
        x = np.clip(np.asarray(found.col_value) * self.reach, self.lower, self.upper)
        return x, self._signed(self._prices[1] * size / self.row_reach)

    def _signed(self, y: Array) -> Array:
        """Multipliers without the signs for which an end is missing."""
        y = np.where(np.isinf(self.row_lower), np.minimum(y, 0), y)
        return np.where(np.isinf(self.row_upper), np.maximum(y, 0), y)

    def bound(self, c: Array, y: Array) -> float:
        """A number that no cᵀx undercuts, whatever the quality of y; −inf for an open end."""
        residual = c - self._transposed @ y
        rows = np.where(y > 0, y * _finite(self.row_lower), y * _finite(self.row_upper))
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

    def _make(self, highs: Any) -> Any:
        """The model in x/reach, each row divided by its own size."""
        model = highs.Highs()
        model.silent()
        options = {
            "solver": "simplex",
            "simplex_strategy": PRIMAL,
            "presolve": "off",
            "simplex_scale_strategy": 0,
            "threads": 1,
            "primal_feasibility_tolerance": TOLERANCE,
            "dual_feasibility_tolerance": TOLERANCE,
        }
        for name, value in options.items():
            model.setOptionValue(name, value)
        scaled = sp.csc_array(self.A * self.reach / self.row_reach[:, None])
        programme = highs.HighsLp()
        programme.num_row_, programme.num_col_ = scaled.shape
        programme.col_cost_ = np.zeros(len(self.lower))
        programme.col_lower_, programme.col_upper_ = (
            self.lower / self.reach,
            self.upper / self.reach,
        )
        programme.row_lower_ = self.row_lower / self.row_reach
        programme.row_upper_ = self.row_upper / self.row_reach
        programme.a_matrix_.format_ = highs.MatrixFormat.kColwise
        programme.a_matrix_.start_ = scaled.indptr
        programme.a_matrix_.index_ = scaled.indices
        programme.a_matrix_.value_ = scaled.data
        if model.passModel(programme) == highs.HighsStatus.kError:
            raise ValueError(
                "HiGHS refuses the constraints as numbers it cannot work with; expected entries "
                "of moderate size: scale the constraints"
            )
        return model

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_model": None, "_basis": None, "_asked": []}


class OnProgramme(LinearMinOracle):
    """What every oracle that solves linear programmes shares: two of them, restarted together.

    Certificates ask a model of their own, so that how often they do cannot change the iterates.
    """

    _answers: Programme
    _proofs: Programme

    def prepare(self, *programme: Any) -> None:
        """Make both models of the arguments of ``Programme``."""
        object.__setattr__(self, "_answers", Programme(*programme))
        object.__setattr__(self, "_proofs", Programme(*programme))

    @property
    def pivots(self) -> int:
        """Simplex iterations of the programme that the last ``argmin`` is the answer to."""
        return self._answers.pivots

    def restart(self) -> None:
        self._answers.forget()
        self._proofs.forget()

    def remembered(self) -> Any:
        return [self._answers.memory, self._proofs.memory]

    def remember(self, memory: Any) -> None:
        self._answers.recall(memory[0])
        self._proofs.recall(memory[1])


def _least(slopes: Array, lower: Array, upper: Array) -> Array:
    """min(slope·x) over lower ≤ x ≤ upper, place by place; 0 for a slope of 0."""
    ends = np.where(slopes > 0, lower, upper)
    return np.where(slopes == 0, 0.0, slopes * np.where(slopes == 0, 0.0, ends))


def _finite(ends: Array) -> Array:
    return np.where(np.isfinite(ends), ends, 0.0)


def _or_one(sizes: Array) -> Array:
    return np.where(sizes > 0, sizes, 1.0)


def _import_highspy() -> Any:
    try:
        import highspy
    except ImportError:
        raise ImportError(
            "linear programmes need HiGHS, which is not installed; install the package highspy"
        ) from None
    return highspy

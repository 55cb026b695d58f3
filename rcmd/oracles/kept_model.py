"""A linear programme that is kept from call to call, so that each starts from the last basis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.dense_basis import TOLERANCE, DenseBasis, complete

FRESH_AFTER = 32
"""Calls after which the basis is factorized anew; a model is made again by as many at most.

Calls of a ``DenseBasis`` that make no pivot leave it as it is, and do not count.
"""

PRIMAL, DUAL = 4, 1
"""HiGHS's names of its simplex methods."""


class KeptModel(ABC):
    """A linear programme of which every call changes numbers, but never the structure.

    The first call is one of HiGHS, and calls after it go on from the last basis: those of small
    programmes by ``pivoting``, which leaves to HiGHS what takes it many pivots or what it does
    not solve in all digits, and those of large ones on HiGHS.

    The factors of the basis are made anew after ``FRESH_AFTER`` calls; what was asked since is
    ``memory``, from which another model comes to the same state to the bit.
    """

    strategies: ClassVar[tuple[int, int]]
    """The method for which the last basis stays feasible, and the one tried if it fails."""

    pivoting: ClassVar[type[DenseBasis]]
    """The first of them, for small programmes."""

    _small: bool
    """Whether rows times columns are at most ``dense_basis.LARGEST``."""

    def forget(self) -> None:
        """Start the next call cold, from a new model."""
        self._model: Any = None
        self._basis: list[list[int]] | None = None
        self._asked: list[Array] = []
        self._pivots = 0

    @property
    def memory(self) -> list[Any]:
        """All that the next answer depends on: the last basis made fresh, and the costs since."""
        return [self._basis, list(self._asked)]

    def recall(self, memory: list[Any]) -> None:
        """Come to the state of ``memory`` in a new model."""
        self.forget()
        self._basis, asked = memory
        if self._basis is not None and not self._take(self._basis):
            self._hand_over(self._basis)
        for c in asked:
            self.solve(c)

    def solve(self, c: Array) -> tuple[Array, Array]:
        """A best vertex for the costs c, and what proves that it is one."""
        c = np.array(c, dtype=float)
        self._pivots = 0
        if not self._by_pivots(c):
            self._by_highs(c)
        return self._read(self._model.getSolution())

    def vertex(self, c: Array) -> Array:
        """A best vertex for the costs c; of several, the same one whatever was asked before."""
        warm = self._model is not None
        x, _ = self.solve(c)
        if warm and self._tied():
            self.forget()
            x, _ = self.solve(c)
        return x

    @property
    def pivots(self) -> int:
        """Simplex iterations of the last ``solve``; 0 before the first."""
        return self._pivots

    @abstractmethod
    def _form(self) -> tuple[Any, ...]:
        """The matrix by columns, costs, ends of the columns and ends of the rows, of size 1."""

    @abstractmethod
    def _pose(self, c: Array) -> None:
        """Change the numbers in the model to those for c."""

    @abstractmethod
    def _read(self, found: Any) -> tuple[Array, Array]:
        """What ``solve`` returns, from a solution, whose every attribute HiGHS copies."""

    @abstractmethod
    def _tied(self) -> bool:
        """Whether other vertices may be as good as the one read last."""

    def _by_pivots(self, c: Array) -> bool:
        """Whether pivots from the last basis solve a small programme; if not, HiGHS has it."""
        if self._model is None or not self._small:
            return False
        if not isinstance(self._model, DenseBasis):
            basis = self._statuses()
            if not self._take(basis):
                return False
            self._basis, self._asked = basis, []
        elif len(self._asked) >= FRESH_AFTER:
            self._refactor()
            if not isinstance(self._model, DenseBasis):
                return False
        self._pose(c)
        solved = self._model.run()
        self._pivots = self._model.pivots
        if not solved:
            self._hand_over(self._model.basis)
        elif self._pivots:
            self._asked.append(c)
        return bool(solved)

    def _by_highs(self, c: Array) -> None:
        """Solve the programme on HiGHS, from the last basis if there is one."""
        highs = import_highspy()
        if self._model is None:
            self._model = self._make(highs)
        elif len(self._asked) >= FRESH_AFTER:
            self._refactor()
        self._asked.append(c)
        self._pose(c)
        status = self._run(highs)
        if status != highs.HighsModelStatus.kOptimal:
            words = self._model.modelStatusToString(status)
            self.forget()
            raise RuntimeError(
                f"HiGHS ended with status {words!r} instead of an optimum; expected a linear "
                "programme with entries of moderate size: scale the constraints"
            )
        self._pivots += int(self._model.getInfo().simplex_iteration_count)

    def _take(self, basis: list[list[int]]) -> bool:
        """Whether ``pivoting`` can go on from ``basis``, and does so from now on."""
        if not self._small:
            return False
        form = self._form()
        if not complete(form, basis):
            return False
        try:
            self._model = self.pivoting(form, basis)
        except np.linalg.LinAlgError:  # a basis that only HiGHS, which replaces columns, can use
            return False
        return True

    def _hand_over(self, basis: list[list[int]]) -> None:
        """Go on from ``basis`` on HiGHS."""
        highs = import_highspy()
        self._model = self._make(highs)
        known = highs.HighsBasis()
        columns, rows = ([highs.HighsBasisStatus(s) for s in side] for side in basis)
        known.col_status, known.row_status, known.valid = columns, rows, True
        self._model.setBasis(known)

    def _refactor(self) -> None:
        """Go on from the basis at hand, and from nothing else of the calls so far."""
        self._basis, self._asked = self._statuses(), []
        if not isinstance(self._model, DenseBasis):
            basis = self._model.getBasis()
            self._model.clearSolver()
            self._model.setBasis(basis)
        elif not self._take(self._basis):
            self._hand_over(self._basis)

    def _statuses(self) -> list[list[int]]:
        """Where every column and every row is."""
        if isinstance(self._model, DenseBasis):
            return self._model.basis
        basis = self._model.getBasis()
        return [[int(s) for s in side] for side in (basis.col_status, basis.row_status)]

    def _run(self, highs: Any) -> Any:
        """The status, from the basis at hand; from none, by either method, if that fails."""
        model, optimal = self._model, highs.HighsModelStatus.kOptimal
        model.run()
        if model.getModelStatus() == optimal:
            return optimal
        for strategy in self.strategies:
            model.clearSolver()
            model.setOptionValue("simplex_strategy", strategy)
            model.run()
            if model.getModelStatus() == optimal:
                break
        model.setOptionValue("simplex_strategy", self.strategies[0])
        return model.getModelStatus()

    def _make(self, highs: Any) -> Any:
        model = highs.Highs()
        model.silent()
        options = {
            "solver": "simplex",
            "simplex_strategy": self.strategies[0],
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

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_model": None, "_basis": None, "_asked": [], "_pivots": 0}


Model = TypeVar("Model", bound=KeptModel)


class OnProgramme(LinearMinOracle, Generic[Model]):
    """What every oracle that solves linear programmes shares: two models, restarted together.

    Certificates ask a model of their own, so that how often they do cannot change the iterates.
    """

    _answers: Model
    _proofs: Model

    def prepare(self, make: Callable[..., Model], *arguments: Any) -> None:
        """Make both models."""
        object.__setattr__(self, "_answers", make(*arguments))
        object.__setattr__(self, "_proofs", make(*arguments))

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


def import_highspy() -> Any:
    """HiGHS's package, or a sentence that asks for it."""
    try:
        import highspy
    except ImportError:
        raise ImportError(
            "linear programmes need HiGHS, which is not installed; install the package highspy"
        ) from None
    return highspy

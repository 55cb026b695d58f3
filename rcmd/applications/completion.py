"""Matrix completion: a matrix of small nuclear norm from some of its entries."""

from dataclasses import dataclass
from typing import Any

from rcmd.conjugates import LeastSquares
from rcmd.conjugates.base import SeparableConjugate
from rcmd.model.certificate import Certificate
from rcmd.model.problem import Problem
from rcmd.oracles.matrices import NuclearBall
from rcmd.rows.lowrank import LowRank
from rcmd.rows.matrix_rows import MatrixEntries
from rcmd.rows.validation import Array
from rcmd.solver.result import Result
from rcmd.solver.solve import solve


@dataclass(frozen=True, eq=False)
class Completion:
    """A completed matrix with its certificate.

    Attributes
    ----------
    problem, result
        What was solved, and how the run went; ``result`` is a ``warm_start`` for another.
    """

    problem: Problem
    result: Result

    @property
    def matrix(self) -> LowRank:
        """β, as a sum of rank-one matrices."""
        return self.result.beta

    @property
    def certificate(self) -> Certificate:
        """The certificate of β."""
        return self.result.certificate

    def predict(self, rows: Any, columns: Any) -> Array:
        """The entries (rows_t, columns_t) of β, observed or not."""
        return self.matrix.at(rows, columns)

    def rank(self, share: float = 0.9) -> int:
        """How many singular values of β make up this share of its nuclear norm.

        Averages of atoms have long tails of small singular values, which say nothing.
        """
        values = self.matrix.singular_values()
        return int((values.cumsum() < share * values.sum()).sum()) + bool(values.any())

    def __repr__(self) -> str:
        return f"Completion(shape={self.matrix.shape}, rank={self.rank()}, {self.result!r})"


def complete(
    entries: tuple[Any, Any, Any],
    shape: tuple[int, int],
    radius: float,
    *,
    loss: SeparableConjugate | str | None = None,
    **options: Any,
) -> Completion:
    """Fit a matrix with ‖β‖_* ≤ radius to some of its entries.

    Parameters
    ----------
    entries
        Row numbers, column numbers and values of the observed entries.
    shape
        Rows and columns of the matrix.
    radius
        Of the nuclear-norm ball.
    loss
        What a wrong entry costs; ½(β_ik − y)² by default.
    options
        Those of ``solve``. By default every step uses all entries, as a step costs a singular
        pair in any case.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> left, right = rng.standard_normal(30), rng.standard_normal(20)
    >>> i, k = np.divmod(rng.choice(600, 300, replace=False), 20)
    >>> norm = np.linalg.norm(left) * np.linalg.norm(right)
    >>> done = complete((i, k, left[i] * right[k]), (30, 20), norm, tol=2e-3)
    >>> done.result.success, bool(abs(done.predict(3, 4) - left[3] * right[4]) < 0.05)
    (True, True)
    """
    if not isinstance(entries, tuple | list) or len(entries) != 3:
        raise TypeError(
            "entries is no triple; expected (rows, columns, values) of the observed entries"
        )
    rows, columns, values = entries
    observed = MatrixEntries(rows, columns, shape)
    problem = Problem(observed, values, loss or LeastSquares(), NuclearBall(shape, radius))
    return Completion(problem, solve(problem, **({"batch": 1.0} | options)))


__all__ = ["Completion", "complete"]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__

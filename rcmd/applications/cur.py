"""CUR factorization M ≈ C U R, with columns and rows of M chosen by a certified convex problem.

The relaxation of Mairal et al. weighs how every column and row of M helps to predict M,

    min over β of  1/(nd) Σ_ij ½ (M_ij − M_i· β M_·j)²
    subject to  Σ_i ‖β_i·‖_∞ ≤ radius,  Σ_j ‖β_·j‖_∞ ≤ radius:

column i of M takes part through row i of β, row j of M through column j of β.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from rcmd.conjugates.huber import LeastSquares
from rcmd.model.certificate import Certificate
from rcmd.model.problem import Problem
from rcmd.oracles.cur import CurSet
from rcmd.rows.matrix_rows import BilinearRows
from rcmd.rows.validation import Array, as_array, checked_numbers
from rcmd.solver.result import Result
from rcmd.solver.solve import solve


@dataclass(frozen=True, eq=False)
class CurFactorization:
    """M ≈ C U R and the solution of the convex problem that chose C and R.

    Attributes
    ----------
    columns, rows
        Which columns of M are in C and which rows in R, in the order of M.
    C, U, R
        The factors; U = C⁺ M R⁺ is the best one for this C and R.
    error
        ‖M − C U R‖_F / ‖M‖_F.
    beta
        The solution β of the relaxation, a matrix of the shape of Mᵀ.
    result
        The run that found it.
    """

    columns: Array
    rows: Array
    C: Array
    U: Array
    R: Array
    error: float
    beta: Array
    result: Result

    @property
    def certificate(self) -> Certificate:
        """The proof of how good β is."""
        return self.result.certificate

    def __repr__(self) -> str:
        return (
            f"CurFactorization(columns={self.columns.tolist()}, rows={self.rows.tolist()}, "
            f"error={self.error:.3g}, gap={float(self.result.gap):.3g})"
        )


def problem(M: Any, radius: Any) -> Problem:
    """The relaxation for M, which never forms its nd × nd matrix of rows."""
    M = _checked(M)
    return Problem(
        BilinearRows(M, M.T), M.ravel(), LeastSquares(), CurSet((M.shape[1], len(M)), radius)
    )


def factorize(M: Any, radius: Any, *, columns: int, rows: int, **options: Any) -> CurFactorization:
    """A CUR factorization of M with the given numbers of columns and rows.

    Parameters
    ----------
    M
        The n × d matrix.
    radius
        The bound on both sums of norms; the smaller, the fewer columns and rows share the
        weight. What is large depends on the scale of M: β has that of 1/M.
    columns, rows
        How many of each to keep: those with the largest ‖β_i·‖_∞ and ‖β_·j‖_∞.
    options
        Those of ``rcmd.solve``; by default full batches, and a certified gap of 1e-4 times
        the objective at β = 0.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> low_rank = rng.standard_normal((8, 2)) @ rng.standard_normal((2, 6))
    >>> found = factorize(low_rank, 0.1, columns=2, rows=2)
    >>> found.C.shape, found.U.shape, found.R.shape, found.error < 1e-12, found.result.success
    ((8, 2), (2, 2), (2, 6), True, True)
    """
    M = _checked(M)
    for name, count, most in (("columns", columns, M.shape[1]), ("rows", rows, len(M))):
        whole = isinstance(count, Integral) and not isinstance(count, bool)
        if not (whole and 1 <= count <= most):
            raise ValueError(f"{name} is {count!r}; expected a whole number from 1 to {most}")
    relaxation = problem(M, radius)
    at_zero = float(relaxation.primal(np.zeros(relaxation.p)))
    defaults = {"batch": 1.0, "tol": 1e-4 * at_zero}
    return factorization(M, solve(relaxation, **(defaults | options)), columns, rows)


def factorization(M: Array, result: Result, columns: int, rows: int) -> CurFactorization:
    """What a solution of the relaxation says: the columns and rows with the largest weights."""
    beta = result.beta.reshape(M.shape[1], len(M))
    chosen_columns = _largest(abs(beta).max(axis=1), columns)
    chosen_rows = _largest(abs(beta).max(axis=0), rows)
    C, R = M[:, chosen_columns], M[chosen_rows]
    U = np.linalg.pinv(C) @ M @ np.linalg.pinv(R)
    return CurFactorization(
        columns=chosen_columns,
        rows=chosen_rows,
        C=C,
        U=U,
        R=R,
        error=float(np.linalg.norm(M - C @ U @ R) / np.linalg.norm(M)),
        beta=beta,
        result=result,
    )


def _largest(norms: Array, count: int) -> Array:
    """The places of the largest norms, in order; of those equal but for rounding, the first."""
    shares = np.round(norms / (norms.max() or 1.0), 9)
    return np.sort(np.argsort(-shares, kind="stable")[:count])


def _checked(M: Any) -> Array:
    array = as_array("M", M)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"M has shape {array.shape}; expected a matrix")
    array = np.asarray(checked_numbers("M", array), dtype=float)
    if not array.any():
        raise ValueError("M is zero throughout; expected a matrix with something to factorize")
    return array


__all__ = ["CurFactorization", "factorization", "factorize", "problem"]


def __dir__() -> list[str]:
    """What tab completion shows."""
    return __all__

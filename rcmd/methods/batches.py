"""Derivatives at the rows of a batch, and sums of those rows: compiled where that can be."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.model.problem import Problem
from rcmd.rows.atoms import DenseAtom
from rcmd.rows.lowrank import LowRank

Array = npt.NDArray[Any]


class Batches:
    """The rows of a problem whose β is a vector of floats, some at a time.

    Examples
    --------
    >>> from rcmd import L1Ball, LeastSquares, Problem
    >>> problem = Problem([[1.0, 2.0], [0.0, 1.0]], [1.0, -1.0], LeastSquares(), L1Ball(1.0))
    >>> rows = Batches(problem)
    >>> rows.derivatives(np.array([1.0, 1.0]), np.array([1]))
    array([2.])
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._kernels: Any = None
        if problem.rows.compilable and not isinstance(problem.rows.zero(), LowRank):
            self._compile()

    def _compile(self) -> None:
        from rcmd.engine.kernels import batch
        from rcmd.engine.kernels.layout import rows_tuple
        from rcmd.jit.scalars import CannotCompile, method_scalar

        try:
            self._derivative = method_scalar(self._problem.loss, "derivative")
        except CannotCompile:
            return
        self._rows, self._kernels = rows_tuple(self._problem.rows), batch
        nothing, beta = np.empty(0, dtype=np.int64), np.zeros(self._problem.p)
        self.scatter(nothing, self.derivatives(beta, nothing), beta)  # compiles before the clock

    def derivatives(self, beta: Array, batch: Array) -> Array:
        """l_j'(x_jᵀβ) for the rows j of ``batch``."""
        rows, losses = self._problem.rows, self._problem.losses
        if self._kernels is None:
            return losses.derivative(rows.predict(batch, DenseAtom(beta)), batch)
        out, addresses = np.empty(len(batch)), (self._derivative.address, self._derivative.theta)
        self._kernels.batch_derivatives(self._rows, batch, beta, losses.y, addresses, out)
        return out if losses.weights is None else losses.weights[batch] * out

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        """``total += Σ_j coefficients_j x_j`` over the rows j of ``batch``, in place."""
        if self._kernels is None:
            self._problem.rows.scatter(batch, coefficients, total)
        else:
            self._kernels.scatter_batch(self._rows, batch, coefficients, total)

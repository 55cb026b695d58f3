"""The variance-reduced gradient of Johnson and Zhang, for linear predictions."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from rcmd.methods.base import Progress
from rcmd.oracles.atoms import DenseAtom

Array = npt.NDArray[Any]


class Snapshot:
    """∇f(β⁰) and the n derivatives l_j'(x_jᵀβ⁰) it is made of, counted as n gradients.

    As the derivatives are kept, n numbers, a row sampled later costs one gradient, not two.
    """

    def __init__(self, run: Progress, beta: Array) -> None:
        self._run = run
        run.gradients += run.problem.n
        self._derivatives = run.problem.response(beta)
        self.slope = run.problem.gradient(self._derivatives)

    def slope_at(self, beta: Array, batch: Array) -> Array:
        """∇f(β⁰) plus the mean over ``batch`` of (l_j'(x_jᵀβ) − l_j'(x_jᵀβ⁰)) x_j."""
        problem = self._run.problem
        self._run.gradients += len(batch)
        predictions = problem.rows.predict(batch, DenseAtom(beta))
        changes = problem.losses.derivative(predictions, batch) - self._derivatives[batch]
        slope = self.slope.copy()
        problem.rows.scatter(batch, changes / len(batch), slope)
        return slope

"""What oracles on matrices share: reading c and β in every form, and warm starts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from rcmd.lowrank import LowRank
from rcmd.oracles.base import Array, LinearMinOracle
from rcmd.oracles.leading import Spectrum
from rcmd.validation import checked_shape

if TYPE_CHECKING:
    from rcmd.conjugates.samples import SampleLosses
    from rcmd.rows import Rows

SEED = 20200101
"""Of the random starts: the same question gets the same answer."""

STEP_TOLERANCE = 1e-2
"""Residual, relative to ‖A‖, at which a step's leading vector is good enough."""


class OnMatrices(LinearMinOracle):
    """R on m × p matrices. c is a vector (row by row), an array or a sparse matrix.

    β is a vector (row by row) or a ``LowRank``. The leading vector of one ``argmin`` is the
    start of the next, until ``restart``; nothing else reads or writes it. Two runs of one
    ``Problem`` taken by turns share it, and answer a little differently than one by one.
    """

    exact_atoms = False
    takes_matrices = True
    shape: tuple[int, int]
    _last: list[Array]

    def prepare(self) -> None:
        """Check the shape and make room for the warm start."""
        object.__setattr__(self, "shape", checked_shape(self.shape, type(self).__name__))
        object.__setattr__(self, "_last", [])

    def bind(self, rows: Rows, losses: SampleLosses, offset: Array | None = None) -> Self:
        if rows.p != self.shape[0] * self.shape[1]:
            raise ValueError(
                f"shape of {type(self).__name__} is {self.shape}, {self.shape[0] * self.shape[1]} "
                f"entries; expected p = {rows.p} of them"
            )
        return replace(self)  # type: ignore[type-var] # with a warm start of its own

    def restart(self) -> None:
        self._last.clear()

    def remembered(self) -> Any:
        return list(self._last)

    def remember(self, memory: Any) -> None:
        self._last[:] = memory

    def leading_vector(self, spectrum: Spectrum) -> Array:
        """A leading vector good enough for a step, from the last one."""
        start = self._last[0] if self._last else None
        self._last[:] = [spectrum.leading(start, STEP_TOLERANCE, self.fresh_rng())]
        return self._last[0]

    def fresh_rng(self) -> np.random.Generator:
        """The generator of random starts, always at its beginning."""
        return np.random.default_rng(SEED)

    def matrix(self, c: Any) -> Any:
        """c as a sparse matrix or an array of the right shape."""
        if not sp.issparse(c):
            return np.asarray(c, dtype=float).reshape(self.shape)
        self._check_fits("c", c)
        return c

    def decomposed(self, beta: Any) -> LowRank:
        """β as a singular value decomposition."""
        if not isinstance(beta, LowRank):
            return LowRank.of_array(np.asarray(beta, dtype=float).reshape(self.shape))
        self._check_fits("β", beta)
        beta.decompose()
        return beta

    def _check_fits(self, name: str, matrix: Any) -> None:
        if matrix.shape != self.shape:
            raise ValueError(
                f"{name} has shape {matrix.shape}; expected {self.shape}, the shape of "
                f"{type(self).__name__}"
            )

    def cvxpy_matrix(self, beta: Any) -> Any:
        """A CVXPY vector as the matrix it stands for."""
        import cvxpy as cp

        return cp.reshape(beta, self.shape, order="C")


def scaled(matrix: Any) -> tuple[Any, float]:
    """The matrix divided by a power of two, and that power: then its squares cannot overflow.

    The largest entry becomes 1 to 2, and no digit is lost.
    """
    data = matrix.data if sp.issparse(matrix) else matrix
    scale = 2.0 ** (math.frexp(float(abs(data).max(initial=0.0)))[1] - 1)
    return matrix / scale, scale

"""Rows known by their products alone: a SciPy ``LinearOperator``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rcmd.rows.atoms import Atom
from rcmd.rows.base import Rows
from rcmd.rows.validation import Array

AGREEMENT = 1e-6
"""Relative rounding by which two products with an operator may differ."""


class OperatorRows(Rows):
    """The rows of an n × p ``scipy.sparse.linalg.LinearOperator``.

    Without ``row``, a batch costs two products with the whole operator; with it, only its own
    rows. Row norms and ranges visit every row once.

    Parameters
    ----------
    operator
        Anything with ``shape``, ``matvec`` and ``rmatvec`` in real numbers.
    row
        Optional function of j that gives x_j as a vector of length p.

    Examples
    --------
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> rows = OperatorRows(aslinearoperator(np.array([[1.0, 2.0], [0.0, 3.0]])))
    >>> rows.row(1), rows.square_norms()
    (array([0., 3.]), array([5., 9.]))
    """

    number_type = np.dtype(float)

    def __init__(self, operator: Any, row: Callable[[int], Array] | None = None) -> None:
        if not all(hasattr(operator, part) for part in ("shape", "matvec", "rmatvec")):
            raise TypeError(
                f"operator of OperatorRows is of type {type(operator).__name__}; expected one with "
                "shape, matvec and rmatvec: scipy.sparse.linalg.aslinearoperator(X) makes it of an "
                "array X"
            )
        if np.dtype(getattr(operator, "dtype", None) or float).kind not in "biuf":
            raise ValueError(f"X is an operator with dtype {operator.dtype}; expected real numbers")
        if row is not None and not callable(row):
            raise TypeError(
                f"row of OperatorRows is {row!r}; expected a function of j that gives the row x_j"
            )
        self.operator, self._row = operator, row
        self.n, self.p = (int(size) for size in operator.shape)
        if self.n == 0 or self.p == 0:
            raise ValueError(
                f"X has shape ({self.n}, {self.p}); expected at least one row and one column"
            )
        self._check_products()

    def _check_products(self) -> None:
        """wᵀ(Xβ) = (Xᵀw)ᵀβ, without which d would be no gradient; and rows of the same X."""
        rng = np.random.default_rng(0)
        beta, w = rng.standard_normal(self.p), rng.standard_normal(self.n)
        predictions, slope = self.matvec(beta), self.rmatvec(w)
        there, back = w @ predictions, slope @ beta
        if not abs(there - back) <= AGREEMENT * (
            abs(w) @ abs(predictions) + abs(slope) @ abs(beta)
        ):
            raise ValueError(
                f"X is an operator with wᵀ(Xβ) = {there:.6g} but (Xᵀw)ᵀβ = {back:.6g} for random β "
                "and w; expected the same finite number: matvec and rmatvec do not belong together"
            )
        for j in () if self._row is None else (0, self.n - 1):
            x = self.row(j)
            if not abs(x @ beta - predictions[j]) <= AGREEMENT * (abs(x) @ abs(beta)):
                raise ValueError(
                    f"row of OperatorRows gives x_{j}ᵀβ = {x @ beta:.6g} while the operator gives "
                    f"{predictions[j]:.6g} for a random β; expected rows of the same matrix"
                )

    def predict(self, batch: Array, atom: Atom) -> Array:
        if self._row is None:
            return super().predict(batch, atom)
        return atom.predict(self._block(batch))

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        if self._row is None:
            super().scatter(batch, coefficients, total)
        else:
            total += coefficients @ self._block(batch)

    def matvec(self, beta: Array) -> Array:
        return np.asarray(self.operator.matvec(beta), dtype=float)

    def rmatvec(self, w: Array) -> Array:
        return np.asarray(self.operator.rmatvec(w), dtype=float)

    def row(self, j: int) -> Array:
        if self._row is None:
            unit = np.zeros(self.n)
            unit[j] = 1.0
            return self.rmatvec(unit)
        x = np.asarray(self._row(j), dtype=float)
        if x.shape != (self.p,):
            raise ValueError(
                f"row of OperatorRows gave shape {x.shape} for row {j}; expected ({self.p},)"
            )
        return x

    def _block(self, batch: Array) -> Array:
        return np.array([self.row(int(j)) for j in batch])

"""Rows as a regularizer inside another one sees them while it is bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from rcmd.oracles.atoms import Atom
from rcmd.rows.base import Array, Rows


class InnerRows(Rows):
    """``factor``·X. Among other variables (not ``alone``), slopes Xᵀw are unknown.

    A regularizer that chooses its own radius may bound it by the slope at a given
    prediction, which in truth the other variables move. Here that slope is infinite, so that
    it bounds nothing.
    """

    def __init__(self, rows: Rows, factor: Any = 1, *, alone: bool = True) -> None:
        self.rows, self.factor, self.alone = rows, factor, alone
        self.n, self.p = rows.n, rows.p

    @property
    def number_type(self) -> Any:
        return self.rows.number_type

    def matvec(self, beta: Array) -> Array:
        return self.factor * self.rows.matvec(beta)

    def rmatvec(self, w: Array) -> Array:
        return self.factor * self.rows.rmatvec(w) if self.alone else np.full(self.p, np.inf)

    def square_norms(self) -> Array:
        return self.factor * self.factor * self.rows.square_norms()

    def entry_range(self) -> tuple[Array, Array]:
        low, high = self.rows.entry_range()
        return self.factor * low, self.factor * high

    def box_range(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        return self.rows.box_range(self.factor * lower, self.factor * upper)

    def row(self, j: int) -> Array:
        return self.factor * self.rows.row(j)

    def predict(self, batch: Array, atom: Atom) -> Array:
        return self.factor * self.rows.predict(batch, atom)

    def scatter(self, batch: Array, coefficients: Array, total: Array) -> None:
        self.rows.scatter(batch, self.factor * coefficients, total)

    def as_matrix(self) -> Any:
        return float(self.factor) * self.rows.as_matrix()

"""The n pairs (l_j, l_j*) of a data set, on arrays: l_j = ω_j · l(·; y_j)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.conjugates.base import SeparableConjugate

Array = npt.NDArray[Any]


class SampleLosses:
    """A loss bound to labels and weights; every method maps arrays to arrays.

    With a weight ω_j the pair is l_j = ω_j l and l_j*(w) = ω_j l*(w/ω_j), so that
    γ_j = ω_j γ; the scalar class never hears of weights.
    """

    def __init__(self, loss: SeparableConjugate, y: Array, weights: Array | None = None) -> None:
        self.loss = loss
        self.y = y
        self.weights = weights

    def value(self, s: Array) -> Array:
        """l_j(s_j)."""
        return self._weighted(self._map(self.loss.value, s))

    def derivative(self, s: Array, batch: Any = slice(None)) -> Array:
        """l_j'(s_j) for the rows j of ``batch``."""
        return self._weighted(self._map(self.loss.derivative, s, batch=batch), batch)

    def conjugate(self, w: Array) -> Array:
        """l_j*(w_j)."""
        return self._weighted(self._map(self.loss.conjugate, self.unit(w)))

    def conjugate_derivative(self, w: Array) -> Array:
        """l_j*'(w_j)."""
        return self._map(self.loss.conjugate_derivative, self.unit(w))

    def fenchel_young(self, s: Array, w: Array) -> Array:
        """l_j(s_j) + l_j*(w_j) − w_j s_j, rounding below zero removed."""
        terms = self._map(self.loss.fenchel_young, s, self.unit(w))
        return np.maximum(self._weighted(terms), 0)

    def largest_descent(self, offset: Array | None = None) -> Any:
        """An upper bound of −(1/n) Σ_j (s_j − offset_j)·l_j'(s_j) over all s.

        That is (1/n) Σ_j sup_s −s·l_j'(s) without an offset; with one, l_j(offset_j) − inf l_j.
        """
        if offset is None:
            return _mean(self._weighted(self._map(self.loss.descent_bound)))
        return _mean(self.value(offset) + self.conjugate(0 * self.y))

    def bregman_radius(self, bounds: Array) -> Any:
        """D_max = (1/n) Σ_j sup over |a| ≤ M_j of D_{l_j}(0, a)."""
        radii = np.frompyfunc(self.loss.bregman_radius, 1, 1)(bounds).astype(self.y.dtype)
        return _mean(self._weighted(radii))

    def clip(self, w: Array) -> Array:
        """``w`` brought into dom l_j*, coordinate by coordinate."""
        low, high = self.domain
        return np.clip(w, low, high)

    @cached_property
    def domain(self) -> tuple[Array, Array]:
        """The ends of each dom l_j*."""
        ends = np.frompyfunc(self.loss.conjugate_domain, 1, 1)(self.y)
        low, high = np.array([*ends], dtype=self.y.dtype).T
        return self._weighted(low), self._weighted(high)

    @property
    def gammas(self) -> Array:
        """The smoothness constants γ_j = ω_j γ."""
        return self._weighted(np.full_like(self.y, self.loss.gamma + 0 * self.y[0]))

    def unit(self, w: Array) -> Array:
        """w_j/ω_j, the dual variable of the unweighted loss."""
        return w if self.weights is None else w / self.weights

    def _weighted(self, values: Array, batch: Any = slice(None)) -> Array:
        return values if self.weights is None else self.weights[batch] * values

    def _map(
        self, function: Callable[..., Any], *arguments: Array, batch: Any = slice(None)
    ) -> Array:
        y = self.y[batch]
        values = np.frompyfunc(function, len(arguments) + 1, 1)(*arguments, y)
        return np.asarray(values, dtype=y.dtype)


def _mean(values: Array) -> Any:
    return values.sum() / len(values)

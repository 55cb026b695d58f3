"""The n pairs (l_j, l_j*) of a data set, on arrays: l_j = ω_j · l(·; y_j)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from rcmd.conjugates.base import SeparableConjugate

Array = npt.NDArray[Any]

COMPILE_FROM = 4096
"""Length from which an array is worth compiled code; below it numba is not even imported."""

BLOCK = 8192
"""Entries that array forms see at a time, so that what they hold in between stays in the cache."""


class SampleLosses:
    """A loss bound to labels and weights; every method maps arrays to arrays.

    With a weight ω_j the pair is l_j = ω_j l and l_j*(w) = ω_j l*(w/ω_j), so that
    γ_j = ω_j γ; the scalar class never hears of weights.

    Examples
    --------
    >>> from rcmd import LeastSquares
    >>> losses = SampleLosses(LeastSquares(), np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    >>> losses.value(np.zeros(2)), losses.gammas
    (array([0.5, 9. ]), array([1., 2.]))
    """

    def __init__(self, loss: SeparableConjugate, y: Array, weights: Array | None = None) -> None:
        self.loss = loss
        self.y = y
        self.weights = weights
        self._scalars: dict[str, Any] = {}

    def every(self, stride: int) -> SampleLosses:
        """The pairs 0, stride, 2·stride, …."""
        weights = None if self.weights is None else self.weights[::stride]
        return SampleLosses(self.loss, self.y[::stride], weights)

    def value(self, s: Array) -> Array:
        """l_j(s_j)."""
        return self._weighted(self._each("value", s, self.y))

    def derivative(self, s: Array, batch: Any = None) -> Array:
        """l_j'(s_j), for the rows j of ``batch`` by the scalar method that steps are made of."""
        if batch is None:
            return self._weighted(self._each("derivative", s, self.y))
        return self._weighted(self._one_by_one("derivative", s, self.y[batch]), batch)

    def second_derivative(self, s: Array) -> Array:
        """l_j''(s_j), brought into [0, γ_j]."""
        slopes = self._each("second_derivative", s, self.y)
        return self._weighted(np.clip(slopes, 0, self.loss.gamma))

    def conjugate(self, w: Array) -> Array:
        """l_j*(w_j)."""
        return self._weighted(self._each("conjugate", self.unit(w), self.y))

    def conjugate_derivative(self, w: Array) -> Array:
        """l_j*'(w_j)."""
        return self._each("conjugate_derivative", self.unit(w), self.y)

    def fenchel_young(self, s: Array, w: Array) -> Array:
        """l_j(s_j) + l_j*(w_j) − w_j s_j, rounding below zero removed."""
        terms = self._each("fenchel_young", s, self.unit(w), self.y)
        return np.maximum(self._weighted(terms), 0)

    def largest_descent(self, offset: Array | None = None) -> Any:
        """An upper bound of −(1/n) Σ_j (s_j − offset_j)·l_j'(s_j) over all s.

        That is (1/n) Σ_j sup_s −s·l_j'(s) without an offset; with one, l_j(offset_j) − inf l_j.
        """
        if offset is None:
            return _mean(self._weighted(self._each("descent_bound", self.y)))
        return _mean(self.value(offset) + self.conjugate(0 * self.y))

    def bregman_radius(self, bounds: Array) -> Any:
        """D_max = (1/n) Σ_j sup over |a| ≤ M_j of D_{l_j}(0, a)."""
        return _mean(self._weighted(self._each("bregman_radius", bounds)))

    def clip(self, w: Array) -> Array:
        """``w`` brought into dom l_j*, coordinate by coordinate."""
        low, high = self.domain
        return np.clip(w, low, high)

    @cached_property
    def domain(self) -> tuple[Array, Array]:
        """The ends of each dom l_j*."""
        least, most = self.y.min(), self.y.max()
        if ((self.y == least) | (self.y == most)).all():  # two classes need no sorting
            labels, places = np.array([least, most]), (self.y == most).astype(int)
        else:
            labels, places = np.unique(self.y, return_inverse=True)
        ends = np.array([self.loss.conjugate_domain(y) for y in labels], dtype=self.y.dtype)
        low, high = ends[:, 0][places], ends[:, 1][places]
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

    def _each(self, name: str, *arguments: Array) -> Array:
        """The method ``name`` at every place, by the class's array form where it has one."""
        form = getattr(vars(type(self.loss)).get("arrays"), name, None)
        if form is None or self.y.dtype == object:
            return self._one_by_one(name, *arguments)
        out = np.empty(len(self.y))
        for start in range(0, len(out), BLOCK):
            block = slice(start, start + BLOCK)
            out[block] = form(*(argument[block] for argument in arguments))
        return out

    def _one_by_one(self, name: str, *arguments: Array) -> Array:
        """The scalar method ``name`` at every place; compiled where arrays are long."""
        length = len(arguments[0])
        if length >= COMPILE_FROM and self.y.dtype != object:
            compiled = self._compiled(name)
            if compiled is not None:
                return compiled(*arguments)
        function = np.frompyfunc(getattr(self.loss, name), len(arguments), 1)
        return np.asarray(function(*arguments), dtype=self.y.dtype)

    def _compiled(self, name: str) -> Any:
        """The compiled method, or ``None`` where it does not compile."""
        from rcmd.compiling.records import CannotCompile
        from rcmd.compiling.scalars import method_scalar

        if name not in self._scalars:
            try:
                self._scalars[name] = method_scalar(self.loss, name)
            except CannotCompile:
                # The engine says so once, when it meets the same class.
                self._scalars[name] = None
        return self._scalars[name]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_scalars": {}}


def _mean(values: Array) -> Any:
    return values.sum() / len(values)

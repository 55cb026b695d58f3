"""The n pairs (l_j, l_j*) of a data set, on arrays: l_j = ω_j · l(·; y_j)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from rcmd.conjugates.base import SeparableConjugate
from rcmd.rows.validation import Array

COMPILE_FROM = 4096
"""Length from which an array is worth compiled code; below it numba is not even imported."""

FUSED_FROM = 1024
"""Length from which array forms of several methods at once, which are compiled, are used."""

BLOCK = 8192
"""Entries that array forms get at a time, so that their intermediate results stay in the cache."""


MOST_LABELS = 16
"""How many labels γ is estimated at, for a class that does not say it."""

SOME_LABELS = 1000
"""Labels that are sorted to find different ones."""


class SampleLosses:
    """A loss bound to labels and weights; every method maps arrays to arrays.

    With a weight ω_j the pair is l_j = ω_j l and l_j*(w) = ω_j l*(w/ω_j), so that
    γ_j = ω_j γ; the scalar class knows nothing of weights. ``unit_gammas``, if given, has a γ
    for each sample instead, without its weight.

    Examples
    --------
    >>> from rcmd import LeastSquares
    >>> losses = SampleLosses(LeastSquares(), np.array([1.0, 3.0]), np.array([1.0, 2.0]))
    >>> losses.value(np.zeros(2)), losses.gammas
    (array([0.5, 9. ]), array([1., 2.]))
    """

    def __init__(
        self,
        loss: SeparableConjugate,
        y: Array,
        weights: Array | None = None,
        unit_gammas: Array | None = None,
    ) -> None:
        self.loss = loss
        self.y = y
        self.weights = weights
        self.unit_gammas = unit_gammas
        self._scalars: dict[str, Any] = {}

    def some(self, places: Any) -> SampleLosses:
        """The pairs j in ``places``, an array or a slice."""
        weights = None if self.weights is None else self.weights[places]
        gammas = None if self.unit_gammas is None else self.unit_gammas[places]
        return SampleLosses(self.loss, self.y[places], weights, gammas)

    def value(self, s: Array) -> Array:
        """l_j(s_j)."""
        return self._weighted(self._each("value", s, self.y))

    def derivative(self, s: Array, batch: Any = None) -> Array:
        """l_j'(s_j), for the rows j of ``batch`` by the scalar method, as the steps do."""
        if batch is None:
            return self._weighted(self._each("derivative", s, self.y))
        return self._weighted(self._one_by_one("derivative", s, self.y[batch]), batch)

    def second_derivative(self, s: Array) -> Array:
        """l_j''(s_j), brought into [0, γ_j]."""
        slopes = self._each("second_derivative", s, self.y)
        return self._weighted(np.clip(slopes, 0, self.loss.gamma))

    def expansion(self, s: Array) -> tuple[Array, Array, Array]:
        """l_j(s_j), l_j'(s_j) and l_j''(s_j), in one pass where an array form does all three."""
        parts = self._fused("expansion", s, self.y)
        if parts is None:
            return self.value(s), self.derivative(s), self.second_derivative(s)
        values, slopes, curvatures = parts
        np.clip(curvatures, 0, self.loss.gamma, out=curvatures)
        return self._weighted(values), self._weighted(slopes), self._weighted(curvatures)

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

    def duality(self, s: Array, w: Array) -> tuple[Array, Array]:
        """``conjugate`` at w and ``fenchel_young`` at (s, w), in one pass where there is a form."""
        parts = self._fused("duality", s, self.unit(w), self.y)
        if parts is None:
            return self.conjugate(w), self.fenchel_young(s, w)
        conjugates, terms = parts
        np.maximum(terms, 0, out=terms)
        return self._weighted(conjugates), self._weighted(terms)

    def largest_descent(self, offset: Array | None = None) -> Any:
        """An upper bound of −(1/n) Σ_j (s_j − offset_j)·l_j'(s_j) over all s.

        That is (1/n) Σ_j sup_s −s·l_j'(s) without an offset; with one, l_j(offset_j) − inf l_j.
        """
        if offset is None:
            return self._weighted(self._each("descent_bound", self.y)).mean()
        return (self.value(offset) + self.conjugate(0 * self.y)).mean()

    def bregman_radius(self, bounds: Array) -> Any:
        """D_max = (1/n) Σ_j sup over |a| ≤ M_j of D_{l_j}(0, a)."""
        levels = _two_levels(bounds)
        if levels is None or self.y.dtype == object:
            radii = self._each("bregman_radius", bounds)
        else:
            radii = np.array([self.loss.bregman_radius(b) for b in levels[0]])[levels[1]]
        return self._weighted(radii).mean()

    def clip(self, w: Array) -> Array:
        """``w`` brought into dom l_j*, coordinate by coordinate; itself where it is inside."""
        low, high = self.domain
        return w if (w >= low).all() and (w <= high).all() else np.clip(w, low, high)

    @cached_property
    def domain(self) -> tuple[Array, Array]:
        """The ends of each dom l_j*."""
        labels, places = _two_levels(self.y) or np.unique(self.y, return_inverse=True)
        ends = np.array([self.loss.conjugate_domain(y) for y in labels], dtype=self.y.dtype)
        low, high = ends[:, 0][places], ends[:, 1][places]
        return self._weighted(low), self._weighted(high)

    @property
    def gammas(self) -> Array:
        """The smoothness constants γ_j = ω_j γ."""
        if self.unit_gammas is not None:
            return self._weighted(self.unit_gammas)
        return self._weighted(np.full_like(self.y, self.loss.gamma + 0 * self.y[0]))

    def estimated_gammas(self, low: Array, high: Array) -> Array:
        """An estimate of γ for each sample, without its weight, on low_j ≤ s ≤ high_j.

        It is found at up to ``MOST_LABELS`` of the labels; one between two of them gets the larger.
        """
        y, low, high = (np.asarray(part, dtype=float) for part in (self.y, low, high))
        labels = y[label_places(y)]
        if len(labels) > MOST_LABELS:
            labels = labels[np.linspace(0, len(labels) - 1, MOST_LABELS).round().astype(int)]
        below = np.searchsorted(labels, y, "right") - 1
        above = below + (labels[below] < y)
        found = np.empty(len(labels))
        for k, label in enumerate(labels.tolist()):
            near = (below == k) | (above == k)
            found[k] = self.loss.steepest(float(low[near].min()), float(high[near].max()), label)
        # Where l is linear on the range, any positive number will do.
        found = np.maximum(found, 1e-6 * (found.max() or 1.0))
        return np.maximum(found[below], found[above]).astype(self.y.dtype)

    def unit(self, w: Array) -> Array:
        """w_j/ω_j, the dual variable of the unweighted loss."""
        return w if self.weights is None else w / self.weights

    def _weighted(self, values: Array, batch: Any = slice(None)) -> Array:
        return values if self.weights is None else self.weights[batch] * values

    def _each(self, name: str, *arguments: Array) -> Array:
        """The method ``name`` at every place, by the class's array form where it has one."""
        form = self._array_form(name)
        if form is None:
            return self._one_by_one(name, *arguments)
        out = np.empty(len(self.y))
        for start in range(0, len(out), BLOCK):
            block = slice(start, start + BLOCK)
            out[block] = form(*(argument[block] for argument in arguments))
        return out

    def _fused(self, name: str, *arguments: Array) -> tuple[Array, ...] | None:
        """The results of several methods by the array form ``name``, or None without one."""
        form = self._array_form(name) if len(self.y) >= FUSED_FROM else None
        return None if form is None else form(*arguments)

    def _array_form(self, name: str) -> Any:
        if self.y.dtype == object:
            return None
        return getattr(vars(type(self.loss)).get("arrays"), name, None)

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
        from rcmd.jit.scalars import CannotCompile, method_scalar

        if name not in self._scalars:
            try:
                self._scalars[name] = method_scalar(self.loss, name)
            except CannotCompile:
                # The engine says so once, when it meets the same class.
                self._scalars[name] = None
        return self._scalars[name]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_scalars": {}}


def label_places(y: Array) -> Array:
    """Where different labels stand, in their order: all of them, or some of more than 16.

    The least and the greatest are among them. No array longer than ``SOME_LABELS`` is sorted.

    Examples
    --------
    >>> label_places(np.array([3.0, 1.0, 2.0, 1.0, 3.0])).tolist()
    [1, 2, 0]
    """
    low, high = int(y.argmin()), int(y.argmax())
    found, rest = np.unique([low, high]), np.flatnonzero((y != y[low]) & (y != y[high]))
    while len(rest) and len(found) <= MOST_LABELS:
        some = rest[:: -(-len(rest) // SOME_LABELS)]
        new = some[np.unique(y[some], return_index=True)[1]]
        found = np.concatenate([found, new])
        if len(some) == len(rest) or len(found) > MOST_LABELS:
            break
        for label in y[new]:
            rest = rest[y[rest] != label]
    return found[np.argsort(y[found])]


def _two_levels(values: Array) -> tuple[Array, Array] | None:
    """The least and the greatest of ``values``, and which stands where, if there is no third.

    Labels of two classes, and bounds of rows that hold nothing but zeros and ones, need no more
    than two evaluations.
    """
    levels = np.array([values.min(), values.max()])
    greatest = values == levels[1]
    if (greatest | (values == levels[0])).all():
        return levels, greatest.astype(int)
    return None

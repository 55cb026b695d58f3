"""The n pairs (l_j, l_j*) of a data set, on arrays: l_j = ω_j · l(· + o_j; y_j, fields_j)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from rcmd.conjugates.base import SeparableConjugate, has_curvature_bound, numeric_parts
from rcmd.rows.validation import Array

COMPILE_FROM = 512
"""Length from which an array is worth compiled code; below it numba is not even imported."""

FUSED_FROM = 1024
"""Length from which array forms of several methods at once, which may be compiled, are used."""

BLOCK, FUSED_BLOCK = 2**13, 2**16
"""Entries that array forms of one method, and of several at once, get at a time, so that their
intermediate results stay in the cache and take no memory.
"""

MOST_LABELS = 16
"""How many labels γ is estimated at, for a class that does not say it."""

SOME_LABELS = 1000
"""Labels that are sorted to find different ones."""

CHORDS = 34
"""How many points of a range a derivative is compared at, for such a class that reads fields."""


class SampleLoss(NamedTuple):
    """The pair of one sample: l with its offset o and its fields filled in, of s = x_jᵀβ.

    It is l(s + o) and l*(w) − ow. The methods are scalar code, as those of the loss are, and proxes
    see them; of array forms of a loss and an array of offsets it makes array forms.

    Examples
    --------
    >>> from rcmd import LeastSquares
    >>> shifted = SampleLoss(LeastSquares(), offset=1.0)
    >>> shifted.derivative(2.0, 3.0), shifted.conjugate(2.0, 3.0)  # as LeastSquares at the label 2
    (0.0, 6.0)
    """

    loss: Any
    offset: Any = 0
    fields: Any = ()
    gamma: Any = math.nan

    def value(self, s: Any, y: Any) -> Any:
        return self.loss.value(s + self.offset, y, *self.fields)

    def derivative(self, s: Any, y: Any) -> Any:
        return self.loss.derivative(s + self.offset, y, *self.fields)

    def second_derivative(self, s: Any, y: Any) -> Any:
        return self.loss.second_derivative(s + self.offset, y, *self.fields)

    def expansion(self, s: Any, y: Any) -> Any:
        return self.loss.expansion(s + self.offset, y, *self.fields)

    def conjugate(self, w: Any, y: Any) -> Any:
        return self.loss.conjugate(w, y, *self.fields) - self.offset * w

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return self.loss.conjugate_derivative(w, y, *self.fields) - self.offset

    def conjugate_domain(self, y: Any) -> Any:
        return self.loss.conjugate_domain(y, *self.fields)

    def slope_limit(self, direction: Any, y: Any) -> Any:
        return self.loss.slope_limit(direction, y, *self.fields)

    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        return self.loss.fenchel_young(s + self.offset, w, y, *self.fields)

    def duality(self, s: Any, w: Any, y: Any) -> Any:
        values, conjugates, terms = self.loss.duality(s + self.offset, w, y, *self.fields)
        return values, conjugates - self.offset * w, terms

    def curvature_bound(self, low: Any, high: Any, y: Any) -> Any:
        low, high = low + self.offset, high + self.offset
        return self.loss.curvature_bound(low, high, y, *self.fields)


class OnEach(NamedTuple):
    """The methods of a loss, one call of Python for each place of their arrays."""

    loss: Any

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.loss, name)
        return lambda *arrays: np.frompyfunc(method, len(arrays), 1)(*arrays)


class SampleLosses:
    """A loss bound to labels, weights, offsets and fields; every method maps arrays to arrays.

    With a weight ω_j the pair is l_j = ω_j l and l_j*(w) = ω_j l*(w/ω_j), so that
    γ_j = ω_j γ; with an offset o_j it is that of ``SampleLoss``. The scalar class knows nothing of
    either. ``unit_gammas``, if given, has a γ for each sample instead, without its weight.

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
        offset: Array | None = None,
        fields: tuple[Array, ...] = (),
    ) -> None:
        self.loss = loss
        self.y = y
        self.weights = weights
        self.unit_gammas = unit_gammas
        self.offset = offset
        self.fields = fields
        self._scalars: dict[str, Any] = {}

    def some(self, places: Any) -> SampleLosses:
        """The pairs j in ``places``, an array or a slice."""
        parts = (self.weights, self.unit_gammas, self.offset)
        weights, gammas, offset = (None if part is None else part[places] for part in parts)
        fields = tuple(part[places] for part in self.fields)
        return SampleLosses(self.loss, self.y[places], weights, gammas, offset, fields)

    def with_weights(self, weights: Array) -> SampleLosses:
        """The same pairs with other weights."""
        other = copy(self)
        other.weights = weights
        return other

    @property
    def plain(self) -> bool:
        """Whether a sample has nothing of its own but its label and its weight."""
        return self.offset is None and not self.fields

    def one(self, j: Any) -> Any:
        """The pair of sample j without its weight, as scalar methods."""
        if self.plain and self.unit_gammas is None:
            return self.loss
        offset = 0 if self.offset is None else self.offset[j]
        gamma = self.loss.gamma if self.unit_gammas is None else self.unit_gammas[j]
        return SampleLoss(self.loss, offset, tuple(part[j] for part in self.fields), gamma)

    # ---- compiled code -------------------------------------------------------------------------

    @property
    def labels(self) -> Array:
        """What ``scalar`` takes for the label: y_j, or j where samples have data of their own."""
        return self.y if self.plain else np.arange(len(self.y), dtype=float)

    @property
    def table(self) -> Array:
        """y_j, o_j and the fields of sample j, a row each, which compiled code looks up."""
        offset = 0 * self.y if self.offset is None else self.offset
        return np.stack([self.y, offset, *self.fields], axis=1)

    def scalar(self, name: str) -> Any:
        """The compiled method ``name``, of one to three arguments, the last one of ``labels``."""
        from rcmd.jit.scalars import method_scalar, sample_scalar

        if self.plain:
            return method_scalar(self.loss, name, self._record)
        return sample_scalar(SampleLoss, self.loss, name, self.table)

    @cached_property
    def _record(self) -> Any:
        """The loss as compiled code sees it, looked at once for all its methods."""
        from rcmd.jit.scalars import record_of

        return record_of(self.loss)

    # ---- on arrays -----------------------------------------------------------------------------

    def value(self, s: Array) -> Array:
        """l_j(s_j)."""
        return self._weighted(self._each("value", s, self.y))

    def derivative(self, s: Array, batch: Any = None) -> Array:
        """l_j'(s_j), for the rows j of ``batch`` by the scalar method, as the steps do."""
        if batch is None:
            return self._weighted(self._each("derivative", s, self.y))
        some = self if self.plain else self.some(batch)
        return self._weighted(some._one_by_one("derivative", s, self.y[batch]), batch)

    def second_derivative(self, s: Array) -> Array:
        """l_j''(s_j), brought into [0, γ_j]."""
        return self._weighted(self._bent(self._each("second_derivative", s, self.y)))

    def _bent(self, curvatures: Array) -> Array:
        """The array itself, whose curvatures are brought into [0, γ_j]."""
        np.maximum(curvatures, 0, out=curvatures)
        return np.minimum(curvatures, self.unit_gamma, out=curvatures)

    def expansion(self, s: Array) -> tuple[Array, Array, Array]:
        """l_j(s_j), l_j'(s_j) and l_j''(s_j), in one pass where an array form does all three."""
        parts = self._fused("expansion", s, self.y)
        if parts is None:
            return self.value(s), self.derivative(s), self.second_derivative(s)
        values, slopes, curvatures = parts
        curvatures = self._bent(curvatures)
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

    def duality(self, s: Array, w: Array) -> tuple[Array | None, Array, Array]:
        """``value`` at s, ``conjugate`` at w and ``fenchel_young`` at (s, w), in one pass.

        Where no array form does that: the last two, and no value.
        """
        parts = self._fused("duality", s, self.unit(w), self.y)
        if parts is None:
            return None, self.conjugate(w), self.fenchel_young(s, w)
        values, conjugates, terms = parts
        np.maximum(terms, 0, out=terms)
        return self._weighted(values), self._weighted(conjugates), self._weighted(terms)

    def largest_descent(self, start: Array | None = None) -> Any:
        """An upper bound of −(1/n) Σ_j (s_j − start_j)·l_j'(s_j) over all s.

        That is (1/n) Σ_j sup_s −s·l_j'(s) from 0, and from elsewhere l_j(start_j) − inf l_j.
        """
        return self._descents(start).mean()

    def _descents(self, start: Array | None) -> Array:
        if start is None and self.plain:
            return self._weighted(self._each("descent_bound", self.y))
        zero = 0 * self.y
        return self.value(zero if start is None else start) + self.conjugate(zero)

    def bregman_radius(self, bounds: Array) -> Any:
        """D_max = (1/n) Σ_j sup over |a| ≤ M_j of D_{l_j}(0, a)."""
        return self._weighted(self._radii(bounds)).mean()

    def _radii(self, bounds: Array) -> Array:
        """By the class where all samples have its γ; else D at an end, at most γ_j M_j²/2.

        D_l(0, a) = l(0) + l*(l'(a)) grows with |a| on either side.
        """
        if not self.plain or self.unit_gammas is not None:
            zero = 0 * self.y
            ends = [self._each("derivative", a, self.y) for a in (-bounds, bounds)]
            radii = [self._each("fenchel_young", zero, w, self.y) for w in ends]
            majorant = self.unit_gamma * bounds * bounds / 2
            # What a default fenchel_young may lose; where it is no number, the majorant stands in.
            terms = abs(self._each("value", zero, self.y)) + bounds * np.maximum(*map(abs, ends))
            lost = 0 if self.y.dtype == object else 2.0**-40 * terms
            return np.fmin(np.maximum(*radii) + lost, majorant)
        levels = _two_levels(bounds)
        if levels is None or self.y.dtype == object:
            return self._each("bregman_radius", bounds)
        return np.array([self.loss.bregman_radius(b) for b in levels[0]])[levels[1]]

    def clip(self, w: Array) -> Array:
        """``w`` brought into dom l_j*, coordinate by coordinate; itself where it is inside."""
        if self.unbounded:
            return w
        low, high = self.domain
        return w if (w >= low).all() and (w <= high).all() else np.clip(w, low, high)

    @property
    def unbounded(self) -> bool:
        """Whether dom l* is the whole line by what the class says, or does not say."""
        kind = type(self.loss)
        inherited = kind.conjugate_domain is SeparableConjugate.conjugate_domain
        return inherited and "conjugate_domain" not in numeric_parts(kind)

    @property
    def domain(self) -> tuple[Array, Array]:
        """The ends of each dom l_j*."""
        low, high = (self._weighted(end) for end in self._unit_domain)
        return low, high

    @cached_property
    def _unit_domain(self) -> tuple[Array, Array]:
        """The same without weights."""
        labels, fields = self.y, self.fields
        if self.unbounded:
            return np.full_like(labels, -math.inf), np.full_like(labels, math.inf)
        numeric = "conjugate_domain" in numeric_parts(type(self.loss))
        places: Any = slice(None)
        if not fields:
            labels, places = _two_levels(labels) or np.unique(labels, return_inverse=True)
        if numeric:
            few = SampleLosses(self.loss, labels, fields=fields)
            ends = [few._each("slope_limit", end + 0 * labels, labels) for end in (-1.0, 1.0)]
        else:
            each = zip(labels, *fields, strict=True)
            found = [self.loss.conjugate_domain(*at) for at in each]
            ends = list(np.array(found, dtype=self.y.dtype).T)
        low, high = (end[places] for end in ends)
        return low, high

    @property
    def gammas(self) -> Array:
        """The smoothness constants γ_j = ω_j γ."""
        if self.unit_gammas is not None:
            return self._weighted(self.unit_gammas)
        return self._weighted(np.full_like(self.y, self.loss.gamma + 0 * self.y[0]))

    @property
    def unit_gamma(self) -> Any:
        """γ without weights, an array where samples have their own."""
        return self.loss.gamma if self.unit_gammas is None else self.unit_gammas

    def shifted(self, low: Array, high: Array) -> tuple[Array, ...]:
        """Ends of predictions with their offsets, the labels and the fields."""
        offset = 0 if self.offset is None else self.offset
        return low + offset, high + offset, self.y, *self.fields

    def local_gammas(self, low: Array, high: Array) -> Array:
        """γ for each sample, without its weight, on low_j ≤ x_jᵀβ ≤ high_j.

        By the class's ``curvature_bound``; where it has none, an estimate.
        """
        if has_curvature_bound(type(self.loss)):
            found = self._each("curvature_bound", low, high, self.y)
        elif self.fields:
            found = self._steepest_chords(low, high)
        else:
            return self._estimated_gammas(low, high)
        # Where l is linear on the range, any positive number will do.
        return np.maximum(found, found.max() / 10**6 or 1)

    def _steepest_chords(self, low: Array, high: Array) -> Array:
        """An estimate for samples that are all different: chords of each l_j', then closer ones."""
        wide = np.maximum(high - low, 1e-3)
        low, high, steepest = low - (wide - (high - low)) / 2, low + wide, 0 * self.y
        for _ in range(3):
            points = np.linspace(low, high, CHORDS)
            slopes = np.array([self._each("derivative", s, self.y) for s in points])
            chords = np.diff(slopes, axis=0) / np.diff(points, axis=0)
            place = chords.argmax(axis=0)
            steepest = np.maximum(steepest, chords.max(axis=0))
            ends = np.maximum(place - 1, 0), np.minimum(place + 2, CHORDS - 1)
            low, high = (np.take_along_axis(points, end[None], 0)[0] for end in ends)
        return steepest * (1 + 1e-4)

    def _estimated_gammas(self, low: Array, high: Array) -> Array:
        """An estimate of γ at up to ``MOST_LABELS`` of the labels.

        A label between two of them gets the larger.
        """
        parts = self.shifted(low, high)
        low, high, y = (np.asarray(part, dtype=float) for part in parts)
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
        """w_j/ω_j, the dual variable of the unweighted loss.

        An end of dom l_j* goes to the end of dom l*, which the quotient may miss by its rounding.
        """
        if self.weights is None:
            return w
        unit = w / self.weights
        for weighted, end in zip(self.domain, self._unit_domain, strict=True):
            unit = np.where(w == weighted, end, unit)
        return unit

    def _weighted(self, values: Array, batch: Any = slice(None)) -> Array:
        return values if self.weights is None else self.weights[batch] * values

    def _each(self, name: str, *arguments: Array) -> Array:
        """The method ``name`` at every place, by the class's array form where it has one."""
        form = self._form(name, slice(None))
        if form is None:
            return self._one_by_one(name, *arguments)
        out = np.empty(len(self.y))
        if len(out) <= BLOCK:
            out[:] = form(*arguments)
            return out
        for start in range(0, len(out), BLOCK):
            block = slice(start, start + BLOCK)
            out[block] = self._form(name, block)(*(argument[block] for argument in arguments))
        return out

    def _fused(self, name: str, *arguments: Array) -> tuple[Array, ...] | None:
        """The results of several methods by the array form ``name``, or None without one."""
        n = len(self.y)
        form = self._form(name, slice(None)) if n >= FUSED_FROM else None
        if form is None or n <= FUSED_BLOCK:
            return None if form is None else tuple(form(*arguments))
        whole: tuple[Array, ...] = ()
        for start in range(0, n, FUSED_BLOCK):
            block = slice(start, start + FUSED_BLOCK)
            parts = self._form(name, block)(*(argument[block] for argument in arguments))
            whole = whole or tuple(np.empty(n) for _ in parts)
            for out, part in zip(whole, parts, strict=True):
                out[block] = part
        return whole

    def _form(self, name: str, block: slice) -> Any:
        """The array form for the samples of ``block``, with their offsets and fields, if any."""
        forms: Any = vars(type(self.loss)).get("arrays")
        form = getattr(forms, name, None)
        if form is None or self.y.dtype == object:
            return None
        if self.plain:
            return form
        offset = 0.0 if self.offset is None else self.offset[block]
        fields = tuple(part[block] for part in self.fields)
        return getattr(SampleLoss(forms, offset, fields), name)

    def _one_by_one(self, name: str, *arguments: Array) -> Array:
        """The scalar method ``name`` at every place; compiled where arrays are long."""
        length = len(arguments[0])
        if length >= COMPILE_FROM and self.y.dtype != object:
            compiled = self._compiled(name)
            if compiled is not None:
                *others, labels = arguments
                return compiled(*others, labels if self.plain else self.labels)
        try:
            if self.plain:
                values = np.frompyfunc(getattr(self.loss, name), len(arguments), 1)(*arguments)
            else:
                offset = 0 if self.offset is None else self.offset
                each = SampleLoss(OnEach(self.loss), offset, self.fields)
                with np.errstate(all="ignore"):  # of Python's own arithmetic
                    values = getattr(each, name)(*arguments)
        except (ArithmeticError, ValueError):
            for j, at in enumerate(zip(*arguments, strict=True)):  # the sample where it fails
                own = (at[-1], *(part[j] for part in self.fields))
                defined(partial(getattr(self.one(j), name), *at), f"{name} of {self.loss}", own)
            raise
        return np.asarray(values, dtype=self.y.dtype)

    def _compiled(self, name: str) -> Any:
        """The compiled method, or ``None`` where it does not compile."""
        from rcmd.jit.scalars import CannotCompile

        if name not in self._scalars:
            try:
                self._scalars[name] = self.scalar(name)
            except CannotCompile:
                # The engine says so once, when it meets the same class.
                self._scalars[name] = None
        return self._scalars[name]

    def __getstate__(self) -> dict[str, Any]:
        """Without what is compiled, which holds addresses."""
        kept = {name: value for name, value in vars(self).items() if name != "_record"}
        return kept | {"_scalars": {}}


def defined(function: Any, what: str, own: Sequence[Any]) -> Any:
    """What ``function()`` returns, of a sample with this label and these fields, if it does."""
    try:
        return function()
    except (ArithmeticError, ValueError) as fault:
        label, *fields = map(float, own)
        told = f" and fields {', '.join(f'{each:g}' for each in fields)}" if fields else ""
        raise ValueError(
            f"{what} fails for a sample with y = {label:g}{told}: {fault}; expected labels and "
            "fields for which the loss is a finite real number at every prediction"
        ) from fault


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
    if len(set(values[:3].tolist())) == 3:
        return None
    levels = np.array([values.min(), values.max()])
    greatest = values == levels[1]
    if (greatest | (values == levels[0])).all():
        return levels, greatest.astype(int)
    return None

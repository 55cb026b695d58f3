"""Batches: b different rows out of n, uniformly, from one ``numpy.random.Generator``."""

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rcmd.engine.state import Stateful
from rcmd.rows.validation import Array


@runtime_checkable
class Sampler(Protocol):
    """Where an engine gets its batches; the rows of one batch must be different."""

    batch: int

    def draw(self, steps: int) -> Array:
        """The next ``steps`` batches, as an array of shape (steps, batch)."""


class UniformSampler(Stateful):
    """Uniform batches without replacement; its only state is the generator.

    Drawing 3 and then 5 batches gives the same rows as drawing 8, so iterates do not
    depend on how an engine slices its work.

    Examples
    --------
    >>> batches = UniformSampler(5, 2, np.random.default_rng(0)).draw(3)
    >>> batches.shape, [len(set(batch)) for batch in batches.tolist()]
    ((3, 2), [2, 2, 2])
    """

    changing = ("rng",)
    fill: Callable[..., Any]

    def __init__(self, n: int, batch: int, rng: np.random.Generator) -> None:
        self.n = n
        self.batch = batch
        self.rng = rng
        self.fill = fill_with_subsets
        self._taken = np.zeros(n, dtype=np.bool_)

    def draw(self, steps: int) -> Array:
        if self.batch == 1:  # the first line of Floyd's method is the whole of it
            return (self.rng.random((steps, 1)) * self.n).astype(np.int64)
        batches = np.empty((steps, self.batch), dtype=np.int64)
        if self.batch == self.n:
            batches[:] = np.arange(self.n)
        else:
            self.fill(self.rng.random((steps, self.batch)), self._taken, batches)
        return batches


class Replay(Stateful):
    """The given batches, one after the other: for tests, proofs and enumeration.

    Examples
    --------
    >>> Replay([[0, 1], [2, 0]]).draw(2)
    array([[0, 1],
           [2, 0]])
    """

    changing = ("_next",)

    def __init__(self, batches: Iterable[Iterable[int]]) -> None:
        rows = [list(batch) for batch in batches]
        if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
            raise ValueError(
                "batches of Replay are empty or of different lengths; expected at least one "
                "batch, all with the same number of rows"
            )
        if any(len(set(row)) < len(row) for row in rows):
            raise ValueError("a batch of Replay names a row twice; expected different rows")
        if not all(isinstance(j, Integral) and j >= 0 for row in rows for j in row):
            raise ValueError(
                "a batch of Replay holds something that is not a row number; expected whole "
                "numbers from 0 on"
            )
        self.batches = np.array(rows, dtype=np.int64)
        self.batch = self.batches.shape[1]
        self._next = 0

    def draw(self, steps: int) -> Array:
        if self._next + steps > len(self.batches):
            raise ValueError(
                f"the replayed index sequence has {len(self.batches)} batches, of which "
                f"{self._next} are used; expected at least {steps} more"
            )
        self._next += steps
        return self.batches[self._next - steps : self._next]


def drawn(sampler: Sampler, steps: int, n: int) -> Array:
    """The next batches; unless ``sampler`` is rcmd's own, they are looked at.

    Kernels would crash at a row beyond the end, and change a row named twice by half a step.
    """
    batches = np.asarray(sampler.draw(steps))
    if type(sampler) is UniformSampler:
        return batches
    if batches.shape != (steps, sampler.batch) or batches.dtype.kind not in "iu":
        raise ValueError(
            f"draw({steps}) of {type(sampler).__name__} returned an array of {batches.dtype} and "
            f"shape {batches.shape}; expected whole numbers, of shape ({steps}, {sampler.batch})"
        )
    if batches.size and (batches.min() < 0 or batches.max() >= n):
        raise IndexError(
            f"draw of {type(sampler).__name__} returned rows from {batches.min()} to "
            f"{batches.max()}; expected 0 to {n - 1}"
        )
    ordered = np.sort(batches, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise ValueError(
            f"draw of {type(sampler).__name__} returned a batch that names a row twice; expected "
            "different rows"
        )
    return batches


def fill_with_subsets(uniforms: Array, taken: Array, batches: Array) -> None:
    """Turn uniforms into uniform subsets of the rows, one batch per line, by Floyd's method.

    For t = n−b, …, n−1 draw r uniform on {0, …, t} and take r, or t if r is taken already.
    ``taken`` is False for all n rows, before and after; nothing is carried from one batch
    to the next. The row ⌊u(t+1)⌋ is uniform to one part in 2⁵³/n, the resolution of the
    generator's doubles. The compiled engine compiles this very function.
    """
    n = len(taken)
    steps, width = uniforms.shape
    for step in range(steps):
        for place in range(width):
            last = n - width + place
            row = int(uniforms[step, place] * (last + 1))
            if taken[row]:
                row = last
            taken[row] = True
            batches[step, place] = row
        for place in range(width):
            taken[batches[step, place]] = False

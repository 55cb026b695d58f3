"""Batches: b different rows out of n, uniformly, from one ``numpy.random.Generator``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Sampler(Protocol):
    """Where an engine gets its batches."""

    batch: int

    def draw(self, steps: int) -> Array:
        """The next ``steps`` batches, as an array of shape (steps, batch)."""


class UniformSampler:
    """Uniform batches without replacement; its only state is the generator.

    Drawing 3 and then 5 batches gives the same rows as drawing 8, so iterates do not
    depend on how an engine slices its work.
    """

    def __init__(self, n: int, batch: int, rng: np.random.Generator) -> None:
        self.n = n
        self.batch = batch
        self.rng = rng
        self._identity = np.arange(n)

    def draw(self, steps: int) -> Array:
        uniforms = self.rng.random((steps, self.batch))
        batches = np.empty((steps, self.batch), dtype=np.int64)
        shuffle_fronts(self._identity, uniforms, batches)
        return batches


class Replay:
    """The given batches, one after the other: for tests, proofs and enumeration."""

    def __init__(self, batches: Iterable[Iterable[int]]) -> None:
        self._batches = np.array([list(batch) for batch in batches], dtype=np.int64)
        self.batch = self._batches.shape[1]
        self._next = 0

    def draw(self, steps: int) -> Array:
        if self._next + steps > len(self._batches):
            raise ValueError(
                f"the replayed index sequence has {len(self._batches)} batches, of which "
                f"{self._next} are used; expected at least {steps} more"
            )
        self._next += steps
        return self._batches[self._next - steps : self._next]


def shuffle_fronts(identity: Array, uniforms: Array, batches: Array) -> None:
    """Fill each row of ``batches`` with the front of a fresh partial Fisher–Yates shuffle.

    ``identity`` must hold 0, …, n−1 and does so again afterwards: each shuffle is undone,
    swap by swap, at the price of the batch and not of n. The row t + ⌊u(n−t)⌋ is uniform
    to one part in 2⁵³/n, the resolution of the generator's doubles.
    """
    n = len(identity)
    steps, width = uniforms.shape
    for step in range(steps):
        for t in range(width):
            r = t + int(uniforms[step, t] * (n - t))
            identity[t], identity[r] = identity[r], identity[t]
        for t in range(width):
            batches[step, t] = identity[t]
        for t in range(width - 1, -1, -1):
            r = t + int(uniforms[step, t] * (n - t))
            identity[t], identity[r] = identity[r], identity[t]

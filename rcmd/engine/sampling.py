"""Where batches come from: uniform ones, as the theorems ask for, and others."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any, Protocol, runtime_checkable

import numpy as np

from rcmd.engine.state import Stateful
from rcmd.model.problem import Problem
from rcmd.rows.validation import Array, batch_size


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
            uniforms = self.rng.random((steps, self.batch))
            own = type(self.rng) is np.random.Generator
            if not (own or ((uniforms >= 0) & (uniforms < 1)).all()):
                raise ValueError(
                    f"random of {type(self.rng).__name__} returned numbers outside of [0, 1); "
                    "expected them inside, as NumPy's generators draw them"
                )
            self.fill(uniforms, self._taken, batches)
        return batches


class ImportanceSampler(Stateful):
    """Single rows, row j with probability p_j.

    ``matching(problem, rng)`` has p_j = σ_j/Σσ_j, σ_j = 1 + γ_j‖x_j‖²/(nμ), for a strongly convex
    R. With ``ExactProx``, whose step at row j gains at least 1/σ_j of that row's term of the gap,
    P(β̃) − D(w) ≤ (Σ_j σ_j) E[D(w⁺) − D(w)]: Theorem I holds with the mean of the σ_j for σ, their
    maximum. For other steps and probabilities no theorem is known here.

    Examples
    --------
    >>> ImportanceSampler([0.5, 0.0, 0.5], np.random.default_rng(0)).draw(4).ravel()
    array([2, 0, 0, 0])
    """

    changing = ("rng",)
    batch = 1

    def __init__(self, probabilities: Any, rng: np.random.Generator) -> None:
        given = np.array(probabilities, dtype=float)
        if given.ndim != 1 or not (given >= 0).all() or not abs(given.sum() - 1) <= 1e-9:
            raise ValueError(
                "probabilities of ImportanceSampler are not numbers from 0 on whose sum is 1; "
                "expected one for each row: divide them by their sum"
            )
        given.setflags(write=False)
        self.probabilities, self.rng, self.n = given, rng, len(given)
        self._ends = np.cumsum(given)
        self._ends /= self._ends[-1]

    @classmethod
    def matching(cls, problem: Problem, rng: np.random.Generator) -> ImportanceSampler:
        """That of ``problem``, for which Theorem I is known."""
        mu = problem.oracle.mu
        if not mu > 0:
            raise ValueError(
                f"problem of ImportanceSampler has R = {problem.oracle!r} with μ = 0; expected a "
                "strongly convex R, such as Ridge(0.01), or probabilities of your own"
            )
        energies = problem.losses.gammas * problem.rows.square_norms()
        sigmas = (1 + energies / (problem.n * mu)).astype(float)
        return cls(sigmas / sigmas.sum(), rng)

    def draw(self, steps: int) -> Array:
        return np.searchsorted(self._ends, self.rng.random((steps, 1)), "right")


class CyclicSampler(Stateful):
    """The rows in their order, again and again; no theorem here.

    Examples
    --------
    >>> CyclicSampler(5, 2).draw(3).tolist()
    [[0, 1], [2, 3], [4, 0]]
    """

    changing = ("_next",)

    def __init__(self, n: int, batch: int = 1) -> None:
        self.n, self.batch, self._next = n, batch_size(batch, n), 0

    def draw(self, steps: int) -> Array:
        count = steps * self.batch
        rows = (self._next + np.arange(count, dtype=np.int64)) % self.n
        self._next = (self._next + count) % self.n
        return rows.reshape(steps, self.batch)


class ReshuffledSampler(Stateful):
    """All rows once in every epoch, in a new random order; no theorem here.

    Where b does not divide n, the last n mod b rows of an order sit out.

    Examples
    --------
    >>> first = ReshuffledSampler(6, 2, np.random.default_rng(0)).draw(3)
    >>> sorted(first.ravel().tolist())
    [0, 1, 2, 3, 4, 5]
    """

    changing = ("rng", "_order", "_next")

    def __init__(self, n: int, batch: int, rng: np.random.Generator) -> None:
        self.n, self.batch, self.rng = n, batch_size(batch, n), rng
        self._order, self._next = np.arange(n), 0

    def draw(self, steps: int) -> Array:
        whole = self.n // self.batch
        batches = np.empty((steps, self.batch), dtype=np.int64)
        for step in range(steps):
            if self._next == 0:
                self._order[:] = self.rng.permutation(self.n)
            start = self._next * self.batch
            batches[step] = self._order[start : start + self.batch]
            self._next = (self._next + 1) % whole
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
    """The next batches, which are looked at, whoever drew them: objects can be altered.

    Kernels would crash at a row beyond the end, and change a row named twice by half a step.
    """
    batches = np.asarray(sampler.draw(steps))
    if batches.shape != (steps, sampler.batch) or batches.dtype.kind not in "iu":
        raise ValueError(
            f"draw({steps}) of {type(sampler).__name__} returned an array of {batches.dtype} and "
            f"shape {batches.shape}; expected whole numbers, of shape ({steps}, {sampler.batch})"
        )
    check_places(batches, n, f"draw of {type(sampler).__name__}")
    if type(sampler) is UniformSampler and "draw" not in vars(sampler):
        return batches
    ordered = np.sort(batches, axis=1)
    if (ordered[:, 1:] == ordered[:, :-1]).any():
        raise ValueError(
            f"draw of {type(sampler).__name__} returned a batch that names a row twice; expected "
            "different rows"
        )
    return batches


def check_places(batch: Array, n: int, told: str) -> None:
    """Refuse rows that are not there, which kernels would read and write all the same."""
    if batch.size and (batch.min() < 0 or batch.max() >= n):
        raise IndexError(
            f"{told} returned rows from {batch.min()} to {batch.max()}; expected 0 to {n - 1}"
        )


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

"""From vectors of real numbers to instances: what the search moves in."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from proofs_check.hunting.instance import Bowl, Instance, LossName, Numbers, Polytope
from proofs_check.hunting.theorems import Theorem

Array = npt.NDArray[np.float64]

LARGEST_N, LARGEST_K, MOST_RUNS = 4, 8, 4096
CONSTANTS_PER_LOSS = {"squared": 1, "softplus": 1, "huber": 3}


@dataclass(frozen=True)
class Shape:
    """All of an instance but its real numbers.

    ``alike`` gives every sample the same row and loss, as the extreme problems often have.
    """

    n: int
    batch: int
    steps: int
    loss: LossName
    domain: str
    alike: bool

    @property
    def p(self) -> int:
        """Variables."""
        return 1 if self.domain in ("interval", "parabola") else 2

    @property
    def size(self) -> int:
        """How many real numbers an instance takes; some may stay unused."""
        samples = 1 if self.alike else self.n
        return samples * (self.p + CONSTANTS_PER_LOSS[self.loss]) + 2 * 4

    def instance(self, point: Array) -> Instance:
        """Real numbers through sinh, positive ones through exp: any scale is within reach."""
        numbers = iter(point.tolist())
        samples = 1 if self.alike else self.n
        rows = [_real(numbers, self.p) for _ in range(samples)]
        parameters = [self._constants(numbers) for _ in range(samples)]
        repeats = self.n if self.alike else 1
        return Instance(
            tuple(rows * repeats), self.loss, tuple(parameters * repeats), self._domain(numbers),
            self.batch, self.steps,
        )  # fmt: skip

    def _constants(self, numbers: Iterator[float]) -> Numbers:
        if self.loss == "huber":
            width, curvature = _positive(numbers), _positive(numbers) / 20
            return (width, curvature, *_real(numbers, 1))
        return _real(numbers, 1)

    def _domain(self, numbers: Iterator[float]) -> Polytope | Bowl:
        if self.domain == "interval":
            return Polytope((_real(numbers, 1), _real(numbers, 1)))
        if self.domain == "hull":
            return Polytope(tuple(_real(numbers, 2) for _ in range(4)))
        if self.domain == "cube":
            radius = _positive(numbers)
            return Polytope(tuple(product((radius, -radius), repeat=2)))
        if self.domain == "l1":
            radius = _positive(numbers)
            return Polytope(((radius, 0.0), (-radius, 0.0), (0.0, radius), (0.0, -radius)))
        mu, centre = _positive(numbers), _real(numbers, self.p)
        above = _positive(numbers)
        below = _positive(numbers) if self.domain == "parabola" else above
        return Bowl(mu, centre, below, above)


def draw_shape(theorem: Theorem, rng: np.random.Generator) -> Shape:
    """A shape of problem that the theorem is about, with at most ``MOST_RUNS`` index sequences."""
    domains = ["interval", "cube", "l1", "hull"]
    if theorem.strong:
        domains = ["parabola"] if theorem.one_variable else ["parabola", "ridge"]
    n = int(rng.integers(2, LARGEST_N + 1))
    smallest = 2 if theorem.batches == "several" else 1
    batch = int(rng.integers(smallest, (1 if theorem.batches == "single" else n) + 1))
    each = math.comb(n, batch)
    longest = LARGEST_K if each == 1 else int(math.log(MOST_RUNS + 0.5, each))
    steps = int(rng.integers(1, min(longest, LARGEST_K) + 1))
    loss = theorem.losses[rng.integers(len(theorem.losses))]
    return Shape(n, batch, steps, loss, str(rng.choice(domains)), bool(rng.integers(2)))


def _real(numbers: Iterator[float], count: int) -> Numbers:
    return tuple(math.sinh(next(numbers)) for _ in range(count))


def _positive(numbers: Iterator[float]) -> float:
    return math.exp(1.5 * next(numbers))

"""All runs of Algorithm 2: a path per sequence of batches, prefixes shared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from proofs_check.exact.problem import Small, Vector, mix
from proofs_check.exact.schedules import Steps

Batch = tuple[int, ...]


@dataclass(frozen=True)
class Path:
    """One run after k steps.

    Attributes
    ----------
    s, w
        s^0 … s^k and w^0 … w^k.
    atoms
        β̃^0 … β̃^{k−1}.
    batches
        The rows of each step.
    beta, w_average
        β̄^{k−1} and w̄^{k−1}, the weighted means of β̃^i and w^i over i < k; β̄^{−1} and
        w̄^{−1} are the starting atom and point.
    """

    problem: Small
    steps: Steps
    s: tuple[Vector, ...]
    w: tuple[Vector, ...]
    atoms: tuple[Vector, ...]
    batches: tuple[Batch, ...]
    beta: Vector
    w_average: Vector
    total: Any

    def extended(self, batch: Batch) -> Path:
        """The run one step on the rows ``batch`` later."""
        problem, i = self.problem, len(self.batches)
        s, w = self.s[-1], self.w[-1]
        atom = problem.atom(w)
        eta, weight = self.steps.eta(i), self.steps.weight(i)
        predictions = problem.predictions(atom)
        s_new = tuple(
            (1 - eta) * s[j] + eta * predictions[j] if j in batch else s[j]
            for j in range(problem.n)
        )
        total = self.total + weight
        return Path(
            problem,
            self.steps,
            (*self.s, s_new),
            (*self.w, problem.response(s_new)),
            (*self.atoms, atom),
            (*self.batches, batch),
            mix(self.beta, atom, weight / total),
            mix(self.w_average, w, weight / total),
            total,
        )

    def gap(self) -> Any:
        """P(β̄^{k−1}) − D(w̄^{k−1}), the left side of Theorem 3.1 at k − 1."""
        return self.problem.primal(self.beta) - self.problem.dual(self.w_average)

    def last_gap(self) -> Any:
        """P(β̄^{k−1}) − D(w^k), the left side of Theorem 3.2."""
        return self.problem.primal(self.beta) - self.problem.dual(self.w[-1])


def start(problem: Small, steps: Steps) -> Path:
    """s^0 = 0, w^0 = ∇L(0)."""
    zero = 0 * problem.rows[0][0]
    s = (zero,) * problem.n
    w = problem.response(s)
    return Path(problem, steps, (s,), (w,), (), (), problem.atom(w), w, zero)


def all_batches(n: int, b: int) -> list[Batch]:
    """The batches of b of n rows, all equally likely."""
    return list(combinations(range(n), b))


def levels(problem: Small, steps: Steps, b: int, k: int) -> Iterator[list[Path]]:
    """All paths after 1, 2, …, k steps, all of one level equally likely."""
    paths = [start(problem, steps)]
    for _ in range(k):
        paths = [path.extended(batch) for path in paths for batch in all_batches(problem.n, b)]
        yield paths


def expectation(paths: list[Path], quantity: Callable[[Path], Any]) -> Any:
    """The mean of ``quantity`` over equally likely paths."""
    return sum(quantity(path) for path in paths) / len(paths)

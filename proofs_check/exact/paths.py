"""All runs of Algorithm 2: a path per sequence of batches, prefixes shared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from proofs_check.exact.problem import Small, Vector, mix
from proofs_check.exact.schedules import Steps

Batch = tuple[int, ...]
Move = Callable[[int, Any, Any], Any]
"""Where s_j goes on its way to a_j, in place of (1 − η)s_j + ηa_j."""


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
        return self.children([batch])[0]

    def children(self, batches: Iterable[Batch], move: Move | None = None) -> list[Path]:
        """The runs one step later; what all have in common is found once."""
        problem, i = self.problem, len(self.batches)
        s, w = self.s[-1], self.w[-1]
        atom, eta, weight = problem.atom(w), self.steps.eta(i), self.steps.weight(i)
        predictions, total = problem.predictions(atom), self.total + weight
        moved = mix(s, predictions, eta)
        if move is not None:
            moved = tuple(move(j, s[j], a) for j, a in enumerate(predictions))
        response = problem.response(moved)
        beta = mix(self.beta, atom, weight / total)
        w_average = mix(self.w_average, w, weight / total)

        def part(before: Vector, after: Vector, batch: Batch) -> Vector:
            return tuple(after[j] if j in batch else x for j, x in enumerate(before))

        return [
            Path(
                problem,
                self.steps,
                (*self.s, part(s, moved, batch)),
                (*self.w, part(w, response, batch)),
                (*self.atoms, atom),
                (*self.batches, batch),
                beta,
                w_average,
                total,
            )
            for batch in batches
        ]

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


def levels(
    problem: Small, steps: Steps, b: int, k: int, move: Move | None = None
) -> Iterator[list[Path]]:
    """All paths after 1, 2, …, k steps, all of one level equally likely."""
    paths, batches = [start(problem, steps)], all_batches(problem.n, b)
    for _ in range(k):
        paths = [child for path in paths for child in path.children(batches, move)]
        yield paths


def expectation(paths: list[Path], quantity: Callable[[Path], Any]) -> Any:
    """The mean of ``quantity`` over equally likely paths."""
    return sum(quantity(path) for path in paths) / len(paths)

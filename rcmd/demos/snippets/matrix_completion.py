"""A picture filled in from some of its pixels, under a bound on its nuclear norm."""

from typing import Any

import numpy as np

from rcmd import LeastSquares, MatrixEntries, NuclearBall, Problem, iterate

LETTERS = [
    "####..####.##...##.####.",
    "#...#.#....#.#.#.#.#...#",
    "####..#....#..#..#.#...#",
    "#..#..#....#.....#.#...#",
    "#...#.####.#.....#.####.",
]


def run(share: float = 0.3, steps: int = 120, seed: int = 0) -> tuple[Any, Any, list[Any]]:
    """The picture, which of its pixels are seen, and the states of a run."""
    bitmap = np.pad([[float(pixel == "#") for pixel in row] for row in LETTERS], 1)
    picture = np.kron(bitmap, np.ones((8, 4)))
    picture += 0.3 * np.outer(*(np.linspace(0.0, 1.0, size) for size in picture.shape))
    seen: Any = np.random.default_rng(seed).random(picture.shape) < share
    ball = NuclearBall(seen.shape, np.linalg.norm(picture, "nuc"))
    entries = MatrixEntries(seen.nonzero()[0], seen.nonzero()[1], seen.shape)
    problem = Problem(entries, picture[seen], LeastSquares(), ball)
    options: Any = {"batch": 1.0, "max_iterations": steps, "corrective": False}
    return picture, seen, list(iterate(problem, tol=0.0, **options))


if __name__ == "__main__":
    picture, seen, states = run()
    print([((s.beta_average.to_array() - picture)[~seen] ** 2).mean() ** 0.5 for s in states])

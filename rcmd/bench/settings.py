"""How much the benchmark of the engine measures."""

from __future__ import annotations

from dataclasses import dataclass, replace

from rcmd.bench import start

RADIUS, STRENGTH = 5.0, 1e-3
NONZEROS = 50


@dataclass(frozen=True)
class Settings:
    """How much to measure.

    Attributes
    ----------
    data
        Folder with a9a, w8a and mushrooms.
    seed
        Of generated data and of batches.
    repeats, seconds
        Turns of each contender, and how long one lasts.
    zipf_p, zipf_n
        Sizes of the generated sparse problems; p grows at the first n, n at the first p.
    peers_up_to
        The largest p at which the others, whose steps walk over all of p, are timed.
    dense
        Rows and columns of the dense problem.
    empty
        Empty features to append.
    starts, start_problems
        Processes started, and on which of ``start.PROBLEMS``.
    memory
        Rows and columns of the problem whose memory is measured.
    drift
        Coordinate updates after which the drift of d is looked at.
    sections
        Names of the tables to make.
    """

    data: str | None = None
    seed: int = 0
    repeats: int = 25
    seconds: float = 0.05
    zipf_p: tuple[int, ...] = (10**3, 10**4, 10**5, 10**6)
    zipf_n: tuple[int, ...] = (10**4, 10**5, 10**6)
    peers_up_to: int = 10**6
    dense: tuple[int, int] = (2000, 5000)
    empty: int = 10**5
    starts: int = 7
    start_problems: tuple[str, ...] = start.PROBLEMS
    memory: tuple[int, int] = (10**5, 10**5)
    drift: float = 2e7
    sections: tuple[str, ...] = (
        "gradients",
        "growth",
        "ridge",
        "dense",
        "start",
        "memory",
        "drift",
    )

    def quick(self) -> Settings:
        """Less of everything: under a minute."""
        return replace(
            self,
            repeats=6,
            seconds=0.02,
            zipf_n=(10**4, 10**5),
            peers_up_to=10**5,
            dense=(500, 5000),
            starts=2,
            start_problems=start.PROBLEMS[:1],
            memory=(40_000, 40_000),
            drift=min(self.drift, 1e6),
        )

    @property
    def budget(self) -> float:
        """Seconds after which a slow contender sits out."""
        return 3 * self.repeats * self.seconds

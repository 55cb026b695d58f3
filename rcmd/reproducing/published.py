"""The paper's experiment: its data sets, its settings, the numbers of its Table 3."""

from __future__ import annotations

from typing import NamedTuple

from rcmd.comparing.entrants import ENTRANTS, Entrant
from rcmd.methods import SCGM

RADIUS = 5.0
TARGET = 1e-5
"""P(β) − P(β*), Section 4's optimality gap."""


class Counts(NamedTuple):
    """Gradients in millions and oracle calls to ``TARGET``, as printed: digits are cut."""

    millions: float
    calls: int


class Experiment(NamedTuple):
    """A data set, the file it is read from, its rows, and what Table 3 says of it.

    ``stand_in`` says that the file is another part of the data than the paper's.
    """

    name: str
    file: str
    rows: int
    counts: dict[str, Counts]
    stand_in: bool = False

    @property
    def methods(self) -> tuple[str, ...]:
        """What is run: a fit only where there is a count to be met."""
        return tuple(name for name in METHODS if name != FITTED or self.told(name))

    def told(self, method: str) -> Counts | None:
        """What Table 3 says of a method, whichever its steps are."""
        return self.counts.get("scgm" if method == FITTED else method)


EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (
        Experiment(
            "a9a",
            "a9a",
            32561,
            {"fw": Counts(14.5, 448), "gsfw": Counts(10.3, 31_900), "scgm": Counts(65.3, 201_000)},
        ),
        Experiment(
            "w8a",
            "w8a",
            49749,
            {"fw": Counts(9.65, 194), "gsfw": Counts(4.21, 8_470), "scgm": Counts(6.92, 13_900)},
        ),
        Experiment(
            "mushrooms",
            "mushrooms",
            8124,
            {"fw": Counts(6.44, 793), "gsfw": Counts(1.27, 15_700), "scgm": Counts(7.4, 91_400)},
        ),
        Experiment(
            "gisette",
            "gisette_scale.t",
            6000,
            {"fw": Counts(6.27, 1_045), "gsfw": Counts(6.56, 109_000)},
            stand_in=True,
        ),
    )
}

FITTED = "scgm fitted"
"""SCGM with other steps than its paper's, which leave two of the published counts unexplained.

Of a dozen rules tried on the three data sets, γ_t from 1/(t+8) to 2/(t+2), ρ_t from 1/t to
8/(t+8)^{2/3}, batches drawn anew or from a shuffled pass, it comes closest to all three.
"""

RUNS = ENTRANTS | {
    FITTED: Entrant(FITTED, SCGM(pace=2.0, weight=1.0, decay=0.5), shares_batch=True)
}
"""What is run, by name."""

TABLE_METHODS = ("fw", "gsfw", "scgm", FITTED)
FIGURE_METHODS = ("gsfw", "sfw", "scgm", "scgs", "svrf")
METHODS = tuple(dict.fromkeys((*TABLE_METHODS, *FIGURE_METHODS)))


def hundredth(n: int) -> int:
    """⌊0.01 n⌋, the batch that agrees with the printed counts; at least one row."""
    return max(1, n // 100)

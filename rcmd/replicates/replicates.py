"""The results of the same run with many seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from rcmd.replicates.against_bound import AgainstBound, compared
from rcmd.result import Result

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Replicates(Sequence[Result]):
    """Results in the order of their seeds.

    Statistics are over the checkpoints of the algorithm's own steps that every run reached:
    past the end of the first one, the others would be a selection.

    Attributes
    ----------
    seeds, results
        The seeds and what each gave.
    pair_gaps
        For each run, P(β̄) − D(w) at its checkpoints for the pair that the theorem speaks of; empty
        where no theorem applies.
    """

    seeds: tuple[int, ...]
    results: tuple[Result, ...]
    pair_gaps: tuple[tuple[float, ...], ...] = field(repr=False)

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...

    def __getitem__(self, index: int | slice) -> Result | Sequence[Result]:
        return self.results[index]

    @property
    def iterations(self) -> Array:
        """The checkpoints that every run reached."""
        return np.array([row.iteration for row in self.results[0].history[: self._common]])

    @property
    def _common(self) -> int:
        plain = [[row.iteration for row in r.history if row.phase == "plain"] for r in self.results]
        count = 0
        # A budget of seconds ends each run at a checkpoint of its own.
        for marks in zip(*plain, strict=False):
            if len(set(marks)) > 1:
                break
            count += 1
        return count

    def column(self, name: str = "gap") -> Array:
        """A column of the histories, such as ``"gap"``: a row for each run."""
        columns = [result.history.column(name)[: self._common] for result in self.results]
        return np.array(columns)

    def mean(self, name: str = "gap") -> Array:
        """The mean over the runs at every checkpoint."""
        return self.column(name).mean(axis=0)

    def quantiles(self, levels: Sequence[float] = (0.1, 0.5, 0.9), name: str = "gap") -> Array:
        """Quantiles over the runs at every checkpoint, a row for each level."""
        return np.quantile(self.column(name), levels, axis=0)

    def against_bound(self, confidence: float = 0.95) -> AgainstBound:
        """The mean gap of the theorem's pair beside the theorem's bound of its expectation.

        Runs for this have ``tol=0`` and a budget of iterations, so that all of them reach all
        checkpoints.
        """
        count = min(self._common, *(len(gaps) for gaps in self.pair_gaps))
        if count == 0:
            raise ValueError(
                "no theorem bounds these runs; expected the paper's own algorithm: no other "
                "method, prox, schedule or warm start, and a bounded dom R"
            )
        gaps = np.array([gaps[:count] for gaps in self.pair_gaps])
        bound = self.results[0].history.column("bound")[:count].astype(float)
        return compared(self.iterations[:count], gaps, bound, confidence)

    def __str__(self) -> str:
        gaps = np.array([float(result.gap) for result in self.results])
        passes = np.array([result.passes for result in self.results])
        reached = sum(result.success for result in self.results)
        return (
            f"{len(self)} runs, {reached} of them to the tolerance; certified gap "
            f"{np.median(gaps):.3g} (from {gaps.min():.3g} to {gaps.max():.3g}) after "
            f"{np.median(passes):.3g} passes (from {passes.min():.3g} to {passes.max():.3g})"
        )

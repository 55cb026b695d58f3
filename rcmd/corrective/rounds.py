"""The corrective phase of a run: when it begins, what it has used, when it ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from rcmd.corrective.atom_weights import AtomWeights
from rcmd.corrective.corrected import Corrected, Correction
from rcmd.corrective.damping import Damping
from rcmd.corrective.phase import correction_for
from rcmd.corrective.switching import worth_correcting
from rcmd.problem import Problem
from rcmd.result import Checkpoint

STILL_ROUNDS, SLOW_ROUNDS, LEAST_FALL = 3, 30, 0.1
"""Corrections end after so many rounds that changed nothing, or in which the gap fell by less."""

ROUND_PASSES = 5
"""Passes over the data that a round of corrections takes at least."""


class Rounds:
    """Rounds of corrections, from the best point that plain steps have found."""

    run_state = ("_begun", "_idle", "count", "_still", "_slow", "_landmark", "_correction")
    """What changes in a run."""

    def __init__(self, problem: Problem, allowed: bool) -> None:
        self.problem, self.allowed = problem, allowed
        self._begun = self._idle = False
        self.count = self._still = self._slow = 0
        self._landmark: Any = math.inf
        self._correction: Correction | None = None

    @property
    def under_way(self) -> bool:
        """Whether the next thing to do is a round."""
        return self._begun and not self._idle

    @property
    def gradients(self) -> int:
        """Gradients of all rounds."""
        return 0 if self._correction is None else self._correction.gradients

    @property
    def oracle_calls(self) -> int:
        """Linear minimizations of all rounds."""
        return 0 if self._correction is None else self._correction.oracle_calls

    def consider(self, history: Sequence[Checkpoint], tol: float, affordable: bool) -> None:
        """Begin where the certificates say that it pays; end where rounds idle."""
        gap = history[-1].gap
        if self.under_way and self._correction is not None:
            fell = gap < (1 - LEAST_FALL) * self._landmark
            self._slow = 0 if fell else self._slow + 1
            self._landmark = gap if fell else self._landmark
            self._still = 0 if self._correction.moved else self._still + 1
            self._idle = self._still >= STILL_ROUNDS or self._slow >= SLOW_ROUNDS
        elif not self._begun and self.allowed and affordable:
            self._begun = worth_correcting(history, self.problem.n, tol)
            self._landmark = gap

    def begin(self, beta: Any, average: Any) -> None:
        """Make ready for the first round, from ``beta``, with the atoms that ``average`` is of."""
        if self._correction is None:
            with np.errstate(all="ignore"):
                self._correction = correction_for(self.problem, beta, average)

    def next(self, passes: float, enough: float, undo: bool) -> None:
        """One round towards a gap of ``enough``, in about so many passes.

        With ``undo``, a round that is halted leaves everything as it was before.
        """
        assert self._correction is not None
        correction = _twin(self._correction) if undo else self._correction
        with np.errstate(all="ignore"):  # a step that is no number is not taken
            correction.round(passes, enough)
        self._correction = correction
        self.count += 1

    @property
    def reached(self) -> Corrected | None:
        """The point that rounds have come to."""
        return None if self._correction is None else self._correction.here


def _twin(correction: Any) -> Any:
    """One that goes on without the other: corrections never change arrays or lists in place."""
    twin = copy(correction)
    for name, value in vars(twin).items():
        if isinstance(value, AtomWeights | Damping):
            setattr(twin, name, _twin(value))
    return twin

"""What every kind of correction looks at, and tells after a round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy.typing as npt

from rcmd.model.problem import Problem
from rcmd.rows.cancellation import check_cancelled

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Point:
    """A primal point β, and what one look at all losses tells about it.

    Attributes
    ----------
    s
        Its predictions Xβ, from β itself.
    losses, w, curvatures
        l_j, l_j' and l_j'' at s_j.
    loss
        (1/n) Σ_j l_j(s_j).
    """

    problem: Problem
    beta: Any
    s: Array
    losses: Array
    w: Array
    curvatures: Array
    loss: float

    @cached_property
    def slope(self) -> Any:
        """Xᵀw/n, the gradient of the loss part, from scratch."""
        return self.problem.gradient(self.w)

    def state(self) -> dict[str, Any]:
        """What the rest follows from."""
        return {"beta": self.beta, "s": self.s}

    @classmethod
    def from_state(cls, problem: Problem, state: dict[str, Any]) -> Point:
        """The point that gave ``state``."""
        return cls.at(problem, state["beta"], state["s"])

    @classmethod
    def at(cls, problem: Problem, beta: Any, s: Array) -> Point:
        """Look at ``beta``, whose predictions are s."""
        check_cancelled()
        losses, w, curvatures = problem.losses.expansion(s)
        return cls(problem, beta, s, losses, w, curvatures, float(problem.mean(losses)))


class Correction(Protocol):
    """Rounds that bring P down by second-order steps.

    Attributes
    ----------
    oracle_calls
        Linear minimizations so far.
    moved
        Whether the last round changed anything.
    here
        The point reached.
    """

    oracle_calls: int
    moved: bool

    @property
    def here(self) -> Point:
        """The point reached."""

    @property
    def gradients(self) -> int:
        """Looks at all losses and at all rows, times n."""

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps; ``from_state(problem, state)`` of its class goes on from it."""

    def round(self, passes: float, enough: float) -> None:
        """Go on for one round, in about so many passes where it would take more.

        A gap of ``enough`` is as small as it needs to be.
        """

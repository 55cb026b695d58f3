"""The contract of an engine, and what all engines share: refreshes and faults."""

import math
from typing import Any, Literal, Protocol

from rcmd.engine.sampling import Sampler
from rcmd.model.problem import Problem
from rcmd.oracles.base import FEASIBILITY, LinearMinOracle
from rcmd.rows.atoms import Atom
from rcmd.rows.validation import Array

EngineName = Literal["auto", "compiled", "reference"]

REFRESH_PASSES = 16
"""Passes over the data between two refreshes, once a run is under way."""


class Engine(Protocol):
    """What a run needs of an engine; a step costs a batch of gradients and one oracle call.

    s is the mirror variable, w = ∇L(s) the dual one, d = Xᵀw/n the substitute gradient.
    """

    iteration: int
    sampler: Sampler

    @property
    def s(self) -> Array: ...

    @property
    def w(self) -> Array: ...

    @property
    def d(self) -> Array: ...

    def advance(self, steps: int) -> None:
        """Take ``steps`` iterations."""

    def averages(self) -> tuple[Array, Array]:
        """β̄ and w̄."""

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps."""

    def load_state(self, state: dict[str, Any]) -> None:
        """Continue exactly as the engine that gave ``state`` would have."""


def next_refresh(iteration: int, n: int, batch: int) -> int:
    """The first iteration after ``iteration`` at which sums are computed from scratch.

    This keeps rounding errors from accumulating. It happens after 1, 2, 4, 8, 16 passes over the
    data and every 16 passes from then on: early sums shrink fastest and lose their digits first. It
    depends on the iteration alone, so that runs do not depend on how they are sliced.

    Examples
    --------
    >>> [next_refresh(i, n=10, batch=1) for i in (0, 10, 159, 160)]
    [10, 20, 160, 320]
    """
    for passes in (1, 2, 4, 8):
        if iteration < math.ceil(passes * n / batch):
            return math.ceil(passes * n / batch)
    period = math.ceil(REFRESH_PASSES * n / batch)
    return (iteration // period + 1) * period


def checked_atom(oracle: LinearMinOracle, d: Any) -> Atom:
    """The oracle's answer at d, which must be an atom."""
    atom = oracle.argmin(d)
    if not isinstance(atom, Atom):
        raise TypeError(
            f"argmin of {type(oracle).__name__} returned a {type(atom).__name__}; expected an "
            "Atom: wrap a vector as rcmd.oracles.DenseAtom(vector)"
        )
    p = math.prod(d.shape)
    if not atom.fits(p):
        raise ValueError(
            f"argmin of {type(oracle).__name__} returned {atom!r}, which does not have p = {p} "
            "entries; expected an atom of the length of c"
        )
    return atom


def refuse_infeasible_atoms(oracle: LinearMinOracle, d: Any, zero: Any) -> None:
    """Raise where P is infinite because the oracle's atoms lie outside dom R."""
    miss = oracle.violation(checked_atom(oracle, d).dense(zero))
    if not miss <= FEASIBILITY:
        raise ValueError(
            f"argmin of {oracle!r} returned a point that misses dom R by {float(miss):.3g} of its "
            "size, by the oracle's own violation; expected a point of dom R: "
            "rcmd.testing.check_oracle shows which of the two is wrong"
        )


def not_finite(problem: Problem, iteration: int) -> str:
    """The message for a dual variable that is not finite."""
    return (
        f"the dual variable became NaN or infinite before iteration {iteration}; expected finite "
        f"numbers from the derivative of {problem.loss!r} and the atoms of {problem.oracle!r}: "
        "check them at very large and very small arguments"
    )

"""Which engine runs a problem."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Protocol, get_args

import numpy.typing as npt

from rcmd.engine.reference import AveragingReference
from rcmd.engine.sampling import Sampler
from rcmd.problem import Problem
from rcmd.prox import BregmanProx
from rcmd.schedules import Schedule

Array = npt.NDArray[Any]

EngineName = Literal["auto", "compiled", "reference"]


class Engine(Protocol):
    """What a run needs of an engine."""

    iteration: int
    sampler: Sampler

    @property
    def gradients(self) -> int:
        """Rows touched so far."""

    @property
    def oracle_calls(self) -> int:
        """Linear minimizations so far."""

    @property
    def step_gradients(self) -> int:
        """Rows that a step touches."""

    @property
    def s(self) -> Array:
        """The mirror variable."""

    @property
    def w(self) -> Array:
        """The dual variable."""

    @property
    def d(self) -> Array:
        """The substitute gradient."""

    def advance(self, steps: int) -> None:
        """Take steps."""

    def averages(self) -> tuple[Array, Array]:
        """β̄ and w̄."""


def make_engine(
    name: EngineName,
    problem: Problem,
    schedule: Schedule,
    sampler: Sampler,
    prox: BregmanProx,
    start: Any = None,
) -> Engine:
    """The engine of that name; ``"auto"`` falls back to the reference, with a warning.

    It starts from the prox centre, or from the predictions of a given β, ``start``.

    Exact problems and layouts without kernels run on the reference engine by nature, and
    nothing is said of it.
    """
    if name not in get_args(EngineName):
        raise ValueError(f"engine is {name!r}; expected one of {', '.join(get_args(EngineName))}")
    if name == "reference" or (name == "auto" and not problem.rows.compilable):
        return AveragingReference(problem, schedule, sampler, prox, start)
    from rcmd.compiling.records import CannotCompile
    from rcmd.engine.compiled import CompiledEngine

    try:
        return CompiledEngine(problem, schedule, sampler, prox, start)
    except CannotCompile as reason:
        if name == "compiled":
            raise
        warnings.warn(
            f"running on the slower reference engine, because {reason}",
            RuntimeWarning,
            stacklevel=5,
        )
        return AveragingReference(problem, schedule, sampler, prox, start)

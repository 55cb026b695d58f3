"""Algorithm 2, twice, and what is kept of its runs; it knows nothing of β.

- ``reference``: word for word, in any number type. Begin here.
- ``compiled``: the same iterates in machine code; ``loops`` is how each kind of oracle takes
  steps, ``kernels`` the machine code itself.
- ``sampling``: where batches come from. ``accounting``: β̄ and w̄, from the steps an engine tells.
- ``base``: the contract of an engine, and what all of them share.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rcmd.engine.accounting import Accounting
from rcmd.engine.base import Engine, EngineName
from rcmd.engine.reference import AveragingReference
from rcmd.engine.sampling import Sampler
from rcmd.model.problem import Problem
from rcmd.model.prox import BregmanProx
from rcmd.model.schedules import Schedule
from rcmd.rows.validation import warn_caller


def make_engine(
    name: EngineName,
    problem: Problem,
    schedule: Schedule,
    sampler: Sampler,
    prox: BregmanProx,
    start: Any = None,
    accounting: Sequence[Accounting] = (),
) -> Engine:
    """The engine of that name; ``"auto"`` falls back to the reference, with a warning.

    It starts from the prox centre, or from the predictions of a given β, ``start``.

    Exact problems and layouts without kernels run on the reference engine by nature, and
    nothing is said of it; ``accounting`` hears of their steps alone.
    """
    if problem.spread:
        own: Any = problem  # it alone knows where its rows are
        engine: Engine = own.engine(schedule, sampler, prox, start, accounting)
        return engine
    if name == "reference" or (name == "auto" and not problem.rows.compilable):
        return AveragingReference(problem, schedule, sampler, prox, start, accounting)
    from rcmd.engine.compiled import CompiledEngine
    from rcmd.jit.records import CannotCompile

    try:
        return CompiledEngine(problem, schedule, sampler, prox, start)
    except CannotCompile as reason:
        if name == "compiled":
            raise
        warn_caller(f"running on the slower reference engine, because {reason}")
        return AveragingReference(problem, schedule, sampler, prox, start)

"""The schedule that a run gets, and the bound that holds for it."""

from __future__ import annotations

from rcmd import bounds
from rcmd.constants import Constants
from rcmd.engine.sampling import Sampler, UniformSampler
from rcmd.prox import BregmanProx
from rcmd.schedules import LinearSchedule, Schedule, SublinearSchedule, default_schedule


def schedule_for(prox: BregmanProx, constants: Constants) -> Schedule:
    """Relative smoothness, which Theorem 3.2 needs, is a property of h = L*/n alone."""
    if prox.unit_steps and not constants.mu > 0:
        raise ValueError(
            f"schedule is None while {type(prox).__name__} takes unit steps and R has μ = 0, for "
            "which no schedule here is made; expected one of your own"
        )
    if prox.carries_bounds or prox.unit_steps:
        return default_schedule(constants, prox.unit_steps)
    return SublinearSchedule(constants.blocks)


def bound_kind(
    prox: BregmanProx, schedule: Schedule, sampler: Sampler, constants: Constants
) -> bounds.Kind | None:
    """The kind of bound for this run, if prox, schedule and sampler are a theorem's own."""
    if not (prox.carries_bounds and isinstance(sampler, UniformSampler)):
        return None
    own: list[Schedule] = [SublinearSchedule(constants.blocks)]
    if constants.mu > 0:
        own.append(LinearSchedule(constants.blocks, constants.sigma))
    kind = schedule.theorem if schedule in own else None
    # Data so large that M² overflows leave no bound.
    return kind if kind is not None and bounds.valid(constants, 1, kind) else None

"""What a run is made of: constants, prox, schedule and engine, and which bound holds for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rcmd import bounds
from rcmd.engine.choosing import Engine, make_engine
from rcmd.engine.sampling import UniformSampler
from rcmd.methods.base import Progress
from rcmd.option_checks import checked_start
from rcmd.problem import Problem
from rcmd.prox import BregmanProx, ConjugateProx
from rcmd.run_theory import bound_kind, schedule_for
from rcmd.schedules import Resumed, Schedule

COUNTED_PAST = 0.25
"""Share of an earlier run's passes that a warm start counts as done.

All of them can make the steps too short to correct its faults, and none would forget it.
"""


class RunParts:
    """The parts, from the options of ``solve``; ``size`` is the batch in rows.

    Attributes
    ----------
    constants, prox, schedule, engine
        What runs.
    bound_kind
        Which theorem bounds it, if any.
    note
        What its geometry, or its method, means for bounds.
    """

    def __init__(self, problem: Problem, size: int, options: Mapping[str, Any]) -> None:
        method, warm_start = options["method"], options["warm_start"]
        rng = np.random.default_rng(options["seed"])
        self.constants = problem.constants(size)
        self.prox: BregmanProx = (options["prox"] or ConjugateProx()).bind(self.constants)
        self.schedule: Schedule = options["schedule"] or schedule_for(self.prox, self.constants)
        start = None
        if warm_start is not None:
            start = checked_start(problem, warm_start)
            done = COUNTED_PAST * warm_start.passes * problem.n / size
            self.schedule = Resumed(self.schedule, round(done))
        self.engine: Engine | Progress
        self.bound_kind: bounds.Kind | None = None
        if method is not None:
            rows = None if options["batch"] is None else size
            self.engine, self.note = method.start(problem, rows, rng), method.note
            return
        sampler = options["sampler"] or UniformSampler(problem.n, size, rng)
        self.bound_kind = bound_kind(self.prox, self.schedule, sampler, self.constants)
        self.note = self.prox.note
        self.engine = make_engine(
            options["engine"], problem, self.schedule, sampler, self.prox, start
        )

"""Both engines on one problem, and whether they take the same steps."""

from typing import Any

import numpy as np

from rcmd import BregmanProx, ConjugateProx, Problem
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.model.schedules import LinearSchedule, Schedule, SublinearSchedule

SCHEDULES: dict[str, Any] = {
    "sublinear": SublinearSchedule,
    "linear": lambda blocks: LinearSchedule(blocks, 1.5),
    "steep": lambda blocks: LinearSchedule(1.1, 1.2),  # weights grow by 4 a step: bases move
}


def engine(
    kind: Any,
    problem: Problem,
    batch: int = 1,
    schedule: str | Schedule = "sublinear",
    prox: BregmanProx | None = None,
    sampler: Any = None,
    start: Any = None,
    **_: Any,
) -> Any:
    if isinstance(schedule, str):
        schedule = SCHEDULES[schedule](problem.n / batch)
    prox = (prox or ConjugateProx()).bind(problem.constants(batch))
    drawn = sampler() if sampler else UniformSampler(problem.n, batch, np.random.default_rng(7))
    return kind(problem, schedule, drawn, prox, start)


def both(problem: Problem, **options: Any) -> list[Any]:
    return [engine(kind, problem, **options) for kind in (CompiledEngine, ReferenceEngine)]


def iterates(engine: Any) -> dict[str, Any]:
    beta, w_average = engine.averages()
    parts = {"s": engine.s, "w": engine.w, "d": engine.d, "beta": beta, "w average": w_average}
    return {name: np.array(part) for name, part in parts.items()}


def agree(
    fast: Any, plain: Any, pieces: tuple[int, ...] = (1, 44, 55), tolerance: float = 1e-12
) -> None:
    for steps in pieces:
        fast.advance(steps)
        plain.advance(steps)
        assert fast.iteration == plain.iteration
        ours, theirs = iterates(fast), iterates(plain)
        for name in ours:
            close = {"rtol": tolerance, "atol": tolerance, "err_msg": name}
            np.testing.assert_allclose(ours[name], theirs[name], **close)

"""Engines and averages that begin at an earlier run's pair; both engines: test_compiled.py."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from small_problems import exact_problem

from rcmd import ConjugateProx, DenseAtom
from rcmd.engine.accounting import DualAverage, PrimalAverage, Step
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import Replay
from rcmd.model.schedules import LinearSchedule, Resumed, SublinearSchedule

F = Fraction
SCHEDULES = [SublinearSchedule(F(5, 2)), LinearSchedule(F(3), F(7, 5))]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("done", [0, 1, 4])
def test_a_resumed_schedule_is_the_later_part_of_its_schedule(schedule: Any, done: int) -> None:
    """Averages started at β⁰ are those of a run whose first steps all had the atom β⁰."""
    rng = np.random.default_rng(0)
    points = [np.array([F(int(v), 7) for v in rng.integers(-9, 9, 3)], object) for _ in range(6)]
    resumed = Resumed(schedule, done)
    assert (resumed.mixing(0) == 1) == (done == 0)
    start = points[0]
    whole = PrimalAverage(schedule, np.zeros(3, object))
    later = PrimalAverage(resumed, start.copy())
    w = [np.array([F(int(v), 5) for v in rng.integers(-9, 9, 4)], object) for _ in range(6)]
    whole_w, later_w = (DualAverage(kind, np.zeros(4, object)) for kind in (schedule, resumed))
    assert later.value().tolist() == start.tolist()
    everything, nothing = np.arange(4), np.zeros(4, object)
    for i in range(done):
        whole.record(Step(i, DenseAtom(start), everything, nothing))
        whole_w.record(Step(i, DenseAtom(start), everything, nothing))
    for i in range(5):
        step = Step(i, DenseAtom(points[i + 1]), everything, w[i + 1] - w[i])
        same = Step(i + done, step.atom, step.batch, step.change)
        for average in (later, later_w):
            average.record(step)
        for average in (whole, whole_w):
            average.record(same)
        assert later.value().tolist() == whole.value().tolist()
        assert later_w.value(w[i + 1]).tolist() == whole_w.value(w[i + 1]).tolist()
        assert resumed.step(i) == schedule.step(i + done)


def test_a_run_starts_at_the_predictions_of_the_start() -> None:
    exact = exact_problem("box")
    beta = np.array([F(1), F(-1, 2), F(0), F(2)], object)
    engine = ReferenceEngine(
        exact, Resumed(SublinearSchedule(F(2)), 3), Replay([[0, 1]]), ConjugateProx(), beta
    )
    assert engine.s.tolist() == exact.rows.matvec(beta).tolist()
    assert engine.w.tolist() == exact.response(beta).tolist()
    assert engine.averages()[0].tolist() == beta.tolist()

"""Averages against direct weighted sums, in fractions, through every rescaling."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from enumeration import averaging_weight
from small_problems import ORACLES, problem

from rcmd import (
    RCMD,
    ConjugateProx,
    Counting,
    DenseAtom,
    L1Ball,
    Problem,
    RankOneAtom,
    SparseAtom,
    resume,
    solve,
)
from rcmd.engine import accounting
from rcmd.engine.accounting import DualAverage, PrimalAverage, Step
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.engine.state import Stateful
from rcmd.model.schedules import LinearSchedule, Schedule, SublinearSchedule

F = Fraction
STEPS = 30
SCHEDULES = [
    SublinearSchedule(F(5, 2)),
    LinearSchedule(F(5, 2), F(9, 8)),
    LinearSchedule(F(3), F(1, 3) + F(1, 10**60)),  # q = 10^60: the base moves every other step
]


def fractions(seed: int, *shape: int) -> Any:
    numbers = np.random.default_rng(seed).integers(-50, 50, size=shape)
    return np.vectorize(lambda k: F(int(k), 7), otypes=[object])(numbers)


def atoms(count: int) -> Iterator[Any]:
    """Atoms of all three kinds on p = 4, with fractions in them."""
    vectors = fractions(1, count, 4)
    for i, v in enumerate(vectors):
        kinds = (SparseAtom((i % 4,), (v[0],)), DenseAtom(v), RankOneAtom(v[:2], v[2:]))
        yield kinds[i % 3] if i % 7 else SparseAtom((), ())


def steps(count: int = STEPS) -> list[Step]:
    changes = fractions(2, count, 2)
    batches = [np.array([i % 6, (i + 1 + i % 5) % 6]) for i in range(count)]
    listed = enumerate(zip(atoms(count), batches, changes, strict=True))
    return [Step(i, atom, batch, change) for i, (atom, batch, change) in listed]


def check_primal(average: PrimalAverage, schedule: Schedule) -> None:
    assert list(average.value()) == [0, 0, 0, 0]
    zero = np.array([F(0)] * 4, dtype=object)
    total = zero.copy()
    mass = F(0)
    for step in steps():
        weight = averaging_weight(schedule, step.i)
        average.record(step)
        total = total + weight * step.atom.dense(zero)
        mass += weight
        assert list(average.value()) == list(total / mass), step.i
        assert all(isinstance(entry, (Fraction, int)) for entry in average.value())


def check_dual(average: DualAverage, schedule: Schedule) -> None:
    w = fractions(3, 6)
    assert list(average.value(w)) == list(w)
    total = 0 * w
    mass = F(0)
    for step in steps():
        weight = averaging_weight(schedule, step.i)
        total = total + weight * w
        mass += weight
        w[step.batch] += step.change
        average.record(step)
        assert list(average.value(w)) == list(total / mass), step.i
        assert all(isinstance(entry, (Fraction, int)) for entry in average.value(w))


@pytest.mark.parametrize("schedule", SCHEDULES, ids=["sublinear", "linear", "explosive"])
@pytest.mark.parametrize("threshold", [F(3, 2), 10, 1e100])
def test_averages_are_the_weighted_sums(
    schedule: Schedule, threshold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(accounting, "RESCALE_ABOVE", threshold)
    primal = PrimalAverage(schedule, np.zeros(4, object))
    dual = DualAverage(schedule, np.zeros(6, object))
    check_primal(primal, schedule)
    check_dual(dual, schedule)
    moved = schedule.growth(STEPS - 1, 0) > threshold
    assert [average.base > 0 for average in (primal, dual)] == [moved, moved]


def test_a_saved_average_goes_on() -> None:
    """Also where the base has moved, which it does at every other step."""
    schedule, w = SCHEDULES[2], fractions(3, 6)
    kinds: Any = ((PrimalAverage, 4), (DualAverage, 6))
    primal, dual = (kind(schedule, np.zeros(size, object)) for kind, size in kinds)
    for step in steps(8):
        fresh = [kind(schedule, np.ones(size, object)) for kind, size in kinds]
        for average, other in zip((primal, dual), fresh, strict=True):
            other.load_state(average.state())
            other.record(step)
            average.record(step)
        w[step.batch] += step.change
        assert list(fresh[0].value()) == list(primal.value())
        assert list(fresh[1].value(w)) == list(dual.value(w))
    assert primal.base > 0


def test_asking_does_not_change_the_answer() -> None:
    schedule = SCHEDULES[1]
    asked, silent = (PrimalAverage(schedule, np.zeros(4, object)) for _ in range(2))
    for step in steps():
        asked.record(step)
        silent.record(step)
        assert list(asked.value()) == list(asked.value())
    assert list(asked.value()) == list(silent.value())


@pytest.mark.parametrize("one", [1.0, F(1)])
def test_with_one_block_and_no_data_the_last_term_is_the_average(one: Any) -> None:
    schedule = LinearSchedule(one, one)
    number_type = object if isinstance(one, Fraction) else float
    primal = PrimalAverage(schedule, np.zeros(4, number_type))
    dual = DualAverage(schedule, np.zeros(6, number_type))
    w = fractions(3, 6).astype(number_type)
    for exact in steps(8):
        last = exact.atom.dense(fractions(0, 4)).astype(number_type)
        change = exact.change.astype(number_type)
        before = w.copy()
        w[exact.batch] += change
        for average in (primal, dual):
            average.record(Step(exact.i, DenseAtom(last), exact.batch, change))
        assert list(primal.value()) == list(last)
        np.testing.assert_allclose(
            dual.value(w).astype(float), before.astype(float), rtol=0, atol=1e-14
        )
        if number_type is object:
            assert list(dual.value(w)) == list(before)


# ---- floats ------------------------------------------------------------------------------------

FLOAT_SCHEDULES = [
    (SublinearSchedule(7.5), SublinearSchedule(F(15, 2))),
    (LinearSchedule(7.5, 1.25), LinearSchedule(F(15, 2), F(5, 4))),
    (LinearSchedule(1.5, 1.25), LinearSchedule(F(3, 2), F(5, 4))),  # q = 15/7: 1e100 at i = 303
]


def check_floats(schedule: Schedule, exact: Schedule, count: int = 400) -> None:
    rng = np.random.default_rng(0)
    primal, dual = PrimalAverage(schedule, np.zeros(3)), DualAverage(schedule, np.zeros(5))
    w = rng.normal(size=5)
    sums = [[mpmath.mpf(0)] * 3, [mpmath.mpf(0)] * 5]
    mass = mpmath.mpf(0)
    with mpmath.workdps(40):
        for i in range(count):
            atom, batch = DenseAtom(rng.normal(size=3)), rng.permutation(5)[:2]
            weight = mpmath.mpmathify(averaging_weight(exact, i))
            mass += weight
            for total, terms in zip(sums, (atom.vector, w), strict=True):
                total[:] = [t + weight * mpmath.mpf(x) for t, x in zip(total, terms, strict=True)]
            # Steps that shrink, as those of a run do.
            after = w[batch] + rng.normal(size=2) / (1 + i)
            change, w[batch] = after - w[batch], after
            step = Step(i, atom, batch, change)
            primal.record(step)
            dual.record(step)
            if i % 100 == 99 or i < 5:
                for found, total in zip((primal.value(), dual.value(w)), sums, strict=True):
                    for a, b in zip(found, total, strict=True):
                        assert abs(a - b / mass) <= 1e-13, i


@pytest.mark.parametrize(("schedule", "exact"), FLOAT_SCHEDULES)
def test_floats_agree_to_1e_13(schedule: Schedule, exact: Schedule) -> None:
    check_floats(schedule, exact)


def test_far_out_nothing_overflows() -> None:
    schedule = LinearSchedule(2.0, 1.5)
    average = PrimalAverage(schedule, np.zeros(1))
    for i in range(10**9, 10**9 + 50):
        average.record(Step(i, DenseAtom(np.array([float(i - 10**9)])), np.array([0]), np.zeros(1)))
    # The terms of a geometric average: Σ i q^i / Σ q^i with q = 3/2 over i < 50.
    q = F(3, 2)
    exact = sum(i * q**i for i in range(50)) / sum(q**i for i in range(50))
    assert average.value()[0] == pytest.approx(float(exact), abs=1e-6)


# ---- accounting of one's own, on both engines ----------------------------------------------------


def engine_with(kind: Any, real: Problem, listeners: Any = ()) -> Any:
    sampler = UniformSampler(real.n, 2, np.random.default_rng(1))
    return kind(real, SCHEDULE, sampler, ConjugateProx(), None, listeners)


SCHEDULE = SublinearSchedule(2.5)
KINDS = {**{name: ORACLES[name] for name in ("l1-ball", "box", "ridge", "moved-l1-ball")}}
KINDS["called from Python"] = Counting(L1Ball(4.0))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("oracle", KINDS.values(), ids=list(KINDS))
def test_both_engines_report_the_steps_that_they_take(oracle: Any, weighted: bool) -> None:
    """β̄ and w̄ from what is reported are the engine's own, through a refresh of d."""
    real = problem(
        "least-squares", oracle, weighted=weighted, layout="csr" if weighted else "dense"
    )
    for kind in (CompiledEngine, ReferenceEngine):
        beta = PrimalAverage(SCHEDULE, np.zeros(4))
        w = DualAverage(SCHEDULE, np.zeros(5))
        whole, alone = engine_with(kind, real, [beta, w]), engine_with(kind, real)
        for engine in (whole, alone):
            engine.advance(7)
            engine.advance(23)
        for name in ("s", "w", "d"):
            assert getattr(whole, name).tobytes() == getattr(alone, name).tobytes(), name
        for mine, own in zip((beta.value(), w.value(whole.w)), whole.averages(), strict=True):
            np.testing.assert_allclose(mine, own, rtol=1e-12, atol=1e-14)
        assert beta.last == w.last == 29


class Visits(Stateful):
    changing = ("count", "total", "last")

    def __init__(self) -> None:
        self.count, self.total, self.last = 0, np.zeros(5), None

    def record(self, step: Step) -> None:
        self.count += 1
        self.total[step.batch] += abs(step.change)
        self.last = step.atom


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_accounting_is_resumed(tmp_path: Any, engine: Any) -> None:
    real, once, first, more = problem("logistic", "l1-ball"), Visits(), Visits(), Visits()
    options: Any = {"tol": 0.0, "batch": 2}
    wanted = solve(
        real, method=RCMD(engine=engine, accounting=[once]), max_iterations=60, **options
    )
    method = RCMD(engine=engine, accounting=[first])
    solve(real, method=method, max_iterations=20, checkpoint=tmp_path / "a", **options)
    again = RCMD(engine=engine, accounting=[more])
    found = resume(tmp_path / "a", real, method=again, max_iterations=60)
    assert (first.count, more.count, more.last) == (20, 60, once.last)
    assert more.total.tobytes() == once.total.tobytes()
    assert found.beta.tobytes() == wanted.beta.tobytes()
    forgetful: Any = [type("Bare", (), {"record": lambda self, step: None})()]
    with pytest.raises(ValueError, match="of type Bare, which no checkpoint holds; expected"):
        solve(real, method=RCMD(accounting=forgetful), checkpoint=tmp_path / "b", **options)

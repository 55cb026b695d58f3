"""Schedules that see the run, and samplers that are not uniform, on both engines."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any, ClassVar

import numpy as np
import pytest

from rcmd import RCMD, ExactProx, Problem, iterate, resume, solve
from rcmd.engine.sampling import CyclicSampler, ImportanceSampler, ReshuffledSampler, Sampler
from rcmd.engine.state import Stateful
from rcmd.model.schedules import Schedule, ShortStep, SublinearSchedule, default_schedule
from rcmd.testing import check_sampler, check_schedule, inspect_schedule
from rcmd.theory import expected_gap

RNG = np.random.default_rng(7)
X, Y = RNG.standard_normal((30, 4)), np.sign(RNG.standard_normal(30))
WEIGHTS = RNG.uniform(0.5, 2.0, 30)
ENDS: Any = {"tol": 0.0, "max_iterations": 90, "record_at": [7, 90]}


@dataclass(frozen=True)
class ByRow(SublinearSchedule):
    """η from i and from everything that is seen, another for every row."""

    sees_run: ClassVar[bool] = True

    def step(self, i: int, state: Any) -> Any:  # type: ignore[override]
        beta = state.atom.dense(np.zeros(state.problem.p))
        assert np.allclose(state.predictions, X[state.batch] @ beta, rtol=1e-12, atol=1e-12)
        assert np.array_equal(state.w, state.problem.losses.derivative(state.s, state.batch))
        w = state.all_w()
        assert np.array_equal(state.w, w[state.batch])
        assert state.dual == pytest.approx(state.problem.dual(w), rel=1e-9, abs=1e-12)
        near = 1 / (1 + abs(state.predictions - state.s) + abs(state.w) + abs(state.d).sum())
        return near * super().step(i)


def problem(oracle: str = "ridge:0.05", loss: str = "logistic") -> Problem:
    return Problem(X, Y, loss, oracle, weights=WEIGHTS)


@pytest.mark.parametrize("oracle", ["ridge:0.05", "l1:3"])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("prox", [None, ExactProx(0.3)], ids=repr)
def test_both_engines_take_the_same_steps(oracle: str, batch: int, prox: Any) -> None:
    runs = [
        solve(problem(oracle), method=RCMD(batch, ByRow(30 / batch), prox, engine=engine), **ENDS)
        for engine in ("reference", "compiled")
    ]
    np.testing.assert_allclose(runs[0].beta, runs[1].beta, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(runs[0].w, runs[1].w, rtol=1e-9, atol=1e-12)
    assert "no bound: " in runs[0].note
    assert np.isnan(runs[0].history[-1].bound)


def test_short_steps_are_the_best_for_quadratic_losses() -> None:
    """In fractions: D along the step is largest at η, and never falls."""
    data = np.array([[F(1)], [F(-2)], [F(1, 2)]], dtype=object)
    labels = np.array([F(1), F(0), F(3)], dtype=object)
    from enumeration import Parabola

    small = Problem(data, labels, "least-squares", Parabola(F(1, 2), F(0), F(-100), F(100)))
    schedule = ShortStep(default_schedule(small.constants(2)))
    found: list[Any] = []

    class Watched(ShortStep):
        def step(self, i: Any, state: Any) -> Any:  # type: ignore[override]
            eta = super().step(i, state)
            found.append((state.batch, state.s.copy(), state.predictions.copy(), eta))
            return eta

    sampler = CyclicSampler(3, 2)
    method = RCMD(schedule=Watched(schedule.averages), sampler=sampler, engine="reference")
    run = iterate(small, method=method, tol=0.0, max_iterations=4, record_at=[1, 2, 3, 4])
    before = np.array([F(0)] * 3, dtype=object)
    for state, (batch, s, aims, eta) in zip(run, found, strict=False):
        duals = []
        for share in (eta * F(99, 100), eta, eta * F(101, 100)):
            moved = before.copy()
            moved[batch] = s + share * (aims - s)
            duals.append(small.dual(small.losses.derivative(moved)))
        assert duals[1] > max(duals[0], duals[2])
        assert duals[1] > small.dual(small.losses.derivative(before))
        before = state.s


@pytest.mark.parametrize("eta", [1.005, -0.005, np.nan, np.ones(3)], ids=repr)
def test_steps_that_are_none_are_refused(eta: Any) -> None:
    class Wrong(ByRow):
        def step(self, i: int, state: Any) -> Any:  # type: ignore[override]
            return eta

    with pytest.raises(ValueError, match=r"step of Wrong returned .*; expected a number in"):
        solve(problem(), method=RCMD(2, Wrong(15.0)), **ENDS)
    assert not inspect_schedule(Wrong(15.0)).ok


def test_a_schedule_cannot_write_into_the_run() -> None:
    class Writes(ByRow):
        def step(self, i: int, state: Any) -> Any:  # type: ignore[override]
            state.d[0] = 1.0
            return 0.5

    with pytest.raises(ValueError, match="read-only"):
        solve(problem(), method=RCMD(2, Writes(15.0)), **ENDS)
    assert not inspect_schedule(Writes(15.0)).ok
    assert check_schedule(ShortStep(SublinearSchedule(3.0))).ok


def test_short_steps_ask_for_a_strongly_convex_regularizer() -> None:
    with pytest.raises(ValueError, match=r"ShortStep got L1Ball.*μ = 0; expected a strongly"):
        solve(problem("l1:3"), method=RCMD(schedule=ShortStep(SublinearSchedule(30.0))), **ENDS)


class Shrinking(Stateful, Schedule):
    """Steps that fall by a tenth wherever D(w) fell since the last one."""

    sees_run: ClassVar[bool] = True
    changing = ("eta", "best")

    def __init__(self) -> None:
        self.eta, self.best = 0.5, -np.inf

    def step(self, i: int, state: Any) -> Any:  # type: ignore[override]
        self.eta *= 1.0 if state.dual >= self.best else 0.9
        self.best = max(self.best, state.dual)
        return self.eta

    def mixing(self, i: Any) -> Any:
        return 1 / (i + 1)

    def growth(self, i: Any, base: int) -> Any:
        return (i + 1) / (base + 1)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_every_run_has_its_own_memory_of_a_schedule(engine: Any, tmp_path: Any) -> None:
    schedule, file = Shrinking(), tmp_path / "run.ckpt"
    method = RCMD(schedule=schedule, engine=engine)
    whole = solve(problem("l1:3"), method=method, **ENDS)
    options = ENDS | {"max_iterations": 40}
    solve(problem("l1:3"), method=method, checkpoint=file, **options)
    rest = resume(file, problem=problem("l1:3"), method=method, max_iterations=90)
    assert np.array_equal(rest.beta, whole.beta)
    assert (schedule.eta, schedule.best) == (0.5, -np.inf)
    assert check_schedule(Shrinking()).ok
    with pytest.raises(ValueError, match="Shrinking, which remembers the steps of one run"):
        expected_gap(Problem([[1.0]], [1.0], "logistic", "l1:1"), 2, method=method)


# ---- samplers ----------------------------------------------------------------------------------

SAMPLERS: list[Callable[[], Sampler]] = [
    lambda: ImportanceSampler(np.arange(30) / 435, np.random.default_rng(3)),
    lambda: CyclicSampler(30, 4),
    lambda: ReshuffledSampler(30, 4, np.random.default_rng(3)),
]


@pytest.mark.parametrize("make", SAMPLERS)
def test_draws_do_not_depend_on_how_they_are_sliced(make: Callable[[], Any]) -> None:
    one, other = make(), make()
    whole = one.draw(40)
    assert np.array_equal(whole, np.concatenate([other.draw(k) for k in (1, 14, 25)]))
    assert check_sampler(make()).ok
    third = make()
    third.draw(11)
    again = make()
    again.load_state(third.state())
    assert np.array_equal(again.draw(29), whole[11:])


def test_every_row_comes_once_in_an_epoch() -> None:
    drawn = ReshuffledSampler(12, 3, np.random.default_rng(0)).draw(8).reshape(2, 12)
    assert [sorted(epoch) for epoch in drawn.tolist()] == [list(range(12))] * 2
    assert drawn[0].tolist() != drawn[1].tolist()
    short = ReshuffledSampler(7, 3, np.random.default_rng(0)).draw(50)
    assert all(len(set(a) | set(b)) == 6 for a, b in zip(short[::2], short[1::2], strict=True))


@pytest.mark.parametrize("make", SAMPLERS)
def test_a_resumed_run_is_the_same(make: Callable[[], Any], tmp_path: Any) -> None:
    options: Any = {"tol": 0.0, "record_at": [20, 90]}
    whole = solve(problem(), method=RCMD(sampler=make()), max_iterations=90, **options)
    file = tmp_path / "run.ckpt"
    method = RCMD(sampler=make())
    solve(problem(), method=method, max_iterations=20, checkpoint=file, **options)
    rest = resume(file, problem=problem(), method=RCMD(sampler=make()), max_iterations=90)
    assert np.array_equal(rest.beta, whole.beta)
    assert (
        "no bound: there is no theorem here for another sampler than UniformSampler" in whole.note
    )


def test_theorem_one_is_shown_for_matching_probabilities_only() -> None:
    ridge = problem()
    mean = 1 + (ridge.losses.gammas * (X * X).sum(axis=1)).mean() / (30 * 0.05)
    shown = []
    for sampler in (
        ImportanceSampler.matching(ridge, np.random.default_rng(0)),
        ImportanceSampler(np.full(30, 1 / 30), np.random.default_rng(0)),
    ):
        result = solve(ridge, method=RCMD(sampler=sampler, prox=ExactProx()), **ENDS)
        shown.append(result.history[-1].bound)
    growth = np.expm1(-90 * np.log1p(-1 / (30 * mean)))
    assert shown[0] == pytest.approx(ridge.constants().start_gap / growth, rel=1e-9)
    assert np.isnan(shown[1])
    with pytest.raises(ValueError, match=r"probabilities .* whose sum is 1; expected one for"):
        ImportanceSampler([0.5, 0.51], np.random.default_rng(0))
    with pytest.raises(ValueError, match="with μ = 0; expected a strongly convex R"):
        ImportanceSampler.matching(problem("l1:3"), np.random.default_rng(0))


class OfIterationsAlone(SublinearSchedule):
    sees_run: ClassVar[bool] = True


def test_a_step_that_cannot_see_the_run_is_refused_before_it() -> None:
    with pytest.raises(TypeError, match=r"step of OfIterationsAlone takes other arg.*\(i, state\)"):
        solve(problem(), method=RCMD(1, OfIterationsAlone(30)), **ENDS)
    found = inspect_schedule(OfIterationsAlone(30)).lines()
    assert any("an exception" in line for line in found)
    assert not any("too small" in line for line in found)

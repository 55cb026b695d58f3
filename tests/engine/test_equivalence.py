"""Algorithm 1 is Algorithm 2: one comparison for both and for the engine with incremental d."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from covering import covering, name_of
from enumeration import averaging_weight
from small_problems import EXACT_ORACLES, LOSSES, ORACLES, dense, exact_problem, problem

from rcmd import LeastSquares, Problem
from rcmd.engine.accounting import Step
from rcmd.engine.base import next_refresh
from rcmd.engine.reference import ReferenceEngine, gsfw
from rcmd.engine.sampling import Replay, UniformSampler
from rcmd.model.schedules import Schedule, SublinearSchedule, default_schedule


@dataclass(frozen=True)
class Moment:
    """After iteration i: β̄^i, w̄^i, and s, w, d with the index i+1; ``None`` where not kept."""

    beta: Any
    s: Any
    d: Any
    w: Any = None
    w_average: Any = None


def algorithm_2(problem: Problem, schedule: Schedule, batches: Any) -> Iterator[Moment]:
    """The paper's Algorithm 2 in w: l*' is computed, d is Xᵀw/n anew in each iteration."""
    X, n, losses = dense(problem), problem.n, problem.losses
    weights = np.ones(n, dtype=int) if losses.weights is None else losses.weights

    def slope(j: int, s: Any) -> Any:
        return weights[j] * losses.loss.derivative(s, losses.y[j])

    def conjugate_slope(j: int, w: Any) -> Any:
        return losses.loss.conjugate_derivative(w / weights[j], losses.y[j])

    w = np.array([slope(j, 0 * losses.y[j]) for j in range(n)])
    beta = 0 * X[0]
    total, weighted_w = 0, 0 * w
    for i, batch in enumerate(batches):
        alpha, eta = schedule.mixing(i), schedule.step(i)
        atom = problem.oracle.argmin(X.T @ w / n).dense(beta)
        weighted_w = weighted_w + averaging_weight(schedule, i) * w
        total += averaging_weight(schedule, i)
        after = w.copy()
        for j in batch:
            after[j] = slope(j, (1 - eta) * conjugate_slope(j, w[j]) + eta * (X[j] @ atom))
        w = after
        beta = (1 - alpha) * beta + alpha * atom
        s = np.array([conjugate_slope(j, w[j]) for j in range(n)])
        yield Moment(beta, s, X.T @ w / n, w, weighted_w / total)


def algorithm_1(problem: Problem, schedule: Schedule, batches: Any) -> Iterator[Moment]:
    iterates = gsfw(problem, schedule, Replay(batches))
    for _ in batches:
        yield Moment(*next(iterates))


def engine(problem: Problem, schedule: Schedule, batches: Any) -> Iterator[Moment]:
    runner = ReferenceEngine(problem, schedule, Replay(batches))
    for _ in batches:
        runner.step()
        beta, w_average = runner.averages()
        yield Moment(beta, runner.s.copy(), runner.d.copy(), runner.w.copy(), w_average)


def same(left: Any, right: Any, exactly: bool) -> None:
    if exactly:
        assert all(isinstance(value, Fraction | int) for value in [*left, *right])
        assert list(left) == list(right)
    else:
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-12)


def compare(problem: Problem, truth: Iterable[Moment], run: Iterable[Moment]) -> int:
    """Assert that two runs are one, and that d = Xᵀ∇L(s)/n in both; return the steps."""
    X, exactly, steps = dense(problem), problem.exact, 0
    for expected, moment in zip(truth, run, strict=True):
        for name in ("beta", "s", "d", "w", "w_average"):
            if getattr(moment, name) is not None:
                same(getattr(moment, name), getattr(expected, name), exactly)
        w = problem.losses.derivative(moment.s)
        same(moment.d, X.T @ w / problem.n, exactly)
        steps += 1
    return steps


def drawn(problem: Problem, batch: int, steps: int) -> Any:
    return UniformSampler(problem.n, batch, np.random.default_rng(7)).draw(steps).tolist()


def schedules(problem: Problem, batch: int) -> list[Schedule]:
    constants = problem.constants(batch)
    return [default_schedule(constants), SublinearSchedule(constants.blocks)]


# ---- the same iterates -------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("batch", [1, 2, 4])
@pytest.mark.parametrize("oracle", EXACT_ORACLES)
@pytest.mark.parametrize("run", [algorithm_1, engine])
def test_equal_in_fractions(run: Any, oracle: str, batch: int, weighted: bool) -> None:
    exact = exact_problem(oracle, weighted=weighted)
    batches = drawn(exact, batch, 6)
    for schedule in schedules(exact, batch):
        transcript = algorithm_2(exact, schedule, batches)
        assert compare(exact, transcript, run(exact, schedule, batches)) == 6


CHOICES: dict[str, list[Any]] = {
    "loss": list(LOSSES),
    "oracle": list(ORACLES),
    "batch": [1, 2, 5],
    "layout": ["dense", "csr"],
    "weighted": [False, True],
    "schedule": [0, 1],
}


@pytest.mark.parametrize("case", covering(CHOICES), ids=name_of)
def test_equal_in_floats(case: dict[str, Any]) -> None:
    shape = {name: case[name] for name in ("loss", "oracle", "layout", "weighted")}
    real = problem(**shape)
    batches = drawn(real, case["batch"], 16)
    schedule = schedules(real, case["batch"])[case["schedule"]]
    transcript = list(algorithm_2(real, schedule, batches))
    for run in (algorithm_1, engine):
        assert compare(real, transcript, run(real, schedule, batches)) == 16


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_runs_above_visit_several_atoms(loss: str, oracle: str) -> None:
    for batch in (1, 2, 5):
        real = problem(loss, oracle)
        atoms = Atoms()
        sampler = Replay(drawn(real, batch, 16))
        ReferenceEngine(real, schedules(real, batch)[1], sampler, accounting=[atoms]).advance(16)
        assert len(atoms.seen) > 1


class Atoms:
    def __init__(self) -> None:
        self.seen: set[Any] = set()

    def record(self, step: Step) -> None:
        self.seen.add(tuple(step.atom.dense(np.zeros(4))))


@pytest.mark.parametrize("loss", LOSSES)
def test_equal_across_the_refresh_of_d(loss: str) -> None:
    real = problem(loss, "l1-ball", n=3)
    batches, schedule = drawn(real, 3, 40), SublinearSchedule(1.0)
    assert next_refresh(0, real.n, 3) < len(batches)
    transcript = algorithm_2(real, schedule, batches)
    assert compare(real, transcript, engine(real, schedule, batches)) == 40


@pytest.mark.parametrize("oracle", ["l1-ball", "ridge", "box"])
@pytest.mark.parametrize("loss", LOSSES)
def test_accounting_does_not_touch_the_method(loss: str, oracle: str) -> None:
    real = problem(loss, oracle)
    batches, schedule = drawn(real, 2, 30), schedules(real, 2)[0]
    *_, counted = engine(real, schedule, batches)
    bare = ReferenceEngine(real, schedule, Replay(batches))
    bare.accounting = ()
    bare.advance(30)
    for name in ("s", "w", "d"):
        assert np.array_equal(getattr(bare, name), getattr(counted, name))


@pytest.mark.parametrize("row", range(4))
@pytest.mark.parametrize("oracle", ["l1-ball", "box", "simplex", "moved-l1-ball"])
def test_weight_two_is_the_row_twice(oracle: str, row: int) -> None:
    """With R an indicator and b = n, d only changes its scale: n + 1 rows in the place of n."""
    once = exact_problem(oracle)
    X, y = dense(once), once.losses.y
    weights = 1 + (np.arange(4) == row)
    weighted = Problem(X, y, LeastSquares(), once.oracle, weights=weights)
    repeated = Problem([*X, X[row]], [*y, y[row]], LeastSquares(), once.oracle)
    schedule = SublinearSchedule(Fraction(1))
    left = list(engine(weighted, schedule, [[0, 1, 2, 3]] * 6))
    right = list(engine(repeated, schedule, [[0, 1, 2, 3, 4]] * 6))
    for one, two in zip(left, right, strict=True):
        same(one.beta, two.beta, exactly=True)
        same(one.s, two.s[:4], exactly=True)
        same(one.w, weights * two.w[:4], exactly=True)
        same(4 * one.d, 5 * two.d, exactly=True)
        assert 4 * weighted.primal(one.beta) == 5 * repeated.primal(two.beta)
        assert 4 * weighted.dual(one.w_average) == 5 * repeated.dual(two.w_average)
    assert left[-1].s.any()

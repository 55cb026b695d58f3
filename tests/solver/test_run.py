"""Runs: reproducible, stopped for the reason they say, certified at every checkpoint."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from guards import some
from small_problems import LOSSES, ORACLES, lines, problem

from rcmd import (
    RCMD,
    Box,
    Corrected,
    DenseAtom,
    Ellipsoid,
    EuclideanProx,
    ExactProx,
    L1Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    Problem,
    Result,
    Ridge,
    State,
    StopReason,
    iterate,
    resume,
    solve,
)
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import Replay, UniformSampler
from rcmd.methods import Method
from rcmd.model import bounds
from rcmd.model.schedules import LinearSchedule, SublinearSchedule, default_schedule
from rcmd.rows.processes import Cancelled
from rcmd.rows.validation import batch_size
from rcmd.solver.history import log_spaced
from rcmd.solver.run import Budgets

ITERATES = ("s", "w", "d", "beta_average", "w_average")


def reproducible(solve_again: Any) -> None:
    first, second = solve_again(), solve_again()
    assert lines(first.history) == lines(second.history)
    assert np.array_equal(first.beta, second.beta)
    assert np.array_equal(first.w, second.w)


# ---- same seed, same iterates -------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 3, 0.5])
@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("loss", LOSSES)
def test_same_seed_same_run(loss: str, oracle: str, batch: Any) -> None:
    options = {"batch": batch, "tol": 0, "max_iterations": 40, "seed": 5}
    reproducible(lambda: solve(problem(loss, oracle, n=8), **options))


def test_a_generator_is_a_seed_and_another_seed_another_run(lasso: Problem) -> None:
    def run(seed: Any) -> Result:
        return solve(lasso, tol=0, max_iterations=40, seed=seed)

    reproducible(lambda: run(np.random.default_rng(5)))
    assert lines(run(5).history) == lines(run(np.random.default_rng(5)).history)
    assert lines(run(5).history) != lines(run(6).history)


def test_iterate_runs_what_solve_runs(ridge: Problem) -> None:
    seen: list[State] = []
    options = {"batch": 2, "tol": 1e-6, "max_iterations": 1000}
    result = solve(ridge, callbacks=[lambda state: seen.append(state)], **options)
    run = iterate(ridge, **options)
    states = list(run)
    assert lines(states) == lines(seen) == lines(result.history) == lines(run.result().history)
    for one, two in zip(states, seen, strict=True):
        assert all(np.array_equal(getattr(one, name), getattr(two, name)) for name in ITERATES)
    assert run.result().stop is result.stop is StopReason.TOLERANCE
    with pytest.raises(StopIteration):
        next(run)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("batch", [1, 3, 8])
def test_a_run_is_algorithm_2_whatever_its_records(lasso: Problem, batch: int, engine: Any) -> None:
    options: Any = {"batch": batch, "tol": 0, "max_iterations": 50, "seed": 2}
    options["method"] = RCMD(engine=engine)
    dense = {state.iteration: state for state in iterate(lasso, record_at=range(1, 60), **options)}
    assert sorted(dense) == list(range(1, 51))
    sampler = UniformSampler(8, batch, np.random.default_rng(2))
    reference = ReferenceEngine(lasso, default_schedule(lasso.constants(batch)), sampler)
    for i in range(1, 51):
        reference.step()
        for name in ("s", "w", "d"):
            exact = {"rtol": 1e-12, "atol": 1e-12} if engine == "compiled" else {"rtol": 0}
            np.testing.assert_allclose(getattr(dense[i], name), getattr(reference, name), **exact)
    sparse = list(iterate(lasso, **options))
    assert 5 < len(sparse) < 25
    for state in sparse:
        twin = dense[state.iteration]
        for name in ITERATES:
            assert np.array_equal(getattr(state, name), getattr(twin, name)), (name, state)


# ---- budgets and reasons ------------------------------------------------------------------------


def test_a_gap_equal_to_the_tolerance_is_enough(lasso: Problem) -> None:
    options: dict[str, Any] = {"method": "rcmd", "record_at": range(1, 30), "max_iterations": 29}
    gaps = solve(lasso, tol=0, **options).history.column("gap")
    first = int(np.argmax(gaps <= gaps[20]))
    result = solve(lasso, tol=gaps[first], **options)
    assert (result.stop, result.nit) == (StopReason.TOLERANCE, first + 1)


@pytest.mark.parametrize("budget", [1, 2, 17])
def test_iterations(lasso: Problem, budget: int) -> None:
    result = solve(lasso, batch=3, tol=0, max_iterations=budget)
    assert result.stop is StopReason.ITERATIONS
    assert not result.success
    assert (result.nit, result.history[-1].gradients) == (budget, 3 * budget)


@pytest.mark.parametrize(("budget", "steps"), [(3, 1), (30, 10), (31, 10), (33, 11)])
def test_gradients(lasso: Problem, budget: int, steps: int) -> None:
    result = solve(lasso, batch=3, tol=0, max_gradients=budget)
    assert result.stop is StopReason.GRADIENTS
    assert (result.nit, result.history[-1].gradients) == (steps, 3 * steps)


def test_seconds(lasso: Problem) -> None:
    result = solve(lasso, tol=0, max_seconds=1e-9)
    assert result.stop is StopReason.SECONDS
    assert result.nit == 1


def test_a_run_that_had_no_time_to_start_is_certified_where_it_is(lasso: Problem) -> None:
    """The clock of the limit starts again with the run, and may show some time left."""

    @dataclass(frozen=True)
    class Late(Method):
        def start(self, *at: Any) -> Any:
            raise Cancelled  # as a constant does that takes too many calls

    result = solve(lasso, method=Late(), tol=0, max_seconds=1000.0)
    assert (result.stop, result.nit) == (StopReason.SECONDS, 0)
    assert math.isfinite(result.gap)


def test_seconds_without_any_mark_left(lasso: Problem) -> None:
    result = solve(lasso, tol=0, max_seconds=0.02, record_at=iter([]))
    assert result.stop is StopReason.SECONDS
    assert len(result.history) == 1


@pytest.mark.parametrize(("n", "gradients"), [(8, 10**7), (10**4, 10**7), (10**5, 10**8)])
def test_without_budgets_the_larger_default_holds(n: int, gradients: int) -> None:
    assert Budgets(None, None, None, n=n).gradients == gradients
    for given in ((5, None, None), (None, None, 5.0)):
        assert Budgets(*given, n=n).gradients == math.inf


def test_the_smaller_budget_speaks(lasso: Problem) -> None:
    def stop(**budgets: Any) -> StopReason:
        return solve(lasso, batch=2, tol=0, **budgets).stop

    assert stop(max_iterations=5, max_gradients=12) is StopReason.ITERATIONS
    assert stop(max_iterations=7, max_gradients=12) is StopReason.GRADIENTS
    assert stop(max_iterations=5, max_seconds=1e-9) is StopReason.SECONDS


# ---- stalls -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def thin() -> Problem:
    """The doubt of a nearly singular ellipsoid is a floor that the pairs come down to."""
    oracle = Ellipsoid(np.array([[3, 1], [1, 1 / 3 + 1e-8]]))
    return Problem([[1e3, -3e3]], [1.0], LeastSquares(), oracle)


@pytest.mark.parametrize("oracle", ["l1:500", "ridge:0.1"])
def test_a_run_whose_gap_is_rounding_ends_with_that_reason(oracle: str) -> None:
    """Of the terms of the losses, and of Xβ and Xᵀw; it went on until it stalled."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 10))
    problem = Problem(X, 1e3 * (X[:, 0] + rng.normal(size=200)), LeastSquares(), oracle)
    result = solve(problem, tol=1e-10)
    assert result.stop is StopReason.PRECISION
    assert result.history[-1].gradients < 10_000
    assert 0 < result.gap < 1e-13 * result.primal


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_run_ends_at_the_limit_of_double_precision(
    ridge: Problem, engine: Any, tmp_path: Path
) -> None:
    """Whatever the budget; no smaller gap is stated, and a resumed run ends there too."""
    options: Any = {"method": RCMD(engine=engine, batch=8), "max_gradients": 10**9}
    result = solve(ridge, **options, tol=1e-40, checkpoint=tmp_path / "run.ckpt")
    gaps = result.history.column("gap")
    assert result.stop is resume(tmp_path / "run.ckpt", ridge).stop is StopReason.PRECISION
    assert not result.success
    assert result.gap == gaps[-1] == 2.0**-53 * result.primal < gaps[:-1].min()
    assert solve(ridge, **options, tol=float(result.gap)).stop is StopReason.TOLERANCE


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_a_run_that_cannot_go_on_says_so(thin: Problem, engine: Any) -> None:
    result = solve(thin, method=RCMD(engine=engine), tol=1e-10, max_gradients=10**9)
    last = result.history[-1]
    assert result.stop is StopReason.STALLED
    assert not result.success
    gaps, gradients = result.history.column("gap"), result.history.column("gradients")
    fell = gradients[np.flatnonzero(gaps < gaps.min() * (1 + 2e-6))[0]]
    assert last.gradients / 3 <= 10 * max(fell, 20 * thin.n) <= last.gradients


@pytest.mark.parametrize("left", [1, 3])
def test_a_resumed_run_stalls_where_an_undisturbed_one_does(
    thin: Problem, left: int, tmp_path: Path
) -> None:
    options: Any = {"tol": 1e-10, "method": "rcmd"}
    whole = solve(thin, **options)
    until, file = whole.history[-left].iteration, tmp_path / "run.ckpt"
    solve(thin, **options, checkpoint=file, max_iterations=until)
    resumed = resume(file, thin, max_iterations=None)
    assert resumed.stop is whole.stop is StopReason.STALLED
    assert [row.gap for row in resumed.history] == [row.gap for row in whole.history]
    assert resume(file, thin).nit == whole.nit


@pytest.mark.parametrize("records", [None, range(1, 40_000, 40)])
def test_slow_but_steady_is_no_stall(lasso: Problem, ridge: Problem, records: Any) -> None:
    slow: Any = {"max_iterations": 30_000, "record_at": records, "tol": 1e-9}
    hardly = RCMD(schedule=LinearSchedule(8.0, 1e6))
    for problem_, method in ((lasso, RCMD()), (ridge, hardly), (lasso, hardly)):
        assert solve(problem_, method=method, **slow).stop is StopReason.ITERATIONS


@pytest.mark.parametrize(("method", "n", "seed"), [("rcmd", 3, 3), ("fw", 30, 1)])
def test_a_lucky_pair_is_no_stall(
    method: str, n: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The best pair is found early, while the pairs at hand are still getting better."""
    monkeypatch.setattr("rcmd.solver.run.STALL_GROWTH", 4)  # luck that lasts for less
    X = np.random.default_rng(seed).normal(size=(n, 2 if n == 3 else 4))
    about = Problem(X, np.sign(X[:, 0] + 0.1), "huber:0.5", L1Ball(1.0))
    options: Any = {"method": method, "seed": seed, "max_gradients": 18_000 if n == 30 else 4500}
    result = solve(about, tol=1e-7, **options)
    gaps, gradients = result.history.column("gap"), result.history.column("gradients")
    assert gradients[-1] >= 4 * gradients[gaps.argmin()], "no fall while they grew fourfold"
    assert result.stop is StopReason.GRADIENTS
    with monkeypatch.context() as patch:
        patch.setattr("rcmd.solver.run.STEADY_FALL", 1.0)  # whatever the pairs at hand do
        assert solve(about, tol=1e-7, **options).stop is StopReason.STALLED
    options["max_gradients"] = 30_000
    assert solve(about, tol=0, **options).gap < 0.3 * result.gap


def test_pairs_that_got_better_long_ago_do_not_put_off_a_stall(thin: Problem) -> None:
    assert solve(thin, tol=1e-10, max_gradients=10**6).stop is StopReason.STALLED


def test_without_a_tolerance_the_budget_is_used(ridge: Problem) -> None:
    assert solve(ridge, batch=8, tol=0.0, max_iterations=20_000).stop is StopReason.ITERATIONS


# ---- callbacks and records ----------------------------------------------------------------------


def test_a_callback_can_stop(lasso: Problem) -> None:
    seen: list[int] = []

    def third(state: State) -> bool:
        seen.append(state.iteration)
        return len(seen) == 3

    result = solve(lasso, tol=0, max_iterations=9, callbacks=[third], record_at=[2, 4, 6, 8])
    assert result.stop is StopReason.CALLBACK
    assert result.message.startswith("the caller asked to stop")
    assert seen == [2, 4, 6]
    assert result.nit == 6


def test_every_callback_is_called(lasso: Problem) -> None:
    calls: list[str] = []
    callbacks = [lambda s: calls.append("a") or True, lambda s: calls.append("b")]
    solve(lasso, tol=0, callbacks=callbacks, record_at=[1, 2], max_iterations=3)
    assert calls == ["a", "b"]


def test_tolerance_goes_before_the_callback(lasso: Problem) -> None:
    stopped = solve(lasso, tol=1e9, max_iterations=9, callbacks=[lambda s: True])
    assert stopped.stop is StopReason.TOLERANCE


def test_an_error_in_a_callback_comes_through(lasso: Problem) -> None:
    def fails(state: State) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        solve(lasso, callbacks=[fails])


def test_record_at(lasso: Problem) -> None:
    def recorded(iterations: Iterable[int]) -> list[int]:
        result = solve(lasso, tol=0, max_iterations=10, record_at=iterations)
        return result.history.column("iteration").tolist()

    assert recorded([1, 3, 7]) == [1, 3, 7, 10]
    assert recorded(iter([4, 8])) == [4, 8, 10]
    assert recorded(iter([])) == recorded([11, 12]) == [10]
    assert recorded([10]) == [10]


@pytest.mark.parametrize(("batch", "first"), [(1, 2), (2, 1), (8, 1)])
def test_default_records_grow_by_a_quarter(lasso: Problem, batch: int, first: int) -> None:
    marks = list(islice(log_spaced(lasso.constants(batch).blocks), 60))
    assert marks[0] == first
    assert all(after == max(mark + 1, math.ceil(1.25 * mark)) for mark, after in pairwise(marks))


@pytest.mark.parametrize(("n", "marks"), [(1000, [1, 2, 3, 4, 5, 7, 9, 12]), (1001, [1, 6, 11])])
def test_certificates_of_many_rows_take_a_fifth_of_a_run(n: int, marks: list[int]) -> None:
    """A step is a pass here, as is a certificate: after the first, they are 5 apart."""
    rows = np.random.default_rng(0).standard_normal((n, 6))
    about = Problem(rows, np.sign(rows.sum(axis=1)), "logistic", L1Ball(5.0))
    swept: list[int] = []
    for name in ("matvec", "rmatvec"):
        product = getattr(about.rows, name)
        setattr(about.rows, name, lambda v, product=product: swept.append(0) or product(v))
    run = iterate(about, tol=0.0, batch=n, max_iterations=12, method="rcmd")
    next(run)
    swept.clear()
    assert [1, *(state.iteration for state in run)] == sorted({*marks, 12})
    one = len(swept) / (len(run.history) - 1)
    assert one == 2 if n > 1000 else one >= 4, "one product with X and one with its transpose"


@pytest.mark.parametrize("method", ["rcmd", "corrected"])
def test_a_warm_start_is_never_lost(lasso: Problem, method: str) -> None:
    before = solve(lasso, method="rcmd", tol=0, max_iterations=300)
    after = solve(lasso, method=method, tol=0, max_iterations=1, warm_start=before)
    assert after.primal <= before.primal
    assert after.dual >= before.dual


# ---- batches ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("batch", "rows"),
    [(1, 1), (8, 8), (np.int64(3), 3), (0.25, 2), (0.3, 2), (0.35, 3), (1.0, 8), (1e-9, 1)],
)
def test_batch_sizes(lasso: Problem, batch: Any, rows: int) -> None:
    assert batch_size(batch, 8) == rows
    assert solve(lasso, batch=batch, tol=0, max_iterations=4).history[-1].gradients == 4 * rows


def test_replayed_batches(lasso: Problem) -> None:
    batches = UniformSampler(8, 2, np.random.default_rng(3)).draw(20)
    replayed = solve(lasso, tol=0, max_iterations=20, method=RCMD(sampler=Replay(batches)))
    drawn = solve(lasso, tol=0, max_iterations=20, batch=2, seed=3)
    assert np.isnan(replayed.history.column("bound")).all(), "bounds are about uniform batches"
    none = {"pair_gap": "nan", "bound": "nan"}
    assert lines(replayed.history) == [row | none for row in lines(drawn.history)]
    with pytest.raises(ValueError, match="has 20 batches, of which"):
        solve(lasso, tol=0, max_iterations=21, method=RCMD(sampler=Replay(batches)))


def test_steps_between_looks_at_the_clock_at_most_double(lasso: Problem) -> None:
    """Through records at every step, too: else a later one would be far beyond the budget."""
    records = [*range(1, 40), *range(100, 501, 100)]
    run, taken = iterate(lasso, tol=0, max_iterations=500, record_at=records), [1]
    advance = run.progress.advance

    def watched(steps: int) -> None:
        assert steps <= 2 * max(taken)
        taken.append(steps)
        advance(steps)

    run.progress.advance = watched  # type: ignore[method-assign]
    list(run)
    assert sum(taken[1:]) == 500
    assert len(taken) < 60, "no record begins anew with a single step"


# ---- the bound column ---------------------------------------------------------------------------


def carries(history: Any, constants: Any, kind: bounds.Kind | None) -> None:
    for row in some(history):
        expected = math.nan if kind is None else bounds.best(constants, row.iteration, kind)[1]
        assert row.bound == expected or (math.isnan(row.bound) and math.isnan(expected))


def history_of(problem: Problem, batch: int = 1, **parts: Any) -> Any:
    method = RCMD(batch=batch, **parts)
    return solve(problem, method=method, tol=0, max_iterations=30).history


@pytest.mark.parametrize("batch", [1, 3, 8])
def test_the_bound_of_the_default_schedule(lasso: Problem, ridge: Problem, batch: int) -> None:
    carries(history_of(lasso, batch=batch), lasso.constants(batch), "sublinear")
    carries(history_of(ridge, batch=batch), ridge.constants(batch), "linear")


@pytest.mark.parametrize("batch", [1, 3])
def test_theorem_31s_schedule_on_a_strongly_convex_problem(ridge: Problem, batch: int) -> None:
    constants = ridge.constants(batch)
    history = history_of(ridge, batch=batch, schedule=SublinearSchedule(constants.blocks))
    carries(history, constants, "sublinear")
    for row in history:
        assert row.bound <= bounds.named("theorem-3.1-first")(constants, row.iteration)


def test_the_printed_sigma_carries_a_bound_for_single_rows_only(ridge: Problem) -> None:
    for batch, kind in ((1, "linear"), (3, None), (8, None)):
        constants = ridge.constants(batch)
        printed = LinearSchedule(constants.blocks, constants.sigma_printed)
        carries(history_of(ridge, batch=batch, schedule=printed), constants, kind)


@pytest.mark.parametrize("schedule", [SublinearSchedule(1.0), LinearSchedule(8.0, 2.0)])
def test_another_schedule_carries_no_bound(lasso: Problem, schedule: Any) -> None:
    """One of another N, and linear steps without strong convexity."""
    carries(history_of(lasso, schedule=schedule), lasso.constants(1), None)


@pytest.mark.parametrize("prox", [EuclideanProx(), ExactProx(0.1)])
def test_another_prox_carries_no_bound(ridge: Problem, prox: Any) -> None:
    result = solve(ridge, tol=0, max_iterations=30, method=RCMD(prox=prox))
    carries(result.history, ridge.constants(1), None)
    assert result.note.startswith(f"{prox.note}; no bound: the prox is another class than")


def test_a_sampler_for_other_data_is_refused(lasso: Problem) -> None:
    with pytest.raises(ValueError, match=r"sampler draws from 2 rows; expected .* n = 8"):
        iterate(lasso, method=RCMD(sampler=UniformSampler(2, 1, np.random.default_rng(0))))


def test_one_callback_needs_no_list(lasso: Problem) -> None:
    assert solve(lasso, tol=0, callbacks=lambda state: True).stop is StopReason.CALLBACK


def test_data_beyond_every_bound_still_run() -> None:
    huge = Problem([[1e160]], [1.0], Logistic(), L1Ball(1.0))
    result = solve(huge, tol=0, max_iterations=3)
    assert np.isnan(result.history[-1].bound)
    assert "no bound" in huge.describe()


def test_unit_steps_without_strong_convexity_ask_for_a_schedule(lasso: Problem) -> None:
    with pytest.raises(ValueError, match="schedule is None while ExactProx takes unit steps"):
        iterate(lasso, method=RCMD(prox=ExactProx(0.5)))


def test_sdca_converges_with_unequal_weights() -> None:
    X, weights = np.diag([1.0, 50**0.5]), [1.0, 0.01]
    ridge = Problem(X, [1.0, 1.0], LeastSquares(), Ridge(0.005), weights=weights)
    assert solve(ridge, method=RCMD(prox=ExactProx()), tol=1e-9, max_iterations=100_000).success


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_an_argmin_that_is_no_atom_is_named(engine: Any) -> None:
    @dataclass(frozen=True)
    class Bare(LinearMinOracle):
        def argmin(self, c: Any) -> Any:
            return np.zeros(3)

        def minimum(self, c: Any) -> Any:
            return 0.0

        def violation(self, beta: Any) -> Any:
            return abs(beta).max()

    bare = Problem(np.eye(3), np.ones(3), LeastSquares(), Bare(), verify=False)
    with pytest.raises(TypeError, match=r"argmin of Bare returned a ndarray; .*DenseAtom"):
        solve(bare, method=Corrected(RCMD(engine=engine)), max_iterations=5)


@dataclass(frozen=True)
class TooFar(Box):
    """Its atoms lie outside its box."""

    def argmin(self, c: Any) -> DenseAtom:
        return DenseAtom(2 * super().argmin(c).vector)


def test_atoms_outside_the_domain_are_refused() -> None:
    X, y = np.eye(3), np.ones(3)
    with pytest.raises(
        ValueError, match=r"argmin of TooFar\(.*\) returned a point that misses dom R by 1"
    ):
        solve(Problem(X, y, LeastSquares(), TooFar(-1.0, 1.0), verify=False), tol=1e-3)

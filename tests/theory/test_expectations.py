"""Expected gaps: all sequences of batches, held to the reference engine; and sampled ones."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from enumeration import levels, mean
from small_problems import exact_problem, problem

from rcmd import (
    RCMD,
    Box,
    EuclideanProx,
    ExactProx,
    LeastSquares,
    Logistic,
    Problem,
    Ridge,
    iterate,
    replicate,
)  # fmt: skip
from rcmd.engine.sampling import CyclicSampler, ImportanceSampler, Replay
from rcmd.methods import Quartz
from rcmd.methods.rcmd import mean_constants
from rcmd.model.bounds import Bound
from rcmd.model.schedules import SublinearSchedule, default_schedule
from rcmd.theory import enumeration, expected_gap, verify, worst_case


class Bold(SublinearSchedule):
    """Longer steps than the paper's, for batches that are far from their predictions."""

    sees_run = True

    def step(self, i: Any, state: Any) -> Any:  # type: ignore[override]
        far = abs(state.predictions - state.s).sum() > 1
        return 1 if far else super().step(i)


@pytest.mark.parametrize("batch", [1, 2, 4])
@pytest.mark.parametrize("oracle", ["l1-ball", "ridge"])
def test_the_mean_over_all_runs_of_the_engine(oracle: str, batch: int) -> None:
    instance = exact_problem(oracle, weighted=batch == 2)
    schedule = default_schedule(instance.constants(batch))
    for k, paths in enumerate(levels(instance, schedule, batch, 3), start=1):
        enumerated = mean(path.gap(oracle == "l1-ball") for path in paths)
        found = expected_gap(instance, k, method=RCMD(batch=batch))
        assert found == enumerated
        assert isinstance(found, F)


@pytest.mark.parametrize(
    ("method", "last"),
    [
        (RCMD(prox=ExactProx()), True),
        (RCMD(prox=EuclideanProx()), False),
        (RCMD(schedule=Bold(3.0), batch=2), False),
    ],
    ids=["exact", "euclidean", "sees the run"],
)
def test_other_steps(method: RCMD, last: bool) -> None:
    """All pairs of batches, replayed by the solver."""
    instance = problem("logistic", "ridge")
    rows = list(combinations(range(instance.n), method.batch or 1))
    gaps = []
    for batches in product(rows, repeat=2):
        run = replace(method, batch=None, sampler=Replay(batches), engine="reference")
        state = next(iterate(instance, method=run, tol=0, max_iterations=2, record_at=[2]))
        w = state.w if last else state.w_average
        gaps.append(instance.primal(state.beta_average) - instance.dual(w))
    assert expected_gap(instance, 2, method=method) == pytest.approx(np.mean(gaps), rel=1e-12)


@pytest.mark.parametrize("exact", [True, False])
def test_beginnings_are_run_together_or_apart(exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    make = exact_problem if exact else partial(problem, "logistic")
    instance, found, calls = make("ridge"), [], Counter[int]()
    honest = enumeration._Runs.ends

    def counted(self: Any, *at: Any) -> Any:
        calls[enumeration.COMPILE_FROM] += 1
        return honest(self, *at)

    monkeypatch.setattr(enumeration._Runs, "ends", counted)
    for entries in (enumeration.COMPILE_FROM, 100, 1):
        monkeypatch.setattr(enumeration, "COMPILE_FROM", entries)
        found.append(expected_gap(instance, 3, batch=2))
    together, some, apart = calls.values()
    assert together < some < apart
    assert found[1:] == (found[:1] * 2 if exact else pytest.approx(found[:1] * 2, rel=1e-13))


def test_rows_that_are_drawn_more_often_weigh_more() -> None:
    instance = problem("logistic", "ridge")
    sampler = ImportanceSampler.matching(instance, np.random.default_rng(0))
    gaps = []
    for j in range(instance.n):
        constants = mean_constants(instance, instance.constants())
        schedule = default_schedule(constants, unit_steps=True)
        run = RCMD(prox=ExactProx(), schedule=schedule, sampler=Replay([[j]]), engine="reference")
        state = next(iterate(instance, method=run, tol=0, max_iterations=1, record_at=[1]))
        gaps.append(instance.primal(state.beta_average) - instance.dual(state.w))
    found = expected_gap(instance, 1, method=RCMD(prox=ExactProx(), sampler=sampler))
    assert found == pytest.approx(sampler.probabilities @ gaps, rel=1e-12)
    assert found != pytest.approx(np.mean(gaps), rel=1e-3)


@pytest.mark.parametrize(
    ("iterations", "method", "message"),
    [
        (0, None, "iterations is 0; expected a whole number from 1 on"),
        (10, None, r"there are 1953125 sequences of batches; expected at most 1000000"),
        (2, RCMD(sampler=CyclicSampler(5)), "CyclicSampler, whose probabilities are not known"),
    ],
)
def test_what_cannot_be_enumerated_is_refused(iterations: int, method: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        expected_gap(problem("logistic", "l1-ball"), iterations, method=method)


ONE_LINE = Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), Box(-1.0, 1.0))


def test_sampled_ends_hold_the_expectation() -> None:
    """Both ends and the verdict, with bounds just beside the expectation."""
    exact = float(expected_gap(ONE_LINE, 6))
    found = verify("theorem-3.1-first", ONE_LINE, 6, seeds=range(1000))
    assert found.verdict == "holds"
    assert 0 < found.lower < exact < found.upper
    assert found.mean - found.lower == pytest.approx(found.upper - found.mean, rel=1e-9)
    for bound, verdict in (
        (0.99 * found.lower, "broken"),
        (1.01 * found.lower, "open"),
        (0.99 * found.upper, "open"),
        (1.01 * found.upper, "holds"),
    ):
        assert replace(found, bound=bound).verdict == verdict


@pytest.mark.parametrize("method", [Quartz(), RCMD(prox=ExactProx())])
@pytest.mark.parametrize("batch", [1, 2])
def test_every_seed_begins_afresh(method: Any, batch: int) -> None:
    instance = Problem([[1.0], [2.0], [0.5]], [1.0, -1.0, 1.0], Logistic(), Ridge(0.3))
    claim = "quartz-start" if isinstance(method, Quartz) else "exact-start"
    found = verify(claim, instance, 3, method=method, batch=batch, seeds=range(400))
    exact = expected_gap(instance, 3, method=method, batch=batch)
    assert found.mean == pytest.approx(exact, rel=0.15)
    again = verify(claim, instance, 3, method=method, batch=batch, seeds=[7, 7, 7])
    other = verify(claim, instance, 3, method=method, batch=batch, seeds=[7, 7])
    assert again.mean == pytest.approx(other.mean, rel=1e-14)


def test_the_number_of_runs_is_found_beforehand() -> None:
    claim = Bound("mine", value=lambda c, k: 2.0)
    found = verify(claim, ONE_LINE, 4, error=0.01)
    assert (found.runs, found.verdict) == (140, "holds")
    with pytest.raises(ValueError, match=r"that takes 82,899,673 runs; expected at most"):
        verify(Bound("mine", value=lambda c, k: 1e-5), ONE_LINE, 4)


@pytest.mark.parametrize("oracle", ["l1-ball", "ridge"])
def test_the_gaps_are_those_of_the_solver(oracle: str) -> None:
    instance, bound = problem("logistic", oracle), {"l1-ball": "sublinear", "ridge": "linear"}
    found = verify(f"{bound[oracle]}-energy", instance, 9, seeds=range(3))
    runs = replicate(instance, range(3), method=RCMD(), tol=0.0, max_iterations=9, record_at=[9])
    assert found.mean == pytest.approx(runs.mean("pair_gap")[-1], rel=1e-14)


def test_bounds_of_other_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="'linear-energy' is not about these runs: the schedule"):
        verify("linear-energy", ONE_LINE, 4)
    for name in ("sublinear-pathwise", "sublinear-dual"):
        with pytest.raises(
            ValueError, match=rf"{name}'.*; expected bounds of E\[P\(β̄\) − D\(w\)\]"
        ):
            verify(name, ONE_LINE, 4)
        with pytest.raises(ValueError, match=r"expected bounds of E\[P\(β̄\) − D\(w\)\]"):
            worst_case(1, 2, bound=name)
    own = Bound("mine", prox=EuclideanProx, value=lambda c, k: 2.0)
    with pytest.raises(ValueError, match="for which no range of the gap is proved"):
        verify(own, ONE_LINE, 4, method=RCMD(prox=EuclideanProx()))

"""The empirical Bernstein bound keeps its promise, and rcmd's runs stay in their range."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_check.exact.fitted import separable
from proofs_check.exact.paths import expectation, levels
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import read_statement
from proofs_check.statements import s74_statistical_linear as linear
from rcmd import RCMD, Box, LeastSquares, Problem
from rcmd.model.schedules import LinearSchedule, SublinearSchedule
from rcmd.theory.bernstein import certified_mean, samples_needed
from rcmd.theory.verification import pathwise_span, sampled_gaps


def test_bound_is_maurer_and_pontils_formula():
    samples = np.array([0.0, 1.0, 3.0, 0.0])  # mean 1, sample variance 2
    log = math.log(2e6)
    expected = 1 + math.sqrt(2 * 2 * log / 4) + 7 * 4 * log / (3 * 3)
    assert certified_mean(samples, 4.0) == pytest.approx(expected, rel=1e-14)


def test_bound_fails_no_more_often_than_promised():
    """At δ = 1/2, where failures would show; the bound holds with room, as for all its kind."""
    rng = np.random.default_rng(0)
    draws = (rng.random((2000, 60)) < 0.1).astype(float)
    failures = sum(certified_mean(row, 1.0, 0.5) < 0.1 for row in draws)
    means_below = (draws.mean(1) < 0.1).sum()
    assert failures <= 1000 < 2 * means_below


def test_planned_samples_certify_whatever_the_variance():
    for bound, span, share in ((0.5, 1.0, 0.5), (0.3, 2.0, 0.6), (0.9, 1.0, 0.8)):
        m = samples_needed(bound, span, share)
        ones = math.floor(share * bound / span * m)  # the largest variance: only 0 and span
        spread = np.repeat([span, 0.0], [ones, m - ones])
        assert certified_mean(spread, span) <= bound
        fewer = m * 2 // 3
        ones = math.ceil(share * bound / span * fewer)
        assert certified_mean(np.repeat([span, 0.0], [ones, fewer - ones]), span) > bound


def test_samples_outside_the_span_are_refused():
    with pytest.raises(ValueError, match=r"samples contain 1.5, outside \[0, 1\]; expected"):
        certified_mean(np.array([0.5, 1.5]), 1.0)


@pytest.mark.parametrize(("bound", "share"), [(2.0, 0.5), (0.5, 1.0), (0.0, 0.5)])
def test_plans_that_cannot_be_are_refused(bound, share):
    with pytest.raises(ValueError, match="expected 0 < share < 1 and 0 < bound < span"):
        samples_needed(bound, 1.0, share)


def test_gap_of_two_rows_is_the_exact_expectation():
    """n = 2, two steps: four equally likely runs, enumerated by the exact engine."""
    *_, paths = levels(separable(2, 0.3).problem, sublinear(Fraction(2)), 1, 2)
    problem = Problem(np.eye(2), [0.3, 0.3], LeastSquares(), Box(-1.0, 1.0))
    found = sampled_gaps(problem, RCMD(schedule=SublinearSchedule(2.0)), 2, range(400), False)
    possible = sorted({round(float(path.gap()), 12) for path in paths})
    assert sorted({round(gap, 12) for gap in found}) == pytest.approx(possible)
    deviation = 5 * found.std() / math.sqrt(len(found))
    exact = float(expectation(paths, lambda path: path.gap()))
    assert found.mean() == pytest.approx(exact, abs=deviation)


def test_span_by_hand():
    problem = Problem([[1.0], [2.0]], [0.0, 0.0], LeastSquares(), Box(0.5, 1.0))
    assert pathwise_span(problem) == (1**2 + 2**2) / 2 / 2


def test_no_run_leaves_the_span():
    rng = np.random.default_rng(3)
    for _ in range(20):
        problem = Problem(rng.normal(size=(4, 2)), rng.normal(size=4), LeastSquares(), Box(-1, 2))
        found = sampled_gaps(problem, RCMD(schedule=SublinearSchedule(4.0)), 7, range(5), False)
        assert 0 <= found.min() <= found.max() <= pathwise_span(problem)
    problem = linear.logistic_200()
    schedule = LinearSchedule(200.0, problem.constants().sigma)
    found = sampled_gaps(problem, RCMD(schedule=schedule), 50, range(5), True)
    assert 0 <= found.min() <= found.max() <= pathwise_span(problem)


def test_same_seed_same_gaps():
    problem = linear.squared_200()
    method = RCMD(schedule=LinearSchedule(200.0, problem.constants().sigma))
    first, second, other = (
        sampled_gaps(problem, method, 100, seeds, True).tolist()
        for seeds in (range(4), range(4), range(1, 5))
    )
    assert first == second != other
    assert first[1:] == other[:-1]


def test_plan_comes_from_the_bound_that_is_believed():
    """A claim that is too bold gets no more runs than the theorem needs."""
    (small, *_) = read_statement(linear).checks
    right = small.run()
    bold = small.function(small.planted["a third of the radius"])
    assert right.agrees
    assert not bold.agrees
    assert "355 runs" in right.detail
    assert "355 runs" in bold.detail


def test_a_bound_between_the_mean_and_its_certificate_is_not_confirmed():
    (small, *_) = read_statement(linear).checks
    words = re.findall(r"mean gap ([\d.]+), below ([\d.]+)", small.run().detail)
    mean, below = map(float, words[0])
    for bound, confirmed in (((mean + below) / 2, False), (1.01 * below, True)):
        claim = replace(small.subject, bound=lambda c, k, bound=bound: bound)
        assert small.function(claim).agrees == confirmed

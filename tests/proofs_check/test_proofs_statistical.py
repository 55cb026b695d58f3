"""The empirical Bernstein bound keeps its promise, and rcmd's runs stay in their range."""

import math
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from proofs_check.exact.fitted import family, separable
from proofs_check.exact.losses import Squared
from proofs_check.exact.paths import Path, expectation, levels
from proofs_check.exact.regularizers import Cube
from proofs_check.exact.schedules import sublinear
from proofs_check.statement import read_statement
from proofs_check.statements import s74_statistical_linear as linear
from rcmd import RCMD, Box, LeastSquares, Problem
from rcmd.theory import expected_gap, verify
from rcmd.theory.bernstein import certified_mean, samples_needed
from rcmd.theory.verification import pathwise_span


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


def test_verified_interval_holds_the_exact_expectation():
    """n = 2, two steps: four equally likely runs, enumerated by the exact engine and by rcmd."""
    fitted = separable(2, Fraction(3, 10))
    *_, paths = levels(fitted.problem, sublinear(Fraction(2)), 1, 2)
    exact = expectation(paths, lambda path: path.gap())
    problem = Problem(np.eye(2), [0.3, 0.3], LeastSquares(), Box(-1.0, 1.0))
    assert expected_gap(problem, 2) == pytest.approx(float(exact), rel=1e-14)
    found = verify("sublinear-energy", problem, 2, seeds=range(400))
    assert found.lower <= exact <= found.upper
    assert found.mean == pytest.approx(float(exact), abs=0.05)


@pytest.mark.parametrize("b", [1, 2, 3])
def test_rcmds_expected_gap_is_the_exact_engines(b):
    """Two programs that share no code, in fractions, p = 2: both theorems' left sides."""
    box = Box(Fraction(-1), Fraction(1))
    for fitted in family(61, 12, (3, 4)):
        small = fitted.problem
        if not (isinstance(small.regularizer, Cube) and isinstance(small.losses[0], Squared)):
            continue
        weights = [loss.gamma for loss in small.losses]
        labels = [loss.y for loss in small.losses]
        problem = Problem(small.rows, labels, LeastSquares(), box, weights=weights)
        *_, paths = levels(small, sublinear(Fraction(small.n, b)), b, 2)
        found = [expected_gap(problem, 2, method=RCMD(batch=b), last=last) for last in (0, 1)]
        assert found == [expectation(paths, Path.gap), expectation(paths, Path.last_gap)]


def test_span_by_hand():
    problem = Problem([[1.0], [2.0]], [0.0, 0.0], LeastSquares(), Box(0.5, 1.0))
    assert pathwise_span(problem) == (1**2 + 2**2) / 2 / 2


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

"""Paths: certified at every value, and the same as single solves."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from small_problems import data, lines, medium

from rcmd import L1Ball, L1Penalty, Logistic, Problem, Simplex, path, solve
from rcmd.solver.path import steps


def test_a_path_is_certified_and_agrees_with_single_solves() -> None:
    problem = medium()
    radii = [4.0, 0.5, 2.0]
    found = path(problem, radii, tol=1e-9)
    assert found.values == (4.0, 0.5, 2.0)
    assert (found.gaps <= 1e-9).all()
    for radius, result in zip(radii, found, strict=True):
        alone = solve(problem.with_oracle(L1Ball(radius)), tol=1e-9)
        assert result.primal == pytest.approx(alone.primal, abs=2e-9)
    assert found.betas.shape == (3, 30)
    assert len(found[1:]) == 2
    assert repr(found).startswith("SolutionPath(3 values, largest certified gap ")


@pytest.mark.parametrize(
    ("oracle", "values"),
    [(L1Ball(1.0), {"radius": [0.5, 2.0, 3.0]}), (L1Penalty(1.0), {"strength": [0.1, 0.05, 0.01]})],
)
def test_each_value_starts_from_the_solution_in_the_set_before(oracle: Any, values: Any) -> None:
    problem, [(parameter, ordered)] = medium().with_oracle(oracle), values.items()
    options: dict[str, Any] = {"batch": 4, "tol": 1e-3}
    found = list(steps(problem, ordered[::-1], parameter=parameter, **options))
    assert [value for value, _ in found] == ordered
    last = None
    for value, result in found:
        changed = problem.with_oracle(replace(oracle, **{parameter: value}))
        last = solve(changed, **options, warm_start=last)
        assert lines(result.history) == lines(last.history)


def test_a_radius_that_was_given_stays() -> None:
    problem = medium().with_oracle(L1Penalty(0.1, 0.2))
    found = path(problem, [0.01, 0.1], parameter="strength", tol=1e-8)
    assert (abs(found.betas).sum(axis=1) <= 0.2 + 1e-12).all()


def test_a_path_over_sets_that_are_not_nested() -> None:
    found = path(medium().with_oracle(Simplex(1.0)), [2.0, 1.0], tol=1e-8)
    assert found.betas.sum(axis=1) == pytest.approx([2.0, 1.0])


def test_a_path_with_an_intercept() -> None:
    X, y, _ = data(12)
    problem = Problem(X, np.sign(y), Logistic(), L1Ball(1.0), intercept=3.0)
    found = path(problem, [0.5, 1.0], tol=1e-8)
    assert found[1].primal == pytest.approx(solve(problem, tol=1e-8).primal, abs=2e-8)
    assert found.betas.shape == (2, 5)

"""Paths: certified at every value, and the same as single solves."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from small_problems import data, lines, medium

from rcmd import L1Ball, L1Penalty, Logistic, Problem, Ridge, Simplex, iterate, path, solve
from rcmd.methods.corrections.newton import Correction
from rcmd.solver.history import State
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


@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
@pytest.mark.parametrize("oracle", [L1Penalty(1.0), Ridge(1.0)], ids=repr)
@pytest.mark.parametrize("kind", [sp.csr_array, np.asarray])
def test_a_path_is_a_chain_of_warm_starts_that_saves_products(
    kind: Any, oracle: Any, loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To the bit, though the product with X at which a value ends is the next one's start."""
    rng, known = np.random.default_rng(3), []
    X = rng.standard_normal((60, 25)) * (rng.random((60, 25)) < 0.5)
    problem = Problem(kind(X), np.sign(X @ rng.standard_normal(25)), loss, oracle)
    begun = Correction.__init__

    def watched(self: Any, *arguments: Any, earlier: Any = None) -> None:
        known.append(earlier is not None)
        begun(self, *arguments, earlier=earlier)

    monkeypatch.setattr(Correction, "__init__", watched)
    strengths, last = [0.1, 0.03, 0.01], None
    found = path(problem, strengths, parameter="strength", tol=1e-9)
    assert known == [False, True, True]
    for strength, result in zip(strengths, found, strict=True):
        changed = problem.with_oracle(replace(oracle, strength=strength))
        last = solve(changed, tol=1e-9, warm_start=last)
        np.testing.assert_array_equal(result.beta, last.beta)
        np.testing.assert_array_equal(result.w, last.w)
        assert lines(result.history) == lines(last.history)


def test_what_callbacks_write_into_a_record_changes_no_certificate() -> None:
    def write(state: State) -> None:
        state.w_average[:] = 7.0

    X, y, _ = data(12)
    problem = Problem(sp.csr_array(X), y, "least-squares", L1Penalty(1.0))
    strengths = [0.1, 0.1 - 1e-9]  # the second solution is the first one, without a step
    options: dict[str, Any] = {"parameter": "strength", "tol": 1e-6}
    honest = path(problem, strengths, **options)
    assert honest[1].passes == 1
    for seen, alone in zip(
        path(problem, strengths, **options, callbacks=write), honest, strict=True
    ):
        np.testing.assert_array_equal(seen.w, alone.w)
        assert seen.gap == alone.gap


def test_a_run_takes_nothing_over_from_other_data() -> None:
    X, y, _ = data(12)
    first, other = (
        Problem(sp.csr_array(X), s * y, "least-squares", L1Penalty(0.01)) for s in (1, 2)
    )
    before = iterate(first, tol=1e-9)
    start = before.finish()
    run = iterate(other, tol=1e-9, warm_start=start)
    run.progress.follow(before.progress)
    np.testing.assert_array_equal(run.finish().beta, solve(other, tol=1e-9, warm_start=start).beta)


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

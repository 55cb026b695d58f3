"""States, histories and results: certified at every checkpoint, and safe to hold."""

import json
from dataclasses import asdict
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from small_problems import LOSSES, ORACLES, exact_problem, lines, problem

from rcmd import Problem, Result, State, certify, iterate, solve

# ---- states -------------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", ["l1-ball", "ridge"])
def test_scribbling_over_states_touches_nothing(oracle: str) -> None:
    def scribble(state: State) -> None:
        pair = state.certificate.beta, state.certificate.w
        for array in (state.s, state.w, state.d, state.w_average, state.beta_average, *pair):
            if array.flags.writeable:
                array[:] = 7.0

    made = problem("logistic", oracle, n=8)
    options: Any = {"tol": 0, "max_iterations": 40}
    result = solve(made, **options, callbacks=[scribble])
    assert lines(result.history) == lines(solve(made, **options).history)
    assert result.primal == made.primal(result.beta)
    assert result.dual == made.dual(result.w)


# ---- history and result -------------------------------------------------------------------------


def improves(result: Result) -> None:
    """The best certified pair never gets worse, and its gap is primal − dual."""
    primal, dual, gap = (result.history.column(name) for name in ("primal", "dual", "gap"))
    assert len(gap) > 5
    assert (np.diff(primal) <= 0).all()
    assert (np.diff(dual) >= 0).all()
    np.testing.assert_allclose(gap, primal - dual, rtol=0, atol=1e-12)
    assert (np.diff(gap) <= 1e-12).all()
    assert result.gap == gap[-1]


@pytest.mark.parametrize("oracle", ORACLES)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_best_pair_improves(loss: str, oracle: str) -> None:
    improves(solve(problem(loss, oracle, n=8), tol=0, max_iterations=60))


def test_every_state_is_certified_from_scratch(lasso: Problem) -> None:
    for state in iterate(lasso, tol=0, max_iterations=60):
        again = certify(lasso, state.certificate.beta, state.certificate.w)
        assert (again.primal, again.dual, again.gap) == (state.primal, state.dual, state.gap)
        assert state.primal <= lasso.primal(state.beta_average)
        assert state.dual >= max(lasso.dual(state.w_average), lasso.dual(state.w))


def test_result_by_its_names(ridge: Problem) -> None:
    result = solve(ridge, tol=1e-6, max_iterations=1000, method="rcmd")
    certificate = result.certificate
    assert result.x is result.beta is certificate.beta
    assert result.w is certificate.w
    assert result.fun == result.primal == certificate.primal == ridge.primal(result.beta)
    assert result.dual == certificate.dual
    assert result.gap == certificate.gap
    assert result.nit == result.history[-1].iteration
    assert result.note == "h = L*/n, the paper's prox: the theorems' bounds apply"
    assert result.message.startswith("the certified gap reached the tolerance: certified gap ")
    assert f"after {result.nit} steps and {result.nit} gradients in " in result.message
    assert repr(result).startswith(f"Result(primal={result.fun:.9g}, ")
    assert repr(result).endswith(f"stop=TOLERANCE, nit={result.nit})")


def test_history_is_a_sequence_with_columns(lasso: Problem) -> None:
    history = solve(lasso, batch=2, tol=0, max_iterations=9, record_at=range(1, 10)).history
    assert len(history) == len(list(history)) == 9
    assert history[0].iteration == 1
    assert [row.iteration for row in history[-2:]] == [8, 9]
    assert history.column("iteration").tolist() == list(range(1, 10))
    assert (history.column("gradients") == 2 * history.column("iteration")).all()
    assert (history.column("oracle_calls") == history.column("iteration")).all()
    assert (np.diff(history.column("seconds")) >= 0).all()
    assert [row["gap"] for row in json.loads(json.dumps([asdict(row) for row in history]))] == [
        row.gap for row in history
    ]


def test_no_result_before_the_first_step(lasso: Problem) -> None:
    run = iterate(lasso)
    assert run.seconds() == 0.0
    with pytest.raises(ValueError, match=r"has not started; take a step with next\(run\)"):
        run.result()


def test_a_result_half_way(lasso: Problem) -> None:
    run = iterate(lasso, tol=0, max_iterations=50)
    state = next(run)
    assert run.result().gap == state.gap
    assert len(run.result().history) == 1


def test_fractions_all_the_way() -> None:
    exact = exact_problem("l1-ball")
    result = solve(exact, tol=0, max_iterations=6)
    assert isinstance(result.gap, Fraction)
    assert result.gap == exact.primal(result.beta) - exact.dual(result.w)
    assert isinstance(result.history[-1].bound, float)

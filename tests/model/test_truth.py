"""CVXPY ground truth: its residuals, an independent formulation, and what it refuses."""

from dataclasses import dataclass
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from small_problems import EXACT_ORACLES, dense, every_pair, exact_problem, problem

from rcmd import DenseAtom, L1Ball, LeastSquares, LinearMinOracle, Problem, truth


def is_optimum(problem: Problem, optimum: truth.Truth) -> None:
    assert set(optimum.residuals) == {"feasibility", "loss", "regularizer", "gap"}
    for name, residual in optimum.residuals.items():
        assert abs(residual) < 1e-7, (name, residual)
    assert optimum.dual == float(problem.dual(optimum.w)) <= optimum.primal + 1e-9
    assert optimum.residuals["gap"] == optimum.primal - optimum.dual
    w = np.asarray(problem.response(optimum.beta), dtype=float)
    np.testing.assert_allclose(np.asarray(optimum.w, dtype=float), w, atol=1e-4)


@every_pair
def test_kkt(loss: str, oracle: str, layout: str, weighted: bool) -> None:
    small = problem(loss, oracle, n=8, seed=3, layout=layout, weighted=weighted)
    is_optimum(small, truth.solve(small))


@pytest.mark.parametrize("oracle", EXACT_ORACLES)
def test_kkt_for_fractions(oracle: str) -> None:
    small = exact_problem(oracle)
    optimum = truth.solve(small)
    assert optimum.beta.dtype == float
    is_optimum(small, optimum)


# ---- the same programmes, written out by hand --------------------------------------------------


def agrees(small: Problem, beta: cp.Variable, objective: Any, constraints: list[Any]) -> None:
    """The optimum of ``small`` is that of the programme in ``beta``."""
    programme = cp.Problem(cp.Minimize(objective), constraints)
    tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11)
    value = programme.solve(solver=cp.CLARABEL, **tolerances)
    optimum = truth.solve(small)
    assert optimum.primal == pytest.approx(value, abs=1e-9)
    np.testing.assert_allclose(optimum.beta, beta.value, atol=1e-5)


def test_lasso_by_hand() -> None:
    small = problem("least-squares", "l1-ball", n=8, weighted=True)
    X, y, weights = dense(small), small.losses.y, small.losses.weights
    beta = cp.Variable(4)
    loss = cp.sum_squares(cp.multiply(np.sqrt(weights), X @ beta - y)) / 16
    agrees(small, beta, loss, [cp.norm1(beta) <= 4.0])


def test_ridge_logistic_by_hand() -> None:
    small = problem("logistic", "ridge", n=8)
    X, y = dense(small), small.losses.y
    beta = cp.Variable(4)
    loss = sum(cp.logistic(-y[j] * (X[j] @ beta)) for j in range(8)) / 8
    agrees(small, beta, loss + 0.125 * cp.sum_squares(beta), [])


def test_normal_equations() -> None:
    small = problem("least-squares", "ridge", n=8)
    X, y = dense(small), small.losses.y
    beta = np.linalg.solve(X.T @ X / 8 + 0.25 * np.eye(4), X.T @ y / 8)
    np.testing.assert_allclose(truth.solve(small).beta, beta, atol=1e-6)


# ---- what it says no to ------------------------------------------------------------------------


@dataclass(frozen=True)
class Plain(LeastSquares):
    cvxpy_form = LeastSquares.__base__.cvxpy_form


@dataclass(frozen=True)
class Segment(LinearMinOracle):
    def argmin(self, c: Any) -> DenseAtom:
        return DenseAtom((c < 0) * 1.0)

    def minimum(self, c: Any) -> Any:
        return np.minimum(c, 0).sum()

    def violation(self, beta: Any) -> Any:
        return max(-beta.min(), beta.max() - 1, 0)


@pytest.mark.parametrize(
    ("loss", "oracle", "name"),
    [(Plain(), L1Ball(1.0), "Plain"), (LeastSquares(), Segment(), "Segment")],
)
def test_a_part_without_a_form(loss: LeastSquares, oracle: LinearMinOracle, name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"{name} has no CVXPY form; define cvxpy_form"):
        truth.solve(Problem([[1.0]], [1.0], loss, oracle))


def test_an_infeasible_programme() -> None:
    @dataclass(frozen=True)
    class Empty(Segment):
        def cvxpy_form(self, beta: Any) -> Any:
            return 0, [beta >= 1, beta <= 0]

    with pytest.raises(RuntimeError, match="status 'infeasible' instead of an optimum"):
        truth.solve(Problem([[1.0]], [1.0], LeastSquares(), Empty()))

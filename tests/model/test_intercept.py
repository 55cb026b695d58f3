"""An intercept by one keyword: the appended column, the interval, and what it may cost."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import (
    BilinearRows,
    Box,
    L1Ball,
    L1Penalty,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    Problem,
    Product,
    Ridge,
    Simplex,
    solve,
    truth,
)
from rcmd.rows import DenseRows, SparseRows

F = Fraction
ORACLES: list[LinearMinOracle] = [
    L1Ball(2.0), Ridge(0.1), L1Penalty(0.1), Simplex(1.0), Box(-1.0, 1.0)
]  # fmt: skip


def data(n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 4)) * (rng.random((n, 4)) < 0.6)
    return X, X @ np.array([1.0, -0.5, 0.0, 0.25]) + 7.0 + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("oracle", ORACLES, ids=repr)
def test_it_is_the_problem_with_a_column_of_ones(oracle: LinearMinOracle, layout: Any) -> None:
    X, y = data()
    problem = Problem(layout(X), y, LeastSquares(), oracle, intercept=10.0)
    by_hand = Problem(
        layout(np.column_stack([X, np.ones(len(X))])),
        y,
        LeastSquares(),
        Product((oracle, Box(-10.0, 10.0)), (4, 1)),
    )
    assert problem.p == by_hand.p == 5
    plain: Any = {"batch": 8, "tol": 1e-4, "max_iterations": 400, "method": "rcmd"}
    runs = [solve(p, **plain) for p in (problem, by_hand)]
    np.testing.assert_allclose(runs[0].beta, runs[1].beta, rtol=1e-8, atol=1e-8)
    optimum = truth.solve(problem)
    assert runs[0].gap >= runs[0].primal - optimum.primal >= -1e-9
    assert optimum.beta[-1] == pytest.approx(7.0, abs=0.5)


@pytest.mark.parametrize("oracle", [Ridge(0.1), L1Penalty(0.1)], ids=repr)
@pytest.mark.parametrize("loss", [LeastSquares(), Logistic()], ids=repr)
def test_open_radii_leave_room_for_the_optimum(oracle: Any, loss: Any) -> None:
    import cvxpy as cp

    X, y = data()
    labels = np.where(y > 6.5, 1.0, -1.0) if isinstance(loss, Logistic) else y
    problem = Problem(X, labels, loss, oracle, intercept=50.0)
    beta, constant = cp.Variable(4), cp.Variable()
    norm = cp.sum_squares(beta) / 2 if isinstance(oracle, Ridge) else cp.norm1(beta)
    fit = cp.sum(loss.cvxpy_form(X @ beta + constant, labels)) / len(y)
    cp.Problem(cp.Minimize(fit + oracle.strength * norm)).solve(solver=cp.CLARABEL)
    radius = problem.oracle.oracles[0].radius
    assert np.linalg.norm(beta.value, 2 if isinstance(oracle, Ridge) else 1) <= radius
    assert abs(constant.value) <= 50.0


def test_layout_and_number_type_stay() -> None:
    X, y = data()
    dense = Problem(X.astype(np.float32), y, LeastSquares(), L1Ball(1.0), intercept=1.0).rows
    assert isinstance(dense, DenseRows)
    assert dense.array.dtype == np.float32
    assert dense.array.flags.c_contiguous
    assert dense.compilable
    sparse = Problem(
        sp.csr_array(X.astype(np.float32)), y, LeastSquares(), L1Ball(1.0), intercept=1.0
    ).rows
    assert isinstance(sparse, SparseRows)
    assert sparse.matrix.dtype == np.float32
    assert sparse.matrix.nnz == np.count_nonzero(X) + len(X)
    assert sparse.matrix.has_canonical_format
    np.testing.assert_array_equal(sparse.matrix.toarray()[:, -1], np.ones(len(X)))


def test_the_callers_data_are_left_alone() -> None:
    X, y = data()
    before = X.copy()
    problem = Problem(X, y, LeastSquares(), L1Ball(1.0), intercept=1.0)
    problem.rows.array[:] = 0
    np.testing.assert_array_equal(X, before)


def test_weights_and_bounds_know_of_it() -> None:
    X, y = data()
    weights = np.linspace(1.0, 2.0, len(y))
    problem = Problem(X, y, LeastSquares(), L1Ball(2.0), intercept=10.0, weights=weights)
    expected = 2.0 * abs(X).max(axis=1) + 10.0
    np.testing.assert_allclose(problem.prediction_bounds, expected, rtol=1e-15)
    assert problem.intercept == 10.0
    assert "[indicator of ‖β‖₁ ≤ 10](β[4:5])" in problem.describe()
    assert Problem(X, y, LeastSquares(), L1Ball(2.0)).intercept is None


@pytest.mark.parametrize(("bound", "ends"), [(3.0, True), (1000.0, False)])
def test_an_intercept_on_its_bound_is_mentioned(bound: float, ends: bool) -> None:
    result = solve(Problem(*data(), LeastSquares(), L1Ball(2.0), intercept=bound), tol=1e-6)
    words = "the intercept ends on its bound B = 3.0: give a larger one"
    assert (words in result.note) == ends == (abs(result.beta[-1]) == bound)


@pytest.mark.parametrize("radius", [4, F(7, 2)])
def test_exact_runs(radius: Any) -> None:
    X = np.array([[F(1), F(2)], [F(0), F(1, 3)]], dtype=object)
    problem = Problem(X, [3, 5], LeastSquares(), L1Ball(F(1)), intercept=radius)
    assert [type(entry) for entry in problem.rows.array[:, -1]] == [Fraction, Fraction]
    result = solve(problem, batch=1, tol=0, max_iterations=5)
    assert all(isinstance(entry, Fraction) for entry in result.beta)
    assert result.gap == result.primal - result.dual >= 0
    assert abs(result.beta[-1]) <= radius


def test_floats_are_refused_beside_fractions() -> None:
    X = np.array([[F(1)]], dtype=object)
    with pytest.raises(
        ValueError, match=r"intercept of Problem is the float 0\.5 while X holds fr"
    ):
        Problem(X, [F(1)], LeastSquares(), L1Ball(F(1)), intercept=0.5)


def test_rows_without_columns_are_refused() -> None:
    rows = BilinearRows(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match="intercept is given while X is BilinearRows, to which no"):
        Problem(rows, np.ones(4), LeastSquares(), L1Ball(1.0), intercept=1.0)


def test_labels_are_checked_against_the_data_as_given() -> None:
    with pytest.raises(ValueError, match=r"row of X, which has shape \(2, 2\)"):
        Problem(np.eye(2), np.ones(3), LeastSquares(), L1Ball(1.0), intercept=1.0)

"""CUR factorizations: the relaxation against CVXPY, the factors against M."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from rcmd import cur, solve, truth
from rcmd.oracles.cur import CurSet
from rcmd.rows import as_rows
from rcmd.rows.bilinear import BilinearRows


def noisy_low_rank(n: int, d: int, rank: int, seed: int = 0, noise: float = 0.05) -> np.ndarray:
    rng = np.random.default_rng(seed)
    exact = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) / np.sqrt(rank)
    return exact + noise * rng.standard_normal((n, d))


def by_cvxpy(M: np.ndarray, radius: float) -> float:
    """The relaxation, written down once more."""
    beta = cp.Variable(M.T.shape)
    rows, columns = (cp.sum(cp.max(cp.abs(beta), axis=axis)) for axis in (1, 0))
    objective = cp.sum_squares(M - M @ beta @ M) / (2 * M.size)
    programme = cp.Problem(cp.Minimize(objective), [rows <= radius, columns <= radius])
    return float(programme.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize(("n", "d", "radius"), [(30, 20, 0.1), (30, 20, 0.05), (8, 12, 0.2)])
def test_the_relaxation_agrees_with_cvxpy(n: int, d: int, radius: float) -> None:
    M = noisy_low_rank(n, d, 5)
    optimum = by_cvxpy(M, radius)
    relaxation = cur.problem(M, radius)
    result = solve(relaxation, batch=1.0, tol=5e-5 * optimum, max_iterations=2000)
    assert result.success
    assert -1e-8 <= (result.primal - optimum) / optimum <= 1e-4
    assert result.gap >= result.primal - optimum - 1e-8 * optimum


def test_another_matrix_is_no_solution() -> None:
    M = noisy_low_rank(8, 6, 2)
    right, transposed = cur.problem(M, 0.2), cur.problem(M.T.copy(), 0.2)
    beta = solve(right, batch=1.0, tol=1e-5).beta
    mixed = beta.reshape(6, 8).T.ravel()
    assert right.primal(beta) < transposed.primal(beta)
    assert transposed.primal(mixed) == pytest.approx(right.primal(beta), rel=1e-12)


def test_a_low_rank_matrix_is_recovered_from_its_own_rows_and_columns() -> None:
    M = noisy_low_rank(12, 9, 3, noise=0.0)
    found = cur.factorize(M, 0.3, columns=3, rows=3)
    assert found.result.success
    assert found.error < 1e-12
    np.testing.assert_array_equal(found.C, M[:, found.columns])
    np.testing.assert_array_equal(found.R, M[found.rows])
    np.testing.assert_allclose(found.C @ found.U @ found.R, M, atol=1e-12)
    assert found.beta.shape == (9, 12)
    norms = abs(found.beta).max(axis=1)
    assert set(found.columns) == set(np.argsort(-norms)[:3])
    assert found.certificate.gap == found.result.gap
    assert repr(found).startswith(f"CurFactorization(columns={found.columns.tolist()}, rows=")


def test_the_choice_beats_chance() -> None:
    rng = np.random.default_rng(1)
    M = 0.05 * rng.standard_normal((15, 10))
    M[[2, 11]] += 3 * rng.standard_normal((2, 10))
    M[:, [1, 7]] += 3 * rng.standard_normal((15, 2))
    found = cur.factorize(M, 0.2, columns=4, rows=4)
    chance = []
    for _ in range(50):
        C, R = M[:, rng.choice(10, 4, False)], M[rng.choice(15, 4, False)]
        chance.append(np.linalg.norm(M - C @ np.linalg.pinv(C) @ M @ np.linalg.pinv(R) @ R))
    assert found.error * np.linalg.norm(M) < np.median(chance)


def test_the_set_by_hand() -> None:
    c = np.array([[1.0, -4.0], [2.0, 3.0]])
    oracle = CurSet((2, 2), 1.0)
    # One entry gives 4; half on both diagonals gives (1 + 4 + 2 + 3)/2 = 5.
    assert oracle.minimum(c.ravel()) == pytest.approx(-5.0, rel=1e-14)
    np.testing.assert_allclose(oracle.argmin(c.ravel()).vector, [-0.5, 0.5, -0.5, -0.5])
    assert oracle.violation(np.array([0.5, 0.5, 0.5, 0.5])) == 0
    assert oracle.violation(np.array([1.0, 1.0, 0.0, 0.0])) == 1.0  # two columns of norm 1
    assert oracle.violation(np.array([1.0, 0.0, 1.0, 0.0])) == 1.0  # two rows of norm 1


@pytest.mark.parametrize("seed", range(3))
def test_prediction_ranges_are_safe_and_not_far(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = BilinearRows(rng.standard_normal((3, 4)), rng.standard_normal((2, 5)))
    oracle = CurSet((4, 5), 1.5)
    low, high = oracle.prediction_range(rows)
    dense = as_rows(np.array([rows.row(j) for j in range(rows.n)]))
    np.testing.assert_allclose(oracle.prediction_range(dense)[1], high, rtol=1e-13)
    exact = np.array([-oracle.minimum(-rows.row(j)) for j in range(rows.n)])
    assert (high >= exact * (1 - 1e-12)).all()
    assert (high <= 3 * exact).all()
    np.testing.assert_array_equal(low, -high)


def test_truth_solves_the_relaxation_too() -> None:
    M = noisy_low_rank(6, 5, 2)
    assert truth.solve(cur.problem(M, 0.3)).primal == pytest.approx(by_cvxpy(M, 0.3), rel=1e-6)


@pytest.mark.parametrize(
    ("M", "options", "words"),
    [
        ([1.0, 2.0], {"columns": 1, "rows": 1}, r"M has shape \(2,\); expected a matrix"),
        ([[np.nan]], {"columns": 1, "rows": 1}, r"M holds nan at position \(0, 0\)"),
        ([[0.0]], {"columns": 1, "rows": 1}, "M is zero throughout; expected a matrix with somet"),
        (
            [[1.0, 2.0]],
            {"columns": 3, "rows": 1},
            "columns is 3; expected a whole number from 1 to 2",
        ),
        ([[1.0, 2.0]], {"columns": 1, "rows": 0}, "rows is 0; expected a whole number from 1 to 1"),
        ([[1.0, 2.0]], {"columns": 1.5, "rows": 1}, r"columns is 1\.5; expected a whole number"),
    ],
)
def test_refusals(M: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        cur.factorize(M, 0.5, **options)


def test_a_radius_is_needed() -> None:
    with pytest.raises(ValueError, match=r"radius of CurSet is -1\.0; expected a positive number"):
        cur.factorize([[1.0]], -1.0, columns=1, rows=1)

"""CUR factorizations: the relaxation against CVXPY, the factors against M."""

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from rcmd import solve, truth
from rcmd.applications import cur


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


@pytest.mark.parametrize(("n", "d", "radius"), [(18, 12, 0.1), (12, 18, 0.05), (8, 12, 0.2)])
def test_the_relaxation_agrees_with_cvxpy(n: int, d: int, radius: float) -> None:
    M = noisy_low_rank(n, d, 5)
    optimum = by_cvxpy(M, radius)
    relaxation = cur.problem(M, radius)
    if M.size < 100:
        assert truth.solve(relaxation).primal == pytest.approx(optimum, rel=1e-6)
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
    left_out = np.setdiff1d(np.arange(9), found.columns)
    assert norms[found.columns].min() >= norms[left_out].max() * (1 - 1e-8)
    assert found.certificate.gap == found.result.gap
    rougher = cur.factorize(M, 0.3, columns=3, rows=3, tol=100 * found.result.gap + 1e-3, batch=9)
    assert rougher.result.gap > 1e-4 * rougher.result.history[0].primal > found.result.gap
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


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"M": [1.0, 2.0]}, r"M has shape \(2,\); expected a matrix"),
        ({"M": [[np.nan]]}, r"M holds nan at position \(0, 0\)"),
        ({"M": [[0.0]]}, "M is zero throughout; expected a matrix with somet"),
        ({"columns": 3}, "columns is 3; expected a whole number from 1 to 2"),
        ({"rows": 0}, "rows is 0; expected a whole number from 1 to 1"),
        ({"columns": 1.5}, r"columns is 1\.5; expected a whole number"),
        ({"radius": -1.0}, r"radius of CurSet is -1\.0; expected a positive number"),
    ],
)
def test_refusals(changes: dict[str, Any], words: str) -> None:
    fine = {"M": [[1.0, 2.0]], "radius": 0.5, "columns": 1, "rows": 1}
    with pytest.raises(ValueError, match=words):
        cur.factorize(**(fine | changes))

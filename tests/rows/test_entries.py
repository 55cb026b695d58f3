"""Entries of a matrix as samples, against the sparse matrix that selects them."""

from typing import Any

import numpy as np
import pytest
from row_checks import check_rows

from rcmd import (
    RCMD,
    L1Ball,
    LeastSquares,
    Logistic,
    LowRank,
    MatrixEntries,
    NuclearBall,
    NuclearPenalty,
    Problem,
    iterate,
)
from rcmd.rows import as_rows

SHAPE = (6, 5)
ROWS, COLUMNS = np.array([0, 3, 5, 3, 0, 2, 3]), np.array([4, 1, 0, 1, 4, 2, 3])  # with repetitions


def both() -> tuple[MatrixEntries, Any]:
    entries = MatrixEntries(ROWS, COLUMNS, SHAPE)
    return entries, as_rows(entries.as_matrix())


@pytest.mark.parametrize("distinct", [False, True])
def test_operations(distinct: bool) -> None:
    """Those of all rows, on a matrix of the size of their atoms, and what only entries have."""
    places = np.arange(6) if distinct else np.array([5, 0, 3, 0, 2, 5, 5])
    entries = MatrixEntries(*np.divmod(places, 3), (2, 3))
    X, rng = entries.as_matrix().toarray(), np.random.default_rng(1)
    assert np.array_equal(X, np.eye(6)[places])
    check_rows(entries, X)
    beta, scales = rng.standard_normal(6), rng.uniform(0.5, 2.0, entries.n)
    matrix = LowRank.of_array(beta.reshape(2, 3))
    assert np.allclose(entries.matvec(matrix), X @ beta, atol=1e-13)
    energy = np.linalg.norm(np.sqrt(scales)[:, None] * X, 2) ** 2
    assert entries.spectral_energy(scales) == pytest.approx(energy, rel=1e-12)


def test_an_entry_of_a_single_entry() -> None:
    entries = MatrixEntries([0, 0], [0, 0], (1, 1))
    assert [ends.tolist() for ends in entries.entry_range()] == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("oracle", [NuclearBall(SHAPE, 3.0), NuclearPenalty(0.05, SHAPE)])
@pytest.mark.parametrize("batch", [1, 3, 7])
@pytest.mark.parametrize("loss", [LeastSquares(), Logistic()])
def test_runs_are_those_of_the_selection(oracle: Any, batch: int, loss: Any) -> None:
    entries, rows = both()
    y = np.array([1.0, -1.0, 1.0, 1.0, -1.0, 1.0, -1.0])
    options = {
        "batch": batch,
        "tol": 0.0,
        "method": RCMD(engine="reference"),
        "record_at": [1, 7, 40, 120],
    }
    short, long = (
        iterate(Problem(X, y, loss, oracle), max_iterations=120, **options) for X in (entries, rows)
    )
    for mine, theirs in zip(short, long, strict=True):
        assert isinstance(mine.beta_average, LowRank)
        assert np.allclose(mine.d.toarray().ravel(), theirs.d, atol=1e-10)
        assert np.allclose(mine.w, theirs.w, atol=1e-10)
        flat = mine.beta_average.to_array().ravel()
        assert np.allclose(flat, theirs.beta_average, atol=1e-9)
        assert mine.gap == pytest.approx(theirs.gap, abs=1e-9)


def test_states_are_copies() -> None:
    problem = Problem(both()[0], np.ones(7), LeastSquares(), NuclearBall(SHAPE, 3.0))
    run = iterate(problem, record_at=[1, 2], tol=0.0, max_iterations=2)
    first = next(run)
    before = first.d.toarray(), first.beta_average.to_array(), first.certificate.beta.to_array()
    next(run)
    after = first.d.toarray(), first.beta_average.to_array(), first.certificate.beta.to_array()
    assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    with pytest.raises(ValueError, match="belongs to a certificate"):
        run.result().beta.add(1.0, np.ones(6), np.ones(5))


def test_the_description_of_a_matrix_problem() -> None:
    problem = Problem(both()[0], np.ones(7), LeastSquares(), NuclearBall(SHAPE, 3.0))
    text = problem.describe(batch=1.0)
    assert "indicator of ‖β‖_* ≤ 3 for matrices of shape (6, 5)" in text
    assert "|x_jᵀβ| ≤ 3" in text
    assert "(3) 0 ∈ dom R ...................................... holds" in text


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ([0, 6], [0, 0], "rows of MatrixEntries runs from 0 to 6; expected 0 to 5, as the matrix "),
        ([0, 1], [-1, 0], "columns of MatrixEntries runs from -1 to 0; expected 0 to 4"),
        ([0.5], [0], "rows of MatrixEntries has shape .1,. and dtype float64; expected a vector"),
        ([], [], "expected a vector of whole numbers, one for every observed entry"),
        ([[0]], [0], "has shape .1, 1."),
        ([0, 1], [0], "rows has 2 indices and columns 1; expected one of each"),
    ],
)
def test_refusals(rows: Any, columns: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MatrixEntries(rows, columns, SHAPE)


def test_an_oracle_about_vectors_is_refused() -> None:
    entries = MatrixEntries([0, 1], [2, 0], (2, 3))
    with pytest.raises(ValueError, match=r"oracle L1Ball\(radius=1.0\) is for vectors while"):
        Problem(entries, [1.0, 2.0], LeastSquares(), L1Ball(1.0))

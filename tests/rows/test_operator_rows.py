"""Rows without a matrix, held against the matrix they stand for."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from row_checks import ATOMS, check_rows
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from rcmd import (
    RCMD,
    BilinearRows,
    Box,
    L1Ball,
    L2Ball,
    LeastSquares,
    OperatorRows,
    Problem,
    Ridge,
    SparseAtom,
    solve,
)
from rcmd.rows import Rows, as_rows
from rcmd.rows.layouts import InnerRows, cut, with_ones

F = Fraction
RNG = np.random.default_rng(4)
LEFT, RIGHT = RNG.standard_normal((4, 2)), RNG.standard_normal((3, 3))
LEFT[1, 0] = RIGHT[2] = 0.0
MATRIX = RNG.standard_normal((12, 6))
MATRIX[3] = 0.0
LAYOUTS: dict[str, tuple[Rows, np.ndarray]] = {
    "bilinear": (BilinearRows(LEFT, RIGHT), np.kron(LEFT, RIGHT)),
    "operator": (OperatorRows(aslinearoperator(MATRIX)), MATRIX),
    "operator with rows": (OperatorRows(aslinearoperator(MATRIX), lambda j: MATRIX[j]), MATRIX),
    "inner": (InnerRows(as_rows(MATRIX), 2.5), 2.5 * MATRIX),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_rows_are_those_of_the_matrix(name: str) -> None:
    check_rows(*LAYOUTS[name], atol=1e-13)


@pytest.mark.parametrize("name", ["bilinear", "operator", "operator with rows"])
@pytest.mark.parametrize("oracle", [L1Ball(2.0), L2Ball(2.0), Box(-1.0, 0.5), Ridge(0.3)], ids=repr)
def test_runs_are_those_of_the_matrix(name: str, oracle: Any) -> None:
    rows, X = LAYOUTS[name]
    y = np.arange(12.0) / 4
    options: dict[str, Any] = {
        "batch": 3,
        "tol": 0.0,
        "max_iterations": 60,
        "method": RCMD(engine="reference"),
    }
    mine, theirs = (solve(Problem(d, y, LeastSquares(), oracle), **options) for d in (rows, X))
    np.testing.assert_allclose(mine.beta, theirs.beta, rtol=1e-7, atol=1e-9)
    assert mine.gap == pytest.approx(theirs.gap, rel=1e-6)


def test_without_rows_a_batch_costs_two_products() -> None:
    products: list[str] = []
    operator = LinearOperator(
        MATRIX.shape,
        matvec=lambda v: (products.append("X"), MATRIX @ v)[1],
        rmatvec=lambda v: (products.append("Xᵀ"), MATRIX.T @ v)[1],
        dtype=float,
    )
    batch = np.array([1, 5])
    for row, expected in ((None, ["X", "Xᵀ"]), (lambda j: MATRIX[j], [])):
        rows = OperatorRows(operator, row)
        products.clear()
        rows.predict(batch, ATOMS["sparse one"])
        rows.scatter(batch, np.ones(2), np.zeros(6))
        assert products == expected


def test_bilinear_rows_in_fractions() -> None:
    left = np.array([[F(1), F(1, 2)], [F(-2), F(0)]], dtype=object)
    right = np.array([[F(1, 3), F(1)]], dtype=object)
    rows, X = BilinearRows(left, right), np.kron(left, right)
    assert rows.exact
    beta = np.array([F(1), F(2), F(-1), F(1, 7)], dtype=object)
    assert (rows.matvec(beta) == X @ beta).all()
    assert (
        rows.predict(np.array([1]), SparseAtom((2, 1), (F(1), F(2)))) == X[1] @ [0, 2, 1, 0]
    ).all()
    assert (rows.predict(np.array([0, 1]), SparseAtom((), ())) == 0).all()
    result = solve(Problem(rows, [1, 2], LeastSquares(), L1Ball(F(1))), tol=0, max_iterations=6)
    dense = solve(Problem(X, [1, 2], LeastSquares(), L1Ball(F(1))), tol=0, max_iterations=6)
    assert result.beta.tolist() == dense.beta.tolist()
    assert result.gap == dense.gap


def test_large_bilinear_rows_are_never_formed() -> None:
    rows = BilinearRows(np.ones((200, 100)), np.ones((150, 120)))
    assert (rows.n, rows.p) == (30000, 12000)
    assert rows.matvec(np.ones(12000))[0] == 12000
    with pytest.raises(
        ValueError, match="stand for a matrix of 30000 × 12000 entries, which is no"
    ):
        rows.as_matrix()


# ---- cutting and appending ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [*LAYOUTS, "dense", "csr"])
def test_cut_rows_are_those_columns(name: str) -> None:
    plain = {"dense": as_rows(MATRIX), "csr": as_rows(sp.csr_array(MATRIX))}
    rows, X = LAYOUTS[name] if name in LAYOUTS else (plain[name], MATRIX)
    part = cut(rows, 2, 5)
    np.testing.assert_allclose([part.row(j) for j in range(part.n)], X[:, 2:5], atol=1e-14)
    np.testing.assert_allclose(part.square_norms(), (X[:, 2:5] ** 2).sum(axis=1), atol=1e-13)


def test_a_cut_of_an_array_is_a_view() -> None:
    rows = as_rows(MATRIX)
    assert np.shares_memory(cut(rows, 1, 3).array, rows.array)
    assert with_ones(rows).row(0).tolist() == [*MATRIX[0], 1.0]


def test_among_others_slopes_bound_nothing() -> None:
    inner = InnerRows(as_rows(MATRIX), alone=False)
    assert np.isinf(inner.rmatvec(np.ones(12))).all()


# ---- refusals -----------------------------------------------------------------------------------


def scaled_transpose(factor: float) -> LinearOperator:
    return LinearOperator((2, 2), matvec=lambda v: v, rmatvec=lambda v: factor * v, dtype=float)


EMPTY = LinearOperator((0, 2), matvec=lambda v: v[:0], rmatvec=lambda v: np.zeros(2), dtype=float)
IDENTITY = aslinearoperator(np.eye(2))
REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: BilinearRows([[1.0]], [[np.nan]]), ValueError, "right of BilinearRows holds nan"),
    (lambda: BilinearRows([[F(1)]], [[1.0]]), ValueError, "one of left and right of BilinearRows"),
    (
        lambda: as_rows(aslinearoperator(1j * np.eye(2))),
        ValueError,
        "operator with dtype complex128",
    ),
    (lambda: as_rows(scaled_transpose(1.0001)), ValueError, "matvec and rmatvec do not belong"),
    (lambda: as_rows(EMPTY), ValueError, r"X has shape \(0, 2\); expected at least one row"),
    (lambda: OperatorRows(IDENTITY, 3), TypeError, "row of OperatorRows is 3; expected a function"),
    (
        lambda: OperatorRows(IDENTITY, lambda j: np.ones(3)),
        ValueError,
        r"row of OperatorRows gave shape \(3,\) for row 0; expected \(2,\)",
    ),
    (
        lambda: OperatorRows(IDENTITY, lambda j: 1.0001 * np.eye(2)[j]),
        ValueError,
        r"row of OperatorRows gives x_0ᵀβ = .* while the operator gives",
    ),
]


@pytest.mark.parametrize(("make", "kind", "words"), REFUSED, ids=[row[2][:40] for row in REFUSED])
def test_refusals(make: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        make()


def test_products_may_differ_by_rounding() -> None:
    OperatorRows(scaled_transpose(1 + 1e-8), lambda j: (1 - 1e-8) * np.eye(2)[j])

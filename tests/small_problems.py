"""Small random problems: every loss with every regularizer, dense, sparse or in fractions."""

from collections.abc import Iterable
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import (
    Box,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    Problem,
    Ridge,
    SeparableConjugate,
    Simplex,
    Translated,
    conjugates,
)
from rcmd.solver.history import Record

LOSSES = {"least-squares": LeastSquares(), "logistic": Logistic()}
PARAMETERS = {"EpsilonInsensitive": (0.3,), "SmoothedQuantile": (0.7,), "Expectile": (0.7,)}
LIKELIHOODS = {"Poisson", "Exponential", "Gamma", "NegativeBinomial", "CrossEntropy"}
"""Losses for labels of their own kinds, tried in test_likelihoods.py."""
SHIPPED: list[SeparableConjugate] = [
    getattr(conjugates, name)(*PARAMETERS.get(name, ()))
    for name in sorted({*conjugates.__all__} - {"SampleLosses", "SeparableConjugate"} - LIKELIHOODS)
]

ORACLES: dict[str, LinearMinOracle] = {
    "l1-ball": L1Ball(4.0),
    "l1-penalty": L1Penalty(0.05),
    "l2-ball": L2Ball(0.75),
    "ridge": Ridge(0.25),
    "ridge-cut": Ridge(0.1, 0.3),
    "box": Box(-2.0, 3.0),
    "simplex": Simplex(4.0),
    "moved-l1-ball": Translated(L1Ball(4.0), np.array([0.5, -0.25, 1.0, 0.0])),
    "moved-ridge": Translated(Ridge(0.5), np.array([0.5, -0.25, 1.0, 0.0])),
}

F = Fraction
EXACT_ORACLES: dict[str, LinearMinOracle] = {
    "l1-ball": L1Ball(F(4)),
    "l1-penalty": L1Penalty(F(1, 7), F(5, 3)),
    "ridge": Ridge(F(1, 3), F(1000)),
    "box": Box(F(-2), F(3)),
    "simplex": Simplex(F(4)),
    "moved-l1-ball": Translated(L1Ball(F(4)), np.array([F(1, 2), F(-1, 4), F(1), F(0)])),
}


def data(n: int = 5, p: int = 4, seed: int = 0) -> tuple[Any, Any, Any]:
    """X with some zeros, real labels and positive weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)
    return X, rng.standard_normal(n), rng.uniform(0.5, 2.0, n)


def regression(p: int, n: int = 12) -> tuple[Any, Any]:
    """X and its real labels, for ``p`` variables."""
    X, y, _ = data(n, p, seed=3)
    return X, y


def problem(
    loss: str,
    oracle: str | LinearMinOracle,
    *,
    n: int = 5,
    p: int = 4,
    seed: int = 0,
    layout: str = "dense",
    weighted: bool = False,
) -> Problem:
    """A problem in floats; for the logistic loss the labels are their signs."""
    X, y, weights = data(n, p, seed)
    return Problem(
        sp.csr_array(X) if layout == "csr" else X,
        np.where(y > 0, 1.0, -1.0) if loss == "logistic" else y,
        LOSSES[loss],
        ORACLES[oracle] if isinstance(oracle, str) else oracle,
        weights=weights if weighted else None,
    )


every_pair = pytest.mark.parametrize(
    ("loss", "oracle", "layout", "weighted"),
    [
        (loss, oracle, ("dense", "csr")[(i + j) % 2], (i + j // 2) % 2 == 1)
        for i, loss in enumerate(LOSSES)
        for j, oracle in enumerate(ORACLES)
    ],
)
"""Every loss with every regularizer; every two of loss, regularizer, layout and weights meet."""


def medium(layout: Any = np.asarray) -> Problem:
    """A logistic problem of 400 rows, whose labels follow three of 30 columns."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 30))
    y = np.where(X[:, :3].sum(axis=1) + rng.standard_normal(400) > 0, 1.0, -1.0)
    return Problem(layout(X), y, Logistic(), L1Ball(3.0))


def fractions(values: Any, denominator: int = 12) -> Any:
    """``values`` rounded to multiples of 1/denominator, as an array of fractions."""
    rounded = np.rint(np.asarray(values) * denominator).astype(int)
    return np.frompyfunc(lambda k: Fraction(int(k), denominator), 1, 1)(rounded)


def exact_problem(
    oracle: str | LinearMinOracle, *, n: int = 4, p: int = 4, seed: int = 0, weighted: bool = False
) -> Problem:
    """A least-squares problem in fractions."""
    X, y, weights = data(n, p, seed)
    return Problem(
        fractions(X),
        fractions(y),
        LeastSquares(),
        EXACT_ORACLES[oracle] if isinstance(oracle, str) else oracle,
        weights=fractions(weights) if weighted else None,
    )


def dense(problem: Problem) -> Any:
    """X as a plain array, row by row."""
    return np.array([problem.rows.row(j) for j in range(problem.n)])


def lines(records: Iterable[Record]) -> list[dict[str, str]]:
    """Records without their wall-clock time, as text, where NaN equals NaN."""
    kept = [field.name for field in fields(Record) if field.name != "seconds"]
    return [{name: str(getattr(record, name)) for name in kept} for record in records]


def named(methods: list[Any]) -> Any:
    """A test for each of these methods, called after it."""
    return pytest.mark.parametrize("method", methods, ids=lambda m: type(m).__name__)


def as_text(x: Any, y: Any) -> bytes:
    """LIBSVM text of a CSR matrix."""
    lines = []
    for i, label in enumerate(y.tolist()):
        row = slice(x.indptr[i], x.indptr[i + 1])
        pairs = zip(x.indices[row].tolist(), x.data[row].tolist(), strict=True)
        lines.append(" ".join([repr(label), *(f"{j + 1}:{value!r}" for j, value in pairs)]))
    return ("\n".join(lines) + "\n").encode()

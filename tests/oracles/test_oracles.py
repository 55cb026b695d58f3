"""The contract's defaults, boxes, and radii left open against the optima they must not cut."""

import itertools
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from rcmd import (
    Box,
    DenseAtom,
    ElasticNet,
    GroupLasso,
    L1Penalty,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    Problem,
    Ridge,
    SeparableConjugate,
    Translated,
)
from rcmd.oracles.base import NormPenalty
from rcmd.rows import as_rows

F = Fraction
P = 4
SHIFT, UPPER = np.array([1.0, -3.0, 0.0, 0.5]), np.array([1.0, 0.25, 2.0, -1.5])
GROUPS = [[0, 3], [1, 2]]


@pytest.mark.parametrize("box", [Box(-1.0, 3.0), Box([-1.0, 2.0, -3.0], [0.5, 4.0, 0.0])])
def test_minima_of_boxes_are_those_at_their_atoms(box: Box) -> None:
    special = itertools.product([0.0, -0.0, 5e-324, -5e-324, 1.5, -2.0, 1e308, math.inf, -math.inf],
                                [1.0, -1.0], [-0.0, 3.0])  # fmt: skip
    for c in [*map(np.array, special), np.array([2, -3, 0]), np.array([1, -2, 3], np.float32)]:
        with np.errstate(invalid="ignore", over="ignore"):
            np.testing.assert_array_equal(box.minimum(c), c @ box.argmin(c).vector)
    assert np.isnan(box.minimum(np.array([1.0, np.nan, -1.0])))


def data() -> np.ndarray:
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(6, P)) * (rng.random((6, P)) < 0.7)
    dense[1] = 0
    dense[2] = abs(dense[2]) + 0.1
    return dense


@dataclass(frozen=True)
class Segment(LinearMinOracle):
    """An oracle by its contract alone."""

    def argmin(self, c: Any) -> Any:
        return DenseAtom(np.where(c > 0, 0.0, 1.0))

    def minimum(self, c: Any) -> Any:
        return np.minimum(c, 0).sum()

    def violation(self, beta: Any) -> Any:
        return max(np.max(-beta), np.max(beta - 1), 0)


def test_the_contracts_defaults() -> None:
    rows = as_rows(data())
    low, high = Segment().prediction_range(rows)
    np.testing.assert_allclose(low, np.minimum(data(), 0).sum(axis=1))
    np.testing.assert_allclose(high, np.maximum(data(), 0).sum(axis=1))
    beta, c = np.array([0.5, 0.0, 1.0, 0.25]), np.random.default_rng(0).normal(size=P)
    assert Segment().fenchel_young(beta, c) == pytest.approx(Box(0.0, 1.0).fenchel_young(beta, c))
    assert Segment().mu == 0
    assert Segment().value(beta) == 0
    assert Segment().describe() == repr(Segment())

    class Penalty(Segment):
        indicator = False

    with pytest.raises(NotImplementedError, match=r"Penalty is no indicator and defines no pred"):
        Penalty().prediction_range(rows)


# ---- radii left open ---------------------------------------------------------------------------


def bare(oracle: Any) -> tuple[Any, Any]:
    """The oracle without its shift, and the shift."""
    return (oracle.oracle, oracle.shift) if isinstance(oracle, Translated) else (oracle, 0)


def free_optimum(problem: Problem, labels: np.ndarray) -> np.ndarray:
    """β* − shift of the penalised problem without any ball."""
    inner, shift = bare(problem.oracle)
    u = cp.Variable(P)
    fit = problem.loss.cvxpy_form(problem.rows.as_matrix() @ (u + shift), labels)
    penalty = replace(inner, radius=1.0).cvxpy_form(u)[0]
    cp.Problem(cp.Minimize(cp.sum(fit) / problem.n + penalty)).solve(
        solver=cp.CLARABEL, tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9
    )
    return np.asarray(u.value)


def check_radius(loss: SeparableConjugate, oracle: LinearMinOracle, seed: int) -> float:
    """The optimum lies in the ball; returns the share of the radius it needs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3 + 5 * seed, P)) * 10 ** rng.uniform(-1, 1)
    y = np.sign(rng.normal(size=len(X))) if isinstance(loss, Logistic) else rng.normal(size=len(X))
    problem = Problem(X, y, loss, oracle)
    inner, _ = bare(problem.oracle)
    optimum = free_optimum(problem, y)
    norm = inner.norm(optimum) if isinstance(inner, NormPenalty) else np.linalg.norm(optimum)
    assert norm <= inner.radius, (norm, inner.radius)
    return float(norm / inner.radius)


PENALTIES = [
    Ridge(0.3),
    Ridge(0.01),
    L1Penalty(0.1),
    L1Penalty(0.01),
    ElasticNet(0.05, 0.3),
    ElasticNet(0.01, 0.01),
    GroupLasso(GROUPS, 0.1),
    GroupLasso(GROUPS, 0.01, None, [1.0, 3.0]),
]


@pytest.mark.parametrize("loss", [LeastSquares(), Logistic()], ids=repr)
@pytest.mark.parametrize("oracle", PENALTIES, ids=repr)
@pytest.mark.parametrize("moved", [False, True])
def test_default_radius_keeps_the_optimum(
    loss: SeparableConjugate, oracle: LinearMinOracle, moved: bool
) -> None:
    for seed in range(3):
        check_radius(loss, Translated(oracle, SHIFT) if moved else oracle, seed)


@pytest.mark.parametrize("oracle", [Ridge(0.1), L1Penalty(0.1)])
def test_two_shifts_are_one(oracle: LinearMinOracle) -> None:
    X, y = data(), np.arange(6.0)
    twice = Translated(Translated(oracle, SHIFT), UPPER)
    once = Translated(oracle, SHIFT + UPPER)
    radii = [bare(Problem(X, y, LeastSquares(), o).oracle)[0] for o in (twice, once)]
    assert bare(radii[0])[0].radius == pytest.approx(radii[1].radius, rel=1e-14)


def radius_of(x: Any, y: Any, loss: SeparableConjugate, oracle: Any) -> Any:
    exact = isinstance(x, Fraction)
    X = np.array([[x]], dtype=object if exact else float)
    labels = np.array([y], dtype=X.dtype)
    return Problem(X, labels, loss, oracle).oracle.radius


@pytest.mark.parametrize(("x", "y"), [(F(2), F(3)), (F(1, 3), F(-5)), (F(7), F(1, 9))])
def test_ridge_radius_is_tight_for_the_squared_loss(x: Fraction, y: Fraction) -> None:
    # n = 1 and x² = nλ: β* = xy/(x² + λ) = y/(2x) has ‖β*‖² = y²/(4nλ), the whole radius.
    optimum = abs(x * y / (x * x + x * x))
    radius = radius_of(x, y, LeastSquares(), Ridge(x * x))
    assert isinstance(radius, Fraction)
    assert optimum <= radius <= optimum * (1 + F(2, 10**12))
    assert not optimum <= radius * F(999, 1000)


@pytest.mark.parametrize("net", [False, True])
def test_radii_are_tight_by_slope_for_weak_data(net: bool) -> None:
    # x² ≪ λ2: β* = (xy − λ1)/(x² + λ2) is almost (‖∇f(0)‖ − λ1)/λ2 = (xy − λ1)/λ2.
    x, y, first, second = F(1, 1000), F(3), F(int(net), 1000), F(1)
    optimum = (x * y - first) / (x * x + second)
    radius = radius_of(x, y, LeastSquares(), ElasticNet(first, second) if net else Ridge(second))
    assert optimum <= radius <= optimum * (1 + F(2, 10**6))


@pytest.mark.parametrize(("x", "y"), [(F(2), F(3)), (F(1, 3), F(5)), (F(7), F(1, 9))])
def test_l1_radius_is_tight_for_the_squared_loss(x: Fraction, y: Fraction) -> None:
    # λ = xy/2: soft thresholding puts xβ* at y/2, where −s l'(s) = y²/4 is largest.
    optimum = (y - y / 2) / x
    assert radius_of(x, y, LeastSquares(), L1Penalty(x * y / 2)) == optimum


def worst_margin() -> tuple[float, float]:
    """z = 1 + W(1/e), where z/(1 + exp z) is largest, and the derivative's size there."""
    z = 1.2784645427610738
    return z, 1 / (1 + math.exp(z))


@pytest.mark.parametrize("x", [0.5, 1.0, 30.0])
def test_radii_are_tight_for_the_logistic_loss(x: float) -> None:
    z, pull = worst_margin()
    # Stationarity at xβ = z: x·pull = λ for the l1 penalty, x·pull = λβ for ridge.
    by_l1 = radius_of(x, 1.0, Logistic(), L1Penalty(x * pull))
    by_ridge = radius_of(x, 1.0, Logistic(), Ridge(x * pull / (z / x)))
    assert by_l1 == pytest.approx(z / x, rel=2e-12)
    assert by_l1 >= z / x
    assert by_ridge == pytest.approx(z / x, rel=2e-12)
    assert by_ridge >= z / x


def test_weights_enter_the_radius() -> None:
    X, y, weights = np.eye(2), np.array([2.0, 4.0]), np.array([1.0, 3.0])
    problem = Problem(X, y, LeastSquares(), L1Penalty(0.5), weights=weights)
    assert problem.oracle.radius == pytest.approx((1 * 1 + 3 * 4) / 2 / 0.5, rel=2e-12)


@pytest.mark.parametrize(("x", "y", "first"), [(2.0, 3.0, 1.0), (0.5, 6.0, 1.0), (7.0, 1.0, 2.0)])
def test_the_elastic_radius_is_tight_by_descent(x: float, y: float, first: float) -> None:
    # One sample, and xβ* = y/2, where −s l'(s) is largest: x·y/2 = λ1 + λ2 β*.
    optimum = y / (2 * x)
    second = (x * y / 2 - first) / optimum
    radius = radius_of(x, y, LeastSquares(), ElasticNet(first, second))
    assert optimum <= radius <= optimum * (1 + 1e-11)


def test_the_group_radius_is_tight() -> None:
    # λ = xy/2: the optimum is at xβ* = y/2, where −s l'(s) = y²/4 is largest.
    radius = radius_of(2.0, 3.0, LeastSquares(), GroupLasso([0], 3.0))
    assert 0.75 <= radius <= 0.75 * (1 + 1e-11)


OPEN = [Ridge(2.0), L1Penalty(2.0), ElasticNet(1.0, 2.0), GroupLasso([0], 2.0)]


@pytest.mark.parametrize("oracle", OPEN)
def test_an_optimum_at_zero_gets_a_unit_ball(oracle: LinearMinOracle) -> None:
    assert Problem([[1.0], [2.0]], [0.0, 0.0], LeastSquares(), oracle).oracle.radius == 1


@pytest.mark.parametrize("oracle", [replace(oracle, radius=7.0) for oracle in OPEN])
def test_a_given_radius_is_kept(oracle: LinearMinOracle) -> None:
    assert Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), oracle).oracle is oracle

"""Oracles against vertices, CVXPY and fractions; radii against the optima they must not cut."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import Problem
from rcmd.conjugates import LeastSquares, Logistic, SampleLosses, SeparableConjugate
from rcmd.oracles import (
    Box,
    DenseAtom,
    L1Ball,
    L1Penalty,
    L2Ball,
    LinearMinOracle,
    Ridge,
    Simplex,
    Translated,
)
from rcmd.rows import as_rows

F = Fraction
P = 4
TIGHT = {"solver": cp.CLARABEL, "tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
LOWER, UPPER = np.array([-1.0, 0.0, 0.5, -2.0]), np.array([1.0, 0.25, 2.0, -1.5])
PLAIN: dict[str, LinearMinOracle] = {
    "l1": L1Ball(2.5),
    "l2": L2Ball(2.5),
    "box": Box(LOWER, UPPER),
    "unit box": Box(-1.0, 1.0),
    "simplex": Simplex(1.5),
    "ridge": Ridge(0.8, 2.0),
    "l1 penalty": L1Penalty(0.8, 2.0),
}
SHIFT = np.array([1.0, -3.0, 0.0, 0.5])
ORACLES = PLAIN | {f"{name}, moved": Translated(oracle, SHIFT) for name, oracle in PLAIN.items()}


def slopes() -> list[np.ndarray]:
    """Random c, some inside the region where penalties win, and special ones."""
    rng = np.random.default_rng(0)
    drawn = [scale * rng.normal(size=P) for scale in (0.1, 0.6, 1.0, 3.0, 100.0) for _ in range(3)]
    special = [np.zeros(P), np.ones(P), -np.ones(P), np.array([0.0, 0.0, -2.0, 0.0])]
    return [*drawn, *special]


def base(oracle: LinearMinOracle) -> tuple[LinearMinOracle, np.ndarray]:
    if isinstance(oracle, Translated):
        return oracle.oracle, oracle.shift
    return oracle, np.zeros(P)


def regularizer(oracle: LinearMinOracle, beta: np.ndarray) -> float:
    """R(β) on dom R, once more from its formula."""
    inner, shift = base(oracle)
    if isinstance(inner, Ridge):
        return inner.strength / 2 * float(np.sum((beta - shift) ** 2))
    if isinstance(inner, L1Penalty):
        return inner.strength * float(np.sum(abs(beta - shift)))
    return 0.0


def signed_units(radius: float) -> np.ndarray:
    return radius * np.vstack([np.eye(P), -np.eye(P)])


def extreme_points(oracle: LinearMinOracle) -> np.ndarray | None:
    """All candidates for a minimizer of cᵀβ + R(β), for the polyhedral R."""
    inner, shift = base(oracle)
    if isinstance(inner, L1Ball):
        return signed_units(inner.radius) + shift
    if isinstance(inner, L1Penalty):
        return np.vstack([signed_units(inner.radius), np.zeros(P)]) + shift
    if isinstance(inner, Simplex):
        return inner.radius * np.eye(P) + shift
    if isinstance(inner, Box):
        ends = zip(inner.lower + np.zeros(P), inner.upper + np.zeros(P), strict=True)
        return np.array(list(itertools.product(*ends))) + shift
    return None


def members(oracle: LinearMinOracle, count: int = 60) -> np.ndarray:
    """Points of dom R, from its inside and its boundary."""
    inner, shift = base(oracle)
    rng = np.random.default_rng(1)
    points = extreme_points(oracle)
    if points is not None:
        return rng.dirichlet(np.full(len(points), 0.3), size=count) @ points
    directions = rng.normal(size=(count, P))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    return inner.radius * directions * rng.random((count, 1)) ** 0.2 * (1 - 1e-15) + shift


def by_cvxpy(oracle: LinearMinOracle, c: np.ndarray) -> float:
    beta = cp.Variable(P)
    penalty, inside = oracle.cvxpy_form(beta)
    programme = cp.Problem(cp.Minimize(c @ beta + penalty), inside)
    return float(programme.solve(**TIGHT))


# ---- argmin, minimum, value --------------------------------------------------------------------


def check_minimum_is_attained(oracle: LinearMinOracle) -> None:
    for c in slopes():
        beta = oracle.argmin(c).dense(c)
        scale = 1e-14 * (1 + abs(c).sum())
        assert oracle.value(beta) == pytest.approx(regularizer(oracle, beta), rel=1e-14)
        assert abs(c @ beta + oracle.value(beta) - oracle.minimum(c)) <= 10 * scale, c
        assert oracle.violation(beta) <= 1e-15


def check_minimum_is_lowest(oracle: LinearMinOracle) -> None:
    points = extreme_points(oracle)
    others = members(oracle)
    for c in slopes():
        room = 1e-13 * (1 + abs(c).sum())
        values = [c @ beta + regularizer(oracle, beta) for beta in others]
        assert oracle.minimum(c) <= min(values) + room
        if points is not None:
            lowest = min(c @ beta + regularizer(oracle, beta) for beta in points)
            assert abs(oracle.minimum(c) - lowest) <= room, c


def check_against_cvxpy(oracle: LinearMinOracle) -> None:
    for c in slopes()[1:13:5]:
        assert abs(oracle.minimum(c) - by_cvxpy(oracle, c)) <= 1e-8 * (1 + abs(c).sum()), c


def check_fenchel_young(oracle: LinearMinOracle) -> None:
    for c in slopes():
        scale = 1e-12 * (1 + abs(c).sum())
        for beta in members(oracle, 12):
            direct = regularizer(oracle, beta) + c @ beta - oracle.minimum(c)
            assert abs(oracle.fenchel_young(beta, c) - direct) <= scale
            assert oracle.fenchel_young(beta, c) >= 0
        assert abs(oracle.fenchel_young(oracle.argmin(c).dense(c), c)) <= scale


def check_domain(oracle: LinearMinOracle) -> None:
    for beta in members(oracle, 20):
        assert oracle.violation(beta) <= 1e-15
        assert oracle.value(beta) == pytest.approx(regularizer(oracle, beta), rel=1e-14)
    for c in slopes()[:-4]:
        corner = oracle.argmin(100 * c).dense(c)  # so steep that it lies on the boundary
        inside = members(oracle)[0]
        beyond = corner + 1e-6 * (corner - inside)
        assert oracle.violation(beyond) > 1e-9
        assert oracle.value(beyond) == math.inf
        assert oracle.value(corner + 1e-14 * (corner - inside)) < math.inf


def check_simplex_sum(oracle: LinearMinOracle) -> None:
    for total in (0.0, 1.4, 1.5 + 1e-9, 3.0):
        assert oracle.value(np.full(P, total / P)) == math.inf
    assert oracle.value(np.full(P, 1.5 / P)) == 0


def check_strong_convexity(oracle: LinearMinOracle) -> None:
    points = members(oracle, 16)
    mid = [
        (regularizer(oracle, a) + regularizer(oracle, b)) / 2 - regularizer(oracle, (a + b) / 2)
        for a, b in itertools.pairwise(points)
    ]
    room = [np.sum((a - b) ** 2) / 8 for a, b in itertools.pairwise(points)]
    ratios = np.array(mid) / room
    assert oracle.mu <= ratios.min() * (1 + 1e-12) + 1e-12
    # The largest constant for which the inequality holds; where there is none it is 0.
    assert oracle.mu == 0 or oracle.mu >= ratios.min() * (1 - 1e-9)
    assert (oracle.mu > 0) == isinstance(base(oracle)[0], Ridge)


CHECKS = [
    check_minimum_is_attained,
    check_minimum_is_lowest,
    check_against_cvxpy,
    check_fenchel_young,
    check_domain,
    check_strong_convexity,
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("name", ORACLES)
def test_oracle(check: Callable[[LinearMinOracle], None], name: str) -> None:
    check(ORACLES[name])


def test_the_simplex_needs_its_whole_sum() -> None:
    check_simplex_sum(Simplex(1.5))


class WrongSign(L1Ball):
    def argmin(self, c: Any) -> Any:
        return super().argmin(-c)


class WrongRadius(L2Ball):
    def minimum(self, c: Any) -> Any:
        return 0.9 * super().minimum(c)


class NoThreshold(L1Penalty):
    def minimum(self, c: Any) -> Any:
        return -self.radius * abs(c).max()


class NoBall(Ridge):
    def minimum(self, c: Any) -> Any:
        return -(c @ c) / (2 * self.strength)


class DoubleStrength(Ridge):
    @property
    def mu(self) -> Any:
        return 2 * self.strength


class ShiftForgotten(Translated):
    def minimum(self, c: Any) -> Any:
        return self.oracle.minimum(c)

    def violation(self, beta: Any) -> Any:
        return self.oracle.violation(beta)


class NoSlack(L1Ball):
    def room(self, beta: Any) -> Any:
        return 0


class Lenient(Simplex):
    def violation(self, beta: Any) -> Any:
        return max(-beta.min(), 0)


class NoSigns(Simplex):
    def violation(self, beta: Any) -> Any:
        return abs(beta.sum() - self.radius)


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (check_minimum_is_attained, WrongSign(2.5)),
        (check_minimum_is_attained, WrongRadius(2.5)),
        (check_minimum_is_attained, ShiftForgotten(L1Ball(2.5), SHIFT)),
        (check_minimum_is_lowest, NoThreshold(0.8, 2.0)),
        (check_minimum_is_lowest, WrongRadius(2.5)),
        (check_against_cvxpy, NoBall(0.8, 2.0)),
        (check_against_cvxpy, ShiftForgotten(Ridge(0.8, 2.0), SHIFT)),
        (check_fenchel_young, NoSlack(2.5)),
        (check_fenchel_young, WrongRadius(2.5)),
        (check_domain, NoSigns(1.5)),
        (check_simplex_sum, Lenient(1.5)),
        (check_domain, ShiftForgotten(L1Ball(2.5), SHIFT)),
        (check_strong_convexity, DoubleStrength(0.8, 2.0)),
    ],
)
def test_oracle_fails_on(check: Callable[[Any], None], planted: LinearMinOracle) -> None:
    with pytest.raises(AssertionError):
        check(planted)


@pytest.mark.parametrize("name", ORACLES)
def test_ties_are_broken_the_same_way(name: str) -> None:
    oracle = ORACLES[name]
    for c in (np.zeros(P), np.ones(P), np.array([1.0, -1.0, 1.0, -1.0])):
        first = oracle.argmin(c).dense(c)
        for _ in range(3):
            np.testing.assert_array_equal(oracle.argmin(c.copy()).dense(c), first)
        np.testing.assert_array_equal(oracle.argmin(-0.0 * c + c).dense(c), first)


def test_ties_take_the_first() -> None:
    c = np.array([1.0, -1.0, 1.0, -1.0])
    assert L1Ball(2.0).argmin(c).indices == (0,)
    assert L1Ball(2.0).argmin(c).values == (-2.0,)
    assert L1Ball(2.0).argmin(0 * c).values == (2.0,)
    assert Simplex(2.0).argmin(abs(c)).indices == (0,)
    assert L1Penalty(1.0, 2.0).argmin(c).indices == ()
    np.testing.assert_array_equal(L2Ball(2.0).argmin(0 * c).vector, np.zeros(4))
    np.testing.assert_array_equal(Box(-1.0, 3.0).argmin(0 * c).vector, np.full(4, 3.0))


@pytest.mark.parametrize("box", [Box(-1.0, 3.0), Box([-1.0, 2.0, -3.0], [0.5, 4.0, 0.0])])
def test_minima_of_boxes_are_those_at_their_atoms(box: Box) -> None:
    special = itertools.product([0.0, -0.0, 5e-324, -5e-324, 1.5, -2.0, 1e308, math.inf, -math.inf],
                                [1.0, -1.0], [-0.0, 3.0])  # fmt: skip
    for c in [*map(np.array, special), np.array([2, -3, 0]), np.array([1, -2, 3], np.float32)]:
        with np.errstate(invalid="ignore", over="ignore"):
            np.testing.assert_array_equal(box.minimum(c), c @ box.argmin(c).vector)
    assert np.isnan(box.minimum(np.array([1.0, np.nan, -1.0])))


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e200, 1e300])
def test_the_l2_ball_at_both_ends_of_the_number_range(scale: float) -> None:
    c = np.array([0.0, -scale, scale, scale])
    wanted = np.array([0.0, 1.0, -1.0, -1.0]) * (5 / math.sqrt(3))
    np.testing.assert_allclose(L2Ball(5.0).argmin(c).vector, wanted, rtol=1e-15)


# ---- the range of predictions ------------------------------------------------------------------


def data() -> np.ndarray:
    rng = np.random.default_rng(3)
    dense = rng.normal(size=(6, P)) * (rng.random((6, P)) < 0.7)
    dense[1] = 0
    dense[2] = abs(dense[2]) + 0.1
    return dense


def check_prediction_range(oracle: LinearMinOracle, rows: Any) -> None:
    dense = data()
    low, high = oracle.prediction_range(rows)
    points = extreme_points(oracle)
    if points is None:  # a ball: its extremes lie along the row itself
        inner, shift = base(oracle)
        reach = inner.radius * np.sqrt((dense**2).sum(axis=1))
        lowest, highest = dense @ shift - reach, dense @ shift + reach
    else:
        lowest, highest = (dense @ points.T).min(axis=1), (dense @ points.T).max(axis=1)
    np.testing.assert_allclose(low, lowest, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(high, highest, rtol=1e-14, atol=1e-14)
    inside = dense @ members(oracle).T
    assert (inside >= low[:, None] - 1e-13).all()
    assert (inside <= high[:, None] + 1e-13).all()
    assert low.dtype == high.dtype == float


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", ORACLES)
def test_prediction_range(name: str, layout: Any) -> None:
    rows = as_rows(layout(data()))
    losses = SampleLosses(LeastSquares(), np.zeros(rows.n))
    check_prediction_range(ORACLES[name].bind(rows, losses), rows)


class SmallRange(L2Ball):
    def prediction_range(self, rows: Any) -> Any:
        low, high = super().prediction_range(rows)
        return 0.99 * low, 0.99 * high


class OneSided(Simplex):
    """Takes M for granted on both sides, as a symmetric set would."""

    def prediction_range(self, rows: Any) -> Any:
        bounds = self.radius * rows.max_norms()
        return -bounds, bounds


@pytest.mark.parametrize(
    "planted", [SmallRange(2.5), OneSided(1.5), ShiftForgotten(SmallRange(2.5), SHIFT)]
)
def test_prediction_range_fails_on(planted: LinearMinOracle) -> None:
    with pytest.raises(AssertionError):
        check_prediction_range(planted, as_rows(data()))


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
    beta, c = np.array([0.5, 0.0, 1.0, 0.25]), slopes()[0]
    assert Segment().fenchel_young(beta, c) == pytest.approx(Box(0.0, 1.0).fenchel_young(beta, c))
    assert Segment().mu == 0
    assert Segment().value(beta) == 0
    assert Segment().describe() == repr(Segment())
    with pytest.raises(NotImplementedError, match="Segment has no CVXPY form"):
        Segment().cvxpy_form(None)

    class Penalty(Segment):
        indicator = False

    with pytest.raises(NotImplementedError, match=r"Penalty is no indicator and defines no pred"):
        Penalty().prediction_range(rows)


# ---- radii left open ---------------------------------------------------------------------------


def penalized_optimum(problem: Problem, labels: np.ndarray) -> np.ndarray:
    """β* − shift of the penalised problem without any ball."""
    inner, shift = base(problem.oracle)
    u = cp.Variable(P)
    norm = cp.sum_squares(u) / 2 if isinstance(inner, Ridge) else cp.norm1(u)
    fit = problem.loss.cvxpy_form(problem.rows.array @ (u + shift), labels)
    programme = cp.Problem(cp.Minimize(cp.sum(fit) / problem.n + inner.strength * norm))
    programme.solve(**TIGHT)
    return np.asarray(u.value)


def check_radius(loss: SeparableConjugate, oracle: LinearMinOracle, seed: int) -> float:
    """The optimum lies in the ball; returns the share of the radius it needs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(3 + 5 * seed, P)) * 10 ** rng.uniform(-1, 1)
    y = np.sign(rng.normal(size=len(X))) if isinstance(loss, Logistic) else rng.normal(size=len(X))
    problem = Problem(X, y, loss, oracle)
    inner, _ = base(problem.oracle)
    optimum = penalized_optimum(problem, y)
    norm = np.linalg.norm(optimum, 2 if isinstance(inner, Ridge) else 1)
    assert norm <= inner.radius, (norm, inner.radius)
    return norm / inner.radius


PENALTIES = [Ridge(0.3), Ridge(0.01), L1Penalty(0.1), L1Penalty(0.01)]


@pytest.mark.parametrize("loss", [LeastSquares(), Logistic()], ids=repr)
@pytest.mark.parametrize("oracle", PENALTIES, ids=repr)
@pytest.mark.parametrize("moved", [False, True])
def test_default_radius_keeps_the_optimum(
    loss: SeparableConjugate, oracle: LinearMinOracle, moved: bool
) -> None:
    for seed in range(3):
        check_radius(loss, Translated(oracle, SHIFT) if moved else oracle, seed)


@dataclass(frozen=True)
class TooSmall(Ridge):
    share: float = 1.0

    def bind(self, rows: Any, losses: Any, offset: Any = None) -> Any:
        bound = super().bind(rows, losses, offset)
        return replace(bound, radius=self.share * bound.radius)


@pytest.mark.parametrize("oracle", [Ridge(0.1), L1Penalty(0.1)])
def test_two_shifts_are_one(oracle: LinearMinOracle) -> None:
    X, y = data(), np.arange(6.0)
    twice = Translated(Translated(oracle, SHIFT), UPPER)
    once = Translated(oracle, SHIFT + UPPER)
    radii = [base(Problem(X, y, LeastSquares(), o).oracle)[0] for o in (twice, once)]
    assert base(radii[0])[0].radius == pytest.approx(radii[1].radius, rel=1e-14)


class ForgetsOffset(L1Penalty):
    def bind(self, rows: Any, losses: Any, offset: Any = None) -> Any:
        return super().bind(rows, losses)


def test_default_radius_fails_on_planted_bugs() -> None:
    share = check_radius(LeastSquares(), Ridge(0.3), 0)
    check_radius(LeastSquares(), TooSmall(0.3, share=1.01 * share), 0)
    with pytest.raises(AssertionError):
        check_radius(LeastSquares(), TooSmall(0.3, share=0.99 * share), 0)
    with pytest.raises(AssertionError):
        check_radius(LeastSquares(), Translated(ForgetsOffset(0.01), 20 * SHIFT), 1)


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


def test_ridge_radius_is_tight_by_slope_for_weak_data() -> None:
    # x² ≪ λ: β* = xy/(x² + λ) is almost ‖∇f(0)‖/λ = xy/λ.
    x, y, strength = F(1, 1000), F(3), F(1)
    optimum = x * y / (x * x + strength)
    radius = radius_of(x, y, LeastSquares(), Ridge(strength))
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


@pytest.mark.parametrize("oracle", [Ridge(2.0), L1Penalty(2.0)])
def test_an_optimum_at_zero_gets_a_unit_ball(oracle: LinearMinOracle) -> None:
    assert Problem([[1.0], [2.0]], [0.0, 0.0], LeastSquares(), oracle).oracle.radius == 1


@pytest.mark.parametrize("oracle", [Ridge(2.0, 7.0), L1Penalty(2.0, 7.0)])
def test_a_given_radius_is_kept(oracle: LinearMinOracle) -> None:
    assert Problem([[1.0], [2.0]], [1.0, 0.0], LeastSquares(), oracle).oracle is oracle


# ---- fractions ---------------------------------------------------------------------------------


def exact_vector(*entries: Any) -> np.ndarray:
    return np.array([F(entry) for entry in entries], dtype=object)


EXACT: list[LinearMinOracle] = [
    L1Ball(F(5, 2)),
    Simplex(F(3, 2)),
    Box(exact_vector(-1, 0, F(1, 3)), exact_vector(1, F(1, 7), 2)),
    L1Penalty(F(4, 5), F(2)),
    Ridge(F(4, 5), F(100)),
    Ridge(F(1, 5), F(2)),
    L2Ball(F(5, 2)),
]


@pytest.mark.parametrize("oracle", EXACT, ids=repr)
@pytest.mark.parametrize("moved", [False, True])
def test_oracles_are_exact(oracle: LinearMinOracle, moved: bool) -> None:
    # Vectors of rational length, so that balls stay rational too.
    for c in (exact_vector(2, -1, 2), exact_vector(-6, 3, F(-2)), exact_vector(0, 0, 0)):
        shift = exact_vector(F(1, 3), -2, 0)
        target = Translated(oracle, shift) if moved else oracle
        beta = target.argmin(c).dense(c)
        assert target.violation(beta) == 0
        assert c @ beta + target.value(beta) == target.minimum(c)
        assert target.fenchel_young(beta, c) == 0
        assert all(isinstance(entry, (Fraction, int)) for entry in beta)
        assert isinstance(target.minimum(c), (Fraction, int))
        inner = F(1, 3) * target.argmin(exact_vector(1, 0, 0)).dense(c) + F(2, 3) * beta
        gap = target.penalty(inner) + c @ inner - target.minimum(c)
        assert target.fenchel_young(inner, c) == gap >= 0


def test_an_irrational_norm_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="with square 2 is irrational; exact runs need an oracle"):
        L2Ball(F(1)).argmin(exact_vector(1, 1))


def test_boxes_do_not_follow_their_callers_arrays() -> None:
    upper = np.ones(P)
    box = Box(0, upper)
    upper[:] = 9
    np.testing.assert_array_equal(box.upper, np.ones(P))


def test_descriptions_show_numbers() -> None:
    assert L1Ball(5.0).describe() == "indicator of ‖β‖₁ ≤ 5"
    assert "vector of length 4" in Box(LOWER, UPPER).describe()
    assert Translated(L1Ball(5.0), SHIFT).describe().endswith("R = indicator of ‖β‖₁ ≤ 5")

"""Corrections coordinate by coordinate: their models, their faces, and what follows a border."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import (
    Box,
    BoxRidge,
    ElasticNet,
    L1Ball,
    L1Penalty,
    LeastSquares,
    LInfBall,
    Problem,
    Product,
    solve,
)
from rcmd.methods.corrections import columns, coordinates
from rcmd.methods.corrections.columns import KeptGram
from rcmd.methods.corrections.coordinates import CoordinateCorrection, rule_of, stationarity
from rcmd.methods.corrections.hull import (
    HullCorrection,
    continued,
    correction_for,
    correction_to_load,
)

RULES = np.array([[0.3, 0.0, -np.inf, np.inf], [0.0, 0.2, -0.4, 0.1], [0.1, 0.5, -1.0, 2.0]])


def made(oracle: Any, n: int = 30, p: int = 3, **options: Any) -> Problem:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, p))
    y = X @ rng.standard_normal(p) + 0.1 * rng.standard_normal(n)
    return Problem(sp.csr_array(X), y, options.pop("loss", "least-squares"), oracle, **options)


def minimum_by_faces(matrix: Any, slope: Any, rules: Any) -> Any:
    """argmin of the model, over every choice of signs, zeros and ends."""
    best: tuple[float, Any] = (np.inf, None)
    for face in itertools.product(("-", "0", "+", "lower", "upper"), repeat=len(slope)):
        point = np.zeros(len(slope))
        for k, place in enumerate(face):
            point[k] = {"lower": rules[k, 2], "upper": rules[k, 3]}.get(place, 0.0)
        if not np.isfinite(point).all():
            continue
        free = [k for k, place in enumerate(face) if place in "-+"]
        signs = np.array([1.0 if face[k] == "+" else -1.0 for k in free])
        system = (matrix + np.diag(rules[:, 1]))[np.ix_(free, free)]
        right = slope[free] + matrix[free] @ point + rules[free, 0] * signs
        point[free] = np.linalg.solve(system, -right)
        inside = (rules[:, 2] <= point) & (point <= rules[:, 3])
        if inside.all() and (point[free] * signs >= 0).all():
            penalty = rules[:, 0] @ abs(point) + rules[:, 1] @ point**2 / 2
            value = slope @ point + point @ matrix @ point / 2 + penalty
            best = min(best, (float(value), point), key=lambda pair: pair[0])
    return best[1]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("by", ["matrix", "columns"])
def test_a_model_is_minimized_as_by_all_faces(seed: int, by: str) -> None:
    from rcmd.methods.corrections.coordinate_kernels import descend_by_columns, descend_by_matrix

    rng = np.random.default_rng(seed)
    columns = sp.csc_array(rng.standard_normal((6, 3)))
    weights, slope, start = rng.random(6), rng.standard_normal(3), np.zeros(3)
    matrix = (columns.T * weights) @ columns.toarray() + 0.05 * np.eye(3)
    expected, beta, bounds = minimum_by_faces(matrix, slope, RULES), np.zeros(3), (1000, 1e-14)
    if by == "matrix":
        left = slope.copy()
        descend_by_matrix(matrix, left, beta, RULES, bounds)
    else:
        moved, entries = np.zeros(6), (columns.data, columns.indices, columns.indptr)
        model = entries, weights, slope, np.diag(matrix).copy(), (0.05, start)
        descend_by_columns(*model, beta, RULES, moved, bounds)
        np.testing.assert_allclose(moved, columns @ beta, atol=1e-14)
        left = slope + matrix @ beta
    np.testing.assert_allclose(beta, expected, atol=1e-12)
    assert stationarity(beta, left, RULES).max() < 1e-12
    for k in range(3):
        aside = np.clip(beta + 0.01 * np.eye(3)[k], RULES[:, 2], RULES[:, 3])
        if aside[k] > beta[k]:
            off = stationarity(aside, slope + matrix @ aside, RULES)
            assert off.max() > 1e-4, "a point beside the minimizer"


ORACLES = [
    L1Penalty(0.1),
    ElasticNet(0.1, 0.2),
    Box(-0.5, 0.3),
    LInfBall(0.4),
    BoxRidge(-0.5, 0.3, 0.2),
]


@pytest.mark.parametrize("oracle", ORACLES, ids=repr)
def test_least_squares_end_in_one_step(oracle: Any) -> None:
    correction = correction_for(made(oracle), np.zeros(3), np.zeros(3))
    assert type(correction) is CoordinateCorrection
    correction.round(np.inf, 1e-13)
    assert correction.here.gap <= 1e-13
    assert correction.passes <= 5, "columns, their matrix and two points"


@pytest.mark.parametrize("few", [True, False], ids=["working sets", "all columns"])
def test_many_columns(few: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    cuts: list[int] = []

    def watched(wanted: Any, count: int) -> Any:
        if count < np.count_nonzero(wanted > 0):
            cuts.append(count)
        return largest(wanted, count)

    largest = coordinates.largest
    monkeypatch.setattr(coordinates, "largest", watched)
    if few:
        monkeypatch.setattr(coordinates, "FEWEST_COLUMNS", 5)
    problem = made(L1Penalty(0.02), n=40, p=90)
    result = solve(problem, tol=1e-10)
    assert result.success
    assert bool(cuts) is few
    assert 0 < np.count_nonzero(result.beta) < 45


@pytest.mark.parametrize(
    ("oracle", "loss", "by_columns"),
    [
        (L1Penalty(0.02), "least-squares", True),
        (Box(0.1, 0.4), "huber:0.5", False),
        (Box(-0.2, 0.3), "huber:0.5", True),
    ],
)
def test_predictions_by_columns_are_those_of_all(
    oracle: Any, loss: str, by_columns: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where their matrix would be larger, and where coordinates at rest are not zero."""
    monkeypatch.setattr(coordinates, "FEWEST_COLUMNS", 12)
    problem, found = made(oracle, n=16, p=60, loss=loss), []
    correction = CoordinateCorrection(problem, np.full(60, 0.01))
    predicted = correction._predicted
    correction._predicted = lambda beta: found.append(predicted(beta)) or found[-1]
    for _ in range(6):
        correction._step(1e-10)
        here = correction.here
        np.testing.assert_array_equal(here.s, problem.rows.matvec(here.beta))
    assert any(s is not None for s in found) is by_columns


def sparse_matrix(rng: np.random.Generator, kind: Any = float) -> Any:
    """Of 30 rows, the third empty, and 50 columns."""
    dense = rng.standard_normal((30, 50)) * (rng.random((30, 50)) < 0.3)
    dense[2] = 0.0
    return sp.csr_array(dense.astype(kind))


@pytest.mark.parametrize("kind", [float, np.float32])
@pytest.mark.parametrize("fewest", [0, 15])
def test_a_kept_matrix_does_not_depend_on_what_was_asked_before(
    kind: Any, fewest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "FEWEST_KEPT", fewest)
    rng = np.random.default_rng(2)
    X, weights = sparse_matrix(rng, kind), rng.random(30)
    problem = Problem(X, np.ones(30), "least-squares", L1Penalty(0.1))
    kept, held = KeptGram(problem), []
    kept.most = 25
    for count in (3, 8, 1, 20, 25, 12):
        chosen = np.sort(rng.choice(50, count, replace=False))
        matrix = kept.among(chosen, rng.standard_normal(50), weights)
        np.testing.assert_array_equal(matrix, KeptGram(problem).among(chosen, 0 * weights, weights))
        part = X.toarray().astype(float)[:, chosen]
        np.testing.assert_allclose(matrix, part.T @ (weights[:, None] * part), atol=1e-14)
        held.append(kept._held)
    assert max(held) <= 25
    assert held[0] == 3
    assert held[1] > 11, "more than was asked for, the second time"
    assert held[-1] == 12, "there was no room for more"
    before = kept.among(chosen, np.zeros(50), weights)
    before[:] = np.nan  # a copy
    np.testing.assert_array_equal(kept.among(chosen, np.zeros(50), weights), matrix)


def test_a_quadratic_model_takes_up_more_columns_than_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From 0 on as later, and the first of its matrices holds no others."""
    asked: list[int] = []
    among = KeptGram.among
    monkeypatch.setattr(
        KeptGram, "among", lambda self, c, *more: asked.append(len(c)) or among(self, c, *more)
    )
    problem = Problem(sparse_matrix(np.random.default_rng(2)), np.ones(30), "least-squares",
                      L1Penalty(0.2))  # fmt: skip
    correction = CoordinateCorrection(problem, np.zeros(50))
    lacking = np.count_nonzero(abs(correction.here.slope) > 0.2)
    correction._step(1e-10)
    assert asked == [math.ceil(1.5 * lacking)]
    assert correction._kept._held == asked[0] < 25


def test_a_run_that_continues_finds_the_same_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the bit, though it asks for its columns in one go."""
    monkeypatch.setattr(coordinates, "FEWEST_COLUMNS", 2)
    monkeypatch.setattr(coordinates, "MOST_STEPS", 1)
    rng = np.random.default_rng(2)
    X = sparse_matrix(rng)
    problem = Problem(X, X @ rng.standard_normal(50), "least-squares", L1Penalty(0.01))
    whole, states, ends = CoordinateCorrection(problem, np.zeros(50)), [], []
    while whole.moved:
        states.append(whole.state())
        whole.round(math.inf, 1e-12)
        ends.append((whole.here.beta, whole.here.s, whole.gradients))
    assert len(states) > 4
    for state, end in zip(states, ends, strict=True):
        again = correction_to_load(problem, state)
        again.load_state(state)
        again.round(math.inf, 1e-12)
        for mine, theirs in zip((again.here.beta, again.here.s, again.gradients), end, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_corrections_for_another_penalty_know_the_point_if_it_is_the_same() -> None:
    problem = made(L1Penalty(0.1), p=20)
    first = CoordinateCorrection(problem, np.zeros(20))
    first.round(math.inf, 1e-12)
    other, beta = problem.with_oracle(L1Penalty(0.05)), first.here.beta
    again = CoordinateCorrection(other, beta, earlier=first)
    assert again.here.s is first.here.s
    assert again._kept is first._kept
    alone = CoordinateCorrection(other, beta)
    for name in ("beta", "s", "w", "slope", "gap"):
        np.testing.assert_array_equal(getattr(again.here, name), getattr(alone.here, name))
    assert again.here.gap > first.here.gap
    elsewhere = CoordinateCorrection(other, 0.99 * beta, earlier=first)
    np.testing.assert_array_equal(elsewhere.here.s, problem.rows.matvec(0.99 * beta))


def test_a_ball_that_cuts_the_rule_is_followed_by_a_hull() -> None:
    problem = made(L1Penalty(0.01, radius=0.3))
    first = correction_for(problem, np.zeros(3), np.zeros(3))
    first.round(np.inf, 1e-12)
    assert isinstance(continued(first), HullCorrection)
    assert continued(first).gradients >= first.gradients
    result = solve(problem, tol=1e-10)
    assert result.success
    assert abs(result.beta).sum() == pytest.approx(0.3)


def test_a_product_is_a_sum_where_its_parts_are() -> None:
    parts = Product((L1Penalty(0.1), Box([-1.0, 0.0], 2.0), L1Ball(3.0)), (2, 2, 1))
    rule = rule_of(made(parts, p=5))
    assert rule is not None
    ends = [(-np.inf, np.inf)] * 2 + [(-1, 2), (0, 2), (-3, 3)]
    expected = [[0.1 * (k < 2), 0.0, low, high] for k, (low, high) in enumerate(ends)]
    np.testing.assert_array_equal(rule.table(5), expected)
    assert rule_of(made(Product((Box(0.0, 1.0), L1Ball(1.0)), (1, 2)))) is None


def test_another_argmin_is_not_described_by_the_rule() -> None:
    class Other(Box):
        def argmin(self, c: Any) -> Any:
            return super().argmin(c)

    assert rule_of(made(Other(0.0, 1.0), verify=False)) is None


def test_a_penalty_is_certified_by_a_share_of_the_response() -> None:
    """Near the optimum the response is infeasible by a little, which costs the whole radius."""
    problem = made(L1Penalty(0.1, radius=1e3), loss=LeastSquares())
    best = solve(problem, tol=1e-12).beta
    correction = CoordinateCorrection(problem, 0.999 * best)
    gap, w, slope = correction.here.dual
    assert abs(slope).max() <= 0.1 * (1 + 1e-15)
    rounding = 1e3 * 0.1 * 2.0**-51  # the radius times that of the slope and of its share
    expected = problem.primal(0.999 * best) - problem.dual(w)
    assert gap == pytest.approx(expected, rel=0, abs=rounding)
    assert gap < 1e-3 < problem.primal(0.999 * best) - problem.dual(correction.here.w)


def test_a_face_ends_at_a_kink() -> None:
    """Of ½β² − β/2 + |β| the face β > 0 has its minimizer at −½, beyond the kink."""
    arguments = np.eye(1), np.array([0.5]), np.array([1.0])
    for rule, end in (
        ([1.0, 0.0, -np.inf, np.inf], 0.0),
        ([0.25, 0.0, -np.inf, np.inf], 0.25),
        ([0.25, 0.0, 0.4, np.inf], 0.4),
        ([0.0, 0.0, -1.0, 2.0], 0.5),
    ):
        step, blocked = coordinates._along_face(*arguments, np.array([rule]))
        assert (arguments[2] + step).tolist() == [end], rule
        assert blocked is (end in (0.0, 0.4)), rule


@pytest.mark.parametrize("seed", range(20))
def test_a_step_along_a_face_lowers_the_model(seed: int) -> None:
    """It ends at the face's minimizer, or where coordinates come to rest: the best such point."""
    rng = np.random.default_rng(seed)
    Z, start = rng.standard_normal((5, 3)), np.array([0.5, 0.05, -0.7])
    matrix, slopes = Z.T @ Z, 3 * rng.standard_normal(3)
    kink, curved, lower, upper = RULES.T

    def model(beta: Any) -> float:
        change = beta - start
        smooth = slopes @ change + change @ matrix @ change / 2
        return float(smooth + kink @ abs(beta) + curved @ beta**2 / 2)

    step, blocked = coordinates._along_face(matrix, slopes, start, RULES)
    end = start + step
    rests = (end == lower) | (end == upper) | ((kink > 0) & (end == 0))
    assert ((lower <= end) & (end <= upper)).all()
    assert (end * start >= 0)[kink > 0].all()
    assert model(end) < min(model(start), model(start + 0.99 * step))
    slope = slopes + kink * np.sign(start) + curved * start
    way = -np.linalg.solve(matrix + np.diag(curved), slope)
    low, high = (
        np.where((kink > 0) & (side * start > 0), 0.0, ends)
        for side, ends in ((1, lower), (-1, upper))
    )
    for share in (1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125):
        assert model(end) <= model(np.clip(start + share * way, low, high)) + 1e-12
    assert rests.any() == blocked
    assert blocked or abs(stationarity(end, slopes + matrix @ step, RULES)).max() < 1e-12


@pytest.mark.parametrize("seed", range(6))
def test_faces_are_followed_within_the_bounds_and_as_far_as_asked(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bound that was missed by rounding took the right corrections away from l∞ balls."""
    rng, faces = np.random.default_rng(seed), 0
    along = coordinates._along_face

    def counted(*arguments: Any) -> Any:
        nonlocal faces
        faces += 1
        return along(*arguments)

    monkeypatch.setattr(coordinates, "_along_face", counted)
    matrix = 0.999 ** abs(np.subtract.outer(np.arange(60), np.arange(60)))
    rules, slopes = np.tile([0.0, 0.0, -0.1, 0.1], (60, 1)), matrix @ rng.uniform(-1, 1, 60)
    used = []
    for accuracy in (1.0, 1e-9):
        faces = 0
        beta = coordinates._by_matrix(matrix, slopes.copy(), np.zeros(60), rules, accuracy)
        assert abs(beta).max() <= 0.1
        assert stationarity(beta, slopes + matrix @ beta, rules).max() <= accuracy
        used.append(faces)
    assert used[0] == 1 <= used[1] <= 50


def test_a_start_beyond_its_bounds_by_rounding_is_taken_back() -> None:
    """As the averages of plain steps may be: else every step seems to lead out of the box."""
    problem = made(LInfBall(0.01))
    start = solve(problem, tol=1e-12).beta * (1 + 3e-16)
    start[0] = 0.0
    assert abs(start[1:]).min() > 0.01
    correction = CoordinateCorrection(problem, start)
    assert problem.oracle.violation(start) > 0 == problem.oracle.violation(correction.here.beta)
    correction.round(np.inf, 1e-12)
    assert not correction.outside
    assert correction.here.gap <= 1e-12

"""Norm balls, polytopes and penalties of vectors against vertices, CVXPY, fractions and kin."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import cvxpy as cp
import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from oracle_cases import PLAIN, SHIFT, VECTORS, P, slopes
from planted import planted
from small_problems import regression

from rcmd import (
    RCMD,
    Box,
    BoxRidge,
    CappedSimplex,
    Corrected,
    ElasticNet,
    Ellipsoid,
    EntropySimplex,
    GroupL2Ball,
    GroupLasso,
    Hull,
    KSparseBall,
    KSupportBall,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    LInfBall,
    LpBall,
    OWLBall,
    Problem,
    Product,
    Ridge,
    SampleLosses,
    Simplex,
    SparseAtom,
    Translated,
    solve,
)
from rcmd.engine.compiled import CoordinateLoop, loop_for
from rcmd.engine.kernels.layout import rows_tuple
from rcmd.oracles.vectors import direction, largest, norm
from rcmd.rows import as_rows
from rcmd.testing import ContractError, check_oracle

F = Fraction


def regularizer(oracle: LinearMinOracle, beta: np.ndarray) -> float:
    """R(β) on dom R, once more from its formula."""
    if isinstance(oracle, Translated):
        return regularizer(oracle.oracle, beta - oracle.shift)
    if isinstance(oracle, Ridge | BoxRidge):
        return oracle.strength / 2 * float(np.sum(beta**2))
    if isinstance(oracle, L1Penalty):
        return oracle.strength * float(np.sum(abs(beta)))
    if isinstance(oracle, GroupLasso):
        norms = [np.linalg.norm(beta[oracle.groups == g]) for g in range(oracle.groups.max() + 1)]
        return float(oracle.strength * (norms @ oracle.weights))
    if isinstance(oracle, ElasticNet):
        return float(
            oracle.l1_strength * np.abs(beta).sum() + oracle.l2_strength / 2 * np.sum(beta**2)
        )
    if isinstance(oracle, EntropySimplex):
        return float(
            oracle.strength * sum(b * math.log(b / oracle.radius) for b in beta.tolist() if b > 0)
        )
    return 0.0


# ---- the contract, CVXPY, vertices -------------------------------------------------------------


@pytest.mark.parametrize("name", VECTORS)
def test_minima_are_attained_by_the_formula_of_the_regularizer(name: str) -> None:
    oracle = VECTORS[name]
    for c in slopes():
        beta = oracle.argmin(c).dense(c)
        room = 1e-14 * (1 + abs(c).sum())
        assert abs(c @ beta + regularizer(oracle, beta) - oracle.minimum(c)) <= room
        assert oracle.value(beta) == pytest.approx(regularizer(oracle, beta), rel=1e-13)


def signed(vector: Any) -> Iterator[np.ndarray]:
    """The vector with every choice of signs for its nonzeros."""
    places = np.flatnonzero(vector)
    for signs in itertools.product([1, -1], repeat=len(places)):
        out = np.array(vector)
        out[places] = out[places] * np.array(signs)
        yield out


def on(places: Any, value: Any, p: int) -> np.ndarray:
    out = np.array([0 * value] * p)
    out[list(places)] = value
    return out


def vertices(oracle: LinearMinOracle, p: int) -> list[np.ndarray]:
    """Points whose hull is the set, for polytopes; none for other sets."""
    every = range(p)
    if isinstance(oracle, Translated):
        return [point + oracle.shift for point in vertices(oracle.oracle, p)]
    if isinstance(oracle, L1Ball):
        return [v for place in every for v in signed(on([place], oracle.radius, p))]
    if isinstance(oracle, Simplex):
        return [on([place], oracle.radius, p) for place in every]
    if type(oracle) is Box:
        ends = zip(*(end + on([], 0, p) for end in (oracle.lower, oracle.upper)), strict=True)
        return [np.array(corner) for corner in itertools.product(*ends)]
    if isinstance(oracle, LInfBall):
        return list(signed(np.array([oracle.radius] * p)))
    if isinstance(oracle, KSparseBall):
        chosen = itertools.combinations(every, oracle.k)
        return [v for places in chosen for v in signed(on(places, oracle.radius, p))]
    if isinstance(oracle, OWLBall):
        sums = list(itertools.accumulate(oracle.weights.tolist()))
        return [
            v
            for k in every
            for places in itertools.combinations(every, k + 1)
            for v in signed(on(places, oracle.radius / sums[k], p))
        ]
    if not isinstance(oracle, CappedSimplex):
        return []
    full = int(oracle.total // oracle.cap)
    found = []
    for places in itertools.combinations(every, full):
        for last in set(every) - set(places):
            vertex = on(places, oracle.cap, p)
            vertex[last] = oracle.total - full * oracle.cap
            found.append(vertex)
    return found


POLYTOPES = [name for name, oracle in VECTORS.items() if vertices(oracle, P)]


@pytest.mark.parametrize("name", POLYTOPES)
def test_polytopes_against_their_vertices(name: str) -> None:
    oracle = VECTORS[name]
    points = np.array(vertices(oracle, P))
    assert max(oracle.violation(point) for point in points) <= 1e-15
    for c in slopes():
        assert oracle.minimum(c) == pytest.approx((points @ c).min(), rel=1e-14, abs=1e-14)
        nearest = abs(points - oracle.argmin(c).dense(c)).max(axis=1).min()
        assert nearest <= 1e-15


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_k_support_ball_against_all_supports(k: int) -> None:
    for c in slopes():
        norms = [np.linalg.norm(c[list(on)]) for on in itertools.combinations(range(P), k)]
        assert KSupportBall(k, 1.5).minimum(c) == pytest.approx(-1.5 * max(norms), rel=1e-14)


def k_support_norm(beta: np.ndarray, k: int) -> float:
    """√ min Σ β²/θ over 0 ≤ θ ≤ 1, Σθ ≤ k, by CVXPY."""
    shares = cp.Variable(len(beta))
    cost = sum(cp.quad_over_lin(beta[j], shares[j]) for j in range(len(beta)))
    programme = cp.Problem(cp.Minimize(cost), [shares <= 1, cp.sum(shares) <= k])
    return math.sqrt(programme.solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_the_k_support_norm(k: int) -> None:
    rng = np.random.default_rng(k)
    for beta in rng.normal(size=(8, P)) ** 3:
        norm = k_support_norm(beta, k)
        small = KSupportBall(k, 1e-3)
        assert 1e-3 * (1 + small.violation(beta)) == pytest.approx(norm, rel=1e-6)


KIN: list[tuple[LinearMinOracle, LinearMinOracle]] = [
    (KSparseBall(P, 1.5), LInfBall(1.5)),
    (KSparseBall(1, 1.5), L1Ball(1.5)),
    (KSupportBall(1, 1.5), L1Ball(1.5)),
    (KSupportBall(P, 1.5), L2Ball(1.5)),
    (OWLBall(np.ones(P), 1.5), L1Ball(1.5)),
    (OWLBall(on([0], 1.0, P), 1.5), LInfBall(1.5)),
    (GroupL2Ball(range(P), 1.5), L1Ball(1.5)),
    (GroupL2Ball(np.zeros(P), 1.5), L2Ball(1.5)),
    (CappedSimplex(1.5, 2.0), Simplex(1.5)),
    (Ellipsoid(np.ones(P), 1.5), L2Ball(1.5)),
    (Ellipsoid(np.diag([1.0, 4.0, 0.1, 9.0, 2.0]), 2.0), VECTORS["ellipsoid, diagonal"]),
    (ElasticNet(1e-300, 0.8, 1.0), Ridge(0.8, 1.0)),
    (BoxRidge(-1.0, 0.25, 1e-300), Box(-1.0, 0.25)),
    (BoxRidge(-1.5, 1.5, 0.8), Product((Ridge(0.8, 1.5),) * P, (1,) * P)),
]


@pytest.mark.parametrize(("one", "other"), KIN, ids=lambda o: repr(o)[:40])
def test_special_cases_are_the_simpler_classes(one: Any, other: Any) -> None:
    rows = as_rows(np.array(slopes()))
    np.testing.assert_allclose(one.prediction_range(rows), other.prediction_range(rows), rtol=1e-13)
    members = [one.argmin(c).dense(c) / (1 + j % 2) for j, c in enumerate(slopes())]
    for c, beta in zip(slopes(), reversed(members), strict=True):
        room = 1e-13 * (1 + abs(c).sum())
        assert abs(one.minimum(c) - other.minimum(c)) <= room
        assert abs(one.fenchel_young(beta, c) - other.fenchel_young(beta, c)) <= room
        if other.violation(3 * beta) < 1e-15:
            assert one.violation(3 * beta) < 1e-15
        else:
            assert one.violation(3 * beta) > 1e-15


@pytest.mark.parametrize("oracle", VECTORS.values(), ids=VECTORS)
def test_domain(oracle: LinearMinOracle) -> None:
    """``violation`` begins where dom R ends, at its corners and in other directions."""
    rng = np.random.default_rng(2)
    corners = [oracle.argmin(1e4 * c).dense(c) for c in slopes()[:20]]
    assert max(oracle.violation(corner) for corner in corners) <= 2e-15
    centre = np.mean(corners, axis=0)
    # How far a ray stays in dom R, by CVXPY.
    far, beta, ray = cp.Variable(), cp.Variable(P), cp.Parameter(P)
    inside = oracle.cvxpy_form(beta)[1]
    programme = cp.Problem(cp.Maximize(far), [beta == centre + far * ray, *inside])
    mixtures = rng.dirichlet(np.full(20, 0.2), size=12) @ np.array(corners)
    for point in [*corners[:5], *mixtures]:
        ray.value = point - centre
        edge = float(programme.solve(solver=cp.CLARABEL))
        assert oracle.violation(centre + (edge - 1e-5) * ray.value) <= 1e-15
        assert oracle.violation(centre + (edge + 1e-5) * ray.value) > 1e-8
        assert oracle.value(centre + (edge + 1e-5) * ray.value) == math.inf


# ---- ties --------------------------------------------------------------------------------------


def test_the_largest_are_the_first_of_equals() -> None:
    rng = np.random.default_rng(0)
    for count in range(1, 9):
        for keys in rng.integers(0, 3, size=(20, 8)).astype(float):
            wanted = sorted(sorted(range(8), key=lambda j: (-keys[j], j))[:count])
            assert largest(keys, count).tolist() == wanted


def test_ties_take_the_first() -> None:
    c = np.array([1.0, -1.0, 1.0, -1.0, 0.0])
    zero = 0 * c
    assert L1Ball(2.0).argmin(c) == SparseAtom((0,), (-2.0,))
    assert L1Ball(2.0).argmin(zero).values == (2.0,)
    assert Simplex(2.0).argmin(abs(c[:4])).indices == (0,)
    assert L1Penalty(1.0, 2.0).argmin(c).indices == ()
    assert not L2Ball(2.0).argmin(zero).vector.any()
    np.testing.assert_array_equal(Box(-1.0, 3.0).argmin(zero).vector, np.full(P, 3.0))
    np.testing.assert_array_equal(LInfBall(2.0).argmin(c).vector, [-2, 2, -2, 2, 2])
    assert KSparseBall(3, 2.0).argmin(c).indices == (0, 1, 2)
    assert KSparseBall(3, 2.0).argmin(zero).values == (2.0, 2.0, 2.0)
    assert KSupportBall(2, 2.0).argmin(c).indices == (0, 1)
    assert not KSupportBall(2, 2.0).argmin(zero).dense(c).any()
    assert CappedSimplex(2.5, 1.0).argmin(abs(c)).indices == (0, 1, 4)
    assert CappedSimplex(2.5, 1.0).argmin(abs(c)).values == (1.0, 0.5, 1.0)
    assert CappedSimplex(2.0, 1.0).argmin(zero).indices == (0, 1)
    assert GroupL2Ball([1, 0, 1, 0, 2], 2.0).argmin(c).indices == (1, 3)
    assert GroupLasso([1, 0, 1, 0, 2], math.sqrt(2.0), 2.0).argmin(c).indices == ()
    # Sums 1, 2, 3, 4 over 1, 2, 3, 3: the first best has four.
    assert OWLBall([1.0, 1.0, 1.0, 0.0, 0.0], 2.0).argmin(c).indices == (0, 1, 2, 3)
    assert OWLBall(np.ones(P), 2.0).argmin(c).indices == (0,)
    np.testing.assert_array_equal(EntropySimplex(1.0).argmin(zero).vector, np.full(P, 0.2))


def test_many_entries_are_a_vector() -> None:
    c = np.random.default_rng(0).normal(size=100)
    for oracle in (KSparseBall(40, 1.0), KSupportBall(40, 1.0), CappedSimplex(39.5, 1.0)):
        beta = oracle.argmin(c).vector
        assert np.count_nonzero(beta) == 40
        assert c @ beta == pytest.approx(oracle.minimum(c), rel=1e-14)


# ---- compiled code ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linf", "unit box", "l2", "ridge", "elastic net"])
def test_scalar_code_gives_the_atom(name: str) -> None:
    oracle: Any = VECTORS[name]
    for c in [*slopes(), np.zeros(P), -np.zeros(P)]:
        scale = oracle.scale(sum(oracle.mass(e) for e in c))
        wanted = oracle.argmin(c).vector
        np.testing.assert_allclose([scale * oracle.shape(e) for e in c], wanted, rtol=1e-14)


@pytest.mark.parametrize("name", ["linf", "elastic net"])
def test_coordinatewise_oracles_are_compiled_and_agree_with_the_reference(name: str) -> None:
    problem = Problem(*regression(P), LeastSquares(), VECTORS[name])
    rows = rows_tuple(problem.rows)
    assert isinstance(loop_for(problem, 3, rows), CoordinateLoop)
    runs = [
        solve(problem, max_iterations=200, tol=0.0, batch=3, method=Corrected(RCMD(engine=engine)))
        for engine in ("compiled", "reference")
    ]
    np.testing.assert_allclose(runs[0].beta, runs[1].beta, rtol=1e-11, atol=1e-13)


# ---- the range of predictions ------------------------------------------------------------------


def uneven(p: int) -> np.ndarray:
    """Rows of very different lengths, one empty and some full."""
    rng = np.random.default_rng(6)
    shares = np.array([0.0, 0.1, 0.2, 0.4, 0.7, 1.0] * 4)
    return rng.normal(size=(24, p)) * (rng.random((24, p)) < shares[:, None])


def domain(oracle: LinearMinOracle) -> LinearMinOracle:
    """The indicator of dom R."""
    if isinstance(oracle, Translated):
        return Translated(domain(oracle.oracle), oracle.shift)
    if isinstance(oracle, GroupLasso):
        return GroupL2Ball(oracle.groups, oracle.radius, oracle.weights)
    if isinstance(oracle, ElasticNet | Ridge):
        return L2Ball(oracle.radius)
    if isinstance(oracle, BoxRidge):
        return Box(oracle.lower, oracle.upper)
    if isinstance(oracle, L1Penalty):
        return L1Ball(oracle.radius)
    return Simplex(oracle.radius) if isinstance(oracle, EntropySimplex) else oracle


def check_range(oracle: LinearMinOracle, dense: np.ndarray, layout: Any) -> None:
    rows = as_rows(layout(dense))
    low, high = oracle.bind(rows, SampleLosses(LeastSquares(), np.zeros(rows.n))).prediction_range(
        rows
    )
    inner = domain(oracle)
    wanted = [(inner.minimum(x), -inner.minimum(-x)) for x in dense]
    np.testing.assert_allclose(np.stack([low, high], axis=1), wanted, rtol=1e-13, atol=1e-15)
    assert low.dtype == high.dtype == float


WIDE: dict[str, LinearMinOracle] = {
    "capped simplex, few": CappedSimplex(2.5, 1.0),
    "capped simplex, most": CappedSimplex(17.5, 1.0),
    "capped simplex, all": CappedSimplex(20.0, 1.0),
    "k-sparse": KSparseBall(7, 1.5),
    "k-support": KSupportBall(7, 1.5),
    "lp": LpBall(1.5, 3.0),
    "owl": OWLBall(np.linspace(1, 0, 20), 1.5),
    "groups": GroupL2Ball(np.arange(20) % 6, 1.5, np.linspace(1, 2, 6)),
    "ellipsoid": Ellipsoid(np.linspace(1, 2, 20)),
    "ellipsoid, full": Ellipsoid(np.eye(20) + 0.5),
}


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", [*VECTORS, *WIDE])
def test_prediction_range(name: str, layout: Any) -> None:
    if name in WIDE:
        check_range(WIDE[name], uneven(20), layout)
    if name in VECTORS:
        check_range(VECTORS[name], uneven(P), layout)


def test_the_strong_convexity_of_ridge_is_its_strength() -> None:
    ridges = {"ridge", "box ridge"}
    assert all(VECTORS[name].mu == VECTORS[f"{name}, moved"].mu == 0.8 for name in ridges)
    assert all(PLAIN[name].mu == 0 for name in PLAIN if name not in ridges)


def test_the_strong_convexity_of_entropy_is_the_largest() -> None:
    # Attained at the middle of an edge, along it; so in two variables.
    step = 1e-3 * np.array([1.0, -1.0])
    for strength, radius in ((0.7, 2.0), (3.0, 1.0)):
        oracle = EntropySimplex(strength, radius)
        middle = np.full(2, radius / 2)
        ends = oracle.penalty(middle + step) + oracle.penalty(middle - step)
        curve = (ends - 2 * oracle.penalty(middle)) / (step @ step)
        assert oracle.mu <= curve <= oracle.mu * (1 + 1e-5)
        check_oracle(oracle, 2)
    with pytest.raises(ContractError):
        check_oracle(planted(EntropySimplex, 0.7, 2.0, mu=4 * 0.7 / 2.0), 2)


# ---- fractions ---------------------------------------------------------------------------------


def exact_vector(*entries: Any) -> np.ndarray:
    return np.array([F(entry) for entry in entries], dtype=object)


EXACT: list[LinearMinOracle] = [
    LInfBall(F(5, 2)),
    CappedSimplex(F(5, 2), F(1)),
    CappedSimplex(F(4, 3), F(2, 3)),
    KSparseBall(2, F(5, 3)),
    OWLBall(exact_vector(3, F(1, 2), F(1, 7)), F(5, 3)),
    ElasticNet(F(1), F(4, 5), F(100)),
    ElasticNet(F(1, 2), F(1, 5), F(1)),
    L1Ball(F(5, 2)),
    Simplex(F(3, 2)),
    Box(exact_vector(-1, 0, F(1, 3)), exact_vector(1, F(1, 7), 2)),
    BoxRidge(exact_vector(-1, 0, F(1, 3)), exact_vector(1, F(1, 7), 2), F(2, 3)),
    BoxRidge(-3, F(5, 2), 2),
    L1Penalty(F(4, 5), F(2)),
    Ridge(F(4, 5), F(100)),
    Ridge(F(1, 5), F(2)),
    L2Ball(F(5, 2)),
]
ZERO = exact_vector(0, 0, 0)
# Of rational length, thresholded by 1/2 and as they are: so elastic nets and balls stay rational.
COSTS = {
    True: [exact_vector(F(5, 2), 0, -2), exact_vector(F(5, 2), F(3, 2), F(-5, 2)), ZERO],
    False: [exact_vector(2, -1, 2), exact_vector(-6, 3, -2), ZERO],
}


@pytest.mark.parametrize("oracle", EXACT, ids=repr)
@pytest.mark.parametrize("moved", [False, True])
def test_oracles_are_exact(oracle: LinearMinOracle, moved: bool) -> None:
    target = Translated(oracle, exact_vector(F(1, 3), -2, 0)) if moved else oracle
    points = vertices(target, 3)
    for c in COSTS[isinstance(oracle, ElasticNet)]:
        beta = target.argmin(c).dense(c)
        assert target.violation(beta) == 0
        assert c @ beta + target.value(beta) == target.minimum(c)
        assert target.fenchel_young(beta, c) == 0
        assert all(isinstance(entry, (Fraction, int)) for entry in beta)
        assert isinstance(target.minimum(c), (Fraction, int))
        inner = F(1, 3) * target.argmin(exact_vector(1, 0, 0)).dense(c) + F(2, 3) * beta
        gap = target.penalty(inner) + c @ inner - target.minimum(c)
        assert target.fenchel_young(inner, c) == gap >= 0
        assert not points or target.minimum(c) == min(c @ point for point in points)


def test_an_irrational_norm_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="with square 2 is irrational; exact runs need an oracle"):
        L2Ball(F(1)).argmin(exact_vector(1, 1))


@pytest.mark.parametrize("oracle", [*EXACT[:5], ElasticNet(F(1), F(4, 5))], ids=repr)
def test_exact_problems(oracle: LinearMinOracle) -> None:
    rng = np.random.default_rng(0)
    X = np.array([[F(int(e), 3) for e in row] for row in rng.integers(-4, 5, (4, 3))])
    problem = Problem(X, exact_vector(1, -2, F(1, 3), 0), LeastSquares(), oracle)
    result = solve(problem, max_iterations=4, tol=0.0, method=Corrected(RCMD(engine="reference")))
    assert isinstance(result.gap, Fraction)
    assert result.primal - result.dual == result.gap >= 0
    low, high = problem.oracle.prediction_range(problem.rows)
    if oracle.indicator:
        assert [list(low), list(high)] == [
            [oracle.minimum(x) for x in X],
            [-oracle.minimum(-x) for x in X],
        ]


# ---- numbers near their ends -------------------------------------------------------------------


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e200, 1e300])
def test_balls_at_both_ends_of_the_number_range(scale: float) -> None:
    c = np.array([0.0, -scale, scale, scale])
    third = np.array([0.0, 1.0, -1.0, -1.0]) / math.sqrt(3)
    for oracle in (
        KSupportBall(3, 5.0),
        GroupL2Ball([0, 1, 1, 1], 5.0),
        Ellipsoid(np.ones(4), 5.0),
        L2Ball(5.0),
    ):
        np.testing.assert_allclose(oracle.argmin(c).dense(c), 5 * third, rtol=1e-15)
        # Subnormal numbers are 5e-324 apart, times the radius.
        assert oracle.minimum(c) == pytest.approx(-5 * math.sqrt(3) * scale, rel=1e-15, abs=3e-323)
    for order in (1.0001, 1.5, 7.0, 1e6, 1e300):
        ball = LpBall(5.0, order)
        wanted = np.array([0.0, 5.0, -5.0, -5.0]) / 3 ** (1 / order)
        np.testing.assert_allclose(ball.argmin(c).vector, wanted, rtol=1e-13)
        minimum = -5 * scale * 3 ** (1 / ball.dual)
        assert ball.minimum(c) == pytest.approx(minimum, rel=1e-12, abs=3e-323)
        assert 0 <= ball.fenchel_young(wanted, c / scale) <= 1e-12
        assert ball.violation(wanted) <= 1e-12


@pytest.mark.parametrize("scale", [1e-150, 1e-99, 1.0, 1e99, 1e150])
@pytest.mark.parametrize("radius", [1e-250, 1.0, 1e250])
def test_directions_where_squares_end(scale: float, radius: float) -> None:
    c = scale * np.array([2.0, -1.0, 0.0, 2.0])
    wanted = radius * (np.array([-2.0, 1.0, 0.0, -2.0]) / 3)
    np.testing.assert_allclose(direction(c, -radius), wanted, rtol=1e-15)
    assert norm(c) == pytest.approx(3 * scale, rel=1e-15)
    np.testing.assert_allclose(L2Ball(radius).argmin(c).vector, wanted, rtol=1e-15)
    # Ridge inside its ball, and on it.
    np.testing.assert_allclose(Ridge(scale, 10.0).argmin(c).vector, -c / scale, rtol=1e-15)
    np.testing.assert_allclose(Ridge(1e-9 * scale, 3.0).argmin(c).vector, 3 * wanted / radius)


LAYOUTS = {
    "even": [0, 0, 1, 1, 2, 2],
    "uneven": [0, 1, 1, 1, 2, 2],
    "scattered, even": [2, 0, 1, 0, 2, 1],
    "scattered": [2, 0, 1, 0, 0, 2],
    "singles": [0, 1, 2, 3, 4, 5],
    "one": [0, 0, 0, 0, 0, 0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("scale", [1e-200, 1e-99, 1.0, 1e150, 1e200])
def test_groups_however_they_lie(layout: str, scale: float) -> None:
    labels = np.array(LAYOUTS[layout])
    ball = GroupL2Ball(labels, 5.0)
    for c in np.random.default_rng(0).normal(size=(5, 6)):
        norms = np.array([np.linalg.norm(c[labels == g]) for g in range(labels.max() + 1)])
        np.testing.assert_allclose(ball.group_norms(scale * c), scale * norms, rtol=1e-15)
        best = labels == norms.argmax()
        wanted = np.where(best, -5 * c / norms.max(), 0)
        np.testing.assert_allclose(ball.argmin(scale * c).dense(c), wanted, rtol=2e-15)
        assert ball.minimum(scale * c) == pytest.approx(-5 * norms.max() * scale, rel=1e-14)


@pytest.mark.parametrize("order", [1.001, 1.5, 3.0, 1000.0])
def test_lp_gaps_against_many_digits(order: float) -> None:
    rng = np.random.default_rng(0)
    ball = LpBall(2.0, order)
    for distance in (1.0, 1e-2, 1e-5):
        c = rng.normal(size=P)
        other = ball.argmin(rng.normal(size=P)).vector
        beta = (1 - distance) * ball.argmin(c).vector + distance * other
        with mpmath.workdps(50):
            dual = 1 / (1 - 1 / mpmath.mpf(order))
            norm = mpmath.fsum(abs(mpmath.mpf(e)) ** dual for e in c.tolist()) ** (1 / dual)
            wanted = 2 * norm + mpmath.fdot(c.tolist(), beta.tolist())
        assert ball.fenchel_young(beta, c) == pytest.approx(float(wanted), abs=1e-13)


def entropy_gap(oracle: EntropySimplex, beta: np.ndarray, c: np.ndarray) -> float:
    with mpmath.workdps(60):
        odds = [mpmath.exp(-mpmath.mpf(e) / oracle.strength) for e in c.tolist()]
        atom = [oracle.radius * o / mpmath.fsum(odds) for o in odds]
        pairs = [(mpmath.mpf(b), a) for b, a in zip(beta.tolist(), atom, strict=True)]
        terms = [(b * mpmath.log(b / a) if b > 0 else 0) - b + a for b, a in pairs]
        return float(oracle.strength * mpmath.fsum(terms))


def test_entropy_gaps_keep_their_digits() -> None:
    oracle, rng = EntropySimplex(0.7, 2.0), np.random.default_rng(0)
    for distance in (1.0, 1e-2, 1e-4, 1e-6):
        c = rng.normal(size=P)
        other = rng.dirichlet(np.ones(P)) * oracle.radius
        beta = (1 - distance) * oracle.argmin(c).vector + distance * other
        wanted = entropy_gap(oracle, beta, c)
        assert oracle.fenchel_young(beta, c) == pytest.approx(wanted, rel=1e-7, abs=0), distance
    far = np.array([0.0, 1.0, 2.0, 3.0, 1e4])  # a softmax that underflows
    beta = np.array([0.0, 0.25, 0.25, 0.0, 0.5]) * oracle.radius
    assert oracle.fenchel_young(beta, far) == pytest.approx(entropy_gap(oracle, beta, far))


def test_entropy_at_steep_costs() -> None:
    oracle = EntropySimplex(1e-8)
    c = np.array([1.0, 0.5, 2.0])
    np.testing.assert_array_equal(oracle.argmin(c).vector, [0.0, 1.0, 0.0])
    assert oracle.minimum(c) == 0.5
    assert oracle.fenchel_young(np.array([0.0, 1.0, 0.0]), c) == 0


def test_entropy_of_the_smallest_double() -> None:
    """Which divided by the radius is 0."""
    assert EntropySimplex(1.0, 4.0).penalty(np.array([4.0, 5e-324])) == 0


# ---- what arguments may be ---------------------------------------------------------------------


def test_groups_as_lists_and_as_labels() -> None:
    lists = GroupL2Ball([[1, 2, 4], [0, 3]], 2.0)
    np.testing.assert_array_equal(lists.groups, [1, 0, 0, 1, 0])
    for labels in ([1, 0, 0, 1, 0], ["b", "a", "a", "b", "a"], np.array([7.5, 2, 2, 7.5, 2])):
        np.testing.assert_array_equal(GroupL2Ball(labels, 2.0).groups, lists.groups)
    np.testing.assert_array_equal(replace(lists, radius=3.0).groups, lists.groups)


def test_oracles_do_not_follow_their_callers_arrays() -> None:
    weights, matrix, labels = np.ones(2), np.eye(2), np.array([0, 1])
    oracles: list[Any] = [
        OWLBall(weights, 1.0),
        Ellipsoid(matrix, 1.0),
        GroupL2Ball(labels, 1.0, weights),
        Box(0, weights),
        Hull(matrix),
        Translated(L1Ball(1.0), weights),
    ]
    weights[:], matrix[:], labels[:] = 9, 9, 9
    np.testing.assert_array_equal(oracles[0].weights, np.ones(2))
    np.testing.assert_array_equal(oracles[1].matrix, np.eye(2))
    np.testing.assert_array_equal(oracles[2].groups, [0, 1])
    np.testing.assert_array_equal(oracles[2].weights, np.ones(2))
    np.testing.assert_array_equal(oracles[3].upper, np.ones(2))
    np.testing.assert_array_equal(oracles[4].vertices, np.eye(2))
    np.testing.assert_array_equal(oracles[5].shift, np.ones(2))


def test_a_full_capped_simplex_survives_rounding() -> None:
    # 49·(1/49) rounds below 1.
    oracle = CappedSimplex(1.0, 1 / 49)
    X = np.random.default_rng(0).normal(size=(3, 49))
    Problem(X, np.ones(3), LeastSquares(), oracle)
    beta = oracle.argmin(X[0]).dense(X[0])
    np.testing.assert_allclose(beta, np.full(49, 1 / 49), rtol=1e-13)
    assert oracle.minimum(X[0]) == pytest.approx(X[0].mean(), rel=1e-12)
    assert oracle.fenchel_young(beta, X[0]) <= 1e-14
    with pytest.raises(ValueError, match="so the set is empty"):
        Problem(X, np.ones(3), LeastSquares(), CappedSimplex(1.0, 1 / 49.001))


def test_descriptions_show_numbers() -> None:
    assert L1Ball(5.0).describe() == "indicator of ‖β‖₁ ≤ 5"
    assert "vector of length 5" in VECTORS["box"].describe()
    moved = Translated(L1Ball(5.0), SHIFT)
    assert moved.describe() == "R(β − shift) with R = indicator of ‖β‖₁ ≤ 5"
    assert LpBall(5.0, 1.5).describe() == "indicator of ‖β‖_1.5 ≤ 5"
    assert KSupportBall(3, 2.5).describe() == "indicator of ‖β‖ ≤ 2.5 in the 3-support norm"
    assert all(oracle.describe() != repr(oracle) for oracle in VECTORS.values())

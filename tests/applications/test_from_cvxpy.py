"""CVXPY problems solved from the dual: CLARABEL's optimum, certificates, multipliers, refusals."""

import gc
import subprocess
import sys
import weakref
from random import Random

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from rcmd import (
    Box,
    BoxRidge,
    CappedSimplex,
    CrossEntropy,
    CvxpyOracle,
    ElasticNet,
    EntropySimplex,
    EpsilonInsensitive,
    Expectile,
    Exponential,
    Fair,
    Gamma,
    GroupL2Ball,
    GroupLasso,
    Huber,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LogCosh,
    Logistic,
    NegativeBinomial,
    NuclearBall,
    NuclearPenalty,
    Poisson,
    Polytope,
    Problem,
    Product,
    PseudoHuber,
    Ridge,
    Simplex,
    SmoothedHinge,
    SmoothedQuantile,
    SoftplusHinge,
    Spectrahedron,
    SquaredHinge,
    Translated,
    from_cvxpy,
    register_cvxpy,
)
from rcmd.applications.from_cvxpy.affine import read
from rcmd.applications.from_cvxpy.bounding import farthest, intervals, size_within
from rcmd.model import specs
from rcmd.testing.fuzzing.cases import Draw
from tests.applications.cvxpy_problems import (
    REFUSED,
    SIGMA,
    SIGNS,
    SOLVED,
    A,
    G,
    N,
    b,
    minimize,
    mu,
    variable,
)

register_cvxpy()
RNG = np.random.default_rng(8)


@pytest.mark.parametrize("make", SOLVED, ids=lambda make: make.__name__)
def test_documented_problems_have_clarabels_optimum_and_a_certificate(make):
    problem = make()
    value = problem.solve(method="RCMD", tol=1e-7)
    assert problem.status == "optimal"
    stats = problem.solver_stats.extra_stats
    assert 0 <= stats["gap"] <= 1e-7 * max(1, abs(value))
    foreign = "CvxpyOracle" in repr(stats["reading"])
    assert stats["ground"] == ("sampled" if foreign else "proved")
    assert_allclose(value, stats["reading"].objective(stats["result"].primal), rtol=1e-9, atol=1e-9)
    for constraint in problem.constraints:
        assert np.max(constraint.violation()) <= 1e-7
    expected = problem.solve(solver=cp.CLARABEL)
    assert abs(value - expected) <= 1e-6 * max(1, abs(expected))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_of_the_form_is_refused_in_a_sentence(name):
    make, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence) as refusal:
        make(variable()).solve(method="RCMD")
    assert "\n" not in str(refusal.value)


# ---- affine expressions ------------------------------------------------------------------------


def affine_expressions():
    x, X, t = cp.Variable(4), cp.Variable((3, 4)), cp.Variable()
    scale = cp.Parameter((3,), value=[1.0, 2.0, -1.0])
    return {
        "products": A[:5, :4] @ x + 2 * t - 1,
        "both sides": np.ones((2, 3)) @ X @ A[:4, :2],
        "slices": X[1:, ::2] - X[0, 3],
        "fancy indices": x[[2, 0, 2]],
        "stacks": cp.vstack([cp.hstack([x[:3], t]), X]),
        "shapes": cp.reshape(X.T, (2, 6), order="C") + cp.vec(X, order="F")[3],
        "sums": cp.sum(X, axis=0) / 2 - cp.sum(X, axis=1)[0],
        "traces": cp.trace(X[:, :3]) - cp.sum(cp.diag(X[:3, :3])),
        "diagonals": cp.diag(x) @ A[:4, :2],
        "parameters": cp.multiply(scale, X[:, 0]) - scale,
        "scalars": cp.multiply(np.arange(4.0), t) + x,
        "differences": cp.diff(x, 2) + cp.cumsum(x)[:2],
        "products of Kronecker": cp.kron(np.eye(2), X),
        "products by vectors": x @ A[:4, :3],
        "broadcasts": X + cp.reshape(x, (1, 4), order="F"),
    }


@pytest.mark.parametrize("name", affine_expressions())
def test_affine_expressions_are_read_as_cvxpy_evaluates_them(name):
    expression = affine_expressions()[name]
    variables = expression.variables()
    for variable_ in variables:
        variable_.value = RNG.normal(size=variable_.shape)
    affine = read(expression)
    found = affine.offset.copy()
    for v in variables:
        t, matrix = affine.parts[v.id]
        inner = v.value.ravel(order="F") if v.ndim else np.array([v.value])
        found += t * (inner if matrix is None else matrix @ inner)
    assert_allclose(found, np.asarray(expression.value).ravel(order="F"), rtol=0, atol=1e-12)


def test_data_that_enter_as_they_are_are_not_copied():
    data = cp.Constant(A)
    w = variable()
    loss = cp.sum(cp.logistic(-cp.multiply(SIGNS, data @ w)))
    reading = from_cvxpy(minimize(loss + cp.norm1(w)))
    assert np.shares_memory(reading.problem.X, data.value)
    assert_allclose(reading.problem.y, SIGNS)


def test_sparse_data_stay_sparse():
    import scipy.sparse as sp

    w, X = cp.Variable(400), sp.random_array((50, 400), density=0.02, rng=RNG, format="csr")
    reading = from_cvxpy(minimize(cp.sum_squares(X @ w - 1) + cp.norm1(w)))
    assert reading.problem.rows.as_matrix().nnz == X.nnz


# ---- what parts become -------------------------------------------------------------------------

LOSSES = [
    Logistic(), LeastSquares(), Huber(0.5), PseudoHuber(0.5), LogCosh(0.5), SmoothedHinge(0.5),
    SquaredHinge(), SoftplusHinge(0.5), SmoothedQuantile(0.3, 0.5), EpsilonInsensitive(0.2, 0.5),
    Expectile(0.3), CrossEntropy(), Poisson(), NegativeBinomial(0.5), Gamma(), Exponential(),
]  # fmt: skip
AS_THEY_ARE = (
    Logistic, LeastSquares, Huber, SmoothedHinge, SquaredHinge, CrossEntropy, Poisson, Exponential,
)  # fmt: skip
ORACLES = [
    L1Ball(2.0), L2Ball(2.0), Box(-1.0, 0.5), Simplex(2.0), CappedSimplex(2.0, 0.8),
    GroupL2Ball([0, 0, 1, 1], 2.0), Ridge(0.5, 3.0), BoxRidge(-1.0, 1.0, 0.5), L1Penalty(0.05, 4.0),
    ElasticNet(0.02, 0.3, 3.0), GroupLasso([0, 0, 1, 1], 0.05, 4.0), EntropySimplex(0.3, 2.0),
    Polytope([[1.0, 1.0, 1.0, 1.0]], [1.0], lower=-1, upper=1), NuclearBall((2, 2), 1.5),
    NuclearPenalty(0.05, (2, 2), 4.0), Spectrahedron(2, 1.5),
    Translated(L1Ball(1.0), [0.5, 0.0, 0.0, 1.0]), Product((L1Ball(1.0), Box(-1.0, 1.0)), (2, 2)),
]  # fmt: skip
LABELS = {
    "real": np.linspace(-2.0, 2.0, 12),
    "±1": np.array([1.0, -1.0] * 6),
    "≥ 0": np.arange(12.0) % 4,
    "> 0": np.linspace(0.2, 3.0, 12),
    "in [0, 1]": np.linspace(0.0, 1.0, 12),
}
ROWS = RNG.normal(size=(12, 4))


def round_trip(loss, oracle, **options):
    """A problem, what it is after CVXPY, and points of its domain."""
    problem = Problem(ROWS, LABELS[loss.labels], loss, oracle, **options)
    atoms = [problem.oracle.argmin(RNG.normal(size=4)).dense(np.zeros(4)) for _ in range(6)]
    points = [(one + other) / 2 for one, other in zip(atoms[:3], atoms[3:], strict=True)]
    return problem, from_cvxpy(problem.to_cvxpy()), points


@pytest.mark.parametrize("given", [{}, {"weights": LABELS["> 0"], "offset": LABELS["real"] / 3}])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_losses_come_back_from_cvxpy(loss, given):
    for oracle in (L1Ball(1.0), Ridge(0.5, 2.0), Simplex()):
        problem, reading, points = round_trip(loss, oracle, **given)
        for beta in points:
            read_value = reading.objective(reading.problem.primal(beta[reading.order]))
            assert_allclose(read_value, problem.primal(beta), rtol=1e-12)
        assert type(reading.problem.regularizer) is type(oracle)
        if isinstance(loss, AS_THEY_ARE) and not given:
            assert reading.problem.loss == loss


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: type(oracle).__name__)
def test_oracles_come_back_from_cvxpy(oracle):
    problem, reading, points = round_trip(LeastSquares(), oracle)
    assert type(reading.problem.regularizer) is type(oracle)
    for beta in points:
        read_value = reading.objective(reading.problem.primal(beta[reading.order]))
        assert_allclose(read_value, problem.primal(beta), rtol=1e-12)
    c = RNG.normal(size=4)
    assert_allclose(
        reading.scale * reading.problem.oracle.minimum(c[reading.order] / reading.scale),
        problem.oracle.minimum(c),
        rtol=1e-9,
    )


OTHERWISE = {
    "linf": (Box, "the same set"), "scaled": (Box, "a box of another size"),
    "hull": (Polytope, "by weights of the corners"), "flow": (Polytope, "by its equations"),
    "birkhoff": (Polytope, "by its equations"),
    "caching": (L1Penalty, "what is inside"), "counting": (L1Penalty, "what is inside"),
} | dict.fromkeys(
    ("lp", "k-sparse", "k-support", "owl", "ellipsoid", "cur"),
    (CvxpyOracle, "by other words of CVXPY, with variables of its own, or without a class's name"),
)  # fmt: skip
"""Oracles that come back as another class, and why."""


@pytest.mark.parametrize("name", specs.ORACLES)
def test_every_oracle_that_is_listed_comes_back(name):
    oracle = specs.ORACLES[name].makes.example(Draw(Random(5), 4))
    problem, reading, points = round_trip(LeastSquares(), oracle)
    kind, _ = OTHERWISE.get(name, (type(oracle), ""))
    assert type(reading.problem.regularizer) is kind
    for beta in points if reading.problem.p == 4 else ():
        read_value = reading.objective(reading.problem.primal(beta[reading.order]))
        assert_allclose(read_value, problem.primal(beta), rtol=1e-9)


@pytest.mark.parametrize("name", sorted(set(specs.LOSSES) - {"fair"}))
def test_every_loss_that_is_listed_comes_back(name):
    """But Fair's, of which CVXPY must be told with variables of its own."""
    loss = specs.LOSSES[name].makes.example(Draw(Random(3)))
    problem, reading, points = round_trip(loss, L1Ball(1.0))
    for beta in points:
        read_value = reading.objective(reading.problem.primal(beta[reading.order]))
        assert_allclose(read_value, problem.primal(beta), rtol=1e-12)


def test_a_form_with_variables_of_its_own_is_refused():
    problem = Problem(ROWS, LABELS["real"], Fair(0.5), L1Ball(1.0))
    with pytest.raises(ValueError, match="no smooth loss of separate predictions: log1p"):
        from_cvxpy(problem.to_cvxpy())


@pytest.mark.parametrize(
    ("penalty", "oracle"),
    [
        (lambda x: 3 * cp.norm1(x - mu), Translated),
        (lambda x: cp.sum(cp.multiply(mu, cp.abs(x))), GroupLasso),
        (lambda x: cp.norm1(x[1:]), Product),
        (lambda x: cp.sum_squares(x) + cp.sum_squares(2 * x), Ridge),
        (lambda x: cp.norm1(x) + cp.norm1(2 * x), L1Penalty),
        (lambda x: cp.norm1(x) + cp.norm1(2 * x) + cp.norm_inf(x), CvxpyOracle),
    ],
)
def test_penalties_of_parts_are_named_as_they_are(penalty, oracle):
    x = variable()
    problem = minimize(cp.sum_squares(A @ x - b) + penalty(x))
    assert type(from_cvxpy(problem).problem.regularizer) is oracle
    value = problem.solve(method="RCMD", tol=1e-7)
    assert_allclose(value, problem.solve(solver=cp.CLARABEL), rtol=1e-6)


@pytest.mark.parametrize(
    "inside",
    [
        lambda x: [cp.norm(x - mu) <= 1],
        lambda x: [cp.norm1(x - mu) <= 1, x >= 0],
        lambda x: [cp.norm1(x) <= 1, cp.norm1(x - mu) <= 6],
        lambda x: [cp.norm(x[:3], 3) <= 0.2, cp.norm_inf(x[2:]) <= 0.3],
        lambda x: [cp.norm2(x[:3]) + cp.norm2(x[3:]) <= 0.5],
        lambda x: [cp.NonNeg(0.5 - cp.abs(x))],
        lambda x: [cp.sum_squares(cp.norm(cp.reshape(x, (2, 3), order="F"), axis=0)) <= 1],
    ],
)
def test_a_ridge_within_a_set_is_solved(inside):
    x = variable()
    problem = minimize(cp.sum_squares(A @ x - b) + cp.sum_squares(x), inside(x))
    value = problem.solve(method="RCMD", tol=1e-7)
    assert_allclose(value, problem.solve(solver=cp.CLARABEL), rtol=1e-6)


def test_a_penalty_bounds_what_is_bounded_on_one_side():
    for penalty, oracle in ((cp.sum_squares, "BoxRidge"), (cp.norm1, "Tilted(oracle=Box")):
        x = variable(nonneg=True)
        loss = cp.sum(cp.logistic(-cp.multiply(SIGNS, A @ x)))
        problem = minimize(loss + penalty(x))
        value = problem.solve(method="RCMD", tol=1e-7)
        assert oracle in repr(problem.solver_stats.extra_stats["reading"])
        assert_allclose(value, problem.solve(solver=cp.CLARABEL), rtol=1e-6)


@pytest.mark.parametrize("factor", [1, 3])
def test_entropies_of_another_total_have_a_linear_term(factor):
    x = variable()
    penalty = -10 * cp.sum(cp.entr(factor * x))
    problem = minimize(cp.sum_squares(A @ x - b) + penalty, [cp.sum(x) == 2])
    value = problem.solve(method="RCMD", tol=1e-7)
    assert "EntropySimplex" in repr(problem.solver_stats.extra_stats["reading"])
    assert_allclose(problem.solver_stats.extra_stats["result"].primal * N * 2, value, rtol=1e-6)
    assert_allclose(value, problem.solve(solver=cp.CLARABEL), rtol=1e-6)


def test_the_reading_explains_itself():
    w, v = variable(), cp.Variable(name="v")
    loss = cp.sum(cp.logistic(-cp.multiply(SIGNS, A @ w + v)))
    text = from_cvxpy(minimize(loss + 2 * cp.norm1(w), [cp.abs(v) <= 3])).explain()
    assert "minimize (sum(logistic(" in text
    assert "= 40·P(β), P(β) = (1/n)" in text
    assert "log(1 + exp(−ys))   (Logistic)" in text
    assert "labels y     from -1 to 1" in text
    assert "0.05·‖β‖₁" in text
    assert "norm1(x)" in text
    assert "β = x (6), v (1)" in text


# ---- solving -----------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize(
    ("objective", "constraints"),
    [
        (lambda x: cp.Minimize(cp.sum_squares(A @ x - b)), lambda x: [cp.norm1(x) <= 1]),
        (lambda x: cp.Minimize(cp.sum_squares(A @ x - b)), lambda x: [cp.norm(x) <= 1]),
        (lambda x: cp.Minimize(cp.sum_squares(A @ x - b)), lambda x: [x <= 0.3, x >= -0.2]),
        (lambda x: cp.Minimize(cp.sum_squares(A @ x - b)), lambda x: [x >= 0]),
        (
            lambda x: cp.Maximize(mu @ x - cp.quad_form(x, SIGMA)),
            lambda x: [cp.sum(x) == 1, x >= 0],
        ),
        (lambda x: cp.Minimize(cp.sum_squares(x)), lambda x: [G[:2] @ x == [1.0, 2.0]]),
        (
            lambda x: cp.Minimize(cp.sum_squares(A @ x - b) + 2 * cp.norm1(x)),
            lambda x: [cp.sum(x) == 1, x[0] <= x[1]],
        ),
    ],
)
def test_multipliers_are_those_of_clarabel(objective, constraints):
    x = variable()
    problem = cp.Problem(objective(x), constraints(x))
    problem.solve(method="RCMD", tol=1e-9)
    found = [np.array(constraint.dual_value) for constraint in problem.constraints]
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-9, tol_gap_abs=1e-9, tol_feas=1e-9)
    for constraint, dual in zip(problem.constraints, found, strict=True):
        assert_allclose(dual, constraint.dual_value, rtol=1e-4, atol=1e-4)


def test_every_variable_gets_its_own_values():
    X, t, z = cp.Variable((2, 3)), cp.Variable(), cp.Variable(2)
    target = np.arange(6.0).reshape(2, 3)
    loss = cp.sum_squares(X - target) + cp.square(t - 1) + cp.sum_squares(z - [3.0, -4.0])
    problem = minimize(loss, [X <= 4, cp.norm(z) <= 1, t >= 2])
    problem.solve(method="RCMD", tol=1e-9)
    assert_allclose(X.value, np.minimum(target, 4), atol=1e-4)
    assert_allclose(z.value, [0.6, -0.8], atol=1e-4)
    assert_allclose(t.value, 2.0, atol=1e-4)


def test_new_parameters_use_the_data_again_and_start_at_the_last_solution():
    x, gamma = variable(), cp.Parameter(nonneg=True, value=5.0)
    problem = minimize(cp.sum_squares(A @ x - b) + gamma * cp.norm1(x))
    problem.solve(method="RCMD")
    first = problem.solver_stats.extra_stats["reading"]
    gamma.value = 4.9
    value = problem.solve(method="RCMD", tol=1e-8)
    second = problem.solver_stats.extra_stats["reading"]
    assert second.problem.rows is first.problem.rows
    assert from_cvxpy(problem, second).result is second.result
    assert_allclose(value, problem.solve(solver=cp.CLARABEL), rtol=1e-7)


def test_a_problem_is_freed_with_its_reading():
    problem = minimize(cp.sum_squares(A @ variable() - b))
    problem.solve(method="RCMD")
    alive = weakref.ref(problem)
    del problem
    gc.collect()
    assert alive() is None


def test_a_budget_is_a_user_limit():
    x = variable()
    problem = minimize(cp.sum(cp.huber(A @ x - b, 0.1)) + cp.norm1(x))
    problem.solve(method="RCMD", tol=1e-12, max_iterations=1)
    assert problem.status == "user_limit"
    assert x.value is not None
    assert problem.solver_stats.extra_stats["gap"] > 1e-12


def test_bounds_that_follow_hold_the_optimum_and_are_finite():
    """The ends of predictions, and of β, around the optimum of least squares."""
    from rcmd.conjugates import SampleLosses

    losses, s = SampleLosses(LeastSquares(), b), np.zeros(N)
    low, high = intervals(losses, s, -b, np.full(N, 2.0))
    # ½ (s − y)² − ½ y² + … at w = −y is ½ s², which is 2 at ±2.
    assert -4 <= low.min() <= low.max() <= -2
    assert 2 <= high.min() <= high.max() <= 4
    best = np.linalg.lstsq(A, b, rcond=None)[0]
    near = best + 0.01
    radius = size_within(A, near, A @ best - 0.5, A @ best + 0.5, False)
    assert abs(best).max() < radius < abs(best).max() + 0.02 + 2 * N**0.5
    assert size_within(A[:, [0, 0]], best[:2], low, high, False) == np.inf


SQUARES = cp.sum_squares(A @ variable() - b)
x1 = SQUARES.variables()[0]
ROUNDED = cp.sum(cp.huber(A @ x1 - b, 0.5))
UNBOUNDED = {
    "a slope": minimize(SQUARES + 30 * cp.sum(x1)),
    "a slope of one sign": minimize(SQUARES - 20 * cp.sum(x1), [x1 >= 0]),
    "a slope of linear losses": minimize(ROUNDED + cp.sum(x1)),
    "a slope and a norm": minimize(SQUARES + cp.norm1(x1) + 3 * cp.sum(x1)),
    "a slope and groups": minimize(SQUARES + cp.norm(x1[:3]) + 2 * cp.norm(x1[3:]) + cp.sum(x1)),
    "a maximum": minimize(SQUARES + 5 * cp.max(x1)),
    "fewer rows than columns": minimize(cp.sum_squares(A[:3] @ x1 - b[:3])),
    "far from 0": minimize(cp.sum_squares(1e-4 * A @ x1 - b)),
    "far constraints": minimize(SQUARES, [x1 >= 100, cp.sum(x1) == 1000]),
    "a sum": minimize(ROUNDED, [cp.sum(x1) == 3]),
    "inverses": minimize(SQUARES + cp.sum(cp.inv_pos(x1))),
    "roots": minimize(cp.sum_squares(x1) - cp.sum(cp.sqrt(abs(A) @ x1))),
    "logarithms": minimize(SQUARES - cp.sum(cp.log(x1))),
    "logarithms of no bounds": minimize(cp.sum(x1) - cp.sum(cp.log(abs(A) @ x1)), [x1 >= 0]),
    "third powers": minimize(SQUARES + cp.sum(cp.power(x1, 3))),
    "few kinks": minimize(cp.sum(cp.huber(A[:9, :4] @ x1[:4] - b[:9], 0.1)) + cp.norm1(x1[4:])),
    "a norm of 0": minimize(SQUARES, [cp.norm(x1 - 1) <= 0]),
    "hinges of variables": minimize(SQUARES + 3 * cp.sum(cp.pos(x1))),
}


@pytest.mark.parametrize("name", UNBOUNDED)
def test_a_cube_with_an_optimum_inside_bounds_what_nothing_else_does(name):
    problem = UNBOUNDED[name]
    value = problem.solve(method="RCMD", tol=1e-7)
    assert problem.status == "optimal"
    reading = problem.solver_stats.extra_stats["reading"]
    inside = [reading.values(reading.result.beta)[v] for v in problem.variables()]
    reach = max((r.reach for r in reading.regions if r.reach is not None), default=np.inf)
    assert max(abs(part).max() for part in inside) < reach
    expected = problem.solve(solver=cp.CLARABEL)
    assert abs(value - expected) <= 1e-6 * max(1, abs(expected))


def test_what_is_as_good_as_a_point_is_within_its_bound():
    """Of a sum of Hubers that one sample makes, β = −3 is as good as 3."""
    x = cp.Variable()
    reading = from_cvxpy(
        minimize(cp.sum(cp.huber(cp.multiply(np.append(1.0, np.full(9, 1e-3)), x))))
    )
    beta, w = np.array([3.0]), np.zeros(10)
    gap = float(reading.problem.losses.value(reading.problem.rows.matvec(beta)).mean())
    bound = farthest(reading.problem, beta, w, gap, reading.regions, reading.blocks, 1.0)
    assert 3 + 6 <= bound <= 3 + 15


def test_a_cube_is_refused_whose_boundary_is_as_good(monkeypatch):
    """Of a flat direction, and of an optimum at the end of the largest cube."""
    from rcmd.applications.from_cvxpy import bounding

    monkeypatch.setattr(bounding, "REACHES", (8.0,))
    monkeypatch.setattr(bounding, "FLOORS", (2.0**-10,))
    x = variable(2)
    for target, found in ((7.0, True), (8.0, False), (9.0, False)):
        problem = minimize(cp.sum_squares(x - target))
        if found:
            assert problem.solve(method="RCMD") < 1e-6
        else:
            with pytest.raises(ValueError, match="keeps x in a bounded set"):
                problem.solve(method="RCMD")
    flat = minimize(cp.sum(cp.square(cp.pos(x - 1))))
    with pytest.raises(ValueError, match="keeps x in a bounded set"):
        flat.solve(method="RCMD")


# ---- what was once misread ----------------------------------------------------------------------

SQUARE = np.array([[1.0, -2.0, 0.5], [0.3, -1.0, 2.0], [-1.5, 0.4, 0.8]])
TURNS = np.array([[1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [1.0, 1.0, 1.0]])


def near(X):
    return cp.sum_squares(X - SQUARE)


SUBTLE = {
    "pairs along the other axis": lambda x, X: minimize(
        cp.sum(cp.log_sum_exp(cp.vstack([A[:2] @ x, 2 * (A[:2] @ x) - 1]), axis=1))
        + cp.sum_squares(A @ x - b), [cp.norm_inf(x) <= 1],
    ),
    "a matrix that need not be symmetric": lambda x, X: minimize(
        near(X), [X >> 0, cp.trace(X) == 1]
    ),
    "a declared PSD matrix without a trace": lambda x, X: (
        lambda Y: minimize(near(Y), [cp.trace(Y) <= 2, Y <= 1])
    )(cp.Variable((3, 3), PSD=True)),
    "a declared NSD matrix": lambda x, X: (
        lambda Y: minimize(near(Y), [cp.trace(Y) == -1])
    )(cp.Variable((3, 3), NSD=True)),
    "a norm and squares in one bound": lambda x, X: minimize(
        cp.sum_squares(A @ x - 3 * b), [cp.norm1(x) + cp.sum_squares(A @ x - b) <= b @ b]
    ),
    "an entropy of −β": lambda x, X: minimize(
        cp.sum_squares(A @ x - b) - cp.sum(cp.entr(-x)), [cp.sum(x) == -1]
    ),
    "a count of 0, where the rate is ≥ 0": lambda x, X: minimize(
        cp.sum(cp.kl_div(np.arange(6.0) % 3, x)), [x >= -0.5 + 0.6 * (np.arange(6) % 3), x <= 3]
    ),
    "one entry below several numbers": lambda x, X: minimize(
        cp.sum_squares(A @ x - b), [cp.abs(x[0]) <= np.array([0.3, 0.1]), cp.norm_inf(x) <= 1]
    ),
    "penalties of nothing": lambda x, X: minimize(
        cp.sum_squares(A @ x - b) + cp.norm1(0 * x) + cp.norm1(x - x),
        [cp.Constant(np.eye(2)) >> 0, x[:0] <= 1],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SUBTLE)
def test_what_looks_like_a_shape_that_is_known_is_read_as_it_is(name):
    problem = SUBTLE[name](variable(), cp.Variable((3, 3)))
    value = problem.solve(method="RCMD", tol=1e-7)
    assert problem.status == "optimal"
    expected = problem.solve(solver=cp.CLARABEL)
    assert abs(value - expected) <= 1e-6 * max(1, abs(expected))


def test_where_an_atom_is_finite_bears_no_multiplier_of_a_constraint():
    x = variable(2)
    problem = minimize(cp.sum(cp.kl_div(np.array([0.0, 2.0]), x)), [x >= [-1, 0.5], x <= 1.5])
    problem.solve(method="RCMD", tol=1e-9)
    assert_allclose(problem.constraints[0].dual_value, [0, 0], atol=1e-4)
    assert_allclose(problem.constraints[1].dual_value, [0, 2 / 1.5 - 1], atol=1e-4)


def test_a_nuclear_norm_is_not_that_of_other_signs():
    X = cp.Variable((3, 3))
    for factors, oracle in ((TURNS, CvxpyOracle), (-TURNS, CvxpyOracle), (abs(TURNS), NuclearBall)):
        inside = [cp.normNuc(cp.multiply(factors, X)) <= 1]
        assert type(from_cvxpy(minimize(near(X), inside)).problem.regularizer) is oracle


def test_a_smaller_set_does_not_start_outside_it():
    x, radius = variable(), cp.Parameter(nonneg=True, value=2.0)
    problem = minimize(cp.sum_squares(A @ x - 3 * b), [cp.norm1(x) <= radius])
    for radius.value in (2.0, 0.5, 4.0):
        value = problem.solve(method="RCMD", tol=1e-7)
        assert_allclose(value, problem.solve(solver=cp.CLARABEL), rtol=1e-6)


@pytest.mark.filterwarnings("ignore:divide by zero")  # CVXPY, of a cone at 0
def test_cones_get_multipliers_and_what_is_not_known_is_none(monkeypatch):
    from rcmd.applications.from_cvxpy import solving

    x = variable()
    problem = minimize(cp.sum_squares(x - mu), [cp.SOC(cp.Constant(0.5), x), x <= 0.2])
    problem.solve(solver=cp.CLARABEL)
    expected = np.concatenate([np.ravel(part) for part in problem.constraints[0].dual_value])
    problem.solve(method="RCMD", tol=1e-9)
    found = np.concatenate([np.ravel(part) for part in problem.constraints[0].dual_value])
    assert_allclose(found, expected, atol=1e-4)
    monkeypatch.setattr(solving, "MOST_DUALS", 5)
    problem.solve(method="RCMD")
    assert problem.constraints[1].dual_value is None


def test_rcmd_is_imported_without_cvxpy():
    code = "import sys, rcmd; rcmd.from_cvxpy; sys.exit('cvxpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# ---- mistakes ----------------------------------------------------------------------------------

x_, Z_ = variable(), cp.Variable((3, 3), symmetric=True)
FIT = cp.sum_squares(A @ x_ - b)
UNSET = cp.Parameter(nonneg=True, name="gamma")
MISTAKES = {
    "an objective for a problem": (lambda: from_cvxpy(cp.Minimize(FIT)), TypeError, "of type"),
    "a parameter without a value": (
        lambda: from_cvxpy(minimize(FIT + UNSET * cp.norm1(x_))), ValueError,
        r"the parameter gamma has no value.*gamma.value = …",
    ),
    "a solver of CVXPY": (
        lambda: minimize(FIT, [x_ >= 0]).solve(method="RCMD", solver=cp.SCS), TypeError, "solver",
    ),
    "a tolerance below 0": (
        lambda: minimize(FIT, [x_ >= 0]).solve(method="RCMD", tol=-1.0), ValueError, "tol is -",
    ),
    "an unknown option": (
        lambda: minimize(FIT, [x_ >= 0]).solve(method="RCMD", eps=1e-3), TypeError, "eps",
    ),
    "no variables": (
        lambda: from_cvxpy(minimize(cp.Constant(1.0))), ValueError, "no variables",
    ),
    "concave": (
        lambda: from_cvxpy(cp.Problem(cp.Maximize(FIT))), ValueError, "is not concave by CVXPY",
    ),
    "a constraint that is not convex": (
        lambda: from_cvxpy(minimize(FIT, [cp.norm(x_) >= 1])), ValueError, "constraint .* convex",
    ),
    "no point": (
        lambda: from_cvxpy(minimize(FIT, [x_ >= 1, x_ <= 0])), ValueError,
        "ask x to be at least 1 and at most -?0",
    ),
    "no matrix": (
        lambda: from_cvxpy(minimize(near(Z_), [Z_ << 0, cp.trace(Z_) == 1])), ValueError,
        "contradict each other",
    ),
    "no point, and nothing that bounds": (
        lambda: from_cvxpy(minimize(FIT, [x_ >= 1, cp.sum(x_) <= 0])), ValueError,
        "contradict each other",
    ),
    "a constant that is not in its cone": (
        lambda: from_cvxpy(minimize(FIT, [cp.Constant(-np.eye(2)) >> 0])), ValueError,
        "holds for no point",
    ),
    "no point of a polytope": (
        lambda: from_cvxpy(minimize(FIT, [cp.sum(x_) >= 7, x_ <= 1, x_ >= 0])), ValueError,
        "contradict each other",
    ),
    "a norm below 0": (
        lambda: from_cvxpy(minimize(FIT, [cp.norm(x_) <= -1])), ValueError,
        r"constraint pnorm\(x, 2\) <= -1 holds for no point",
    ),
    "an infinite bound": (
        lambda: from_cvxpy(minimize(FIT, [x_ <= np.inf])), ValueError,
        "leave out bounds that are infinite",
    ),
    "numbers that contradict each other": (
        lambda: from_cvxpy(minimize(FIT, [0 * x_[0] >= 1, x_ <= 1, x_ >= 0])), ValueError,
        "holds for no point",
    ),
    "a boolean variable": (
        lambda: from_cvxpy(minimize(cp.sum_squares(cp.Variable(2, boolean=True) - 1))), ValueError,
        "is boolean; expected real variables",
    ),
    "a complex variable": (
        lambda: from_cvxpy(minimize(cp.sum_squares(cp.Variable(2, complex=True) - 1))), ValueError,
        "is complex; expected real variables",
    ),
    "a diagonal variable": (
        lambda: from_cvxpy(minimize(cp.sum_squares(cp.Variable((2, 2), diag=True)))), ValueError,
        "declared with diag, which is not read",
    ),
    "NaN in the data": (
        lambda: from_cvxpy(minimize(cp.sum_squares(A @ x_ - np.append(np.nan, b[1:])), [x_ >= 0])),
        ValueError, r"the constant -\[40\] holds nan",
    ),
    "infinite data": (
        lambda: from_cvxpy(minimize(cp.sum_squares((A * np.inf) @ x_ - b), [x_ >= 0, x_ <= 1])),
        ValueError, r"the constant \[40×6\] holds -?inf",
    ),
    "a free intercept and separable classes": (
        lambda: from_cvxpy(minimize(cp.sum(cp.logistic(A @ x_ + cp.Variable(name="v"))) +
                                    cp.norm1(x_))),
        ValueError, "keeps v in a bounded set",
    ),
    "fewer rows than columns, and a slope": (
        lambda: from_cvxpy(minimize(cp.sum_squares(A[:3] @ x_ - b[:3]) + cp.sum(x_))), ValueError,
        "keeps x in a bounded set.*cp.norm_inf",
    ),
    "arguments that can be 0": (
        lambda: from_cvxpy(minimize(-cp.sum(cp.log(x_)), [x_ >= 0, x_ <= 1, x_[0] <= 0])),
        ValueError, r"^the arguments in log\(x\) come too close to 0",
    ),
    "a slope that no loss bears": (
        lambda: from_cvxpy(minimize(cp.sum(cp.huber(A @ x_ - b)) + 1000 * cp.sum(x_))), ValueError,
        "keeps x in a bounded set",
    ),
    "a loss of all samples at once": (
        lambda: from_cvxpy(minimize(cp.square(cp.sum(cp.pos(A @ x_))) + cp.norm1(x_))), ValueError,
        "no smooth loss of separate predictions: power",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_answered_in_a_sentence(name):
    act, kind, sentence = MISTAKES[name]
    with pytest.raises(kind, match=sentence) as refusal:
        act()
    assert "\n" not in str(refusal.value)

"""Polytopes and CVXPY's sets against their vertices, CVXPY and planted bugs."""

import copy
import itertools
import math
import sys
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from oracle_cases import POINTS, POLYTOPES, by_corners, simplex_of_planes
from small_problems import regression as data

from rcmd import (
    Birkhoff,
    CurSet,
    CvxpyOracle,
    DenseAtom,
    FlowPolytope,
    Hull,
    LeastSquares,
    LinearMinOracle,
    Polytope,
    Problem,
    SampleLosses,
    iterate,
    solve,
    truth,
)
from rcmd.oracles.linear_programmes import ARGMIN, Programme
from rcmd.rows import as_rows

F = Fraction


VERTICES = {name: case for name, case in POLYTOPES.items() if case[2] is not None}


# ---- the contract, ground truth, brute force ----------------------------------------------------


@pytest.mark.parametrize("name", VERTICES)
def test_atoms_are_best_vertices(name: str) -> None:
    oracle, p, vertices = VERTICES[name]
    rng = np.random.default_rng(12)
    for c in [*rng.standard_normal((40, p)), np.ones(p), -np.eye(p)[0]]:
        atom, lowest = oracle.argmin(c).dense(c), (vertices @ c).min()
        room = 1e-12 * abs(vertices).max() * abs(c).sum()
        assert abs(atom @ c - lowest) <= room
        assert abs(oracle.minimum(c) - lowest) <= room
        assert abs(vertices - atom).max(axis=1).min() <= 1e-12 * abs(vertices).max()
        assert oracle.violation(atom) <= 1e-12


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", VERTICES)
def test_prediction_ranges_are_those_of_the_vertices(name: str, layout: Any) -> None:
    oracle, p, vertices = VERTICES[name]
    X, _ = data(p)
    low, high = oracle.prediction_range(as_rows(layout(X)))
    room = 1e-12 * abs(vertices).max()
    np.testing.assert_allclose(low, (X @ vertices.T).min(axis=1), atol=room)
    np.testing.assert_allclose(high, (X @ vertices.T).max(axis=1), atol=room)


@pytest.mark.parametrize("name", VERTICES)
def test_points_between_vertices_belong_and_others_do_not(name: str) -> None:
    oracle, _, vertices = VERTICES[name]
    rng = np.random.default_rng(2)
    middle, size = vertices.mean(axis=0), abs(vertices).max()
    for weights in rng.dirichlet(np.full(len(vertices), 0.3), 20):
        assert oracle.value(weights @ vertices) == 0
    for vertex in vertices[:5]:
        beyond = vertex + 1e-6 * (vertex - middle)
        if abs(vertex - middle).max() > 1e-3 * size:
            assert oracle.violation(beyond) > 1e-9
            assert oracle.value(beyond) == math.inf
    assert oracle.value(np.full(len(middle), np.nan)) == math.inf


# ---- ties and forms of atoms --------------------------------------------------------------------


def test_ties_take_the_first() -> None:
    assert Hull([[0, 1], [1, 0], [0, 1]]).argmin(np.ones(2)).vector.tolist() == [0, 1]
    paths = FlowPolytope([(0, 2), (0, 1), (2, 3), (1, 3)], 0, 3)
    assert paths.argmin(np.zeros(4)).indices == (0, 2)
    for c in (np.zeros(9), np.ones(9)):
        assert Birkhoff(3).argmin(c) == Birkhoff(3).argmin(c.copy())


def test_atoms_have_few_entries() -> None:
    c = np.random.default_rng(0).standard_normal(100)
    assert len(Birkhoff(10).argmin(c).indices) == 10
    assert len(POLYTOPES["flow"][0].argmin(np.zeros(10)).indices) <= 5


def test_the_gap_of_a_hull_counts_what_a_point_misses() -> None:
    """It is at least cᵀβ − minimum(c) beyond the hull, and |c|ᵀ|β − v| beside a single point v."""
    rng = np.random.default_rng(0)
    for c, miss in rng.standard_normal((20, 2, 4)):
        lone, hull = Hull(POINTS[:1]), POLYTOPES["hull"][0]
        assert lone.fenchel_young(POINTS[0] + miss, c) == pytest.approx(abs(c) @ abs(miss))
        beta = 3 * miss
        assert hull.fenchel_young(beta, c) >= c @ beta - hull.minimum(c) - 1e-9


@pytest.mark.parametrize("width", [1, 4, 30])
def test_membership_is_accurate_among_many_vertices(width: int) -> None:
    rng = np.random.default_rng(width)
    hull = Hull(rng.standard_normal((80, width)) * 10.0 ** rng.uniform(-3, 3))
    for beta in rng.dirichlet(np.ones(80), 10) @ hull.vertices:
        assert hull.violation(beta) <= 1e-13


# ---- linear programmes: proofs that do not rest on the solver -----------------------------------


def random_programme(seed: int) -> tuple[Programme, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((7, 3))
    sides = np.r_[np.full(5, -np.inf), -0.5, 0.1], np.r_[rng.random(5), 0.7, np.inf]
    return Programme(A, *sides, np.full(3, -2.0), np.full(3, 1.0)), rng.standard_normal(3)


def lowest(programme: Programme, c: np.ndarray) -> float:
    x = cp.Variable(len(c))
    values, inside = programme.A @ x, [x >= programme.lower, x <= programme.upper]
    for sign, ends in ((1, programme.row_upper), (-1, programme.row_lower)):
        finite = np.isfinite(ends)
        inside.append(sign * values[finite] <= sign * ends[finite])
    return float(cp.Problem(cp.Minimize(c @ x), inside).solve(solver=cp.CLARABEL))


def signed(programme: Programme, y: np.ndarray) -> np.ndarray:
    y = np.where(np.isinf(programme.row_lower), np.minimum(y, 0), y)
    return np.where(np.isinf(programme.row_upper), np.maximum(y, 0), y)


@pytest.mark.parametrize("seed", range(8))
def test_any_multipliers_give_a_lower_bound(seed: int) -> None:
    programme, c = random_programme(seed)
    x, y = programme.solve(c)
    truly = lowest(programme, c)
    assert programme.bound(c, y) == pytest.approx(truly, abs=1e-7)
    assert c @ x == pytest.approx(truly, abs=1e-7)
    rng = np.random.default_rng(seed)
    for size in (1e-9, 1e-3, 1.0, 30.0):
        wrong = signed(programme, y + size * rng.standard_normal(len(y)))
        assert programme.bound(c, wrong) <= truly + 1e-7
        assert programme.slack(c, wrong, x) == pytest.approx(c @ x - programme.bound(c, wrong))
        assert programme.slack(c, wrong, x) >= 0


@pytest.mark.parametrize("size", [1e-6, 1e-2, 10.0])
def test_a_careless_solver_makes_no_certificate_wrong(
    size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data(3)
    problem = Problem(X, y, LeastSquares(), POLYTOPES["polytope"][0])
    optimum = truth.solve(problem)
    honest, rng = Programme.solve, np.random.default_rng(0)

    def careless(self: Programme, c: Any, *asker: str) -> Any:
        vertex, multipliers = honest(self, c, *asker)
        return vertex, signed(self, multipliers + size * rng.standard_normal(len(multipliers)))

    monkeypatch.setattr(Programme, "solve", careless)
    slope = problem.gradient(optimum.w)
    beta = problem.oracle.argmin(slope).vector
    lowest = truth.linear_minimum(problem.oracle, slope)
    for _ in range(20):
        assert problem.dual(optimum.w) <= optimum.primal + 1e-9
        assert problem.oracle.fenchel_young(beta, slope) >= 0
        assert problem.oracle.minimum(slope) <= lowest + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_open_polytopes_get_their_bounding_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = np.vstack([rng.standard_normal((9, 3)), -np.ones((1, 3))])
    b = rng.random(10) + 0.5
    corners = by_corners(A, b, -1e4, 1e4)
    if abs(corners).max() > 9e3:
        with pytest.raises(ValueError, match="Polytope is unbounded: β"):
            Polytope(A, b)
        return
    polytope = Polytope(A, b)
    last = 2 * np.spacing(abs(corners).max(axis=0))  # the corners are rounded, too
    assert (polytope.lower <= corners.min(axis=0) + last).all()
    assert (polytope.upper >= corners.max(axis=0) - last).all()
    np.testing.assert_allclose(polytope.lower, corners.min(axis=0), rtol=1e-9)
    np.testing.assert_allclose(polytope.upper, corners.max(axis=0), rtol=1e-9)


def test_bounds_survive_careless_multipliers(monkeypatch: pytest.MonkeyPatch) -> None:
    honest, rng = Programme.solve, np.random.default_rng(0)

    def careless(self: Programme, c: Any, *asker: str) -> Any:
        vertex, y = honest(self, c, *asker)
        return vertex, signed(self, y * (1 + 0.02 * rng.standard_normal(len(y))))

    monkeypatch.setattr(Programme, "solve", careless)
    polytope = Polytope(simplex_of_planes(), [0, 0, 0, 6])
    assert (polytope.lower <= 0).all()
    assert (polytope.upper >= [6, 3, 2]).all()
    assert (polytope.upper > np.array([6, 3, 2]) * (1 + 1e-6)).any()
    monkeypatch.setattr(Programme, "solve", lambda self, c, *asker: (c, 0 * self.row_upper))
    with pytest.raises(ValueError, match="multipliers do not prove that Polytope is bounded"):
        Polytope(simplex_of_planes(), [0, 0, 0, 6])


def test_many_rows_get_the_range_of_the_box() -> None:
    oracle, p, vertices = VERTICES["polytope"]
    X, _ = data(p, 1001)
    low, high = oracle.prediction_range(as_rows(X))
    assert (low <= (X @ vertices.T).min(axis=1) + 1e-12).all()
    assert (high >= (X @ vertices.T).max(axis=1) - 1e-12).all()
    np.testing.assert_allclose(high, as_rows(X).box_range(oracle.lower, oracle.upper)[1])


def costs(count: int) -> np.ndarray:
    """A path of costs with many ties: whole numbers on a polytope of whole numbers."""
    return np.random.default_rng(1).integers(-1, 2, (count, 6)).astype(float)


# The cross-polytope in six variables: every cost with two equal entries ties.
CROSS = (np.array(list(itertools.product([-1.0, 1.0], repeat=6))), np.ones(64))


def tied() -> Polytope:
    return Polytope(*CROSS)


class Warm(Polytope):
    """Ties go to the vertex nearest to the last one."""

    def argmin(self, c: Any) -> Any:
        return DenseAtom(self.programme.solve(c, ARGMIN)[0])


class OneBasis(Warm):
    """And certificates move the last one."""

    def minimum(self, c: Any) -> Any:
        return self.programme.bound(c, self.programme.solve(c, ARGMIN)[1])


def answers(oracle: LinearMinOracle, asked: np.ndarray, *, certify: bool = False) -> Any:
    oracle.reset()
    found = {}
    for c in asked:
        found[tuple(c)] = oracle.argmin(c).dense(c).tolist()
        if certify:
            oracle.minimum(-c)
    return dict(sorted(found.items()))


def test_answers_do_not_depend_on_earlier_ones() -> None:
    first = answers(tied(), costs(30))
    assert answers(tied(), costs(30)) == first
    assert answers(tied(), costs(30)[::-1]) == first
    assert answers(Warm(*CROSS), costs(30)) == answers(Warm(*CROSS), costs(30))
    assert answers(Warm(*CROSS), costs(30)[::-1]) != answers(Warm(*CROSS), costs(30))


def test_certificates_do_not_disturb_answers() -> None:
    for kind in (Polytope, Warm):
        assert answers(kind(*CROSS), costs(30), certify=True) == answers(kind(*CROSS), costs(30))
    disturbed = answers(OneBasis(*CROSS), costs(30), certify=True)
    assert disturbed != answers(OneBasis(*CROSS), costs(30))


@pytest.mark.parametrize("oracle", [tied(), CurSet((2, 3), 1.0)], ids=repr)
def test_runs_repeat_whatever_happened_before(oracle: LinearMinOracle) -> None:
    X, y = data(6)
    problem = Problem(np.sign(X), np.sign(y), LeastSquares(), oracle)

    def last(marks: list[int]) -> list[float]:
        *_, state = iterate(problem, batch=6, tol=0.0, max_iterations=40, record_at=marks)
        return state.s.tolist()

    first = last([40])
    for c in costs(10):
        problem.oracle.argmin(c)
        problem.oracle.minimum(-c)
    assert last([40]) == first
    assert last(list(range(1, 41))) == first  # certificates do not disturb the iterates


def test_highs_is_asked_for_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(ImportError, match=r"package highspy, which is not installed; expected it"):
        Polytope(simplex_of_planes(), [0, 0, 0, 6])


def test_a_solver_without_an_answer_says_so() -> None:
    programme = Programme(
        np.ones((1, 1)), np.array([2.0]), np.array([3.0]), *np.array([[0.0], [1.0]])
    )
    with pytest.raises(
        RuntimeError, match="HiGHS ended with status 'Infeasible' instead of an opt"
    ):
        programme.solve(np.ones(1))


# ---- CVXPY's bound, fractions --------------------------------------------------------------------


def test_minima_of_cvxpy_are_never_above_the_truth() -> None:
    disc = CvxpyOracle(lambda b: (0, [cp.norm2(b) <= 2]), 3)
    for c in (
        np.random.default_rng(0).standard_normal((40, 3)) * 10.0 ** np.arange(-20, 20)[:, None]
    ):
        exact = -2 * np.linalg.norm(c)
        assert exact * (1 + 1e-8) <= disc.minimum(c) <= exact * (1 - 1e-15)


A = np.array([[1.0, -1.0, 0.5, 0.0], [0.5, 0.0, -1.0, 2.0]])


def image(b: Any) -> Any:
    z = cp.Variable(4)
    return 0, [b == A @ z, z >= 0, cp.sum(z) == 1]


def two_largest(b: Any) -> Any:
    t, u = cp.Variable(), cp.Variable(3)
    return 0, [2 * t + cp.sum(u) <= 1.5, u >= b - t, u >= -b - t, u >= 0]


def atomic(b: Any) -> Any:
    z = cp.Variable(4)
    return cp.sum(z), [b == A @ z, z >= 0, cp.sum(z) <= 1]


def test_the_image_of_a_polytope_by_auxiliary_variables() -> None:
    """Its vertices are the columns of A; a point on an edge is inside, 1 % further it is not."""
    oracle, hull = CvxpyOracle(image, 2), Hull(A.T)
    for c in np.random.default_rng(0).standard_normal((4, 2)):
        assert hull.minimum(c) - 1e-8 <= oracle.minimum(c) <= hull.minimum(c)
        np.testing.assert_allclose(oracle.argmin(c).vector, hull.argmin(c).vector, atol=1e-8)
    edge = (A[:, 0] + A[:, 3]) / 2
    assert oracle.violation(edge) == 0
    assert oracle.violation(edge * 1.01) > 1e-4
    X, y = data(2)
    task = Problem(X, y, LeastSquares(), oracle)
    found, wanted = solve(task, tol=1e-6), truth.solve(Problem(X, y, LeastSquares(), hull)).primal
    assert found.success
    assert found.primal == pytest.approx(wanted, abs=2e-6)
    assert truth.solve(task).primal == pytest.approx(wanted, abs=1e-7)


def test_membership_by_auxiliary_variables_is_the_formula() -> None:
    """The sum of the two largest |β_k| is at most 1.5: by sorting, without any variable."""
    oracle = CvxpyOracle(two_largest, 3)
    for b in np.random.default_rng(1).standard_normal((6, 3)):
        b *= 1.5 / np.sort(abs(b))[-2:].sum()
        assert oracle.violation(b) == oracle.violation(0.99 * b) == 0
        assert oracle.violation(1.01 * b) == pytest.approx(0.015 / 2 / 1.5, rel=1e-5)


def test_values_over_auxiliary_variables_are_refused() -> None:
    with pytest.raises(ValueError, match="which has variables beside β; expected them in the con"):
        CvxpyOracle(atomic, 2)


def test_a_penalty_on_an_image() -> None:
    """R(β) = ‖β‖₁ on the image: its value is that of β, and its minimum below that at points."""
    oracle = CvxpyOracle(lambda b: (cp.norm1(b), image(b)[1]), 2)
    edge, c = (A[:, 0] + A[:, 3]) / 2, np.array([-3.0, 0.5])
    assert oracle.value(edge) == abs(edge).sum()
    assert oracle.value(1.01 * edge) == np.inf
    assert oracle.minimum(c) <= min(c @ v + abs(v).sum() for v in A.T)


def exactly(*rows: Any) -> np.ndarray:
    return np.array([[F(entry) for entry in row] for row in rows], dtype=object)


@pytest.mark.parametrize(
    "oracle",
    [
        Hull(exactly((1, 0, F(1, 3), 0), (0, F(2, 7), 0, 1), (-1, -1, 0, 0))),
        Hull([[1, 0, 0, 0], [0, 1, 0, 1]]),
        FlowPolytope([(0, 1), (1, 3), (0, 2), (2, 3)], 0, 3),
        FlowPolytope([(0, 1), (1, 3), (0, 2), (2, 3)], 0, 3, F(2, 3)),
    ],
    ids=repr,
)
def test_runs_in_fractions(oracle: LinearMinOracle) -> None:
    X = exactly((1, 2, 1, 0), (0, 1, F(1, 2), 3))
    problem = Problem(X, [1, 2], LeastSquares(), oracle)
    result = solve(problem, batch=2, tol=0, max_iterations=6)
    assert all(isinstance(entry, Fraction) for entry in result.beta)
    assert isinstance(result.gap, Fraction)
    assert result.gap == result.primal - result.dual >= 0
    c = exactly((3, -1, F(1, 5), 2))[0]
    atom = problem.oracle.argmin(c).dense(c)
    assert c @ atom == problem.oracle.minimum(c)


def test_descriptions() -> None:
    wanted = "indicator of a polytope with 9 inequalities and 0 equations"
    assert POLYTOPES["polytope"][0].describe() == wanted
    assert "CVXPY, in 2 variables" in POLYTOPES["cvxpy penalty"][0].describe()
    assert POLYTOPES["flow"][0].describe() == "indicator of flows of size 2.5 from node 0 to node 7"
    losses = SampleLosses(LeastSquares(), np.zeros(1))
    for oracle, p, _ in POLYTOPES.values():
        assert oracle.bind(as_rows(np.ones((1, p))), losses).describe()


def test_a_cvxpy_oracle_can_be_copied() -> None:
    oracle = POLYTOPES["cvxpy disc"][0]
    c = np.array([1.0, -2.0])
    again = copy.deepcopy(oracle)
    assert again is not oracle
    oracle.minimum(-c)
    assert again.minimum(c) == pytest.approx(oracle.minimum(c), abs=1e-9)

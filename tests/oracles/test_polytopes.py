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
from planted import planted
from small_problems import regression as data

from rcmd import LeastSquares, LinearMinOracle, Problem, iterate, solve
from rcmd.conjugates import SampleLosses
from rcmd.model import truth
from rcmd.oracles import DenseAtom, SparseAtom
from rcmd.oracles.combinatorial import Birkhoff, FlowPolytope
from rcmd.oracles.cur import CurSet, Splitting
from rcmd.oracles.cvxpy_oracle import CvxpyOracle
from rcmd.oracles.hull import Hull
from rcmd.oracles.linear_programmes import ARGMIN, Programme
from rcmd.oracles.polytope import Polytope
from rcmd.rows import as_rows
from rcmd.testing import check_oracle, inspect_oracle

F = Fraction
DIAMONDS = [(0, 1), (0, 2), (1, 3), (2, 3), (1, 2), (3, 4), (3, 5), (4, 5), (6, 5), (5, 7)]
POINTS = np.random.default_rng(7).standard_normal((9, 4))
NORMALS = np.random.default_rng(5).standard_normal((9, 3))


def simplex_of_planes() -> np.ndarray:
    return np.array([[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 2.0, 3.0]])


# The oracle, its number of variables, and its vertices by brute force where there are any.
def by_corners(A: Any, b: Any, lower: float, upper: float) -> np.ndarray:
    """All vertices of {Aβ ≤ b, lower ≤ β ≤ upper}: p active constraints that meet inside."""
    p = np.shape(A)[1]
    A = np.vstack([A, np.eye(p), -np.eye(p)])
    b = np.concatenate([b, np.full(p, upper), np.full(p, -lower)])
    corners = []
    for active in itertools.combinations(range(len(A)), p):
        square = A[list(active)]
        if abs(np.linalg.det(square)) > 1e-9:
            corner = np.linalg.solve(square, b[list(active)])
            if (A @ corner <= b + 1e-9).all():
                corners.append(corner)
    return np.array(corners)


def by_permutations(order: int) -> np.ndarray:
    return np.array([np.eye(order)[list(q)].ravel() for q in itertools.permutations(range(order))])


def by_paths(edges: list[tuple[int, int]], source: int, sink: int, flow: float) -> np.ndarray:
    paths, found = [[source]], []
    while paths:
        path = paths.pop()
        if path[-1] == sink:
            found.append([flow * ((a, b) in itertools.pairwise(path)) for a, b in edges])
        paths += [[*path, b] for a, b in edges if a == path[-1]]
    return np.array(found)


CASES: dict[str, tuple[LinearMinOracle, int, np.ndarray | None]] = {
    "birkhoff": (Birkhoff(3), 9, by_permutations(3)),
    "birkhoff of one": (Birkhoff(1), 1, by_permutations(1)),
    "hull": (Hull(POINTS), 4, POINTS),
    "hull with inner and double points": (
        Hull(np.vstack([POINTS[:5], POINTS[:2], POINTS[:5].mean(axis=0)])),
        4,
        POINTS[:5],
    ),
    "hull of a segment": (Hull([[1, 0, 2], [0, 3, 1]]), 3, np.array([[1, 0, 2], [0, 3, 1.0]])),
    "polytope": (
        Polytope(NORMALS, np.ones(9), lower=-2.0, upper=2.0),
        3,
        by_corners(NORMALS, np.ones(9), -2.0, 2.0),
    ),
    "polytope, open": (
        Polytope(simplex_of_planes(), [0, 0, 0, 6]),
        3,
        np.array([[0, 0, 0], [6, 0, 0], [0, 3, 0], [0, 0, 2.0]]),
    ),
    "polytope, half open and sparse": (
        Polytope(sp.csr_array([[1.0, 2.0, 3.0]]), [6], lower=0.0),
        3,
        np.array([[0, 0, 0], [6, 0, 0], [0, 3, 0], [0, 0, 2.0]]),
    ),
    "polytope with an equation": (
        Polytope([[-1.0, 0, 0], [0, -1.0, 0]], [0, 0], [[1.0, 1, 1]], [1.5], lower=[-9, -9, 0]),
        3,
        1.5 * np.eye(3),
    ),
    "polytope of another size": (
        Polytope(1e3 * simplex_of_planes(), [0, 0, 0, 6e8]),
        3,
        np.array([[0, 0, 0], [6e5, 0, 0], [0, 3e5, 0], [0, 0, 2e5]]),
    ),
    "flow": (FlowPolytope(DIAMONDS, 0, 7, 2.5), 10, by_paths(DIAMONDS, 0, 7, 2.5)),
    "cur": (CurSet((2, 3), 1.5), 6, None),
    "cvxpy disc": (CvxpyOracle(lambda b: (0, [cp.norm2(b) <= 2, b >= 0]), 2), 2, None),
    "cvxpy slice": (CvxpyOracle(lambda b: (0, [cp.norm2(b) <= 2, cp.sum(b) == 0.5]), 3), 3, None),
    "cvxpy penalty": (
        CvxpyOracle(lambda b: (cp.norm1(b) + 0.3 * cp.sum_squares(b), [cp.norm_inf(b) <= 1.5]), 2),
        2,
        None,
    ),
    "cvxpy entropy": (
        CvxpyOracle(lambda b: (-cp.sum(cp.entr(b)), [b >= 0, cp.sum(b) == 1]), 3),
        3,
        None,
    ),
}  # fmt: skip
VERTICES = {name: (oracle, p, v) for name, (oracle, p, v) in CASES.items() if v is not None}


# ---- the contract, ground truth, brute force ----------------------------------------------------


# Not entropy: near a vertex, CLARABEL's exponential cones leave atoms 1e-7 from optimal.
@pytest.mark.parametrize("name", [name for name in CASES if name != "cvxpy entropy"])
def test_the_contract_holds(name: str) -> None:
    oracle, p, _ = CASES[name]
    assert check_oracle(oracle, p).ok


@pytest.mark.parametrize("name", CASES)
def test_minima_agree_with_cvxpy(name: str) -> None:
    oracle, p, vertices = CASES[name]
    rng = np.random.default_rng(11)
    size = 1 if vertices is None else abs(vertices).max()
    for c in rng.standard_normal((50, p)):
        expected = truth.linear_minimum(oracle, c)
        assert abs(oracle.minimum(c) - expected) <= 1e-7 * (1 + size), c


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


@pytest.mark.parametrize("name", CASES)
def test_certificates_hold(name: str) -> None:
    oracle, p, _ = CASES[name]
    X, y = data(p)
    problem = Problem(X, y, LeastSquares(), oracle)
    result = solve(problem, batch=6, tol=1e-6, max_iterations=120)
    optimum = truth.solve(problem)
    size = 1 + abs(optimum.primal)
    assert result.primal - optimum.primal >= -1e-9 * size
    assert result.gap >= result.primal - optimum.primal - 1e-9 * size
    assert result.dual <= optimum.primal + 1e-9 * size
    assert math.isfinite(result.gap)


class Flipped(Splitting):
    """Multipliers of the wrong sign."""

    def _read(self, found: Any) -> Any:
        found.row_dual = [-y for y in found.row_dual]
        return super()._read(found)


class OnFlipped(CurSet):
    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "programme", Flipped(*self.shape))


def transposed(self: Birkhoff, c: Any) -> SparseAtom:
    columns = np.array(Birkhoff(3).argmin(c).indices) % 3
    return SparseAtom(tuple((columns * 3 + np.arange(3)).tolist()), (1.0,) * 3)


def leaking(self: FlowPolytope, c: Any) -> SparseAtom:
    path = FlowPolytope.argmin(self, c)
    return SparseAtom(path.indices[1:], path.values[1:])


def own_row(self: CurSet, c: Any) -> DenseAtom:
    t = self.programme.vertex(c)[: self.shape[0]]
    return DenseAtom(-np.sign(c) * self.radius * np.repeat(t, self.shape[1]))


def one_norm(self: CurSet, beta: Any) -> Any:
    sizes = abs(beta.reshape(self.shape)).max(axis=1).sum()
    return max(sizes - 0.8 * self.radius, 0) / self.radius


CUR, FLOW, PLANES = ((2, 3), 1.5), (DIAMONDS, 0, 7), (simplex_of_planes(), [0, 0, 0, 6])
PLANTED: dict[str, tuple[LinearMinOracle, int]] = {
    "wrong sign": (planted(Birkhoff, 3, argmin=lambda self, c: Birkhoff(3).argmin(-c)), 9),
    "transposed": (planted(Birkhoff, 3, argmin=transposed), 9),
    "last only": (planted(Hull, POINTS, minimum=lambda self, c: (POINTS[1:] @ c).min()), 4),
    "no membership": (planted(Hull, POINTS, violation=lambda self, beta: 0.0), 4),
    "longest path": (
        planted(FlowPolytope, *FLOW, argmin=lambda self, c: FlowPolytope.argmin(self, -c)),
        10,
    ),
    "leaking": (planted(FlowPolytope, *FLOW, argmin=leaking), 10),
    "halved": (
        planted(Polytope, *PLANES, minimum=lambda self, c: Polytope.minimum(self, c) / 2),
        3,
    ),
    "small range": (
        planted(
            Polytope,
            *PLANES,
            prediction_range=lambda self, rows: (
                0.9 * np.array(Polytope.prediction_range(self, rows))
            ),
        ),
        3,
    ),
    "one norm": (planted(CurSet, *CUR, violation=one_norm), 6),
    "positive only": (
        planted(CurSet, *CUR, argmin=lambda self, c: DenseAtom(abs(CurSet.argmin(self, c).vector))),
        6,
    ),
    "own row": (planted(CurSet, *CUR, argmin=own_row), 6),
    "overdrawn": (planted(CurSet, *CUR, _share=lambda self, c: 1.5 * CurSet._share(self, c)), 6),
    "other side": (
        planted(CurSet, *CUR, _share=lambda self, c: abs(c).reshape(2, 3) - CurSet._share(self, c)),
        6,
    ),
    "flipped": (OnFlipped(*CUR), 6),
}


@pytest.mark.parametrize("name", PLANTED)
def test_the_contract_fails_on(name: str) -> None:
    assert not inspect_oracle(*PLANTED[name]).ok


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
    assert len(CASES["flow"][0].argmin(np.zeros(10)).indices) <= 5


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
    problem = Problem(X, y, LeastSquares(), CASES["polytope"][0])
    optimum = truth.solve(problem)
    honest, rng = Programme.solve, np.random.default_rng(0)

    def careless(self: Programme, c: Any, *asker: str) -> Any:
        vertex, multipliers = honest(self, c, *asker)
        return vertex, signed(self, multipliers + size * rng.standard_normal(len(multipliers)))

    monkeypatch.setattr(Programme, "solve", careless)
    slope = problem.gradient(optimum.w)
    beta = problem.oracle.argmin(slope).vector
    for _ in range(20):
        assert problem.dual(optimum.w) <= optimum.primal + 1e-9
        assert problem.oracle.fenchel_young(beta, slope) >= 0
        assert problem.oracle.minimum(slope) <= truth.linear_minimum(problem.oracle, slope) + 1e-9


def test_a_bound_without_its_residual_would_be_wrong() -> None:
    programme, c = random_programme(0)
    _, y = programme.solve(c)
    wrong = signed(programme, y - 0.5 * np.sign(y))
    rows = np.where(wrong > 0, programme.row_lower, programme.row_upper)
    trusting = float(wrong[wrong != 0] @ rows[wrong != 0])
    assert trusting > lowest(programme, c) + 1e-3
    assert programme.bound(c, wrong) <= lowest(programme, c) + 1e-7


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
    with pytest.raises(ImportError, match=r"need HiGHS, which is not installed; install the pack"):
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


# ---- refusals -----------------------------------------------------------------------------------

NAN = float("nan")
REFUSED: list[tuple[Any, type[Exception], str]] = [
    (lambda: Birkhoff(0), ValueError, "order of Birkhoff is 0; expected a positive whole number"),
    (lambda: Birkhoff(2.5), ValueError, r"order of Birkhoff is 2\.5; expected"),
    (lambda: Birkhoff(True), ValueError, "order of Birkhoff is True; expected"),
    (lambda: Hull([1.0, 2.0]), ValueError, r"vertices of Hull has shape \(2,\); expected a matrix"),
    (lambda: Hull([[1.0, NAN]]), ValueError, r"vertices of Hull holds nan at position \(0, 1\)"),
    (lambda: Polytope([1.0], [1.0]), ValueError, r"A of Polytope has shape \(1,\); expected"),
    (lambda: Polytope([[NAN]], [1.0]), ValueError, "A of Polytope holds nan"),
    (lambda: Polytope(sp.csr_array([[NAN]]), [1.0]), ValueError, "A of Polytope holds nan"),
    (lambda: Polytope([[1.0]], [1.0, 2.0]), ValueError, r"b of Polytope has shape \(2,\)"),
    (lambda: Polytope([[1.0]], [np.inf]), ValueError, "b of Polytope holds inf"),
    (lambda: Polytope([[1.0]], [1.0], [[1.0]]), ValueError, "A_equal and b_equal of Polytope bel"),
    (
        lambda: Polytope([[1.0]], [1.0], [[1.0, 2.0]], [0.0]),
        ValueError,
        "A_equal of Polytope has 2 columns and A has 1",
    ),
    (lambda: Polytope([[1.0]], [1.0], lower=[0, 0]), ValueError, r"lower of Polytope is \[0, 0\]"),
    (lambda: Polytope([[1.0]], [1.0], upper=-np.inf), ValueError, "upper of Polytope is -inf; exp"),
    (lambda: Polytope([[1.0]], [1.0], lower=2, upper=1), ValueError, "lower of Polytope exceeds"),
    (lambda: Polytope([[1.0, 0.0]], [1.0]), ValueError, r"unbounded: β\[0\] can be below"),
    (lambda: Polytope([[1.0]], [1.0], lower=2), ValueError, "contradict each other, so that dom R"),
    (lambda: FlowPolytope([], 0, 1), ValueError, "edges of FlowPolytope has shape"),
    (lambda: FlowPolytope([(0, -1)], 0, 1), ValueError, "expected at least one pair"),
    (lambda: FlowPolytope([(0, 1), (1, 0)], 0, 1), ValueError, "hold a cycle, on the way into no"),
    (lambda: FlowPolytope([(0, 1), (2, 3)], 0, 3), ValueError, "no path from source 0 to sink 3"),
    (lambda: FlowPolytope([(0, 1)], 0, 0), ValueError, "no path from source 0 to sink 0"),
    (lambda: FlowPolytope([(0, 1)], 0, 2), ValueError, "sink of FlowPolytope is 2; expected one"),
    (lambda: FlowPolytope([(0, 1)], 0, 1, -1), ValueError, "flow of FlowPolytope is -1; expected"),
    (lambda: CurSet((2,), 1.0), ValueError, r"shape of CurSet is \(2,\); expected 2 positive"),
    (lambda: CurSet((2, 0), 1.0), ValueError, r"shape of CurSet is \(2, 0\); expected 2"),
    (lambda: CurSet((2, 2), 0.0), ValueError, r"radius of CurSet is 0\.0; expected a positive"),
    (lambda: CvxpyOracle(3, 2), TypeError, "form of CvxpyOracle is 3; expected a function"),
    (lambda: CvxpyOracle(lambda b: 0, 2), TypeError, "form of CvxpyOracle returned 0; expected"),
    (lambda: CvxpyOracle(lambda b: (0, [b >= 0]), 0), ValueError, "p of CvxpyOracle is 0; exp"),
    (lambda: CvxpyOracle(lambda b: (0, [b >= 0]), 1), ValueError, r"unbounded: β\[0\] can be"),
    (lambda: CvxpyOracle(lambda b: (0, [b >= 1, b <= 0]), 1), ValueError, "contradict each other"),
    (
        lambda: CvxpyOracle(lambda b: (0, [cp.norm2(b) >= 1]), 1),
        ValueError,
        "no convex problem by CVXPY's rules.*; expected a convex expression",
    ),
    (
        lambda: CvxpyOracle(lambda b: (0, [b <= cp.Variable(), b >= 0]), 1),
        ValueError,
        "uses 1 variable\\(s\\) of its own",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("make", "kind", "words"), REFUSED, ids=[row[2][:50] for row in REFUSED])
def test_refusals(make: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        make()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("birkhoff", "order of Birkhoff is 3, 9 entries; expected p = 2, one"),
        ("hull", "vertices of Hull has 4 columns; expected p = 2"),
        ("polytope", "A of Polytope has 3 columns; expected p = 2"),
        ("flow", "edges of FlowPolytope holds 10 edges; expected p = 2"),
        ("cur", r"shape of CurSet is \(2, 3\), 6 entries; expected p = 2, one"),
        ("cvxpy slice", "p of CvxpyOracle is 3; expected p = 2, one"),
    ],
)
def test_sizes_are_checked_against_the_data(name: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Problem(np.eye(2), np.ones(2), LeastSquares(), CASES[name][0])


@pytest.mark.parametrize(
    ("oracle", "p"),
    [
        (Birkhoff(1), 1),
        (Polytope([[1.0]], [1.0], lower=0), 1),
        (CurSet((1, 1), F(1)), 1),
        (CvxpyOracle(lambda b: (0, [b >= 0, b <= 1]), 1), 1),
    ],
    ids=repr,
)
def test_floats_are_refused_beside_fractions(oracle: LinearMinOracle, p: int) -> None:
    with pytest.raises(ValueError, match=f"{type(oracle).__name__} computes with floats while X"):
        Problem(np.full((1, p), F(1)), [F(1)], LeastSquares(), oracle)


def test_descriptions() -> None:
    wanted = "indicator of a polytope with 9 inequalities and 0 equations"
    assert CASES["polytope"][0].describe() == wanted
    assert "CVXPY, in 2 variables" in CASES["cvxpy penalty"][0].describe()
    assert CASES["flow"][0].describe() == "indicator of flows of size 2.5 from node 0 to node 7"
    losses = SampleLosses(LeastSquares(), np.zeros(1))
    for oracle, p, _ in CASES.values():
        assert oracle.bind(as_rows(np.ones((1, p))), losses).describe()


def test_a_cvxpy_oracle_can_be_copied() -> None:
    oracle = CASES["cvxpy disc"][0]
    c = np.array([1.0, -2.0])
    again = copy.deepcopy(oracle)
    assert again is not oracle
    oracle.minimum(-c)
    assert again.minimum(c) == pytest.approx(oracle.minimum(c), abs=1e-9)

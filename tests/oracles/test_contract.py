"""What every oracle keeps: its contract, CVXPY's minima and domain, and no memory beyond reset."""
# ruff: noqa: F403, F405 (all oracles are meant)

import contextlib
import copy
import math
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from oracle_cases import CASES, VECTORS, bound, members, slopes
from small_problems import regression

import rcmd.oracles
from rcmd import LeastSquares, Logistic, Problem, certify, solve, truth
from rcmd.oracles import *
from rcmd.testing import check_oracle


# Not those whose forms have variables of their own.
@pytest.mark.parametrize(
    "name", [n for n in CASES if not n.startswith(("ellipsoid", "hull", "k-support", "lp"))]
)
def test_points_belong_where_cvxpys_constraints_hold(name: str) -> None:
    """Within rounding, and where one variable is 1 % off, or two whose sum is kept."""
    oracle, points = bound(name), members(name)
    beta = cp.Variable(CASES[name][1])
    inside = oracle.cvxpy_form(beta)[1]
    size, unit = abs(points).max(), np.eye(beta.size)
    rounding = 1e-12 * min(size, 1.0)
    steps = [*unit, *(unit[0] - unit[1:])]
    outside = 0
    for point in (points[0], points[-1]):
        assert oracle.value(point) < math.inf
        for step in 0.01 * size * np.array([*steps, *np.negative(steps)]):
            beta.value = point + step
            missed = max(float(np.max(constraint.violation())) for constraint in inside)
            if missed > 1e6 * rounding:
                outside += 1
                assert oracle.violation(beta.value) > 1e-8
                assert oracle.value(beta.value) == math.inf
            elif missed < rounding:
                assert oracle.value(beta.value) < math.inf
    assert outside
    with contextlib.suppress(ValueError):  # as CVXPY and decompositions say of NaN
        assert oracle.value(np.full(beta.size, np.nan)) == math.inf


@pytest.mark.parametrize("name", CASES)
def test_atoms_for_corrections(name: str) -> None:
    """The best one first, none outside; a point is a combination of those it is made of."""
    oracle, p = bound(name), CASES[name][1]
    zero = np.zeros(p)
    for c in slopes(12, p):
        offered = [atom.dense(zero) for atom in oracle.best_atoms(c, 3)]
        assert 1 <= len(offered) <= 4  # and 0
        values = np.array([c @ beta + oracle.penalty(beta) for beta in offered])
        room = 1e-6 * (1 + abs(oracle.minimum(c)))
        assert values[0] <= oracle.minimum(c) + room
        assert (np.diff(values) >= -room).all()
        assert all(oracle.violation(beta) <= 1e-10 for beta in offered)
    for beta in members(name)[::6]:
        parts = oracle.decompose(beta)
        assert all(weight >= 0 for weight, _ in parts)
        assert sum(weight for weight, _ in parts) == pytest.approx(1, rel=1e-9)
        assert all(oracle.violation(atom.dense(zero)) <= 1e-10 for _, atom in parts)
        total = sum(weight * atom.dense(zero) for weight, atom in parts)
        np.testing.assert_allclose(total, beta, atol=1e-9 * abs(beta).max())


@pytest.mark.parametrize("name", VECTORS)
def test_answers_have_memory_of_their_own(name: str) -> None:
    oracle, (c, other) = VECTORS[name], slopes()[:2]
    before = c.copy()
    first = oracle.argmin(c)
    vector = first.dense(c)
    oracle.argmin(other)
    oracle.minimum(c)
    np.testing.assert_array_equal(c, before)
    np.testing.assert_array_equal(first.dense(c), vector)


# ---- what calls leave behind --------------------------------------------------------------------


def polytope(p: int) -> Polytope:
    sides = np.random.default_rng(5).standard_normal((25, p))
    return Polytope(sides, np.ones(25), lower=-3.0, upper=3.0)


STATEFUL: dict[str, Callable[[], Any]] = {
    "counting": lambda: Counting(L1Ball(2.0)),
    "lazy": lambda: Caching(L1Ball(2.0), 0.5),
    "polytope": lambda: polytope(6),
    "cur": lambda: CurSet((2, 3), 1.5),
    "nuclear": lambda: NuclearBall((2, 3), 2.0),
    "nuclear penalty": lambda: NuclearPenalty(0.7, (2, 3), 2.0),
    "spectrahedron": lambda: Spectrahedron(3, 2.0),
    "scaled": lambda: Scaled(Translated(Counting(Ridge(0.4, 2.0)), np.ones(6)), 2.0),
    "product": lambda: Product((Counting(L1Ball(2.0)), polytope(3)), (3, 3)),
    "lazy product": lambda: Caching(
        Product((Caching(Simplex(1.5), 0.5), Counting(L1Ball(2.0))), (2, 4)), 0.5
    ),
}
ASKED = [("argmin",), ("minimum",), ("argmin", "minimum", "fenchel_young")]


def plain(state: Any) -> Any:
    """A state in lists and numbers, which can be compared."""
    if isinstance(state, dict):
        return sorted((key, plain(value)) for key, value in state.items())
    if isinstance(state, list | tuple):
        return [plain(part) for part in state]
    if isinstance(state, SparseAtom | DenseAtom):
        return plain([*vars(state).values()])
    return state.tolist() if isinstance(state, np.ndarray) else state


def ask(oracle: Any, seed: int, asked: tuple[str, ...] = ASKED[-1]) -> list[Any]:
    """What an oracle answers to some costs, each near the one before, and its state then."""
    p = oracle.declared_size() or 6
    rng, answers, beta = np.random.default_rng(seed), [], np.full(p, 0.1)
    for c in np.cumsum(rng.standard_normal((20, p)), axis=0):
        for name in asked:
            found = getattr(oracle, name)(*([beta, c] if name == "fenchel_young" else [c]))
            answers.append(found.dense(c).tolist() if name == "argmin" else found)
    return [*answers, plain(oracle.state())]


def test_every_oracle_that_remembers_is_among_them() -> None:
    held = " ".join(repr(make()) for make in STATEFUL.values())
    for name, kind in vars(rcmd.oracles).items():
        if getattr(kind, "load_state", None) not in (None, LinearMinOracle.load_state):
            assert f"{name}(" in held


@pytest.mark.parametrize("name", STATEFUL)
def test_after_a_reset_an_oracle_is_a_fresh_one(name: str) -> None:
    oracle, fresh = STATEFUL[name](), STATEFUL[name]()
    ask(oracle, 0)
    assert plain(oracle.state()) != plain(fresh.state())
    oracle.reset()
    assert plain(oracle.state()) == plain(fresh.state())
    assert ask(oracle, 1) == ask(fresh, 1)


@pytest.mark.parametrize("asked", ASKED, ids=" ".join)
@pytest.mark.parametrize("name", STATEFUL)
def test_a_loaded_state_is_all_there_is(name: str, asked: tuple[str, ...]) -> None:
    """Whatever the other oracle had; and none of it is shared."""
    oracle, other = STATEFUL[name](), STATEFUL[name]()
    ask(oracle, 0, asked)
    ask(other, 1)
    state = oracle.state()
    before = plain(state)
    other.load_state(state)
    assert plain(other.state()) == before
    onwards = ask(other, 2)
    assert plain(oracle.state()) == before == plain(state)
    assert ask(oracle, 2) == onwards


@pytest.mark.parametrize("name", STATEFUL)
def test_a_copy_leaves_its_original_alone(name: str) -> None:
    oracle = STATEFUL[name]()
    ask(oracle, 0)
    before = plain(oracle.state())
    ask(copy.deepcopy(oracle), 1)
    assert plain(oracle.state()) == before


# ---- the contract, minima, certificates ---------------------------------------------------------


# Each of their gaps is a linear or a conic programme: one hull and two others are enough.
LONG = "hull", "hull of a segment", "cvxpy disc", "cvxpy entropy"


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in CASES]
)
def test_the_contract_holds(name: str) -> None:
    check_oracle(*CASES[name])


def test_a_single_point_keeps_the_contract() -> None:
    check_oracle(CappedSimplex(1.0, 0.2), 5)  # its rounded width is not zero


@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
@pytest.mark.parametrize("name", CASES)
def test_minima_agree_with_cvxpy(name: str) -> None:
    oracle, p = bound(name), CASES[name][1]
    beta, costs = cp.Variable(p), cp.Parameter(p)
    penalty, inside = oracle.cvxpy_form(beta)
    programme = cp.Problem(cp.Minimize(costs @ beta + penalty), inside)
    size = 1 + abs(members(name)).max()
    for c in slopes(20, p):
        costs.value = c
        expected = programme.solve(
            solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10
        )
        assert abs(oracle.minimum(c) - expected) <= 1e-7 * size * (1 + abs(c).sum()), c


def check_certificate(problem: Problem) -> None:
    result = solve(problem, batch=3, tol=1e-6, max_iterations=120)
    optimum = truth.solve(problem)
    room = 1e-9 * (1 + abs(optimum.primal))
    assert result.primal - optimum.primal >= -room
    assert result.gap >= result.primal - optimum.primal - room
    assert result.dual <= optimum.primal + room
    start = problem.oracle.argmin(np.zeros(problem.p)).dense(np.zeros(problem.p))
    assert result.gap <= certify(problem, start, result.w).gap


@pytest.mark.parametrize("name", CASES)
def test_certificates_hold(name: str) -> None:
    """With one loss or the other, in turn."""
    oracle, p = CASES[name]
    X, y = regression(p)
    turn = [*CASES].index(name) % 2
    check_certificate(Problem(X, [y, np.sign(y)][turn], [LeastSquares(), Logistic()][turn], oracle))


# Where a number is wrong, by 1 %.

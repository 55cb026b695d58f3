"""``rcmd.verify``: its tables against the definitions, and results against its enclosures."""

import json
import math
import sys
from dataclasses import replace
from fractions import Fraction
from itertools import cycle, product
from random import Random

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from flint import arb, ctx
from planted import planted
from scipy.sparse.linalg import aslinearoperator

from rcmd import (
    RCMD,
    BilinearRows,
    Box,
    Corrected,
    CurSet,
    CvxpyOracle,
    Expectile,
    Huber,
    L1Ball,
    LeastSquares,
    Logistic,
    LowRank,
    MatrixEntries,
    NuclearBall,
    Polytope,
    Problem,
    Result,
    Ridge,
    SeparableConjugate,
    Simplex,
    certify,
    load_result,
    solve,
    verify,
)
from rcmd.cli.main import main
from rcmd.conjugates.base import has_curvature_bound
from rcmd.conjugates.expressions.language import NAMES
from rcmd.datasets import make_classification, make_regression
from rcmd.model.specs import LOSSES, ORACLES
from rcmd.oracles.linear_programmes import Programme
from rcmd.testing.enclosure import expressions, losses, oracles
from rcmd.testing.enclosure.balls import balls, inner, outward
from rcmd.testing.fuzzing import Case
from rcmd.testing.fuzzing.cases import Draw, _features, _labels, _tamed

NO_FORMULAS = {"cvxpy"}
REFERENCE = RCMD(engine="reference")  # nothing is compiled, and no proof knows the engine
CORRECTED = Corrected(REFERENCE)
PAIRS = [*product(LOSSES, sorted(ORACLES.keys() - NO_FORMULAS))]
SHORT = [*zip(cycle(LOSSES), sorted(ORACLES.keys() - NO_FORMULAS), strict=False)]


def random_problem(loss, oracle, seed):
    """A problem of these classes for four variables, and options for a run."""
    draw = Draw(Random(f"{loss} {oracle} {seed}"))
    part, n = LOSSES[loss].makes.example(draw), draw.whole(1, 12)
    X = _features(n, 4, draw)
    weights = 10.0 ** draw.whole_numbers(-1, 2, n) if draw.chance(30) else None
    intercept = draw.magnitude() if draw.chance(20) else None
    whole = ORACLES[oracle].makes.example(Draw(draw.rng, 4))
    case = Case(X, _labels(part, X, draw), part, whole, weights, intercept)
    problem = (_tamed(case) if has_curvature_bound(type(part)) else case).problem()
    tol = 10.0 ** -draw.whole(1, 12)
    return problem, {"tol": tol, "batch": draw.whole(1, n), "max_iterations": 300}


def with_stated(result, share):
    """The result with a stated gap of this share."""
    pair = result.certificate
    gaps = {name: share * getattr(pair, name) for name in ("loss_gap", "regularizer_gap")}
    return replace(result, certificate=replace(pair, **gaps))


def with_pair(result, **parts):
    return replace(result, certificate=replace(result.certificate, **parts))


@pytest.fixture(autouse=True)
def precision():
    with ctx.workprec(128):
        yield


@pytest.fixture(scope="module")
def small():
    X, y = make_classification(n=30, p=6, rng=0)
    problem = Problem(X, y, Logistic(), L1Ball(2.0))
    return problem, solve(problem, tol=1e-2, method=REFERENCE)


# ---- the tables --------------------------------------------------------------------------------


def test_every_shipped_class_is_in_the_tables_or_refused():
    assert {spec.makes for spec in LOSSES.values()} == losses.TABLE.keys()
    shipped = {spec.makes for name, spec in ORACLES.items() if name not in NO_FORMULAS}
    assert shipped == oracles.TABLE.keys()
    assert sorted(NAMES) == sorted(expressions.FUNCTIONS)


def conjugate_fault(pair, y, s):
    """How far l*(w) is from ws − l(s) at w = l'(s), by differences over 2⁻²⁰⁰ of l alone."""
    with ctx.workprec(700):
        y, s, h = arb(y), arb(s), arb(2) ** -200
        slope = (pair.value(s + h, y) - pair.value(s - h, y)) / (2 * h)
        w, conjugate = pair.dual(slope, y)
        assert abs(w - slope) < 1e-15  # next to an end of dom l*, where w rounds to it
        return outward(abs(conjugate - w * s + pair.value(s, y)))[1]


@pytest.mark.parametrize("name", LOSSES)
def test_conjugates_of_the_table_are_conjugates(name):
    for seed in range(8):
        draw = Draw(Random(seed))
        loss = LOSSES[name].makes.example(draw)
        pair = losses.pair_of(loss)
        y = draw.rng.choice([-1.0, 1.0]) if loss.labels == "±1" else draw.magnitude()
        s = draw.rng.choice([-3.0, 1.0, 2.0]) * draw.magnitude()
        assert conjugate_fault(pair, y, s) < 1e-20
        w = loss.derivative(s, y)
        found, dual = loss.conjugate(w, y), pair.dual(arb(float(w)), arb(y))
        assert abs(float(dual[1]) - found) <= 1e-12 * (1 + abs(w * s) + abs(found))


@pytest.mark.parametrize("w", [1.0, 3.0, -0.05, -1.0])
def test_w_is_brought_to_the_very_end_of_the_domain(w):
    pair = losses.pair_of(LOSSES["quantile"].makes(0.05, 1.0))
    end = 1 - arb(0.05) if w > 0 else -arb(0.05)  # which is no double
    assert abs(pair.dual(arb(w), arb(0))[0] - end) < 1e-36


@pytest.mark.parametrize("name", sorted(ORACLES.keys() - NO_FORMULAS))
def test_conjugates_of_oracles_are_maxima_over_their_domains(name):
    for seed in range(3):
        problem, _ = random_problem("least-squares", name, seed)
        oracle, p = problem.oracle, problem.p
        entry, draw = oracles.regularizer_of(oracle), Draw(Random(seed))

        def value(c, v, entry=entry):
            return -inner(c, v) - entry.value(v)

        floats = draw.numbers(p)
        c = balls(floats)
        top = entry.conjugate(c)
        atoms = [oracle.argmin(draw.numbers(p)).dense(np.zeros(p)) for _ in range(3)]
        size = 1e-6 + float(abs(np.mean(atoms, axis=0)).max())
        for noise in (0.0, 1e-6, 0.1):
            v = entry.inside(balls(np.mean(atoms, axis=0) + noise * size * draw.numbers(p)))
            assert oracle.violation(np.array([float(x) for x in v])) <= 1e-12
            assert not value(c, v) > top
            apart = map(arb.__sub__, v, entry.inside(v))
            assert max(float(abs(x)) for x in apart) < 1e-12 * size
        atom = oracle.best_atoms(floats, 1)[0].dense(np.zeros(p))
        best = value(c, entry.inside(balls(atom)))
        scale = 1 + abs(float(top)) + float(abs(atom) @ abs(floats))
        assert abs(float(best - top)) <= 1e-9 * scale
        assert not best > top


def test_a_conjugate_that_is_1_percent_too_small_is_no_maximum():
    entry = oracles.regularizer_of(L1Ball(2.0))
    c = balls([3.0, -1.0])
    assert -inner(c, balls([-2.0, 0.0])) > entry.conjugate(c) * arb("0.99")


PLANES = -np.vstack([np.eye(3), [-1.0, -2, -3]]), [0, 0, 0, 6]
TWICE = [[1.0, 1, 1], [2.0, 2, 2]], [1.5, 3]
SIDES = {
    "open": (Polytope(*PLANES), [[0, 0, 0], [6, 0, 0], [0, 3, 0], [0, 0, 2]]),
    "half open": (
        Polytope(*PLANES, lower=[-1, -np.inf, 0], upper=[9, np.inf, 1]),
        [[0, 0, 0], [6, 0, 0], [0, 3, 0], [0, 0, 1], [3, 0, 1], [0, 1.5, 1]],
    ),
    "dependent equations": (Polytope([[1.0, 0, 0]], [9], *TWICE, lower=0), 1.5 * np.eye(3)),
    "fixed": (
        Polytope([[1.0, 1, 1]], [3], lower=[0, 0, 1], upper=[9, 9, 1]),
        [[0, 0, 1], [2, 0, 1], [0, 2, 1]],
    ),
}
"""Polytopes and their vertices."""


@pytest.mark.parametrize("share", [1.0, 0.99, 1.01])
@pytest.mark.parametrize("name", SIDES)
def test_minima_over_polytopes_hold_whatever_the_multipliers(name, share, monkeypatch):
    polytope, corners = SIDES[name]
    best, corners = Programme.solve, np.array(corners, dtype=float)

    def worse(self, c, *caller):
        x, y = best(self, c, *caller)
        return (x, y) if len(c) > 3 else (corners.mean(axis=0), share * y)

    entry, rng = oracles.regularizer_of(polytope), np.random.default_rng(0)
    monkeypatch.setattr(Programme, "solve", worse)
    for _ in range(20):
        c = rng.integers(-3, 4, 3)
        found, right = entry.conjugate(balls(c)), float(-(corners @ c).min())
        assert found.lower() <= right <= found.upper()
        assert found.upper() <= right + 1e-7 + 50 * abs(1 - share) * abs(c).sum()


@pytest.mark.parametrize("name", SIDES)
def test_points_beside_polytopes_are_moved_onto_them(name):
    polytope, corners = SIDES[name]
    entry, rng = oracles.regularizer_of(polytope), np.random.default_rng(0)
    for point in rng.dirichlet(np.ones(len(corners)), 5) @ np.array(corners, dtype=float):
        for moved in (0.0, 1e-9, 0.1):
            v = entry.inside(balls(point + moved * rng.normal(size=3)))
            assert polytope.violation(np.array([float(x) for x in v])) <= 1e-15
            assert (
                max(float(abs(a - b)) for a, b in zip(v, point, strict=True)) <= 1e-15 + 30 * moved
            )
            assert entry.inside(v) == v or max(float(x.rad()) for x in v) > 0


def test_polytopes_without_a_provable_point_are_refused():
    thirds = [[0.1, 0.2], [0.3, 0.6]], [0.15, 0.45]  # which contradict each other by rounding
    for polytope, told in (
        (Polytope([[1.0, 1.0]], [9.0], *thirds, lower=0.0), "equations .* contradict each other"),
        (Polytope([[0.1, 0.3], [-0.1, -0.3]], [0.7, -0.7], lower=0.0), "room to spare"),
    ):
        problem = Problem([[1.0, 2.0]], [0.5], LeastSquares(), polytope)
        with pytest.raises(ValueError, match=told):
            verify(solve(problem, tol=1e-6, method=CORRECTED), problem)


# ---- results -----------------------------------------------------------------------------------


def check_enclosed(loss, oracle, seed):
    problem, options = random_problem(loss, oracle, seed)
    result = solve(problem, method=CORRECTED, **options)
    found = verify(result, problem)
    assert found.holds, f"{loss} {oracle} {seed}: {found!r}"
    assert 0 <= found.gap[0] <= found.gap[1] < math.inf
    size = 1 + abs(result.primal) + abs(result.dual)
    assert found.primal[0] - 1e-7 * size <= result.primal <= found.primal[1] + 1e-7 * size
    assert found.dual[0] - 1e-7 * size <= result.dual <= found.dual[1] + 1e-7 * size
    return result, found


@pytest.mark.parametrize(("loss", "oracle"), SHORT)
def test_every_loss_and_every_oracle_once(loss, oracle):
    check_enclosed(loss, oracle, 0)


def test_w_at_an_end_is_approached_no_farther_than_digits_tell():
    check_enclosed("log-cosh", "l2", 0)  # Newton's rule would go on to s = 10⁶⁴⁰


def test_a_trace_that_rounds_is_in_the_gap():
    """β of rank 1 with a trace of 3, and a gap of 9e-13 that was stated as 7e-13."""
    check_enclosed("squared-hinge", "spectrahedron", 3)


def test_small_singular_values_are_in_the_gap():
    """β of the rank 1 to 13 digits, and gaps of 8e-13 and 1e-12 that were stated as half."""
    check_enclosed("softplus-hinge", "spectrahedron", 700)
    check_enclosed("gamma", "spectrahedron", 701)


def test_a_matrix_that_certifying_rounds_is_certified_as_it_is_after():
    beta = LowRank((2, 2))
    beta.add(1.0, np.array([1.0, 0.0]), np.array([1.0, 0.0]))
    beta.add(0.9e-13, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    rows = MatrixEntries(np.array([0, 1]), np.array([0, 1]), (2, 2))
    problem = Problem(rows, [0.0, 1e3], LeastSquares(), NuclearBall((2, 2), 2.0))
    found = certify(problem, beta, np.zeros(2))
    assert found.beta.terms == 1  # which is what it was said of
    assert found.primal == problem.primal(found.beta)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_thousand_results_are_enclosed(seed):
    for loss, oracle in PAIRS:
        check_enclosed(loss, oracle, seed)


EXPRESSIONS = {
    "log(1 + exp(-y*s))": Logistic(),
    "where(abs(s - y) <= 1, square(s - y)/2, abs(s - y) - 0.5)": Huber(1.0),
}


@pytest.mark.parametrize(("text", "shipped"), EXPRESSIONS.items())
def test_an_expression_is_enclosed_as_the_shipped_loss_is(text, shipped):
    X, y = make_classification(n=20, p=3, rng=1)
    result = solve(Problem(X, y, shipped, L1Ball(1.0)), tol=1e-9, method=CORRECTED)
    mine = Problem(X, y, SeparableConjugate.from_expression(text), L1Ball(1.0))
    found = verify(replace(result, about=None), mine)
    known = verify(result, Problem(X, y, shipped, L1Ball(1.0)))
    assert found.assumes == "l is convex in s"
    assert found.holds
    assert abs(found.gap[0] - known.gap[0]) <= 1e-25
    assert "proved if l is convex in s" in str(found)


COMPARED = (
    "where(s < y, 0.3, 0.7)*(s - y)**2/2",
    "where(y > s, 0.3*(s - y)**2/2, 0.7*(s - y)**2/2)",
    "(0.3*(s < y) + 0.7*(s >= y))*(s - y)**2/2",
    "where(-50 < s - y < 0, 0.3*(s - y)**2/2, where(s > y, 0.7*(s - y)**2/2, 0.15*(s - y)**2))",
)
"""The expectile loss of level 0.3, and what is the same on the data below."""


@pytest.mark.parametrize("text", COMPARED)
def test_strict_comparisons_are_read(text):
    X, y = make_regression(n=20, p=3, rng=1)
    y = y / abs(y).max()
    shipped = Problem(X, y, Expectile(0.3), L1Ball(1.0))
    result = solve(shipped, tol=1e-6, method=CORRECTED)
    loss = SeparableConjugate.from_expression(text)
    found = verify(replace(result, about=None), Problem(X, y, loss, L1Ball(1.0)))
    known = verify(result, shipped)
    assert found.holds
    assert 0 < found.gap[0] <= found.gap[1] <= 1e-6
    for part in ("primal", "dual", "gap"):
        assert getattr(found, part) == pytest.approx(getattr(known, part), rel=1e-12, abs=1e-17)


def test_an_end_of_the_domain_is_approached_where_no_prediction_attains_it():
    problem = Problem(
        [[1.0]], [1.0], SeparableConjugate.from_expression(next(iter(EXPRESSIONS))), Box(-1.0, 1.0)
    )
    result = with_pair(solve(problem, tol=1e-3, method=CORRECTED), w=np.array([-1.0]))
    assert math.isclose(verify(result, problem).dual[0], -1.0)  # D(−1) = −R*(1) − 0


def layouts():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 4)), rng.normal(size=12)
    fractions = np.array([[Fraction(1, 3), Fraction(2)], [Fraction(-1), Fraction(1, 7)]])
    i, k = np.divmod(rng.permutation(20)[:12], 5)
    yield Problem(sp.csr_array(X), y, LeastSquares(), Ridge(0.1))
    yield Problem(X.astype(np.float32), y, LeastSquares(), Ridge(0.1), intercept=3.0)
    yield Problem(
        fractions, [Fraction(1, 3), 1], LeastSquares(), Box(Fraction(-1, 3), Fraction(1, 3))
    )
    yield Problem(MatrixEntries(i, k, (4, 5)), y, LeastSquares(), NuclearBall((4, 5), 1.0))
    yield Problem(BilinearRows(X[:3], X[3:7]), y, LeastSquares(), CurSet((4, 4), 0.1))


@pytest.mark.parametrize("problem", [*layouts()], ids=lambda problem: type(problem.rows).__name__)
def test_all_layouts(problem):
    tol = Fraction(1, 100) if problem.exact else 1e-8
    result = solve(problem, tol=tol, max_iterations=200, method=CORRECTED)
    found = verify(result, problem)
    assert found.holds
    assert abs(found.gap[1] - float(result.gap)) <= found.rounding


def test_beta_is_moved_into_the_domain_and_the_bound_is_of_the_moved_one():
    problem = Problem([[1.0, 0.0], [0.0, 1.0]], [3.0, 0.0], LeastSquares(), Simplex(1.0))
    result = solve(problem, tol=1e-9, method=CORRECTED)
    outside = with_pair(result, beta=result.beta * (1 - 1e-5))
    found = verify(outside, problem)
    assert 0.9e-5 < found.moved < 1.1e-5
    assert found.gap[1] <= 1e-9
    assert "moved" in str(found)
    assert not found.holds
    assert "WRONG: β lies outside dom R" in str(found)
    assert verify(result, problem).moved < 1e-15


# ---- faults ------------------------------------------------------------------------------------


def test_what_was_changed_is_caught(small):
    problem, result = small
    best = solve(problem, tol=1e-6, method=CORRECTED)
    assert verify(result, problem).holds
    assert verify(best, problem).holds
    rng = np.random.default_rng(0)
    for changed in (
        with_stated(result, 0.99),
        with_pair(best, beta=0.99 * best.beta),
        with_pair(best, beta=best.beta + 0.01 * rng.normal(size=6)),
        with_pair(best, w=0.99 * best.w),
        with_pair(best, w=rng.permutation(best.w)),
    ):
        found = verify(changed, problem)
        assert not found.holds
        assert "WRONG" in str(found)
    pair = result.certificate
    for part, fault in (("primal", "P(β) is at least"), ("dual", "D(w) is at most")):
        better = getattr(pair, part) + (1e-6 if part == "dual" else -1e-6)
        stated = replace(result, certificate=replace(pair, **{part: better}))
        assert f"WRONG: {fault}" in str(verify(stated, problem))


def test_a_wrong_formula_in_rcmd_is_caught(monkeypatch):
    # With verify=True the problem itself would refuse the method that is put into the class below.
    data = [[1.0, 2.0], [0.0, 1.0]], [1.0, -1.0]
    problem = Problem(*data, LeastSquares(), L1Ball(0.5), verify=False)
    pair, conjugate = (np.array([0.25, 0.0]), np.array([-0.5, 0.5])), LeastSquares.conjugate
    result = replace(
        solve(problem, tol=1e-3, method=CORRECTED), certificate=certify(problem, *pair)
    )
    assert verify(result, problem).holds
    off = lambda self, w, y: conjugate(self, w, y) - w * w / 200  # noqa: E731
    monkeypatch.setattr(LeastSquares, "conjugate", off)
    monkeypatch.setattr(LeastSquares, "fenchel_young", SeparableConjugate.fenchel_young)
    stated = certify(problem, *pair)
    assert not verify(replace(result, certificate=stated), problem).holds


def test_a_w_where_l_star_is_infinite_is_caught():
    problem = Problem([[1.0]], [0.0], LOSSES["fair"].makes(1.0), Box(-1.0, 1.0))
    found = verify(
        with_pair(solve(problem, tol=1e-3, method=CORRECTED), w=np.array([1.0])), problem
    )
    assert not found.holds
    assert "WRONG: D(w) is at most" in str(found)
    nothing = replace(found, fault="", gap=(0.0, math.inf))
    assert not nothing.holds
    assert str(nothing).startswith("Nothing is proved")


POINTS = [[1.0, 0.0], [0.0, 1.0]]
OTHERS = {
    "class WrongLogistic": (POINTS, planted(Logistic), L1Ball(1.0)),
    "class WrongL1Ball": (POINTS, Logistic(), planted(L1Ball, 1.0)),
    "class CvxpyOracle": (POINTS, Logistic(), CvxpyOracle(lambda b: (0, [cp.norm2(b) <= 1]), 2)),
    "X is OperatorRows": (aslinearoperator(np.array(POINTS)), Logistic(), L1Ball(1.0)),
}


@pytest.mark.parametrize(("told", "parts"), OTHERS.items())
def test_what_has_no_formulas_is_refused(told, parts):
    X, loss, oracle = parts
    problem = Problem(X, [1.0, -1.0], loss, oracle)
    with pytest.raises(ValueError, match=told):
        verify(solve(problem, tol=1e-2, method=CORRECTED), problem)


def test_other_problems_are_refused(small):
    problem, result = small
    with pytest.raises(ValueError, match="regularizer indicator of ‖β‖₁ ≤ 2 and problem has"):
        verify(result, problem.with_oracle(L1Ball(3.0)))
    shorter = Problem(problem.rows.matrix[1:], problem.losses.y[1:], Logistic(), L1Ball(2.0))
    with pytest.raises(ValueError, match=r"w of result has shape \(30,\); expected \(29,\)"):
        verify(result, shorter)
    with pytest.raises(ValueError, match="result holds NaN or infinity in β or w"):
        verify(with_pair(result, w=math.nan * result.w), problem)
    with pytest.raises(TypeError, match="result is Certificate"):
        verify(result.certificate, problem)


def test_without_flint_a_sentence_says_what_to_install(small, monkeypatch):
    monkeypatch.setitem(sys.modules, "flint", None)
    with pytest.raises(ImportError, match=r"pip install 'rcmd-opt\[verify\]'"):
        verify(small[1], small[0])


# ---- the command -------------------------------------------------------------------------------


def test_the_command_proves_a_saved_result_or_says_that_it_is_wrong(tmp_path, capsys):
    file, forged, answer = (str(tmp_path / name) for name in ("run.rcmd", "forged.rcmd", "a.json"))
    task = ["--loss", "huber", "--oracle", "ridge:0.1", "--intercept", "2", "--seed", "3"]
    solved = ["solve", *task, "--method", "corrected", "--tol", "1e-5"]
    assert main([*solved, "--save", file, "--json", answer]) == 0
    assert main(["verify", file, *task, "--json", answer]) == 0
    assert "proved" in capsys.readouterr().out
    with open(answer) as held:
        told = json.load(held)
    assert told["holds"]
    assert told["gap"][1] <= 1e-5
    result: Result = load_result(file)
    with_stated(result, 0.99).save(forged)
    assert main(["verify", forged, *task]) == 1
    assert "WRONG" in capsys.readouterr().out
    assert main(["verify", file]) == 2
    assert "the result of another problem" in capsys.readouterr().err

"""Corrections: the pieces against brute force, whole runs against CVXPY to 1e-9."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from small_problems import SHIPPED as LOSSES
from small_problems import medium

from rcmd import (
    RCMD,
    Box,
    Corrected,
    DenseAtom,
    EuclideanProx,
    GroupL2Ball,
    GroupLasso,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    NuclearBall,
    OWLBall,
    Problem,
    Result,
    Ridge,
    SampleLosses,
    SeparableConjugate,
    Simplex,
    SparseAtom,
    StopReason,
    Translated,
    certify,
    iterate,
    solve,
    truth,
)
from rcmd.methods import FrankWolfe
from rcmd.methods.corrected import worth_correcting
from rcmd.methods.corrections import ball, newton, simplex_qp
from rcmd.methods.corrections.columns import (
    EntryColumns,
    PredictedColumns,
    beside,
    gram,
    single_entries,
)
from rcmd.methods.corrections.hull import HullCorrection, correction_for
from rcmd.methods.corrections.newton import solve_definite
from rcmd.rows import as_rows

POLYTOPES = [
    "l1:1.5",
    "l1:50",
    "simplex",
    "box:-0.4:0.7",
    "linf:0.5",
    "capped-simplex:1:0.4",
    "k-sparse:2:0.5",
    OWLBall((1.0, 0.8, 0.5, 0.2), 1.2),
    "l1-penalty:0.05",
]


def data(seed: int, n: int = 12, p: int = 4) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.8)
    return X, np.where(X @ rng.standard_normal(p) + rng.standard_normal(n) > 0, 1.0, -1.0)


def solved_to(tol: float, problem: Problem, **options: Any) -> Result:
    """The gap is reached, and it is true."""
    result = solve(problem, tol=tol, **{"batch": 3, "max_seconds": 20.0} | options)
    assert result.stop is StopReason.TOLERANCE
    assert result.gap <= tol
    assert result.primal == pytest.approx(truth.solve(problem).primal, abs=max(1e-7, tol))
    return result


@pytest.mark.parametrize("seed", range(len(LOSSES) * len(POLYTOPES)))
def test_every_loss_and_polytope_reaches_nine_digits(seed: int) -> None:
    X, y = data(seed)
    loss, oracle = [*itertools.product(LOSSES, POLYTOPES)][seed]
    weights = np.linspace(0.5, 2.0, len(y)) if seed % 3 else None
    solved_to(1e-9, Problem(sp.csr_array(X) if seed % 2 else X, y, loss, oracle, weights=weights))


@pytest.mark.parametrize("oracle", [Ridge(0.1), Ridge(0.01, 0.3), L2Ball(0.5), L2Ball(50.0)])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_balls_reach_nine_digits(loss: SeparableConjugate, oracle: LinearMinOracle) -> None:
    solved_to(1e-9, Problem(*data(7), loss, oracle, weights=np.linspace(0.5, 2.0, 12)))


def rare_features(seed: int) -> Problem:
    """P hardly falls, but for ever, along the features that only one class has."""
    rng = np.random.default_rng(seed)
    X = (rng.random((200, 6)) < [0.5, 0.5, 0.3, 0.3, 0.03, 0.02]).astype(float)
    chance = 1 / (1 + np.exp(-(X @ [2, -2, 1, -1, 0, 0])))
    y = np.where(rng.random(200) < chance, 1.0, -1.0)
    y[X[:, 4] > 0], y[X[:, 5] > 0] = 1.0, -1.0
    return Problem(X, y, Logistic(), L2Ball(20.0))


@pytest.mark.parametrize("small", [True, False], ids=["formed", "products"])
@pytest.mark.parametrize("seed", [1, 3, 4])
def test_a_ball_that_binds_where_p_is_flat(
    seed: int, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of a step that were scaled to the sphere did not become small, so none was taken."""
    if not small:
        monkeypatch.setattr(ball, "_small_matrix", lambda rows: None)
    solved_to(1e-10, rare_features(seed), batch=2, max_gradients=100_000)


def test_single_precision() -> None:
    X, y = data(1)
    solved_to(1e-9, Problem(X.astype(np.float32), y, Logistic(), L1Ball(2.0)), batch=None)


@pytest.mark.parametrize("oracle", [L1Ball(1.0), L1Penalty(0.05)])
def test_an_intercept_is_corrected_too(oracle: LinearMinOracle) -> None:
    solved_to(1e-7, Problem(*data(2), Logistic(), oracle, intercept=3.0), batch=None)


@pytest.mark.parametrize("small", [True, False], ids=["formed", "products"])
@pytest.mark.parametrize("bound", [3.0, 0.01], ids=["inside", "at its end"])
@pytest.mark.parametrize("oracle", [Ridge(0.1), Ridge(0.1, 0.05), L2Ball(0.5)], ids=repr)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_an_intercept_beside_a_ball(
    layout: Any, oracle: LinearMinOracle, bound: float, small: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not small:
        monkeypatch.setattr(ball, "_small_matrix", lambda rows: None)
    X, y = data(2)
    problem = Problem(layout(X), y, Logistic(), oracle, intercept=bound)
    result = solved_to(1e-12, problem, max_iterations=60)
    assert abs(result.beta[-1]) == bound or bound == 3.0


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_last_step_beside_ridge_is_exact(loss: SeparableConjugate) -> None:
    """β has all its digits where P has half of them; weighted and repeated samples give one β."""
    X, y = data(2)
    weights = np.arange(len(y)) % 3 + 1
    repeated = Problem(X.repeat(weights, axis=0), y.repeat(weights), loss, Ridge(1e-3))
    weighted = Problem(X, y, loss, Ridge(1e-3), weights=weights / weights.mean())
    one, other = (solve(problem, batch=3, tol=1e-10) for problem in (weighted, repeated))
    assert one.history[-1].phase == other.history[-1].phase == "corrective"
    exact = solve(weighted, batch=3, tol=1e-15, max_iterations=60)
    for beta in (one.beta, other.beta):
        np.testing.assert_allclose(beta, exact.beta, rtol=1e-9, atol=1e-11)


SMOOTH = [
    "elastic-net:0.05:0.1",
    "counting:ridge:0.1",
    "scaled:1.5:l1:1",
    "scaled:2:ridge:0.3",
    Translated(L1Ball(1.0), np.array([0.3, 0.0, -0.2, 0.1])),
    Translated(Ridge(0.2), np.array([0.3, 0.0, -0.2, 0.1])),
    GroupL2Ball([[0, 1], [2, 3]], 0.7),
    GroupLasso([[0, 1], [2, 3]], 0.05),
    "k-support:2:0.6",
    "entropy:0.1",
]


@pytest.mark.parametrize("oracle", SMOOTH, ids=repr)
def test_other_regularizers_reach_their_tolerance(oracle: Any) -> None:
    solved_to(1e-6, Problem(*data(5), Logistic(), oracle))


def test_dependent_atoms_of_very_different_size() -> None:
    """Where the reduced Hessian of the weights cancels to an indefinite one."""
    rng = np.random.default_rng(0)
    thin = rng.standard_normal((80, 3))
    Z = np.hstack([1e3 * thin @ rng.standard_normal((3, 1)), thin @ rng.standard_normal((3, 79))])
    matrix = Z.T @ Z + 1e-13 * np.trace(Z.T @ Z) / 80 * np.eye(80)
    start = np.full(80, 0.1 / 79)
    start[0] = 0.9
    slope = rng.standard_normal(80)
    x = simplex_qp.minimize_on_simplex(matrix, slope, start)
    assert (x >= 0).all()
    assert x.sum() == pytest.approx(1.0, abs=1e-9)
    value = x @ matrix @ x / 2 + slope @ x
    assert value <= start @ matrix @ start / 2 + slope @ start


@pytest.mark.parametrize("oracle", [Ridge(1e-4), L2Ball(50.0), L1Ball(3.0)])
def test_gradient_budgets_hold_in_rounds_of_every_kind(
    oracle: LinearMinOracle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A round plans with the gradients left, and would take more if there were more."""
    monkeypatch.setattr(ball, "_small_matrix", lambda rows: None)
    monkeypatch.setattr(newton, "INEXACT", 1e-6)
    problem = medium().with_oracle(oracle)
    one_round = {"batch": 4, "tol": 1e-13, "max_iterations": 26}
    free, held = (solve(problem, **one_round, max_gradients=g) for g in (10**6, 3_000))
    assert [run.history[-1].phase for run in (free, held)] == ["corrective"] * 2
    assert held.history[-1].gradients <= 3_000 < free.history[-1].gradients


@pytest.mark.parametrize("loss", ["poisson", "gamma", "exponential"])
@pytest.mark.parametrize("oracle", ["ridge:1e-3", "elastic-net:1e-4:1e-4", "l1-penalty:1e-2"])
def test_losses_that_are_very_steep_far_out_reach_their_tolerance(loss: str, oracle: str) -> None:
    """Of the γ_j on the whole range, 10⁵⁰ and more, neither damping nor rounding is taken."""
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    X, offset = rng.normal(size=(300, 8)) / 2, rng.uniform(-0.5, 0.5, 300)
    y = rng.poisson(np.exp(X @ rng.normal(size=8) / 2 + offset)) + 0.5
    if loss == "exponential":
        y = np.sign(X[:, 0] + rng.normal(size=300))
    case = Problem(X, y, loss, oracle, offset=offset)
    assert case.loss.gamma > 1e15
    result = solve(case, tol=1e-8)
    assert result.stop is StopReason.TOLERANCE
    if oracle == "ridge:1e-3":
        best = minimize(case.primal, np.zeros(8), method="BFGS", options={"gtol": 1e-6})
        assert result.primal == pytest.approx(best.fun, abs=2e-8)


def test_corrections_follow_the_plain_method_only() -> None:
    with pytest.raises(TypeError, match=r"plain is FrankWolfe\(.*\); expected an RCMD"):
        Corrected(FrankWolfe())  # type: ignore[arg-type]


# ---- at once ------------------------------------------------------------------------------------

AT_ONCE = [
    "ridge:0.1",
    "l2:0.5",
    "l1-penalty:0.1",
    "elastic-net:0.1:0.1",
    "box:-0.4:0.7",
    "linf:0.5",
]


@pytest.mark.parametrize("oracle", AT_ONCE)
def test_corrections_that_need_no_atoms_come_at_once(oracle: str) -> None:
    problem = medium().with_oracle(oracle)
    result = solve(problem, tol=1e-10)
    assert result.success
    assert {row.phase for row in result.history} == {"corrective"}
    assert result.history[0].iteration == 1
    assert math.isnan(result.history[0].bound)
    assert "no bound applies" in result.note
    for asked in ({"method": Corrected(RCMD(batch=4))}, {"batch": 4}):
        other = solve(problem, tol=1e-10, **asked)  # type: ignore[arg-type]
        assert other.history[0].phase == "plain", "plain steps that were asked for"
        assert other.primal == pytest.approx(result.primal, abs=2e-10)


@pytest.mark.parametrize("oracle", ["l1:1.5", "simplex"])
def test_corrections_of_atoms_wait_for_some(oracle: str) -> None:
    assert solve(medium().with_oracle(oracle), tol=1e-10).history[0].phase == "plain"


@pytest.mark.parametrize(
    "options", [{"tol": 0.0, "max_iterations": 40}, {"tol": 1e-9, "max_gradients": 4 * 400}]
)
def test_plain_steps_where_corrections_may_not_come(options: Any) -> None:
    """No tolerance, or gradients for less than a round: the paper's algorithm, and its bound."""
    problem = medium().with_oracle("ridge:0.1")
    result, plain = (solve(problem, method=m, **options) for m in (None, "rcmd"))
    assert {row.phase for row in result.history} == {"plain"}
    assert result.beta.tobytes() == plain.beta.tobytes()
    assert [row.bound for row in result.history] == [row.bound for row in plain.history]


def test_a_warm_start_at_the_solution_is_certified_without_a_step() -> None:
    problem = medium().with_oracle("l1-penalty:0.1")
    first = solve(problem, tol=1e-10)
    again = solve(problem, tol=1e-10, warm_start=first)
    assert again.beta.tobytes() == first.beta.tobytes()
    assert again.history[-1].gradients < first.history[-1].gradients


def test_plain_steps_follow_where_corrections_at_once_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ball.BallCorrection, "_step", lambda self, passes: 0.0)
    result = solve(medium().with_oracle("ridge:0.1"), tol=1e-3)
    assert result.success
    phases = [row.phase for row in result.history]
    assert phases[:3] == ["corrective"] * 3
    assert set(phases[3:]) == {"plain"}


# ---- the run around them ------------------------------------------------------------------------


def test_the_history_marks_phases_and_counts_all_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rcmd.methods.corrections.hull.MOST_STEPS", 1)  # so that rounds are several
    result = solve(medium(), batch=4, tol=1e-9)
    phases = [row.phase for row in result.history]
    first = phases.index("corrective")
    assert set(phases[:first]) == {"plain"}
    assert set(phases[first:]) == {"corrective"}
    assert len(phases) - 2 > first > 0
    changes = {
        name: np.diff(result.history.column(name))[first - 1 :]
        for name in ("gradients", "oracle_calls", "iteration")
    }
    # A step looks at all rows for the atoms' Gram matrix, and at all losses where it leads to.
    assert (changes["gradients"] >= 2 * 400).all()
    assert (changes["oracle_calls"] == 1).all()
    assert (changes["iteration"] == 1).all()
    assert all(math.isnan(row.bound) for row in result.history[first:])
    assert (np.diff(result.history.column("gap")) <= 0).all()


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_gradients_of_rounds_are_not_understated(
    layout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every look at all losses, and at all rows for the sake of the atoms, is counted."""
    problem = medium(layout)
    average = solve(problem, batch=4, max_iterations=200, method="rcmd").beta
    looks = []

    def counted(owner: Any, name: str) -> None:
        honest = getattr(owner, name)
        monkeypatch.setattr(owner, name, lambda *a: looks.append(name) or honest(*a))

    counted(SampleLosses, "expansion")
    counted(HullCorrection, "_between")
    for columns in (EntryColumns, PredictedColumns):
        counted(columns, "gram")
        counted(columns, "own_slopes")
    counted(type(problem.rows), "predict_at")
    correction = correction_for(problem, np.zeros(problem.p), average)
    assert correction.gradients == len(looks) * problem.n
    for _ in range(3):
        correction.round(math.inf, 1e-9)
    assert {"expansion", "gram", "own_slopes"} <= set(looks)
    assert correction.gradients == len(looks) * problem.n


def test_the_plain_algorithm_is_still_there() -> None:
    plain = solve(medium(), batch=4, tol=1e-9, max_iterations=300, method="rcmd")
    budget = solve(medium(), batch=4, tol=0.0, max_iterations=300)
    assert {row.phase for row in plain.history} == {"plain"}
    assert np.array_equal(plain.beta, budget.beta)
    assert plain.stop is StopReason.ITERATIONS


@pytest.mark.parametrize(
    ("budget", "reason"),
    [({"max_gradients": 3_000}, "GRADIENTS"), ({"max_iterations": 26}, "ITERATIONS")],
)
def test_budgets_end_runs_between_rounds(budget: Any, reason: str) -> None:
    twice = {name: 2 * number for name, number in budget.items()}
    result, more = (solve(medium(), batch=4, tol=1e-30, **given) for given in (budget, twice))
    last, later = result.history[-1], more.history[-1]
    assert result.stop.name == reason
    assert more.stop.name in (reason, "PRECISION")
    assert last.phase == "corrective"
    assert later.gradients > last.gradients
    assert last.gradients <= budget.get("max_gradients", math.inf)
    assert last.iteration <= budget.get("max_iterations", math.inf)


def test_a_tolerance_below_rounding_ends_at_the_limit_of_doubles() -> None:
    result = solve(medium(), batch=40, tol=1e-30, max_iterations=600)
    assert result.stop is StopReason.PRECISION
    assert result.history[-1].phase == "corrective"
    assert 0 < result.gap < 1e-13


# ---- when to begin ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "now", "tol", "expected"),
    [
        (None, (400, 1.0), 1e-9, True),  # as 1/k: 10⁹ times as long
        (None, (400, 1.0), 0.0, False),
        (None, (400, 1.0), 2.0, False),
        (None, (400, 1.0), 0.5, False),  # four more passes
        (None, (40, 1.0), 0.045, False),  # nine more passes
        ((2000, 1.0), (2500, 1e-4), 1e-9, False),  # linear convergence
        ((400, 1.0), (500, 1.0), 1e-9, True),  # no progress at all
        ((400, math.inf), (500, 1.0), 1e-9, True),
    ],
)
def test_the_forecast(before: Any, now: Any, tol: float, expected: bool) -> None:
    assert worth_correcting(before, now, 100, tol) is expected


# ---- quadratic programmes on the simplex --------------------------------------------------------


def programme(seed: int, m: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((m, m))
    start = rng.random(m) * (rng.random(m) < 0.7)
    start[0] += 0.1
    return root @ root.T + 0.1 * np.eye(m), 3 * rng.standard_normal(m), start / start.sum()


def best_on_simplex(matrix: Any, slope: Any) -> float:
    """The minimum over all supports, by their equality-constrained minimizers."""
    best = math.inf
    for size in range(1, len(slope) + 1):
        for places in map(list, itertools.combinations(range(len(slope)), size)):
            border = np.ones((size + 1, size + 1))
            border[:size, :size], border[size, size] = matrix[np.ix_(places, places)], 0.0
            x = np.linalg.solve(border, np.append(-slope[places], 1.0))[:size]
            if (x >= 0).all():
                best = min(best, x @ matrix[np.ix_(places, places)] @ x / 2 + slope[places] @ x)
    return best


def solved(seed: int) -> bool:
    """Whether the method finds the minimum, at a point of the simplex."""
    matrix, slope, start = programme(seed, 2 + seed % 6)
    x = simplex_qp.minimize_on_simplex(matrix, slope, start)
    value, best = x @ matrix @ x / 2 + slope @ x, best_on_simplex(matrix, slope)
    return (x >= 0).all() and abs(x.sum() - 1) <= 1e-12 and abs(value - best) <= 1e-10


@pytest.mark.parametrize("seed", range(40))
def test_programmes_against_all_supports(seed: int) -> None:
    assert solved(seed)


def furthest_from_optimal() -> float:
    """The largest Frank–Wolfe gap of ill-scaled programmes, relative to their numbers."""
    gaps = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        m = rng.integers(2, 12)
        A = rng.standard_normal((m, m)) * 10.0 ** rng.uniform(-2, 2, m)
        matrix, slope = A @ A.T + 1e-9 * np.eye(m), 10 * rng.standard_normal(m)
        start = rng.dirichlet(np.full(m, 0.3))
        x = simplex_qp.minimize_on_simplex(matrix, slope, start)
        gradient = matrix @ x + slope
        gaps.append((gradient @ x - gradient.min()) / (abs(matrix).max() + abs(slope).max()))
    return max(gaps)


def test_ill_scaled_programmes_end_at_an_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    assert furthest_from_optimal() < 1e-14
    # Going inside wherever an entry turns negative, though the value rises.
    monkeypatch.setattr(simplex_qp, "_falls", lambda *arguments: True)
    assert furthest_from_optimal() > 0.1


def test_an_ill_conditioned_programme_keeps_the_sum() -> None:
    matrix, slope = 1e-13 * np.eye(3), np.array([1.0, 1.0 + 1e-15, 1.0])
    x = simplex_qp.minimize_on_simplex(matrix, slope, np.full(3, 1 / 3))
    assert x.sum() == pytest.approx(1.0, abs=1e-15)


# ---- Gram matrices, decompositions --------------------------------------------------------------


def test_gram_matrices() -> None:
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((300, 7)) * (rng.random((300, 7)) < 0.4)
    Z[:, 3] = 0
    c = rng.random(300)
    expected = Z.T @ np.diag(c) @ Z
    assert np.allclose(gram(Z, c), expected, atol=1e-12)
    assert np.allclose(gram(sp.csr_array(Z), c), expected, atol=1e-12)
    order = [4, 2, 6, 0, 3, 1, 5]
    unsorted = sp.csr_array(Z)[:, order]
    assert np.allclose(gram(sp.csr_array(unsorted), c), expected[np.ix_(order, order)], atol=1e-12)
    assert not np.allclose(gram(Z, 2 * c), expected)
    for c in (np.full(300, 0.25), 1 + 0.01 * rng.random(300)):  # all equal, and nearly so
        assert np.allclose(gram(Z, c), Z.T @ np.diag(c) @ Z, atol=1e-12)


@pytest.mark.parametrize("oracle", [*POLYTOPES, Ridge(0.1, 2.0), L2Ball(2.0)], ids=repr)
def test_decompositions_and_offers(oracle: Any) -> None:
    rng = np.random.default_rng(0)
    bound = Problem(*data(0), LeastSquares(), oracle).oracle
    atoms = [bound.argmin(rng.standard_normal(4)).dense(np.zeros(4)) for _ in range(5)]
    beta = rng.dirichlet(np.ones(5)) @ np.stack(atoms)
    parts = bound.decompose(beta)
    weights = [weight for weight, _ in parts]
    assert sum(weights) == pytest.approx(1.0)
    assert min(weights) >= 0
    total = sum(weight * atom.dense(np.zeros(4)) for weight, atom in parts)
    assert np.allclose(total, beta)
    c = rng.standard_normal(4)
    offered = bound.best_atoms(c, 3)
    assert np.array_equal(offered[0].dense(c), bound.argmin(c).dense(c))
    for atom in [*offered, *(atom for _, atom in parts)]:
        assert not math.isinf(bound.value(atom.dense(np.zeros(4))))


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_corrections_take_few_passes(layout: Any) -> None:
    """With a wrong curvature they take three times as many."""
    assert solve(medium(layout), batch=4, tol=1e-9, max_iterations=200).passes <= 20


# ---- fewer samples first ------------------------------------------------------------------------


def test_a_sample_is_solved_first_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """On more than 16000 rows: a better start than 0, and no work left out of the counts."""
    rng = np.random.default_rng(0)
    X = sp.random_array((17000, 60), density=0.1, format="csr", rng=rng)
    y = np.where(X @ rng.standard_normal(60) + 0.3 * rng.standard_normal(17000) > 0, 1.0, -1.0)
    problem = Problem(X, y, Logistic(), L1Ball(5.0))
    looked: list[int] = []
    honest = SampleLosses.expansion
    monkeypatch.setattr(
        SampleLosses, "expansion", lambda self, s: looked.append(len(s)) or honest(self, s)
    )
    correction = correction_for(problem, np.zeros(60), np.zeros(60))
    monkeypatch.undo()
    assert looked.count(17000) == 1
    assert looked.count(2125) == len(looked) - 1 > 1
    assert correction.gradients >= sum(looked)
    best = solve(problem, batch=170, tol=1e-8).primal
    assert correction.here.loss - best < 0.05 * (problem.primal(np.zeros(60)) - best)
    monkeypatch.setattr("rcmd.methods.corrections.hull.FEWEST_SAMPLES", 10**9)
    assert correction_for(problem, np.zeros(60), np.zeros(60)).here.loss == pytest.approx(np.log(2))


# ---- columns ------------------------------------------------------------------------------------


def single_atoms() -> list[SparseAtom]:
    """The same column with both signs, others, and 0."""
    entries = [(3, 2.0), (0, -1.5), (3, -2.0), (5, 1.0)]
    return [*(SparseAtom((k,), (v,)) for k, v in entries), SparseAtom((), ())]


def test_columns_of_single_entries_are_predictions_at_atoms() -> None:
    rng = np.random.default_rng(0)
    X = sp.random_array((200, 7), density=0.4, format="csr", rng=rng)
    rows, atoms = as_rows(X), single_atoms()
    taken, predicted = EntryColumns(atoms), PredictedColumns(atoms, rows.predict_at(atoms))
    w, c, weights = rng.standard_normal(200), rng.random(200), rng.dirichlet(np.ones(5))
    np.testing.assert_allclose(taken.gram(rows, c), predicted.gram(rows, c), rtol=1e-13, atol=1e-13)
    expected = predicted.own_slopes(rows, w)
    np.testing.assert_allclose(taken.own_slopes(rows, w), expected, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(taken.slopes(X.T @ w), expected, rtol=1e-13, atol=1e-14)
    beta = taken.point(np.zeros(7), weights)
    np.testing.assert_allclose(beta, predicted.point(np.zeros(7), weights), rtol=1e-14)
    # To the bit: certificates take it for Xβ.
    assert np.array_equal(taken.predict(rows, beta), X @ beta)
    again = EntryColumns([*atoms, SparseAtom((1,), (4.0,))], taken.known)
    assert again.gram(rows, c).shape == (6, 6)
    assert again.known is not taken.known


def test_single_entries_are_told_from_others() -> None:
    assert single_entries(single_atoms()) == single_atoms()
    assert single_entries([*single_atoms(), SparseAtom((0, 1), (1.0, 1.0))]) is None
    assert single_entries([DenseAtom(np.ones(7))]) is None


def test_atoms_that_are_held_are_not_taken_twice() -> None:
    problem = Problem(*data(0), LeastSquares(), Box(-1.0, 1.0))
    hull = HullCorrection(problem, np.ones(4), np.ones(4))
    assert hull.add([DenseAtom(np.ones(4))]) == 1
    assert hull.add([SparseAtom((1,), (0.5,)), DenseAtom(-np.ones(4))]) == 1
    assert hull.add([SparseAtom((1,), (0.5,)), SparseAtom((2,), (0.5,))]) == 3
    assert len(hull.atoms) == 4


# ---- where corrections begin --------------------------------------------------------------------


def test_checkpoints_that_were_asked_for_are_certified() -> None:
    """By the averages, though the start says already that corrections are next."""
    problem = medium()
    state = next(iterate(problem, batch=4, tol=1e-9, record_at=[300]))
    assert state.gap <= certify(problem, state.beta_average, state.w_average).gap
    w = problem.losses.derivative(np.zeros(problem.n))
    assert state.gap < certify(problem, np.zeros(problem.p), w).gap


def test_no_row_is_above_its_bound() -> None:
    """With small predictions the gap of the start is; then the averages are looked at."""
    rng = np.random.default_rng(0)
    X = 1e-3 * rng.standard_normal((60, 4))
    problem = Problem(X, np.where(X[:, 0] > 0, 1.0, -1.0), Logistic(), L1Ball(1.0))
    w = problem.losses.derivative(np.zeros(60))
    first = solve(problem, batch=6, tol=1e-12).history[0]
    assert first.gap <= first.bound < certify(problem, np.zeros(4), w).gap


def test_other_geometries_do_not_begin_at_0() -> None:
    """Their w⁰ is no response to it, and differs from sample to sample."""
    problem = medium()
    result = solve(problem, batch=4, tol=1e-9, method=Corrected(RCMD(prox=EuclideanProx())))
    assert result.success
    assert result.gap == pytest.approx(certify(problem, result.beta, result.w).gap, abs=1e-15)


def test_sets_without_0_begin_at_the_average() -> None:
    result = solve(Problem(*data(0), Logistic(), Simplex(2.0)), batch=3, tol=1e-9)
    assert result.success
    assert math.isfinite(result.history[0].gap)


def test_the_atoms_of_the_average_are_in_the_hull() -> None:
    problem = medium()
    average = solve(problem, batch=4, max_iterations=50, method="rcmd").beta
    hull = correction_for(problem, np.zeros(problem.p), average)
    assert {atom for _, atom in problem.oracle.decompose(average)} <= set(hull.atoms)


# ---- columns put beside each other --------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_columns_are_kept_and_put_beside(seed: int) -> None:
    rng = np.random.default_rng(seed)
    left = rng.standard_normal((7, 5)) * (rng.random((7, 5)) < 0.5)
    right = rng.standard_normal((7, 3)) * (rng.random((7, 3)) < 0.5)
    kept = np.flatnonzero(rng.random(5) < 0.6)
    expected = np.hstack([left[:, kept], right])
    joined = beside(sp.csr_array(left), kept, sp.csr_array(right))
    assert np.array_equal(joined.toarray(), expected)
    assert joined.has_canonical_format
    assert np.array_equal(beside(sp.csr_array(left), kept, right), expected)
    assert np.array_equal(beside(left, kept, right), expected)


def test_spoilt_systems_are_still_solved() -> None:
    """A matrix that rounding left indefinite is raised to a definite one."""
    good = np.array([[2.0, 1.0], [1.0, 3.0]])
    assert solve_definite(good, good @ [1.0, -2.0]) == pytest.approx([1.0, -2.0])
    spoilt = np.array([[1.0, 1.0], [1.0, 1.0 - 1e-15]])
    solution = solve_definite(spoilt, np.array([2.0, 2.0]))
    assert spoilt @ solution == pytest.approx([2.0, 2.0])


@pytest.mark.parametrize("seed", [0, 5, 14])
def test_a_step_of_rounding_alone_is_not_taken(seed: int) -> None:
    """A 1 × 1 matrix at the border of its ball has no direction left but rounding."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(10, 1)), 10 * rng.normal(size=10)
    result = solve(Problem(X, y, LeastSquares(), NuclearBall((1, 1), 0.8)), tol=1e-9)
    assert result.gap <= 1e-9

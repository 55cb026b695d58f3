"""Frank–Wolfe with its step rules, away steps, pairwise steps: transcripts, rates, counts."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from small_problems import ORACLES, SHIPPED, dense, exact_problem, fractions, problem

from rcmd import (
    RCMD,
    Birkhoff,
    Box,
    Counting,
    DenseAtom,
    L1Ball,
    L1Penalty,
    LeastSquares,
    Logistic,
    MatrixEntries,
    NuclearBall,
    Problem,
    RankOneAtom,
    Ridge,
    Simplex,
    SparseAtom,
    iterate,
    truth,
)
from rcmd.methods import AwayStep, BlendedPairwise, FrankWolfe, Method, Pairwise, step_rules
from rcmd.methods.active_set import ActiveSet, Move
from rcmd.methods.step_rules import ExactSearch, Segment
from rcmd.model.schedules import Schedule, SublinearSchedule

SEARCHES = ("exact", "short-step", "adaptive")
RULES = ("open-loop", *SEARCHES)
ACTIVE_SET = (AwayStep, Pairwise, BlendedPairwise)
STEPS = 50
RADIUS = 2.0


def lasso(loss: str = "least-squares", *, weighted: bool = False) -> Problem:
    """Over an l1 ball, with the optimum on a face of it."""
    return problem(loss, L1Ball(RADIUS), n=30, p=8, weighted=weighted)


def on_simplex(
    loss: str = "least-squares", *, exact: bool = False, weighted: bool = False
) -> Problem:
    """f strongly convex, its optimum inside a face of the unit simplex.

    The logistic one is so steep that 50 iterations do not end where rounding decides.
    """
    rng = np.random.default_rng(0)
    own = {"weights": np.linspace(0.2, 5.0, 60 if loss == "logistic" else 40)} if weighted else {}
    if loss == "logistic":
        X = rng.standard_normal((60, 30)) + rng.standard_normal((60, 1))
        y = X[:, :10].mean(axis=1) + 0.7 * rng.standard_normal(60)
        return Problem(8 * X, np.where(y > 0, 1.0, -1.0), Logistic(), Simplex(1.0), **own)
    X = rng.standard_normal((40, 12))
    y = X[:, :3] @ [0.3, 0.5, 0.2] + 0.3 * rng.standard_normal(40)
    if exact:
        return Problem(fractions(X), fractions(y), LeastSquares(), Simplex(Fraction(1)))
    return Problem(X, y, LeastSquares(), Simplex(1.0), **own)


def iterates(instance: Problem, method: Method, steps: int = STEPS) -> list[Any]:
    progress = method.start(instance, None, np.random.default_rng(0))
    found = []
    for _ in range(steps):
        progress.advance(1)
        found.append(progress.beta.copy())
    return found


# The methods as their papers print them, in plain NumPy: no atom, no active set, no segment.


def slope_of(instance: Problem) -> Callable[[Any], Any]:
    """∇f, written out for the two losses."""
    X, y, weights = dense(instance), instance.losses.y, weights_of(instance)
    if isinstance(instance.loss, Logistic):
        return lambda beta: X.T @ (-weights * y / (1 + np.exp(y * (X @ beta)))) / len(y)
    return lambda beta: X.T @ (weights * (X @ beta - y)) / len(y)


def weights_of(instance: Problem) -> Any:
    return 1 if instance.losses.weights is None else instance.losses.weights


def value_of(instance: Problem) -> Callable[[Any], Any]:
    """f, with digits to spare: the adaptive rule compares values that differ little."""
    X, y, weights = dense(instance).astype(np.longdouble), instance.losses.y, weights_of(instance)
    if isinstance(instance.loss, Logistic):
        return lambda beta: (weights * np.log1p(np.exp(-y * (X @ beta)))).mean()
    return lambda beta: (weights * (X @ beta - y) ** 2).mean() / 2


def transcribed_rule(instance: Problem, rule: str) -> Callable[[Any, Any, Any], float]:
    """α for (β, d, limit)."""
    f, slope, X = value_of(instance), slope_of(instance), dense(instance)
    gamma, weights = 0.25 if isinstance(instance.loss, Logistic) else 1.0, weights_of(instance)
    # The code's L is an upper bound, larger by this much.
    smoothness = gamma * np.linalg.eigvalsh((X.T * weights) @ X / len(X))[-1] * (1 + 1e-9)
    last: list[float] = []

    def second(s: Any) -> Any:
        return 1 / (2 + np.exp(s) + np.exp(-s)) if gamma < 1 else 1.0

    def exact(beta: Any, d: Any, limit: float) -> float:
        def along(a: float) -> float:
            return slope(beta + a * d) @ d

        if along(0) >= 0:
            return 0
        return limit if along(limit) <= 0 else brentq(along, 0, limit, xtol=1e-15)

    def short(beta: Any, d: Any, limit: float) -> float:
        return min(-slope(beta) @ d / (smoothness * (d @ d)), limit)

    def adaptive(beta: Any, d: Any, limit: float) -> float:
        gap = -slope(beta) @ d
        if not last:
            last.append((weights * second(X @ beta) * (X @ d) ** 2).mean() / (d @ d))
        m = 0.9 * last[-1]
        while True:
            a = min(gap / (m * (d @ d)), limit)
            if f(beta + a * d) <= f(beta) - a * gap + a * a * m * (d @ d) / 2:
                last.append(m)
                return a
            m *= 2

    return {"exact": exact, "short-step": short, "adaptive": adaptive}[rule]


def transcribed_frank_wolfe(instance: Problem, rule: str, steps: int = STEPS) -> list[Any]:
    slope, beta, found = slope_of(instance), np.zeros(instance.p), []
    search = None if rule == "open-loop" else transcribed_rule(instance, rule)
    for k in range(steps):
        c = slope(beta)
        i = np.argmax(abs(c))
        atom = np.zeros(instance.p)
        atom[i] = -RADIUS * np.sign(c[i])
        d = atom - beta
        beta = beta + (2 / (k + 2) if k == 0 or search is None else search(beta, d, 1.0)) * d
        found.append(beta)
    return found


def transcribed_active_set(
    instance: Problem, method: type, search: Callable[..., Any], steps: int = STEPS
) -> list[Any]:
    """On the unit simplex the weights of the atoms e_i are β itself, and 0 is no start: e_1 is.

    Line searches make ties, which are the oldest active atom's and the first atom's of all.
    """
    slope = slope_of(instance)
    unit = fractions(np.eye(instance.p)) if instance.exact else np.eye(instance.p)
    beta = unit[np.argmin(slope(unit[0]))]
    held, found = list(np.flatnonzero(beta)), [beta]
    for _ in range(steps - 1):
        c = slope(beta)
        c = c if instance.exact else c.round(13)
        best, worst, local = c.argmin(), held[c[held].argmax()], held[c[held].argmin()]
        forward, away = c @ beta - c[best], c[worst] - c @ beta
        d, limit = unit[best] - beta, 1
        if method is AwayStep and forward < away:
            d, limit = beta - unit[worst], beta[worst] / (1 - beta[worst])
        if method is Pairwise:
            d, limit = unit[best] - unit[worst], beta[worst]
        if method is BlendedPairwise and c[worst] - c[local] >= forward:
            d, limit = unit[local] - unit[worst], beta[worst]
        share = search(beta, d, limit)
        beta = beta + share * d
        if share == limit and limit != 1:
            beta[worst] = 0
        held = [k for k in held if beta[k] > 0]
        held += [k for k in np.flatnonzero(beta > 0) if k not in held]
        found.append(beta)
    return found


def furthest(found: list[Any], expected: list[Any]) -> float:
    return max(abs(a - b).max() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
def test_frank_wolfe_is_its_transcript(loss, weighted, rule):
    instance = lasso(loss, weighted=weighted)
    found = iterates(instance, FrankWolfe(rule))
    assert furthest(found, transcribed_frank_wolfe(instance, rule)) <= 1e-10


@pytest.mark.parametrize("rule", SEARCHES)
@pytest.mark.parametrize("method", ACTIVE_SET)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
def test_active_set_methods_are_their_transcripts(loss, weighted, method, rule):
    instance = on_simplex(loss, weighted=weighted)
    expected = transcribed_active_set(instance, method, transcribed_rule(instance, rule))
    assert furthest(iterates(instance, method(rule)), expected) <= 1e-10


def parabola(instance: Problem) -> Callable[..., Any]:
    """The line search of least squares in fractions."""
    X, slope = dense(instance), slope_of(instance)

    def search(beta: Any, d: Any, limit: Any) -> Any:
        along = X @ d
        gap = -(slope(beta) @ d)
        return min(gap * instance.n / (along @ along), limit) if gap > 0 else 0

    return search


@pytest.mark.parametrize("method", ACTIVE_SET)
def test_weights_are_exact_in_fractions(method):
    instance = on_simplex(exact=True)
    found = iterates(instance, method(), 8)
    expected = transcribed_active_set(instance, method, parabola(instance), 8)
    assert all((a == b).all() for a, b in zip(found, expected, strict=True))
    assert all(beta.sum() == 1 for beta in found)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("oracle", ["l1-ball", "l1-penalty", "simplex"])
def test_fractions_stay_fractions_and_predictions_exact(oracle, rule):
    instance = exact_problem(oracle)
    progress = FrankWolfe(rule).start(instance, None, np.random.default_rng(0))
    progress.advance(5)
    assert {type(value) for value in progress.beta} <= {int, Fraction}
    assert (progress.s == dense(instance) @ progress.beta).all()


# Rates.


def suboptimality(instance: Problem, method: Method, steps: int, best: float) -> Any:
    return np.array([instance.primal(b) for b in iterates(instance, method, steps)]) - best


@pytest.mark.parametrize("rule", RULES)
def test_frank_wolfe_at_its_rate(rule):
    instance = problem("least-squares", L1Ball(1.0), n=100, p=20)
    above = suboptimality(instance, FrankWolfe(rule), 2000, truth.solve(instance).primal)
    X, k = dense(instance), np.arange(1, 2001)
    curvature = np.linalg.eigvalsh(X.T @ X / len(X))[-1] * 4  # L times the squared diameter
    assert (above <= 2 * curvature / (k + 2) + 1e-9).all()
    assert np.polyfit(np.log(k[200:]), np.log(above[200:]), 1)[0] <= -0.8


@cache
def best_on_simplex() -> tuple[Problem, float]:
    """The problem on the simplex, and its P* to rounding."""
    instance = on_simplex()
    best = min(instance.primal(b) for b in iterates(instance, BlendedPairwise(), 300))
    assert abs(best - truth.solve(instance).primal) <= 1e-8
    return instance, best


def misfit(x: Any, y: Any) -> float:
    """What a straight line leaves of y over x."""
    return float(np.polyfit(x, y, 1, full=True)[1][0])


@pytest.mark.parametrize("method", ACTIVE_SET)
@pytest.mark.parametrize("rule", SEARCHES)
def test_linear_rate_on_a_simplex(method, rule):
    instance, best = best_on_simplex()
    above = suboptimality(instance, method(rule), 600, best)
    used = np.flatnonzero(above > 1e-12)
    k, logs = used + 1.0, np.log(above[used])
    assert above[-1] <= 1e-12
    assert (np.diff(logs) <= 1e-9).all()
    assert misfit(k, logs) < misfit(np.log(k), logs) / 4


def test_plain_frank_wolfe_is_not_linear_there():
    instance, best = best_on_simplex()
    above = suboptimality(instance, FrankWolfe("exact"), 600, best)
    k, logs = np.arange(1.0, 601.0), np.log(above)
    assert misfit(np.log(k), logs) < misfit(k, logs)


@pytest.mark.parametrize("rule", SEARCHES)
def test_strongly_convex_penalty_gives_a_linear_rate(rule):
    """Each step leaves at most 1 − min(1/2, μ/(4M)) of P − P*, M = L or its estimate ≤ 2L."""
    strength = 0.25
    instance = problem("least-squares", Ridge(strength), n=30, p=8)
    best = truth.solve(instance).primal
    X = dense(instance)
    smoothness = np.linalg.eigvalsh(X.T @ X / len(X))[-1]
    factor = 1 - min(0.5, strength / (4 * 2 * smoothness))
    above = suboptimality(instance, FrankWolfe(rule), 60, best)
    assert (above[1:] <= factor * above[:-1] + 1e-9).all()
    assert above[-1] <= 1e-8


@pytest.mark.parametrize("rule", SEARCHES)
@pytest.mark.parametrize("oracle", list(ORACLES))
@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
def test_searches_never_raise_p(loss, oracle, rule):
    instance = problem(loss, oracle, weighted=True)
    values = [instance.primal(beta) for beta in iterates(instance, FrankWolfe(rule), 100)]
    assert all(after <= before + 1e-14 for before, after in pairwise(values))


def test_a_search_that_forgets_the_penalty_misses_the_optimum(monkeypatch):
    instance = problem("logistic", "l1-penalty")
    best = truth.solve(instance).primal
    monkeypatch.setattr(L1Penalty, "indicator", True)
    assert suboptimality(instance, FrankWolfe("exact"), 2000, best)[-1] > 5e-3


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("oracle", list(ORACLES))
def test_frank_wolfe_goes_to_the_optimum_of_every_regularizer(oracle, rule):
    instance = problem("logistic", oracle, weighted=True)
    progress = FrankWolfe(rule).start(instance, None, np.random.default_rng(0))
    progress.advance(2000 if rule == "open-loop" else 600)
    assert -1e-7 <= instance.primal(progress.beta) - truth.solve(instance).primal <= 5e-3


@pytest.mark.parametrize("method", ACTIVE_SET)
@pytest.mark.parametrize("oracle", [Box(-0.2, 0.3), ORACLES["moved-l1-ball"], Birkhoff(2)])
def test_dense_atoms_and_other_polytopes(method, oracle):
    instance = problem("logistic", oracle, layout="csr")
    run = iterate(instance, method=method(), tol=1e-10, max_iterations=500)
    for _ in run:
        pass
    result = run.result()
    assert result.success
    assert abs(result.primal - truth.solve(instance).primal) <= 1e-7


@pytest.mark.parametrize("method", [FrankWolfe("exact"), *(method() for method in ACTIVE_SET)])
def test_sparse_rows_give_the_same_iterates(method):
    made = [problem("logistic", "simplex", n=30, p=8, layout=way) for way in ("dense", "csr")]
    plain, sparse = (iterates(instance, method) for instance in made)
    assert furthest(plain, sparse) <= 1e-10


@pytest.mark.parametrize("rule", RULES)
def test_low_rank_iterates_are_those_of_vectors(rule, monkeypatch):
    rng = np.random.default_rng(0)
    rows, columns = np.nonzero(rng.random((6, 5)) < 0.6)
    entries, oracle = MatrixEntries(rows, columns, (6, 5)), NuclearBall((6, 5), 3.0)
    y = rng.standard_normal(len(rows))
    low_rank = Problem(entries, y, LeastSquares(), oracle)
    plain = Problem(entries.as_matrix().toarray(), y, LeastSquares(), oracle)
    # Both L are upper bounds, which must be the same one.
    monkeypatch.setattr(
        type(plain.rows), "spectral_energy", lambda _, c: entries.spectral_energy(c)
    )
    matrices = [beta.to_array().ravel() for beta in iterates(low_rank, FrankWolfe(rule), 20)]
    assert furthest(matrices, iterates(plain, FrankWolfe(rule), 20)) <= 1e-9


# Line searches, losses of every kind.


def random_segment(loss: Any, seed: int) -> Segment:
    rng = np.random.default_rng(seed)
    size = 10.0 ** rng.integers(-3, 4)
    y = np.where(rng.random(6) < 0.5, 1.0, -1.0)
    instance = Problem(np.eye(6), y, loss, Box(-1.0, 1.0))
    s, along = size * rng.standard_normal((2, 6))
    w = instance.losses.derivative(s)
    along = -along if (w * along).sum() > 0 else along
    return Segment(instance, s, w, along, lambda: along, limit=float(rng.choice([0.3, 1.0, 7.0])))


@pytest.mark.parametrize("loss", SHIPPED, ids=lambda loss: type(loss).__name__)
def test_exact_search_finds_the_root_of_the_slope(loss):
    """Judged by values and slopes, since minimizers may fill an interval; in Newton's few looks."""
    inside, looks = 0, []
    for seed in range(100):
        segment = random_segment(loss, seed)
        losses, s, along, limit = segment.losses, segment.s, segment.along, segment.limit

        def slope(a: float, losses: Any = losses, s: Any = s, along: Any = along) -> float:
            return (losses.derivative(s + a * along) * along).mean()

        share = ExactSearch().share(segment)
        looks.append(segment.evaluations)
        assert 0 <= share <= limit
        root = limit if slope(limit) <= 0 else brentq(slope, 0, limit, xtol=1e-15)
        inside += 0 < root < limit
        value, lowest = (losses.value(s + a * along).mean() for a in (share, root))
        # By convexity, a slope so small over a segment so long; and the rounding of values.
        assert value <= lowest + 1e-12 * segment.gap * limit + 1e-15 * losses.value(s).mean()
        assert (share == limit) == (root == limit) or abs(slope(share)) <= 1e-12 * segment.gap
    assert inside > 20
    assert max(looks) <= 60
    assert np.mean(looks) <= 8


def test_flat_losses_overflow_nowhere():
    """Predictions where l'' underflows: a step is the whole segment, and no warning is given."""
    instance = Problem(np.eye(2), [1.0, 1.0], Logistic(), Box(-1.0, 1.0))
    s, along = np.full(2, -720.0), np.full(2, 30.0)
    w = instance.losses.derivative(s)
    for rule in (ExactSearch(), step_rules.Adaptive(), step_rules.ShortStep(instance)):
        assert rule.share(Segment(instance, s, w, along, lambda: np.full(2, 1e-3))) == 1
        assert rule.share(Segment(instance, s, w, -along, lambda: np.full(2, 1e-3))) == 0


# The active set.

A, B, C = (SparseAtom((k,), (1.0,)) for k in range(3))


def test_moves_of_weight():
    active = ActiveSet(A)
    active.apply(Move(None, B, 1), 0.5)
    active.apply(Move(B, C, 0.5), 0.25)
    assert [active.weight(atom) for atom in (A, B, C)] == [0.5, 0.25, 0.25]
    active.apply(Move(C, None, 1 / 3), 1 / 3)
    assert active.atoms == [A, B]
    assert abs(active.point(np.zeros(3)) - [2 / 3, 1 / 3, 0]).max() <= 1e-15
    active.apply(Move(None, C, 1), 1)
    assert active.atoms == [C]


def test_equal_points_are_one_atom():
    active = ActiveSet(DenseAtom(np.array([0.0, 1.0])))
    active.apply(Move(None, DenseAtom(np.array([-0.0, 1.0])), 1), 0.5)
    active.apply(Move(None, RankOneAtom(np.ones(1), np.ones(2)), 1), 0.5)
    assert [active.weight(atom) for atom in active.atoms] == [0.5, 0.5]


def test_weights_do_not_drift():
    rng = np.random.default_rng(0)
    active = ActiveSet(A)
    for _ in range(2000):
        active.apply(Move(None, (A, B, C)[rng.integers(3)], 1), 0.9 * rng.random())
        held = active.atoms[0]
        if len(active.atoms) > 1:
            weight = active.weight(held)
            active.apply(Move(held, None, weight / (1 - weight)), weight / (1 - weight))
    assert abs(sum(active.weight(atom) for atom in active.atoms) - 1) <= 1e-15


# Counts.


@dataclass
class Looks:
    """Losses that count how often all of them are evaluated somewhere."""

    losses: Any
    count: int = 0

    def __getattr__(self, name: str) -> Any:
        if name in ("derivative", "fenchel_young", "value"):
            self.count += 1
        return getattr(self.losses, name)


@pytest.mark.parametrize("rule", SEARCHES)
@pytest.mark.parametrize("method", [FrankWolfe, *ACTIVE_SET])
@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
def test_counts(loss, method, rule):
    counting = Counting(Simplex(4.0))
    instance = problem(loss, counting, n=9)
    progress = method(rule).start(instance, None, np.random.default_rng(0))
    assert progress.step_gradients == 9
    vars(instance)["losses"] = looks = Looks(instance.losses)
    progress.advance(20)
    assert progress.gradients == 9 * looks.count
    assert progress.iteration == 20
    assert progress.oracle_calls == counting.calls["argmin"] == 21  # one for a start in the set
    if rule == "short-step" or (rule, loss) == ("exact", "least-squares"):
        assert progress.gradients == 9 * 20
    if (rule, loss) == ("exact", "logistic"):
        assert progress.gradients > 9 * 20


def test_line_searches_are_expected_to_cost_what_the_dearest_did():
    progress = AwayStep().start(on_simplex("logistic"), None, np.random.default_rng(0))
    used = [0]
    for _ in range(20):
        progress.advance(1)
        used.append(progress.gradients)
        assert progress.step_gradients == np.diff(used).max()
    assert progress.step_gradients > 60


# Refusals.


@pytest.mark.parametrize("method", [FrankWolfe, *ACTIVE_SET])
def test_unknown_rules_are_refused(method):
    rule = "golden" if method is FrankWolfe else "open-loop"
    said = f"rule of {method.__name__} is '{rule}'; expected one of .*exact, short-step, adaptive"
    with pytest.raises(ValueError, match=said):
        method(rule)


@pytest.mark.parametrize("method", [FrankWolfe, *ACTIVE_SET])
def test_batches_are_refused(method):
    said = f"batch is 2 rows; expected None or n = 5: {method.__name__} takes the gradient over all"
    with pytest.raises(ValueError, match=said):
        iterate(problem("logistic", "l1-ball"), method=method(), batch=2)
    assert iterate(problem("logistic", "l1-ball"), method=method(), batch=5)


# Deterministic mirror descent needs no method: it is the engine with all rows in each batch.


class OpenLoop(Schedule):
    """η_i = α_i = 2/(i+2), in place of Theorem 3.1's 2/(i+3) for b = n."""

    def step(self, i: Any) -> Any:
        return 2 / (i + 2)

    mixing = step

    def growth(self, i: Any, base: int) -> Any:
        return (i + 1) * (i + 2) / ((base + 1) * (base + 2))


def states(instance: Problem, **options: Any) -> list[Any]:
    marks = range(1, STEPS + 1)
    run = iterate(instance, tol=0.0, max_iterations=STEPS, record_at=marks, **options)
    return list(run)


def test_all_rows_in_each_batch_are_deterministic_mirror_descent():
    """∇h(w⁺) = (1−η)∇h(w) + η Xβ̃/n with h = L*/n: Algorithm 2 for b = n, whatever the seed."""
    instance = lasso("logistic")
    X, y = dense(instance), instance.losses.y
    found = [states(instance, batch=instance.n, method="rcmd", seed=seed) for seed in (0, 1)]
    w = -y / 2
    for i, (state, other) in enumerate(zip(*found, strict=True)):
        c, eta = X.T @ w / len(y), 2 / (i + 3)
        k = np.argmax(abs(c))
        mirror = y * np.log(-y * w / (1 + y * w)) * -1
        mirror = (1 - eta) * mirror - eta * RADIUS * np.sign(c[k]) * X[:, k]
        w = -y / (1 + np.exp(y * mirror))
        assert abs(state.w - w).max() <= 1e-10
        assert (state.w == other.w).all()
        assert state.gradients == (i + 1) * instance.n


def test_mirror_descent_with_open_loop_steps_is_frank_wolfe():
    instance = lasso("logistic")
    primal = states(instance, method=FrankWolfe())
    mirror, other = (
        states(instance, method=RCMD(batch=instance.n, schedule=schedule))
        for schedule in (OpenLoop(), SublinearSchedule(1.0))
    )
    for name in ("w", "s", "d", "beta_average"):
        expected = [getattr(state, name) for state in primal]
        assert furthest([getattr(state, name) for state in mirror], expected) <= 1e-10
        assert furthest([getattr(state, name) for state in other], expected) > 1e-3

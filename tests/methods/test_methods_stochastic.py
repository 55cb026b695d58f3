"""The stochastic methods against transcripts of their papers, theory and counts."""

import math
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from small_problems import dense, named, problem

from rcmd import L1Ball, L1Penalty, L2Ball, LeastSquares, Problem, Simplex, solve, truth
from rcmd.methods import (
    SCGM,
    SCGS,
    SFW,
    STORC,
    SVRF,
    Method,
    OnlineFrankWolfe,
    SagFrankWolfe,
    SarahFrankWolfe,
    method_named,
)
from rcmd.methods.sliding import slide
from rcmd.methods.stochastic import curvature, diameter, smoothness, steepness

SETTINGS = ("logistic", "least-squares", "weighted logistic", "weighted least-squares")


class Setting:
    """A problem in NumPy's words: gradients, vertices and random batches, nothing of rcmd's."""

    def __init__(self, name: str, seed: int) -> None:
        weighted, self.logistic = name.startswith("weighted"), name.endswith("logistic")
        if self.logistic:
            self.problem = problem("logistic", L1Ball(5.0), n=40, p=6, weighted=weighted)
        else:
            own: dict[str, Any] = {"layout": "csr", "weighted": weighted}
            self.problem = problem("least-squares", Simplex(2.0), n=40, p=6, **own)
        self.rng, self.weights = np.random.default_rng(seed), 1.0
        if weighted:
            self.weights = self.problem.losses.weights
        self.X, self.y, (self.n, self.p) = dense(self.problem), self.problem.losses.y, (40, 6)
        self.start = np.zeros(6) if self.logistic else 2.0 * np.eye(6)[0]

    def rates(self, beta: Any) -> Any:
        s = self.X @ beta
        rates = -self.y / (1 + np.exp(self.y * s)) if self.logistic else s - self.y
        return self.weights * rates

    def mean(self, rates: Any, batch: Any) -> Any:
        return self.X[batch].T @ rates[batch] / len(batch)

    def full(self, beta: Any) -> Any:
        return self.X.T @ self.rates(beta) / self.n

    def draw(self, size: float) -> Any:
        return self.rng.choice(self.n, size=int(size), replace=False)

    def vertex(self, c: Any) -> Any:
        if not self.logistic:
            return 2.0 * np.eye(self.p)[c.argmin()]
        k = abs(c).argmax()
        return -5.0 * np.sign(c[k]) * np.eye(self.p)[k]


# Each transcript yields β after every iteration.


def scgm(at: Setting) -> Iterator[Any]:
    x, d, t = at.start, np.zeros(at.p), 1
    while True:
        rho, step = 4 / (t + 8) ** (2 / 3), 1 / (t + 1 + 8)
        d = (1 - rho) * d + rho * at.mean(at.rates(x), at.draw(1))
        x = (1 - step) * x + step * at.vertex(d)
        yield x
        t += 1


def sfw(at: Setting) -> Iterator[Any]:
    x, k = at.start, 1
    while True:
        size, step = min(math.ceil(k**2), at.n // 2), 2 / (k + 1)
        x = (1 - step) * x + step * at.vertex(at.mean(at.rates(x), at.draw(size)))
        yield x
        k += 1


def svrf(at: Setting) -> Iterator[Any]:
    x, t = at.vertex(at.full(at.start)), 1
    while True:
        old, level = at.rates(x), at.full(x)
        for k in range(1, 2 ** (t + 3) - 2 + 1):
            batch, step = at.draw(min(k, at.n // 2)), 2 / (k + 1)
            estimate = at.mean(at.rates(x), batch) - at.mean(old, batch) + level
            x = (1 - step) * x + step * at.vertex(estimate)
            yield x
        t += 1


def sag(at: Setting) -> Iterator[Any]:
    x, w, t = at.start, np.zeros(at.n), 1
    while True:
        (i,) = at.draw(1)
        w = w
        w[i] = at.rates(x)[i]
        step = 2 / (t + 2)
        x = (1 - step) * x + step * at.vertex(at.X.T @ w / at.n)
        yield x
        t += 1


def sliding(at: Setting, g: Any, u: Any, beta: float, eta: float) -> Any:
    x = u
    while True:
        slope = g + beta * (x - u)
        v = at.vertex(slope)
        if slope @ (x - v) <= eta:
            return x
        alpha = min(1, slope @ (x - v) / (beta * (x - v) @ (x - v)))
        x = (1 - alpha) * x + alpha * v


def scgs(at: Setting) -> Iterator[Any]:
    x, y, k = at.start, at.start, 1
    L, LDD = smoothness(at.problem), curvature(at.problem)
    while True:
        gamma = 3 / (k + 2)
        z = (1 - gamma) * y + gamma * x
        g = at.mean(at.rates(z), at.draw(min(k**3, at.n // 2)))
        x = sliding(at, g, x, 4 * L / (k + 2), LDD / (k * (k + 1)))
        y = (1 - gamma) * y + gamma * x
        yield y
        k += 1


def storc(at: Setting) -> Iterator[Any]:
    y, t = at.vertex(at.full(at.start)), 1
    L, LDD = smoothness(at.problem), curvature(at.problem)
    while True:
        x, old, level, N = y, at.rates(y), at.full(y), math.ceil(2 ** (t / 2 + 2))
        for k in range(1, N + 1):
            gamma = 2 / (k + 1)
            z = (1 - gamma) * y + gamma * x
            batch = at.draw(at.n // 2)  # the rule asks for 700·6 rows at least
            g = at.mean(at.rates(z) - old, batch) + level
            x = sliding(at, g, x, 3 * L / k, 2 * LDD / (N * k))
            y = (1 - gamma) * y + gamma * x
            yield y
        t += 1


def online(at: Setting) -> Iterator[Any]:
    x, g, sigma, t = at.start, np.zeros(at.p), 0.0, 1
    scale = steepness(at.problem) / diameter(at.problem)
    while True:
        g, sigma = g + at.mean(at.rates(x), at.draw(1)), sigma + scale * t**-0.25
        step = t**-0.5
        x = (1 - step) * x + step * at.vertex((g + 2 * sigma * (x - at.start)) / t)
        yield x
        t += 1


def sarah(at: Setting) -> Iterator[Any]:
    x, b, k = at.start, 6, 0
    p, g = b / (at.n + b), at.full(x)
    while True:
        before, step = x, 2 / (k + 4 / p)
        x = (1 - step) * x + step * at.vertex(g)
        yield x
        if at.rng.random() < p:
            g = at.full(x)
        else:
            g = g + at.mean(at.rates(x) - at.rates(before), at.draw(b))
        k += 1


TRANSCRIPTS = {
    method_named(transcript.__name__): transcript
    for transcript in (scgm, sfw, svrf, sag, scgs, storc, online, sarah)
}
METHODS: list[Method] = [*TRANSCRIPTS]


@pytest.mark.parametrize("setting", SETTINGS)
@named(METHODS)
def test_the_method_is_its_paper(method: Method, setting: str) -> None:
    at = Setting(setting, seed=3)
    run = method.start(at.problem, None, np.random.default_rng(3))
    for beta in islice(TRANSCRIPTS[method](at), 50):
        run.advance(1)
        np.testing.assert_allclose(run.beta, beta, rtol=0, atol=1e-10)


# Rates


def errors(method: Method, instance: Problem, marks: Any, seeds: int, batch: Any = None) -> Any:
    """The mean over seeds of P(β) − P* after so many iterations."""
    best, found = truth.solve(instance).primal, []
    for seed in range(seeds):
        run = method.start(instance, batch, np.random.default_rng(seed))
        for mark in marks:
            run.advance(mark - run.iteration)
            found.append(instance.primal(run.averages()[0]) - best)
    return np.mean(np.reshape(found, (seeds, -1)), axis=0)


def slope(marks: Any, values: Any) -> float:
    return float(np.polyfit(np.log(marks), np.log(values), 1)[0])


SVRF_EPOCHS = np.cumsum([2 ** (t + 3) - 2 for t in range(1, 6)])
STORC_EPOCHS = np.cumsum([math.ceil(2 ** (t / 2 + 2)) for t in range(1, 11)])
DOUBLED = [25, 50, 100, 200, 400, 800]
RATES: list[tuple[Method, Any, int, float]] = [
    (SCGM(), DOUBLED, 5, -1 / 3),
    (SFW(cap=1.0), [4, 6, 9, 13, 19], 8, -1.0),  # k² < n: every batch is random
    (SVRF(), SVRF_EPOCHS, 3, -1.0),
    (SagFrankWolfe(), DOUBLED, 3, -1.0),
    (SCGS(cap=1.0), [16, 32, 64, 128], 3, -2.0),  # before, β = 0 is as good as it asks for
    (STORC(), STORC_EPOCHS, 3, -2.0),
    (SarahFrankWolfe(), [*DOUBLED, 1600], 3, -1.0),
]


@pytest.mark.parametrize(
    ("method", "marks", "seeds", "order"), RATES, ids=[type(r[0]).__name__ for r in RATES]
)
def test_the_rate_is_the_published_one(
    method: Method, marks: Any, seeds: int, order: float
) -> None:
    instance = problem("logistic", L1Ball(5.0), n=400, p=8, seed=1)
    assert slope(marks, errors(method, instance, marks, seeds)) < order + 0.2


def test_the_online_rate_is_the_published_one() -> None:
    # Its smoothing hides the rate until T^{1/4} is large beside p.
    instance = problem("logistic", L1Ball(5.0), n=20, p=3, seed=1)
    marks = [250, 500, 1000, 2000, 4000]
    assert slope(marks, errors(OnlineFrankWolfe(), instance, marks, 3)) < -1 / 4 + 0.1


@pytest.mark.parametrize("name", ["logistic", "least-squares"])
def test_epochs_halve_the_bound(name: str) -> None:
    """E P(β) − P* ≤ LD²/2^{t+1} after epoch t, in the theorems of SVRF and of STORC."""
    instance = problem(name, L1Ball(1.0), n=60, p=8, seed=1)
    scale = smoothness(instance) * 2.0**2
    for method, marks in ((SVRF(cap=1.0), SVRF_EPOCHS), (STORC(cap=1.0), STORC_EPOCHS)):
        bounds = scale / 2.0 ** np.arange(2, len(marks) + 2)
        assert (errors(method, instance, marks, 2) <= bounds).all()


def test_capped_batches_end_the_rate() -> None:
    """Half of the rows is a gradient with noise that stays: why the rates need cap = 1."""
    instance, marks = problem("least-squares", L1Ball(1.0), n=60, p=8, seed=1), [100, 400]
    assert slope(marks, errors(SFW(), instance, marks, 5)) > -0.3
    assert slope(marks, errors(SFW(cap=1.0), instance, marks, 5)) < -1.0


@named(METHODS)
@pytest.mark.parametrize("oracle", ["l1-penalty", "ridge", "moved-l1-ball"])
def test_penalties_and_sets_without_zero_converge_too(method: Method, oracle: str) -> None:
    instance = problem("least-squares", oracle, n=30, weighted=True)
    slow = isinstance(method, OnlineFrankWolfe)
    first, last = errors(method, instance, [100, 2000] if slow else [2, 600], 1, batch=30)
    assert last < first * (0.8 if slow else 0.05)


# Counts


def test_batches_follow_the_table() -> None:
    """Table of batch sizes: min{k², n/2}, min{k³, n/2}, min{k, n/2} and 0.01n."""
    instance = problem("least-squares", L1Ball(1.0), n=300)

    def sizes(method: Method, steps: int) -> list[int]:
        run, spent = method.start(instance, None, np.random.default_rng(0)), [0]
        for _ in range(steps):
            run.advance(1)
            spent.append(run.gradients)
        return np.diff(spent).tolist()

    assert sizes(SFW(), 14) == [min(k**2, 150) for k in range(1, 15)]
    assert sizes(SCGS(), 7) == [1, 8, 27, 64, 125, 150, 150]
    assert sizes(SVRF(), 16) == [601, *range(2, 15), 301, 2]
    assert sizes(SCGM(), 2) == sizes(SagFrankWolfe(), 2) == sizes(OnlineFrankWolfe(), 2) == [3, 3]
    assert sizes(STORC(), 7) == [750, 150, 150, 150, 150, 150, 450]


def test_storc_asks_for_the_batches_of_its_theorem() -> None:
    instance = problem("logistic", L1Ball(5.0), n=40, p=6)
    run: Any = STORC().start(instance, None, np.random.default_rng(0))
    ratio = steepness(instance) / (smoothness(instance) * diameter(instance))
    assert [run.batch_rule(k) for k in (1, 6)] == [
        math.ceil(700 * 6 + 24 * 6 * ratio * (k + 1)) for k in (1, 6)
    ]


# Runs


def test_the_certified_online_point_is_the_mean() -> None:
    instance = problem("logistic", L1Ball(5.0), n=40, p=6)
    run = OnlineFrankWolfe().start(instance, None, np.random.default_rng(0))
    points = []
    for _ in range(9):
        points.append(run.beta.copy())
        run.advance(1)
    np.testing.assert_allclose(run.averages()[0], np.mean(points, axis=0), atol=1e-14)


@named([SVRF(), STORC()])
def test_the_certified_point_is_where_an_epoch_ended(method: Method) -> None:
    instance = problem("logistic", L1Ball(5.0), n=40, p=6)
    run: Any = method.start(instance, None, np.random.default_rng(0))
    while run.epoch < 6 or run.done:  # STORC's first epochs ask for so little that β stays
        run.advance(1)
    end = run.beta.copy()
    assert run.averages()[0].tolist() == end.tolist()
    moved = 0
    for _ in range(run.length - 1):  # within the epoch
        run.advance(1)
        assert run.averages()[0].tolist() == end.tolist()
        moved += run.beta.tolist() != end.tolist()
    assert moved
    run.advance(1)
    assert run.averages()[0].tolist() == run.beta.tolist() != end.tolist()


def test_sag_keeps_a_dual_point_and_its_slope() -> None:
    instance = problem("logistic", L1Ball(5.0), n=40, p=6)
    run = SagFrankWolfe().start(instance, 4, np.random.default_rng(0))
    run.advance(30)
    kept, before = run.w, run.w.copy()
    np.testing.assert_allclose(run.d, instance.gradient(kept), atol=1e-14)
    run.advance(5)  # which must not reach into what was handed out
    assert kept.tolist() == before.tolist() != run.w.tolist()


# Parts


@pytest.mark.parametrize("oracle", [L2Ball(0.75), L1Ball(1.0), L1Penalty(0.3, 2.0)])
@pytest.mark.parametrize("error", [1e-1, 1e-4])
def test_sliding_solves_its_subproblem(oracle: Any, error: float) -> None:
    import cvxpy as cp

    instance = problem("least-squares", oracle)
    run: Any = SCGS().start(instance, None, np.random.default_rng(0))
    slope, centre = np.array([1.0, -2.0, 0.5, 0.1]), np.array([0.3, 0.1, -0.2, 0.0])
    found = slide(run, slope, centre, 1.5, error)
    u = cp.Variable(4)
    penalty, inside = instance.oracle.cvxpy_form(u)
    goal = slope @ u + 0.75 * cp.sum_squares(u - centre) + penalty
    best = cp.Problem(cp.Minimize(goal), inside).solve(solver="CLARABEL")
    u.value = found
    assert -1e-7 < float(goal.value - best) <= error


def test_constants_are_those_of_the_data() -> None:
    instance = problem("logistic", L1Ball(5.0), n=30, p=4, weighted=True)
    X, gammas = dense(instance), instance.losses.weights / 4
    largest = np.linalg.eigvalsh(X.T @ (gammas[:, None] * X) / 30)[-1]
    assert smoothness(instance) == pytest.approx(largest, rel=1e-8)
    widths = 10.0 * abs(X).max(axis=1)
    assert curvature(instance) == pytest.approx(np.mean(gammas * widths**2))
    assert smoothness(instance) * diameter(instance) ** 2 == pytest.approx(curvature(instance))
    steepest = 2 * gammas + gammas * widths / 2  # |l_j'(0)| + γ_j M_j, of which no response is more
    expected = (steepest * np.linalg.norm(X, axis=1)).max()
    assert steepness(instance) == pytest.approx(expected)


@pytest.mark.parametrize("method", [SCGS(), STORC(), OnlineFrankWolfe()])
def test_data_without_curvature_are_no_division_by_zero(method: Method) -> None:
    instance = Problem(np.zeros((3, 2)), np.ones(3), LeastSquares(), L1Penalty(0.1, 1.0))
    result = solve(instance, method=method, tol=1e-12, max_iterations=20)
    assert result.primal == pytest.approx(0.5)


# Refusals


@named([SFW, SVRF, SCGS, STORC])
@pytest.mark.parametrize("cap", [0.0, 1.5, math.nan, "half"])
def test_a_cap_is_a_share(method: Any, cap: Any) -> None:
    with pytest.raises(ValueError, match=r"cap of \w+ is .*share of all rows, in \(0, 1\]"):
        method(cap)

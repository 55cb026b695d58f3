"""SDCA, Quartz and APCG against their papers' own words, CVXPY, scikit-learn and their rates."""

import itertools
import math
from dataclasses import dataclass
from functools import cache

import data_files
import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.optimize import brentq

from rcmd import (
    RCMD,
    ExactProx,
    LeastSquares,
    Logistic,
    OperatorRows,
    Problem,
    Ridge,
    Translated,
    iterate,
    solve,
    truth,
)
from rcmd.datasets import make_classification, map_labels, read_libsvm
from rcmd.engine.sampling import Replay, UniformSampler
from rcmd.methods import Apcg, Quartz, Sdca
from rcmd.theory import expected_gap
from tests import small_problems as small

METHODS = {"sdca": Sdca(), "quartz": Quartz(), "apcg": Apcg()}
EDGE = 1e-15


def drawn(steps, n, seed):
    """The rows that batches of one take from a generator."""
    rng = np.random.default_rng(seed)
    return [int(rng.random() * n) for _ in range(steps)]


def duals(problem, method, steps, seed=0, **options):
    options = {"tol": 0.0, "max_iterations": steps, "record_at": range(1, steps + 1)} | options
    return [state.w for state in iterate(problem, method=method, seed=seed, **options)]


def root_in_domain(problem, j, function):
    """The v in dom l_j* at which an increasing function of it is 0."""
    low, high = (end[j] for end in problem.losses.domain)
    margin = EDGE * (high - low) if math.isfinite(high - low) else 0.0
    low, high = max(low + margin, -1e6), min(high - margin, 1e6)
    return brentq(function, low, high, xtol=1e-16, rtol=1e-15, maxiter=1000)


def conjugate_slope(problem, j, v):
    weight = 1.0 if problem.losses.weights is None else problem.losses.weights[j]
    return problem.loss.conjugate_derivative(v / weight, problem.losses.y[j])


def sdca_transcript(problem, order, start):
    """Shalev-Shwartz and Zhang in their words: α = −w, β = Xᵀα/(λn), one α_j at a time."""
    X, n, strength = small.dense(problem), problem.n, problem.oracle.mu
    kappas = (X * X).sum(axis=1) / (n * strength)
    alpha = -start
    for j in order:
        prediction = X[j] @ (X.T @ alpha) / (strength * n)

        def rise(v, j=j, prediction=prediction):
            return conjugate_slope(problem, j, v) - prediction + kappas[j] * (v + alpha[j])

        alpha[j] = -root_in_domain(problem, j, rise)
        yield -alpha


def quartz_transcript(problem, order, start):
    """Qu, Richtárik and Zhang in their words: θ, p_j = 1/n, α = −w, and −∇l_j at the new β."""
    X, n, strength = small.dense(problem), problem.n, problem.oracle.mu
    gammas, squares = 1 / problem.losses.gammas, (X * X).sum(axis=1)
    theta = (strength * gammas * n / (squares + strength * gammas * n)).min() / n
    alpha = -start
    beta = X.T @ alpha / (strength * n)
    for j in order:
        beta = (1 - theta) * beta + theta * (X.T @ alpha) / (strength * n)
        slope = problem.losses.derivative(X @ beta)[j]
        alpha[j] = (1 - theta * n) * alpha[j] - theta * n * slope
        yield -alpha


def apcg_transcript(problem, order, start):
    """Lin, Lu and Xiao's three sequences, each of length n and written out."""
    X, n, strength = small.dense(problem), problem.n, problem.oracle.mu
    gammas = problem.losses.gammas
    L = (X * X).sum(axis=1) / (n**2 * strength) + 1 / (n * gammas)
    convexity = (1 / (n * gammas * L)).min()
    alpha = math.sqrt(convexity) / n
    x, z = start.copy(), start.copy()
    for j in order:
        y = (x + alpha * z) / (1 + alpha)
        slope = X[j] @ (X.T @ y) / (n**2 * strength) + y[j] / (n * gammas[j])
        middle = (1 - alpha) * z + alpha * y

        def rise(v, j=j, slope=slope, middle=middle):
            psi = (conjugate_slope(problem, j, v) - v / gammas[j]) / n
            return n * alpha * L[j] * (v - middle[j]) + slope + psi

        new = middle.copy()
        new[j] = root_in_domain(problem, j, rise)
        x = y + n * alpha * (new - z) + n * alpha**2 * (z - y)
        z = new
        yield x.copy()


TRANSCRIPTS = {
    "sdca": (sdca_transcript, 1e9),
    "quartz": (quartz_transcript, 1e9),
    "apcg": (apcg_transcript, None),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
@pytest.mark.parametrize("name", METHODS)
def test_fifty_steps_of_the_paper(name, loss, layout, weighted):
    """The balls of SDCA and Quartz are so large that no atom touches them: the papers have none."""
    transcript, radius = TRANSCRIPTS[name]
    problem = small.problem(loss, Ridge(0.02, radius), n=7, layout=layout, weighted=weighted)
    order, start = drawn(50, problem.n, seed=3), problem.losses.derivative(np.zeros(7))
    found = np.array(duals(problem, METHODS[name], 50, seed=3))
    expected = np.array(list(transcript(problem, order, start)))
    assert_allclose(found, expected, rtol=0, atol=1e-10)


def badly_conditioned(strength=2e-4):
    """σ is about 700: what acceleration is for."""
    X, y = make_classification(80, 20, density=0.5, rng=4)
    return Problem(X, y, Logistic(), Ridge(strength))


@pytest.mark.parametrize("name", METHODS)
def test_cvxpy_optimum_is_reached(name):
    problem = badly_conditioned(0.01)
    result = solve(problem, method=METHODS[name], tol=1e-9)
    optimum = truth.solve(problem)
    assert result.success
    assert abs(result.primal - optimum.primal) <= 1e-7
    assert_allclose(result.beta, optimum.beta, atol=1e-4)


@pytest.mark.parametrize("loss", ["least-squares", "logistic"])
@pytest.mark.parametrize("oracle", ["ridge-cut", "moved-ridge"])
def test_sdca_for_other_strongly_convex_regularizers(loss, oracle):
    problem = small.problem(loss, oracle, n=12)
    result = solve(problem, method=Sdca(), tol=1e-10)
    assert result.success
    assert abs(result.primal - truth.solve(problem).primal) <= 1e-6


def fitted_rate(problem, method, steps, seeds):
    """The slope of log E[D* − D(w^k)] in k, over the last two thirds of the marks."""
    best = solve(problem, method=Apcg(), tol=1e-14).dual
    marks = np.linspace(steps // 24, steps, 24).astype(int)
    runs = []
    for seed in range(seeds):
        run = duals(problem, method, steps, seed=seed, record_at=marks)
        runs.append([best - problem.dual(w) for w in run])
    errors = np.mean(runs, axis=0)[8:]
    assert errors.min() > 1e-12  # above rounding, so that the slope is the method's
    return np.polyfit(marks[8:], np.log(errors), 1)[0]


def test_published_rates():
    problem = badly_conditioned()
    n, sigma = problem.n, problem.constants(1).sigma
    assert sigma > 500
    sdca = fitted_rate(problem, Sdca(), round(4 * n * sigma), seeds=4)
    apcg = fitted_rate(problem, Apcg(), round(5 * n * math.sqrt(sigma)), seeds=4)
    assert sdca <= 0.8 * math.log1p(-1 / (n * sigma))
    accelerated = 0.8 * math.log1p(-1 / (n * math.sqrt(sigma)))
    assert apcg <= accelerated < sdca  # and a method without acceleration would be told


def test_acceleration_saves_passes():
    problem = badly_conditioned()
    plain, accelerated = (solve(problem, method=m, tol=1e-9) for m in (Sdca(), Apcg()))
    assert plain.success
    assert accelerated.success
    assert accelerated.passes < plain.passes / 2


def test_each_row_has_its_own_curvature():
    """Rows of very different lengths: one κ for all would be that of the longest."""
    X, y = make_classification(80, 20, density=0.5, rng=4)
    lengths = np.random.default_rng(0).choice([1.0, 10.0], 80, p=[0.95, 0.05])
    problem = Problem(sp.diags_array(lengths) @ X, y, Logistic(), Ridge(1e-2))
    own = solve(problem, method=Sdca(), tol=1e-6)
    one = solve(problem, method=RCMD(prox=ExactProx()), tol=1e-6, max_gradients=10**7)
    assert own.success
    assert own.passes < one.passes / 3


@pytest.mark.parametrize("batch", [2, 12])
def test_sdca_in_batches(batch):
    problem = small.problem("logistic", "ridge", n=12)
    assert solve(problem, method=Sdca(), batch=batch, tol=1e-10).success


@pytest.mark.parametrize("name", METHODS)
def test_slices_do_not_matter(name):
    problem = small.problem("logistic", "ridge", n=9)
    steps = 40 * problem.n
    one_by_one = duals(problem, METHODS[name], steps)[-1]
    at_once = duals(problem, METHODS[name], steps, record_at=[steps])[-1]
    assert_allclose(one_by_one, at_once, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", ["sdca", "apcg"])
def test_the_pair_belongs_together(name):
    problem = small.problem("logistic", "ridge")
    state = next(iterate(problem, method=METHODS[name], tol=0.0, max_iterations=9, record_at=[9]))
    assert_allclose(state.d, problem.gradient(state.w), atol=1e-15)
    atom = problem.oracle.argmin(state.d).vector
    assert_allclose(state.beta_average, atom, atol=1e-14)


def test_apcg_on_one_row_and_on_rows_of_zeros():
    one = Problem([[2.0]], [3.0], LeastSquares(), Ridge(1.0))
    assert_allclose(solve(one, method=Apcg(), tol=1e-12).beta, [6 / 5], atol=1e-6)
    zeros = Problem([[0.0], [0.0]], [3.0, 1.0], LeastSquares(), Ridge(1.0))
    assert solve(zeros, method=Apcg(), tol=1e-12).beta == [0.0]
    single = Problem([[0.0]], [3.0], LeastSquares(), Ridge(1.0))
    assert solve(single, method=Apcg(), tol=1e-12, max_iterations=200).primal == 0.5 * 9


@dataclass(frozen=True)
class Broken(LeastSquares):
    """No number beyond s = 1/10."""

    def derivative(self, s, y):
        return s - y if s < 0.1 else math.nan


@pytest.mark.parametrize("name", METHODS)
def test_a_loss_that_breaks_is_named(name):
    problem = Problem([[1.0], [2.0]], [3.0, 1.0], Broken(), Ridge(0.1), verify=False)
    method = METHODS[name].start(problem, None, np.random.default_rng(0))
    for _ in range(2):  # and again, instead of going on from numbers that are none
        with pytest.raises(FloatingPointError, match=r"became NaN or infinite.*Broken"):
            method.advance(20)


def test_sdca_in_fractions_is_the_closed_form():
    """For l = (s − y)²/2 a step is α_j ← α_j + (y_j − x_jᵀβ − α_j)/(1 + κ_j), α = −w."""
    problem = small.exact_problem("ridge")
    X, y, n, strength = small.dense(problem), problem.losses.y, problem.n, problem.oracle.mu
    kappas = (X * X).sum(axis=1) / (n * strength)
    alpha = y.copy()  # w⁰ = −y
    found = duals(problem, Sdca(), 30, seed=5)
    for j, w in zip(drawn(30, n, seed=5), found, strict=True):
        alpha[j] += (y[j] - X[j] @ (X.T @ alpha) / (strength * n) - alpha[j]) / (1 + kappas[j])
        assert (w == -alpha).all()
    assert all(isinstance(number, small.F) for number in found[-1])


def quartz_by_hand(problem, batches, off=1):
    """β^k and w^k in the problem's own numbers; ``off`` is a factor of θ alone."""
    X, y, n, b = small.dense(problem), problem.losses.y, problem.n, len(batches[0])
    sigma, oracle = problem.constants(b).sigma, problem.oracle
    w = -y
    beta = oracle.argmin(X.T @ w / n).vector
    for batch in batches:
        atom = oracle.argmin(X.T @ w / n).vector
        beta = beta + off * (atom - beta) * b / (n * sigma)
        w = w.copy()
        for j in batch:
            w[j] += ((X @ beta - y)[j] - w[j]) / sigma
        yield beta, w


@pytest.mark.parametrize("batch", [1, 2])
def test_quartz_in_fractions_is_the_plain_loop(batch):
    problem = small.exact_problem("ridge")
    sampler = UniformSampler(problem.n, batch, np.random.default_rng(5))
    batches = sampler.draw(20)
    run = Quartz().start(problem, batch, np.random.default_rng(5))
    for beta, w in quartz_by_hand(problem, batches):
        run.advance(1)
        assert (run.beta == beta).all()
        assert (run.w == w).all()
    assert all(isinstance(number, small.F) for number in (*run.beta, *run.w))
    wrong = list(quartz_by_hand(problem, batches, off=small.F(101, 100)))[-1]
    assert (run.beta != wrong[0]).any()


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("batch", [1, 3])
def test_compiled_quartz_is_the_plain_one(layout, batch):
    problem = small.problem("logistic", "ridge", n=7, layout=layout, weighted=True)
    compiled, plain = (Quartz().start(problem, batch, np.random.default_rng(2)) for _ in range(2))
    assert compiled.batches._kernels is not None
    plain.batches._kernels = None
    for _ in range(50):
        compiled.advance(1)
        plain.advance(1)
        assert_allclose(compiled.beta, plain.beta, rtol=0, atol=1e-14)
        assert_allclose(compiled.w, plain.w, rtol=0, atol=1e-14)


def quartz_mean(problem, batch, steps):
    """E[P(β^k) − D(w^k)] of rcmd's own runs over all sequences of batches."""
    gaps = []
    choices = list(itertools.combinations(range(problem.n), batch))
    for order in itertools.product(choices, repeat=steps):
        run = Quartz().start(problem, batch, np.random.default_rng(0))
        run.sampler = Replay([list(rows) for rows in order])
        run.advance(steps)
        gaps.append(problem.primal(run.beta) - problem.dual(run.w))
    return sum(gaps) / len(gaps), run.bound


@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_expected_gap_of_quartz_is_below_its_bound(batch, steps):
    problem = small.exact_problem("ridge")
    mean, bound = quartz_mean(problem, batch, steps)
    assert 0 < mean <= bound
    assert expected_gap(problem, steps, method=Quartz(), batch=batch) == mean
    ones = np.array([[small.F(1)], [small.F(1)]])
    equal = Problem(ones, ones[:, 0], LeastSquares(), Ridge(small.F(2), small.F(9)))
    mean, bound = quartz_mean(equal, batch, steps)
    assert mean <= bound * (1 + 1e-15)
    assert steps > 1 or mean > 0.99 * bound  # where it is attained


def test_quartz_shows_its_bound_where_its_hypotheses_hold():
    problem = small.problem("logistic", "ridge")
    run = Quartz().start(problem, None, np.random.default_rng(0))
    run.advance(3)
    c = problem.constants()
    assert run.bound == pytest.approx(c.start_gap * (1 - 1 / (problem.n * c.sigma)) ** 3, rel=1e-12)
    assert run.facts.theorem == "quartz"

    class Other(Quartz):
        """Whoever inherits may do something else."""

    other = Other().start(problem, None, np.random.default_rng(0))
    other.advance(3)
    assert math.isnan(other.bound)
    assert "no bound: the method is another class, a subclass or altered" in other.note
    result = solve(problem, method=Quartz(), tol=1e-9)
    assert result.success
    assert result.history[-1].bound > 0


def test_refusals():
    for oracle in (Ridge(0.1, 3.0), Translated(Ridge(0.5), np.ones(4))):
        with pytest.raises(ValueError, match="without a radius, and no intercept"):
            solve(small.problem("logistic", oracle), method=Apcg())
    X, y, _ = small.data()
    lifted = Problem(X, y, LeastSquares(), Ridge(0.1), intercept=2.0)
    with pytest.raises(ValueError, match=r"got R = Ridge\(.*with an intercept; expected"):
        solve(lifted, method=Apcg())
    with pytest.raises(ValueError, match="batch is 3 rows for Apcg; expected 1"):
        solve(small.problem("logistic", "ridge"), method=Apcg(), batch=3)
    rows = OperatorRows(sp.linalg.aslinearoperator(X))
    with pytest.raises(ValueError, match="held as OperatorRows for Apcg; expected dense or sparse"):
        solve(Problem(rows, y, LeastSquares(), Ridge(0.1)), method=Apcg())
    with pytest.raises(ValueError, match="batch is 9; expected between 1 and n = 5"):
        solve(small.problem("logistic", "ridge"), method=Sdca(), batch=9)


@cache
def a9a(strength=1e-4):
    """The problem, and the optimum of scikit-learn."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = read_libsvm(data_files.path("a9a"))
    y = map_labels(y)[0]
    model = linear_model.LogisticRegression(
        C=1 / (strength * len(y)), fit_intercept=False, solver="newton-cholesky", tol=1e-12
    ).fit(sp.csr_matrix(X).toarray(), y)
    return Problem(X, y, Logistic(), Ridge(strength)), model.coef_[0]


@data_files.needs("a9a")
@pytest.mark.parametrize(
    "name",  # Quartz steps in Python
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "quartz")) for name in METHODS],
)
def test_scikit_learn_agrees_on_a9a(name):
    problem, beta = a9a()
    result = solve(problem, method=METHODS[name], batch=1, tol=1e-10)
    assert result.success
    assert abs(result.primal - problem.primal(beta)) <= 1e-9
    assert_allclose(result.beta, beta, atol=1e-4)
    eight_digits = next(row for row in result.history if row.gap <= 1e-8)
    assert eight_digits.gradients < 60 * problem.n

"""Non-smooth minimization: CVXPY's optimum, the theorem's bound, certificates, refusals."""

from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose

from rcmd import RCMD, LeastSquares, Logistic, SmoothedHinge, iterate
from rcmd.applications.nonsmooth import as_dual, minimize
from rcmd.engine.sampling import Replay
from rcmd.model import bounds

N, PLANES = 8, 20
RNG = np.random.default_rng(11)
A, B, Y = RNG.normal(size=(PLANES, N)), RNG.normal(size=PLANES), RNG.normal(size=N)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
STEEPEST = abs(A).max(axis=0)


def chebyshev(w):
    """max_i a_iᵀw + b_i and the steepest plane there."""
    heights = A @ w + B
    return heights.max(), A[heights.argmax()]


def entropy(w):
    """τ of the logistic loss at y = 1, in CVXPY: l*(w) on −1 ≤ w ≤ 0."""
    return cp.sum(-cp.entr(-w) - cp.entr(1 + w))


TAUS = {
    "quadratic": (LeastSquares(), Y, None, lambda w: cp.sum_squares(w) / 2 + Y @ w),
    "weighted": (
        LeastSquares(),
        Y,
        WEIGHTS,
        lambda w: cp.sum(cp.multiply(1 / WEIGHTS, cp.square(w))) / 2 + Y @ w,
    ),
    "entropy": (Logistic(), np.ones(N), None, entropy),
}


def optimum(name):
    w = cp.Variable(N)
    programme = cp.Problem(cp.Minimize(cp.max(A @ w + B) + TAUS[name][3](w)))
    programme.solve(solver=cp.CLARABEL)
    return programme.value, w.value


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("name", TAUS)
def test_chebyshev_type_problem(name, batch):
    tau, y, weights, _ = TAUS[name]
    best, where = optimum(name)
    found = minimize(chebyshev, STEEPEST, tau, y, weights=weights, batch=batch, tol=2e-3)
    assert found.result.success
    assert -1e-7 <= found.value - best <= found.gap <= 2e-3
    assert found.lower_bound <= best + 1e-7
    assert found.value - best <= found.expected_error
    assert_allclose(found.value - found.lower_bound, found.gap, atol=1e-9)
    constants = as_dual(chebyshev, STEEPEST, tau, y, weights=weights).constants(batch)
    assert found.expected_error == N * bounds.named("sublinear-dual")(constants, found.result.nit)
    assert_allclose(found.w, where, atol=0.1)
    w = cp.Constant(found.w)
    assert_allclose(found.value, chebyshev(found.w)[0] + TAUS[name][3](w).value, atol=1e-8)


@pytest.mark.parametrize("name", TAUS)
def test_mean_error_obeys_the_bound_and_its_order(name):
    tau, y, weights, _ = TAUS[name]
    best, _ = optimum(name)
    problem = as_dual(chebyshev, STEEPEST, tau, y, weights=weights)
    marks = [100, 500, 2500]
    options = {"tol": 0.0, "method": "rcmd", "record_at": marks, "max_iterations": marks[-1]}
    runs = [
        [-N * problem.dual(state.w_average) - best for state in iterate(problem, seed=s, **options)]
        for s in range(6)
    ]
    errors = np.mean(runs, axis=0)
    limits = [N * bounds.named("sublinear-dual")(problem.constants(1), k) for k in marks]
    assert (errors > 0).all()
    assert (errors <= limits).all()
    assert (errors > np.array(limits) / 1000).any()  # a bound a thousand times smaller would fail
    assert np.polyfit(np.log(marks), np.log(errors), 1)[0] <= -0.8


def corner(w):
    """|w₁ + w₂ − 1|/2 and a subgradient of it."""
    side = 0.5 if w[0] + w[1] > 1 else -0.5
    return abs(w[0] + w[1] - 1) / 2, np.full(2, side)


def transcript(sequence, y, fault=1.0):
    """The method in the words of w, for τ_j(w) = w²/2 + y_j w, and the average of Theorem 3.1."""
    n, w, total, weight = 2, -y, np.zeros(2), 0.0
    for i, j in enumerate(sequence):
        total, weight = total + (2 * n + i) * w, weight + 2 * n + i
        eta = fault * 2 * n / (2 * n + i + 1)
        slope = corner(w)[1]
        w = w.copy()
        w[j] -= eta * (slope[j] + w[j] + y[j])
    return w, total / weight


def test_every_short_run_is_the_transcript_and_their_mean_obeys_the_bound():
    y, steps = np.array([0.5, -0.125]), 6
    problem = as_dual(corner, 0.5, LeastSquares(), y)
    shift = min((1 + y.sum()) / 2, 0.5)  # w* = −y + shift
    best = corner(shift - y)[0] + ((shift - y) ** 2 / 2 + y * (shift - y)).sum()
    values = []
    for sequence in product(range(2), repeat=steps):
        sampler = Replay([[j] for j in sequence])
        options = {"tol": 0.0, "max_iterations": steps, "record_at": [steps]}
        state = next(iterate(problem, method=RCMD(sampler=sampler), **options))
        w, average = transcript(sequence, y)
        assert_allclose(state.w, w, atol=1e-14)
        assert_allclose(state.w_average, average, atol=1e-14)
        assert abs(transcript(sequence, y, fault=0.99)[0] - w).max() > 1e-4
        values.append(-2 * problem.dual(state.w_average))
        assert -2 * state.primal <= best + 1e-12
    limit = 2 * bounds.named("sublinear-dual")(problem.constants(1), steps)
    assert 0 < np.mean(values) - best <= limit


def test_the_dual_is_minus_the_target():
    tau, y, weights, _ = TAUS["weighted"]
    problem = as_dual(chebyshev, STEEPEST, tau, y, weights=weights)
    for w in np.random.default_rng(0).normal(size=(20, N)):
        target = chebyshev(w)[0] + (w**2 / WEIGHTS / 2 + Y * w).sum()
        assert_allclose(-N * problem.dual(w), target, rtol=1e-13)


def test_a_kink_of_tau_does_no_harm():
    """τ_j = w²/2 + w on −1 ≤ w ≤ 0 has no derivative at its ends: 2|w + 1| holds w there."""
    found = minimize(
        lambda w: (2 * abs(w[0] + 1), 2 * np.sign(w + 1)), 2.0, SmoothedHinge(1.0), [1.0], tol=1e-5
    )
    assert found.result.success
    assert_allclose(found.w, [-1.0], atol=1e-4)


@pytest.mark.parametrize(
    ("f_bar", "y"),
    [
        (lambda w: (np.cos(3 * w[0]), -3 * np.sin(3 * w)), [-0.1]),  # not convex
        (lambda w: (abs(w[0] - 3), -np.sign(w - 3)), [0.0]),  # a wrong sign
    ],
)
def test_the_certificate_tells_what_is_no_subgradient(f_bar, y):
    with pytest.raises(ValueError, match=r"f_bar lies .* below the planes that its own subgrad"):
        minimize(f_bar, 3.0, LeastSquares(), y, tol=0.0, max_iterations=200)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"f_bar": 3}, "f_bar is 3; expected a function of w that returns"),
        ({"tau": "x"}, r"tau is 'x'; expected a SeparableConjugate \(l, l\*\)"),
        ({"bounds": np.ones(3)}, r"bounds has shape \(3,\).*each of the 2 entries of y"),
        ({"bounds": [np.inf, 1.0]}, "bounds holds inf"),
        ({"bounds": -1.0}, r"bounds has shape .* expected one number ≥ 0"),
        ({"bounds": 0.25}, r"entry 0 is -?0\.5; expected at most bounds\[0\] = 0\.25"),
        ({"bounds": 0.5 * (1 - 1e-6)}, r"entry 0 is -?0\.5; expected at most bounds\[0\] = 0\.49"),
        ({"f_bar": lambda w: (0.0, np.zeros(1))}, r"a subgradient of shape \(1,\); .* 2 numbers"),
        ({"f_bar": lambda w: (np.nan, np.zeros(2))}, "f_bar returned the value nan"),
        ({"f_bar": lambda w: (0.0, w * np.nan)}, r"entry 0 is nan; expected at most"),
        ({"y": 0.0}, r"y has shape \(\); expected \(n,\), a number per coordinate"),
        ({"tol": "tight"}, "tol is 'tight'; expected a number ≥ 0"),
    ],
)
def test_refusals(changes, words):
    fine = {"f_bar": corner, "bounds": 1.0, "tau": LeastSquares(), "y": [0.0, 0.0]}
    with pytest.raises((TypeError, ValueError), match=words):
        minimize(**(fine | changes))

"""Problems of CVXPY's documentation and examples, as they are written there, at small sizes.

Each function returns a ``cvxpy.Problem``. Those of ``SOLVED`` are solved by rcmd; of ``REFUSED``
the sentence is given that says why not.
"""

import cvxpy as cp
import numpy as np

RNG = np.random.default_rng(5)
N, P = 40, 6
A = RNG.normal(size=(N, P))
TRUE = np.array([1.0, -2.0, 0.0, 0.0, 0.5, 0.0])
b = A @ TRUE + RNG.normal(size=N)
SIGNS = np.where(A @ TRUE + RNG.normal(size=N) > 0, 1.0, -1.0)
COUNTS = RNG.poisson(np.exp(0.3 * A[:, 0])).astype(float)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
G = RNG.normal(size=(P, P))
SIGMA = G.T @ G / P + 0.1 * np.eye(P)
mu = abs(RNG.normal(size=P))
SIGNAL = np.repeat([0.0, 2.0, -1.0], 4) + 0.3 * RNG.normal(size=12)
MATRIX = RNG.normal(size=(5, 2)) @ RNG.normal(size=(2, 4))
KNOWN = np.where(RNG.uniform(size=(5, 4)) < 0.7, 1.0, 0.0)


def variable(*shape, **attributes):
    return cp.Variable(shape or P, name="x", **attributes)


def least_squares_in_a_box():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [x >= 0, x <= 1])


def least_squares():
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ variable() - b)))


def nonnegative_least_squares():
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ variable(nonneg=True) - b)))


def ridge_regression():
    beta = variable()
    return cp.Problem(cp.Minimize(cp.norm2(A @ beta - b) ** 2 + 2.0 * cp.norm2(beta) ** 2))


def lasso():
    beta, gamma = variable(), cp.Parameter(nonneg=True, name="gamma", value=4.0)
    return cp.Problem(cp.Minimize(cp.norm2(A @ beta - b) ** 2 + gamma * cp.norm1(beta)))


def lasso_by_means():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) / (2 * N) + 0.1 * cp.norm(x, 1)))


def elastic_net():
    x = variable()
    penalty = 2.0 * cp.norm1(x) + 3.0 * cp.sum_squares(x)
    return cp.Problem(cp.Minimize(cp.sum_squares(b - A @ x) + penalty))


def lasso_in_a_ball():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [cp.norm(x, 1) <= 1.5])


def nonnegative_lasso():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + 3 * cp.norm1(x)), [x >= 0])


def weighted_least_squares():
    x = variable()
    loss = cp.sum(cp.multiply(WEIGHTS, cp.square(A @ x - b)))
    return cp.Problem(cp.Minimize(loss), [cp.norm(x) <= 1])


def logistic_regression():
    beta, y = variable(), (SIGNS + 1) / 2
    likelihood = cp.sum(cp.multiply(y, A @ beta) - cp.logistic(A @ beta))
    return cp.Problem(cp.Maximize(likelihood / N - 0.05 * cp.norm(beta, 1)))


def logistic_regression_of_signs():
    w, v = variable(), cp.Variable(name="v")
    loss = cp.sum(cp.logistic(-cp.multiply(SIGNS, A @ w - v))) / N
    return cp.Problem(cp.Minimize(loss + 0.1 * cp.norm(w, 1)))


def logistic_ridge():
    w = variable()
    loss = cp.sum(cp.logistic(cp.multiply(-SIGNS, A @ w)))
    return cp.Problem(cp.Minimize(loss + cp.sum_squares(w)))


def logistic_by_log_sum_exp():
    w = variable()
    pairs = cp.vstack([np.zeros(N), cp.multiply(-SIGNS, A @ w)])
    return cp.Problem(cp.Minimize(cp.sum(cp.log_sum_exp(pairs, axis=0)) + cp.norm1(w)))


def squared_hinge():
    w = variable()
    slack = cp.pos(1 - cp.multiply(SIGNS, A @ w))
    return cp.Problem(cp.Minimize(cp.sum_squares(slack) / N + 0.1 * cp.norm(w, 1)))


def support_vectors_with_intercept():
    w, v = variable(), cp.Variable(name="v")
    slack = cp.pos(1 - cp.multiply(SIGNS, A @ w - v))
    return cp.Problem(cp.Minimize(cp.mean(cp.square(slack)) + 0.1 * cp.sum_squares(w)))


def huberized_hinge():
    w = variable()
    slack = cp.pos(1 - cp.multiply(SIGNS, A @ w))
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(slack, 0.5)) + cp.norm1(w)))


def exponential_loss():
    w = variable()
    loss = cp.sum(cp.exp(-cp.multiply(SIGNS, A @ w)))
    return cp.Problem(cp.Minimize(loss), [cp.norm1(w) <= 1])


def huber_regression():
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(A @ variable() - b, 1))))


def huber_lasso():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum(cp.huber(A @ x - b, 0.5)) + 2 * cp.norm1(x)))


def smoothed_quantile_regression():
    x, tau = variable(), 0.8
    r = b - A @ x
    loss = cp.sum(cp.huber(cp.pos(r), tau) + cp.huber(cp.neg(r), 1 - tau))
    return cp.Problem(cp.Minimize(loss), [cp.norm_inf(x) <= 5])


def expectile_regression():
    x = variable()
    r = b - A @ x
    loss = 0.8 * cp.sum_squares(cp.pos(r)) + 0.2 * cp.sum_squares(cp.neg(r))
    return cp.Problem(cp.Minimize(loss + cp.norm1(x)))


def fourth_powers():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum(cp.power(A @ x - b, 4)) / N), [cp.norm1(x) <= 2])


def poisson_regression():
    x = variable()
    return cp.Problem(cp.Maximize(COUNTS @ (A @ x) - cp.sum(cp.exp(A @ x)) - cp.sum_squares(x)))


def poisson_deviance():
    x = variable()
    loss = cp.sum(cp.kl_div(COUNTS, abs(A) @ x))
    return cp.Problem(cp.Minimize(loss), [x >= 0.1, x <= 2])


def channel_capacity():
    x, alpha = variable(), np.linspace(0.5, 1.2, P)
    return cp.Problem(cp.Maximize(cp.sum(cp.log(alpha + x))), [x >= 0, x <= 1, cp.sum(x) == 1])


def markowitz():
    w, gamma = variable(), cp.Parameter(nonneg=True, name="gamma", value=2.0)
    return cp.Problem(
        cp.Maximize(mu @ w - gamma * cp.quad_form(w, SIGMA)), [cp.sum(w) == 1, w >= 0]
    )


def markowitz_with_leverage():
    w = variable()
    risk = cp.quad_form(w, SIGMA)
    return cp.Problem(cp.Maximize(mu @ w - risk), [cp.sum(w) == 1, cp.norm(w, 1) <= 1.6])


def markowitz_with_factors():
    w, f = variable(), cp.Variable(2, name="f")
    F, D = G[:, :2], np.linspace(0.1, 0.4, P)
    risk = cp.quad_form(f, np.eye(2)) + cp.sum_squares(cp.multiply(np.sqrt(D), w))
    return cp.Problem(cp.Maximize(mu @ w - risk), [cp.sum(w) == 1, f == F.T @ w, w >= 0])


def capped_portfolio():
    w = variable()
    return cp.Problem(cp.Minimize(cp.quad_form(w, SIGMA)), [cp.sum(w) == 1, w >= 0, w <= 0.3])


def projection_to_the_simplex():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(x - mu)), [cp.sum(x) == 1, x >= 0])


def least_norm():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), [A[:2] @ x == b[:2]])


def constrained_least_squares():
    x = variable()
    inside = [cp.sum(x) <= 1, x[0] <= x[1], x >= -1, x[2:4] <= 0.5, x <= 2]
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), inside)


def isotonic_regression():
    x = variable(12)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - SIGNAL)), [x[:-1] <= x[1:]])


def total_variation():
    x = variable(12)
    return cp.Problem(cp.Minimize(cp.sum_squares(x - SIGNAL) + 0.5 * cp.tv(x)))


def trend_filtering():
    x, D = variable(12), np.diff(np.eye(12), 2, axis=0)
    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(SIGNAL - x) + 2.0 * cp.norm(D @ x, 1)))


def fused_lasso():
    x = variable()
    penalty = cp.norm1(x) + 2 * cp.norm1(cp.diff(x))
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + penalty))


def group_lasso():
    x = variable()
    penalty = cp.norm2(x[:2]) + 2 * cp.norm2(x[2:])
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + 5 * penalty))


def multitask_lasso():
    B, Y = variable(P, 2), np.stack([b, A @ np.ones(P)], axis=1)
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ B - Y) + 4 * cp.mixed_norm(B, 2, 1)))


def maximum_norm_penalty():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + 10 * cp.norm_inf(x)))


def two_blocks_of_data():
    x = variable()
    loss = cp.sum(cp.logistic(-cp.multiply(SIGNS, A @ x))) + cp.sum_squares(G @ x - mu)
    return cp.Problem(cp.Minimize(loss), [cp.norm(x, "inf") <= 1])


def model_fitting_with_a_prior():
    x = variable()
    loss = cp.sum_squares(A @ x - b) + 0.3 * cp.sum_squares(G @ x - mu)
    return cp.Problem(cp.Minimize(loss + cp.norm1(x)))


def matrix_completion():
    X = variable(5, 4)
    fit = cp.sum_squares(cp.multiply(KNOWN, X - MATRIX))
    return cp.Problem(cp.Minimize(fit + 0.5 * cp.normNuc(X)))


def matrix_completion_in_a_ball():
    X = variable(5, 4)
    fit = cp.sum_squares(cp.multiply(KNOWN, X) - MATRIX)
    return cp.Problem(cp.Minimize(fit), [cp.norm(X, "nuc") <= 3])


def nearest_density_matrix():
    X = variable(4, 4, PSD=True)
    return cp.Problem(cp.Minimize(cp.sum_squares(X - MATRIX[:4])), [cp.trace(X) == 1])


def control():
    dynamics, push = 0.9 * np.eye(2) + 0.1 * np.eye(2, k=1), np.array([[0.0], [0.5]])
    x, u = variable(2, 5), cp.Variable((1, 4), name="u")
    cost, inside = 0, [x[:, 0] == [1.0, -0.5]]
    for t in range(4):
        cost += cp.sum_squares(x[:, t + 1]) + 0.1 * cp.sum_squares(u[:, t])
        inside += [x[:, t + 1] == dynamics @ x[:, t] + push @ u[:, t]]
        inside += [cp.norm(u[:, t], "inf") <= 1]
    return cp.Problem(cp.Minimize(cost), inside)


def fault_detection():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + 3.0 * cp.sum(x)), [x >= 0, x <= 1])


def least_squares_in_an_ellipsoid():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [cp.quad_form(x, SIGMA) <= 0.2])


def least_squares_near_a_point():
    x = variable()
    return cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [cp.norm(x - mu) <= 0.5])


def second_order_cones():
    x = variable()
    return cp.Problem(
        cp.Minimize(cp.sum_squares(A @ x - b)), [cp.norm(G @ x) <= mu @ x + 1, cp.norm(x) <= 2]
    )


def entropy_on_the_simplex():
    x = variable()
    fit = cp.sum_squares(A @ x - b) / N
    return cp.Problem(cp.Minimize(fit - 0.5 * cp.sum(cp.entr(x))), [cp.sum(x) == 1, x >= 0])


def analytic_centre():
    return cp.Problem(cp.Minimize(-cp.sum(cp.log(5 - A @ variable()))))


def logistic_regression_without_a_penalty():
    w, v = variable(), cp.Variable(name="v")
    return cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(SIGNS, A @ w + v)))))


def water_filling():
    x = variable()
    return cp.Problem(cp.Maximize(cp.sum(cp.log(x))), [cp.sum(x) == 1])


def kelly_gambling():
    bets = variable()
    return cp.Problem(cp.Maximize(cp.sum(cp.log(abs(A) @ bets))), [cp.sum(bets) == 1, bets >= 0])


SOLVED = [
    least_squares_in_a_box, least_squares, nonnegative_least_squares, ridge_regression, lasso,
    lasso_by_means, elastic_net, lasso_in_a_ball, nonnegative_lasso, weighted_least_squares,
    logistic_regression, logistic_regression_of_signs, logistic_ridge, logistic_by_log_sum_exp,
    squared_hinge, support_vectors_with_intercept, huberized_hinge, exponential_loss,
    huber_regression, huber_lasso, smoothed_quantile_regression, expectile_regression,
    fourth_powers, poisson_regression, poisson_deviance, channel_capacity, markowitz,
    markowitz_with_leverage, markowitz_with_factors, capped_portfolio, projection_to_the_simplex,
    least_norm, constrained_least_squares, isotonic_regression, total_variation, trend_filtering,
    fused_lasso, group_lasso, multitask_lasso, maximum_norm_penalty,
    two_blocks_of_data, model_fitting_with_a_prior, matrix_completion,
    matrix_completion_in_a_ball, nearest_density_matrix, control, fault_detection,
    least_squares_in_an_ellipsoid, least_squares_near_a_point, second_order_cones,
    entropy_on_the_simplex, analytic_centre, logistic_regression_without_a_penalty, water_filling,
    kelly_gambling,
]  # fmt: skip


def minimize(expression, constraints=()):
    return cp.Problem(cp.Minimize(expression), list(constraints))


REFUSED = {
    "support vectors": (
        lambda x: minimize(cp.sum(cp.pos(1 - cp.multiply(SIGNS, A @ x))) + cp.norm1(x)),
        r"^maximum\(\(1 \+ -multiply\(\[40\], \[40×6\] @ x\)\), 0\) is no smooth convex loss",
    ),
    "quantile regression": (
        lambda x: minimize(cp.sum(0.5 * cp.abs(A @ x - b) + 0.3 * (A @ x - b))),
        r"^abs\(.*the loss has a kink",
    ),
    "a norm itself": (
        lambda x: minimize(cp.norm(A @ x - b)),
        "no smooth loss.*minimize its square",
    ),
    "Chebyshev approximation": (
        lambda x: minimize(cp.norm_inf(A @ x - b)),
        "no smooth loss of separate predictions: norm_inf",
    ),
    "a linear programme": (
        lambda x: minimize(mu @ x, [x >= 0, x <= 1]),
        "no smooth loss of separate predictions: it is linear",
    ),
    "sparse inverse covariance": (
        lambda x: (lambda S: minimize(cp.trace(S @ SIGMA) - cp.log_det(S), [S >> 0]))(
            cp.Variable((P, P), symmetric=True)
        ),
        "no smooth loss of separate predictions: log_det",
    ),
    "several classes": (
        lambda x: (lambda B: minimize(cp.sum(cp.log_sum_exp(A @ B, axis=1)) + cp.norm1(B)))(
            cp.Variable((P, 3))
        ),
        "no smooth loss of separate predictions: log_sum_exp",
    ),
    "logistic regression of separate classes": (
        lambda x: minimize(cp.sum(cp.logistic(-cp.multiply(np.sign(A[:, 0]), A @ x)))),
        "the variable is not bounded.*keeps x in a bounded set",
    ),
    "whole numbers": (
        lambda x: minimize(cp.sum_squares(A @ cp.Variable(P, integer=True, name="k") - b)),
        "the variable k is integer",
    ),
    "not convex": (
        lambda x: minimize(cp.sum(cp.sqrt(x)), [x >= 0]),
        r"the objective sum\(power\(x, .*is not convex",
    ),
    "a maximum of quadratics": (
        lambda x: minimize(cp.maximum(cp.sum_squares(A @ x - b), cp.sum_squares(x))),
        "no smooth loss of separate predictions: maximum",
    ),
}
"""Makers of problems that are refused, given a variable, and the sentence."""

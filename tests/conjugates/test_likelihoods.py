"""Losses of counts, durations and shares: contracts, digits, γ_j, CVXPY, what is refused."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from flint import arb, ctx
from in_digits import BITS, exact, exact_conjugate

from rcmd import (
    CrossEntropy,
    Exponential,
    Gamma,
    L1Ball,
    NegativeBinomial,
    Poisson,
    Problem,
    SampleLosses,
    SeparableConjugate,
    solve,
    truth,
)
from rcmd.testing import check_conjugate, check_prox, inspect_conjugate

LABELS: dict[SeparableConjugate, list[float]] = {
    Poisson(): [0.0, 1.0, 7.0],
    Exponential(): [1.0, -1.0],
    Gamma(): [0.25, 3.0],
    NegativeBinomial(0.3): [0.0, 4.0],
    CrossEntropy(): [0.0, 0.3, 1.0],
}
every_loss = pytest.mark.parametrize("loss", LABELS, ids=lambda loss: type(loss).__name__)
LOCAL = [loss for loss in LABELS if not isinstance(loss, CrossEntropy)]


@every_loss
def test_contract_is_kept(loss: SeparableConjugate) -> None:
    check_conjugate(loss, LABELS[loss])


@every_loss
def test_fenchel_young_keeps_its_digits(loss: SeparableConjugate) -> None:
    """l(s) + l*(w) − ws; entropies have terms of order y + r."""
    entropic = isinstance(loss, NegativeBinomial | CrossEntropy)
    with ctx.workprec(BITS):
        for y, t in itertools.product(LABELS[loss], (-3.0, -0.2, 0.7, 2.5)):
            w = loss.derivative(t, y)
            conjugate = exact_conjugate(loss, w, y)[0]
            for s in (t + 1e-6, t - 0.4, t + 3.0):
                right = exact(loss, s, y)[0] + conjugate - arb(w) * s
                slip = 2.0**-50 * ((abs(w) + abs(y)) * abs(s - t) + (y + 4) * entropic)
                assert abs(loss.fenchel_young(s, w, y) - right) <= 1e-12 * abs(right) + slip


@pytest.mark.parametrize("loss", LOCAL, ids=lambda loss: type(loss).__name__)
def test_the_curvature_bound_is_the_supremum(loss: SeparableConjugate) -> None:
    for y in LABELS[loss]:
        for low, high in ((-2.0, 1.0), (0.5, 2.0), (-3.0, -1.0), (0.25, 0.25)):
            grid = [loss.second_derivative(s, y) for s in np.linspace(low, high, 401)]
            assert loss.curvature_bound(low, high, y) == pytest.approx(max(grid), rel=1e-4)
            assert loss.curvature_bound(low, high, y) >= max(grid)
    assert loss.gamma == math.inf


def test_a_curvature_bound_that_is_one_per_cent_low_is_seen() -> None:
    class Low(Poisson):
        def curvature_bound(self, low: Any, high: Any, y: Any) -> Any:
            return 0.99 * math.exp(high)

    assert "derivative is γ-Lipschitz" in str(inspect_conjugate(Low(), [1.0]))
    assert not inspect_conjugate(Low(), [1.0]).ok
    with pytest.raises(ValueError, match=r"curvature_bound of Low at sample . \(label"):
        Problem(np.array([[1.0], [2.0]]), [1.0, 0.0], Low(), L1Ball(1.0))


@pytest.mark.parametrize("loss", LOCAL, ids=lambda loss: type(loss).__name__)
def test_a_prox_meets_losses_without_a_global_gamma(loss: SeparableConjugate) -> None:
    from rcmd import EuclideanProx

    check_prox(EuclideanProx(), loss, LABELS[loss])


def make_problem(loss: SeparableConjugate, n: int = 40, **own: Any) -> Problem:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((n, 4)) / 2
    return Problem(X, rng.choice(LABELS[loss], n), loss, L1Ball(1.5), **own)


@every_loss
def test_solutions_are_those_of_cvxpy(loss: SeparableConjugate) -> None:
    rng = np.random.default_rng(5)
    own = {"offset": rng.uniform(-1, 1, 40), "weights": rng.uniform(0.5, 2, 40)}
    problem = make_problem(loss, **own)
    optimum, result = truth.solve(problem), solve(problem, tol=1e-11)
    assert result.primal == pytest.approx(optimum.primal, abs=1e-9)
    assert -1e-10 <= result.primal - optimum.primal <= result.gap + 1e-10
    assert problem.ground == "proved"


@every_loss
def test_the_bound_lies_above_the_gap(loss: SeparableConjugate) -> None:
    problem = make_problem(loss, offset=np.linspace(-1, 1, 40))
    gaps = []
    for seed in range(4):
        last = solve(problem, method="rcmd", batch=4, tol=0, max_iterations=300, seed=seed)
        gaps.append(last.history[-1].gap)
    assert 0 < np.mean(gaps) <= last.history[-1].bound < math.inf


def test_every_constant_uses_the_samples_own_gamma() -> None:
    problem = make_problem(Poisson(), offset=np.linspace(-1, 1, 40))
    gammas = np.exp(problem.prediction_bounds + problem.offset)  # I_j = [−M_j, M_j] on an l1 ball
    np.testing.assert_allclose(problem.losses.gammas, gammas, rtol=1e-14)
    constants, bounds = problem.constants(), problem.prediction_bounds
    assert constants.gamma == gammas.max()
    assert constants.prediction_energy == pytest.approx((gammas * bounds**2).mean(), rel=1e-14)
    # D_max is attained at the right ends: D_l(o, o + M) = e^o − e^(o+M) + M e^(o+M).
    o, M = problem.offset, bounds
    exact = np.exp(o) - np.exp(o + M) + M * np.exp(o + M)
    assert constants.bregman_radius == pytest.approx(exact.mean(), rel=1e-9)
    assert constants.bregman_radius < constants.prediction_energy / 2
    curvatures = problem.losses.second_derivative(2 * bounds)  # beyond: clipped at γ_j
    np.testing.assert_allclose(curvatures, gammas, rtol=1e-14)


def test_with_another_radius_gamma_is_another() -> None:
    problem = make_problem(Poisson())
    other = problem.with_oracle(L1Ball(0.5))
    fresh = Problem(problem.X, problem.y, Poisson(), L1Ball(0.5))
    np.testing.assert_array_equal(other.losses.gammas, fresh.losses.gammas)
    assert other.loss.gamma < problem.loss.gamma
    assert other.constants() == fresh.constants()


def test_predictions_that_are_too_steep_are_refused() -> None:
    with pytest.raises(ValueError, match=r"exp\(s\) − ys is too steep for doubles .* smaller rad"):
        Problem(np.eye(2), [1.0, 2.0], Poisson(), L1Ball(1e3))


@pytest.mark.parametrize(
    ("loss", "y", "words"),
    [
        (Poisson(), [1.0, -2.0], r"y holds -2; the poisson loss expects labels ≥ 0"),
        (Gamma(), [1.0, 0.0], r"y holds 0; the gamma loss expects labels > 0"),
        (NegativeBinomial(), [-1.0, 1.0], r"the negative binomial loss expects labels ≥ 0"),
        (CrossEntropy(), [0.5, 1.5], r"y holds 1.5; the cross entropy loss expects labels in \[0"),
        (Exponential(), [1.0, 2.0], r"the exponential loss expects -1 and \+1"),
    ],
)
def test_other_labels_are_refused(loss: SeparableConjugate, y: list[float], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Problem(np.eye(2), y, loss, L1Ball(1.0))


SLOWLY = [pytest.param(loss, marks=[pytest.mark.slow] * bool(k)) for k, loss in enumerate(LABELS)]


@pytest.mark.parametrize("loss", SLOWLY, ids=lambda loss: type(loss).__name__)
def test_compiled_arrays_have_the_methods_values(loss: SeparableConjugate) -> None:
    rng = np.random.default_rng(0)
    y, s, t = rng.choice(LABELS[loss], 5000), *rng.uniform(-3, 3, (2, 5000))
    losses = SampleLosses(loss, y, offset=rng.uniform(-1, 1, 5000))
    w = losses.derivative(t)
    few_of = losses.some(slice(0, 40))
    pairs = zip(losses.duality(s, w)[1:], few_of.duality(s[:40], w[:40])[1:], strict=True)
    for found, right in pairs:
        np.testing.assert_allclose(found[:40], right, rtol=1e-13, atol=1e-14)

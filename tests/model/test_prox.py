"""The three geometries against their definitions: h has the slope there that a step asks for."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest

from rcmd import (
    BregmanProx,
    ConjugateProx,
    EuclideanProx,
    ExactProx,
    Exponential,
    Gamma,
    LeastSquares,
    Logistic,
    Poisson,
    Problem,
    Ridge,
    SampleLosses,
    SeparableConjugate,
)
from rcmd.model.constants import Constants

F = Fraction
LOSSES: list[SeparableConjugate] = [LeastSquares(), Logistic()]
PROXES: list[BregmanProx] = [
    ConjugateProx(),
    EuclideanProx(),
    ExactProx(kappa=4.0),
    ExactProx(kappa=0.05),
]
WEIGHTS = [1.0, 0.25, 3.0]
LABELS = [1.0, -1.0]
STATES = [0.0, 0.4, -1.5, 3.0]
BOUND = 4.0
# The last two end just inside and just outside the responses to |s| ≤ BOUND.
STEPS = [(1.3, 0.5), (-2.0, 1.0), (-7.0, 1.0), (7.0, 1.0), (1e-9, 0.1), (0.117, 1.0), (0.119, 1.0)]
COMBINATIONS = [(p, loss, y, w) for p in PROXES for loss in LOSSES for y in LABELS for w in WEIGHTS]


def h(prox: BregmanProx, loss: SeparableConjugate, w: float, y: float, weight: float) -> float:
    """h_j(w), written once more from l and l*."""
    conjugate = weight * loss.conjugate(w / weight, y)
    if isinstance(prox, EuclideanProx):
        return (w - weight * loss.derivative(0.0, y)) ** 2 / (2 * weight * loss.gamma)
    if isinstance(prox, ExactProx):
        return prox.kappa * (w - weight * loss.derivative(0.0, y)) ** 2 / 2 + conjugate
    return conjugate


def slope(prox: BregmanProx, loss: SeparableConjugate, w: float, y: float, weight: float) -> float:
    """h_j'(w)."""
    conjugate = loss.conjugate_derivative(w / weight, y)
    if isinstance(prox, EuclideanProx):
        return (w - weight * loss.derivative(0.0, y)) / (weight * loss.gamma)
    if isinstance(prox, ExactProx):
        return prox.kappa * (w - weight * loss.derivative(0.0, y)) + conjugate
    return conjugate


def domain(
    prox: BregmanProx, loss: SeparableConjugate, y: float, weight: float
) -> tuple[float, float]:
    """dom l_j*, or the responses to |s| ≤ BOUND that the Euclidean prox projects onto."""
    if isinstance(prox, EuclideanProx):
        return weight * loss.derivative(-BOUND, y), weight * loss.derivative(BOUND, y)
    low, high = loss.conjugate_domain(y)
    return max(weight * low, -400.0), min(weight * high, 400.0)


def samples(loss: SeparableConjugate, y: float, weight: float) -> SampleLosses:
    return SampleLosses(loss, np.array([y]), np.array([weight]))


def response(loss: SeparableConjugate, s: float, y: float, weight: float) -> float:
    return weight * loss.derivative(s, y)


def rounding(loss: SeparableConjugate, *states: float) -> float:
    """What rounding w = l'(s) costs in s: eps·|w|/l''(s) ≤ eps·exp|s| for the logistic loss."""
    if isinstance(loss, LeastSquares):
        return 1e-13
    return 4 * 2.0**-52 * math.exp(max(abs(s) for s in states)) + 1e-14


# ---- centre, step, divergence ------------------------------------------------------------------


def check_centre(prox: BregmanProx, loss: SeparableConjugate, y: float, weight: float) -> None:
    s = prox.centre(samples(loss, y, weight), np.array([BOUND]))[0]
    assert abs(slope(prox, loss, response(loss, s, y, weight), y, weight)) <= 1e-14


def check_step(prox: BregmanProx, loss: SeparableConjugate, y: float, weight: float) -> None:
    losses, bounds = samples(loss, y, weight), np.array([BOUND])
    low, high = domain(prox, loss, y, weight)
    for s in STATES:
        here = response(loss, s, y, weight)
        for gap, eta in STEPS:
            at = slope(prox, loss, here, y, weight)
            after = prox.step(losses, bounds, np.array([0]), np.array([s]), np.array([gap]), eta)[0]
            found = response(loss, after, y, weight)
            assert low <= found <= high
            # First-order optimality: zero slope, or pushing at an end.
            push = at + eta * gap - slope(prox, loss, found, y, weight)
            if isinstance(prox, EuclideanProx) and abs(after) == BOUND:
                assert push * after >= 0
            else:
                assert abs(push) <= rounding(loss, s, after), (s, gap)


def check_divergence(prox: BregmanProx, loss: SeparableConjugate, y: float, weight: float) -> None:
    for s in STATES:
        here = response(loss, s, y, weight)
        for t in STATES:
            w = response(loss, t, y, weight)
            direct = h(prox, loss, w, y, weight) - h(prox, loss, here, y, weight)
            direct -= slope(prox, loss, here, y, weight) * (w - here)
            found = prox.divergence(loss, w, s, y, weight)
            assert abs(found - direct) <= 1e-13 * (1 + abs(direct)), (s, t)
            assert found >= (0 if s != t else -1e-15)


def check_mirror(prox: BregmanProx, loss: SeparableConjugate, y: float, weight: float) -> None:
    for s in STATES:
        m = prox.mirror(loss, s, y, weight)
        assert abs(m - slope(prox, loss, response(loss, s, y, weight), y, weight)) <= 1e-13
        for guess in (s, 0.0, -3.5):
            back = prox.inverse(loss, m, guess, y, weight, BOUND)
            # Only the Euclidean way back passes through w.
            room = rounding(loss, s) if isinstance(prox, EuclideanProx) else 4e-15
            assert abs(back - s) <= room, (s, guess)


CHECKS = [check_centre, check_step, check_divergence, check_mirror]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("prox", "loss", "y", "weight"), COMBINATIONS)
def test_prox(
    check: Callable[..., None], prox: BregmanProx, loss: SeparableConjugate, y: float, weight: float
) -> None:
    check(prox, loss, y, weight)


# ---- relations between the three ---------------------------------------------------------------


def test_euclidean_is_conjugate_for_the_squared_loss() -> None:
    y, weights = (np.array(v, dtype=object) for v in ([F(1), F(-2)], [F(1, 3), F(5)]))
    losses = SampleLosses(LeastSquares(), y, weights)
    bounds = np.array([F(9), F(9)], dtype=object)
    s, gap = (np.array(v, dtype=object) for v in ([F(1, 7), F(-3)], [F(2, 3), F(1)]))
    w = np.array([F(1), F(2)], dtype=object)
    batch = np.array([1, 0])
    proxes = ConjugateProx(), EuclideanProx()
    steps = [list(p.step(losses, bounds, batch, s[batch], gap[batch], F(1, 2))) for p in proxes]
    assert steps[0] == steps[1] == [F(-5, 2), F(1, 7) + F(1, 3)]
    for one in zip(w, s, y, weights, strict=True):
        assert len({p.divergence(losses.loss, *one) for p in proxes}) == 1
    centres = [list(p.centre(losses, bounds)) for p in proxes]
    assert centres[0] == centres[1] == [0, 0]


def test_exact_steps_are_exact_in_fractions() -> None:
    y, weights = (np.array(v, dtype=object) for v in ([F(1), F(-2)], [F(1, 3), F(5)]))
    losses = SampleLosses(LeastSquares(), y, weights)
    kappa = F(14, 3)
    prox = ExactProx(kappa)
    s, gap = (np.array(v, dtype=object) for v in ([F(1, 7), F(-3)], [F(2, 3), F(1)]))
    after = prox.step(losses, s, np.array([0, 1]), s, gap, 1)
    for j in range(2):
        curve = kappa * weights[j]
        m = s[j] + curve * (s[j] - y[j]) + gap[j]
        assert after[j] == (m + curve * y[j]) / (1 + curve)
        assert type(after[j]) is Fraction
    assert list(prox.centre(losses, s)) == [0, 0]
    here, w = losses.derivative(s), losses.derivative(s + 1)
    found = [prox.divergence(losses.loss, *one) for one in zip(w, s, y, weights, strict=True)]
    assert found == list(losses.fenchel_young(s, w) + kappa * (w - here) ** 2 / 2)


@pytest.mark.parametrize("kappa", [1e-8, 1.0, 1e4, 1e12])
@pytest.mark.parametrize("guess", [0.0, 30.0, -800.0, 1e6])
@pytest.mark.parametrize("root", [0.0, 1e-12, -3.0, 35.0, -700.0])
def test_equation_of_exact_steps_is_solved_from_anywhere(
    kappa: float, guess: float, root: float
) -> None:
    prox, loss = ExactProx(kappa), Logistic()
    m = prox.mirror(loss, root, 1.0, 1.0)
    s = prox.inverse(loss, m, guess, 1.0, 1.0, math.inf)
    # m is rounded: the residual cannot be told from that of the true root.
    assert abs(prox.mirror(loss, s, 1.0, 1.0) - m) <= 8 * 2.0**-52 * max(abs(m), kappa, abs(s))


# ---- what a prox says about itself -------------------------------------------------------------


def constants(**changes: Any) -> Constants:
    values = {
        "n": 4, "batch": 2, "gamma": F(2), "prediction_bound": F(1), "prediction_energy": F(1),
        "bregman_radius": F(1), "mu": F(2), "row_energy": F(3), "spectral_energy": F(6),
        "quadratic": True,
    }  # fmt: skip
    return Constants(**(values | changes))


def test_exact_steps_have_a_curvature_for_every_row() -> None:
    # θ = 1/3: κ_j = (⅔‖x_j‖² + ⅓·6/γ_j)/(4·2).
    prox = ExactProx().bind(constants())
    assert (prox.kappa, prox.own, prox.joint) == (1, F(1, 12), F(1, 4))
    single = ExactProx().bind(constants(batch=1, spectral_energy=None))
    assert (single.kappa, single.own, single.joint) == (1, F(1, 8), 0)
    assert ExactProx(0.5).bind(constants(mu=0)) == ExactProx(0.5)
    X, y = np.array([[F(1)], [F(2)], [F(0)]], dtype=object), np.array([F(0)] * 3, dtype=object)
    weights = np.array([F(1), F(1, 2), F(3)], dtype=object)
    problem = Problem(X, y, LeastSquares(), Ridge(F(1, 2)), weights=weights)
    for batch in (1, 2, 3):
        theta, energy = F(batch - 1, 2), sum(weights * (X[:, 0] ** 2))
        curvatures = ((1 - theta) * X[:, 0] ** 2 + theta * energy / weights) / F(3, 2)
        seen = ExactProx().bind(problem.constants(batch)).losses(problem).weights
        assert list(seen) == list(weights * curvatures)
        assert 1 + max(weights * curvatures) == problem.constants(batch).sigma


@pytest.mark.parametrize("kappa", [-1.0, math.nan, math.inf, "a"])
def test_exact_steps_refuse_a_curvature_that_is_negative(kappa: Any) -> None:
    with pytest.raises(ValueError, match=r"kappa of ExactProx is .*; expected a number from 0 on"):
        ExactProx(kappa)


def test_unweighted_samples_have_weight_one() -> None:
    y = np.array([1.0, -1.0])
    plain, ones = SampleLosses(Logistic(), y), SampleLosses(Logistic(), y, np.ones(2))
    s, bounds = np.array([0.3, -2.0]), np.full(2, BOUND)
    for prox in PROXES:
        found = [prox.step(o, bounds, np.array([0, 1]), s, s + 1, 0.5) for o in (plain, ones)]
        np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("loss", [Poisson(), Exponential(), Gamma(), Logistic()], ids=repr)
def test_exact_steps_end_at_the_root(loss: Any) -> None:
    """However much steeper l' is at one end of the bracket than at the other, up to infinity."""
    rng, prox = np.random.default_rng(0), ExactProx(1.0)
    exp = mpmath.exp
    slopes: dict[type, Any] = {
        Poisson: lambda s, y: exp(s) - y,
        Exponential: lambda s, y: -y * exp(-y * s),
        Gamma: lambda s, y: 1 - y * exp(-s),
        Logistic: lambda s, y: -y / (1 + exp(y * s)),
    }
    with mpmath.workprec(200), np.errstate(over="ignore", invalid="ignore"):
        for _ in range(500):
            s, a = rng.standard_normal(2) * 10.0 ** rng.uniform(-3, 3.3, 2)
            y = {Poisson: 5.0, Gamma: 0.3}.get(type(loss), 1.0)
            weight = 10.0 ** rng.uniform(-12, 6)
            m = prox.mirror(loss, s, y, weight) + (a - s)
            if not math.isfinite(m):
                continue
            root = prox.inverse(loss, m, s, y, weight, 0.0)
            exact = mpmath.mpf(root)
            slope, first = (weight * slopes[type(loss)](x, y) for x in (exact, mpmath.mpf(0)))
            curvature = 1 + weight * loss.second_derivative(root, y)
            rounding = abs(root) + (abs(m) + abs(slope) + abs(first) + weight * y) / curvature
            assert abs(exact + slope - m - first) / curvature <= 2.0**-49 * rounding

"""Losses against 50 digits, brute force and fractions; every check is shown a planted bug."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import cvxpy as cp
import mpmath
import numpy as np
import pytest

from rcmd.conjugates import LeastSquares, Logistic, SampleLosses, SeparableConjugate
from rcmd.conjugates.logistic import LARGEST_DESCENT

F = Fraction
EPS = 2.0**-52
LOSSES: list[SeparableConjugate] = [LeastSquares(), Logistic()]
MARGINS = [
    0.0,
    1e-300,
    1e-12,
    1e-6,
    0.01,
    0.3,
    1.0,
    1.2784645,
    5.0,
    36.0,
    40.0,
    300.0,
    700.0,
    800.0,
]
POINTS = [sign * z for z in MARGINS for sign in (1, -1)]
SHARES = [1e-300, 1e-20, 1e-12, 1e-6, 0.1, 0.25, 0.5, 0.7, 1 - 1e-6, 1 - 1e-12, 1 - EPS / 2]


def labels(loss: SeparableConjugate) -> list[float]:
    return [1.0, -1.0] if isinstance(loss, Logistic) else [0.0, 2.5, -0.7, 1e-12]


def duals(loss: SeparableConjugate, y: float) -> list[float]:
    return [-y * v for v in SHARES] if isinstance(loss, Logistic) else POINTS


# ---- the same functions in 50 digits -----------------------------------------------------------


@dataclass(frozen=True)
class Digits:
    """The pair (l, l*) of a loss at a label, by definition and in mpmath's numbers."""

    loss: SeparableConjugate
    y: float

    @property
    def logistic(self) -> bool:
        return isinstance(self.loss, Logistic)

    def value(self, s: Any) -> Any:
        s, y = mpmath.mpf(s), mpmath.mpf(self.y)
        return mpmath.log(1 + mpmath.exp(-y * s)) if self.logistic else (s - y) ** 2 / 2

    def derivative(self, s: Any) -> Any:
        s, y = mpmath.mpf(s), mpmath.mpf(self.y)
        return -y / (1 + mpmath.exp(y * s)) if self.logistic else s - y

    def conjugate(self, w: Any) -> Any:
        s = self.conjugate_derivative(w)
        return mpmath.mpf(w) * s - self.value(s)

    def conjugate_derivative(self, w: Any) -> Any:
        w, y = mpmath.mpf(w), mpmath.mpf(self.y)
        v = -y * w
        return y * mpmath.log((1 - v) / v) if self.logistic else w + y


@pytest.fixture(autouse=True)
def many_digits() -> Any:
    # 1 + exp(800) and 1 − 1e-300 must both survive with 50 digits to spare.
    with mpmath.workdps(700):
        yield


def close(found: float, wanted: Any, scale: Any = None, ulps: int = 8) -> bool:
    size = abs(wanted) if scale is None else scale
    return abs(mpmath.mpf(found) - wanted) <= ulps * EPS * size + mpmath.mpf(2) ** -1070


def check_values(loss: SeparableConjugate) -> None:
    for y in labels(loss):
        exact = Digits(loss, y)
        for s in POINTS:
            size = 1 + abs(s) + abs(y)
            # The squared loss subtracts its arguments: its error is relative to them.
            scale = None if exact.logistic else size * abs(exact.derivative(s)) + size * EPS
            assert close(loss.value(s, y), exact.value(s), scale), (s, y)
            scale = None if exact.logistic else size
            assert close(loss.derivative(s, y), exact.derivative(s), scale), (s, y)


def check_conjugates(loss: SeparableConjugate) -> None:
    for y in labels(loss):
        exact = Digits(loss, y)
        for w in duals(loss, y):
            scale = None if exact.logistic else w * w / 2 + abs(w * y)
            assert close(loss.conjugate(w, y), exact.conjugate(w), scale), (w, y)
            # Near v = 1/2 the slope log((1−v)/v) has a zero: relative to the two logarithms.
            scale = 1 + abs(exact.conjugate_derivative(w)) + abs(y)
            assert close(loss.conjugate_derivative(w, y), exact.conjugate_derivative(w), scale)


def check_inverse_maps(loss: SeparableConjugate) -> None:
    for y in labels(loss):
        for s in (s for s in POINTS if abs(s) <= 8):
            back = loss.conjugate_derivative(loss.derivative(s, y), y)
            # One rounding of w = l'(s) moves s by eps·|w|/l''(s) ≤ eps·exp|s|.
            assert abs(back - s) <= 4 * EPS * (math.exp(abs(s)) + abs(y)), (s, y)


@pytest.mark.parametrize("check", [check_values, check_conjugates, check_inverse_maps])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_pair(check: Callable[[SeparableConjugate], None], loss: SeparableConjugate) -> None:
    check(loss)


class NaiveLogistic(Logistic):
    def value(self, s: Any, y: Any) -> Any:
        return math.log(1 + math.exp(min(-y * s, 700)))

    def conjugate(self, w: Any, y: Any) -> Any:
        v = -y * w
        return v * math.log(v) + (1 - v) * math.log(1 - v)


class WrongSign(Logistic):
    def derivative(self, s: Any, y: Any) -> Any:
        return -Logistic().derivative(s, y)


class WrongFactor(LeastSquares):
    def value(self, s: Any, y: Any) -> Any:
        return (s - y) ** 2

    def conjugate(self, w: Any, y: Any) -> Any:
        return w * w / 2 - w * y


class WrongInverse(LeastSquares):
    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return w - y


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (check_values, NaiveLogistic()),
        (check_values, WrongSign()),
        (check_values, WrongFactor()),
        (check_conjugates, NaiveLogistic()),
        (check_conjugates, WrongFactor()),
        (check_conjugates, WrongInverse()),
        (check_inverse_maps, WrongSign()),
        (check_inverse_maps, WrongInverse()),
    ],
)
def test_pair_fails_on(check: Callable[[Any], None], planted: SeparableConjugate) -> None:
    with pytest.raises(AssertionError):
        check(planted)


def test_logistic_value_at_huge_margins() -> None:
    loss = Logistic()
    assert loss.value(-800.0, 1.0) == 800.0
    assert loss.value(800.0, 1.0) == 0.0
    assert loss.value(1e308, -1.0) == 1e308
    assert loss.derivative(-800.0, 1.0) == -1.0
    assert loss.derivative(700.0, -1.0) == 1.0
    assert loss.fenchel_young(1e5, -1.0, 1.0) == 1e5


# ---- domain, ends, γ ---------------------------------------------------------------------------


@pytest.mark.parametrize("y", [1.0, -1.0])
def test_logistic_domain(y: float) -> None:
    loss = Logistic()
    low, high = loss.conjugate_domain(y)
    assert (low, high) == ((-1.0, 0.0) if y > 0 else (0.0, 1.0))
    assert loss.conjugate(low, y) == loss.conjugate(high, y) == 0.0
    assert loss.conjugate_derivative(low, y) == -math.inf
    assert loss.conjugate_derivative(high, y) == math.inf
    for outside in (math.nextafter(low, -2), math.nextafter(high, 2)):
        assert loss.conjugate(outside, y) == loss.fenchel_young(0.3, outside, y) == math.inf
    responses = [loss.derivative(s, y) for s in POINTS]
    assert all(low <= w <= high for w in responses)


def test_least_squares_domain() -> None:
    assert LeastSquares().conjugate_domain(3.0) == (-math.inf, math.inf)


def largest_slope(loss: SeparableConjugate, y: Any) -> float:
    grid = [F(k, 64) for k in range(-640, 641)]
    points = grid if isinstance(loss, LeastSquares) else [float(s) for s in grid]
    slopes = [
        (loss.derivative(b, y) - loss.derivative(a, y)) / (b - a)
        for a, b in itertools.pairwise(points)
    ]
    return float(max(slopes))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
@pytest.mark.parametrize("y", [1, -1])
def test_gamma_is_the_largest_slope(loss: SeparableConjugate, y: int) -> None:
    # Tight: the grid's steepest chord is within its spacing squared of γ.
    slope = largest_slope(loss, y)
    assert slope <= loss.gamma <= slope + 1e-4
    assert not slope <= loss.gamma / 2 <= slope + 1e-4
    assert not slope <= loss.gamma * 2 <= slope + 1e-4


def test_smoothness_inequality_in_digits() -> None:
    exact = Digits(Logistic(), 1.0)
    for a in (-800, -3, mpmath.mpf("1e-12"), 1, 40):
        for b in (-5, 0, mpmath.mpf("1e-12"), 2, 800):
            excess = exact.value(b) - exact.value(a) - exact.derivative(a) * (b - a)
            assert 0 <= excess <= mpmath.mpf(Logistic().gamma) * (b - a) ** 2 / 2


# ---- Fenchel-Young -----------------------------------------------------------------------------


def check_fenchel_young(loss: SeparableConjugate) -> None:
    for y in labels(loss):
        exact = Digits(loss, y)
        for s in POINTS:
            for w in duals(loss, y):
                wanted = exact.value(s) + exact.conjugate(w) - mpmath.mpf(w) * mpmath.mpf(s)
                found = loss.fenchel_young(s, w, y)
                assert wanted >= 0
                # To the last digits of the sum itself, or of terms of order one.
                size = abs(s - y - w) * (1 + abs(s) + abs(y) + abs(w)) + EPS
                scale = wanted + 2 if exact.logistic else size
                assert close(found, wanted, scale), (s, w, y)
                assert found >= -4 * EPS


def check_equality(loss: SeparableConjugate) -> None:
    for y in labels(loss):
        for s in POINTS:
            assert abs(loss.fenchel_young(s, loss.derivative(s, y), y)) <= 4 * EPS, (s, y)


class Cancelling(LeastSquares):
    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        return SeparableConjugate.fenchel_young(self, s, w, y)


class FlippedCoupling(LeastSquares):
    def fenchel_young(self, s: Any, w: Any, y: Any) -> Any:
        return (s - y + w) * (s - y + w) / 2


@pytest.mark.parametrize("check", [check_fenchel_young, check_equality])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_fenchel_young(check: Callable[[Any], None], loss: SeparableConjugate) -> None:
    check(loss)


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (check_fenchel_young, FlippedCoupling()),
        (check_equality, FlippedCoupling()),
        (check_equality, Cancelling()),
        (check_equality, WrongSign()),
    ],
)
def test_fenchel_young_fails_on(check: Callable[[Any], None], planted: SeparableConjugate) -> None:
    with pytest.raises(AssertionError):
        check(planted)


def test_default_fenchel_young_is_the_definition() -> None:
    half = F(1, 2)
    found = SeparableConjugate.fenchel_young(LeastSquares(), F(3), half, F(1))
    assert found == LeastSquares().fenchel_young(F(3), half, F(1)) == F(9, 8)


# ---- the conjugate and the descent bound as suprema --------------------------------------------


def supremum(function: Callable[[float], float], low: float = -60.0, high: float = 60.0) -> float:
    """The maximum of a unimodal function by grids, each ten times finer around the best point."""
    for _ in range(16):
        grid = np.linspace(low, high, 41)
        values = [function(s) for s in grid]
        best = int(np.argmax(values))
        low, high = grid[max(best - 2, 0)], grid[min(best + 2, 40)]
    return max(values)


def check_conjugate_is_supremum(loss: SeparableConjugate) -> None:
    for y in (1.0, -1.0):
        for w in [-y * v for v in (0.001, 0.1, 0.5, 0.9, 0.999)]:
            sup = supremum(lambda s: w * s - loss.value(s, y))  # noqa: B023
            assert abs(sup - loss.conjugate(w, y)) <= 1e-12, (w, y)


def check_descent_bound(loss: SeparableConjugate) -> None:
    for y in [1.0, -1.0] if isinstance(loss, Logistic) else [0.0, 2.5, -0.7]:
        sup = supremum(lambda s: -s * loss.derivative(s, y))  # noqa: B023
        assert abs(sup - loss.descent_bound(y)) <= 1e-12, y


class LooseDescent(Logistic):
    def descent_bound(self, y: Any) -> Any:
        return math.log(2)


class HalvedDescent(LeastSquares):
    def descent_bound(self, y: Any) -> Any:
        return y * y / 8


@pytest.mark.parametrize("check", [check_conjugate_is_supremum, check_descent_bound])
@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_suprema(check: Callable[[Any], None], loss: SeparableConjugate) -> None:
    check(loss)


@pytest.mark.parametrize(
    ("check", "planted"),
    [
        (check_conjugate_is_supremum, WrongFactor()),
        (check_descent_bound, LooseDescent()),
        (check_descent_bound, HalvedDescent()),
    ],
)
def test_suprema_fail_on(check: Callable[[Any], None], planted: SeparableConjugate) -> None:
    with pytest.raises(AssertionError):
        check(planted)


def test_largest_descent_is_lamberts_number_rounded_up() -> None:
    exact = mpmath.lambertw(mpmath.exp(-1)).real
    assert exact <= LARGEST_DESCENT <= exact * (1 + EPS)


def test_default_descent_bound_is_an_upper_bound() -> None:
    for loss in LOSSES:
        default = SeparableConjugate.descent_bound(loss, 1.0)
        assert default >= loss.descent_bound(1.0)
    assert SeparableConjugate.descent_bound(Logistic(), 1.0) == math.log(2)
    assert SeparableConjugate.descent_bound(LeastSquares(), F(3)) == F(9, 2)


# ---- D_max -------------------------------------------------------------------------------------


def check_bregman_radius(loss: SeparableConjugate) -> None:
    for bound in (1e-12, 1e-4, 9.99e-4, 1e-3, 0.1, 1.0, 3.0, 10.0, 36.0, 40.0, 800.0):
        exact = Digits(loss, 1.0)
        at = mpmath.mpf(bound)
        # D_l(0, a) grows with |a|: its supremum over |a| ≤ bound is at the ends.
        ends = [exact.value(0) - exact.value(a) + exact.derivative(a) * a for a in (at, -at)]
        found, wanted = loss.bregman_radius(bound), max(ends)
        assert found <= loss.gamma * bound * bound / 2
        if isinstance(loss, Logistic) and bound < 1e-3:
            # The quadratic majorant, to rounding.
            assert wanted * (1 - EPS) <= found <= wanted * (1 + 1e-6)
        elif isinstance(loss, Logistic):
            expit = 1 / (1 + mpmath.exp(-at))
            entropy = -expit * mpmath.log(expit) - (1 - expit) * mpmath.log(1 - expit)
            assert abs(wanted - (mpmath.log(2) - entropy)) < mpmath.mpf(10) ** -60
            assert abs(found - wanted) <= 2 * EPS, bound
        else:
            assert close(found, wanted)


class PrintedRadius(Logistic):
    def bregman_radius(self, bound: Any) -> Any:
        return math.log(2)


class WrongGamma(LeastSquares):
    @property
    def gamma(self) -> Any:
        return 2


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_bregman_radius(loss: SeparableConjugate) -> None:
    check_bregman_radius(loss)


@pytest.mark.parametrize("planted", [PrintedRadius(), WrongGamma()])
def test_bregman_radius_fails_on(planted: SeparableConjugate) -> None:
    with pytest.raises(AssertionError):
        check_bregman_radius(planted)


# ---- the CVXPY form ----------------------------------------------------------------------------


def check_cvxpy_form(loss: SeparableConjugate) -> None:
    y = np.array([1.0, -1.0, 1.0, -1.0])
    s = np.array([0.3, 2.0, -30.0, 0.0])
    form = loss.cvxpy_form(cp.Constant(s), y)
    assert form.is_convex()
    wanted = [loss.value(a, b) for a, b in zip(s, y, strict=True)]
    np.testing.assert_allclose(form.value, wanted, rtol=1e-14)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_cvxpy_form(loss: SeparableConjugate) -> None:
    check_cvxpy_form(loss)


def test_cvxpy_form_fails_on_a_wrong_factor() -> None:
    with pytest.raises(AssertionError):
        check_cvxpy_form(WrongFactor())


# ---- weighted samples --------------------------------------------------------------------------


def weighted_samples(loss: SeparableConjugate) -> SampleLosses:
    return SampleLosses(loss, np.array([1.0, -1.0, 1.0]), np.array([0.5, 3.0, 1e-3]))


def check_weights(losses: SampleLosses) -> None:
    """Every method against l_j = ω_j l and its conjugate by brute force."""
    loss, y, weights = losses.loss, losses.y, losses.weights
    s = np.array([0.3, -2.0, 4.0])
    w = losses.derivative(s)
    np.testing.assert_allclose(losses.value(s), weights * SampleLosses(loss, y).value(s))
    step = 1e-5
    slope = (losses.value(s + step) - losses.value(s - step)) / (2 * step)
    np.testing.assert_allclose(w, slope, rtol=1e-8)
    for j, omega in enumerate(weights):
        sup = supremum(lambda a: w[j] * a - omega * loss.value(a, y[j]))  # noqa: B023
        assert abs(losses.conjugate(w)[j] - sup) <= 1e-12
    np.testing.assert_allclose(losses.conjugate_derivative(w), s, rtol=1e-12)
    np.testing.assert_allclose(losses.fenchel_young(s, w), 0, atol=1e-15)
    other = losses.derivative(s + 1)
    direct = losses.value(s) + losses.conjugate(other) - other * s
    np.testing.assert_allclose(losses.fenchel_young(s, other), direct, atol=1e-14)
    np.testing.assert_array_equal(losses.gammas, weights * loss.gamma)
    mean = sum(o * loss.descent_bound(b) for o, b in zip(weights, y, strict=True)) / 3
    assert losses.largest_descent() == pytest.approx(mean, rel=1e-15)
    radii = [o * loss.bregman_radius(m) for o, m in zip(weights, abs(s), strict=True)]
    assert losses.bregman_radius(abs(s)) == pytest.approx(sum(radii) / 3, rel=1e-15)


class UnscaledConjugate(SampleLosses):
    def conjugate(self, w: Any) -> Any:
        return self._weighted(self._each("conjugate", w, self.y))


class ForgottenWeight(SampleLosses):
    def derivative(self, s: Any, batch: Any = slice(None)) -> Any:
        return self._each("derivative", s, self.y[batch])


class EqualGammas(SampleLosses):
    @property
    def gammas(self) -> Any:
        return np.full_like(self.y, self.loss.gamma)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_weights(loss: SeparableConjugate) -> None:
    check_weights(weighted_samples(loss))


@pytest.mark.parametrize("planted", [UnscaledConjugate, ForgottenWeight, EqualGammas])
def test_weights_fail_on(planted: type[SampleLosses]) -> None:
    right = weighted_samples(LeastSquares())
    with pytest.raises(AssertionError):
        check_weights(planted(right.loss, right.y, right.weights))


def test_batch_takes_its_own_labels_and_weights() -> None:
    losses = weighted_samples(Logistic())
    s = np.array([0.3, -2.0, 4.0])
    batch = np.array([2, 0])
    np.testing.assert_array_equal(losses.derivative(s[batch], batch), losses.derivative(s)[batch])


def test_clip_goes_to_the_weighted_domain() -> None:
    losses = weighted_samples(Logistic())
    low, high = losses.domain
    np.testing.assert_array_equal(low, [-0.5, 0.0, -1e-3])
    np.testing.assert_array_equal(high, [0.0, 3.0, 0.0])
    clipped = losses.clip(np.array([-2.0, 5.0, 0.1]))
    np.testing.assert_array_equal(clipped, [-0.5, 3.0, 0.0])
    assert np.isfinite(losses.conjugate(clipped)).all()
    free = SampleLosses(LeastSquares(), losses.y)
    np.testing.assert_array_equal(free.clip(np.array([-2e9, 5.0, 0.1])), [-2e9, 5.0, 0.1])


def test_descent_from_an_offset_bounds_the_decrease() -> None:
    losses = weighted_samples(LeastSquares())
    offset = np.array([4.0, -1.0, 2.0])
    rng = np.random.default_rng(0)
    for s in rng.normal(size=(200, 3)) * 5:
        descent = -((s - offset) * losses.derivative(s)).sum() / 3
        assert descent <= losses.largest_descent(offset)


# ---- fractions ---------------------------------------------------------------------------------


def test_least_squares_in_fractions() -> None:
    loss = LeastSquares()
    for s in (F(-7, 3), F(0), F(5, 2)):
        for y in (F(2, 3), F(-1)):
            w = loss.derivative(s, y)
            assert loss.value(s, y) == (s - y) ** 2 / 2
            assert loss.conjugate_derivative(w, y) == s
            assert loss.value(s, y) + loss.conjugate(w, y) == w * s
            assert loss.fenchel_young(s, w, y) == 0
            assert loss.fenchel_young(s, w + F(1, 3), y) == F(1, 18)
            assert loss.descent_bound(y) == max(-a * (a - y) for a in (y / 2, s, F(0)))
            assert loss.bregman_radius(s) == loss.value(F(0), y) - loss.value(s, y) + w * s
            values = [loss.value(s, y), loss.conjugate(w, y), loss.descent_bound(y)]
            assert all(type(v) is Fraction for v in values)


def test_samples_in_fractions() -> None:
    y, weights = (np.array(v, dtype=object) for v in ([F(1), F(-2)], [F(1, 3), F(5)]))
    losses = SampleLosses(LeastSquares(), y, weights)
    s = np.array([F(1, 7), F(3)], dtype=object)
    w = losses.derivative(s)
    assert list(w) == [F(1, 3) * F(-6, 7), F(25)]
    assert list(losses.value(s) + losses.conjugate(w) - w * s) == [0, 0]
    assert list(losses.fenchel_young(s, w)) == [0, 0]
    assert list(losses.conjugate_derivative(w)) == list(s)
    assert losses.largest_descent() == (F(1, 12) + 5) / 2
    assert losses.bregman_radius(abs(s)) == (F(1, 3) * F(1, 98) + 5 * F(9, 2)) / 2
    assert list(losses.gammas) == [F(1, 3), F(5)]
    assert list(losses.clip(w)) == list(w)


def test_label_fault_names_the_labels() -> None:
    assert Logistic().label_fault(np.array([1.0, -1.0, 1.0])) is None
    assert LeastSquares().label_fault(np.array([7.0])) is None
    fault = Logistic().label_fault(np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    assert fault is not None
    assert "0, 1, 2, 3, 4, …" in fault
    assert "expects -1 and +1" in fault


def test_contract_without_a_cvxpy_form_says_so() -> None:
    with pytest.raises(NotImplementedError, match="LeastSquares has no CVXPY form"):
        SeparableConjugate.cvxpy_form(LeastSquares(), None, None)

"""The pairs of a data set on arrays, with weights and in fractions; what the contract gives."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from rcmd import LeastSquares, Logistic, SampleLosses, SeparableConjugate
from rcmd.conjugates.samples import label_places

F = Fraction
LOSSES: list[SeparableConjugate] = [LeastSquares(), Logistic()]


class Clipped(LeastSquares):
    """A loss with exactly these ends, as a user writes them."""

    def conjugate(self, w: Any, y: Any) -> Any:
        return w * w / 2 if -0.9 <= w <= 0.7 else np.inf

    def conjugate_domain(self, y: Any) -> Any:
        return (-0.9, 0.7)


def supremum(function: Callable[[float], float], low: float = -60.0, high: float = 60.0) -> float:
    """The maximum of a unimodal function by grids, each ten times finer around the best point."""
    for _ in range(16):
        grid = np.linspace(low, high, 41)
        values = [function(s) for s in grid]
        best = int(np.argmax(values))
        low, high = grid[max(best - 2, 0)], grid[min(best + 2, 40)]
    return max(values)


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


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_weights(loss: SeparableConjugate) -> None:
    check_weights(weighted_samples(loss))


def test_batch_takes_its_own_labels_and_weights() -> None:
    losses = weighted_samples(Logistic())
    s = np.array([0.3, -2.0, 4.0])
    batch = np.array([2, 0])
    np.testing.assert_array_equal(losses.derivative(s[batch], batch), losses.derivative(s)[batch])


def test_second_derivatives_stay_between_0_and_gamma() -> None:
    class Noisy(LeastSquares):
        def second_derivative(self, s: Any, y: Any) -> Any:
            return s

    losses, s = weighted_samples(Noisy()), np.array([-0.5, 0.5, 1.5])
    for found in (losses.second_derivative(s), losses.expansion(s)[2]):
        np.testing.assert_array_equal(found, losses.weights * [0.0, 0.5, 1.0])


def test_clip_goes_to_the_weighted_domain() -> None:
    losses = weighted_samples(Logistic())
    low, high = losses.domain
    np.testing.assert_array_equal(low, [-0.5, 0.0, -1e-3])
    np.testing.assert_array_equal(high, [0.0, 3.0, 0.0])
    clipped = losses.clip(np.array([-2.0, 5.0, 0.1]))
    np.testing.assert_array_equal(clipped, [-0.5, 3.0, 0.0])
    assert np.isfinite(losses.conjugate(clipped)).all()
    with_ends = SampleLosses(Clipped(), np.zeros(1000), np.linspace(0.1, 3.0, 1000))
    for end in with_ends.domain:  # (ω·end)/ω may be beyond the end
        assert np.isfinite(with_ends.conjugate(end)).all()
        assert np.isinf(with_ends.conjugate(end * 1.01)).all()
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


def test_places_of_labels() -> None:
    """All labels of a few, however rare; of many, the ends and some between."""
    rng = np.random.default_rng(0)
    for size, rare in ((7, 2), (5000, 3), (30_000, 14)):
        y = rng.choice([-1.0, 1.95, 2.0], size)
        y[rng.choice(size, rare, replace=False)] = np.arange(rare) / 10
        places = label_places(y)
        assert y[places].tolist() == np.unique(y).tolist()
    for y in (rng.normal(size=9000), np.array([F(k % 50, 7) for k in range(400)])):
        labels = y[label_places(y)]
        assert (np.diff(labels) > 0).all()
        assert len(labels) > 16
        assert (labels[0], labels[-1]) == (y.min(), y.max())


# ---- the contract ------------------------------------------------------------------------------


def test_default_fenchel_young_is_the_definition() -> None:
    half = F(1, 2)
    found = SeparableConjugate.fenchel_young(LeastSquares(), F(3), half, F(1))
    assert found == LeastSquares().fenchel_young(F(3), half, F(1)) == F(9, 8)


def test_contract_without_a_cvxpy_form_says_so() -> None:
    with pytest.raises(NotImplementedError, match="LeastSquares has no CVXPY form"):
        SeparableConjugate.cvxpy_form(LeastSquares(), None, None)

"""Convexity and γ in interval arithmetic: enclosures against 60 digits, and near misses of 1 %."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from rcmd.conjugates.expressions import ExpressionError, curvature, intervals, loss_from_expression
from rcmd.conjugates.expressions.algebra import Piece
from rcmd.conjugates.expressions.intervals import CurvatureFault, Interval
from rcmd.conjugates.expressions.symbolic import R, in_many_digits, interval_text
from rcmd.conjugates.samples import SampleLosses

FUNCTIONS = [sp.exp, sp.sinh, sp.cosh, sp.tanh, sp.atan, sp.asinh]
LINE = (-math.inf, math.inf)


# ---- enclosures --------------------------------------------------------------------------------


def random_expression(rng: np.random.Generator, depth: int) -> Any:
    if depth == 0:
        return R if rng.random() < 0.7 else sp.Rational(int(rng.integers(-30, 30)), 7)
    a, b = (random_expression(rng, depth - 1) for _ in range(2))
    kind = rng.integers(8)
    if kind < 2:
        return a + b
    if kind < 4:
        return a * b
    if kind == 4:
        return a / b if b != 0 else a
    if kind == 5:
        return a ** int(rng.integers(-3, 5)) if a != 0 else a
    if kind == 6:
        positive = 1 + a**2 if rng.random() < 0.5 else a
        return rng.choice([sp.log, sp.sqrt, lambda x: x ** sp.Rational(5, 3)])(positive)
    return FUNCTIONS[rng.integers(len(FUNCTIONS))](a)


def test_enclosures_hold_what_60_digits_say() -> None:
    rng, compared = np.random.default_rng(0), 0
    for _ in range(300):
        expression = random_expression(rng, 3)
        if not expression.has(R) or expression.has(sp.zoo, sp.nan, sp.I, sp.oo):
            continue
        enclosed = intervals.function(interval_text(expression))
        exact = in_many_digits(R, expression)
        centre, width = rng.normal(size=6) * 5, 10.0 ** rng.uniform(-9, 1, size=6)
        low, high = centre - width, centre + width
        with np.errstate(all="ignore"):
            found = enclosed(Interval(low, high))
        for k in np.flatnonzero(found.defined):
            for share in (0.0, 0.31, 0.5, 1.0):
                at = mpmath.mpf(low[k]) + share * (mpmath.mpf(high[k]) - low[k])
                with mpmath.workdps(60):
                    value = exact(at)
                assert found.low[k] <= value <= found.high[k], (expression, at)
                compared += 1
    assert compared > 2000


def test_what_is_not_defined_all_over_is_never_forgotten() -> None:
    line = Interval(np.array([-1.0, 0.0]), np.array([2.0, 1.0]))
    with np.errstate(all="ignore"):
        for text in ("log(r)", "tanh(log(r))", "exp(log(r)) * 0", "(r) ** (-1)", "abs(log(r))"):
            names = {"abs": abs} | intervals.NAMES
            found = eval(text, names, {"r": line})
            assert not found.defined.any(), text
        assert (intervals.sqrt(line).defined == [False, True]).all()
        assert (intervals.power(line, 5, 3).defined == [False, True]).all()


def test_signs_survive_underflow_and_infinity() -> None:
    far = Interval(np.array([1e3]), np.array([np.inf]))
    with np.errstate(all="ignore"):
        decay = intervals.exp(-far)
        assert decay.low == 0
        assert (decay * decay).low == 0 < (decay * decay).high
        assert (decay * -decay).low < 0  # below 0, if by less than any double
        assert (far * decay).low == 0
        assert (intervals.exp(far).low, intervals.exp(far).high) == (np.finfo(float).max, np.inf)
        assert intervals.NAMES["softplus"](-far).low == 0


# ---- decisions ---------------------------------------------------------------------------------

DEEPEST = 2.0  # of exp(−x²), whose second derivative is −2 at 0
STEEPEST = 4 * math.exp(-1.5)


def bump(amplitude: float, width: float, place: float) -> Piece:
    """r²/2 with a bump, whose f'' lies between 1 − 2·amplitude and 1 + 4·amplitude·e^(−3/2)."""
    width, place, amplitude = (sp.Rational(repr(each)) for each in (width, place, amplitude))
    value = R**2 / 2 + amplitude * width**2 * sp.exp(-(((R - place) / width) ** 2))
    return Piece(-sp.oo, sp.oo, value)


@pytest.mark.parametrize(
    ("width", "place"), [(0.001, 7.123), (1.0, 137.7), (30.0, -1e5), (1e-5, 0.3), (0.02, -3e3)]
)
def test_bumps_one_per_cent_from_convex(width: float, place: float) -> None:
    reach = 2.0 ** math.ceil(math.log2(abs(place)) + 1)
    for share in (0.5, 0.99):
        gamma = 1 + share / DEEPEST * STEEPEST
        doubt = curvature.doubt_of(bump(share / DEEPEST, width, place))
        assert intervals.decide(*doubt, gamma * (1 + 1e-9), -reach, reach)
        with pytest.raises(CurvatureFault, match="is too small: l'' ≥") as found:
            intervals.decide(*doubt, 0.99 * gamma, -reach, reach)
        assert abs(found.value.at - place) < 3 * width
    doubt = curvature.doubt_of(bump(1.01 / DEEPEST, width, place))
    with pytest.raises(CurvatureFault, match=r"not convex: l'' ≤ -0\.0") as found:
        intervals.decide(*doubt, 10.0, *LINE)
    assert abs(found.value.at - place) < width
    away = place - 20 * width if place > 0 else place + 20 * width
    assert intervals.decide(*doubt, 10.0, *sorted((0.0, away)))


def test_gamma_finds_a_narrow_peak() -> None:
    """Which no probe sees: the measured γ would be 1."""
    loss = loss_from_expression("s**2/2 + 2e-7*exp(-((s - 7.123)/0.001)**2)")
    assert 5e-10 < loss.gamma / (1 + 0.2 * STEEPEST) - 1 < 2e-9


def test_proved_on_the_range_of_predictions() -> None:
    """Squared softplus has no proof for all s, and one for any range of them."""
    loss = loss_from_expression("log(1 + exp(-y*s))**2/2")
    y = np.array([1.0, -1.0])
    assert "γ = 1.045333393 (measured at many points)" in loss.describe()
    assert loss.proved_on(np.array([-3.0, -1e6]), np.array([70.0, 2.0]), y)
    assert not loss.proved_on(np.array([-3.0, -math.inf]), np.array([70.0, math.inf]), y)
    assert not loss.proved_on(np.array([math.nan, 0.0]), np.array([70.0, 1.0]), y)
    assert loss_from_expression("(s - y)**2/2").proved_on(y, y, y)


@pytest.mark.parametrize("most", [8, 512])
def test_samples_of_near_fields_are_proved_together(
    most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """l'' = 1 + τ·2κ²(1 − κ²r²)/(1 + κ²r²)² ≥ 1 − τκ²/4, which no bin of τ and κ shows."""
    loss = loss_from_expression(
        "(s - y)**2/2 + tau*log(1 + (kappa*(s - y))**2)", fields=("tau", "kappa")
    )
    monkeypatch.setattr(intervals, "_GROUPS", most)
    kappa = np.random.default_rng(0).uniform(0.5, 3.0, 24)
    y = np.linspace(-1.0, 1.0, 24)
    groups = intervals._groups((3.9 / kappa**2, kappa), 24)
    assert (groups.max() < 23) == (most < 24), "the patch has no effect"
    assert loss.proved_on(y - 3, y + 3, y, 3.9 / kappa**2, kappa)
    samples = SampleLosses(loss, y, fields=(3.9 / kappa**2, kappa))
    assert samples.local_gammas(y - 3, y + 3) == pytest.approx(np.full(24, 8.8), rel=1e-3)
    with pytest.raises(CurvatureFault, match="not convex"):
        loss.proved_on(y - 3, y + 3, y, 4.04 / kappa**2, kappa)


def test_labels_move_the_range(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(intervals, "decide", lambda *given: asked.append(given[-2:]) or True)
    moved = loss_from_expression("log(1 + exp(s - y))**2/2")
    moved.proved_on(np.array([-1.0, 0.0]), np.array([1.0, 0.5]), np.array([10.0, -3.0]))
    split = "(3 + y)/4*log(1 + exp(-y*s))**2"
    sides = loss_from_expression(split, labels="±1")
    sides.proved_on(np.array([-1.0, 0.25]), np.array([1.0, 5.0]), np.array([1.0, -1.0]))
    assert asked == [(-16.0, 4.0), (-1.0, 1.0), (0.25, 8.0)]


def test_joints_that_are_not_exact_prove_nothing() -> None:
    exact = "where(s <= 1, s**2/2, s - 1/2)"
    off = "where(s <= 1, s**2/2, (1 + 1e-30)*s - 1/2 - 1e-30)"
    zero = np.zeros(1)
    assert loss_from_expression(exact).proved_on(zero, zero, zero)
    loss = loss_from_expression(off)
    assert loss.gamma_origin == "numerical"
    assert not loss.proved_on(zero, zero, zero)


def test_an_algebraic_minimum_below_zero_is_refused() -> None:
    """One per cent below, too narrow for any probe."""
    text = "s**2/2 + {}*1e-8/(1 + (s - 31.317)**2/1e-8)"
    assert loss_from_expression(text.format(0.495)).gamma_origin == "proved"
    with pytest.raises(ExpressionError, match=r"not convex: the least l'' is -0\.01"):
        loss_from_expression(text.format(0.505))

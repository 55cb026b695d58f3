"""Losses from expressions: 17 of them against hand-written forms, and all that is refused."""

import json
import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

from rcmd import (
    EpsilonInsensitive,
    Fair,
    Huber,
    L1Ball,
    LeastSquares,
    Logistic,
    Problem,
    PseudoHuber,
    SeparableConjugate,
    SmoothedHinge,
    SmoothedQuantile,
    SquaredHinge,
    certify,
    solve,
)
from rcmd.conjugates import scalars
from rcmd.conjugates.expressions import (
    ExpressionError,
    ExpressionLoss,
    algebra,
    cache,
    derivation,
    generation,
    language,
    loss_from_expression,
    symbolic,
    worker,
)
from rcmd.conjugates.expressions import loss as loss_module
from rcmd.conjugates.expressions.loss import _KNOWN
from rcmd.conjugates.expressions.source import Unusable, code
from rcmd.conjugates.expressions.symbolic import R, stable
from rcmd.jit.scalars import method_scalar

mp = mpmath.mp.clone()
mp.dps = 60
TOL = 1e-10


# ---- the losses, by hand -----------------------------------------------------------------------


@dataclass(frozen=True)
class Hand:
    """A loss by hand, as functions of z = ys or r = s − y; its conjugate as one of w."""

    text: str
    value: Callable[[Any], Any]
    slope: Callable[[Any], Any]
    conjugate: Callable[[Any], Any]
    numbers: tuple[tuple[str, float], ...] = ()
    labels: str = "real"
    origin: str = "closed form"
    pair: SeparableConjugate | None = None

    def loss(self) -> ExpressionLoss:
        return loss_from_expression(self.text, **dict(self.numbers))


def shipped(text: str, pair: SeparableConjugate, **numbers: float) -> Hand:
    """A loss that rcmd ships, whose digits ``test_losses`` checks."""
    labels, y = ("±1", 1.0) if pair.label_fault([0.0]) else ("real", 0.0)
    functions = (
        lambda x, f=f: f(float(x), y) for f in (pair.value, pair.derivative, pair.conjugate)
    )
    return Hand(text, *functions, tuple(numbers.items()), labels, pair=pair)


def xlogx(v: Any) -> Any:
    return v * mp.log(v) if v > 0 else mp.mpf(0)


def entropy(v: Any) -> Any:
    return xlogx(v) + xlogx(1 - v)


def softplus(x: Any) -> Any:
    return mp.log(1 + mp.exp(x))


def expit(x: Any) -> Any:
    return 1 / (1 + mp.exp(-x))


def squared_softplus_conjugate(w: Any) -> Any:
    """sup_z wz − softplus(−z)²/2, its z by bisection."""
    low, high = mp.mpf(-200), mp.mpf(200)
    for _ in range(220):
        z = (low + high) / 2
        low, high = (z, high) if -softplus(-z) * expit(-z) < w else (low, z)
    return w * low - softplus(-low) ** 2 / 2


TENTH = mp.mpf(1) / 10
SQUARE = "where(abs(s - y) <= d, (s - y)**2/2, d*(abs(s - y) - d/2))"
HINGE = "where(y*s >= 1, 0, where(y*s <= 1 - m, 1 - y*s - m/2, (1 - y*s)**2/(2*m)))"
PINBALL = (
    "where(s - y >= m*q, q*(s - y) - m*q**2/2, "
    "where(s - y <= -(1 - q)*m, -(1 - q)*(s - y) - m*(1 - q)**2/2, (s - y)**2/(2*m)))"
)
TUBE = (
    "where(abs(s - y) <= e, 0, where(abs(s - y) <= e + m, (abs(s - y) - e)**2/(2*m), "
    "abs(s - y) - e - m/2))"
)
HANDS = {
    "least-squares": shipped("(s - y)**2/2", LeastSquares()),
    "weighted-square": Hand(
        "a*square(s - y)/2",
        lambda r: 3 * r * r / 2,
        lambda r: 3 * r,
        lambda w: w * w / 6,
        (("a", 3.0),),
    ),
    "logistic": Hand(
        "log(1 + exp(-y*s))",
        lambda z: softplus(-z),
        lambda z: -expit(-z),
        lambda w: entropy(-w),
        labels="±1",
    ),
    "huber": shipped(SQUARE, Huber(1.5), d=1.5),
    "pseudo-huber": shipped("d**2*(sqrt(1 + ((s - y)/d)**2) - 1)", PseudoHuber(0.7), d=0.7),
    "log-cosh": Hand(
        "log(cosh(s - y))",
        lambda r: mp.log(mp.cosh(r)),
        mp.tanh,
        lambda w: (xlogx(1 + w) + xlogx(1 - w)) / 2,
    ),
    "log-cosh-scaled": Hand(
        "log(cosh(c*(s - y)))*c**-p",
        lambda r: mp.log(mp.cosh(2.5 * r)) / 6.25,
        lambda r: mp.tanh(2.5 * r) / 2.5,
        lambda w: (xlogx(1 + 2.5 * w) + xlogx(1 - 2.5 * w)) / 12.5,
        (("c", 2.5), ("p", 2.0)),
    ),
    "fair": shipped("c**2*(abs(s - y)/c - log(1 + abs(s - y)/c))", Fair(2.0), c=2.0),
    "softplus-hinge": Hand(
        "m*log(1 + exp((1 - y*s)/m))",
        lambda z: softplus((1 - z) / (3 * TENTH)) * 3 * TENTH,
        lambda z: -expit((1 - z) / (3 * TENTH)),
        lambda w: 3 * TENTH * entropy(-w) + w,
        (("m", 0.3),),
        labels="±1",
    ),
    "squared-hinge": shipped("max(0, 1 - y*s)**2/2", SquaredHinge()),
    "smoothed-hinge": shipped(HINGE, SmoothedHinge(0.5), m=0.5),
    "smoothed-pinball": shipped(PINBALL, SmoothedQuantile(0.1, 0.5), m=0.5, q=0.9),
    "smoothed-insensitive": shipped(TUBE, EpsilonInsensitive(0.5, 0.1), e=0.5, m=0.1),
    "arctan": Hand(
        "(s - y)*atan(s - y) - log(1 + (s - y)**2)/2",
        lambda r: r * mp.atan(r) - mp.log(1 + r * r) / 2,
        mp.atan,
        lambda w: -mp.log(mp.cos(w)),
    ),
    "square-root": Hand(
        "(c + (s - y)**2)**(1/2)",
        lambda r: mp.sqrt(2 + r * r),
        lambda r: r / mp.sqrt(2 + r * r),
        lambda w: -mp.sqrt(2) * mp.sqrt(max(1 - w * w, 0)),
        (("c", 2.0),),
    ),
    "arsinh": Hand(
        "(s - y)*asinh(s - y) - sqrt(1 + (s - y)**2) + 1",
        lambda r: r * mp.asinh(r) - mp.sqrt(1 + r * r) + 1,
        mp.asinh,
        lambda w: mp.cosh(w) - 1,
    ),
    "squared-softplus": Hand(
        "log(1 + exp(-y*s))**2/2",
        lambda z: softplus(-z) ** 2 / 2,
        lambda z: -softplus(-z) * expit(-z),
        squared_softplus_conjugate,
        labels="±1",
        origin="newton",
    ),
}
GAMMAS = dict.fromkeys(HANDS, 1.0) | {
    "weighted-square": 3.0, "logistic": 0.25, "softplus-hinge": 5 / 6, "smoothed-hinge": 2.0,
    "smoothed-pinball": 2.0, "smoothed-insensitive": 10.0, "square-root": 1 / math.sqrt(2),
    "squared-softplus": 1.0453333916694674,
}  # fmt: skip


def check_against_hand(loss: ExpressionLoss, hand: Hand, step: float = 2.5) -> None:
    signs = hand.labels == "±1"
    for y in (1.0, -1.0) if signs else (0.0, 1.75, -3.5):
        for s in [*np.arange(-50.0, 50.1, step), -0.97, -0.3, 0.01, 0.45, 1.02, 2.0]:
            s = float(s)
            r = mp.mpf(s) * mp.mpf(y) if signs else mp.mpf(s) - mp.mpf(y)
            w = loss.derivative(s, y)
            inner = w * y if signs else w
            expected = {
                "value": (loss.value(s, y), hand.value(r)),
                "derivative": (w, y * hand.slope(r) if signs else hand.slope(r)),
                "conjugate": (
                    loss.conjugate(w, y),
                    hand.conjugate(mp.mpf(inner)) + (0 if signs else mp.mpf(w) * y),
                ),
            }
            for name, (found, wanted) in expected.items():
                assert abs(found - wanted) <= TOL * max(1, abs(wanted)), (name, s, y, found, wanted)


@pytest.mark.parametrize("name", HANDS)
def test_agrees_with_the_form_by_hand(name: str) -> None:
    hand = HANDS[name]
    loss = hand.loss()
    check_against_hand(loss, hand, 5.0 if hand.origin == "newton" else 2.5)
    assert loss.labels == hand.labels
    assert loss.conjugate_origin == hand.origin
    assert loss.lost_digits == ""
    assert loss.gamma == pytest.approx(GAMMAS[name], rel=1e-8)
    assert loss.gamma_origin == ("numerical" if name == "squared-softplus" else "proved")
    assert loss.quadratic == (name in ("least-squares", "weighted-square"))
    flat = ("huber", "squared-hinge", "smoothed-hinge", "smoothed-pinball", "smoothed-insensitive")
    assert loss.strictly_convex == (name not in flat)


CUBIC = "where(abs(s - y) <= 1, (s - y)**4/4 + (s - y)**2/2, 2*abs(s - y) - 5/4)"


def test_a_cubic_slope_is_inverted() -> None:
    loss = loss_from_expression(CUBIC)
    assert (loss.gamma, loss.conjugate_origin) == (4.0, "closed form")
    for r in (-1.0, -0.625, 0.25, 0.875):  # in binary r³ + r and the conjugate are exact
        w, conjugate = r**3 + r, 3 * r**4 / 4 + r * r / 2
        assert loss.derivative(r, 0.0) == w
        assert loss.conjugate_derivative(w, 0.0) == pytest.approx(r, rel=1e-14)
        assert loss.conjugate(w, 0.0) == pytest.approx(conjugate, rel=1e-14)


@pytest.mark.parametrize("name", HANDS)
def test_fenchel_young_keeps_its_digits(name: str) -> None:
    """Where l(s) + l*(w) − ws cancels to 1e-13 of its terms, five digits are still right."""
    hand = HANDS[name]
    loss = hand.loss()
    y = 1.0 if hand.labels == "±1" else 0.0
    for r in (-4.0, -0.8, 0.3, 0.9, 2.0, 6.0):
        for h in (1e-6, -1e-4, 0.03, -0.4, 2.0):
            w = loss.derivative(r + h, y)
            wanted = hand.value(mp.mpf(r)) + hand.conjugate(mp.mpf(w)) - mp.mpf(w) * mp.mpf(r)
            if hand.pair:
                wanted = hand.pair.fenchel_young(r, w, y)
            found = loss.fenchel_young(r, w, y)
            assert found >= 0
            # In far tails and on flat pieces w itself has lost its digits.
            curved = wanted > 1e-4 * h * h
            assert abs(found - wanted) <= (1e-5 * wanted if curved else 1e-14), (r, h)


@pytest.mark.parametrize("name", HANDS)
def test_domain_ends_and_far_predictions(name: str) -> None:
    loss = HANDS[name].loss()
    y = 1.0
    low, high = loss.conjugate_domain(y)
    for s in (-1e3, 1e3):
        w = loss.derivative(s, y)
        assert low <= w <= high
        assert math.isfinite(loss.value(s, y))
        assert loss.fenchel_young(s, w, y) <= 1e-10
    for end, away in ((low, -1.0), (high, 1.0)):
        if math.isfinite(end):
            assert loss.conjugate(end + away * 1e-9, y) == math.inf
            assert not math.isnan(loss.conjugate(end, y))
            assert not math.isnan(loss.conjugate_derivative(end, y))


def test_label_inside_a_tilt_and_two_cores() -> None:
    cross = loss_from_expression("log(1 + exp(s)) - y*s")
    assert (cross.labels, cross.conjugate_domain(0.25)) == ("real", (-0.25, 0.75))
    for y in (0.0, 0.3, 0.7, 1.0):
        for end in cross.conjugate_domain(y):
            assert abs(cross.conjugate(end, y)) <= 1e-14
        w = cross.derivative(0.4, y)
        assert cross.conjugate(w, y) == pytest.approx(float(entropy(mp.mpf(w) + y)), abs=1e-14)
    costs = loss_from_expression(SIDES, labels="±1")
    assert (costs.gamma, costs.conjugate_domain(1.0)) == (0.5, (-2.0, 0.0))
    assert costs.conjugate_domain(-1.0) == (0.0, 1.0)
    assert costs.value(0.7, 1.0) == pytest.approx(2 * math.log1p(math.exp(-0.7)), rel=1e-15)
    assert costs.conjugate_derivative(costs.derivative(0.7, -1.0), -1.0) == pytest.approx(0.7)


# ---- γ -----------------------------------------------------------------------------------------


def test_gamma_is_proved_where_all_of_it_is() -> None:
    """A parabola is, next to a piece, and beside a core, that is measured."""
    pieces = "where(y*s >= 0, (y*s - log(2)/2)**2/2 + 3*log(2)**2/8, log(1 + exp(-y*s))**2/2)"
    cores = "(1 + y)*s**2/4 + (1 - y)*log(1 + exp(s))**2/4"
    for text in (pieces, cores):
        assert loss_from_expression(text, labels="±1").gamma_origin == "numerical"


@pytest.mark.parametrize("k", [3, 4, 7, 10, 49])
def test_an_exact_gamma_is_the_least_double_above(k: int) -> None:
    gamma = loss_from_expression(f"s**2/{2 * k}").gamma
    assert Fraction(gamma) >= Fraction(1, k) > Fraction(math.nextafter(gamma, 0.0))


def test_a_measured_gamma_lies_a_margin_above_the_supremum() -> None:
    def curvature(x: Any) -> Any:
        return expit(x) ** 2 + softplus(x) * expit(x) * expit(-x)

    peak = mp.findroot(lambda x: mp.diff(curvature, x), 2.5)
    assert 5e-10 < HANDS["squared-softplus"].loss().gamma / curvature(peak) - 1 < 2e-9
    # Curvature that falls as slowly as 1/log s has no limit far out, and does not grow.
    slow = loss_from_expression("s**2/log(10 + s**2)")
    assert 5e-10 < slow.gamma * mp.log(10) / 2 - 1 < 2e-9
    assert slow.gamma_origin == "numerical"


@pytest.mark.parametrize("t", ["s", "(-s)"])
@pytest.mark.parametrize(
    ("formula", "gamma"),
    [
        ("where(t <= -1, sqrt(1 + t**2), sqrt(2) - (t + 1)/sqrt(2) + (t + 1)**2/20)", 8**-0.5),
        ("where(t >= 1, t - log(1 + t), 1 - log(2) + (t - 1)/2 + (t - 1)**2/20)", 0.25),
    ],
)
def test_curvature_may_be_largest_at_either_end_of_a_piece(
    formula: str, gamma: float, t: str
) -> None:
    loss = loss_from_expression(re.sub(r"\bt\b", t, formula))
    assert (loss.gamma, loss.gamma_origin) == (pytest.approx(gamma, rel=1e-15), "proved")


def test_second_derivatives_of_expressions_are_exact() -> None:
    made = loss_from_expression("log(1 + exp(-y*s))", labels="±1")
    s = np.linspace(-8.0, 8.0, 33)
    for y in (-1.0, 1.0):
        exact = [Logistic().second_derivative(x, y) for x in s]
        assert np.allclose([made.second_derivative(x, y) for x in s], exact, rtol=1e-12)


def test_from_sympy_is_from_text() -> None:
    s, y, d = sp.symbols("s y d")
    r = s - y
    expression = sp.Piecewise((r**2 / 2, sp.Abs(r) <= d), (d * (sp.Abs(r) - d / 2), True))
    loss = loss_from_expression(expression, d=1.5)
    check_against_hand(loss, HANDS["huber"], 10.0)
    with pytest.raises(
        ExpressionError, match="the function 'gamma' at position 1 is not in the list"
    ):
        loss_from_expression(sp.gamma(s))
    with pytest.raises(ExpressionError, match=r"'z' at position .* is unknown"):
        loss_from_expression((s - sp.Symbol("z")) ** 2)
    with pytest.raises(ExpressionError, match="is undefined for some s; expected a case with True"):
        loss_from_expression(sp.Piecewise((s**2, s < 0)))
    with pytest.raises(TypeError, match=r"is a float; expected a text or a SymPy expression"):
        loss_from_expression(3.5)


def test_object() -> None:
    loss = HANDS["pseudo-huber"].loss()
    assert "d**2*(sqrt" in repr(loss)
    assert "d=0.7" in repr(loss)
    assert loss == pickle.loads(pickle.dumps(loss)) == HANDS["pseudo-huber"].loss()
    assert loss.d == 0.7  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match=r"d is 0\.7 in this loss"):
        replace(loss, d=0.8)  # type: ignore[call-arg]
    assert "γ = 1 (proved); l*: closed form" in loss.describe()
    assert HANDS["logistic"].loss().label_fault(np.array([0.0, 1.0])) is not None
    assert HANDS["logistic"].loss().label_fault(np.array([-1.0, 1.0])) is None
    assert loss.label_fault(np.array([0.5])) is None


FORMS = [name for name in HANDS if name not in ("fair", "arctan", "arsinh", "squared-softplus")]


SIDES = "(3 + y)/2*log(1 + exp(-y*s))"
FORMS += ["softplus(s - y) + (s - y)/2 + 3", "max(0, s - 1)**2/2", SIDES]


@pytest.mark.parametrize("name", FORMS)
def test_cvxpy_form(name: str) -> None:
    import cvxpy as cp

    labels = "±1" if name == SIDES else None
    loss = HANDS[name].loss() if name in HANDS else loss_from_expression(name, labels=labels)
    s = np.array([0.3, 2.0, -30.0, 0.0, 0.6])
    y = np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    form = loss.cvxpy_form(cp.Constant(s), y)
    assert form.is_convex()
    wanted = [loss.value(a, b) for a, b in zip(s, y, strict=True)]
    np.testing.assert_allclose(form.value, wanted, rtol=1e-12, atol=1e-13)


def test_cvxpy_form_that_is_not_found_says_so() -> None:
    with pytest.raises(NotImplementedError, match="no CVXPY form was found"):
        HANDS["fair"].loss().cvxpy_form(None, None)


# ---- what is not a loss ------------------------------------------------------------------------

NOT_LOSSES = {
    "abs(s)**1.5": "not smooth: l'' has no upper bound near s = -1e-12, y = 0",
    "-s**2": "not convex: l'' = -2.0 < 0",
    "log(1 + (s - y)**2)": "not convex: l'' = -0.25 < 0 at s = -?1.73205, y = 0",
    "s**2 - 2.00002*log(cosh(s))": "not convex: l'' = -2.0e-5 < 0 at s = 0, y = 0",
    "abs(s - y)": r"kink at s = 0, y = 0: its slope is -1 from the left and 1 from the right",
    "max(0, 1 - y*s)": r"kink at s = 1, y = 1: its slope is -1 from the left and 0 from the right",
    "sign(s)": "jumps at s = 0",
    "where(s <= 0, s**2/2, s**2/2 + 1e-9*s)": "kink at s = 0, y = 0: its slope is 0 .* and 1e-09",
    "where(s <= 0, s**2/2, s**2/2 + 1e-9)": "jumps at s = 0, y = 0: its value is 0 .* and 1e-09",
    "where(s < 2, s**2, s**2 + 1)": "jumps at s = 2, y = 0: its value is 4 .* and 5",
    "sqrt(s)": "not a finite real number at s = 0",
    "s**2/2 + 1/(s - 3)**2": "not a finite real number at s = 3, y = 0",
    "(s - y)**5 + s**2": "not convex: l'' = -2.0e.25 < 0",
    "y**2": "does not depend on s",
    "s*y": "l'' is 0 everywhere",
    "log(-1) + s**2": "expected a finite real number",
    "where(s <= 0, -sqrt(-s), s)": "no finite slope at s = 0, y = 0",
    "where(s <= 0, s**2, log(s))": "no finite value at s = 0, y = 0",
    "s**2 - log(s + pi)": "the loss is not a finite real number at s = -3.25, y = 0",
    "abs(abs(abs(abs(abs(s) - 16) - 8) - 4) - 2)": "more than 24 pieces",
    "s**2/2 + 1.2/(1 + (s - 137.7)**2/0.01)": "not convex: the least l'' is -239",
    "s**2/2 + exp(-((s - 7.123)/0.001)**2)": "not convex: l'' = -2.0e.6 < 0 at s = 7.123, y = 0",
    "s**2/2 + 1.2*exp(-(s - 137.7)**2)": "not convex: l'' = -1.4 < 0 at s = 137.7, y = 0",
}


@pytest.mark.parametrize("text", NOT_LOSSES)
def test_not_a_loss(text: str) -> None:
    with pytest.raises(ExpressionError, match=NOT_LOSSES[text]):
        SeparableConjugate.from_expression(text)


@pytest.mark.parametrize("part", ["log(1 + exp(-y*s))", "s*log(y)"])
def test_what_cannot_be_separated_is_kept(part: str) -> None:
    """A product, and a tilt without a value at y = 0."""
    loss = loss_from_expression(f"s**2/2 + {part}", labels="real")
    exact = sp.lambdify(sp.symbols("s y"), sp.sympify(f"s**2/2 + {part}"))
    for s in (-2.0, 0.25, 3.0):
        w = loss.derivative(s, 0.75)
        assert loss.value(s, 0.75) == pytest.approx(exact(s, 0.75), rel=1e-14)
        assert loss.conjugate(w, 0.75) == pytest.approx(w * s - exact(s, 0.75), abs=1e-12)
    assert (loss.gamma, loss.gamma_origin) == (math.inf, "local")


# ---- what is not in the language ---------------------------------------------------------------

RAN: list[str] = []


def sentinel() -> None:
    RAN.append("ran")


ATTACK = "__import__('test_expressions').sentinel()"
MALICIOUS = {
    ATTACK: "has no meaning",
    "__import__(s)": "'__import__' at position 1 is not in the list",
    "eval(s)": "'eval' at position 1 is not in the list",
    "sech2(s)": "'sech2' at position 1 is not in the list",
    "(lambda: s)()": "':' at position 8",
    "lambda": "the end of the expression",
    "__class__": "'__class__' at position 1 is unknown",
    "s.__class__": "'s.__class__' at position 1 has no meaning",
    "().__class__.__bases__[0]": r"'\[' at position 23",
    "exp(s)(s)": "'exp.s..s.' at position 1 has no meaning",
    "exp(x=s)": "at position 1 has no meaning",
    "exp(*s)": "'.s' at position 5 has no meaning",
    "s, y": "'s, y' at position 1 has no meaning",
    "s[0]": r"'\[' at position 2",
    "{s}": "'{' at position 1",
    '"s"': "position 1 has no meaning",
    "(s := 2)": "':' at position 4",
    "s == 1": "'s == 1' at position 1 has no meaning",
    "s; y": "';' at position 2",
    "s if y else s": "'s if y else s' at position 1 has no meaning",
    "True*s": "'True' at position 1 has no meaning",
    "s\n\ny": "'y' at position 3 was not expected",
    "s # y": "'#' at position 3",
    "s % y": "'%' at position 3",
    "s ^ 2": r"write \*\* for a power",
    "s // 2": "'s // 2' at position 1 has no meaning",
    "2s": "'2s' at position 1 was not expected; .* an operator",
    "0x10*s": "'0x10' at position 1 has no meaning",
    "where(s, s, s)": "where expects a comparison",
    "where(s < eval(y), s, s)": "'eval' at position 11 is not in the list",
    "exp(s, s)": "got 2 arguments; expected 1",
    "exp": "the function 'exp' at position 1 has no argument",
    "Abs(s)": "did you mean abs",
    "z**2": "'z' at position 1 is unknown",
    "": "the expression is empty",
    "(s": r"'\(' at position 1 was never closed; .* '\)' for each",
    "s)": "'\\)' at position 2 was not expected",
    "s**": "the end of the expression",
    "s\0": r"'\\x00' at position 2 has no meaning",
    "\N{CYRILLIC SMALL LETTER DZE}**2": r"'\\u0455' at position 1 .* expected letters a-z",
    "\N{FULLWIDTH LATIN SMALL LETTER S}**2": "expected letters a-z",
    "9**9**9**9*s**2": "exponent .* is not a plain number",
    "9**99999999*s**2": "exponent '99999999' at position 4 is too large",
    "s**s": "is not a plain number",
    "((((s + 1)**64)**64)**64)**64": "too large to work with",
    "square(" + "+".join(["s"] * 77) + ")": "too large to work with",
    "s**(1/0)": "exponent '1/0' at position 5 is too large",
    "(1 + s + y + exp(s) + exp(y) + tanh(s))**30": "too large to work with",
    "log(" + "*".join(f"cosh({k}*s)" for k in range(1, 40)) + ")": "too large to work with",
    "1e999*s**2": "out of range",
    "1e" + "9" * 500 + "*s**2": "out of range",
    "1e-400*s**2": "out of range",
    "(" * 900 + "s" + ")" * 900: "nested more than 40 deep",
    "-" * 300 + "s": "nested more than 40 deep",
    "s**2" * 300: "was not expected",
    "+".join(["s"] * 900): "parts; expected at most",
    "s" * 100_000: "100000 characters; expected at most 2000",
}


@pytest.mark.parametrize("text", MALICIOUS, ids=[text[:20].encode("ascii", "replace").decode() for text in MALICIOUS])  # fmt: skip  # noqa: E501
def test_refused_at_once_and_nothing_runs(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(*arguments: Any) -> None:
        raise AssertionError("work began on a text that should have been refused")

    monkeypatch.setattr(worker, "derive", begin)
    monkeypatch.setattr(loss_module, "_class", begin)
    with pytest.raises(ExpressionError, match=MALICIOUS[text]) as refusal:
        loss_from_expression(text)
    assert len(str(refusal.value)) < 500
    assert not RAN


def test_the_sentinel_can_run() -> None:
    sentinel()
    assert RAN.pop() == "ran"


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"a": 1.0}, "'a' does not occur"),
        ({"gamma": 1.0}, "'gamma' is taken"),
        ({"exp": 1.0}, "'exp' is taken"),
        ({"lambda": 1.0}, "'lambda' is a word of Python; expected another, such as lambda_0"),
        ({"_a": 1.0}, "cannot name a field or a parameter"),
        ({"__class__": 1.0}, "taken"),
        ({"a": math.nan}, "expected 0 or a size"),
        ({"a": True}, "expected a number"),
        ({"a": "1"}, "expected a number"),
    ],
)
def test_parameters_are_checked(numbers: dict[str, Any], said: str) -> None:
    with pytest.raises(ExpressionError, match=said):
        loss_from_expression("s**2", parameters=numbers)
    with pytest.raises(ExpressionError, match="expected '±1', 'real' or None"):
        loss_from_expression("s**2", labels="sign")


HARD = {
    "exp(-exp(exp(s))) + s**2": None,
    "tanh(" * 7 + "s" + ")" * 7 + "/100 + s**2": None,
    "+".join(f"1/(1 + (s - {k})**2)" for k in range(13)): "not convex",
    "+".join(f"log(1 + exp({k}*s/7 - {k}))" for k in range(1, 7)): None,
    "max(" + ", ".join(f"abs(s - {k})*{k + 1}" for k in range(5)) + ")": "kink|pieces",
    "sqrt(1 + sqrt(1 + sqrt(1 + s**2)*s**2)) + sqrt(2 + s**4)": None,
}


@pytest.mark.parametrize(
    "text",
    [pytest.param(text, marks=[] if said else [pytest.mark.slow]) for text, said in HARD.items()],
)
def test_hard_formulas_end(text: str) -> None:
    """Each with a loss or a sentence, by the rules alone: a solver would take hours."""
    if HARD[text]:
        with pytest.raises(ExpressionError, match=HARD[text]):
            loss_from_expression(text)
    else:
        assert loss_from_expression(text).gamma_origin in ("proved", "numerical")


SERVING = "import sys, json; sys.path[:] = json.loads(sys.argv[1]); import {0} as w; "
SERVING += "from rcmd.conjugates.expressions import generation as g; "


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("import time; time.sleep(60)", r"did not finish in 0.2 seconds of waiting; expected a"),
        ("import os; os.kill(os.getpid(), 24)", "did not finish in 20 seconds of computing;"),
        ("import os; os.kill(os.getpid(), 11)", r"ended in the midst .* \(Segmentation fault\)"),
        ("raise SystemExit(3)", r"ended in the midst .* \(exit status 3\)"),
        (SERVING + "g.generate = json.loads; w.serve()", r"failed within 4 GB .* \(TypeError: "),
    ],
)
def test_what_ended_a_process_is_said(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, command: str, said: str
) -> None:
    worker._stop()
    monkeypatch.setattr(worker, "_COMMAND", command)
    if "sleep" in command:
        monkeypatch.setattr(worker, "PATIENCE", 0.2)
    with pytest.raises(ExpressionError, match=f"computer algebra {said}"):
        loss_from_expression("3*(s - y)**2")
    assert worker._process is None  # the next formula gets a new one


def test_a_process_that_was_killed_leaves_no_pipes_open(fresh: Path) -> None:
    loss_from_expression("3*(s - y)**2")
    killed = worker._process
    killed.kill()
    killed.wait()
    assert loss_from_expression("4*(s - y)**2").gamma == 8.0
    assert killed.stdin.closed
    assert killed.stdout.closed


def test_where_no_process_can_be_started_formulas_are_derived_here(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker._stop()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert loss_from_expression("3*(s - y)**2").gamma == 6.0
    assert worker._process is None


# ---- the table of functions ---------------------------------------------------------------------


def hazard(x: Any) -> Any:
    return mp.npdf(x) / mp.ncdf(x)


def excess(x: Any) -> Any:
    return expit(x) + expit(-x) * mp.log(expit(-x))


def ratio(x: Any) -> Any:
    return expit(x) / softplus(x)


FAR: dict[str, tuple[Any, list[float]]] = {
    "log_softplus": (lambda x: mp.log(softplus(x)), [-50.0, -35.0, 3.0, 800.0]),
    "softplus_ratio": (ratio, [-50.0, -35.0, 3.0]),
    "softplus_excess": (excess, [-50.0, -2.2, -2.1, 4.0]),
    "softplus_rest": (lambda x: ratio(x) - expit(-x), [-50.0, -35.0, -1.0, 3.0]),
    "log_normcdf": (lambda x: mp.log(mp.ncdf(x)), [-300.0, -2.1, -1.9, 0.5, 9.0]),
    "normal_hazard": (hazard, [-300.0, -2.1, -1.9, 5.0]),
    "normal_bend": (lambda x: hazard(x) * (x + hazard(x)), [-2e8, -300.0, -2.1, -1.9, 5.0]),
    "cloglog": (lambda x: mp.log(1 - mp.exp(-mp.exp(x))), [-40.0, -29.0, -0.6, -0.4, 3.0]),
    "cloglog_slope": (lambda x: mp.exp(x) / mp.expm1(mp.exp(x)), [-40.0, -1.0, 2.0]),
    "cloglog_rest": (
        lambda x: mp.exp(x) + mp.exp(x) / mp.expm1(mp.exp(x)) - 1,
        [-40.0, -1.0, -0.7, -0.6, 3.0, 8.0],
    ),
}


@pytest.mark.parametrize("name", FAR)
def test_scalar_code_keeps_its_digits_far_out_and_beside_its_joints(name: str) -> None:
    exact, places = FAR[name]
    for at in places:
        with mp.workdps(250):
            wanted = exact(mp.mpf(at))
        assert abs(getattr(scalars, name)(at) - wanted) <= 1e-14 * abs(wanted), at


@pytest.mark.parametrize("name", [name for name, row in language.FUNCTIONS.items() if row.code])
def test_scalar_code_and_slope_are_what_the_table_says(name: str) -> None:
    row = language.FUNCTIONS[name]
    x = sp.Symbol("x")
    rest = (sp.Integer(3),) * row.parameters.count(",")
    exact = symbolic.FORMS[name](x, *rest)
    home, _, code = row.code.rpartition(".")
    scalar = getattr(math if home else scalars, code)
    slope = None
    if row.slope:
        slope = symbolic.SLOPES[name](x, *rest)
        for inner in slope.atoms(symbolic.Stable):
            slope = slope.subs(inner, symbolic.FORMS[type(inner).__name__](*inner.args))
    for at in (1e-9, 1e-3, 0.05, 0.3, 0.45, 0.55, 0.9):
        wanted = sp.N(exact.subs(x, sp.Float(at, 60)), 40)
        # A logarithm near its zero has the rounding of its argument.
        room = 4e-15 * abs(wanted) + (1e-16 if name == "log_softplus" else 0.0)
        assert abs(scalar(at, *map(float, rest)) - wanted) <= room, at
        if slope is not None:
            wanted = sp.N(exact.diff(x).subs(x, sp.Float(at, 60)), 40)
            assert abs(sp.N(slope.subs(x, sp.Float(at, 60)), 40) - wanted) <= 1e-20


# ---- algebra -----------------------------------------------------------------------------------

ZEROS = {
    "exp(2*r) - 3*exp(r) + 2": "0, log(2)",
    "(r**2 - 2)*asinh(r - 1)": "-sqrt(2), sqrt(2), 1",
    "r**2 + pi*r + 1": "(sqrt(pi**2 - 4) - pi)/2, -(sqrt(pi**2 - 4) + pi)/2",
    "asinh(cosh(r)) - 2": "acosh(sinh(2)), -acosh(sinh(2))",
} | dict.fromkeys(("exp(2*r) + 3*exp(r) + 2", "1/sqrt(r**2 + 1)", "r**2 + pi", "3"), "")


def test_zeros_are_all_found_or_it_is_said() -> None:
    for function, wanted in ZEROS.items():
        found = {sp.N(zero, 40) for zero in algebra.real_zeros(sp.sympify(function, {"r": R}))}
        assert found == {sp.N(sp.sympify(zero), 40) for zero in wanted.split(",") if zero}
    with pytest.raises(ExpressionError, match=r"where r \+ asinh\(r\) - 1 changes sign was not f"):
        algebra.real_zeros(R + sp.asinh(R) - 1)


def test_forms_that_keep_digits_or_cannot_be_code() -> None:
    for plain, kept in (
        (1 / (2 + 3 * sp.exp(R)), stable.expit(sp.log(2) - sp.log(3) - R) / 2),
        (sp.exp(R) / (1 + sp.exp(R)), stable.expit(R)),
        (R / (1 + sp.exp(R)), R * stable.expit(-R)),
        (sp.exp(R) - 1, stable.expm1(R)),
    ):
        assert symbolic.stabilised(plain) == kept
    for expression in (2**R, sp.zeta(R), sp.I * R):
        with pytest.raises(Unusable):
            code(expression)


def test_numbers_that_miss_an_end_by_rounding_are_moved_there() -> None:
    for v, wanted in ((1 + 4e-16, 1.0), (-2 - 9e-16, -2.0), (1 + 4e-15, 1 + 4e-15), (0.3, 0.3)):
        assert scalars.nudged(v, -2.0, 1.0, 0.5) == wanted


# ---- planted bugs, caught when the code is generated -------------------------------------------


def generated(text: str) -> tuple[str, dict[str, Any]]:
    """The module, and what it says is known about the loss."""
    source = generation.generate(text, {}, None)
    names: dict[str, Any] = {}
    exec(source, names)
    return source, names["KNOWN"]


def test_wrong_branch_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong root of l'(s) = w is not trusted: Newton's method takes its place."""
    right = derivation.closed_inverse
    monkeypatch.setattr(derivation, "closed_inverse", lambda piece: -right(piece))
    text, known = generated("log(cosh(s - y))")
    assert known["conjugate_origin"] == "newton"
    assert "_newton(w)" in text


def test_unstable_form_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "stabilised", lambda expression: expression)
    with pytest.raises(ExpressionError, match=r"failed its verification: \w+\(.*1000.0, 1.0\)"):
        generated("log(1 + exp(-y*s))")


def test_no_digits_are_lost_where_two_parabolas_meet() -> None:
    """There differences of l in many digits miss l' = 0 by their step."""
    for text in ("where(s < y, (s - y)**2, 3*(s - y)**2)", "max(0, s)**2/2"):
        loss = loss_from_expression(text)
        assert loss.lost_digits == ""
        assert "absolute" not in loss.describe()


def test_lost_digits_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """log(1 + exp(−s)) is 0 at s = 40 in floats: an absolute error of 1e-18, and no digit right."""

    def naive(x: float) -> float:
        return math.log(1.0 + math.exp(x)) if x < 700 else x

    monkeypatch.setattr(scalars, "softplus", naive)
    _, known = generated("log(1 + exp(-y*s))")
    assert "value(" in known["lost_digits"]
    assert "keeps few digits" in known["lost_digits"]
    loss = loss_from_expression("s*erf(s) + exp(-s**2)/sqrt(pi) - 1/sqrt(pi)")
    assert "terms only: value(1e-06, 0.0) keeps few digits of 5.6" in loss.describe()


def test_an_end_that_is_wrong_is_caught() -> None:
    text, head = "log(1 + exp(-y*s))", "def core_conjugate(w):\n"
    source, expression = generated(text)[0], symbolic.expression_of(text, language.parse(text), {})
    subject = generation.Subject(text, expression, "±1", [], [], 0.25, 1e3)
    generation.Verification(source, subject)._check_ends((1.0,))
    for last, said in (("math.nan", "is nan, near"), ("-math.inf", "is -inf, near"), ("1", "jump")):
        wrong = source.replace(head, f"{head}    if w == -1.0:\n        return {last}\n")
        with pytest.raises(Unusable, match=said):
            generation.Verification(wrong, subject)._check_ends((1.0,))


@pytest.mark.parametrize("name", ["softplus", "expit", "negative_entropy"])
def test_code_that_is_wrong_by_a_billionth_is_not_used(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(scalars, name)
    monkeypatch.setattr(scalars, name, lambda x: right(x) * (1 + 1e-9))
    if name == "negative_entropy":  # l* by its definition takes its place
        assert name not in generated("log(1 + exp(-y*s))")[0]
        return
    with pytest.raises(ExpressionError, match="failed its verification"):
        generated("log(1 + exp(-y*s))")


# ---- compiled, and solved with -----------------------------------------------------------------


def test_generated_functions_compile() -> None:
    """Newton's method and integrals of l'' among them."""
    loss = HANDS["squared-softplus"].loss()
    s = np.array([-800.0, -3.0, 0.2, 0.7, 30.0])
    w = np.array([loss.derivative(a, 1.0) for a in s.tolist()])
    points = {"derivative": (s,), "conjugate_derivative": (w,), "conjugate": (w,)}
    for method, arguments in (points | {"fenchel_young": (s + 0.5, w)}).items():
        wanted = [getattr(loss, method)(*at, 1.0) for at in zip(*arguments, strict=True)]
        found = method_scalar(loss, method)(*arguments, 1.0)
        np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-15)


def test_solves_to_a_certified_gap() -> None:
    """With labels ±1; tests/conjugates/test_formula_zoo.py has others."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0] + 0.3 * rng.standard_normal(30) > 0, 1.0, -1.0)
    problem = Problem(X, y, HANDS["logistic"].loss(), L1Ball(1.0))
    result = solve(problem, batch=0.2, tol=5e-3, seed=0)
    assert result.success
    again = certify(problem, result.beta, result.w)
    assert 0 <= again.gap <= 5e-3
    assert problem.primal(result.beta) - problem.dual(result.w) == pytest.approx(
        again.gap, abs=1e-9
    )


# ---- the cache ---------------------------------------------------------------------------------

CHILD = """
import json, sys
from rcmd.conjugates.expressions import loss_from_expression
loss = loss_from_expression("d**2*(sqrt(1 + ((s - y)/d)**2) - 1)", d=1.25)
module = type(loss)._module
print(json.dumps({
    "sympy": "sympy" in sys.modules,
    "file": module.__file__,
    "value": loss.value(2.0, 0.5),
    "conjugate": loss.conjugate(0.4, 0.5),
}))
"""


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache, and nothing remembered in this process either."""
    monkeypatch.setenv("RCMD_CACHE", str(tmp_path))
    remembered = dict(_KNOWN)
    _KNOWN.clear()
    yield tmp_path / "expressions"
    _KNOWN.clear()
    _KNOWN.update(remembered)


def test_another_process_starts_from_the_cache(fresh: Path) -> None:
    loss = loss_from_expression("d**2*(sqrt(1 + ((s - y)/d)**2) - 1)", d=1.25)
    assert worker._process is not None  # which derived it
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert not found["sympy"]
    assert (found["value"], found["conjugate"]) == (loss.value(2.0, 0.5), loss.conjugate(0.4, 0.5))
    assert [path for path in fresh.iterdir() if path.is_file()] == [Path(found["file"])]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("2", "3"),
        lambda text: "[]",
        lambda text: "\udcff",
    ],
)
def test_damaged_file_is_made_again(fresh: Path, damage: Callable[[str], str]) -> None:
    text = "(s - y)**2/2"
    loss_from_expression(text)
    (path,) = fresh.glob("*.py")
    whole = path.read_text()
    path.write_bytes(damage(whole).encode("utf-8", "surrogateescape"))
    _KNOWN.clear()
    loss = loss_from_expression(text)
    assert loss.value(3.0, 1.0) == 2.0
    assert loss.gamma == 1.0
    assert path.read_text() == whole


def test_unwritable_cache_is_done_without(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = fresh.parent / "a file"
    blocked.write_text("")
    monkeypatch.setenv("RCMD_CACHE", str(blocked))
    loss = loss_from_expression("2*(s - y)**2")
    assert loss.derivative(1.0, 0.0) == 4.0
    module = type(loss)._module
    assert str(module.__file__).startswith("<")
    assert blocked.read_text() == ""


def test_name_depends_on_everything() -> None:
    names = {
        cache.name_for("s**2", [], None),
        cache.name_for("s**2", [("a", 1.0)], None),
        cache.name_for("s**2", [], "±1"),
        cache.name_for("s**3", [], None),
    }
    assert len(names) == 4


def test_labels_asked_for_are_remembered_apart(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = {}
    for labels in (None, "±1", "real"):
        loss = loss_from_expression("s**2/2 - y*s", labels=labels)
        assert loss.labels == (labels or "real")
        assert pickle.loads(pickle.dumps(loss)) == loss
        sources[labels] = loss.source
    assert len(list(fresh.glob("*.py"))) == 3
    _KNOWN.clear()
    monkeypatch.setattr(worker, "derive", None)  # as the file is there
    assert loss_from_expression("s**2/2 - y*s").source == sources[None]


def test_an_edit_of_any_file_makes_new_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the folder, and the functions that generated code calls."""
    read, folder = Path.read_text, Path(cache.__file__).parent
    files = [*folder.glob("*.py"), Path(scalars.__file__)]
    seen = {tuple(cache._versions.__wrapped__())}
    for edited in files:

        def text(path: Path, encoding: str, edited: Path = edited) -> str:
            return read(path, encoding) + "# edited" * (path == edited)

        monkeypatch.setattr(Path, "read_text", text)
        seen.add(tuple(cache._versions.__wrapped__()))
    assert len(seen) == len(files) + 1 > 10


def test_folder_without_the_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("RCMD_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache.folder() == tmp_path / "rcmd" / "expressions"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    assert cache.folder() == tmp_path / "local" / "rcmd" / "expressions"
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache.folder() == tmp_path / "Library" / "Caches" / "rcmd" / "expressions"


def test_gaps_see_what_is_narrow_in_the_curvature() -> None:
    # Five points of a quadrature miss a peak of l'' that is narrower than their distance.
    loss = loss_from_expression("(s - y)**2/2 - 0.0018*exp(-((s - y + 8.5)/0.045)**2)")
    for s in np.linspace(-0.15, 0.15, 31):
        w, gap = loss.derivative(0.1, 8.5), loss.value(s, 8.5) - loss.value(0.1, 8.5)
        assert loss.fenchel_young(s, w, 8.5) == pytest.approx(gap - w * (s - 0.1), abs=1e-9)

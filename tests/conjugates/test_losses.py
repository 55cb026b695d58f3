"""Every shipped loss: its contract, 50 digits, compilation, solutions."""

import itertools
import math
from collections.abc import Callable
from dataclasses import fields
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from in_digits import BITS, exact, exact_conjugate
from small_problems import LIKELIHOODS

from rcmd import (
    RCMD,
    ConjugateProx,
    EpsilonInsensitive,
    EuclideanProx,
    ExactProx,
    Expectile,
    Fair,
    Huber,
    L1Ball,
    LeastSquares,
    LogCosh,
    Logistic,
    Problem,
    PseudoHuber,
    Ridge,
    SampleLosses,
    SeparableConjugate,
    SmoothedHinge,
    SmoothedQuantile,
    SoftplusHinge,
    SquaredHinge,
    conjugates,
    solve,
    truth,
)
from rcmd.conjugates import numeric, scalars
from rcmd.conjugates.base import NumericConjugateWarning
from rcmd.jit.scalars import method_scalar
from rcmd.model.specs import LOSSES, parse_loss
from rcmd.testing import check_conjugate, check_prox

SHIPPED: list[SeparableConjugate] = [
    LeastSquares(), Logistic(), Huber(0.7), PseudoHuber(1.5), LogCosh(0.8), Fair(1.4),
    SmoothedHinge(0.6), SquaredHinge(), SoftplusHinge(0.4), SmoothedQuantile(0.8, 0.5),
    EpsilonInsensitive(0.3, 0.5), Expectile(0.8),
]  # fmt: skip
SIGNS = (Logistic, SmoothedHinge, SquaredHinge, SoftplusHinge)
EPS = 2.0**-52

every_loss = pytest.mark.parametrize("loss", SHIPPED, ids=lambda loss: type(loss).__name__)


def labels(loss: SeparableConjugate) -> list[float]:
    return [1.0, -1.0] if isinstance(loss, SIGNS) else [0.0, 2.5, -0.7]


# ---- the contract ------------------------------------------------------------------------------


def test_every_shipped_loss_is_here() -> None:
    names = {
        name for name in conjugates.__all__ if name not in ("SampleLosses", "SeparableConjugate")
    }
    assert names == {type(loss).__name__ for loss in SHIPPED} | LIKELIHOODS


@every_loss
def test_contract_is_kept(loss: SeparableConjugate) -> None:
    report = check_conjugate(loss)
    assert len(report.identities) >= 13
    assert not any("too large" in note for note in report.notes), "γ must be exact"


positive = st.floats(0.05, 20.0)
FAMILIES = {
    "Huber": st.builds(Huber, positive),
    "PseudoHuber": st.builds(PseudoHuber, positive),
    "LogCosh": st.builds(LogCosh, positive),
    "Fair": st.builds(Fair, positive),
    "SmoothedHinge": st.builds(SmoothedHinge, positive),
    "SoftplusHinge": st.builds(SoftplusHinge, positive),
    "SmoothedQuantile": st.builds(SmoothedQuantile, st.floats(0.02, 0.98), positive),
    "EpsilonInsensitive": st.builds(EpsilonInsensitive, positive, positive),
    "Expectile": st.builds(Expectile, st.floats(0.02, 0.98)),
}
fixed = settings(derandomize=True, deadline=None, database=None)


@pytest.mark.parametrize("family", FAMILIES)
def test_contract_is_kept_for_all_parameters(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The CVXPY forms are checked above; solving them for each example would take minutes.
    monkeypatch.setattr("rcmd.testing.losses.LossInspection.cvxpy_form", lambda self: None)

    @settings(fixed, max_examples=2)
    @given(loss=FAMILIES[family])
    def check(loss: SeparableConjugate) -> None:
        check_conjugate(loss)

    check()


@every_loss
@settings(fixed, max_examples=40)
@given(s=st.floats(-1e3, 1e3), t=st.floats(-1e3, 1e3), y=st.floats(-50, 50))
def test_pairs_anywhere(loss: SeparableConjugate, s: float, t: float, y: float) -> None:
    y = math.copysign(1.0, y) if isinstance(loss, SIGNS) else y
    a, b = loss.derivative(s, y), loss.derivative(t, y)
    assert (b - a) * (t - s) >= 0
    assert abs(b - a) <= loss.gamma * abs(t - s) * (1 + 1e-12) + 8 * EPS * (1 + abs(a) + abs(y))
    gap = loss.fenchel_young(s, b, y)
    terms = loss.value(s, y), loss.conjugate(b, y), -b * s
    assert gap >= -4 * EPS * (1 + abs(b))
    assert gap == pytest.approx(sum(terms), abs=1e-13 * (1 + sum(map(abs, terms))))
    low, high = loss.conjugate_domain(y)
    assert low <= a <= high
    assert -s * a <= loss.descent_bound(y) * (1 + 1e-12) + 1e-13 * abs(s)


FLAT = [loss for loss in SHIPPED if not loss.strictly_convex]


@pytest.mark.parametrize("loss", FLAT, ids=lambda loss: type(loss).__name__)
def test_flat_losses_say_so(loss: SeparableConjugate) -> None:
    assert "not strictly convex" in loss.note
    assert "conjugate_derivative returns" in loss.note
    assert loss.note in small_problem(loss, L1Ball(1.5)).describe()


# ---- the same functions in many digits ---------------------------------------------------------

MARGINS = [0.0, 1e-300, 1e-12, 1e-6, 0.01, 0.31, 0.99, 1.7, 5.0, 36.0, 300.0, 800.0, 1e3, 1e6]
POINTS = [sign * r for r in MARGINS for sign in (1, -1)]
TINY = 2.0**-1070


def scale(loss: SeparableConjugate) -> float:
    return 1 + float(getattr(loss, "width", 1.0)) ** 2


def check_values(loss: SeparableConjugate) -> None:
    with ctx.workprec(BITS):
        for y in labels(loss):
            for s in [y + r for r in POINTS if abs(r) <= 300] + [*POINTS[:-4]]:
                value, slope = exact(loss, s, y)
                # One rounding of s − y or 1 − ys moves l by eps·(|s| + |y|)·|l'|; ys is exact.
                moved = 0 if isinstance(loss, Logistic) else EPS * (abs(s) + abs(y) + 1)
                room = 8 * EPS * value + moved * abs(slope) + moved**2 + TINY
                assert abs(loss.value(s, y) - value) <= room, (s, y)
                room = 4 * EPS * abs(slope) + 4 * moved * float(loss.gamma) + TINY
                assert abs(loss.derivative(s, y) - slope) <= room, (s, y)


def check_conjugates(loss: SeparableConjugate) -> None:
    shares = [1e-300, 1e-12, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.99, 1 - 1e-6, 1 - 1e-12, 1 - EPS / 2]
    with ctx.workprec(BITS):
        for y in labels(loss):
            low, high = loss.conjugate_domain(y)
            for share in shares:
                for end in (max(low, -50.0), min(high, 50.0)):
                    w = share * end
                    if w == 0:
                        continue
                    wanted, inverse = exact_conjugate(loss, w, y)
                    terms = 0 if isinstance(loss, Logistic) else abs(w) * (1 + abs(y)) + w * w
                    room = 8 * EPS * (abs(wanted) + terms) * scale(loss)
                    assert abs(loss.conjugate(w, y) - wanted) <= room, (w, y)
                    room = 16 * EPS * (1 + abs(y) + abs(inverse))
                    assert abs(loss.conjugate_derivative(w, y) - inverse) <= room, (w, y)


def check_gaps(loss: SeparableConjugate) -> None:
    with ctx.workprec(BITS):  # a gap is known up to rounding of its terms
        for y in labels(loss):
            for t in [y + r for r in POINTS if abs(r) <= 5]:
                w = loss.derivative(t, y)
                low, high = loss.conjugate_domain(y)
                if w in (low, high) or w == 0:
                    continue
                conjugate, _ = exact_conjugate(loss, w, y)
                for s in [s for s in POINTS if abs(s) <= 800]:
                    value, slope = exact(loss, s, y)
                    wanted = value + conjugate - arb(w) * s
                    moved = EPS * (abs(s) + abs(y) + 1)
                    room = 16 * EPS * wanted + 2 * moved * abs(slope - w) + moved**2
                    entropy = isinstance(loss, (Logistic, SoftplusHinge, LogCosh))
                    room += 8 * EPS * scale(loss) if entropy else 8 * EPS**2
                    found = loss.fenchel_young(s, w, y)
                    assert abs(found - wanted) <= room, (s, w, y)


def check_equality(loss: SeparableConjugate) -> None:
    for y in labels(loss):
        for s in POINTS[:-2]:
            gap = loss.fenchel_young(s, loss.derivative(s, y), y)
            assert abs(gap) <= 4 * EPS * scale(loss), (s, y)


CHECKS = [check_values, check_conjugates, check_gaps, check_equality]


@pytest.mark.parametrize("check", CHECKS)
@every_loss
def test_pair_in_digits(loss: SeparableConjugate, check: Callable[[Any], None]) -> None:
    check(loss)


def test_logistic_at_huge_margins_and_the_ends() -> None:
    loss = Logistic()
    assert loss.value(-800.0, 1.0) == 800.0
    assert loss.value(800.0, 1.0) == 0.0
    assert loss.value(1e308, -1.0) == 1e308
    assert loss.derivative(700.0, -1.0) == 1.0
    assert loss.fenchel_young(1e5, -1.0, 1.0) == 1e5
    for y in (1.0, -1.0):
        low, high = loss.conjugate_domain(y)
        assert (low, high) == ((-1.0, 0.0) if y > 0 else (0.0, 1.0))
        assert loss.conjugate(low, y) == loss.conjugate(high, y) == 0.0
        assert loss.conjugate_derivative(low, y) == -math.inf
        assert loss.conjugate_derivative(high, y) == math.inf
        for outside in (math.nextafter(low, -2), math.nextafter(high, 2)):
            assert loss.conjugate(outside, y) == loss.fenchel_young(0.3, outside, y) == math.inf


@every_loss
def test_gap_keeps_its_digits_near_equality(loss: SeparableConjugate) -> None:
    """At states close to each other the gap is of second order, and so is its error."""
    if isinstance(loss, (Logistic, SoftplusHinge)):
        pytest.skip("a relative entropy of terms of order one, accurate to rounding of one")
    with ctx.workprec(BITS):
        for y in (1.0, -1.0):
            t, s = (0.7 * y, 0.7 * y + 1e-6) if isinstance(loss, SIGNS) else (y + 0.4, y + 0.4001)
            w = loss.derivative(t, y)
            if isinstance(loss, SmoothedQuantile):
                t, s = y - 0.3, y - 0.3001
                w = loss.derivative(t, y)
            wanted = exact(loss, s, y)[0] + exact_conjugate(loss, w, y)[0] - arb(w) * s
            assert wanted > 0
            assert abs(loss.fenchel_young(s, w, y) / wanted - 1) <= 1e-9


# ---- compiled: plain functions of a record of fields -------------------------------------------

METHODS = ("value", "derivative", "second_derivative", "conjugate", "conjugate_derivative")
COMPILED = [  # each takes half a second: one of a loss, and all of them among the slow tests
    pytest.param(loss, name, marks=[pytest.mark.slow] if (i + k) % 6 else [])
    for (i, loss), (k, name) in itertools.product(
        enumerate(SHIPPED), enumerate((*METHODS, "fenchel_young"))
    )
]


@pytest.mark.parametrize(("loss", "name"), COMPILED)
def test_methods_compile_to_the_same_numbers(loss: SeparableConjugate, name: str) -> None:
    compiled = method_scalar(loss, name)
    for y in labels(loss)[:2]:
        slopes = np.array([loss.derivative(y + r, y) for r in POINTS])
        points = slopes if name.startswith("conjugate") else y + np.array(POINTS)
        arguments = (points, slopes[9]) if name == "fenchel_young" else (points,)
        found = compiled(*arguments, y)
        wanted = np.frompyfunc(getattr(loss, name), len(arguments) + 1, 1)(*arguments, y)
        assert found == pytest.approx(wanted.astype(float), rel=1e-15, abs=1e-15)


# ---- found numerically -------------------------------------------------------------------------


def bare(loss: SeparableConjugate) -> SeparableConjugate:
    """The loss with nothing but its value and its slope."""
    given = {
        "value": lambda self, s, y: loss.value(s, y),
        "derivative": lambda self, s, y: loss.derivative(s, y),
    }
    with pytest.warns(NumericConjugateWarning, match="does not define gamma, conjugate, conjugate"):
        return type("Bare", (SeparableConjugate,), given)()


@every_loss
def test_what_is_not_given_is_found(loss: SeparableConjugate) -> None:
    found = bare(loss)
    assert loss.gamma <= found.gamma <= loss.gamma * 1.0002
    assert found.gamma is found.gamma, "found once"
    for y in (1.0, -1.0):
        low, high = loss.conjugate_domain(y)
        assert found.conjugate_domain(y) == pytest.approx((low, high), abs=1e-9)
        for s in (-3.0, y * 0.7, 0.9 * y, 0.1, 2.0):
            w = loss.derivative(s, y)
            wanted = pytest.approx(loss.conjugate(w, y), rel=1e-9, abs=1e-12)
            assert found.conjugate(w, y) == wanted
            assert loss.derivative(found.conjugate_derivative(w, y), y) == pytest.approx(
                w, abs=1e-12
            )
            if loss.strictly_convex:
                curved = pytest.approx(loss.second_derivative(s, y), abs=1e-4 * loss.gamma)
                assert found.second_derivative(s, y) == curved
        for end, away in ((low, -1.0), (high, 1.0)):
            if math.isfinite(end):
                assert found.conjugate(end + 0.01 * away, y) == math.inf
                if not isinstance(loss, Fair):  # whose l* is infinite at the ends
                    assert found.conjugate(end, y) == pytest.approx(
                        loss.conjugate(end, y), abs=1e-6
                    )


def test_a_slope_that_cannot_be_evaluated_far_out_has_no_limit() -> None:
    class Overflowing(LeastSquares):
        gamma, conjugate = SeparableConjugate.gamma, SeparableConjugate.conjugate
        conjugate_derivative = SeparableConjugate.conjugate_derivative

        def derivative(self, s: Any, y: Any) -> Any:
            return s - y + math.log(math.exp(s) / math.exp(s))

    with pytest.warns(NumericConjugateWarning):
        loss = Overflowing()
    assert loss.conjugate_domain(0.0) == (-math.inf, math.inf)
    assert loss.conjugate_derivative(1e6, 0.0) == math.inf
    assert loss.conjugate(3.0, 0.0) == pytest.approx(4.5, rel=1e-12)


def sloping(slope: Any, value: Any = None) -> Any:
    """A function of s and its slope, as methods of a label."""
    return SimpleNamespace(value=lambda s, y: value(s), derivative=lambda s, y: slope(s))


def test_slopes_that_end_or_jump() -> None:
    """One that cannot be evaluated from 100 on has no known limit; one may jump over w."""
    ending = sloping(lambda s: 1.0 if s < 100.0 else math.nan)
    assert numeric.slope_limit(ending, 1.0, 0.0) == math.inf
    for far, limit in ((1.01, math.inf), (1.0, 1.0)):  # l' does not fall, unless by rounding
        rounded = sloping(lambda s: min(s, far) if s < 1e9 else 1.0)  # noqa: B023
        assert numeric.slope_limit(rounded, 1.0, 0.0) == limit
    for edge, (low, high) in itertools.product((0.0, 1.0, 3.7), ((-1.0, 1.0), (-1e-200, 1e3))):
        jump = sloping(lambda s: low if s <= edge else high)  # noqa: B023
        found = numeric.inverse_slope(jump, 0.0, 0.0)
        # To the last digit, or at 0 by a hundred halvings at least.
        assert abs(found - edge) <= 2.0**-51 * edge + 2.0**-100, (edge, low, high)


def test_conjugates_at_the_ends_are_limits() -> None:
    """An end that w misses by one rounding; l* finite, infinite, and l that overflows far out."""
    above, root = math.nextafter(1.0, 2.0), PseudoHuber(1.0)
    for w in (above, -above):
        assert numeric.inverse_slope(root, w, 0.0) == math.copysign(math.inf, w)
        assert numeric.conjugate(root, w, 0.0) == pytest.approx(1.0, abs=1e-6)
    # r·atan r − log(1 + r²)/2 falls behind its asymptote by a logarithm: l*(π/2) is infinite.
    atan = sloping(math.atan, lambda r: r * math.atan(r) - math.log1p(r * r) / 2)
    assert numeric.conjugate(atan, math.pi / 2, 0.0) == math.inf
    naive = sloping(scalars.expit, lambda s: math.log(1.0 + math.exp(s)))
    assert numeric.conjugate(naive, above, 0.0) == pytest.approx(0.0, abs=1e-12)


# ---- any number type ---------------------------------------------------------------------------

F = Fraction
RATIONAL = [
    LeastSquares(), Huber(F(2, 3)), SmoothedHinge(F(3, 5)), SquaredHinge(),
    SmoothedQuantile(F(4, 5), F(1, 2)), EpsilonInsensitive(F(1, 3), F(1, 2)), Expectile(F(4, 5)),
]  # fmt: skip


@pytest.mark.parametrize("loss", RATIONAL, ids=lambda loss: type(loss).__name__)
def test_piecewise_quadratic_losses_run_in_fractions(loss: SeparableConjugate) -> None:
    for y in (F(1), F(-1)):
        for s in [F(k, 7) for k in range(-20, 21, 3)]:
            w = loss.derivative(s, y)
            assert loss.value(s, y) + loss.conjugate(w, y) == w * s
            assert loss.fenchel_young(s, w, y) == 0
            assert loss.derivative(loss.conjugate_derivative(w, y), y) == w
            other = loss.derivative(s + F(1, 3), y)
            gap = loss.value(s, y) + loss.conjugate(other, y) - other * s
            assert loss.fenchel_young(s, other, y) == gap >= 0
            assert all(isinstance(v, Fraction) for v in (w, gap, loss.descent_bound(y)))


@pytest.mark.parametrize("loss", RATIONAL, ids=lambda loss: type(loss).__name__)
def test_exact_problem_is_solved_exactly(loss: SeparableConjugate) -> None:
    X = np.array([[F(1), F(-2)], [F(1, 2), F(1)], [F(-1), F(1, 3)]], dtype=object)
    y = np.array([F(1), F(-1), F(1)], dtype=object)
    result = solve(Problem(X, y, loss, L1Ball(F(1))), max_iterations=12, tol=0)
    assert isinstance(result.gap, Fraction)
    assert result.primal - result.dual == result.gap >= 0


# ---- constants ---------------------------------------------------------------------------------


def brute_radius(loss: SeparableConjugate, bound: float) -> float:
    ys = (
        labels(loss) if isinstance(loss, SIGNS) else np.linspace(-2 * bound - 3, 2 * bound + 3, 801)
    )
    return max(
        loss.value(0.0, y) - loss.value(a, y) + a * loss.derivative(a, y)
        for y in map(float, ys)
        for a in (bound, -bound)
    )


@pytest.mark.parametrize("bound", [1e-4, 0.05, 0.3, 0.9, 1.6, 7.0, 40.0])
@every_loss
def test_bregman_radius_holds_for_all_labels(loss: SeparableConjugate, bound: float) -> None:
    radius, brute = float(loss.bregman_radius(bound)), brute_radius(loss, bound)
    assert brute * (1 - 1e-9) - 1e-14 <= radius <= loss.gamma * bound * bound / 2 * (1 + 1e-12)
    if isinstance(loss, (LeastSquares, Huber, SmoothedHinge, SquaredHinge, SmoothedQuantile)):
        assert radius <= brute * 1.01 + 1e-12, "the sup over labels, not only a bound of it"
    if isinstance(loss, (Logistic, SoftplusHinge)):
        assert radius <= brute * (1 + 1e-6) + 1e-15 or bound < 1e-3


EXACT_DESCENT = (LeastSquares, Logistic, Huber, Fair, *SIGNS, SmoothedQuantile, EpsilonInsensitive)


@every_loss
def test_descent_bound_is_the_supremum(loss: SeparableConjugate) -> None:
    for y in labels(loss) if isinstance(loss, SIGNS) else [0.0, 0.4, 2.5, -0.75, -9.0]:
        grid = np.linspace(-12, 12, 24001)
        brute = max(-s * loss.derivative(s, y) for s in grid.tolist())
        bound = loss.descent_bound(y)
        assert bound >= brute * (1 - 1e-12)
        if isinstance(loss, EXACT_DESCENT):
            assert bound <= brute + 1e-6


@every_loss
def test_second_derivatives_integrate_to_first_ones(loss: SeparableConjugate) -> None:
    grid = np.linspace(-2.0, 2.0, 4001)
    for y in (-1.0, 1.0):
        losses = SampleLosses(loss, np.full(len(grid), y))
        slopes = losses.derivative(grid)
        curved = losses.second_derivative(grid)
        integral = np.concatenate([[0], np.cumsum((curved[1:] + curved[:-1]) / 2)]) * 1e-3
        assert np.allclose(integral, slopes - slopes[0], atol=2e-3 * loss.gamma)
        assert (curved >= 0).all()
        assert (curved <= loss.gamma).all()


def test_logistic_radius_in_digits() -> None:
    """D_l(0, bound), or its quadratic majorant where that cancels."""
    with ctx.workprec(BITS):
        for bound in (1e-12, 9.99e-4, 1e-3, 0.1, 1.0, 3.0, 10.0, 36.0, 800.0):
            (value, slope), zero = exact(Logistic(), bound, 1.0), exact(Logistic(), 0.0, 1.0)[0]
            wanted, found = zero - value + slope * bound, Logistic().bregman_radius(bound)
            if bound < 1e-3:
                assert wanted * (1 - EPS) <= found <= wanted * (1 + 1e-6)
            else:
                assert abs(found - wanted) <= 2 * EPS, bound


def test_descent_bound_of_the_contract_is_an_upper_bound() -> None:
    for loss in SHIPPED:
        assert SeparableConjugate.descent_bound(loss, 1.0) >= loss.descent_bound(1.0)
    assert SeparableConjugate.descent_bound(Logistic(), 1.0) == math.log(2)
    assert SeparableConjugate.descent_bound(LeastSquares(), F(3)) == F(9, 2)


def test_descents_are_lamberts_numbers_rounded_up() -> None:
    with mpmath.workdps(50):
        wanted = mpmath.lambertw(mpmath.exp(-1)).real
        assert wanted <= Logistic().descent_bound(1.0) <= wanted * (1 + EPS)
        for width in (0.02, 0.4, 1.0, 7.0):
            wanted = width * mpmath.lambertw(mpmath.exp(1 / mpmath.mpf(width) - 1)).real
            found = SoftplusHinge(width).descent_bound(1.0)
            assert wanted <= found <= wanted * (1 + mpmath.mpf(10) ** -13)


@every_loss
def test_weighted_ends_of_the_domain_are_inside(loss: SeparableConjugate) -> None:
    """w = ω·l'(s) divided by ω may miss the end by rounding; l* must not jump to +inf."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.1, 3.0, 200)
    y = np.full(200, labels(loss)[-1])
    losses = SampleLosses(loss, y, weights)
    for s in (-40.0, 40.0):
        w = losses.clip(losses.derivative(np.full(200, s)))
        assert np.isfinite(losses.conjugate(w)).all()
        assert np.isfinite(losses.fenchel_young(np.full(200, s), w)).all()


# ---- parameters, labels, refusals --------------------------------------------------------------

PARAMETRIC = [loss for loss in SHIPPED if fields(loss)]


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("loss", PARAMETRIC, ids=lambda loss: type(loss).__name__)
def test_bad_parameters_are_refused(loss: SeparableConjugate, bad: float) -> None:
    for field in fields(loss):
        with pytest.raises(
            ValueError, match=f"{field.name} of {type(loss).__name__} is .*; expected"
        ):
            type(loss)(**{field.name: bad})
        with pytest.raises(TypeError, match=f"{field.name} of {type(loss).__name__} is '1'"):
            type(loss)(**{field.name: "1"})


def test_quantile_levels_lie_between_0_and_1() -> None:
    with pytest.raises(
        ValueError, match=r"level of SmoothedQuantile is 1\.0; expected a number str"
    ):
        SmoothedQuantile(1.0)


@pytest.mark.parametrize("loss", [o for o in SHIPPED if isinstance(o, SIGNS)], ids=repr)
def test_classification_losses_share_their_labels(loss: SeparableConjugate) -> None:
    assert loss.label_fault([1.0, -1.0]) is None
    fault = loss.label_fault([0.0, 1.0])
    assert fault is not None
    assert "y holds the labels 0, 1; the" in fault
    assert "expects -1 and +1" in fault
    assert "0, 1, 2, 3, 4, …;" in str(loss.label_fault([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))


def test_words_become_losses() -> None:
    assert parse_loss("huber:0.5") == Huber(0.5)
    assert parse_loss("quantile:0.9:2") == SmoothedQuantile(0.9, 2.0)
    assert parse_loss("squared-hinge") == SquaredHinge()
    with pytest.raises(
        ValueError, match=r"loss 'quantile' has 0 param.*expected quantile:LEVEL\[:WI"
    ):
        parse_loss("quantile")
    shipped = {type(loss).__name__ for loss in SHIPPED} | LIKELIHOODS
    assert {type(parse_loss(word)).__name__ for word in PLAIN} == shipped


LEVELS = ("quantile", "insensitive", "expectile")
PLAIN = [*(w for w in LOSSES if w not in LEVELS), *(f"{word}:0.5" for word in LEVELS)]


# ---- solutions ---------------------------------------------------------------------------------


def small_problem(loss: SeparableConjugate, oracle: Any, weighted: bool = False) -> Problem:
    rng = np.random.default_rng(7)
    X = rng.standard_normal((12, 3))
    y = X @ [1.0, -2.0, 0.5] + rng.standard_normal(12)
    if isinstance(loss, SIGNS):
        y = np.where(y > 0, 1.0, -1.0)
    return Problem(X, y, loss, oracle, weights=rng.uniform(0.3, 2.0, 12) if weighted else None)


@pytest.mark.parametrize(
    ("oracle", "tol", "weighted"), [(L1Ball(1.5), 2e-3, True), (Ridge(0.3), 1e-6, False)]
)
@every_loss
def test_certified_gap_holds_against_the_truth(
    loss: SeparableConjugate, oracle: Any, tol: float, weighted: bool
) -> None:
    problem = small_problem(loss, oracle, weighted)
    result = solve(problem, batch=4, tol=tol, max_gradients=40_000)
    assert result.success, result.gap
    optimum = truth.solve(problem)
    assert optimum.residuals["loss"] <= 1e-6
    distance = float(result.primal) - optimum.primal
    assert -1e-7 <= distance <= float(result.gap) + 1e-7
    # D(w) of the truth is a lower bound that rests on nothing but l*.
    assert float(result.primal) >= optimum.dual - 1e-9
    assert float(result.dual) <= optimum.primal + 1e-7


@pytest.mark.parametrize("loss", [FLAT[0], FLAT[-1]], ids=lambda loss: type(loss).__name__)
def test_flat_losses_also_run_on_the_euclidean_prox(loss: SeparableConjugate) -> None:
    """Its states come from conjugate_derivative: the selection at flat stretches is enough."""
    problem = small_problem(loss, L1Ball(1.5))
    method = RCMD(prox=EuclideanProx(), engine="reference")
    result = solve(problem, batch=12, tol=0.1, method=method, max_gradients=40_000)
    assert result.success, result.gap
    distance = float(result.primal) - truth.solve(problem).primal
    assert -1e-7 <= distance <= float(result.gap) + 1e-7


@pytest.mark.parametrize("prox", [ConjugateProx(), EuclideanProx(), ExactProx(0.5)], ids=repr)
@every_loss
def test_every_prox_keeps_its_contract(loss: SeparableConjugate, prox: Any) -> None:
    check_prox(prox, loss, labels(loss)[:2])

"""Losses that nobody has shipped, from one formula: certified, right to 1e-9, with a bound."""

import math
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest

from rcmd import L1Ball, Problem, SeparableConjugate, solve
from rcmd.conjugates.expressions import ExpressionError, ExpressionLoss
from rcmd.conjugates.expressions.intervals import CurvatureFault

mp = mpmath.mp.clone()
mp.dps = 40
N = 8
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 1))
OFFSET = RNG.uniform(-0.5, 0.5, N)
COUNTS, POSITIVE, REAL = RNG.poisson(2.0, N) * 1.0, RNG.gamma(2.0, 1.0, N), RNG.normal(size=N)
SIGNS, BITS = np.where(X[:, 0] + REAL > 0, 1.0, -1.0), (X[:, 0] + REAL > 0) * 1.0
TAU, KAPPA, SHAPE = RNG.uniform(0.2, 0.8, N), RNG.uniform(0.2, 1.0, N), RNG.uniform(0.5, 3.0, N)
PINBALL = (
    "where(s - y >= k*t, t*(s - y) - k*t**2/2, "
    "where(s - y <= -(1 - t)*k, -(1 - t)*(s - y) - k*(1 - t)**2/2, (s - y)**2/(2*k)))"
)


def pinball(s: Any, y: Any, k: Any, t: Any) -> Any:
    v = min(max((s - y) / k, t - 1), t)
    return v * (s - y) - k * v * v / 2


def quartic(s: Any, y: Any) -> Any:
    r = abs(s - y)
    return r**4 / 12 + r**2 / 5 if r <= 1 else 11 * r / 15 - mp.mpf(9) / 20


def logit(s: Any) -> Any:
    return 1 / (1 + mp.exp(-s))


ZOO: dict[str, tuple[str, Any, dict[str, Any], Callable[..., Any]]] = {
    "poisson": ("exp(s) - y*s", COUNTS, {}, lambda s, y: mp.exp(s) - y * s),
    "gamma": ("s + y*exp(-s)", POSITIVE, {}, lambda s, y: s + y * mp.exp(-s)),
    "negative-binomial": (
        "(y + k)*log(1 + exp(s)/k) - y*s",
        COUNTS,
        {"k": SHAPE},
        lambda s, y, k: (y + k) * mp.log(1 + mp.exp(s) / k) - y * s,
    ),
    "softplus-poisson": (
        "log(1 + exp(s)) - y*log(log(1 + exp(s)))",
        COUNTS,
        {},
        lambda s, y: mp.log(1 + mp.exp(s)) - y * mp.log(mp.log(1 + mp.exp(s))),
    ),
    "tweedie": (
        "exp((2 - p)*s)/(2 - p) - y*exp((1 - p)*s)/(1 - p)",
        POSITIVE,
        {"p": 1 + TAU},
        lambda s, y, p: mp.exp((2 - p) * s) / (2 - p) - y * mp.exp((1 - p) * s) / (1 - p),
    ),
    "probit": ("-log(normcdf(y*s))", SIGNS, {}, lambda s, y: -mp.log(mp.ncdf(y * s))),
    "complementary-log-log": (
        "-y*log(1 - exp(-exp(s))) + (1 - y)*exp(s)",
        BITS,
        {},
        lambda s, y: -y * mp.log(-mp.expm1(-mp.exp(s))) + (1 - y) * mp.exp(s),
    ),
    "expectile": (
        "abs(t - (s > y))*(s - y)**2",
        REAL,
        {"t": TAU},
        lambda s, y, t: (1 - t if s > y else t) * (s - y) ** 2,
    ),
    "quantile": (PINBALL, REAL, {"k": KAPPA, "t": TAU}, pinball),
    "quartic-huber": (
        "where(abs(s - y) <= 1, (s - y)**4/12 + (s - y)**2/5, (1/3 + 2/5)*abs(s - y) - 9/20)",
        REAL,
        {},
        quartic,
    ),
    "ordinal": (  # −log(expit(hi − s) − expit(lo − s)), the chance to fall between two cuts
        "softplus(s - hi) + softplus(lo - s) - log(1 - exp(lo - hi))",
        0 * REAL,
        {"lo": TAU - 1, "hi": TAU + KAPPA},
        lambda s, y, lo, hi: -mp.log(1 / (1 + mp.exp(s - hi)) - 1 / (1 + mp.exp(s - lo))),
    ),
    "interval": (
        "-log(expit(hi - s) - expit(lo - s))",
        0 * REAL,
        {"lo": TAU - 1, "hi": TAU + KAPPA},
        lambda s, y, lo, hi: -mp.log(1 / (1 + mp.exp(s - hi)) - 1 / (1 + mp.exp(s - lo))),
    ),
    "three-classes": (
        "where(y < 0.5, softplus(s - a), "
        "where(y < 1.5, -log(expit(b - s) - expit(a - s)), softplus(b - s)))",
        np.arange(N) % 3 * 1.0,
        {"a": TAU - 1, "b": TAU},
        lambda s, y, a, b: (
            -mp.log((logit(a - s), logit(b - s) - logit(a - s), logit(s - b))[int(y)])
        ),
    ),
    "bernoulli": (
        "-y*log(expit(s)) - (1 - y)*log(1 - expit(s))",
        TAU,
        {},
        lambda s, y: y * mp.log1p(mp.exp(-s)) + (1 - y) * mp.log1p(mp.exp(s)),
    ),
    "zero-truncated-poisson": (
        "log(expm1(exp(s))) - y*s",
        COUNTS + 1,
        {},
        lambda s, y: mp.log(mp.expm1(mp.exp(s))) - y * s,
    ),
    "charbonnier": (
        "exp(a/2*log(1 + ((s - y)/c)**2))",
        REAL,
        {"a": 1 + TAU, "c": KAPPA},
        lambda s, y, a, c: (1 + ((s - y) / c) ** 2) ** (a / 2),
    ),
    "ties": (  # Rao and Kupper's: y = 1 won, y = −1 lost, y = 0 neither
        "where(y > -0.5, softplus(t - s), 0) + where(y < 0.5, softplus(t + s), 0)",
        np.arange(N) % 3 - 1.0,
        {"t": TAU},
        lambda s, y, t: (y >= 0) * mp.log1p(mp.exp(t - s)) + (y <= 0) * mp.log1p(mp.exp(t + s)),
    ),
    "label-noise": (  # the logistic loss, made unbiased for labels that are wrong with chance t
        "softplus(-y*s) - t*y*s/(1 - 2*t)",
        SIGNS,
        {"t": TAU / 2},
        lambda s, y, t: mp.log1p(mp.exp(-y * s)) - t * y * s / (1 - 2 * t),
    ),
    "censored-log-logistic": (
        "(1 + y)*softplus(t - s) - y*(t - s)",
        BITS,
        {"t": KAPPA},
        lambda s, y, t: (1 + y) * mp.log1p(mp.exp(t - s)) - y * (t - s),
    ),
    "cloglog-exposure": (
        "-y*log(1 - exp(-t*exp(s))) + (1 - y)*t*exp(s)",
        BITS,
        {"t": SHAPE},
        lambda s, y, t: -y * mp.log(-mp.expm1(-t * mp.exp(s))) + (1 - y) * t * mp.exp(s),
    ),
    "scobit": (
        "where(y > 1/2, -log(1 - exp(-a*softplus(s))), a*softplus(s))",
        BITS,
        {"a": TAU},
        lambda s, y, a: (
            -mp.log(-mp.expm1(-a * mp.log1p(mp.exp(s)))) if y else a * mp.log1p(mp.exp(s))
        ),
    ),
    "davidson": (  # y = 1 won, y = −1 lost, y = 0 neither: a label that tilts is any number
        "log(exp(s/2) + exp(-s/2) + nu) - y*s/2",
        np.arange(N) % 3 - 1.0,
        {"nu": SHAPE},
        lambda s, y, nu: mp.log(mp.exp(s / 2) + mp.exp(-s / 2) + nu) - y * s / 2,
    ),
    "frailty": (  # only v and t need be positive
        "(d + 1/v)*log(1 + v*t*exp(s)) - d*s",
        0 * REAL,
        {"d": BITS, "v": KAPPA, "t": SHAPE},
        lambda s, y, d, v, t: (d + 1 / v) * mp.log(1 + v * t * mp.exp(s)) - d * s,
    ),
    "chi-square": (
        "(y - exp(s))**2*exp(-s)/k",
        COUNTS,
        {"k": SHAPE},
        lambda s, y, k: (y - mp.exp(s)) ** 2 * mp.exp(-s) / k,
    ),
    "grouped-hazards": (  # the chance to end between the times −log hi and −log lo
        "exp(s + lo) - log(1 - exp(exp(s + lo) - exp(s + hi)))",
        0 * REAL,
        {"lo": TAU - 1, "hi": TAU + KAPPA},
        lambda s, y, lo, hi: mp.exp(s + lo) - mp.log(-mp.expm1(mp.exp(s + lo) - mp.exp(s + hi))),
    ),
    "box-cox": (
        "(s - (exp(k*log(y)) - 1)/k)**2/2",
        POSITIVE,
        {"k": KAPPA},
        lambda s, y, k: (s - (y**k - 1) / k) ** 2 / 2,
    ),
    "exponential-of-exponential": (  # of the two in its slope, one overflows where one vanishes
        "exp(-exp(y - s)) + (s - y)**2",
        REAL,
        {},
        lambda s, y: mp.exp(-mp.exp(y - s)) + (s - y) ** 2,
    ),
    "margins": (
        "max(0, m - y*s)**2",
        SIGNS,
        {"m": SHAPE},
        lambda s, y, m: max(0, m - y * s) ** 2,
    ),
}
OTHER_LABELS = {"ties"}
"""Mirrored in y = ±1, but for other labels too."""


def made(name: str) -> ExpressionLoss:
    formula, _, fields, _ = ZOO[name]
    labels = "real" if name in OTHER_LABELS else None
    return SeparableConjugate.from_expression(formula, fields=tuple(fields), labels=labels)  # type: ignore[return-value]


def minimum(name: str, radius: float) -> Any:
    """min P over |β| ≤ radius in 40 digits, by the sign of differences of P."""
    _, y, fields, value = ZOO[name]
    each = [[mp.mpf(float(part[j])) for part in (y, *fields.values())] for j in range(N)]
    rows = [(mp.mpf(float(x)), mp.mpf(float(o))) for x, o in zip(X[:, 0], OFFSET, strict=True)]

    def primal(beta: Any) -> Any:
        return sum(value(x * beta + o, *at) for (x, o), at in zip(rows, each, strict=True)) / N

    low, high, step = mp.mpf(-radius), mp.mpf(radius), mp.mpf(10) ** -18
    for _ in range(40):
        middle = (low + high) / 2
        rises = primal(middle + step) > primal(middle - step)
        low, high = (low, middle) if rises else (middle, high)
    return primal(low)


LONG = {"softplus-poisson", "tweedie", "probit", "complementary-log-log", "ordinal", "ties",
        "label-noise", "censored-log-logistic", "margins", "interval",
        "three-classes", "charbonnier", "scobit", "cloglog-exposure",
        "grouped-hazards"}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if name in LONG else []) for name in ZOO]
)
def test_certified_right_and_bounded(name: str) -> None:
    _, y, fields, _ = ZOO[name]
    loss = made(name)
    problem = Problem(X, y, loss, L1Ball(2.0), offset=OFFSET, fields=fields or None)
    assert problem.ground == "proved"
    result = solve(problem, tol=1e-10)
    assert 0 <= result.gap <= 1e-10
    assert abs(result.primal - minimum(name, 2.0)) <= 1e-9
    run = solve(problem, method="rcmd", tol=0, max_iterations=64, seed=0).history[-1]
    assert run.pair_gap <= run.bound < np.inf
    # γ_j is above l'' all over its range, and not by much.
    low, high = (end + OFFSET for end in problem.prediction_ranges)
    for j in range(N):
        at = (y[j], *(part[j] for part in fields.values()))
        bends = [loss.second_derivative(s, *at) for s in np.linspace(low[j], high[j], 301).tolist()]
        assert max(bends) * (1 - 1e-12) <= problem.losses.gammas[j]
        if loss.gamma_origin == "local":
            assert problem.losses.gammas[j] <= 1.06 * max(bends) or max(bends) < 1e-4


@pytest.mark.slow
def test_probit_far_to_the_left() -> None:
    loss = made("probit")
    for s in (-1e3, -40.0, -2.0):
        for y in (1.0, -1.0):
            value, w = -mp.log(mp.ncdf(mp.mpf(y * s))), loss.derivative(s, y)
            assert loss.value(s, y) == pytest.approx(float(value), rel=1e-13)
            assert loss.conjugate(w, y) == pytest.approx(float(w * s - value), rel=1e-9, abs=1e-300)


def test_equal_to_cvxpy_where_there_is_a_form() -> None:
    import cvxpy as cp

    s = np.linspace(-2.0, 2.0, N)
    for name in ("poisson", "gamma", "negative-binomial"):
        _, y, fields, _ = ZOO[name]
        loss, own = made(name), tuple(fields.values())
        assert loss.cvxpy_form(cp.Variable(N), y, *own).is_convex()
        wanted = [loss.value(*at) for at in zip(s, y, *own, strict=True)]
        found = loss.cvxpy_form(cp.Constant(s), y, *own).value
        np.testing.assert_allclose(found, wanted, rtol=1e-12)


# ---- refused ------------------------------------------------------------------------------------

NOT_CONVEX = {
    "-log((1 - 2*rho)*expit(y*s) + rho)": r"not convex: l'' = -.* at s = .*, y = 1, rho = 0\.",
    "log(1 + (s - y)**2/rho)": r"not convex: l'' = -.* at s = .*, y = 0\.5, rho = 0\.5",
    "rho*abs(s - y)": r"kink at s = 0\.5, y = 0\.5, rho = 0\.5, .*: its slope is -0\.5",
    "rho*(y*exp(-2*s)/2 - exp(-s))": "not convex",
}


@pytest.mark.parametrize("text", NOT_CONVEX)
def test_refused_with_a_counterexample(text: str) -> None:
    with pytest.raises(ExpressionError, match=NOT_CONVEX[text]):
        SeparableConjugate.from_expression(text, fields=["rho"])


def test_convex_for_some_fields_only() -> None:
    """A formula is refused at the samples that break it, one per cent from those that do not."""
    loss = SeparableConjugate.from_expression("s**2/2 - k*log(cosh(s))", fields=["k"])
    y = np.zeros(N)
    edge = np.full(N, 0.99)
    assert Problem(X, y, loss, L1Ball(2.0), fields={"k": edge}).ground == "proved"
    edge[3] = 1.01
    with pytest.raises(CurvatureFault, match=r"not convex: l'' ≤ -0\.0.* at r = .*, k = 1\.01"):
        Problem(X, y, loss, L1Ball(2.0), fields={"k": edge})


def test_fields_that_must_be_positive() -> None:
    shape = np.where(np.arange(N) == 2, -1.0, SHAPE)
    with pytest.raises(ValueError, match=r"fields\['k'\] holds -1; .* expects positive numbers"):
        Problem(X, COUNTS, made("negative-binomial"), L1Ball(2.0), fields={"k": shape})


UNDEFINED = {
    "(s - (y**0.5 - 1)/0.5)**2/2 + 0*k": "value of .* with y = -1 and fields 2: math domain",
    "where(k > 3, (s - log(y))**2, softplus(log(y) - s))": "from_expression.* with y = -1 and",
    "s**2 - 2*y*log(s) + 0*k": "the formula is no real number at s = -1e-40",
}


@pytest.mark.parametrize("text", UNDEFINED)
@pytest.mark.parametrize("many", [1, 100])
def test_labels_at_which_a_formula_is_no_number_are_named(text: str, many: int) -> None:
    """Also where arrays are long, and compiled code makes NaN of what raises in Python."""
    y = np.tile(POSITIVE, many)
    y[4] = -1.0

    def attempt() -> None:
        loss = SeparableConjugate.from_expression(text, fields=["k"])
        Problem(np.tile(X, (many, 1)), y, loss, L1Ball(2.0), fields={"k": np.full(len(y), 2.0)})

    with pytest.raises(ValueError, match=UNDEFINED[text]):
        attempt()


FIELDS = {"tau": "list of names", ("s",): "taken", ("m", "m"): "twice", ("m", "a"): "not occur"}


@pytest.mark.parametrize("fields", FIELDS)
def test_names_of_fields_are_checked(fields: Any) -> None:
    with pytest.raises(ExpressionError, match=FIELDS[fields]):
        SeparableConjugate.from_expression("m*s**2", fields=fields)
    with pytest.raises(
        ExpressionError, match=r"delta=1\.0\), or name what each .*fields=\['tau'\]"
    ):
        SeparableConjugate.from_expression("m*s**2")


def test_a_loss_that_bends_down_elsewhere_needs_the_conjugate_of_its_range() -> None:
    """With k < 0 it is convex near 0 alone: proved there, but l'(s) = w has other roots far out."""
    loss = SeparableConjugate.from_expression("k*s**4 + (s - y)**2", fields=("k",), labels="real")
    X, y = np.array([[0.2], [0.1]]), np.array([0.1, -0.1])
    near = Problem(X, y, loss, L1Ball(1.0), fields={"k": np.full(2, -0.1)})
    assert near.ground == "proved"
    assert solve(near, tol=1e-9).gap <= 1e-9
    with pytest.raises(ValueError, match="conjugate of Loss at sample 0"):
        Problem(X, y, loss, L1Ball(1.0), fields={"k": np.full(2, -3.0)})


@pytest.mark.slow
def test_of_fields_that_are_tried_those_that_got_farthest_say_what_is_wrong() -> None:
    told = r"at s = -1\d+, .*, rho = 0\.75, values that were tried, .* differences of normcdf"
    with pytest.raises(ExpressionError, match=told):  # ρ < 3/5 makes no sense
        SeparableConjugate.from_expression(
            "-log(normcdf(rho - s) - normcdf(3/5 - s))", fields=["rho"]
        )


SAME = {
    "-log(expit(y*s))": "softplus(-y*s)",
    "-log(1/(1 + exp(-y*s)))": "softplus(-y*s)",
    "-y*log(expit(s)) - (1 - y)*log(expit(-s))": "softplus(s) - y*s",
    "-y*log(1/(1 + exp(-s))) - (1 - y)*log(1 - 1/(1 + exp(-s)))": "softplus(s) - y*s",
    "-y*log(expit(s)) - (1 - y)*log1p(-expit(s))": "softplus(s) - y*s",
}


@pytest.mark.parametrize("text", SAME)
def test_probabilities_are_seen_to_be_softplus(text: str) -> None:
    loss, wanted = map(SeparableConjugate.from_expression, (text, SAME[text]))
    assert (loss.conjugate_origin, loss.gamma_origin, loss.gamma) == ("closed form", "proved", 0.25)
    for s in (-800.0, -3.0, 0.5, 40.0):
        for y in (1.0, -1.0) if loss.labels == "±1" else (0.0, 0.3, 1.0):
            assert loss.value(s, y) == pytest.approx(wanted.value(s, y), rel=1e-14)
            assert loss.derivative(s, y) == pytest.approx(wanted.derivative(s, y), rel=1e-14)


@pytest.mark.parametrize(
    "text", ["softplus(s - y - 1) + softplus(y - s)", "-log(expit(y + 1 - s) - expit(y - s))"]
)
def test_curvature_that_no_digits_show_is_not_called_negative(text: str) -> None:
    """At s = 1e7, l'' = 1 − 1 + δ − δ² with δ = exp(−1e7), which 500 digits round to −δ²."""
    loss = SeparableConjugate.from_expression(text)
    p = 1 / (1 + math.exp(-0.5))
    assert loss.gamma_origin == "proved"
    assert loss.gamma == pytest.approx(2 * p * (1 - p), rel=1e-8)
    assert loss.derivative(1e7, 0.0) == 1.0


@pytest.mark.parametrize("k", [0.3, 1.0])
def test_a_slope_that_rounds_above_its_limit_is_in_the_domain(k: float) -> None:
    text = "where(abs(s - y) <= k, (s - y)**2/2 - (s - y)**4/(12*k**2), 2*k/3*abs(s - y) - k**2/4)"
    loss = SeparableConjugate.from_expression(text, fields=["k"])
    slopes = {loss.derivative(s, 0.0, k) for s in (k, np.nextafter(k, 0), np.nextafter(k, 9), 5.0)}
    assert max(slopes) == pytest.approx(2 * k / 3, rel=1e-15)
    for w in slopes:
        assert loss.conjugate(w, 0.0, k) == pytest.approx(k * k / 4, rel=1e-13)
        assert np.isfinite(loss.conjugate_derivative(w, 0.0, k))
    assert loss.conjugate(2 * k / 3 * (1 + 1e-14), 0.0, k) == np.inf


NOT_NUMBERS = {
    "s - y*log(s + k)": r"at s = -0\.5, .* a logarithm or a root of a number below 0 needs where",
    "1/(s - 2)**2 + s**2": "at s = 2, .* there it has a pole",
    "k/s + log(s)": "at s = 0, .* a logarithm or a root of a number below 0 needs where",
    "abs(s - y)**(3/2)*k": r"not smooth: l'' has no upper bound near s = 0\.5, y = 0\.5, k = 0\.5",
    "log(sinh(s)/s) - y*s": "at s = 0, y = 0, .* formulas take no limits, .* 0/0 needs a class",
    "where(y < 0.5, softplus(s), where(y < 1.5, -log(normcdf(k - s) - normcdf(-s)), softplus(-s)))":
    "at s = -1.*, values that were tried, in 500 digits.* differences of normcdf",
    "-log(k + (1 - 2*k)*normcdf(y*s))": r"not convex: .* k = 0\.25, values that were tried",
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", NOT_NUMBERS)
def test_what_cannot_be_a_formula_is_told_why(text: str) -> None:
    """Also where the labels and fields that are tried first do not meet it."""
    fields = ["k"] if "k" in text else []
    with pytest.raises(ExpressionError, match=NOT_NUMBERS[text]):
        SeparableConjugate.from_expression(text, fields=fields)


def test_forms_of_fields_follow_the_rules_of_cvxpy_or_say_so() -> None:
    import cvxpy as cp

    loss = SeparableConjugate.from_expression("(y - e)*exp(s) - d*s", fields=["e", "d"])
    own = np.full(N, 0.5), np.ones(N)
    form = loss.cvxpy_form(cp.Variable(N), np.ones(N), *own)
    assert form.is_convex()
    with pytest.raises(NotImplementedError, match=r"form has -0\.5·exp, .* cvxpy_form"):
        loss.cvxpy_form(cp.Variable(N), np.zeros(N), *own)


def test_labels_that_were_found_out_may_be_said() -> None:
    formula = "where(y > -0.5, (s - 1)**2, 0) + where(y < 0.5, (s + 1)**2, 0)"
    loss = SeparableConjugate.from_expression(formula)
    with pytest.raises(ValueError, match="if other labels are meant, give labels='real'"):
        Problem(np.ones((3, 1)), [1.0, 0.0, -1.0], loss, L1Ball(1.0))

"""The checkers themselves: right classes pass, and every planted fault is named."""

import argparse
import itertools
import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from planted import planted
from small_problems import SHIPPED

from rcmd import (
    Box,
    ConjugateProx,
    DenseAtom,
    EpsilonInsensitive,
    EuclideanProx,
    Expectile,
    Fair,
    Huber,
    L1Ball,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    LogCosh,
    Logistic,
    Problem,
    PseudoHuber,
    Ridge,
    SeparableConjugate,
    SmoothedQuantile,
    SparseAtom,
    SquaredHinge,
    solve,
    testing,
    truth,
)
from rcmd.cli.check import run
from rcmd.conjugates import numeric
from rcmd.conjugates.base import NumericConjugateWarning
from rcmd.model.user_code import load
from rcmd.testing import ContractError, check_conjugate, check_oracle, check_prox
from rcmd.testing.losses import LossInspection, accepted_labels

# ---- losses ------------------------------------------------------------------------------------


def times(factor: float, method: str, kind: Any = LeastSquares) -> Any:
    """A loss with one method multiplied by ``factor``."""
    right = getattr(kind, method)
    return planted(kind, **{method: lambda *arguments: factor * right(*arguments)})


OFFSET = planted(LeastSquares, conjugate=lambda _, w, y: w * w / 2 + w * y + 0.25)
PLANTED_LOSSES: dict[str, tuple[Any, str, str]] = {
    "offset": (OFFSET, "missing constant", "it is 0.25 too large everywhere"),
    "mirrored label": (
        planted(LeastSquares, conjugate=lambda _, w, y: w * w / 2 - w * y),
        "wrong sign",
        "it is right with −y in place of y",
    ),
    "cancelling": (
        planted(LeastSquares, fenchel_young=lambda *args: SeparableConjugate.fenchel_young(*args)),
        "unstable form",
        "it cancels",
    ),
    "expanded": (
        planted(LeastSquares, value=lambda _, s, y: s * s / 2 - s * y + y * y / 2),
        "unstable form",
        "value loses digits to cancellation",
    ),
    "wavy": (
        planted(
            LeastSquares,
            value=lambda _, s, y: (s - y) ** 2 / 2 + 2 * math.cos(s - y),
            derivative=lambda _, s, y: s - y - 2 * math.sin(s - y),
        ),
        "not convex",
        "between s =",
    ),
    "unbent": (planted(Logistic, quadratic=True), "wrong flag", "set quadratic = False"),
    "slightly wrong": (
        planted(LogCosh, derivative=lambda self, s, y: LogCosh.derivative(self, s, y) * (1 + 1e-6)),
        "missing factor",
        "it is 1.000001 times",
    ),
    "negative gamma": (planted(LeastSquares, gamma=-1.0), "γ too small", "1 would do"),
    "not DCP": (
        planted(LeastSquares, cvxpy_form=lambda self, s, y: -LeastSquares.cvxpy_form(self, s, y)),
        "not convex",
        "CVXPY's rules",
    ),
    "raising conjugate": (
        planted(LeastSquares, conjugate=lambda _, w, y: math.sqrt(-1 - w * w)),
        "unstable form",
        "ValueError",
    ),
    "negated slope": (
        times(-1, "derivative", PseudoHuber),
        "wrong sign",
        "derivative is the slope of value",
    ),
    "negated inverse": (
        planted(
            SquaredHinge, conjugate_derivative=lambda *a: -SquaredHinge.conjugate_derivative(*a)
        ),
        "wrong sign",
        "conjugate_derivative inverts derivative",
    ),
    "inverse of swapped arguments": (
        planted(
            LogCosh, conjugate_derivative=lambda o, *at: LogCosh.conjugate_derivative(o, *at[::-1])
        ),
        "swapped arguments",
        "conjugate_derivative inverts derivative",
    ),
    "gap of swapped arguments": (
        planted(Fair, 1.4, fenchel_young=lambda o, s, w, y: Fair.fenchel_young(o, w, s, y)),
        "swapped arguments",
        "fenchel_young is value",
    ),
    "shifted branch": (
        planted(Expectile, 0.8, derivative=lambda o, s, y: Expectile.derivative(o, s - (s > y), y)),
        "wrong branch",
        "derivative is the slope of value",
    ),
    "bent on a part": (
        planted(
            Logistic,
            conjugate=lambda o, w, y: Logistic.conjugate(o, w, y) + 0.1 * w * w * (abs(w) > 0.5),
        ),
        "wrong branch",
        "right elsewhere",
    ),
    "finite beyond its domain": (
        planted(SmoothedQuantile, 0.8, 0.5, conjugate=lambda _, w, y: 0.25 * w * w + w * y),
        "wrong domain",
        "conjugate must be +inf outside",
    ),
    "conjugate of another": (
        planted(PseudoHuber, 1.5, conjugate=lambda _, w, y: LogCosh(1.5).conjugate(w, y)),
        "a different function",
        "conjugate is the supremum",
    ),
    "form of another": (
        planted(Fair, 1.4, cvxpy_form=lambda _, s, y: LogCosh(1.4).cvxpy_form(s, y)),
        "a different function",
        "cvxpy_form has the values",
    ),
    "not strictly convex": (
        planted(EpsilonInsensitive, 0.3, 0.5, strictly_convex=True),
        "wrong flag",
        "set strictly_convex = False",
    ),
    "wrong selection": (
        planted(Huber, conjugate_derivative=lambda h, w, y: w + y if abs(w) < h.width else y),
        "wrong branch",
        "several s have this slope",
    ),
}


@pytest.mark.parametrize("name", PLANTED_LOSSES)
def test_planted_loss(name: str) -> None:
    wrong, cause, words = PLANTED_LOSSES[name]
    report = testing.inspect_conjugate(wrong)
    assert report.causes[0] == cause, report
    assert words in str(report.failures[0]), report
    with pytest.raises(ContractError, match="breaks its contract") as raised:
        check_conjugate(wrong)
    assert isinstance(raised.value, AssertionError)
    assert str(raised.value) == str(report)


def test_failure_names_identity_point_numbers_and_cause() -> None:
    (failure, *_) = testing.inspect_conjugate(OFFSET).failures
    text = str(failure)
    assert text.startswith("conjugate is the supremum of ws − value(s) at w = ")
    assert failure.point.keys() == {"w", "y"}
    assert failure.found - failure.expected == pytest.approx(0.25)
    assert "likely cause: missing constant: it is 0.25 too large everywhere" in text


def test_labels_are_taken_or_refused() -> None:
    assert check_conjugate(LeastSquares(), labels=[7.0, 1e4]).ok
    with pytest.raises(ValueError, match="the logistic loss expects -1 and \\+1"):
        check_conjugate(Logistic(), labels=[0.0])


def test_a_loss_with_labels_of_its_own_asks_for_them() -> None:
    class OnlySevens(LeastSquares):
        def label_fault(self, y: Any) -> str | None:
            return None if (np.asarray(y) == 7).all() else "labels must be 7"

    with pytest.raises(ValueError, match=r"accepts none of the labels .*give some"):
        check_conjugate(OnlySevens())
    assert check_conjugate(OnlySevens(), labels=[7.0]).ok


@pytest.mark.parametrize(
    ("check", "cls", "base"),
    [
        (check_conjugate, Logistic, "SeparableConjugate"),
        (check_oracle, L1Ball, "LinearMinOracle"),
        (check_prox, EuclideanProx, "BregmanProx"),
    ],
)
def test_classes_are_not_objects(check: Any, cls: Any, base: str) -> None:
    with pytest.raises(TypeError, match=rf"is the class {cls.__name__}; expected an object"):
        check(cls)
    with pytest.raises(TypeError, match=f"is 3; expected a {base}"):
        check(3)


def cases() -> Iterator[tuple[Any, dict[str, float]]]:
    """Shipped losses at several widths."""
    for kind, width in itertools.product((type(loss) for loss in SHIPPED), (1.0, 0.03, 30.0)):
        given = {field.name: width if field.name == "width" else 0.3 for field in fields(kind)}
        if width == 1.0 or "width" in given:
            yield kind, given


@pytest.mark.parametrize(("kind", "given"), list(cases()))
def test_gamma_one_per_cent_too_small_is_seen(kind: Any, given: dict[str, float]) -> None:
    gamma = float(kind(**given).gamma)
    wrong = planted(kind, *given.values(), gamma=0.99 * gamma)
    fault = next(LossInspection(wrong, accepted_labels(wrong, None)).smoothness())
    *_, steepest, cause, remedy = fault
    assert 0.999 * gamma <= steepest <= gamma * (1 + 1e-9)
    assert cause == "γ too small"
    assert "would do" in remedy


def test_loose_gamma_is_a_note() -> None:
    class Loose(LeastSquares):
        gamma = 2.0  # type: ignore[assignment]

    assert any("γ = 2 may be too large" in note for note in check_conjugate(Loose()).notes)


# ---- losses that give only their value and derivative ------------------------------------------


@dataclass(frozen=True)
class BareLogistic(SeparableConjugate):
    """Written as in a textbook: it overflows at large margins."""

    def value(self, s: Any, y: Any) -> Any:
        return math.log(1 + math.exp(-y * s))

    def derivative(self, s: Any, y: Any) -> Any:
        return -y / (1 + math.exp(y * s))


@dataclass(frozen=True)
class BareSquare(SeparableConjugate):
    def value(self, s: Any, y: Any) -> Any:
        return (s - y) ** 2 / 2

    def derivative(self, s: Any, y: Any) -> Any:
        return s - y


quiet = pytest.mark.filterwarnings("ignore::rcmd.conjugates.base.NumericConjugateWarning")


@quiet
@pytest.mark.parametrize(
    ("cls", "shipped", "oracle"),
    [(BareLogistic, Logistic(), Ridge(0.3)), (BareSquare, LeastSquares(), L1Ball(1.0))],
)
def test_value_and_derivative_alone_solve(cls: Any, shipped: Any, oracle: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((8, 2))
    y = np.sign(rng.standard_normal(8))
    result = solve(Problem(X, y, cls(), oracle), batch=4, tol=2e-2, max_gradients=20_000)
    assert result.success, result.gap
    optimum = truth.solve(Problem(X, y, shipped, oracle))
    assert -1e-7 <= float(result.primal) - optimum.primal <= float(result.gap) + 1e-7


@quiet
def test_numeric_conjugate_keeps_the_contract_and_overflow_is_told() -> None:
    report = check_conjugate(BareSquare())
    assert "found numerically, not given: gamma, conjugate" in report.notes[0]
    assert testing.inspect_conjugate(BareLogistic()).causes[0] == "unstable form"


def test_what_is_numeric_is_said_once_for_a_class() -> None:
    @dataclass(frozen=True)
    class Mine(BareSquare):
        pass

    with pytest.warns(NumericConjugateWarning, match="Mine does not define gamma, conjugate, conj"):
        Mine()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Mine()
        HalfGiven()


@dataclass(frozen=True)
class HalfGiven(BareSquare):
    """Without a domain a given conjugate is finite everywhere, and nothing is numeric."""

    gamma = 1.0  # type: ignore[assignment]

    def conjugate(self, w: Any, y: Any) -> Any:
        return w * w / 2 + w * y

    def conjugate_derivative(self, w: Any, y: Any) -> Any:
        return w + y


def test_given_conjugate_without_domain_is_finite_everywhere() -> None:
    assert HalfGiven().conjugate_domain(1.0) == (-math.inf, math.inf)
    assert check_conjugate(HalfGiven()).ok


def test_missing_methods_are_named() -> None:
    class Nothing(SeparableConjugate):
        pass

    class NoSlope(SeparableConjugate):
        def value(self, s: Any, y: Any) -> Any:
            return s * s

    with pytest.raises(TypeError, match=r"Nothing does not define value\(self, s, y\) and deriv"):
        Nothing()  # type: ignore[abstract]
    with pytest.raises(TypeError, match=r"NoSlope does not define derivative\(self, s, y\); a Sep"):
        NoSlope()  # type: ignore[abstract]


def test_inverse_slope_finds_roots_anywhere() -> None:
    cubic = SimpleNamespace(derivative=lambda s, y: s**3 + s)
    tanh = SimpleNamespace(derivative=lambda s, y: math.tanh(s))
    for root in (0.0, 1e-9, -3.7, 1e5, -(2.0**40)):
        found = numeric.inverse_slope(cubic, root**3 + root, 0.0)
        assert found == pytest.approx(root, rel=1e-14, abs=1e-16)
    assert numeric.inverse_slope(tanh, 2.0, 0.0) == math.inf
    assert numeric.inverse_slope(tanh, -2.0, 0.0) == -math.inf


# ---- oracles -----------------------------------------------------------------------------------


@pytest.mark.parametrize("oracle", [L1Ball(2.0), Ridge(0.4), Box(0.0, np.arange(1.0, 6.0))])
def test_shipped_oracles_keep_their_contract(oracle: LinearMinOracle) -> None:
    report = check_oracle(oracle)
    assert len(report.identities) + len(report.unchecked) == 19
    no_writer = "the class defines no write_atom or write_entries"
    assert set(report.unchecked.values()) <= {"indicator = False", no_writer}
    assert not report.notes


class RandomTies(Box):
    coin = np.random.default_rng(0)

    def argmin(self, c: Any) -> Any:
        ends = np.where(self.coin.random(len(c)) < 0.5, self.lower, self.upper)
        return DenseAtom(np.where(c == 0, ends, np.where(c > 0, self.lower, self.upper)))


class Euclidean(L1Ball):
    """The set of one norm with the violation of another."""

    def violation(self, beta: Any) -> Any:
        return max(math.sqrt(beta @ beta) - self.radius, 0) / self.radius


def ball(**methods: Any) -> Any:
    return planted(L1Ball, 1.0, **methods)


def ball_with_argmin(argmin: Callable[..., Any]) -> Any:
    """A ball whose argmin is ``argmin(c, the right one)``."""
    return ball(argmin=lambda self, c: argmin(c, L1Ball.argmin(self, c)))


def ball_with_range(factor: float) -> Any:
    right = L1Ball.prediction_range
    return ball(prediction_range=lambda self, rows: [factor * end for end in right(self, rows)])


MAXIMIZER = ball(argmin=lambda self, c: L1Ball.argmin(self, -c))
PLANTED_ORACLES: list[tuple[Any, str | None, str]] = [
    (MAXIMIZER, "wrong sign", "argmin"),
    (ball(minimum=lambda self, c: -1.01 * abs(c).max()), "missing factor", "it is 1.01 times"),
    (ball(minimum=lambda self, c: abs(c).max()), "wrong sign", "its negative is right"),
    # Right for negative costs only.
    (ball_with_argmin(lambda c, _: SparseAtom((int(abs(c).argmax()),), (1.0,))), None, "argmin"),
    (
        ball_with_argmin(lambda c, atom: SparseAtom(atom.indices, (1.01 * atom.values[0],))),
        "wrong domain",
        "argmin leaves the set",
    ),
    (Euclidean(1.0), "wrong domain", "violation misses it"),
    (
        ball(violation=lambda self, beta: 0.0 if np.count_nonzero(beta) <= 1 else 1.0),
        "not convex",
        "middle of two points",
    ),
    (planted(Ridge, 0.5, mu=0.505), "constant too large", "μ = 0.5 would do"),
    (ball_with_range(0.99), "constant too small", "M_j would be too small"),
    (
        ball(fenchel_young=lambda self, beta, c: L1Ball.fenchel_young(self, beta, c) * 1.01),
        "missing factor",
        "it is 1.01 times",
    ),
    (
        ball(cvxpy_form=lambda self, beta: L2Ball(1.0).cvxpy_form(beta)),
        "a different function",
        "cvxpy_form describes another R",
    ),
    (
        ball(cvxpy_form=lambda self, beta: L1Ball(1.01).cvxpy_form(beta)),
        "missing factor",
        "it is 1.01",
    ),
    (planted(Ridge, 0.5, indicator=True), "wrong flag", "set indicator = False"),
    (RandomTies(-1.0, 1.0), "a different function", "break ties by position"),
    (planted(Ridge, 0.5, penalty=lambda self, beta: -Ridge.penalty(self, beta)), None, ""),
]


def test_reports_are_the_same_every_time() -> None:
    first, second = (testing.inspect_oracle(MAXIMIZER) for _ in range(2))
    assert str(first) == str(second)


def test_wide_range_is_a_note() -> None:
    assert any("may be too wide" in note for note in check_oracle(ball_with_range(2.0)).notes)


# ---- proxes ------------------------------------------------------------------------------------


def forgotten_weight(self: Any, loss: Any, w: Any, s: Any, y: Any, weight: Any) -> Any:
    return loss.fenchel_young(s, w / weight, y)


def swapped(self: Any, loss: Any, w: Any, s: Any, y: Any, weight: Any) -> Any:
    back = weight * loss.derivative(s, y)
    s = loss.conjugate_derivative(w / weight, y)
    return ConjugateProx.divergence(self, loss, back, s, y, weight)


PLANTED_PROXES: list[tuple[Any, str | None, str]] = [
    (planted(ConjugateProx, mirror=lambda self, loss, s, *_: -s), "wrong sign", "mirror grows"),
    (
        planted(EuclideanProx, divergence=lambda *args: EuclideanProx.divergence(*args) * 1.01),
        "missing factor",
        "it is 1.01",
    ),
    (planted(ConjugateProx, divergence=forgotten_weight), "missing factor", "ω is forgotten"),
    (planted(ConjugateProx, divergence=swapped), "a different function", "divergence is D_h"),
]


@pytest.mark.parametrize(("wrong", "cause", "words"), PLANTED_ORACLES + PLANTED_PROXES)
def test_planted_oracle_or_prox(wrong: Any, cause: str | None, words: str) -> None:
    check = check_oracle if isinstance(wrong, LinearMinOracle) else check_prox
    with pytest.raises(ContractError) as raised:
        check(wrong)
    report = raised.value.report
    assert cause in (None, report.causes[0]), report
    assert any(words in str(failure) for failure in report.failures), report


def test_every_identity_of_a_prox_is_checked_at_labels_of_the_loss() -> None:
    """For every shipped prox and loss in tests/conjugates/test_losses.py."""
    assert len(check_prox(ConjugateProx()).identities) == 5
    with pytest.raises(ValueError, match="the logistic loss expects -1 and"):
        check_prox(ConjugateProx(), Logistic(), labels=[0.3])


# ---- rcmd check --------------------------------------------------------------------------------

MODULE = """
from rcmd import LeastSquares, L1Ball

instance = LeastSquares()
"""


def run_check(target: str) -> int:
    return run(argparse.Namespace(target=target, json=None, p=None, labels=None, fields=None))


@pytest.fixture
def module(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    path = tmp_path / "my_losses_for_check.py"
    path.write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return path


def test_check_prints_a_line_for_each_identity(capsys: Any) -> None:
    assert run_check("rcmd.conjugates:Huber(0.5)") == 0
    told = re.sub(r"\n  (?=\w)", " ", capsys.readouterr().out)
    first, *lines, last = told.splitlines()
    assert (first, last) == (
        "Huber(width=0.5)",
        "the contract is kept at all points tried; 2 not checked",
    )
    assert sum(line.startswith("ok    ") for line in lines) == 14
    left = [line.rpartition(": not checked: ")[2] for line in lines if line.startswith("--    ")]
    assert left == ["neither is claimed", "the class has none"]


def test_check_takes_files_instances_oracles_and_proxes(module: Any) -> None:
    assert load(f"{module}:instance") == LeastSquares()
    assert load("my_losses_for_check:L1Ball(radius=2)") == L1Ball(2)
    assert run_check("rcmd:Simplex") == run_check("rcmd:EuclideanProx") == 0


BAD_TARGETS = {
    "rcmd.conjugates:Hubert": "rcmd.conjugates has no Hubert; it has SeparableConjugate",
    "rcmd.conjugates:Huber(__import__('os'))": "expected a name, or a name with numbers",
    "rcmd.conjugates:Huber.value": "expected a name, or a name with numbers",
    "rcmd:L1Ball": "L1Ball cannot be made: .*radius.*; write rcmd:L1Ball",
    "rcmd:solve": "expected a SeparableConjugate",
}


@pytest.mark.parametrize("target", BAD_TARGETS)
def test_bad_targets_are_one_sentence(target: str) -> None:
    with pytest.raises(ValueError, match=BAD_TARGETS[target].replace("(", r"\(")):
        run_check(target)


def test_what_is_checked_may_be_named() -> None:
    assert check_conjugate("huber:0.5").subject == "Huber(width=0.5)"
    assert check_oracle("group-l2:2:1", p=4).subject.startswith("GroupL2Ball")
    assert check_prox(EuclideanProx(), "huber:0.5").ok
    with pytest.raises(TypeError, match="loss is 3; expected a SeparableConjugate"):
        check_prox(EuclideanProx(), 3)

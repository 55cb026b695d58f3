"""Losses and oracles of one's own that are altered after a ``Problem`` has checked them."""

from dataclasses import dataclass

import numpy as np
import pytest

from rcmd import (
    RCMD,
    L1Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    Problem,
    SeparableConjugate,
    certify,
    path,
    solve,
    verify,
)
from rcmd.model import truth
from rcmd.oracles import DenseAtom
from rcmd.rows.atoms import Atom
from rcmd.theory import expected_gap

RNG = np.random.default_rng(3)
X, Y = RNG.normal(size=(40, 4)), RNG.normal(size=40)


@dataclass
class Dial(SeparableConjugate):
    """½·curvature·(s − y)², cut off at slopes of −limit and limit, where the tilt is 1."""

    curvature: float = 1.0
    limit: float = 50.0
    tilt: float = 1.0

    @property
    def gamma(self) -> float:
        return self.curvature

    def value(self, s: float, y: float) -> float:
        w = min(max(self.curvature * (s - y), -self.limit), self.limit)
        return w * (s - y) - w * w / (2 * self.curvature)

    def derivative(self, s: float, y: float) -> float:
        w = min(max(self.curvature * (s - y), -self.limit), self.limit)
        return self.tilt * w

    def conjugate(self, w: float, y: float) -> float:
        return w * y + w * w / (2 * self.curvature) if abs(w) <= self.limit else np.inf

    def conjugate_derivative(self, w: float, y: float) -> float:
        return y + w / self.curvature

    def conjugate_domain(self, y: float) -> tuple[float, float]:
        return -self.limit, self.limit


class Cube(LinearMinOracle):
    """‖β‖_∞ ≤ radius, whose minimum is right where the share is 1."""

    def __init__(self, radius: float = 1.0, share: float = 1.0) -> None:
        self.radius, self.share = radius, share

    def argmin(self, c: np.ndarray) -> Atom:
        return DenseAtom(-self.radius * np.where(c > 0, 1.0, -1.0))

    def minimum(self, c: np.ndarray) -> float:
        return -self.share * self.radius * float(abs(c).sum())

    def violation(self, beta: np.ndarray) -> float:
        return max(float(abs(beta).max()) - self.radius, 0.0)


REFERENCE = RCMD(engine="reference")


def the_certificate(problem):
    return certify(problem, np.zeros(4), np.zeros(40))


ENTRIES = {
    "certify": the_certificate,
    "solve": lambda problem: solve(problem, tol=1e-3, max_iterations=10),
    "path": lambda problem: path(problem, [1.0], tol=1e-1),
    "truth.solve": truth.solve,
    "expected_gap": lambda problem: expected_gap(problem, 1, method=RCMD()),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("fault", ["attribute", "method", "class"])
def test_a_loss_that_was_made_wrong_is_refused(entry, fault, monkeypatch):
    """By one per cent; it was certified as it had been checked."""
    loss = Dial()
    problem = Problem(X, Y, loss, L1Ball(1.0))
    off = Dial(tilt=1.01).derivative
    if fault == "attribute":
        problem.loss.tilt = 1.01
    elif fault == "method":
        problem.loss.derivative = off
    else:
        monkeypatch.setattr(Dial, "derivative", lambda self, s, y: off(s, y))
    with pytest.raises(ValueError, match="of Dial at"):
        ENTRIES[entry](problem)


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_oracle_that_was_made_wrong_is_refused(entry):
    problem = Problem(X, Y, LeastSquares(), Cube())
    problem.oracle.share = 0.99
    with pytest.raises(ValueError, match="minimum of Cube at"):
        ENTRIES[entry](problem)


def test_a_method_put_into_a_shipped_class_is_checked(monkeypatch):
    """The problem was proved, and so would the certificate have been."""
    problem = Problem(X, Y, LeastSquares(), L1Ball(1.0))
    minimum = L1Ball.minimum
    assert the_certificate(problem).ground == "proved"
    with monkeypatch.context() as patch:
        patch.setattr(L1Ball, "minimum", lambda self, c: 1.0 * minimum(self, c))
        assert the_certificate(problem).ground == "sampled"
        patch.setattr(L1Ball, "minimum", lambda self, c: 0.99 * minimum(self, c))
        with pytest.raises(ValueError, match="minimum of L1Ball"):
            the_certificate(problem)
    assert the_certificate(problem).ground == "proved"


class Halved:
    """An object to be called, which Python does not make a method of."""

    def __call__(self, c):
        return -0.5 * float(abs(c).max())


def test_a_callable_object_put_into_a_shipped_class_is_checked(monkeypatch):
    monkeypatch.setattr(L1Ball, "minimum", Halved())
    with pytest.raises(ValueError, match="minimum of L1Ball"):
        Problem(X, Y, LeastSquares(), L1Ball(1.0))


@pytest.mark.parametrize("loss", [LeastSquares(), Logistic()])
def test_an_altered_array_form_is_checked(loss, monkeypatch):
    """Which is a class for one of these losses, and an object for the other."""
    forms = type(loss).arrays
    value, problem = forms.value, Problem(X, np.sign(Y), loss, L1Ball(1.0))
    with monkeypatch.context() as patch:
        same = staticmethod(lambda s, y: 1.0 * value(s, y))
        kind = forms if isinstance(forms, type) else type(forms)
        patch.setattr(kind, "value", same)
        assert the_certificate(problem).ground == "sampled"
        pair = staticmethod(lambda s, w, y: (loss.conjugate(w[0], y[0]), 0.0))
        patch.setattr(kind, "duality", pair, raising=False)
        with pytest.raises(ValueError, match=r"arrays\.duality"):
            the_certificate(problem)
    assert the_certificate(problem).ground == "proved"


@pytest.mark.parametrize(("tilt", "right"), [(1.0 + 1e-15, True), (1.01, False)])
def test_a_loss_that_a_callback_alters_is_seen_when_the_run_ends(tilt, right):
    problem = Problem(X, Y, Dial(), Cube(0.1))

    def alter(state):
        if state.iteration == 20:
            problem.loss.tilt = tilt

    run = {"method": REFERENCE, "tol": 0.0, "max_iterations": 40, "record_at": [20, 21, 40]}
    if right:
        assert solve(problem, callbacks=alter, **run).ground == "sampled"
        return
    with pytest.raises(ValueError, match="of Dial at"):
        solve(problem, callbacks=alter, **run)


def test_without_a_check_it_is_said():
    problem = Problem(X, Y, Dial(), L1Ball(1.0), verify=False)
    problem.loss.tilt = 1.01
    assert the_certificate(problem).ground == "unchecked"


def remembered(problem):
    """All that a problem keeps once it was asked for it, and what is compiled."""
    solve(problem, tol=1e-2, max_iterations=50)  # which asks for most of it
    beta, w = np.full(4, 0.1), problem.response(np.zeros(4))
    low, high = problem.losses.domain
    constants = problem.constants(3)
    return [
        problem.prediction_bounds, problem.first_slope, problem.first_atom, low, high,
        problem.start_slope, problem.spectral_energy, problem.primal(beta), problem.dual(w / 2),
        *(getattr(constants, name) for name in constants.__dataclass_fields__
          if isinstance(getattr(constants, name), float)),
    ]  # fmt: skip


@pytest.mark.parametrize("length", [40, 600])
def test_what_was_remembered_is_found_again(length):
    """From 512 samples on, losses are compiled."""
    data = np.resize(X, (length, 4)), np.resize(Y, length)
    problem = Problem(*data, Dial(), Cube())
    before = remembered(problem)
    problem.loss.curvature, problem.loss.limit, problem.oracle.radius = 2.0, 30.0, 1.5
    fresh = remembered(Problem(*data, Dial(2.0, 30.0), Cube(1.5)))
    for now, right, then in zip(remembered(problem), fresh, before, strict=True):
        np.testing.assert_allclose(now, right, rtol=1e-12)
        assert not np.array_equal(now, then) or isinstance(then, float)


@pytest.mark.filterwarnings("ignore:Unsaid does not define gamma")
def test_an_estimate_gives_way_to_what_is_said_and_follows_what_is_altered(monkeypatch):
    class Unsaid(Dial):
        gamma = SeparableConjugate.gamma

    problem = Problem(X, Y, Unsaid(), L1Ball(1.0))
    assert problem.constants().gamma == pytest.approx(1.0, rel=1e-3)
    problem.loss.curvature = 3.0
    the_certificate(problem)
    assert problem.constants().gamma == pytest.approx(3.0, rel=1e-3)
    monkeypatch.setattr(Unsaid, "gamma", 4.0)
    the_certificate(problem)
    assert problem.constants().gamma == 4.0


def test_verify_refuses_what_was_altered(monkeypatch):
    pytest.importorskip("flint")
    problem = Problem(X, np.sign(Y), Logistic(), L1Ball(1.0))
    result = solve(problem, tol=1e-3)
    assert verify(result, problem).holds
    right = Logistic.conjugate
    monkeypatch.setattr(Logistic, "conjugate", lambda self, w, y: 1.01 * right(self, w, y))
    with pytest.raises(ValueError, match="conjugate of Logistic at"):
        verify(result, problem)

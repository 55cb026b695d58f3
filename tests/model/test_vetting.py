"""What is not rcmd's own is checked before anything is certified: planted faults are refused."""

import json
import math
import warnings
from dataclasses import dataclass, replace
from fractions import Fraction as F
from functools import partial
from threading import Lock
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from rcmd import (
    RCMD,
    Box,
    ConjugateProx,
    Counting,
    DenseAtom,
    L1Ball,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    OperatorRows,
    Problem,
    Product,
    Ridge,
    SeparableConjugate,
    SparseAtom,
    Translated,
    certify,
    load_result,
    solve,
)
from rcmd.distributed import ShardedProblem, SharedError, rehearse
from rcmd.model import vetting
from rcmd.model.fingerprint import fingerprint
from rcmd.model.schedules import SublinearSchedule
from rcmd.oracles.base import Block, CoordinateRule, VertexRule
from rcmd.oracles.cvxpy_oracle import Unsolved
from rcmd.rows import DenseRows
from rcmd.testing import ContractError, check_oracle
from rcmd.testing.fuzzing.planted import Cube, Disc, Rough, Squares, SteepUnsaid

RNG = np.random.default_rng(5)
X, Y = RNG.normal(size=(40, 6)), RNG.normal(size=40)
REFERENCE = RCMD(engine="reference")


@dataclass(frozen=True)
class ArcTan(SeparableConjugate):
    """r·atan(r) − ½·log(1 + r²), right in all parts."""

    gamma = 1.0

    def value(self, s, y):
        r = s - y
        return r * math.atan(r) - math.log1p(r * r) / 2

    def derivative(self, s, y):
        return math.atan(s - y)

    def conjugate(self, w, y):
        return w * y - math.log(math.cos(w)) if abs(w) < math.pi / 2 else math.inf

    def conjugate_derivative(self, w, y):
        return y + (math.tan(w) if abs(w) < math.pi / 2 else math.copysign(math.inf, w))

    def conjugate_domain(self, y):
        return (-math.pi / 2, math.pi / 2)


def bump(height, width, place):
    """A Gaussian bump beside the squared loss, and its slope."""

    def value(self, s, y):
        r = (s - y - place) / width
        return (s - y) ** 2 / 2 + height * math.exp(-r * r)

    def derivative(self, s, y):
        r = (s - y - place) / width
        return s - y - 2 * height * r / width * math.exp(-r * r)

    return {"value": value, "derivative": derivative, "gamma": 1 + 2 * height / width**2}


def scaled(method, factor):
    original = getattr(ArcTan, method)
    return {method: lambda self, a, y: factor * original(self, a, y)}


def only_near(method, factor, label):
    """Wrong at one label alone."""
    original = getattr(ArcTan, method)

    def wrong(self, a, y):
        return (factor if y == label else 1.0) * original(self, a, y)

    return {method: wrong}


class WrongArrays:
    """An array form that is 1 % too large."""

    @staticmethod
    def conjugate(w, y):
        return 1.01 * (w * y - np.log(np.cos(w)))


BARE = ("conjugate", "conjugate_derivative", "conjugate_domain")

LOSSES = {
    "nothing": ({}, ""),
    "a derivative 1 % too steep": (scaled("derivative", 1.01), "value of"),
    "a conjugate 1 % too large": (scaled("conjugate", 1.01), "conjugate of"),
    "a conjugate 1 % too small": (scaled("conjugate", 0.99), "conjugate of"),
    "l*' 1 % too large": (scaled("conjugate_derivative", 1.01), "conjugate_derivative of"),
    "a γ 1 % too small": ({"gamma": 0.99}, "gamma of"),
    "a γ 1 % too large": ({"gamma": 1.01}, ""),
    "a negative γ": ({"gamma": -1.0}, "gamma of"),
    "a domain that is too small": ({"conjugate_domain": lambda self, y: (-0.5, 0.5)}, "_domain of"),
    "a value 1 % too large at the largest label": (only_near("value", 1.01, Y.max()), "value of"),
    "a value that is not finite": (
        {"value": lambda self, s, y: ArcTan.value(self, s, y) if s < 0.5 else math.nan},
        "value of",
    ),
    "a value that raises": (
        {"value": lambda self, s, y: ArcTan.value(self, s, y) + 0 * math.exp(2000 * s)},
        "OverflowError",
    ),
    "a radius 1 % too small": (
        {"bregman_radius": lambda self, bound: 0.1 * bound * bound},
        "bregman_radius of",
    ),
    "a descent bound that is too small": (
        {"descent_bound": lambda self, y: 0.01},
        "descent_bound of",
    ),
    "a wrong form of the gap": (
        {"fenchel_young": lambda self, s, w, y: 1e-3 + ArcTan.fenchel_young(self, s, w, y)},
        "fenchel_young of",
    ),
    "a wrong array form": ({"arrays": WrongArrays}, "arrays.conjugate of"),
    "a conjugate that is wrong beyond the slopes of predictions": (
        {"conjugate": lambda self, w, y: ArcTan.conjugate(self, w, y) if abs(w) < 1.4 else -1.0},
        "conjugate of",
    ),
}


def made(base, members, name="Mine"):
    return dataclass(frozen=True)(type(name, (base,), dict(members)))


@pytest.fixture(autouse=True)
def forgetful():
    vetting._passed.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize(("members", "fault"), LOSSES.values(), ids=LOSSES)
def test_losses_with_planted_faults_are_refused(members, fault):
    loss = made(ArcTan, members)()
    if not fault:
        problem = Problem(X, Y, loss, L1Ball(2.0))
        assert problem.ground == "sampled"
        return
    with pytest.raises(ValueError, match=r"verify=False") as refused:
        Problem(X, Y, loss, L1Ball(2.0))
    assert fault in str(refused.value)
    assert "Mine" in str(refused.value)
    assert Problem(X, Y, loss, L1Ball(2.0), verify=False).ground == "unchecked"


class Curve(SeparableConjugate):
    """Value, slope and γ only."""

    gamma = 1.0

    def value(self, s, y):
        return (s - y) ** 2 / 2

    def derivative(self, s, y):
        return s - y


def test_the_loss_of_the_attack_is_refused():
    cosine = {
        "value": lambda self, s, y: (s - y) ** 2 / 2 + 2 * math.cos(s - y),
        "derivative": lambda self, s, y: s - y - 2 * math.sin(s - y),
        "gamma": 3.0,
    }
    with pytest.raises(ValueError, match=r"derivative of Mine at sample 0 \(label 0\) and s = -7"):
        Problem([[1.7]], [0.0], made(Curve, cosine)(), Box(-5.0, 5.0))


@pytest.mark.parametrize("place", [-7.3, -1.1, 0.0, 2.6, 8.9])
@pytest.mark.parametrize("width", [0.1, 1.0])
def test_bumps_are_seen_where_they_make_l_concave(place, width):
    data = np.array([[1.7], [-0.3]]), np.array([0.0, 0.4]), Box(-6.0, 6.0)
    concave = width**2 / 2 * math.exp(0.0)  # the height from which l'' = 1 − 2h/w² < 0 there
    Problem(*data[:2], made(Curve, bump(0.97 * concave, width, place))(), data[2])
    with pytest.raises(ValueError, match="derivative of Mine"):
        Problem(*data[:2], made(Curve, bump(1.5 * concave, width, place))(), data[2])


def test_ones_own_word_is_no_proof():
    says_so = {"proved_on": lambda self, low, high, y: True}
    assert Problem(X, Y, made(ArcTan, says_so)(), L1Ball(2.0)).ground == "sampled"
    with pytest.raises(ValueError, match="gamma of Mine"):
        Problem(X, Y, made(ArcTan, says_so | {"gamma": 0.99})(), L1Ball(2.0))
    forged = made(ArcTan, says_so | {"__module__": "rcmd.conjugates.expressions.loss"})()
    assert Problem(X, Y, forged, L1Ball(2.0)).ground == "sampled"
    generated = SeparableConjugate.from_expression("sqrt(1 + (s - y)**2) - 1")
    problem = Problem(X, Y, generated, L1Ball(2.0))
    assert problem.ground == "proved"
    assert problem.grounds["loss"] == "proved"
    small = made(type(generated), {"gamma": 0.99})()
    with pytest.raises(ValueError, match="gamma of Mine"):
        Problem(X, Y, small, L1Ball(2.0))


@pytest.mark.parametrize("where", ["object", "class"])
@pytest.mark.parametrize("kind", [L1Ball, LeastSquares])
def test_methods_put_in_later_are_not_rcmds(monkeypatch, where, kind):
    """A gap of 0 from such an object or class was said to be proved."""
    part = kind(1.0) if kind is L1Ball else kind()
    if where == "object":
        object.__setattr__(part, "fenchel_young", lambda *at: 0.0)
    else:
        monkeypatch.setattr(kind, "fenchel_young", lambda self, *at: 0.0)
    loss, oracle = (LeastSquares(), part) if kind is L1Ball else (part, L1Ball(1.0))
    assert Problem(X, Y, loss, oracle, verify=False).ground == "unchecked"
    with pytest.raises(ValueError, match=f"fenchel_young of {kind.__name__}"):
        Problem(X, Y, loss, oracle)


@pytest.mark.parametrize(("share", "right"), [(1e-13, True), (1e-10, False)])
def test_a_conjugate_is_right_to_what_certificates_promise(share, right):
    """Gaps of small size would be those of another problem; it was allowed 1e-9."""
    low = {"conjugate": lambda self, w, y: (1 - share) * ArcTan.conjugate(self, w, y)}
    if right:
        assert Problem(X, Y, made(ArcTan, low)(), L1Ball(2.0)).ground == "sampled"
        return
    with pytest.raises(ValueError, match="conjugate of Mine"):
        Problem(X, Y, made(ArcTan, low)(), L1Ball(2.0))


def test_every_label_of_a_few_is_looked_at():
    """The fault is at the label between the two ends only."""
    steep = {"gamma": 1.0, "derivative": lambda self, s, y: math.atan(s - y) * (1 + (y == 0) / 50)}
    labels = np.resize([-1.0, 1.0], len(Y))
    Problem(X, labels, made(ArcTan, steep)(), L1Ball(2.0))
    labels[1 + len(Y) // 3] = 0.0
    with pytest.raises(ValueError, match=r"label 0\)"):
        Problem(X, labels, made(ArcTan, steep)(), L1Ball(2.0))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_the_widest_of_many_rows_is_looked_at(layout, sign):
    """l' is 1 % too steep where only row 4321 leads."""

    def wrong(self, s, y):
        return ArcTan.derivative(self, s, y) * (1.01 if abs(s) > 20 else 1)

    many = np.random.default_rng(2).normal(size=(25000, 3))  # every third is measured
    assert Problem(layout(many), many[:, 0], made(ArcTan, {"derivative": wrong})(), L1Ball(2.0))
    many[4321, 1] = sign * 30
    with pytest.raises(ValueError, match="sample 4321"):
        Problem(layout(many), many[:, 0], made(ArcTan, {"derivative": wrong})(), L1Ball(2.0))


def test_predictions_of_any_size_are_checked():
    """From 2⁵³ on, s + 1 = s."""
    X = np.array([[1e16]])
    assert Problem(X, [1.0], made(LeastSquares, {})(), Box(-1.0, 1.0)).ground == "sampled"
    with pytest.raises(ValueError, match="gamma of Mine"):
        Problem(X, [1.0], made(LeastSquares, {"gamma": 0.99})(), Box(-1.0, 1.0))


def test_faults_of_tiny_losses_are_no_rounding():
    """All values are near 1e-25, and the conjugate is 1 % too large."""
    X, y, tiny = [[6.8e-8], [-4.28e-7]], [1.99e-13, -2.26e-13], L1Ball(3.9e-7)
    assert Problem(X, y, Squares(), tiny).ground == "sampled"
    with pytest.raises(ValueError, match="conjugate of Squares"):
        Problem(X, y, Squares(dual=1.01), tiny)


def test_a_fault_beyond_the_range_of_predictions_is_none():
    """I_j = [−1, 1], and l is not convex from 1.5 on."""
    kinked = {
        "value": lambda self, s, y: s * s / 2 if s < 1.5 else 1.125 - s,
        "derivative": lambda self, s, y: s if s < 1.5 else -1.0,
        "conjugate": lambda self, w, y: w * w / 2,
        "conjugate_derivative": lambda self, w, y: w,
    }
    loss = made(Curve, kinked)()
    assert Problem([[1.0]], [0.0], loss, Box(-1.0, 1.0)).ground == "sampled"
    with pytest.raises(ValueError, match="derivative of Mine"):
        Problem([[1.0]], [0.0], loss, Box(-2.0, 2.0))


@dataclass(frozen=True)
class Ordered(LinearMinOracle):
    """0 ≤ β_1 ≤ … ≤ β_p ≤ 1, right in all parts."""

    def argmin(self, c):
        tails = np.append(np.cumsum(c[::-1])[::-1], 0.0)
        return DenseAtom((np.arange(len(c)) >= tails.argmin()) * 1.0)

    def minimum(self, c):
        return min(np.cumsum(c[::-1]).min(), 0.0)

    def violation(self, beta):
        return max(-beta[0], beta[-1] - 1.0, -np.diff(beta).min(initial=0.0), 0.0)


def writes(self, c):
    found = Ordered.argmin(self, c)
    c *= 1.0 + 1e-12
    c[0] += 1e-3
    return found


BUFFER = np.zeros(6)


def reuses(self, c):
    BUFFER[:] = Ordered.argmin(self, c).vector
    return DenseAtom(BUFFER)


def two_steps(self, c):
    """The best of the vertices 0 and (1, …, 1) only."""
    return min(c.sum(), 0.0)


def two_vertices(self, c):
    return DenseAtom(np.full(len(c), float(c.sum() < 0)))


def narrow(factor):
    def prediction_range(self, rows):
        low, high = LinearMinOracle.prediction_range(self, rows)
        return factor * low, factor * high

    return {"prediction_range": prediction_range}


ORACLES = {
    "nothing": ({}, ""),
    "a heuristic minimum": (
        {"argmin": two_vertices, "minimum": two_steps, "exact_atoms": False},
        "minimum of",
    ),
    "a minimum 1 % too high": (
        {"minimum": lambda self, c: 0.99 * Ordered.minimum(self, c)},
        "minimum of",
    ),
    "a minimum 1 % too low": (
        {"minimum": lambda self, c: 1.01 * Ordered.minimum(self, c)},
        "argmin of",
    ),
    "a minimum 1 % too low for atoms that are not exact": (
        {"minimum": lambda self, c: 1.01 * Ordered.minimum(self, c), "exact_atoms": False},
        "",
    ),
    "an argmin that writes into c": ({"argmin": writes}, "changed c"),
    "a buffer for all atoms": ({"argmin": reuses}, "later calls change"),
    "a vector that is no atom": ({"argmin": lambda self, c: c * 0}, "an Atom of 6"),
    "atoms outside": (
        {"argmin": lambda self, c: DenseAtom(1.01 * Ordered.argmin(self, c).vector)},
        "violation of",
    ),
    "a range 1 % too small": (narrow(0.99), "prediction_range of"),
    "a range 1 % too large": (narrow(1.01), ""),
    "a gap that is wrong": (
        {"fenchel_young": lambda self, beta, c: 0.99 * (c @ beta - self.minimum(c))},
        "fenchel_young of",
    ),
    "a μ for a set": ({"mu": 0.01}, "mu of"),
    "a penalty of an indicator": ({"penalty": lambda self, beta: 0.01 * beta.sum()}, "value of"),
    "an argmin that raises": ({"argmin": lambda self, c: 1 / 0}, "ZeroDivisionError"),
}


@pytest.mark.parametrize(("members", "fault"), ORACLES.values(), ids=ORACLES)
@pytest.mark.parametrize("around", ["alone", "product", "translated", "intercept"])
def test_oracles_with_planted_faults_are_refused(members, fault, around):
    oracle, more, data = made(Ordered, members)(), {}, X
    if around == "product":
        oracle, data = Product((Box(-1.0, 1.0), oracle), (2, 6)), np.hstack([X[:, :2], X])
    elif around == "translated":
        oracle = Translated(oracle, np.linspace(-1.0, 1.0, 6))
    elif around == "intercept":
        more = {"intercept": 2.0}
    if not fault:
        assert Problem(data, Y, LeastSquares(), oracle, **more).ground == "sampled"
        return
    if around != "alone" and fault in ("later calls change", "mu of"):
        return  # atoms are copied there, and μ is that of the weakest part
    with pytest.raises(ValueError, match=r"verify=False") as refused:
        Problem(data, Y, LeastSquares(), oracle, **more)
    assert "Mine" in str(refused.value)
    if around == "alone":
        assert fault in str(refused.value)
    unchecked = Problem(data, Y, LeastSquares(), oracle, verify=False, **more)
    assert unchecked.ground_text == "unchecked: Mine"


@dataclass(frozen=True)
class AxesOfEllipsoid(LinearMinOracle):
    """βᵀAβ ≤ 1, of which only the points on the axes of coordinates are tried."""

    matrix: np.ndarray
    right: bool = False
    exact_atoms = False

    def argmin(self, c):
        if self.right:
            found = -np.linalg.solve(self.matrix, c)
            size = math.sqrt(found @ self.matrix @ found)
            return DenseAtom(found / size if size > 0 else found)
        gains = abs(c) / np.sqrt(np.diag(self.matrix))
        k = int(gains.argmax())
        return SparseAtom((k,), (-np.sign(c[k]) / math.sqrt(self.matrix[k, k]),))

    def minimum(self, c):
        return c @ self.argmin(c).dense(c)

    def violation(self, beta):
        return max(math.sqrt(beta @ self.matrix @ beta) - 1.0, 0.0)


@dataclass(frozen=True)
class FewOf(LinearMinOracle):
    """conv{β: at most k entries, all ±1}: |β_i| ≤ 1, ‖β‖₁ ≤ k; a heuristic takes every other."""

    k: int
    right: bool = False
    exact_atoms = False

    def argmin(self, c):
        order = np.argsort(-abs(c), kind="stable")
        chosen = order[: self.k] if self.right else order[:: max(1, len(c) // self.k)][: self.k]
        vector = np.zeros(len(c))
        vector[chosen] = -np.sign(c[chosen])
        return DenseAtom(vector)

    def minimum(self, c):
        return c @ self.argmin(c).vector

    def violation(self, beta):
        return max(abs(beta).max() - 1.0, abs(beta).sum() / self.k - 1.0, 0.0)


TILTED = np.diag(np.linspace(1.0, 3.0, 6)) + 0.3


@pytest.mark.parametrize("oracle", [AxesOfEllipsoid(TILTED), FewOf(2), FewOf(3)])
def test_a_heuristic_value_is_no_minimum(oracle):
    """Such an oracle is consistent in itself; only other points of dom R contradict it."""
    with pytest.raises(ValueError, match="minimum must be a lower bound"):
        Problem(X, Y, LeastSquares(), oracle)
    assert Problem(X, Y, LeastSquares(), replace(oracle, right=True)).ground == "sampled"


@dataclass(frozen=True)
class Bowl(LinearMinOracle):
    """½·strength·‖β‖² on ‖β‖ ≤ 2, with a μ of its own."""

    strength: float
    said: float
    indicator = False

    @property
    def mu(self):
        return self.said

    def argmin(self, c):
        beta, size = -c / self.strength, np.linalg.norm(c / self.strength)
        return DenseAtom(beta if size <= 2 else beta * (2 / size))

    def minimum(self, c):
        beta = self.argmin(c).vector
        return c @ beta + self.penalty(beta)

    def violation(self, beta):
        return max(np.linalg.norm(beta) - 2.0, 0.0) / 2

    def penalty(self, beta):
        return self.strength * float(beta @ beta) / 2

    def prediction_range(self, rows):
        reach = 2 * np.sqrt(rows.square_norms())
        return -reach, reach


def test_a_mu_that_is_too_large_is_refused():
    assert Problem(X, Y, LeastSquares(), Bowl(0.5, 0.5)).ground == "sampled"
    with pytest.raises(ValueError, match=r"mu of Bowl at .* is 0.505; expected at most 0.5"):
        Problem(X, Y, LeastSquares(), Bowl(0.5, 0.505))


def one_sided(share):
    return {"shape": lambda self, c: -share * c if c > 0.0 else -c}


def read_by_loops(share):
    """By kind: a base, its arguments, and what a loop or a correction reads, off by ``share``."""
    return {
        "shape": (L2Ball, (2.0,), one_sided(share)),
        "mass": (L2Ball, (2.0,), {"mass": lambda self, c: c * c / share**2}),
        "scale": (
            L2Ball,
            (2.0,),
            {"scale": lambda self, total: share * 2.0 / math.sqrt(total or 1.0)},
        ),
        "write_atom": (L2Ball, (2.0,), {"write_atom": lambda self, c, out: write(c, share, out)}),
        "vertex_rule": (L1Ball, (2.0,), {"vertex_rule": lambda self: VertexRule(share * 2.0)}),
        "blocks": (L1Ball, (2.0,), {"blocks": lambda self, p: [Block(L1Ball(2.0 * share), 0, p)]}),
        "shift": (L1Ball, (2.0,), {"blocks": lambda self, p: [Block(self, 0, p, share)]}),
        "coordinate_rule": (
            Ridge,
            (0.5, 4.0),
            {"coordinate_rule": lambda self, p: CoordinateRule(l2=share * 0.5)},
        ),
        "bounds": (
            Box,
            (-1.0, 1.0),
            {"coordinate_rule": lambda self, p: CoordinateRule(lower=-share, upper=1.0)},
        ),
    }


def write(c, share, out):
    size = math.sqrt((c * c).sum()) or 1.0
    for k in range(len(c)):
        out[k] = -c[k] * (share * 2.0 / size)


@pytest.mark.parametrize("large", [vetting.LARGE, 5], ids=["few variables", "many"])
@pytest.mark.parametrize("kind", read_by_loops(1.0))
def test_what_loops_read_is_compared_with_argmin(kind, large, monkeypatch):
    """A set with another ``shape`` was given a bound of 0.032 at a gap of 3.98."""
    monkeypatch.setattr(vetting, "LARGE", large)
    base, arguments, members = read_by_loops(1.0)[kind]
    right = made(base, members)(*arguments)
    assert Problem(X, Y, LeastSquares(), right).ground == "sampled"
    assert check_oracle(right).ok
    for share in (0.99, 1.01 if kind != "bounds" else 0.5):
        wrong = made(base, read_by_loops(share)[kind][2])(*arguments)
        with pytest.raises(ValueError, match=r"(loops read|write_atom|coordinate_rule) of Mine at"):
            Problem(X, Y, LeastSquares(), wrong)
        with pytest.raises(ContractError, match="what compiled loops and corrections read"):
            check_oracle(wrong)


def test_shipped_classes_are_proved_and_not_checked(monkeypatch):
    monkeypatch.setattr(vetting, "vet", None)
    problem = Problem(X, Y, LeastSquares(), Product((L1Ball(1.0), Ridge(0.5)), (2, 4)))
    assert problem.ground == problem.ground_text == "proved"
    certificate = certify(problem, np.zeros(6), problem.response(np.zeros(6)))
    assert certificate.ground == "proved"
    assert repr(certificate).endswith("; proved)")
    assert "holds" in problem.describe()
    assert "sampled" not in problem.describe()


def test_what_was_only_sampled_is_said_everywhere(tmp_path):
    problem = Problem(X, Y, ArcTan(), Ordered())
    result = solve(problem, method=REFERENCE, tol=1e-1)
    text = problem.ground_text
    assert text.startswith("sampled: ArcTan at ")
    assert "Ordered at" in text
    assert "oracle calls" in text
    assert result.ground == problem.ground == "sampled"
    assert text in repr(result.certificate)
    assert "ground=sampled" in repr(result)
    lines = problem.describe().splitlines()
    smooth, bounded = (next(line for line in lines if f"({k})" in line) for k in (1, 2))
    assert "holds" not in smooth + bounded
    assert problem.grounds["loss"] in smooth
    assert problem.grounds["oracle"] in bounded
    assert "ground" in result._repr_html_()
    result.save(tmp_path / "run.rcmd")
    assert load_result(tmp_path / "run.rcmd").certificate.ground_text == text


def test_saved_grounds(tmp_path):
    from rcmd.solver.saved_results import as_data, from_parts, parts

    result = solve(Problem(X, Y, LeastSquares(), L1Ball(1.0)), method=REFERENCE, tol=0.5)
    held = parts(result)
    assert as_data(result)["ground"] == "proved"
    assert json.dumps(held["ground"])
    older = {name: value for name, value in held.items() if name != "ground"}
    assert from_parts(older).ground == "unchecked"
    for forged in ("certain", "provedly", None, 3):
        with pytest.raises(ValueError, match="its ground is"):
            from_parts(held | {"ground": forged})


def test_a_check_is_made_once(monkeypatch):
    runs = []
    original = vetting.LossCheck.run
    monkeypatch.setattr(vetting.LossCheck, "run", lambda *at: runs.append(1) or original(*at))
    problem = Problem(X, Y, ArcTan(), L1Ball(4.0))
    first = len(runs)
    assert 4 <= first <= 12
    for radius in (4.0, 3.0, 0.5):
        assert problem.with_oracle(L1Ball(radius)).ground == "sampled"
    assert len(runs) == first, "ranges inside those that were checked"
    problem.with_oracle(L1Ball(5.0))
    assert len(runs) == 2 * first
    again = made(ArcTan, {"gamma": 0.99}, "ArcTan")  # a class of that name, not that class
    with pytest.raises(ValueError, match="gamma of ArcTan"):
        Problem(X, Y, again(), L1Ball(4.0))


class Heuristic(LinearMinOracle):
    """‖β‖_∞ ≤ 1, whose minimum is right where the number that it holds is 1."""

    share = 1.0

    def __init__(self, **held):
        vars(self).update(held)

    def said(self):
        return 1.0

    def argmin(self, c):
        return DenseAtom(-np.sign(c))

    def minimum(self, c):
        return -abs(c).sum() * self.said() * self.share

    def violation(self, beta):
        return max(abs(beta).max() - 1.0, 0.0)


HELD = {
    "private": (lambda self: self._held, lambda x: {"_held": x}),
    "public": (lambda self: self.held, lambda x: {"held": x}),
    "mapping": (lambda self: self.held["x"], lambda x: {"held": {"x": x}}),
    "function": (lambda self: self.held(), lambda x: {"held": partial(float, x)}),
    "method": (lambda self: self.held(), lambda x: {"held": x.conjugate}),
    "array": (lambda self: self._held[1], lambda x: {"_held": (np.zeros(2), np.array(x))}),
    "object": (lambda self: self._held.real, lambda x: {"_held": np.complex128(x)}),
}


@pytest.mark.parametrize("how", HELD)
def test_another_object_of_a_class_is_checked_again(how):
    """After a right one, D was above P* by 1.1e-3 and more."""
    said, held = HELD[how]
    kind = type("Mine", (Heuristic,), {"said": said})
    assert Problem(X, Y, LeastSquares(), kind(**held(1.0))).ground == "sampled"
    assert len(vetting._passed) == 1
    assert Problem(X, Y, LeastSquares(), kind(**held(1.0))).ground == "sampled"
    assert len(vetting._passed) == 1, "the same again"
    with pytest.raises(ValueError, match="minimum of Mine"):
        Problem(X, Y, LeastSquares(), kind(**held(0.99)))
    assert fingerprint(kind(**held(1.0))) == fingerprint(kind(**held(1.0)))
    assert fingerprint(kind(**held(1.0))) != fingerprint(kind(**held(0.99)))


LEVELS = {"share": 1.0}


def test_constants_of_a_class_are_a_part_of_it(monkeypatch):
    class Mine(Heuristic):
        half = property(lambda self: 0.5)

        def said(self):
            return LEVELS["share"]

    before = fingerprint(Mine())
    assert Problem(X, Y, LeastSquares(), Mine()).ground == "sampled"
    for change in (
        lambda patch: patch.setattr(Mine, "share", 0.99),
        lambda patch: patch.setitem(LEVELS, "share", 0.99),
    ):
        with monkeypatch.context() as patch:
            change(patch)
            assert fingerprint(Mine()) != before
            with pytest.raises(ValueError, match="minimum of Mine"):
                Problem(X, Y, LeastSquares(), Mine())
    with monkeypatch.context() as patch:
        patch.setattr(Mine, "half", property(lambda self: 0.25))
        assert fingerprint(Mine()) != before
    assert fingerprint(Mine()) == before
    patched = L1Ball(1.0), L1Ball(1.0)
    for ball, share in zip(patched, (1.0, 0.99), strict=True):
        minimum = partial(shared_minimum, share)
        object.__setattr__(ball, "minimum", minimum)
    assert Problem(X, Y, LeastSquares(), patched[0]).ground == "sampled"
    with pytest.raises(ValueError, match="minimum of L1Ball"):
        Problem(X, Y, LeastSquares(), patched[1])


def shared_minimum(share, c):
    return -share * abs(c).max()


def test_what_changes_in_a_run_is_no_part_of_an_object():
    class Watched(Heuristic):
        changing = ("calls", "_seen")

    kinds = [Watched(calls=k, _seen={"c": k}, _lock=Lock()) for k in (1, 2)]
    assert fingerprint(kinds[0]) == fingerprint(kinds[1])
    circle = Heuristic()
    vars(circle)["_circle"] = [circle]
    assert fingerprint(circle) == fingerprint(circle)
    counted = Counting(L1Ball(1.0))
    before = fingerprint(counted)
    counted.argmin(np.ones(2))
    assert fingerprint(counted) == before


def test_memory_of_checks_is_bounded(monkeypatch):
    monkeypatch.setattr(vetting, "MOST_KEPT", 3)
    for k in range(8):
        assert Problem(X, Y, LeastSquares(), Heuristic(held=k)).ground == "sampled"
        assert len(vetting._passed) <= 3


def test_a_class_is_asked_once():
    """By its calls, as seconds depend on the machine."""
    tally = SimpleNamespace(calls=0)

    class Mine(Heuristic):
        def argmin(self, c):
            tally.calls += 1
            return super().argmin(c)

        def minimum(self, c):
            tally.calls += 1
            return super().minimum(c)

    Problem(X, Y, LeastSquares(), Mine())
    first, tally.calls = tally.calls, 0
    assert 50 <= first <= 200
    Problem(X, Y, LeastSquares(), Mine())
    assert tally.calls <= 2 * 12, "the ranges of the rows that a check looks at"


def test_data_of_all_kinds():
    weights = np.linspace(0.1, 3.0, 40)
    for data in (X.astype(np.float32), sp.csr_array(X), aslinearoperator(X)):
        problem = Problem(data, Y, ArcTan(), Ordered(), weights=weights)
        assert problem.ground == "sampled"
        with pytest.raises(ValueError, match="gamma of Mine"):
            Problem(data, Y, made(ArcTan, {"gamma": 0.99})(), Ordered(), weights=weights)
    exact = np.array([[F(1), F(2)], [F(-1, 3), F(1)]], dtype=object)
    square = made(LeastSquares, {})
    for oracle in (Box(F(-1), F(1)), made(Box, {})(F(-1), F(1))):
        assert Problem(exact, [F(1), F(2)], square(), oracle).ground == "sampled"
    low = {"minimum": lambda self, c: Box.minimum(self, c) * F(99, 100)}
    with pytest.raises(ValueError, match="minimum of Mine"):
        Problem(exact, [F(1), F(2)], square(), made(Box, low)(F(-1), F(1)))


def test_rows_of_ones_own():
    assert Problem(OperatorRows(aslinearoperator(X)), Y, LeastSquares(), L1Ball(1.0)).ground == (
        "sampled"
    )
    wrong = {
        "rmatvec": lambda self, w: 1.01 * DenseRows.rmatvec(self, w),
        "products": lambda self, beta, w: (self.matvec(beta), 1.01 * self.rmatvec(w)),
        "square_norms": lambda self: 0.99 * DenseRows.square_norms(self),
        "predict": lambda self, batch, atom: 1.01 * DenseRows.predict(self, batch, atom),
        "box_range": lambda self, low, high: DenseRows.box_range(self, low, high * 0.99),
        "row": lambda self, j: DenseRows.row(self, (j + 1) % self.n),
    }
    assert Problem(type("Mine", (DenseRows,), {})(X), Y, LeastSquares(), L1Ball(1.0)).ground == (
        "sampled"
    )
    long = {"products": lambda self, beta, w: (1.01 * self.matvec(beta), self.rmatvec(w))}
    for name, method in [*wrong.items(), *long.items()]:
        rows = type("Mine", (DenseRows,), {name: method})(X)
        with pytest.raises(ValueError, match="of Mine at"):
            Problem(rows, Y, LeastSquares(), L1Ball(1.0))


@pytest.mark.parametrize(("share", "right"), [(1.01, True), (1.0, True), (0.99, False)])
def test_a_spectral_energy_of_ones_own(share, right):
    """Batches of 30 rows were given a bound of a thousandth of the gap."""

    class Mine(DenseRows):
        def spectral_energy(self, scales):
            return share * super().spectral_energy(scales)

    assert Problem(Mine(X), Y, LeastSquares(), L1Ball(1.0)).ground == "sampled"  # not needed
    if right:
        assert Problem(Mine(X), Y, LeastSquares(), Ridge(0.5)).ground == "sampled"
        return
    with pytest.raises(ValueError, match="spectral_energy of Mine at"):
        Problem(Mine(X), Y, LeastSquares(), Ridge(0.5))


@pytest.mark.parametrize("bend", [0.0, 0.01])
def test_a_loss_that_says_quadratic_is(bend):
    """The Logistic loss that said so was given a bound below its mean gap."""

    class Bent(SeparableConjugate):
        gamma, quadratic = 1 + bend, True

        def value(self, s, y):
            r = s - y
            return r * r / 2 + bend * max(r, 0.0) ** 2 / 2

        def derivative(self, s, y):
            return s - y + bend * max(s - y, 0.0)

    if not bend:
        assert Problem(X, Y, Bent(), Ridge(0.5)).ground == "sampled"
        return
    with pytest.raises(ValueError, match=r"quadratic of Bent at .* is True; expected False"):
        Problem(X, Y, Bent(), Ridge(0.5))


def test_a_prox_and_a_schedule_of_ones_own():
    problem = Problem(X, Y, LeastSquares(), L1Ball(1.0))
    doubled = {
        "mirror": lambda self, loss, s, y, weight: 2 * s,
        "inverse": lambda self, loss, m, s, y, weight, bound: m / 2,
    }
    long = {"step": lambda self, i: 1.01 + 0 * i}
    wrong = {"inverse": lambda self, loss, m, s, y, weight, bound: m / 2.02}
    falling = {"mirror": lambda self, loss, s, y, weight: -s}
    options = {"tol": 0.0, "max_iterations": 3, "batch": 1}

    def run(problem, **own):
        return solve(problem, method=RCMD(engine="reference", **own), **options)

    slower = made(ConjugateProx, doubled)()
    assert run(problem, prox=slower).nit == 3
    for members in (wrong, falling):
        prox = made(ConjugateProx, doubled | members)()
        with pytest.raises(ValueError, match=r"(inverse|mirror) of Mine"):
            run(problem, prox=prox)
    fine = made(SublinearSchedule, {})(40.0)
    assert run(problem, schedule=fine).nit == 3
    growing = {"growth": lambda self, i, base: 1.01 * SublinearSchedule.growth(self, i, base)}
    for members in (long, growing):
        schedule = made(SublinearSchedule, members)(40.0)
        with pytest.raises(ValueError, match=r"(step|growth) of Mine"):
            run(problem, schedule=schedule)
    unchecked = Problem(X, Y, LeastSquares(), L1Ball(1.0), verify=False)
    assert unchecked.ground == "proved"  # nothing here needed a check
    run(unchecked, schedule=made(SublinearSchedule, long)(40.0))


def test_rows_on_several_ranks():
    def ground(members):
        def of(group):
            mine = slice(0, 15) if group.rank == 0 else slice(15, 40)
            loss = made(ArcTan, members)()
            return ShardedProblem(X[mine], Y[mine], loss, Ordered(), group=group).ground

        return rehearse(2, of)

    assert ground({}) == ["sampled", "sampled"]
    last = int(np.argmax(Y[15:])) + 15
    with pytest.raises(SharedError, match="value of Mine"):
        ground(only_near("value", 1.01, Y[last]))


# ---- γ of classes that do not say it -----------------------------------------------------------


@dataclass(frozen=True)
class Heavy(SeparableConjugate):
    """|y|·softplus(−sign(y)·s), for which γ_j = |y_j|/4."""

    def value(self, s, y):
        q = -math.copysign(1.0, y) * s
        return abs(y) * (max(q, 0.0) + math.log1p(math.exp(-abs(q))))

    def derivative(self, s, y):
        sign = math.copysign(1.0, y)
        return -sign * abs(y) / (1.0 + math.exp(min(sign * s, 700.0)))


def test_gammas_are_estimated_at_the_labels_of_the_problem():
    y = np.where(Y > 0, 100.0, -3.0)
    problem = Problem(X, y, Heavy(), L1Ball(2.0))
    np.testing.assert_allclose(problem.losses.gammas, abs(y) / 4, rtol=2e-4)
    assert problem.constants().gamma >= 25.0 > 0.25 == pytest.approx(0.25)
    doubled = Problem(X, y, Heavy(), L1Ball(2.0), weights=np.full(40, 2.0))
    np.testing.assert_allclose(doubled.losses.gammas, abs(y) / 2, rtol=2e-4)
    many = np.linspace(1.0, 50.0, 40)
    gammas = Problem(X, many, Heavy(), L1Ball(2.0)).losses.gammas
    assert (gammas >= many / 4 * (1 - 1e-6)).all()
    assert (gammas <= (many + 4) / 4).all()


def test_gammas_are_those_on_the_range_of_predictions():
    """l'' of r⁴/12 is r²: γ_j is the square of the largest |s − y_j|."""
    fourth = {
        "value": lambda self, s, y: (s - y) ** 4 / 12,
        "derivative": lambda self, s, y: (s - y) ** 3 / 3,
        "gamma": SeparableConjugate.gamma,
    }
    data, labels = np.array([[1.0], [2.0]]), np.array([0.0, 1.0])
    problem = Problem(data, labels, made(Curve, fourth)(), Box(-1.0, 1.0))
    np.testing.assert_allclose(problem.losses.gammas, [1.0, 9.0], rtol=2e-2)
    wider = problem.with_oracle(Box(-2.0, 2.0))
    np.testing.assert_allclose(wider.losses.gammas, [4.0, 25.0], rtol=2e-2)


def test_an_estimated_gamma_gives_no_bound():
    """γ was looked at for 16 labels, and one between them is 30 times as steep."""

    @dataclass(frozen=True)
    class Peak(SeparableConjugate):
        def value(self, s, y):
            factor = 30.0 if abs(y - 0.4) < 0.05 else 1.0
            return factor * math.log(math.cosh((s - y) / 2))

        def derivative(self, s, y):
            return (15.0 if abs(y - 0.4) < 0.05 else 0.5) * math.tanh((s - y) / 2)

    data, labels = np.random.default_rng(0).normal(size=(300, 2)), np.linspace(-1, 1, 300)
    said = made(Peak, {"gamma": 7.5})()
    for loss, known in ((Peak(), False), (said, True)):
        problem = Problem(data, labels, loss, Ridge(0.1))
        result = solve(problem, method=REFERENCE, tol=0.0, max_iterations=5)
        assert np.isfinite(result.history.column("bound")).all() is np.bool_(known)
        assert ("γ_j is an estimate" in result.note) is not known
        assert ("γ_j is an estimate" in problem.describe()) is not known


def test_every_one_of_a_few_rows_is_looked_at() -> None:
    # A bump that only the predictions of row 1 meet, which is no extreme of anything, nor is its
    # label among those chosen of more rows.
    X = np.array([[0.1], [1.0], [2.0], [0.5], [0.6], [0.7], [0.3], [0.2]])
    y = np.array([9.0, 8, 0, 5, 3, 6, 1, 2])
    bump = Rough(1e4, depth=50.0, place=-7.5, width=0.1)
    with pytest.raises(ValueError, match=r"sample 1 .* convex"):
        Problem(X, y, bump, Cube(1.0))


def test_an_estimated_gamma_is_raised_where_the_check_finds_more() -> None:
    # On so long a range the estimate is 2.497 where γ = |y|/4.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steep = SteepUnsaid()
    X, y = [[2923000.0], [-2691000.0], [984000.0]], [10.0, -10.0, -10.0]
    for _ in range(2):  # found, and remembered
        problem = Problem(X, y, steep, Disc(0.42))
        assert problem.losses.gammas.min() >= 2.4999
        assert problem.loss.gamma == problem.losses.gammas.max() <= 2.51


def test_a_solver_that_fails_is_no_fault_of_the_class():
    class Unlucky(L1Ball):
        def argmin(self, c):
            raise Unsolved("CVXPY ended with status 'solver_error'")

    with pytest.raises(Unsolved, match=r"^CVXPY ended"):
        Problem([[1.0]], [1.0], LeastSquares(), Unlucky(1.0))


def test_a_loss_that_fails_now_and_then_is_refused():
    class Moody(LeastSquares):
        calls = []  # noqa: RUF012 (shared on purpose)

        def value(self, s, y):
            self.calls.append(s)
            if len(self.calls) == 40:
                raise ArithmeticError
            return (s - y) ** 2 / 2

    with pytest.raises(ValueError, match=r"value of Moody .* as when it is asked again"):
        Problem([[1.0]], [1.0], Moody(), L1Ball(1.0))

"""Samples with offsets and fields of their own, in everything that looks at a loss."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import (
    RCMD,
    Box,
    ConjugateProx,
    EuclideanProx,
    ExactProx,
    Huber,
    L1Ball,
    LeastSquares,
    Logistic,
    Problem,
    Ridge,
    SampleLosses,
    SeparableConjugate,
    methods,
    resume,
    solve,
    truth,
    verify,
)
from rcmd.conjugates.scalars import clipped_gap, clipped_slope, clipped_value, outside
from rcmd.distributed import ShardedProblem, rehearse
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.model.schedules import SublinearSchedule
from rcmd.testing import check_conjugate

N = 24
rng = np.random.default_rng(0)
X, y = rng.standard_normal((N, 4)), rng.standard_normal(N)
OWN: dict[str, Any] = {
    "weights": rng.uniform(0.5, 2.0, N),
    "offset": rng.standard_normal(N),
    "fields": {"tau": rng.uniform(0.1, 0.9, N), "width": rng.uniform(0.5, 1.5, N)},
}


@dataclass(frozen=True)
class Pinball(SeparableConjugate):
    """The smoothed quantile loss with the level τ_j and the width of each sample."""

    reads = ("tau", "width")
    strictly_convex = False

    def curvature_bound(self, low: Any, high: Any, y: Any, tau: Any, width: Any) -> Any:
        return 1 / width

    def value(self, s: Any, y: Any, tau: Any, width: Any) -> Any:
        return clipped_value(s - y, -tau, 1 - tau, width)

    def derivative(self, s: Any, y: Any, tau: Any, width: Any) -> Any:
        return clipped_slope(s - y, -tau, 1 - tau, width)

    def conjugate(self, w: Any, y: Any, tau: Any, width: Any) -> Any:
        return math.inf if outside(w, -tau, 1 - tau) else width * w * w / 2 + w * y

    def conjugate_derivative(self, w: Any, y: Any, tau: Any, width: Any) -> Any:
        return width * w + y

    def conjugate_domain(self, y: Any, tau: Any, width: Any) -> tuple[Any, Any]:
        return (-tau, 1 - tau)

    def fenchel_young(self, s: Any, w: Any, y: Any, tau: Any, width: Any) -> Any:
        return clipped_gap(s - y, w, -tau, 1 - tau, width)

    def cvxpy_form(self, predictions: Any, y: Any, tau: Any, width: Any) -> Any:
        import cvxpy as cp

        assert np.shape(tau) == np.shape(width) == np.shape(y)  # all samples at once
        near = cp.Variable(len(y))
        far = predictions - y - near
        kinks = cp.multiply(1 - tau, cp.pos(far)) + cp.multiply(tau, cp.neg(far))
        return cp.multiply(1 / (2 * width), cp.square(near)) + kinks


def pinball(oracle: Any = "l1:2", data: Any = X, **own: Any) -> Problem:
    return Problem(data, y, Pinball(), oracle, **{**OWN, **own})


# ---- what a problem is ---------------------------------------------------------------------------


def test_solutions_are_those_of_cvxpy() -> None:
    problem = pinball()
    optimum, result = truth.solve(problem), solve(problem, tol=1e-11)
    assert result.primal == pytest.approx(optimum.primal, abs=1e-9)
    assert result.gap <= 1e-11
    assert problem.ground == "sampled"
    plain = solve(problem, method="rcmd", batch=4, tol=0, max_iterations=400)
    assert plain.gap < plain.history[-1].bound < math.inf


def test_the_contract_is_checked_at_given_fields() -> None:
    check_conjugate(Pinball(), fields={"tau": 0.3, "width": 0.7})
    with pytest.raises(ValueError, match=r"fields holds tau and Logistic\(\) reads none"):
        Problem(X, np.sign(y), Logistic(), L1Ball(1.0), fields={"tau": y})
    with pytest.raises(ValueError, match=r"fields holds none and Pinball\(\) reads tau, width; .*"):
        check_conjugate(Pinball())


@pytest.mark.parametrize(
    ("own", "kind", "words"),
    [
        ({"fields": None}, ValueError, r"fields holds none and Pinball\(\) reads tau, width; expe"),
        ({"fields": OWN["fields"] | {"mu": y}}, ValueError, r"holds tau, width, mu and"),
        ({"fields": [y]}, TypeError, r"fields is of type list; expected a mapping"),
        ({"fields": OWN["fields"] | {"tau": y[:3]}}, ValueError, r"fields\['tau'\] has shape \(3,"),
        ({"fields": OWN["fields"] | {"tau": y + np.inf}}, ValueError, r"fields\['tau'\] .*inf"),
        ({"offset": y[:3]}, ValueError, r"offset has shape \(3,\); expected \(24,\)"),
        ({"offset": y * np.nan}, ValueError, r"offset .*(nan|NaN)"),
    ],
)
def test_wrong_data_are_refused(own: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        pinball(**own)


def test_a_fault_at_some_fields_only_is_seen() -> None:
    class Faulty(Pinball):
        def conjugate(self, w: Any, y: Any, tau: Any, width: Any) -> Any:
            return super().conjugate(w, y, tau, width * (1.01 if tau > 0.8 else 1.0))

    with pytest.raises(ValueError, match=r"conjugate of Faulty at sample \d+ \(label"):
        Problem(X, y, Faulty(), L1Ball(2.0), **OWN)


# ---- an offset is a shift ------------------------------------------------------------------------

F = Fraction


def test_exact_runs_with_an_offset_are_those_on_shifted_labels() -> None:
    numbers = np.random.default_rng(2)
    data = [[F(int(k), 7) for k in row] for row in numbers.integers(-9, 9, (5, 3))]
    labels, offset = ([F(int(k), 3) for k in numbers.integers(-9, 9, 5)] for _ in range(2))
    shifted = [a - o for a, o in zip(labels, offset, strict=True)]
    own: dict[str, Any] = {"weights": [F(k, 2) for k in range(1, 6)]}
    for oracle in (L1Ball(F(2)), Ridge(F(1, 3), F(50))):
        first = Problem(np.array(data), labels, LeastSquares(), oracle, offset=offset, **own)
        second = Problem(np.array(data), shifted, LeastSquares(), oracle, **own)
        results = [
            solve(each, method=RCMD(batch=2), tol=0, max_iterations=7) for each in (first, second)
        ]
        for name in ("primal", "dual", "gap"):
            assert getattr(results[0], name) == getattr(results[1], name)
        assert (results[0].beta == results[1].beta).all()
        assert (results[0].w == results[1].w).all()
        assert first.constants() == second.constants()


@pytest.mark.parametrize("name", methods.NAMED)
def test_every_method_sees_the_offset(name: str) -> None:
    """To rounding, its run is that on shifted labels."""
    strongly = name in ("sdca", "apcg", "quartz")
    oracle, offset = Ridge(0.5) if strongly else L1Ball(1.0), OWN["offset"]
    pair = [
        Problem(X, y, Huber(0.7), oracle, offset=offset),
        Problem(X, y - offset, Huber(0.7), oracle),
    ]
    results = [solve(each, method=name, tol=0, max_iterations=40) for each in pair]
    np.testing.assert_allclose(results[0].beta, results[1].beta, rtol=1e-8, atol=1e-10)
    assert results[0].gap == pytest.approx(results[1].gap, rel=1e-6, abs=1e-13)


def test_array_forms_and_methods_agree_on_offsets() -> None:
    labels, s, t = np.sign(rng.standard_normal((3, 5000)))
    offset, s, t = rng.standard_normal((3, 5000))
    losses = SampleLosses(Logistic(), labels, np.full(5000, 2.0), offset=offset)
    w = losses.derivative(t)
    for j in range(0, 5000, 500):
        one = losses.one(j)
        u = w[j] / 2
        for found, right in (
            (losses.value(s), 2 * one.value(s[j], labels[j])),
            (losses.derivative(s), 2 * one.derivative(s[j], labels[j])),
            (losses.expansion(s)[2], 2 * one.second_derivative(s[j], labels[j])),
            (losses.conjugate(w), 2 * one.conjugate(u, labels[j])),
            (losses.duality(s, w)[0], 2 * one.value(s[j], labels[j])),
            (losses.duality(s, w)[1], 2 * one.conjugate(u, labels[j])),
            (losses.duality(s, w)[2], 2 * one.fenchel_young(s[j], u, labels[j])),
            (losses.conjugate_derivative(w), t[j]),
        ):
            assert found[j] == pytest.approx(right, rel=1e-11, abs=1e-12)


def test_enclosures_know_offsets_and_refuse_classes_of_a_user() -> None:
    problem = Problem(X, np.abs(y).round(), "poisson", "l1:1", offset=OWN["offset"])
    result = solve(problem, tol=1e-8)
    enclosed = verify(result, problem)
    assert enclosed.gap[0] - 1e-14 <= result.gap <= enclosed.gap[1] * (1 + 1e-6) + 1e-14
    assert enclosed.primal[0] - 1e-13 <= result.primal <= enclosed.primal[1] + 1e-13
    with pytest.raises(ValueError, match="no formulas of its own to verify with"):
        verify(solve(pinball(), tol=1e-3), pinball())


# ---- the same run everywhere ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prox", "oracle"),
    [(ConjugateProx(), "l1:2"), (EuclideanProx(), "ridge:0.3"), (ExactProx(kappa=8.0), "l1:2")],
)
def test_both_engines_take_the_same_steps(prox: Any, oracle: str) -> None:
    """The compiled and the reference engine, on the same batches."""
    problem = pinball(oracle, sp.csr_array(X))
    schedule, bound = SublinearSchedule(N / 3), prox.bind(problem.constants(3))
    fast, plain = (
        kind(problem, schedule, UniformSampler(N, 3, np.random.default_rng(1)), bound)
        for kind in (CompiledEngine, ReferenceEngine)
    )
    for steps in (1, 40):
        fast.advance(steps)
        plain.advance(steps)
        for name in ("s", "w", "d"):
            found, right = getattr(fast, name), getattr(plain, name)
            np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(fast.averages()[0], plain.averages()[0], rtol=1e-12, atol=1e-13)


def test_compiled_arrays_read_the_same_fields() -> None:
    many = 5000
    numbers = np.random.default_rng(4)
    labels, offset, s = numbers.standard_normal((3, many))
    fields = (numbers.uniform(0.1, 0.9, many), numbers.uniform(0.5, 1.5, many))
    losses = SampleLosses(Pinball(), labels, None, None, offset, fields)
    w, few = losses.derivative(s), losses.some(slice(0, 30))
    np.testing.assert_array_equal(w[:30], few.derivative(s[:30]))
    np.testing.assert_allclose(losses.conjugate(w)[:30], few.conjugate(w[:30]), rtol=1e-15)
    np.testing.assert_array_equal(losses.domain[0], -fields[0])


def test_parts_of_a_problem_are_fresh_problems() -> None:
    problem = pinball()
    half = slice(None, None, 2)
    fields = {name: part[half] for name, part in OWN["fields"].items()}
    own = {"weights": OWN["weights"][half], "offset": OWN["offset"][half], "fields": fields}
    fresh = Problem(X[half], y[half], Pinball(), L1Ball(2.0), **own)
    thinned = problem.thinned(2)
    assert thinned is not None
    assert thinned.fingerprint() == fresh.fingerprint()
    moved = problem.with_oracle(Box(-1.0, 1.0))
    assert moved.fingerprint() == pinball(Box(-1.0, 1.0)).fingerprint()
    for one, other in ((thinned, fresh), (moved, pinball(Box(-1.0, 1.0)))):
        assert one.constants(2) == other.constants(2)
        assert solve(one, tol=1e-6).primal == solve(other, tol=1e-6).primal


def test_a_saved_run_goes_on_and_knows_its_data(tmp_path: Any) -> None:
    path, whole = tmp_path / "run.ckpt", solve(pinball(), method="rcmd", tol=0, max_iterations=90)
    solve(pinball(), method="rcmd", tol=0, max_iterations=40, checkpoint=path)
    result = resume(path, pinball(), max_iterations=90)
    np.testing.assert_array_equal(result.beta, whole.beta)
    for own, words in (
        ({"offset": None}, "offset differs"),
        ({"offset": OWN["offset"] + 1e-9}, "offset differs"),
        ({"fields": OWN["fields"] | {"tau": y**0 / 2}}, r"fields\['tau'\] differs"),
    ):
        with pytest.raises(ValueError, match=words):
            resume(path, pinball(**own), max_iterations=90)
    other = tmp_path / "other.ckpt"
    solve(pinball(offset=None), method="rcmd", tol=0, max_iterations=4, checkpoint=other)
    with pytest.raises(ValueError, match="offset differs"):
        resume(other, pinball(), max_iterations=9)


def test_shards_have_their_own_part() -> None:
    whole = pinball()
    right = solve(whole, method="rcmd", tol=0, max_iterations=60)

    def run(group: Any) -> Any:
        mine = slice(0, 9) if group.rank == 0 else slice(9, N)
        fields = {name: part[mine] for name, part in OWN["fields"].items()}
        own = {name: OWN[name][mine] for name in ("weights", "offset")}
        shard = ShardedProblem(
            X[mine], y[mine], Pinball(), L1Ball(2.0), group=group, fields=fields, **own
        )
        result = solve(shard, method="rcmd", tol=0, max_iterations=60)
        return result.beta, shard.constants().bregman_radius, shard.fingerprint()["offset"]

    found = rehearse(2, run)
    for beta, radius, _ in found:
        np.testing.assert_allclose(beta, right.beta, rtol=1e-12, atol=1e-14)
        assert radius == pytest.approx(whole.constants().bregman_radius, rel=1e-13)
    assert found[0][2] == found[1][2]


def test_a_class_without_a_gamma_is_measured_at_its_own_fields() -> None:
    with pytest.warns(UserWarning, match="Scaled does not define gamma, conjugate"):
        problem = Problem(X, y, Scaled(), L1Ball(2.0), fields={"scale": OWN["weights"]})
    gammas = problem.losses.gammas
    assert (gammas >= OWN["weights"]).all()
    assert (gammas <= 1.001 * OWN["weights"]).all()
    result, weights = solve(problem, tol=1e-9), OWN["weights"]
    right = solve(Problem(X, y, LeastSquares(), L1Ball(2.0), weights=weights), tol=1e-9)
    assert result.primal == pytest.approx(right.primal, abs=2e-9)


@dataclass(frozen=True)
class Scaled(SeparableConjugate):
    reads = ("scale",)

    def value(self, s: Any, y: Any, scale: Any) -> Any:
        return scale * (s - y) ** 2 / 2

    def derivative(self, s: Any, y: Any, scale: Any) -> Any:
        return scale * (s - y)

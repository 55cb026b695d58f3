"""M_j, E and D_max of a black box: found where they are read, and counted."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

from rcmd import RCMD, DenseAtom, EuclideanProx, L1Ball, LinearMinOracle, Problem, solve
from rcmd.engine.sampling import CyclicSampler
from rcmd.methods import FrankWolfe

RNG = np.random.default_rng(5)
X, Y = RNG.standard_normal((12, 3)), np.sign(RNG.standard_normal(12))
ENDS: Any = {"tol": 0.0, "max_iterations": 40, "record_at": [40]}


class BlackBox(LinearMinOracle):
    """‖β‖_∞ ≤ 1, known by its answers, which are counted."""

    calls = 0

    def argmin(self, c: Any) -> DenseAtom:
        type(self).calls += 1
        return DenseAtom(np.where(c > 0, -1.0, 1.0))

    def minimum(self, c: Any) -> Any:
        type(self).calls += 1
        return -abs(c).sum()

    def violation(self, beta: Any) -> Any:
        return max(float(abs(beta).max()) - 1, 0.0)


def problem(scale: float = 1.0) -> Problem:
    BlackBox.calls = 0
    return Problem(scale * X, Y, "logistic", BlackBox(), verify=False)


@pytest.mark.parametrize("method", [RCMD(sampler=CyclicSampler(12)), RCMD(), FrankWolfe()])
def test_no_call_where_no_bound_is_shown(method: Any) -> None:
    """A sampler without a theorem, classes that are unchecked, a method that needs no M_j."""
    box = problem()
    result = solve(box, method=method, **ENDS)
    assert np.isnan(result.history[-1].bound)
    assert (box.range_calls, "prediction_bounds" in vars(box)) == (0, False)
    # A call a step, three for the certificate, one for the size of predictions.
    assert BlackBox.calls <= 40 + 1 + 3 + 1
    assert "M_j" not in result.note
    assert result.about is not None
    assert [letter for letter, *_ in result.about.constants] == ["γ", "μ"]


def test_calls_are_counted_where_they_are_made() -> None:
    box = Problem(X, Y, "logistic", BlackBox())
    result = solve(box, method=RCMD(), **ENDS)
    assert box.range_calls == 24
    assert result.note.endswith("the constants M_j took 24 calls of the oracle")
    assert result.history[-1].bound > 0
    assert np.allclose(box.prediction_bounds, abs(X).sum(axis=1))
    euclidean = problem()
    assert "took 24 calls" in solve(euclidean, method=RCMD(prox=EuclideanProx()), **ENDS).note


def test_huge_predictions_are_looked_at() -> None:
    """Where rounding may show in a gap, the M_j are found after all."""
    box = problem(1e6)
    solve(box, method=RCMD(), **ENDS)
    assert box.range_calls == 24


def test_a_description_asks_for_all() -> None:
    box = problem()
    assert "D_max" in box.describe()
    assert box.range_calls == 24


def test_reading_one_constant_finds_no_other() -> None:
    box = problem()
    constants = box.constants(3)
    assert (constants.blocks, constants.gamma, constants.spectral_energy) == (4, 0.25, None)
    assert (constants.start_gap, BlackBox.calls) == (None, 0)  # bounds of strongly convex R read it
    assert constants.prediction_bound == pytest.approx(abs(X).sum(axis=1).max())
    with pytest.raises(AttributeError, match="has no attribute 'sigmas'"):
        constants.sigmas  # noqa: B018


@pytest.mark.parametrize("method", [RCMD(), None])
def test_a_problem_is_freed_with_its_last_user(method: Any) -> None:
    """Without waiting for the garbage collector: the data of the next one take its place."""
    small = Problem(X, Y, "logistic", L1Ball(1.0))
    solve(small, method=method, **ENDS)
    constants, alive = small.constants(), weakref.ref(small)
    assert constants.spectral_energy is None
    assert "spectral_energy" in vars(small.constants())
    gc.disable()
    try:
        del small, constants
        assert alive() is None
    finally:
        gc.enable()

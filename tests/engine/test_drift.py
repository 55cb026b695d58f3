"""Rounding piles up in running sums, unless they are computed anew now and then."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import ConjugateProx, L1Ball, LeastSquares, Problem, Ridge
from rcmd.engine import compiled
from rcmd.engine.base import next_refresh
from rcmd.engine.compiled import CompiledEngine, CoordinateLoop
from rcmd.engine.kernels.coordinatewise import MASS
from rcmd.engine.reference import ReferenceEngine
from rcmd.engine.sampling import UniformSampler
from rcmd.model.schedules import default_schedule

N, P, PASSES = 10, 600, 16000
ALLOWED = 1e-12
"""A hundredth of what is promised for 10⁹ updates: these runs take 3·10⁶."""


def stressed(oracle: Any) -> CompiledEngine:
    """A run at whose end d is a 16th (l1 ball) or 10⁻⁶ (ridge) of what it was at the start.

    It ends just before a refresh, where the drift is largest.
    """
    rng = np.random.default_rng(0)
    X = sp.csr_array(rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.03))
    problem = Problem(X, rng.standard_normal(N), LeastSquares(), oracle)
    schedule = default_schedule(problem.constants(1))
    engine = CompiledEngine(problem, schedule, UniformSampler(N, 1, rng), ConjugateProx())
    start = abs(engine.d).max()
    engine.advance(PASSES * N - 1)
    assert bool(abs(engine.d).max() < start / 10)
    return engine


def drift(engine: CompiledEngine) -> float:
    """The largest relative error of a running sum: d, and ‖d‖² where that is kept."""
    exact = engine.problem.gradient(engine.w)
    errors = [abs(engine.d - exact).max() / abs(exact).max()]
    if isinstance(engine._loop, CoordinateLoop):
        mass = engine._loop.running[MASS]
        errors.append(abs(mass - exact @ exact) / (exact @ exact))
    return float(max(errors))


def test_when_sums_are_computed_anew() -> None:
    """After 1, 2, 4, 8 and 16 passes and every 16 from then on, at the first step beyond."""
    for n, batch, wanted in (
        (10, 1, [10, 20, 40, 80, 160, 320, 480]),
        (10, 3, [4, 7, 14, 27, 54, 108, 162]),
        (5, 5, [1, 2, 4, 8, 16, 32, 48]),
    ):
        found = [0]
        for _ in wanted:
            found.append(next_refresh(found[-1], n, batch))
        assert found[1:] == wanted
        assert all(next_refresh(at - 1, n, batch) == at for at in wanted)


@pytest.mark.parametrize("kind", [ReferenceEngine, CompiledEngine])
@pytest.mark.parametrize("oracle", [L1Ball(1.0), Ridge(0.1, 1.0)], ids=["vertex", "ridge"])
def test_an_error_of_d_lasts_until_the_next_refresh(kind: Any, oracle: Any) -> None:
    rng = np.random.default_rng(0)
    problem = Problem(rng.standard_normal((N, 4)), np.ones(N), LeastSquares(), oracle)
    schedule = default_schedule(problem.constants(1))
    engine = kind(problem, schedule, UniformSampler(N, 1, rng), ConjugateProx())
    for at in (N, 2 * N, 4 * N):
        engine.d[2] += 1e-6
        engine.advance(at - 1 - engine.iteration)
        assert abs(engine.d - problem.gradient(engine.w)).max() == pytest.approx(1e-6)
        engine.advance(1)
        np.testing.assert_allclose(engine.d, problem.gradient(engine.w), rtol=0, atol=1e-15)


@pytest.mark.parametrize("oracle", [L1Ball(1e3), Ridge(1e-6, 1e4)], ids=["vertex", "ridge"])
def test_refreshes_keep_the_drift_small(oracle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = drift(stressed(oracle))
    assert kept < ALLOWED
    monkeypatch.setattr(compiled, "next_refresh", lambda *_: 2**62)  # the planted fault
    left_alone = drift(stressed(oracle))
    assert left_alone > ALLOWED
    assert left_alone > 100 * kept

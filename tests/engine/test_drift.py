"""Rounding piles up in running sums, unless they are computed anew now and then."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import L1Ball, LeastSquares, Problem, Ridge
from rcmd.engine import compiled
from rcmd.engine.compiled import CompiledEngine, CoordinateLoop
from rcmd.engine.kernels.coordinatewise import MASS
from rcmd.engine.sampling import UniformSampler
from rcmd.model.prox import ConjugateProx
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


@pytest.mark.parametrize("oracle", [L1Ball(1e3), Ridge(1e-6, 1e4)], ids=["vertex", "ridge"])
def test_refreshes_keep_the_drift_small(oracle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = drift(stressed(oracle))
    assert kept < ALLOWED
    monkeypatch.setattr(compiled, "next_refresh", lambda *_: 2**62)  # the planted fault
    left_alone = drift(stressed(oracle))
    assert left_alone > ALLOWED
    assert left_alone > 100 * kept

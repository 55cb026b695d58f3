"""Rounding piles up in running sums, unless they are computed anew now and then."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from rcmd import L1Ball, LeastSquares, Problem, Ridge
from rcmd.engine import compiled
from rcmd.engine.compiled import CompiledEngine
from rcmd.engine.refreshing import next_refresh
from rcmd.engine.sampling import UniformSampler
from rcmd.prox import ConjugateProx
from rcmd.schedules import SublinearSchedule

N, P = 50, 700


def stressed(oracle: Any) -> Problem:
    """Labels of very different sizes: d starts large, then shrinks by a factor of 10⁸."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.05)
    y = X @ (rng.standard_normal(P) * 1e-4)
    y[0] = 1e4
    X[0] = 0.0
    X[0, :20] = 1.0
    return Problem(sp.csr_array(X), y, LeastSquares(), oracle)


class Ending(SublinearSchedule):
    """Steps that take s all the way to the prediction, so that every d is a fresh sum."""

    def step(self, i: Any) -> Any:
        return 1.0 + 0.0 * i


def drift(engine: CompiledEngine) -> float:
    """How far the running d is from Xᵀw/n, relative to the largest entry."""
    exact = engine.problem.gradient(engine.w)
    return float(abs(engine.d - exact).max() / abs(exact).max())


def never(iteration: int, n: int, batch: int) -> int:
    return 2**62


def run(oracle: Any, passes: int) -> CompiledEngine:
    problem = stressed(oracle)
    sampler = UniformSampler(N, 1, np.random.default_rng(0))
    engine = CompiledEngine(problem, SublinearSchedule(float(N)), sampler, ConjugateProx())
    engine.advance(passes * N - 1)  # just before a refresh, where the drift is largest
    return engine


@pytest.mark.parametrize("oracle", [L1Ball(1e4), Ridge(0.01, 1e4)], ids=["vertex", "ridge"])
def test_drift_stays_small_with_refreshes(oracle: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = drift(run(oracle, 2000))
    monkeypatch.setattr(compiled, "next_refresh", never)
    planted = run(oracle, 2000)
    assert planted._refresh_at == 2**62
    left_alone = drift(planted)
    print(kept, left_alone)
    assert kept < 1e-10
    assert kept < left_alone / 3

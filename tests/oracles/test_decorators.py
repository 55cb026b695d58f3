"""Oracles around oracles: scaled, side by side, counted, lazy."""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from oracle_cases import AROUND
from small_problems import regression as data

from rcmd import (
    RCMD,
    Box,
    Caching,
    Corrected,
    Counting,
    DenseAtom,
    L1Ball,
    L1Penalty,
    L2Ball,
    LeastSquares,
    LinearMinOracle,
    Logistic,
    NuclearBall,
    Problem,
    Product,
    Ridge,
    SampleLosses,
    Scaled,
    Simplex,
    SparseAtom,
    Translated,
    iterate,
    solve,
    truth,
)
from rcmd.engine.compiled import rule_of
from rcmd.oracles.base import VertexRule
from rcmd.rows import as_rows

F = Fraction


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("name", AROUND)
def test_prediction_ranges_are_the_oracles_own(name: str, layout: Any) -> None:
    oracle, p = AROUND[name]
    X, y = data(p)
    rows = as_rows(layout(X))
    bound = oracle.bind(rows, SampleLosses(LeastSquares(), y))
    low, high = bound.prediction_range(rows)
    for j, x in enumerate(X):
        far = [x @ bound.argmin(sign * 1e9 * x).dense(x) for sign in (1.0, -1.0)]
        if x.any():
            assert low[j] == pytest.approx(far[0], rel=1e-6, abs=1e-6)
            assert high[j] == pytest.approx(far[1], rel=1e-6, abs=1e-6)


# ---- products -----------------------------------------------------------------------------------


def test_sparse_atoms_stay_sparse() -> None:
    c = np.array([1.0, -3.0, 5.0, 4.0, 6.0])
    sparse = Product((L1Ball(2.0), Simplex(1.0)), (2, 3))
    assert sparse.argmin(c) == SparseAtom((1, 3), (2.0, 1.0))
    mixed = Product((L1Ball(2.0), Box(-1.0, 1.0)), (2, 3)).argmin(c)
    assert isinstance(mixed, DenseAtom)
    assert mixed.vector.tolist() == [0.0, 2.0, -1.0, -1.0, -1.0]


def test_products_sum_their_parts() -> None:
    parts = (Ridge(0.3, 2.0), L1Penalty(0.2, 3.0))
    product, rng = Product(parts, (2, 3)), np.random.default_rng(0)
    for beta, c in rng.standard_normal((20, 2, 5)):
        for name in ("minimum", "penalty"):
            total = sum(getattr(o, name)(b) for o, b in zip(parts, (c[:2], c[2:]), strict=True))
            assert getattr(product, name)(c) == total
        gap = parts[0].fenchel_young(beta[:2], c[:2]) + parts[1].fenchel_young(beta[2:], c[2:])
        assert product.fenchel_young(beta, c) == gap
    assert product.mu == 0
    assert not product.indicator
    assert product.value(np.array([9.0, 0, 0, 0, 0])) == math.inf
    for place in range(5):
        assert product.value(np.where(np.arange(5) == place, np.nan, 0)) == math.inf
    wanted = "[½·0.3·‖β‖₂² on ‖β‖₂ ≤ 2](β[0:2]) + [0.2·‖β‖₁ on ‖β‖₁ ≤ 3](β[2:5])"
    assert product.describe() == wanted


def test_products_are_what_all_their_parts_are() -> None:
    ball, rough, penalty = L1Ball(1.0), NuclearBall((1, 2), 1.0), Ridge(1.0, 1.0)
    for parts in ((ball, ball), (ball, rough), (rough, ball), (penalty, ball), (ball, penalty)):
        product = Product(parts, (2, 2))
        assert product.exact_atoms == (rough not in parts)
        assert product.indicator == (penalty not in parts)


def test_strong_convexity_survives_where_every_part_has_it() -> None:
    assert Product((Ridge(0.3), Ridge(0.8)), (1, 1)).mu == 0.3
    assert Scaled(Ridge(0.8), 2.0).mu == pytest.approx(0.2)


def free_optimum(X: Any, y: Any, loss: Any, sizes: tuple[int, int], moved: bool) -> np.ndarray:
    """The optimum of a ridge beside a far simplex or a shifted ridge, without any ball."""
    import cvxpy as cp

    first, second = cp.Variable(sizes[0]), cp.Variable(sizes[1])
    predictions = X[:, : sizes[0]] @ first + X[:, sizes[0] :] @ second
    inside = [] if moved else [second >= 0, cp.sum(second) == 20.0]
    penalty = 0.05 * cp.sum_squares(first) + (0.3 * cp.sum_squares(second - 9.0) if moved else 0)
    fit = cp.sum(loss.cvxpy_form(predictions, y)) / len(y)
    cp.Problem(cp.Minimize(fit + penalty), inside).solve(solver=cp.CLARABEL)
    return np.asarray(first.value)


@pytest.mark.parametrize("loss", [LeastSquares(), Logistic()], ids=repr)
@pytest.mark.parametrize("moved", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_open_radii_cut_off_no_optimum(loss: Any, moved: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 4))
    y = np.sign(rng.standard_normal(12))
    beside = Translated(Ridge(0.6), np.full(2, 9.0)) if moved else Simplex(20.0)
    problem = Problem(X, y, loss, Product((Ridge(0.1), beside), (2, 2)))
    optimum = free_optimum(X, y, loss, (2, 2), moved)
    assert np.linalg.norm(optimum) <= problem.oracle.oracles[0].radius


class Independent(Product):
    """Binds every part as if it were alone."""

    def bind(self, rows: Any, losses: Any, offset: Any = None) -> Any:
        from rcmd.rows.layouts import cut

        parts = zip(self.oracles, self.ends, strict=True)
        return replace(self, oracles=tuple(o.bind(cut(rows, *e), losses) for o, e in parts))


def test_parts_bound_alone_would_cut_the_optimum_off() -> None:
    X, y = np.array([[1.0, 1.0]]), np.array([0.5])
    # β₂ = 20 pulls β₁ to (0.5 − 20)/(1 + 0.1); alone, β₁ would stay below 5.
    oracles = (Ridge(0.1), Translated(L1Ball(1e-9), [20.0]))
    optimum = 19.5 / 1.1
    assert (
        Problem(X, y, LeastSquares(), Product(oracles, (1, 1))).oracle.oracles[0].radius > optimum
    )
    parts = X, y, LeastSquares(), Independent(oracles, (1, 1))
    alone = Problem(*parts, verify=False).oracle.oracles[0].radius
    assert alone < optimum


@pytest.mark.parametrize(
    "make",
    [
        lambda: Product((L1Ball(F(1)), Simplex(F(1, 2))), (1, 2)),
        lambda: Product((L1Ball(1), L1Penalty(F(1, 7))), (1, 2)),
        lambda: Product((Ridge(F(1, 7)), Simplex(2)), (1, 2)),
        lambda: Scaled(Simplex(F(1, 2)), F(3)),
        lambda: Scaled(L1Penalty(F(1, 7)), 3),
        lambda: Counting(L1Ball(F(1))),
        lambda: Caching(L1Ball(F(1)), F(1, 10)),
    ],
)
def test_runs_in_fractions(make: Any) -> None:
    X = np.array([[F(1), F(2), F(0)], [F(1, 3), F(0), F(-1)]], dtype=object)
    problem = Problem(X, [F(1), F(-2)], LeastSquares(), make())
    result = solve(problem, batch=1, tol=0, max_iterations=6)
    assert all(isinstance(entry, Fraction) for entry in result.beta)
    assert result.gap == result.primal - result.dual >= 0


def test_floats_inside_a_product_are_refused_beside_fractions() -> None:
    X = np.array([[F(1), F(2)]], dtype=object)
    with pytest.raises(ValueError, match=r"radius of L1Ball is the float 1\.0 while X holds frac"):
        Problem(X, [F(1)], LeastSquares(), Product((L1Ball(1.0), L1Ball(F(1))), (1, 1)))


# ---- scaled: the same problem in other units ----------------------------------------------------


@pytest.mark.parametrize("oracle", [Ridge(0.3), L1Penalty(0.2), L1Ball(1.0), Box(-0.2, 0.5)])
def test_scaling_the_set_is_scaling_the_data(oracle: LinearMinOracle) -> None:
    X, y = data(3)
    scaled = Problem(X, y, LeastSquares(), Scaled(oracle, 4.0))
    plain = Problem(4.0 * X, y, LeastSquares(), oracle)
    if not oracle.indicator:
        assert scaled.oracle.oracle.radius == pytest.approx(plain.oracle.radius, rel=1e-12)
    runs = [solve(p, batch=4, tol=0.0, max_iterations=50, seed=1) for p in (scaled, plain)]
    np.testing.assert_allclose(runs[0].beta, 4.0 * runs[1].beta, rtol=1e-9)
    assert runs[0].gap == pytest.approx(runs[1].gap, rel=1e-9)


def test_a_scaled_vertex_rule_is_fused_and_right() -> None:
    rules = [
        rule_of(Scaled(oracle, 3.0).blocks(4)[0])
        for oracle in (L1Ball(2.0), L1Penalty(0.75, 2.0), L2Ball(2.0))
    ]
    assert rules == [VertexRule(6.0), VertexRule(6.0, threshold=0.25), None]
    X, y = data(4)
    problem = Problem(X, y, LeastSquares(), Scaled(L1Penalty(0.1, 2.0), 3.0))
    engines: list[Any] = ["compiled", "reference"]
    runs = [
        solve(problem, tol=0.0, max_iterations=60, method=Corrected(RCMD(engine=engine)))
        for engine in engines
    ]
    np.testing.assert_allclose(runs[0].beta, runs[1].beta, rtol=1e-10)


# ---- counting -----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_every_step_is_counted_once(engine: Any) -> None:
    counted = Counting(L1Ball(1.0))
    X, y = data(3)
    problem = Problem(X, y, LeastSquares(), counted)
    counted.argmin(np.ones(3))
    for _ in range(2):
        solve(
            problem,
            tol=0.0,
            max_iterations=17,
            method=Corrected(RCMD(engine=engine)),
            record_at=[17],
        )
        assert counted.calls["argmin"] == 17
        assert counted.calls["fenchel_young"] == 1
        assert counted.calls["minimum"] == 3


# ---- lazy oracles -------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", [L1Ball(2.0), Simplex(1.5), Box(-1.0, 2.0), L1Penalty(0.3, 2.0)])
def test_lazy_atoms_are_as_good_as_promised(inner: LinearMinOracle) -> None:
    rng = np.random.default_rng(0)
    counted = Counting(inner)
    lazy = Caching(counted, 0.05)
    # Costs near those where a better atom takes over.
    c, worst = 1.0 * (not isinstance(inner, Box)) + 0.01 * rng.standard_normal(6), 0.0
    for _ in range(3000):
        c = c + 0.002 * rng.standard_normal(6)
        beta = lazy.argmin(c).dense(c)
        worst = max(worst, c @ beta + inner.penalty(beta) - inner.minimum(c))
        assert lazy.minimum(c) == inner.minimum(c)
        assert lazy.fenchel_young(beta, c) == inner.fenchel_young(beta, c)
    assert 0 < worst <= 0.05 + 1e-12
    assert counted.calls["argmin"] < 1500


def test_a_lazy_oracle_is_as_lazy_as_it_may_be() -> None:
    # After c = 0 the bound is the minimum: the atom of c = 0 is 2c from the best one at c > 0.
    for c, called in ((0.0499, 1), (0.0501, 2)):
        counted = Counting(Box(-1.0, 1.0))
        lazy = Caching(counted, 0.1)
        for costs in (0.0, c):
            atom = lazy.argmin(np.array([costs]))
        assert counted.calls["argmin"] == called
        assert atom.vector.tolist() == [1.0 if called == 1 else -1.0]


def test_the_memory_is_needed_and_forgotten() -> None:
    counted = Counting(L1Ball(1.0))
    lazy = Caching(counted, 0.1, size=2)
    c = np.array([1.0, 0.5])
    for _ in range(3):
        lazy.argmin(c)
    assert counted.calls["argmin"] == 1
    lazy.reset()
    lazy.argmin(c)
    assert counted.calls["argmin"] == 1  # counted anew
    assert lazy.describe() == L1Ball(1.0).describe()


def test_lazy_runs_repeat_and_are_certified() -> None:
    X, y = data(6, 40)
    exact = Problem(X, y, LeastSquares(), L1Ball(1.0))
    counted = Counting(L1Ball(1.0))
    lazy = Problem(X, y, LeastSquares(), Caching(counted, 1e-2))

    def run() -> tuple[list[float], float]:
        run = iterate(lazy, batch=4, tol=0.0, max_iterations=2000, record_at=[2000])
        (state,) = run
        return state.s.tolist(), float(state.gap)

    first = run()
    assert counted.calls["argmin"] < 1500
    assert run() == first
    optimum = truth.solve(exact).primal
    result = solve(lazy, batch=4, tol=0.0, max_iterations=2000)
    assert result.gap >= result.primal - optimum - 1e-9
    assert result.primal - optimum <= 2e-2

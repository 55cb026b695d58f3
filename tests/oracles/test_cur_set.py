"""The set of CUR factorizations by hand, against CVXPY, and whatever its solver says."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rcmd import BilinearRows, CurSet, DenseAtom, truth
from rcmd.oracles.cur import Splitting, bound, slack
from rcmd.oracles.linear_programmes import ARGMIN
from rcmd.rows import as_rows


def test_the_set_by_hand() -> None:
    c = np.array([[1.0, -4.0], [2.0, 3.0]])
    oracle = CurSet((2, 2), 1.0)
    # One entry gives 4; half on both diagonals gives (1 + 4 + 2 + 3)/2 = 5.
    assert oracle.minimum(c.ravel()) == pytest.approx(-5.0, rel=1e-14)
    np.testing.assert_allclose(oracle.argmin(c.ravel()).vector, [-0.5, 0.5, -0.5, -0.5])
    assert oracle.violation(np.array([0.5, 0.5, 0.5, 0.5])) == 0
    assert oracle.violation(np.array([1.0, 1.0, 0.0, 0.0])) == 1.0  # two columns of norm 1
    assert oracle.violation(np.array([1.0, 0.0, 1.0, 0.0])) == 1.0  # two rows of norm 1


# ---- the programme: |c_ij| split between its row and its column ---------------------------------


def matrix(seed: int, shape: tuple[int, int]) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal(shape) * (rng.random(shape) < 0.8)


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (5, 1), (3, 3), (4, 7)], ids=str)
def test_answers_and_bounds_meet_at_the_minimum(shape: tuple[int, int]) -> None:
    oracle = CurSet(shape, 0.7)
    for seed in range(8):
        c = matrix(seed, shape).ravel()
        beta, size = oracle.argmin(c).vector, max(abs(c).max(), 1.0)
        assert c @ beta == pytest.approx(truth.linear_minimum(oracle, c), abs=1e-7 * size)
        assert oracle.minimum(c) == pytest.approx(c @ beta, abs=1e-12 * size)
        assert 0 <= oracle.fenchel_young(beta, c) <= 1e-12 * size
        assert oracle.violation(beta) <= 1e-15


def test_levels_sum_to_one_and_the_share_stays_within_its_ends() -> None:
    splitting, c = Splitting(4, 7), 1e3 * matrix(3, (4, 7))
    levels, share = splitting.solve(c.ravel())
    assert (levels >= 0).all()
    np.testing.assert_allclose([levels[:4].sum(), levels[4:].sum()], 1.0, rtol=1e-14)
    assert (share >= 0).all()
    assert (share <= abs(c)).all()


def fractions(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    numbers = [Fraction(int(k), 7) for k in rng.integers(-9, 10, shape).ravel()]
    return np.array(numbers).reshape(shape)


@pytest.mark.parametrize("seed", range(10))
def test_the_slack_is_the_distance_from_the_bound_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    c, beta = fractions(rng, (3, 4)), fractions(rng, (3, 4))
    share = abs(c) * abs(fractions(rng, (3, 4))) * Fraction(7, 9)
    assert (share <= abs(c)).all()
    norms = abs(beta).max(axis=1).sum(), abs(beta).max(axis=0).sum()
    for radius in (max(norms), max(norms) + Fraction(1, 3)):
        exactly = (c * beta).sum() - bound(c, share, radius)
        assert slack(beta, c, share, radius) == exactly >= 0
        assert slack(-beta, c, share, radius) == -2 * (c * beta).sum() + exactly
        # No other share, point or radius passes for this one.
        assert slack(beta, c, abs(c) - share, radius) != exactly
        assert slack(abs(beta), c, share, radius) != exactly
        assert slack(beta, c, share, radius + 1) != exactly


def test_slacks_are_not_negative_beyond_the_set_either() -> None:
    c = matrix(0, (3, 4))
    share, beta = abs(c) / 3, -np.sign(c)
    assert (c * beta).sum() < bound(c, share, 1.0)
    assert slack(beta, c, share, 1.0) >= 0


# Both rows owe 1/2 and no column owes anything, as no a between 0 and |c| could have it.
LONE = np.array([[1.0, 0.0], [0.0, 0.0]])
BEYOND = np.array([[0.5, 0.0], [0.5, 0.0]])


def test_a_share_beyond_its_ends_would_prove_too_much() -> None:
    minimum = truth.linear_minimum(CurSet((2, 2), 1.0), LONE.ravel())
    assert minimum == pytest.approx(-1.0, abs=1e-7)
    assert bound(LONE, BEYOND, 1.0) == -0.5
    assert bound(LONE, np.clip(BEYOND, 0, abs(LONE)), 1.0) == -1.0


def careless(monkeypatch: pytest.MonkeyPatch, **wrong: Any) -> None:
    honest = Splitting._read

    def read(self: Splitting, found: Any) -> Any:
        parts = {name: getattr(found, name) for name in ("col_value", "row_value", "row_dual")}
        changed = {name: change(np.array(parts[name])).tolist() for name, change in wrong.items()}
        return honest(self, SimpleNamespace(**parts | changed))

    monkeypatch.setattr(Splitting, "_read", read)


def test_bounds_do_not_trust_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    careless(monkeypatch, col_value=lambda x: np.r_[BEYOND.ravel(), x[4:]])
    assert CurSet((2, 2), 1.0).minimum(LONE.ravel()) == -1.0
    rng = np.random.default_rng(0)
    oracle = CurSet((3, 4), 0.5)
    for seed in range(10):
        c = matrix(seed, (3, 4)).ravel()
        minimum, beta = truth.linear_minimum(oracle, c), oracle.argmin(c).vector
        with monkeypatch.context() as context:
            careless(context, col_value=lambda x: x + rng.standard_normal(len(x)))
            assert oracle.minimum(c) <= minimum + 1e-9
            assert oracle.fenchel_young(beta, c) >= c @ beta - minimum - 1e-9


def test_atoms_belong_whatever_the_solver_says(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, c = CurSet((3, 4), 0.5), matrix(0, (3, 4)).ravel()
    honest = oracle.argmin(c).vector
    careless(monkeypatch, row_dual=lambda y: 1.3 * y)
    levels = oracle.programme.vertex(c)
    assert levels[:3].sum() == pytest.approx(1.3)
    np.testing.assert_allclose(oracle.argmin(c).vector, honest, rtol=1e-14)
    careless(monkeypatch, row_dual=lambda y: y - np.random.default_rng(1).standard_normal(len(y)))
    other = oracle.argmin(c).vector
    assert oracle.violation(other) <= 1e-15
    assert c @ other > c @ honest + 1e-3


# ---- what a call leaves behind ------------------------------------------------------------------


class Warm(CurSet):
    """Ties go to the levels nearest to the last ones."""

    def argmin(self, c: Any) -> Any:
        t, u = np.split(self.programme.solve(c, ARGMIN)[0], [self.shape[0]])
        return DenseAtom(-np.sign(c) * np.minimum.outer(t, u).ravel())


def whole_costs() -> list[np.ndarray]:
    return list(np.random.default_rng(1).integers(-2, 3, (60, 12)).astype(float))


def answers(oracle: CurSet, costs: list[np.ndarray]) -> dict[Any, list[float]]:
    oracle.reset()
    return {tuple(c): np.round(oracle.argmin(c).vector, 12).tolist() for c in costs}


def test_ties_do_not_depend_on_earlier_calls() -> None:
    costs, oracle = whole_costs(), CurSet((3, 4), 1.0)
    first = answers(oracle, costs)
    assert answers(oracle, costs[::-1]) == first
    assert answers(Warm((3, 4), 1.0), costs[::-1]) != answers(Warm((3, 4), 1.0), costs)


def test_what_has_one_best_vertex_is_not_asked_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    oracle, asked, solve = CurSet((1, 3), 1.0), [], Splitting.solve
    monkeypatch.setattr(Splitting, "solve", lambda *a: asked.append(a) or solve(*a))
    for c in np.random.default_rng(0).standard_normal((20, 3)):
        oracle.argmin(c)
    assert len(asked) == 20
    oracle.argmin(np.ones(3))
    assert len(asked) == 22


@pytest.mark.parametrize("seed", range(3))
def test_prediction_ranges_are_safe_and_not_far(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = BilinearRows(rng.standard_normal((3, 4)), rng.standard_normal((2, 5)))
    oracle = CurSet((4, 5), 1.5)
    low, high = oracle.prediction_range(rows)
    dense = as_rows(np.array([rows.row(j) for j in range(rows.n)]))
    np.testing.assert_allclose(oracle.prediction_range(dense)[1], high, rtol=1e-13)
    exact = np.array([-oracle.minimum(-rows.row(j)) for j in range(rows.n)])
    assert (high >= exact * (1 - 1e-12)).all()
    assert (high <= 3 * exact).all()
    np.testing.assert_array_equal(low, -high)

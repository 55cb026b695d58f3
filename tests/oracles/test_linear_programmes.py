"""Linear programmes on HiGHS: warm calls against cold ones, and what a call leaves behind."""

from collections.abc import Callable

import numpy as np
import pytest

from rcmd import CurSet, Polytope
from rcmd.oracles.cur import Splitting, bound
from rcmd.oracles.linear_programmes import OnProgramme, Programme

KINDS = ["dense", "whole", "scaled", "redundant", "sparse"]


def random_programme(kind: str, seed: int) -> Programme:
    """Rows with one end, two, or equal ones; some variables are fixed; never empty."""
    rng = np.random.default_rng(seed)
    m, p = rng.integers(5, 20), rng.integers(3, 12)
    A, inside = rng.standard_normal((m, p)), rng.uniform(-1, 1, p)
    if kind == "whole":
        A, inside = np.round(A), np.round(inside)
    elif kind == "scaled":
        A = A * 10.0 ** rng.uniform(-3, 3, (m, 1)) * 10.0 ** rng.uniform(-2, 2, p)
    elif kind == "redundant":
        A = np.vstack([A, A[: m // 2]])
    elif kind == "sparse":
        A = A * (rng.random(A.shape) < 0.3)
    room = abs(A).sum(axis=1) * rng.choice([0.0, 0.3, 1.0], len(A), p=[0.1, 0.5, 0.4])
    low = np.where(rng.random(len(A)) < 0.5, -np.inf, A @ inside - room)
    high = np.where(rng.random(len(A)) < 0.3, np.inf, A @ inside + room)
    lower, upper = np.full(p, -2.0), np.full(p, 2.0)
    fixed = rng.random(p) < 0.1
    lower[fixed] = upper[fixed] = inside[fixed]
    return Programme(A, low, high, lower, upper)


def walk(kind: str, seed: int, p: int, count: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if kind == "whole":
        return rng.integers(-3, 4, (count, p)).astype(float)
    steps = rng.standard_normal((count, p)) * rng.choice([0.05, 0.5], (count, 1))
    return rng.standard_normal(p) + np.cumsum(steps, axis=0)


def programme_faults(kind: str, seed: int) -> list[str]:
    """In what calls from the last basis differ from those from none."""
    warm, cold = random_programme(kind, seed), random_programme(kind, seed)
    faults, warmly, coldly = [], 0, 0
    for c in walk(kind, seed, len(warm.lower)):
        cold.load_state(None)
        best = cold.solve(c)[0]
        x, y = warm.solve(c)
        warmly, coldly = warmly + warm._iterations, coldly + cold._iterations
        size = abs(c * warm.reach).sum()
        if abs(c @ x - c @ best) > 1e-9 * size or warm.violation(x) > 1e-9:
            faults.append("vertex")
        if warm.slack(c, y, x) > 1e-9 * size:
            faults.append("multipliers")
        if abs(warm.vertex(c) - best).max() > 1e-8 * warm.reach.max():
            faults.append("tie")
    return faults if warmly < coldly else [*faults, "not warm"]


def splitting_faults(kind: str, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    shape = height, width = tuple(rng.integers(2, 8, 2).tolist())
    warm, cold = Splitting(*shape), Splitting(*shape)
    faults, warmly, coldly = [], 0, 0
    for c in walk(kind, seed, height * width):
        cold.load_state(None)
        best, C, size = cold.solve(c)[0], c.reshape(shape), abs(c).max()
        levels, share = warm.solve(c)
        warmly, coldly = warmly + warm._iterations, coldly + cold._iterations
        value = -(abs(C) * np.minimum.outer(levels[:height], levels[height:])).sum()
        if abs(levels[:height].sum() - 1) + abs(levels[height:].sum() - 1) > 1e-12:
            faults.append("levels")
        if abs(value - bound(C, share, 1.0)) > 1e-12 * size:
            faults.append("share")
        if abs(warm.vertex(c) - best).max() > 1e-9:
            faults.append("tie")
    return faults if warmly < coldly else [*faults, "not warm"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_warm_programmes_are_those_from_no_start(kind: str, seed: int) -> None:
    assert programme_faults(kind, seed) == []


@pytest.mark.parametrize("kind", ["dense", "whole"])
@pytest.mark.parametrize("seed", range(2))
def test_warm_splittings_are_those_from_no_start(kind: str, seed: int) -> None:
    assert splitting_faults(kind, seed) == []


# Each point of an edge is best for the first cost. The equation β₃ = 0 is there twice.
EDGE, TWICE = np.array([1.0, 0.0, 0.0]), np.array([[0.0, 0, 1], [0, 0, 1]])


def after(before: float) -> list[float]:
    cube = Polytope([[1.0, 1, 1]], [9.0], TWICE, [0.0, 0.0], lower=0.0, upper=1.0)
    cube.argmin(np.array([1.0, before, 0.0]))
    return cube.argmin(EDGE).vector.tolist()


def counted(self: Programme) -> bool:
    """All equations settle something, even if others imply them."""
    settled = (abs(np.concatenate(self._prices)) > 1e-10) | self._equal
    return bool(settled.sum() < len(self.lower))


def test_implied_equations_settle_no_tie(monkeypatch: pytest.MonkeyPatch) -> None:
    assert after(1.0) == after(-1.0)
    monkeypatch.setattr(Programme, "_tied", counted)
    assert after(1.0) != after(-1.0)


# ---- what a call leaves behind ------------------------------------------------------------------


def polytope() -> Polytope:
    rng = np.random.default_rng(5)
    return Polytope(rng.standard_normal((25, 12)), np.ones(25), lower=-3.0, upper=3.0)


ORACLES: dict[str, tuple[Callable[[], OnProgramme], int]] = {
    "polytope": (polytope, 12),
    "cur": (lambda: CurSet((5, 6), 0.3), 30),
}


@pytest.mark.parametrize("name", ORACLES)
def test_a_call_that_needs_no_pivots_makes_none(name: str) -> None:
    make, p = ORACLES[name]
    oracle, c = make(), np.random.default_rng(0).standard_normal(p)
    oracle.argmin(c)
    cold = oracle.programme._iterations
    atoms = {oracle.argmin(c).dense(c).tobytes() for _ in range(40)}
    assert len(atoms) == 1
    assert oracle.programme._iterations == 0
    oracle.reset()
    assert oracle.state() == {}
    oracle.argmin(c)
    assert oracle.programme._iterations == cold > 0


@pytest.mark.parametrize("name", ORACLES)
def test_costs_that_are_no_numbers_leave_no_trace(name: str) -> None:
    make, p = ORACLES[name]
    oracle, costs = make(), np.random.default_rng(0).standard_normal((4, p))
    expected = [make().argmin(c).dense(c) for c in costs]
    for c, atom in zip(costs, expected, strict=True):
        np.testing.assert_allclose(oracle.argmin(c).dense(c), atom, atol=1e-9)
        with np.errstate(invalid="ignore"):
            assert np.isnan(oracle.minimum(np.where(c == c[2], np.nan, c)))
            oracle.argmin(np.where(c == c[2], np.nan, c))

"""Small linear programmes by pivots on dense arrays: against HiGHS, and against planted bugs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rcmd import LeastSquares, Polytope, Problem, cur, truth
from rcmd.oracles import dense_basis, programme, splitting
from rcmd.oracles.cur import CurSet
from rcmd.oracles.dense_basis import AT_LOWER, AT_UPPER, BASIC, DenseBasis, Solution, complete
from rcmd.oracles.dual_inverse import DualInverse
from rcmd.oracles.kept_model import FRESH_AFTER, KeptModel, OnProgramme
from rcmd.oracles.primal_table import PrimalTable
from rcmd.oracles.programme import Programme
from rcmd.oracles.splitting import Splitting

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
    """In what warm calls differ from those of HiGHS from no start."""
    warm, cold = random_programme(kind, seed), random_programme(kind, seed)
    faults, dense, pivots = [], 0, 0
    for c in walk(kind, seed, len(warm.lower)):
        cold.forget()
        best = cold.solve(c)[0]
        x, y = warm.solve(c)
        dense += isinstance(warm._model, DenseBasis)
        pivots += warm.pivots
        size = abs(c * warm.reach).sum()
        if abs(c @ x - c @ best) > 1e-9 * size or warm.violation(x) > 1e-9:
            faults.append("vertex")
        if warm.slack(c, y, x) > 1e-9 * size:
            faults.append("multipliers")
        if abs(warm.vertex(c) - best).max() > 1e-8 * warm.reach.max():
            faults.append("tie")
    assert pivots > 0
    return faults if dense > 30 else [*faults, "not dense"]


def splitting_faults(kind: str, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    shape = height, width = tuple(rng.integers(2, 8, 2).tolist())
    warm, cold = Splitting(*shape), Splitting(*shape)
    faults, dense, pivots = [], 0, 0
    for c in walk(kind, seed, height * width):
        cold.forget()
        best, C, size = cold.solve(c)[0], c.reshape(shape), abs(c).max()
        levels, share = warm.solve(c)
        dense += isinstance(warm._model, DenseBasis)
        pivots += warm.pivots
        value = -(abs(C) * np.minimum.outer(levels[:height], levels[height:])).sum()
        if abs(levels[:height].sum() - 1) + abs(levels[height:].sum() - 1) > 1e-12:
            faults.append("levels")
        if abs(value - splitting.bound(C, share, 1.0)) > 1e-12 * size:
            faults.append("share")
        if abs(warm.vertex(c) - best).max() > 1e-9:
            faults.append("tie")
    assert pivots > 0
    return faults if dense > 30 else [*faults, "not dense"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_warm_programmes_are_those_of_highs(kind: str, seed: int) -> None:
    assert programme_faults(kind, seed) == []


@pytest.mark.parametrize("kind", ["dense", "whole"])
@pytest.mark.parametrize("seed", range(4))
def test_warm_splittings_are_those_of_highs(kind: str, seed: int) -> None:
    assert splitting_faults(kind, seed) == []


@pytest.mark.parametrize("kind", KINDS)
def test_few_pivots_and_then_highs(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[Any] = []
    hand_over = KeptModel._hand_over
    monkeypatch.setattr(dense_basis, "PATIENCE", 2)
    monkeypatch.setattr(
        KeptModel, "_hand_over", lambda self, basis: given.append(basis) or hand_over(self, basis)
    )
    for faults in (programme_faults(kind, 0), splitting_faults("dense", 0)):
        assert set(faults) <= {"not dense"}
    assert len(given) > 10


# ---- planted bugs -------------------------------------------------------------------------------


class SignBlind(PrimalTable):
    """Prices of upper ends pass for those of lower ones."""

    def _pivot(self, limit: int) -> tuple[int, bool]:
        found = super()._pivot(limit)
        self._prices = abs(self._prices)
        return found


class Shifted(PrimalTable):
    """A table that is a little wrong."""

    def _factor(self, basic: Any) -> None:
        super()._factor(basic)
        self._table *= 1 + 1e-5


class ShiftedInverse(DualInverse):
    def _factor(self, basic: Any) -> None:
        super()._factor(basic)
        self._inverse *= 1 + 1e-5


def stay(self: Any, limit: int) -> tuple[int, bool]:
    type(self)._once(self, 1)
    return 0, True


class LastPrimal(PrimalTable):
    _once, _pivot = PrimalTable._pivot, stay


class LastDual(DualInverse):
    _once, _pivot = DualInverse._pivot, stay


CHECKS: dict[Any, Callable[[str, int], list[str]]] = {
    **dict.fromkeys((SignBlind, Shifted, LastPrimal), programme_faults),
    **dict.fromkeys((ShiftedInverse, LastDual), splitting_faults),
}


def faults_of(planted: Any, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    monkeypatch.setattr(Programme, "pivoting", planted)
    monkeypatch.setattr(Splitting, "pivoting", planted)
    return {fault for seed in range(4) for fault in CHECKS[planted]("dense", seed)}


@pytest.mark.parametrize("planted", CHECKS)
def test_what_is_wrong_is_left_to_highs(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert faults_of(planted, monkeypatch) == {"not dense"}


@pytest.mark.parametrize("planted", CHECKS)
def test_what_is_wrong_would_show(planted: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dense_basis, "ACCURATE", np.inf)
    monkeypatch.setattr(DenseBasis, "_beyond", lambda self: 0.0)
    assert faults_of(planted, monkeypatch) - {"not dense"}


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


ORACLES: dict[str, tuple[Callable[[], OnProgramme[Any]], int]] = {
    "polytope": (polytope, 12),
    "cur": (lambda: CurSet((5, 6), 0.3), 30),
}


def goes_on(name: str, calls: int) -> bool:
    """Whether another oracle with the same memory gives the same bits."""
    make, p = ORACLES[name]
    costs = np.cumsum(np.random.default_rng(calls).standard_normal((calls + 40, p)), axis=0)
    oracle, again = make(), make()
    for c in costs[:calls]:
        oracle.argmin(c)
        oracle.minimum(c)
    again.remember(oracle.remembered())

    def onwards(other: OnProgramme[Any]) -> list[Any]:
        later = costs[calls:]
        return [(other.argmin(c).dense(c).tobytes(), other.minimum(c), other.pivots) for c in later]

    return onwards(again) == onwards(oracle)


CALLS = [0, 1, 2, FRESH_AFTER + 1, FRESH_AFTER + 20]


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("patience", [200, 3])
@pytest.mark.parametrize("calls", CALLS)
def test_another_model_goes_on_to_the_bit(
    name: str, patience: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dense_basis, "PATIENCE", patience)
    assert goes_on(name, calls)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("forgotten", [0, 1], ids=["basis", "costs"])
def test_a_memory_with_less_in_it_shows(
    name: str, forgotten: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = KeptModel.memory.fget
    assert whole is not None

    def partial(self: KeptModel) -> list[Any]:
        memory = whole(self)
        memory[forgotten] = [None, []][forgotten]
        return memory

    monkeypatch.setattr(KeptModel, "memory", property(partial))
    assert not all(goes_on(name, calls) for calls in CALLS)


@pytest.mark.parametrize("name", ORACLES)
def test_calls_without_pivots_leave_nothing_behind(name: str) -> None:
    make, p = ORACLES[name]
    oracle, c = make(), np.random.default_rng(0).standard_normal(p)
    oracle.argmin(c)
    atoms = {oracle.argmin(c).dense(c).tobytes() for _ in range(2 * FRESH_AFTER)}
    assert len(atoms) == 1
    assert oracle.pivots == 0
    basis, asked = oracle.remembered()[0]
    assert (len(basis), asked) == (2, [])
    oracle.restart()
    assert oracle.remembered() == [[None, []]] * 2


def test_large_programmes_stay_on_highs(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = []
    for largest in (25 * 12, 25 * 12 - 1):
        monkeypatch.setattr(programme, "LARGEST", largest)
        oracle = polytope()
        for c in np.random.default_rng(0).standard_normal((5, 12)):
            oracle.argmin(c)
        kinds.append(isinstance(oracle._answers._model, DenseBasis))
    assert kinds == [True, False]


def test_a_basis_is_complete_if_the_others_have_ends() -> None:
    form = None, None, (np.array([-np.inf, 0.0]), np.array([1.0, np.inf])), ([-np.inf], [5.0])
    assert complete(form, [[AT_UPPER, AT_LOWER], [BASIC]])
    assert complete(form, [[BASIC, AT_LOWER], [AT_UPPER]])
    for columns, row in (
        ([AT_LOWER, AT_LOWER], BASIC),
        ([AT_UPPER, AT_UPPER], BASIC),
        ([BASIC, AT_LOWER], AT_LOWER),
        ([AT_UPPER, 3], BASIC),  # HiGHS's name for a free variable at 0
    ):
        assert not complete(form, [columns, [row]])


# ---- certificates -------------------------------------------------------------------------------


def problems() -> list[Problem]:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((20, 12)), rng.standard_normal(20)
    return [
        Problem(X, y, LeastSquares(), polytope()),
        cur.problem(rng.standard_normal((5, 4)), 0.1),
    ]


@pytest.mark.parametrize("size", [1e-6, 1e-2, 10.0])
def test_careless_pivots_make_no_certificate_wrong(
    size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, rng = DenseBasis.getSolution, np.random.default_rng(0)

    def careless(self: DenseBasis) -> Any:
        parts = vars(honest(self)).values()
        return Solution(*(part + size * rng.standard_normal(len(part)) for part in parts))

    monkeypatch.setattr(dense_basis, "ACCURATE", np.inf)
    monkeypatch.setattr(DenseBasis, "getSolution", careless)
    for problem in problems():
        optimum, oracle = truth.solve(problem), problem.oracle
        slope, lower = problem.gradient(optimum.w), []
        lowest = truth.linear_minimum(oracle, slope)
        for _ in range(20):
            lower.append(oracle.minimum(slope))
            assert oracle.fenchel_young(optimum.beta, slope) >= 0
            assert problem.dual(optimum.w) <= optimum.primal + 1e-9
        assert max(lower) <= lowest + 1e-9
        assert min(lower) < lowest - 0.01 * size * abs(slope).max()


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


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("singular_from", [0, 1])
def test_a_singular_basis_is_left_to_highs(
    name: str, singular_from: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, p = ORACLES[name]
    costs = np.cumsum(np.random.default_rng(0).standard_normal((2 * FRESH_AFTER, p)), axis=0)
    expected = [make().argmin(c).dense(c) for c in costs]
    oracle, made = make(), []
    for kind in (PrimalTable, DualInverse):

        def factor(self: Any, basic: Any, honest: Any = kind._factor) -> None:
            made.append(self)
            if len(made) > singular_from:
                raise np.linalg.LinAlgError("Singular matrix")
            honest(self, basic)

        monkeypatch.setattr(kind, "_factor", factor)
    for c, atom in zip(costs, expected, strict=True):
        np.testing.assert_allclose(oracle.argmin(c).dense(c), atom, atol=1e-9)
    assert len(made) > singular_from

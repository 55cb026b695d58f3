"""Schedules against direct sums in fractions, the paper's printed formulas and mpmath."""

import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from rcmd.model.constants import Constants
from rcmd.model.schedules import (
    HeadStart,
    LinearSchedule,
    Schedule,
    SublinearSchedule,
    UnitStepSchedule,
    default_schedule,
)

F = Fraction
BLOCKS = [F(1), F(3, 2), F(2), F(7), F(100, 3)]
SIGMAS = [F(1), F(9, 8), F(2), F(31, 7)]
PAIRS = [(N, s) for N in BLOCKS for s in SIGMAS if N * s > 1]


def sublinear_weights(blocks: Fraction, count: int) -> list[Fraction]:
    return [2 * blocks + i for i in range(count)]


def geometric_weights(blocks: Fraction, sigma: Fraction, count: int) -> list[Fraction]:
    q = blocks * sigma / (blocks * sigma - 1)
    return [q**i for i in range(count)]


def check_sums(schedule: Schedule, weights: list[Fraction]) -> None:
    totals = [sum(weights[: i + 1]) for i in range(len(weights))]
    for i, (weight, total) in enumerate(zip(weights, totals, strict=True)):
        assert schedule.mixing(i) == weight / total, i
        for base in (0, 1, i // 2, i, len(weights) - 1):
            assert schedule.growth(i, base) == total / totals[base], (i, base)


@pytest.mark.parametrize("blocks", BLOCKS, ids=str)
def test_sublinear_sums(blocks: Fraction) -> None:
    check_sums(SublinearSchedule(blocks), sublinear_weights(blocks, 31))
    check_sums(HeadStart(blocks), [4 * blocks + i for i in range(31)])


@pytest.mark.parametrize(("blocks", "sigma"), PAIRS, ids=str)
def test_linear_sums(blocks: Fraction, sigma: Fraction) -> None:
    for kind in (LinearSchedule, UnitStepSchedule):
        check_sums(kind(blocks, sigma), geometric_weights(blocks, sigma, 31))


# ---- the printed formulas ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 17])
def test_printed_formulas(n: int) -> None:
    for i in range(40):
        assert SublinearSchedule(F(n)).mixing(i) == F(2 * (2 * n + i), (i + 1) * (4 * n + i))
        assert SublinearSchedule(F(n)).step(i) == F(2 * n, 2 * n + i + 1)
        assert HeadStart(F(n)).step(i) == SublinearSchedule(F(n)).step(i + 2 * n)
        for sigma in SIGMAS:
            printed = F(1, n) * sigma**i / (sigma ** (i + 1) - (sigma - F(1, n)) ** (i + 1))
            assert LinearSchedule(F(n), sigma).mixing(i) == printed
            assert LinearSchedule(F(n), sigma).step(i) == 1 / sigma


# ---- floats at large i -------------------------------------------------------------------------

FAR = [0, 1, 10, 1000, 10**6, 10**9]
FLOATS = [(1.0, 1.5), (1.5, 1.1), (50.0, 1.25), (1e4 / 3, 7.7), (1e6, 1.0), (1e9, 3.0)]


def exact_linear(blocks: float, sigma: float, i: int, base: int) -> tuple[Any, Any]:
    share = 1 / (mpmath.mpf(blocks) * mpmath.mpf(sigma))
    mixing = share / (1 - (1 - share) ** (i + 1))
    growth = ((1 - share) ** -(i + 1) - 1) / ((1 - share) ** -(base + 1) - 1)
    return mixing, growth


@pytest.mark.parametrize(("blocks", "sigma"), FLOATS)
def test_linear_floats(blocks: float, sigma: float) -> None:
    schedule = LinearSchedule(blocks, sigma)
    with mpmath.workdps(50):
        for i in FAR:
            for base in {0, max(i - 100, 0), i, i + 50}:
                mixing, growth = exact_linear(blocks, sigma, i, base)
                assert abs(schedule.mixing(i) / mixing - 1) <= 1e-12, i
                found = schedule.growth(i, base)
                if growth < mpmath.mpf(10) ** 300:
                    assert abs(found / growth - 1) <= 1e-12, (i, base)
                else:
                    assert found > 1e299


@pytest.mark.parametrize("kind", [SublinearSchedule, HeadStart])
@pytest.mark.parametrize("blocks", [1.0, 1.5, 1e4 / 3, 1e9])
def test_sublinear_floats(kind: type[SublinearSchedule], blocks: float) -> None:
    schedule, exact = kind(blocks), kind(F(blocks))
    for i in FAR:
        assert abs(F(schedule.mixing(i)) / exact.mixing(i) - 1) <= 1e-15 * 2
        assert abs(F(schedule.step(i)) / exact.step(i) - 1) <= 1e-15
        for base in (0, i // 2, i):
            assert abs(F(schedule.growth(i, base)) / exact.growth(i, base) - 1) <= 1e-15 * 2


def test_growth_beyond_the_number_range_is_infinite() -> None:
    schedule = LinearSchedule(2.0, 1.5)
    assert all(schedule.growth(i, 0) == math.inf for i in (1750, 1760, 1900, 10**9))
    assert schedule.growth(0, 10**9) == 0


# ---- Nσ = 1, and the choice of a schedule ------------------------------------------------------


@pytest.mark.parametrize("one", [1.0, F(1)])
def test_a_single_block_without_data_forgets_everything(one: Any) -> None:
    schedule = LinearSchedule(one, one)
    assert [schedule.mixing(i) for i in (0, 1, 10**9)] == [1, 1, 1]
    assert schedule.growth(5, 5) == 1
    assert schedule.growth(5, 4) == math.inf
    assert schedule.growth(4, 5) == 0


def constants(mu: Any) -> Constants:
    one = F(1)
    return Constants(4, 2, one, one, one, one, mu, F(3), F(6), True)


def test_default_schedule() -> None:
    assert default_schedule(constants(0)) == SublinearSchedule(F(2))
    # σ_b = 1 + (⅔·3 + ⅓·6)/(4·2) = 3/2.
    assert default_schedule(constants(F(2))) == LinearSchedule(F(2), F(3, 2))
    assert default_schedule(constants(F(2)), unit_steps=True) == UnitStepSchedule(F(2), F(3, 2))
    assert default_schedule(constants(F(2))) != UnitStepSchedule(F(2), F(3, 2))
    assert UnitStepSchedule(F(2), F(3, 2)).step(7) == 1
    kinds = [SublinearSchedule, HeadStart, LinearSchedule, UnitStepSchedule]
    assert [kind.theorem for kind in kinds] == ["sublinear", "head-start", "linear", "exact"]


@pytest.mark.parametrize(
    "schedule",
    [
        SublinearSchedule(3.5),
        HeadStart(3.5),
        LinearSchedule(3.5, 1.25),
        UnitStepSchedule(2.0, 1.5),
    ],
)
@pytest.mark.parametrize(("start", "base"), [(0, 0), (17, 5), (10**9, 10**9 - 3)])
def test_the_table_holds_the_same_numbers(schedule: Any, start: int, base: int) -> None:
    eta, weights, total = schedule.table(start, start + 20, base)
    for place, i in enumerate(range(start, start + 20)):
        growth = schedule.growth(i, base)
        assert eta[place] == pytest.approx(schedule.step(i), rel=1e-14)
        assert weights[place] == pytest.approx(schedule.mixing(i) * growth, rel=1e-13)
        assert total[place] == pytest.approx(growth, rel=1e-13)

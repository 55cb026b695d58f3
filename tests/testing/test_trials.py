"""Planted faults in user classes: all are drawn, and the judge sees what slips through."""

from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rcmd import Certificate, L1Ball, LeastSquares, Problem
from rcmd.cli.main import main
from rcmd.methods.rcmd import RCMDProgress
from rcmd.testing.fuzzing import Planted, first_finding, judge, random_cases, trials
from rcmd.testing.fuzzing.planted import Cube, Disc, HiddenCube, Rough, Squares
from rcmd.testing.fuzzing.trials import (
    IN_LOOPS,
    IN_LOSSES,
    IN_ORACLES,
    IN_ROWS,
    WAYS,
    random_planted,
)

X, Y = np.array([[1.0, 0.5], [-0.5, 1.0], [0.2, 2.0]]), np.array([3.0, -1.0, 2.0])
TWIN = Planted(X, Y, LeastSquares(), Cube(1.0), tol=1e-8, corrected=True)
HEURISTIC = replace(TWIN, oracle=Cube(1.0, fault="heuristic"), fault="heuristic", verify=False)


def kinds(case: Planted) -> list[str]:
    return [finding.kind for finding in judge(case).findings]


# ---- what is drawn -----------------------------------------------------------------------------


def test_every_fault_is_drawn_and_every_twin() -> None:
    cases = [random_planted(Random(k)) for k in range(600)]
    expected = {f"loss: {fault}" for fault in IN_LOSSES}
    expected |= {f"oracle: {fault}" for fault in IN_ORACLES}
    expected |= {f"row: {fault}" for fault in IN_ROWS} | {f"loop: {fault}" for fault in IN_LOOPS}
    expected |= {f"way: {broken}" for broken in WAYS.values() if broken} | {"rows: energy"}
    assert {case.fault for case in cases} == expected | {""}
    assert {case.way for case in cases} == {*WAYS, ""}
    twins = [case for case in cases if not case.fault]
    assert 100 < len(twins) < 350
    losses = {"Squares", "Rough", "RoughUnsaid", "SteepUnsaid", "str", "LeastSquares", "Huber"}
    losses |= {"RoughAt", "RoughMarked", "SaysQuadratic"}
    assert {"HiddenCube", "Shaped", "Ruled"} <= {type(case.oracle).__name__ for case in twins}
    assert {type(case.loss).__name__ for case in twins} == losses
    assert {case.verify for case in cases} == {True, False}
    sizes = [abs(case.X).max() for case in cases]
    assert min(sizes) < 1e-5
    assert max(sizes) > 1e5


def test_twins_of_losses_are_convex_with_their_gamma_and_faults_are_not() -> None:
    s = np.linspace(-30.0, 30.0, 20_001)
    for depth, ripple, convex in [
        (1.12, 0, True),
        (1.13, 0, False),
        (0, 1.0, True),
        (0, 1.01, False),
    ]:
        loss = Rough(1 + 2 * depth + ripple, depth, place=0.3, ripple=ripple)
        curvatures = np.gradient(np.vectorize(loss.derivative)(s, 0.1), s)[1:-1]
        assert (curvatures.min() >= -1e-6) == convex
        assert loss.gamma == pytest.approx(curvatures.max(), rel=1e-4)


OF_SIGHT = ("row: mark", "row: weight", "loop: shape", "loop: vertex rule", "rows: energy")


@pytest.mark.parametrize("fault", OF_SIGHT)
def test_what_one_row_a_loop_or_a_constant_hides_is_refused(fault: str) -> None:
    drawn = [random_planted(Random(k)) for k in range(300)]
    cases = [replace(case, verify=True) for case in drawn if case.fault == fault][:4]
    assert len(cases) == 4
    assert {judge(case).outcome for case in cases} == {"refused"}


def test_a_private_fault_is_seen_after_one_of_the_class_without_it() -> None:
    data = replace(TWIN, oracle=HiddenCube(1.0))
    assert judge(data).outcome == "twin solved"
    for fault in ("heuristic", "minimum", "outside"):
        hidden = replace(data, oracle=HiddenCube(1.0, 0.0, fault, 0.01), fault=fault)
        assert judge(hidden).outcome == "refused"


@pytest.mark.parametrize("way", ["Idle", "refilled", "SameMethod"])
def test_what_is_no_class_of_a_theorem_has_no_bound(
    monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    case = replace(TWIN, way=way, fault="planted", corrected=False)
    assert not kinds(case)
    monkeypatch.setattr(RCMDProgress, "bound", 1e9)
    assert "voided" in kinds(case)


def test_the_code_of_a_planted_case_makes_it_again() -> None:
    for case in map(random_planted, map(Random, range(60))):
        told: dict[str, Any] = {}
        exec(case.code().removesuffix("print(judge(case))"), told)
        assert told["case"].code() == case.code()


# ---- the judge ---------------------------------------------------------------------------------


def test_the_least_value_is_that_of_the_formula() -> None:
    for scale in (1e-6, 1.0, 1e6):
        case = replace(TWIN, X=scale * X, y=scale * Y, oracle=Cube(9.0))
        residual = np.linalg.lstsq(X, Y)[1][0]
        lowest = trials._lowest(case, np.zeros(2))
        assert lowest == pytest.approx(scale**2 * residual / 6, rel=1e-12)
    # On the boundary of each set: β₁ + β₂/2 = 3 is far outside.
    for oracle, best in [(Cube(1.0), 1.5), (Disc(1.0), np.sqrt(1.25)), (L1Ball(1.0), 1.0)]:
        one = replace(TWIN, X=X[:1], y=Y[:1], oracle=oracle)
        assert trials._lowest(one, np.zeros(2)) == pytest.approx((3 - best) ** 2 / 2, rel=1e-10)
    bump = Rough(2.0, depth=40.0, place=2.123, width=0.001)
    narrow = replace(TWIN, X=X[:1, :1], y=Y[:1], loss=bump, oracle=Cube(9.0))
    assert trials._lowest(narrow, np.zeros(1)) == pytest.approx(2.123**2 / 2 - 40, rel=1e-6)


def test_a_twin_is_solved_and_a_fault_refused() -> None:
    assert judge(TWIN).outcome == "twin solved"
    assert judge(TWIN).reached
    assert judge(replace(TWIN, loss=Squares(dual=0.9), fault="conjugate")).outcome == "refused"
    # The same refusal of what is called right is a finding.
    assert kinds(replace(TWIN, loss=Squares(dual=0.9)))[0].startswith("ValueError")


def test_a_wrong_certificate_is_seen_whatever_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = judge(HEURISTIC)
    assert verdict.outcome == "unchecked and wrong"
    assert not verdict.code
    assert kinds(replace(HEURISTIC, fault="")) == ["twin"]
    monkeypatch.setattr(Certificate, "ground", "proved")
    assert kinds(HEURISTIC) == ["proved"]
    assert "called proved; P(β) = " in judge(HEURISTIC).findings[0].text
    # A user class is never proved, even if its certificate is true; shipped ones are.
    assert kinds(replace(TWIN, fault="harmless")) == ["proved"]
    assert judge(replace(TWIN, oracle=L1Ball(1.0), fault="harmless")).outcome == "proved and true"


def test_a_certificate_is_judged_to_a_small_part_of_a_percent() -> None:
    def said(reach: float, gap: float, dual: float) -> str:
        beta = np.array([reach, reach])
        result = SimpleNamespace(beta=beta, gap=gap, dual=dual)
        return trials._contradiction(TWIN, result, lowest)

    lowest = trials._lowest(TWIN, np.zeros(2))
    gap = float(TWIN.values(np.ones((1, 2)))[0]) - lowest
    assert said(1, gap, lowest) == ""
    assert "is outside dom R" in said(1 + 1e-6, gap, lowest)
    assert "with a gap of" in said(1, gap * (1 - 1e-6), lowest)
    assert "D(w) = " in said(1, gap, lowest * (1 + 1e-6))


@pytest.mark.parametrize(("factor", "found"), [(0.99, ["bound"]), (1.01, [])])
def test_a_bound_one_per_cent_below_the_mean_gap_is_seen(
    monkeypatch: pytest.MonkeyPatch, factor: float, found: list[str]
) -> None:
    case = replace(TWIN, batch=3)  # every run is the same
    problem = case.problem()
    gaps, _ = trials._gaps(case, problem, trials._lowest(case, np.zeros(2)), range(1))
    steps = dict(zip(trials.CHECKPOINTS, gaps[0], strict=True))
    bound = property(lambda self: factor * steps.get(self.iteration, np.inf))
    monkeypatch.setattr(RCMDProgress, "bound", bound)
    assert kinds(case) == found


def test_a_bound_beside_a_class_that_voids_it_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = replace(TWIN, way="RowZero", fault="sampler", corrected=False)
    assert judge(rows).outcome == "sampled and true"
    assert not kinds(rows)
    monkeypatch.setattr(RCMDProgress, "bound", 1e9)
    assert kinds(rows) == ["voided"]


def test_nothing_is_found_in_the_first_planted_cases() -> None:
    cases = random_cases(planted=True).map(lambda case: replace(case, engine="reference"))
    assert first_finding(0, cases, 6) is None


def test_the_command_counts_outcomes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = replace(HEURISTIC, verify=True)
    monkeypatch.setattr(
        missed.__class__,
        "problem",
        lambda self: Problem(X, Y, LeastSquares(), HEURISTIC.oracle, verify=False),
    )
    monkeypatch.setattr("rcmd.testing.fuzzing.random_planted", lambda rng: missed)
    assert main(["fuzz", "--planted", "--seconds", "0.01"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "NOT SEEN by the sampled check" in told
    assert "Cube(radius=1.0" in told
    assert "1 unchecked and wrong" in told

"""The fuzzer: it draws everything that has a name, finds planted faults, and shrinks them."""

import json
import math
import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from rcmd import L1Ball, LeastSquares, Logistic, Result
from rcmd.cli import main
from rcmd.fuzzing import command, judging
from rcmd.fuzzing.cases import LAYOUTS, Case, random_case
from rcmd.fuzzing.command import numbered_case
from rcmd.fuzzing.judging import Finding, Verdict, judge
from rcmd.fuzzing.parts import LOSS_NUMBERS, MAKERS
from rcmd.fuzzing.shrinking import shrink
from rcmd.oracles.atoms import SparseAtom
from rcmd.oracles.base import VertexRule
from rcmd.specs import LOSSES, ORACLES

# ---- what is drawn -----------------------------------------------------------------------------


def test_every_named_part_is_drawn() -> None:
    assert set(MAKERS) == set(ORACLES)
    assert {name for form in LOSSES.values() for name in form.parameters} <= set(LOSS_NUMBERS)
    cases = [numbered_case(0, k) for k in range(500)]
    assert {type(case.loss) for case in cases} == {form.makes for form in LOSSES.values()}
    assert {type(case.oracle) for case in cases} == {form.makes for form in ORACLES.values()}
    assert {case.layout for case in cases} == set(LAYOUTS)
    assert {case.engine for case in cases} == {"compiled", "reference"}
    assert {case.X.shape[0] for case in cases} == set(range(1, 13))
    assert {case.X.shape[1] for case in cases} == set(range(1, 7))
    assert {case.warm for case in cases} == {True, False}
    for optional in ("weights", "intercept", "corrective"):
        assert {getattr(case, optional) is None for case in cases} == {True, False}
    repeated = [len(np.unique(case.X, axis=0)) < len(case.X) for case in cases]
    assert 0 < sum(repeated) < len(cases)
    assert any(not case.X.any(axis=1).all() for case in cases)


def test_a_case_is_the_same_whenever_it_is_drawn() -> None:
    assert str(numbered_case(3, 5)) == str(numbered_case(3, 5)) != str(numbered_case(3, 6))


def test_nothing_is_found_in_the_first_cases() -> None:
    for k in range(25):
        verdict = judge(numbered_case(0, k))
        assert not verdict.findings, (k, verdict)


# ---- planted faults ----------------------------------------------------------------------------


@dataclass(frozen=True)
class WrongSign(LeastSquares):
    def derivative(self, s: Any, y: Any) -> Any:
        return y - s


@dataclass(frozen=True)
class WrongValue(Logistic):
    """Consistent, but not the loss that its CVXPY form says."""

    def value(self, s: Any, y: Any) -> Any:
        return super().value(s, y) + 0.01

    def conjugate(self, w: Any, y: Any) -> Any:
        return super().conjugate(w, y) - 0.01


@dataclass(frozen=True)
class NotANumber(LeastSquares):
    def derivative(self, s: Any, y: Any) -> Any:
        return math.nan


@dataclass(frozen=True)
class Warns(LeastSquares):
    def value(self, s: Any, y: Any) -> Any:
        warnings.warn("planted", RuntimeWarning, stacklevel=1)
        return super().value(s, y)


@dataclass(frozen=True)
class Uphill(L1Ball):
    def argmin(self, c: Any) -> Any:
        return super().argmin(-c)


@dataclass(frozen=True)
class Optimistic(L1Ball):
    """A minimum that is too high, and terms that hide it: D above P*, gaps too small."""

    def minimum(self, c: Any) -> Any:
        return 0.9 * super().minimum(c)

    def fenchel_young(self, beta: Any, c: Any) -> Any:
        return max(c @ beta - self.minimum(c), 0)


@dataclass(frozen=True)
class OtherRule(L1Ball):
    """Compiled loops are told another ball than the one that ``argmin`` answers for."""

    def argmin(self, c: Any) -> Any:
        return super().argmin(c)

    def vertex_rule(self) -> VertexRule:
        return VertexRule(0.5 * self.radius)


@dataclass(frozen=True)
class Outside(L1Ball):
    def argmin(self, c: Any) -> Any:
        atom = super().argmin(c)
        return SparseAtom(atom.indices, tuple(1.01 * value for value in atom.values))


@dataclass(frozen=True)
class Narrow(L1Ball):
    def prediction_range(self, rows: Any) -> Any:
        low, high = super().prediction_range(rows)
        return low / 100, high / 100


PLANTED: dict[str, tuple[Any, Any, str]] = {
    "loss with a wrong sign": (WrongSign(), L1Ball(2.0), ""),
    "loss with a wrong value": (WrongValue(), L1Ball(2.0), "value"),
    "loss that is no number": (NotANumber(), L1Ball(2.0), "FloatingPointError"),
    "loss that warns": (Warns(), L1Ball(2.0), "RuntimeWarning"),
    "oracle with a wrong sign": (LeastSquares(), Uphill(2.0), "engines"),
    "minimum too high": (LeastSquares(), Optimistic(2.0), ""),
    "another compiled rule": (LeastSquares(), OtherRule(2.0), "engines"),
    "atoms outside": (LeastSquares(), Outside(2.0), ""),
    "bounds too narrow": (LeastSquares(), Narrow(2.0), "bounds"),
}


def planted_cases(loss: Any, oracle: Any) -> list[Case]:
    """Cases of the fuzzer with these parts instead."""
    cases = []
    for k in range(12):
        rng = np.random.default_rng([7, k])
        case = random_case(rng)
        y = np.where(rng.random(len(case.y)) < 0.5, -1.0, 1.0)
        cases.append(replace(case, loss=loss, oracle=oracle, y=y))
    return cases


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(name: str) -> None:
    loss, oracle, kind = PLANTED[name]
    found = [finding for case in planted_cases(loss, oracle) for finding in judge(case).findings]
    assert any(kind in finding.kind for finding in found), found


def test_the_same_cases_without_a_fault_show_nothing() -> None:
    for loss in (LeastSquares(), Logistic()):
        for case in planted_cases(loss, L1Ball(2.0)):
            assert not judge(case).findings, case


def test_an_understated_certificate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # What is reported; a certificate itself would be refused for contradicting P − D.
    monkeypatch.setattr(Result, "gap", property(lambda self: 0.01 * self.certificate.gap))
    cases = [replace(case, tol=1e-3) for case in planted_cases(LeastSquares(), L1Ball(2.0))]
    assert any(finding.kind == "gap" for case in cases for finding in judge(case).findings)
    # Even where P − D is not looked at, the optimum tells.
    monkeypatch.setattr(judging, "_certificate_findings", lambda *_: iter(()))
    plain = [replace(case, corrective=False) for case in cases]
    assert any(f.kind == "certificate" for case in plain for f in judge(case).findings)


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Sleepy(L1Ball):
        def argmin(self, c: Any) -> Any:
            time.sleep(60.0)
            return super().argmin(c)

    monkeypatch.setattr(judging, "CASE_SECONDS", 0.2)
    [finding] = judge(planted_cases(LeastSquares(), Sleepy(2.0))[0]).findings
    assert finding.kind == "hang"


# ---- shrinking and the command -----------------------------------------------------------------


def test_shrinking_keeps_what_is_needed_and_drops_the_rest() -> None:
    case = next(c for c in map(numbered_case, [1] * 200, range(200)) if (abs(c.X) > 10).sum() > 3)

    def needed(other: Case) -> bool:
        return bool((abs(other.X) > 10).any())

    smallest = shrink(case, needed)
    assert smallest.X.shape == (1, 1)
    assert needed(smallest)
    assert smallest.weights is None
    assert smallest.layout == "dense"
    assert shrink(case, lambda other: False) is case


def fuzz(*arguments: str) -> int:
    return main(["fuzz", *arguments])


def test_a_quiet_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--seconds", "0.01", "--seed", "4") == 0
    assert "1 problems, 0 with findings" in capsys.readouterr().out


def test_a_finding_comes_with_its_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(case: Case) -> Verdict:
        return Verdict([Finding("big", "planted")] if len(case.X) > 2 else [])

    monkeypatch.setattr(command, "judge", planted)
    number = next(k for k in range(20) if len(numbered_case(4, k).X) > 6)
    assert fuzz("--seed", "4", "--case", str(number)) == 1
    told = capsys.readouterr().out
    assert f"FOUND planted\nagain: rcmd fuzz --seed 4 --case {number}\n" in told
    assert told.count("[[") == 1  # the matrix of the smallest case
    assert len(told.split("X = ")[1].split("y = ")[0].splitlines()) == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seconds", "0"), "--seconds is 0.0; expected a positive number"),
        (("--seconds", "nan"), "--seconds is nan; expected a positive number"),
        (("--seed", "-1"), "--seed is -1; expected a number ≥ 0"),
        (("--case", "-1"), "--case is -1; expected a number ≥ 0"),
    ],
)
def test_bad_options(arguments: tuple[str, ...], words: str, capsys: Any) -> None:
    assert fuzz(*arguments) == 2
    assert words in capsys.readouterr().err


def test_the_count_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--seed", "3", "--case", "1", "--json", "-"]) == 0
    counted = json.loads(capsys.readouterr().out)
    assert (counted["problems"], counted["with findings"], counted["findings"]) == (1, 0, [])

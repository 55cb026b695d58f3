"""The fuzzer: it draws everything that has a name, finds planted faults, and simplifies them."""

import itertools
import json
import math
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rcmd import L1Ball, LeastSquares, Logistic, Polytope, Result
from rcmd.cli.main import main
from rcmd.model.specs import LOSSES, ORACLES
from rcmd.oracles.base import VertexRule
from rcmd.rows.atoms import SparseAtom
from rcmd.testing.fuzzing import (
    Case,
    Finding,
    Verdict,
    first_finding,
    judge,
    judging,
    random_cases,
    searching,
)
from rcmd.testing.fuzzing.cases import LAYOUTS, random_case

# ---- what is drawn -----------------------------------------------------------------------------


def test_every_named_part_is_drawn() -> None:
    cases = [random_case(Random(k)) for k in range(500)]
    assert {type(case.loss) for case in cases} == {spec.makes for spec in LOSSES.values()}
    assert {type(case.oracle) for case in cases} == {spec.makes for spec in ORACLES.values()}
    assert {case.layout for case in cases} == set(LAYOUTS)
    assert {case.engine for case in cases} == {"compiled", "reference"}
    assert {case.X.shape[0] for case in cases} == set(range(1, 13))
    assert {case.X.shape[1] for case in cases} == set(range(1, 7))
    assert {case.warm for case in cases} == {True, False}
    assert {case.corrected for case in cases} == {True, False}
    for optional in ("weights", "intercept"):
        assert {getattr(case, optional) is None for case in cases} == {True, False}
    repeated = [len(np.unique(case.X, axis=0)) < len(case.X) for case in cases]
    assert 0 < sum(repeated) < len(cases)
    assert any(not case.X.any(axis=1).all() for case in cases)


def test_the_code_of_a_case_makes_it_again() -> None:
    seen = set()
    for case in map(random_case, map(Random, range(200))):
        if not isinstance(case.oracle, Polytope):
            told: dict[str, Any] = {}
            exec(case.code().removesuffix("print(judge(case))"), told)
            assert told["case"].code() == case.code()
            assert (told["case"].X == case.X).all()
            seen.add(type(case.oracle))
    assert len(seen) > 25


def test_nothing_is_found_in_the_first_cases() -> None:
    assert first_finding(0, count=25) is None


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


def planted_cases(loss: Any, oracle: Any) -> Iterator[Case]:
    """Cases of the fuzzer with these parts instead."""
    for k in range(12):
        case = random_case(Random(k))
        yield replace(case, loss=loss, oracle=oracle, y=np.where(case.y >= 0, 1.0, -1.0))


def kinds(cases: Iterator[Case]) -> Iterator[str]:
    """Of the findings, as they are found."""
    return (finding.kind for case in cases for finding in judge(case).findings)


@pytest.mark.parametrize("name", PLANTED)
def test_planted_faults_are_found(name: str) -> None:
    loss, oracle, kind = PLANTED[name]
    assert any(kind in found for found in kinds(planted_cases(loss, oracle)))


def test_the_same_cases_without_a_fault_show_nothing() -> None:
    for loss in (LeastSquares(), Logistic()):
        assert not list(kinds(planted_cases(loss, L1Ball(2.0))))


def test_an_understated_certificate_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # What is reported; a certificate itself would be refused for contradicting P − D.
    monkeypatch.setattr(Result, "gap", property(lambda self: 0.01 * self.certificate.gap))
    cases = [replace(case, tol=1e-3) for case in planted_cases(LeastSquares(), L1Ball(2.0))]
    assert "gap" in kinds(iter(cases))
    # Even where P − D is not looked at, the optimum tells.
    monkeypatch.setattr(judging, "_certificate_findings", lambda *_: iter(()))
    assert "certificate" in kinds(replace(case, corrected=False) for case in cases)


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    @dataclass(frozen=True)
    class Sleepy(L1Ball):
        def argmin(self, c: Any) -> Any:
            time.sleep(60.0)
            return super().argmin(c)

    monkeypatch.setattr(judging, "CASE_SECONDS", 0.2)
    assert next(kinds(planted_cases(LeastSquares(), Sleepy(2.0)))) == "hang"


# ---- Hypothesis and the command ----------------------------------------------------------------


def test_the_simplest_case_keeps_what_its_finding_needs() -> None:
    def planted(case: Case) -> Case:
        return replace(case, loss=NotANumber(), y=np.where(case.y >= 0, 1.0, -1.0))

    found = first_finding(0, random_cases().map(planted), 5)
    assert found is not None
    finding, case = found
    assert finding.kind.startswith("FloatingPointError")
    assert case.X.shape == (1, 1)
    assert case.weights is case.intercept is None
    assert (case.layout, case.batch, case.warm) == ("dense", 1, False)


def fuzz(*arguments: str) -> int:
    return main(["fuzz", *arguments])


def test_a_quiet_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--seconds", "0.01", "--seed", "4") == 0
    assert "1 problems, 0 with findings" in capsys.readouterr().out


def test_a_finding_comes_as_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def planted(case: Case) -> Verdict:
        kind = "large" if abs(case.X).max() > 10 else "small"
        return Verdict([Finding(kind, f"{kind}, planted")] if len(case.X) > 1 else [])

    monkeypatch.setattr(searching, "judge", planted)
    # A clock that tells the cases without a finding: time is up at the third.
    clock = SimpleNamespace(perf_counter=itertools.count().__next__)
    monkeypatch.setattr(searching, "time", clock)
    assert fuzz("--seconds", "2.5") == 1
    told = capsys.readouterr().out.partition("print(judge(case))")[0]
    found, _, code = told.partition("\n\n")
    again: dict[str, Any] = {}
    exec(code, again)
    assert again["case"].X.size <= 4
    # A simpler case of the other kind would not do.
    assert found == f"FOUND {planted(again['case']).findings[0].text}"


def test_a_sentence_where_hypothesis_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert fuzz() == 2
    assert "need Hypothesis: pip install 'rcmd-opt[fuzz]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--seconds", "0"), "--seconds is 0.0; expected a positive number"),
        (("--seconds", "nan"), "--seconds is nan; expected a positive number"),
        (("--seed", "-1"), "--seed is -1; expected a number ≥ 0"),
    ],
)
def test_bad_options(arguments: tuple[str, ...], words: str, capsys: Any) -> None:
    assert fuzz(*arguments) == 2
    assert words in capsys.readouterr().err


def test_the_count_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert fuzz("--seed", "3", "--seconds", "0.01", "--json", "-") == 0
    counted = json.loads(capsys.readouterr().out)
    assert (counted["problems"], counted["with findings"], counted["findings"]) == (1, 0, [])

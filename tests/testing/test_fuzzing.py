"""The fuzzer: it draws everything that has a name, finds planted faults, and simplifies them."""

import itertools
import json
import math
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from planted import planted

from rcmd import (
    EntropySimplex,
    L1Ball,
    LeastSquares,
    Logistic,
    Polytope,
    Result,
    SparseAtom,
    solve,
)
from rcmd.cli.main import main
from rcmd.model.specs import LOSSES, ORACLES
from rcmd.oracles.base import VertexRule
from rcmd.testing import fuzzing
from rcmd.testing.fuzzing import Case, Finding, Verdict, first_finding, judge, judging, random_cases
from rcmd.testing.fuzzing.cases import LAYOUTS, random_case

# ---- what is drawn -----------------------------------------------------------------------------


@cache
def some_cases() -> list[Case]:
    return [random_case(Random(k)) for k in range(300)]


def test_every_named_part_is_drawn() -> None:
    cases = some_cases()
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
    for case in some_cases()[:200]:
        if not isinstance(case.oracle, Polytope):
            told: dict[str, Any] = {}
            exec(case.code().removesuffix("print(judge(case))"), told)
            assert told["case"].code() == case.code()
            assert (told["case"].X == case.X).all()
            seen.add(type(case.oracle))
    assert len(seen) > 25


def test_nothing_is_found_in_the_first_cases() -> None:
    assert first_finding(0, random_cases(), 6) is None


# ---- planted faults ----------------------------------------------------------------------------


def warns(loss: Any, s: Any, y: Any) -> Any:
    warnings.warn("planted", RuntimeWarning, stacklevel=1)
    return (s - y) ** 2 / 2


def outside(ball: Any, c: Any) -> Any:
    atom = L1Ball.argmin(ball, c)
    return SparseAtom(atom.indices, tuple(1.01 * value for value in atom.values))


def narrow(ball: Any, rows: Any) -> Any:
    """Wrong for one row out of several."""
    right = np.array(L1Ball.prediction_range(ball, rows))
    right[:, 1:2] /= 100
    return right


NOT_A_NUMBER = planted(LeastSquares, derivative=lambda _, s, y: math.nan)
PLANTED: dict[str, tuple[Any, Any, str]] = {
    "loss with a wrong sign": (
        planted(LeastSquares, derivative=lambda _, s, y: y - s),
        L1Ball(2.0),
        "",
    ),
    "consistent, but not the loss of its CVXPY form": (
        planted(
            Logistic,
            value=lambda loss, s, y: Logistic.value(loss, s, y) + 0.01,
            conjugate=lambda loss, w, y: Logistic.conjugate(loss, w, y) - 0.01,
        ),
        L1Ball(2.0),
        "value",
    ),
    "loss that is no number": (NOT_A_NUMBER, L1Ball(2.0), "FloatingPointError"),
    "loss that warns": (planted(LeastSquares, value=warns), L1Ball(2.0), "RuntimeWarning"),
    "oracle with a wrong sign": (
        LeastSquares(),
        planted(L1Ball, 2.0, argmin=lambda ball, c: L1Ball.argmin(ball, -c)),
        "engines",
    ),
    # D above P*, and terms that hide it: gaps too small.
    "minimum too high": (
        LeastSquares(),
        planted(
            L1Ball,
            2.0,
            minimum=lambda ball, c: 0.9 * L1Ball.minimum(ball, c),
            fenchel_young=lambda ball, beta, c: max(c @ beta - ball.minimum(c), 0),
        ),
        "",
    ),
    "another compiled rule": (
        LeastSquares(),
        planted(
            L1Ball,
            2.0,
            argmin=lambda ball, c: L1Ball.argmin(ball, c),
            vertex_rule=lambda ball: VertexRule(0.5 * ball.radius),
        ),
        "engines",
    ),
    "atoms outside": (LeastSquares(), planted(L1Ball, 2.0, argmin=outside), ""),
    "bounds too narrow": (LeastSquares(), planted(L1Ball, 2.0, prediction_range=narrow), "bounds"),
}


def planted_cases(loss: Any, oracle: Any) -> Iterator[Case]:
    """Cases of the fuzzer with these parts instead."""
    for k in range(12):
        case = random_case(Random(k))
        yield replace(case, loss=loss, oracle=oracle, y=np.where(case.y >= 0, 1.0, -1.0))


def kinds(cases: Iterator[Case]) -> Iterator[str]:
    """Of the findings, as they are found."""
    return (finding.kind for case in cases for finding in judge(case).findings)


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """What problems check themselves is left out, so that the judge has something to find."""
    monkeypatch.setattr("rcmd.model.vetting.vet", lambda _, found: dict.fromkeys(found, "sampled"))


@pytest.mark.usefixtures("blind")
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
    cases = [replace(case, corrected=False) for case in cases]
    assert "certificate" in kinds(iter(cases))
    # So does it where the dual value lies between it and P(β).
    monkeypatch.setattr(Result, "gap", property(lambda self: self.certificate.gap))
    monkeypatch.setattr(Result, "dual", property(lambda self: self.certificate.primal))
    assert "dual" in kinds(iter(cases))


def test_a_warm_start_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(problem: Any, warm_start: Any = None, **options: Any) -> Any:
        return solve(problem, **options | ({} if warm_start is None else {"max_iterations": 1}))

    monkeypatch.setattr(judging, "solve", forgetful)
    cases = planted_cases(LeastSquares(), L1Ball(2.0))
    assert "warm" in kinds(replace(case, warm=True, corrected=False) for case in cases)


def test_a_hang_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = planted(L1Ball, 2.0, argmin=lambda ball, c: sum(1 for _ in range(10**9)))
    monkeypatch.setattr(judging, "CASE_SECONDS", 0.2)
    begun = time.process_time()
    assert next(kinds(planted_cases(LeastSquares(), endless))) == "hang"
    assert time.process_time() - begun < 30


# ---- Hypothesis and the command ----------------------------------------------------------------


@pytest.mark.usefixtures("blind")
def test_the_simplest_case_keeps_what_its_finding_needs() -> None:
    found = first_finding(0, random_cases().map(partial(replace, loss=NOT_A_NUMBER)), 5)
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
    assert fuzz("--seed", "3", "--seconds", "0.01", "--json", "-") == 0
    counted = json.loads(capsys.readouterr().out)
    assert (counted["problems"], counted["with findings"], counted["findings"]) == (1, 0, [])


@pytest.mark.slow
def test_a_finding_comes_as_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def odd(case: Case) -> Verdict:
        kind = "large" if abs(case.X).max() > 10 else "small"
        return Verdict([Finding(kind, f"{kind}, planted")] if len(case.X) > 1 else [])

    monkeypatch.setattr(fuzzing, "judge", odd)
    # A clock that tells the cases without a finding: time is up at the fourth.
    clock = SimpleNamespace(perf_counter=itertools.count().__next__)
    monkeypatch.setattr(fuzzing, "time", clock)
    assert fuzz("--seconds", "3.5") == 1
    told = capsys.readouterr().out.partition("print(judge(case))")[0]
    found, _, code = told.partition("\n\n")
    again: dict[str, Any] = {}
    exec(code, again)
    assert again["case"].X.size <= 4
    # A simpler case of the other kind would not do.
    assert found == f"FOUND {odd(again['case']).findings[0].text}"


def test_a_sentence_where_hypothesis_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    assert fuzz() == 2
    assert "need Hypothesis: pip install 'rcmd-opt[fuzz]'" in capsys.readouterr().err


def test_an_optimum_of_zero_is_no_finding() -> None:
    """CVXPY's simplex has a sum of 1 + 3e-13, where the entropy is below its minimum of 0."""
    oracle = EntropySimplex(strength=1.0, radius=1.0)
    case = Case(X=np.zeros((1, 1)), y=np.zeros(1), loss=LeastSquares(), oracle=oracle, tol=0.1)
    verdict = judge(case)
    assert verdict.judged
    assert verdict.findings == []

"""The table of ``rcmd bench oracles``: its passes, its ratios, its verdicts."""

import json

import numpy as np
import pytest

from rcmd import oracles
from rcmd.cli.main import main
from rcmd.lab.bench import oracles as bench

P = 400
LISTED = {
    "Box", "BoxRidge", "CappedSimplex", "ElasticNet", "Ellipsoid", "EntropySimplex",
    "GroupL2Ball", "GroupLasso", "KSparseBall", "KSupportBall", "L1Ball", "L1Penalty", "L2Ball",
    "LInfBall", "LpBall", "OWLBall", "Ridge", "Simplex",
}  # fmt: skip
CASES = bench.cases(P, np.random.default_rng(0))
C = np.random.default_rng(1).standard_normal(P)


@pytest.fixture
def hasty(monkeypatch):
    monkeypatch.setattr(bench, "REPEATS", 2)
    monkeypatch.setattr(bench, "SECONDS", 1e-5)


def test_every_closed_form_is_there():
    assert {type(case.oracle).__name__ for case in CASES.values()} == LISTED
    assert all(name.startswith(type(case.oracle).__name__) for name, case in CASES.items())


@pytest.mark.parametrize("name", CASES)
def test_the_pass_is_the_one_that_is_printed(name):
    case = CASES[name]
    names = {"np": np, "c": C}
    if isinstance(case.oracle, oracles.GroupL2Ball):
        groups = case.oracle.groups
        names |= {"groups": groups, "at": np.searchsorted(groups, range(groups.max() + 1))}
    np.testing.assert_equal(case.numpy_pass()(C), eval(case.words, names))


@pytest.mark.parametrize("name", CASES)
def test_what_is_timed_is_a_minimizer_other_than_zero(name):
    oracle = CASES[name].oracle
    beta = oracle.argmin(C).dense(C)
    assert beta.any()
    assert C @ beta + oracle.value(beta) == pytest.approx(oracle.minimum(C), rel=1e-12)
    if name.endswith(", free"):
        assert np.linalg.norm(beta) < oracle.radius / 2
    if name.endswith(", ball"):
        assert np.linalg.norm(beta) == pytest.approx(oracle.radius)


def test_groups_lie_as_their_names_say():
    names = [f"GroupL2Ball, {how}" for how in ("even", "uneven", "scattered")]
    even, uneven, scattered = (CASES[name].oracle for name in names)
    assert even.order is uneven.order is uneven.ones is None
    assert even.ones is not None
    assert scattered.order is not None


@pytest.mark.usefixtures("hasty")
def test_command_prints_and_writes(capsys, tmp_path):
    path = tmp_path / "oracles.json"
    words = ["bench", "oracles", "--p", "200", "--calls", "20", "--json", str(path)]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert max(map(len, out.splitlines())) <= 100
    assert "(best of 2 turns, 10 calls or about 0.01 ms each)" in out
    read = json.loads(path.read_text())
    assert read["settings"] == {"p": 200, "calls": 20}
    (section,) = read["sections"]
    assert [row["oracle"] for row in section["rows"]] == list(CASES)
    for row in section["rows"]:
        best = {who: time["best_ns"] for who, time in row["times"].items()}
        for who in ("argmin", "minimum"):
            ratio = row["ratios"][f"{who}/pass"]
            assert ratio == best[who] / best["pass"]
            target = {"at_most": 3, "value": ratio, "met": ratio <= 3}
            assert row["targets"][f"{who}/pass"] == target


def test_a_slow_oracle_misses_its_target(monkeypatch):
    found = {"pass": 100.0, "argmin": 299.0, "minimum": 310.0}
    times = {who: (best, 2 * best) for who, best in found.items()}
    monkeypatch.setattr(bench, "race", lambda contenders, **_: times)
    report = bench.run(P, 10**4)
    assert all(
        list(cells[2:]) == ["100 ns", "2.99", "≤ 3 met", "3.10", "≤ 3 MISSED"]
        for cells in report.sections[0].cells
    )


def test_all_three_get_the_same_calls_and_time(monkeypatch):
    seen = []

    def race(contenders, **limits):
        seen.append(([(c.name, c.limit, c.work(3)) for c in contenders], limits))
        return {c.name: (1.0,) for c in contenders}

    monkeypatch.setattr(bench, "race", race)
    bench.run(P, calls=5000)
    runners = [("pass", 200, 3), ("argmin", 200, 3), ("minimum", 200, 3)]
    assert seen == [(runners, {"repeats": 25, "seconds": 0.04})] * len(CASES)
